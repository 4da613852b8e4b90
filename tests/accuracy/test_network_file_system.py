# SPDX-License-Identifier: BSD-3-Clause
"""The rates of a file of a GlusterFS whose links have a known rate."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from effio.store.all_runs import Store
from engines import Engine
from file_systems.conftest import effio_on
from file_systems.gluster import gluster
from file_systems.nodes import Client, NotHereError, Server

from .truths import LINK_BYTES, MIB, NODE_LINK, Book

WANTED = os.environ.get("EFFIO_TEST_FILE_SYSTEMS") == "all" or "EFFIO_ACCURACY_PAGE" in os.environ


@pytest.mark.timeout(300)
@pytest.mark.truths("gluster-write", "gluster-read")
def test_a_file_of_a_gluster_with_links_of_known_rate(
    any_engine: Engine, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, book: Book
) -> None:
    if not WANTED:
        pytest.skip("takes a minute: make test-file-systems")
    if not any_engine.is_openmpi:
        pytest.skip("only Open MPI is started in a network namespace here")
    words = ["run", "ior", "--ranks=1", "--quiet", "--no-report", "--transfer=1MiB"]
    words += [f"--block={LINK_BYTES // MIB}MiB"]
    try:
        with contextlib.ExitStack() as stack:
            directory = tmp_path_factory.mktemp("gluster")
            cluster = stack.enter_context(gluster(directory, "distributed", clients=1))
            (client,) = cluster.clients
            # As much as waits is kept, so that nothing is sent twice.
            limit = ("tbf", "rate", f"{NODE_LINK}bit", "burst", "4kb", "limit", "4mb")
            nodes: list[Server | Client] = [client, *cluster.servers]
            for node in nodes:
                stack.enter_context(cluster.network.shaped(node, *limit))
            rounds = iter(range(1000))

            def measure() -> dict[str, float]:
                cwd = tmp_path / str(next(rounds))
                cwd.mkdir()
                place = ["--dir", client.mount_point]
                done = effio_on(client, any_engine, cwd, *words, *place)
                assert done.returncode == 0, done.stderr
                (folder,) = Store(cwd / "effio-runs").folders()
                result = folder.result()
                reported = {}
                for m in result.measurements:
                    assert m.valid
                    assert m.rate.value is not None
                    reported[f"gluster-{m.access}"] = m.rate.value
                return reported

            book.judge(["gluster-write", "gluster-read"], measure)
    except NotHereError as reason:
        pytest.skip(f"no GlusterFS here: {reason}")
