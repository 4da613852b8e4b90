# SPDX-License-Identifier: BSD-3-Clause
"""Two client nodes on a GlusterFS: what a run needs to be true there, in seconds. The rest is in
test_benchmarks.py (`make test-file-systems`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines import Engine

from .conftest import Mounted
from .gluster import Gluster, mount_of


@pytest.mark.parametrize(
    "words",
    [
        # One file, made anew in each repetition under its old name, of which the other node keeps
        # the old view for a second; read right after the other rank has written its half.
        "ior --backend posix --block 128KiB --transfer 64KiB --repetitions 3 --verify inside",
        "ior --backend mpiio --block 128KiB --transfer 64KiB --repetitions 2 --verify inside",
        "mdtest --items 8 --write-bytes 4KiB --verify",
    ],
)
def test_two_nodes_see_the_same_files(
    words: str, mpi: Engine, distributed: Mounted, tmp_path: Path
) -> None:
    run = distributed.run(mpi, [*words.split(), "--quiet"], tmp_path)
    assert run.code == 0, run
    assert run.result.run["system"]["nodes"] == 2
    assert all(m["valid"] for m in run.result.measurements)
    assert distributed.left() == []


def test_names_that_another_node_has_just_removed_are_not_refused(
    mpi: Engine, distributed: Mounted, tmp_path: Path
) -> None:
    """Of a tree and of a file: rank 1 looks for them, on a node that still sees them."""
    cluster = distributed.cluster
    assert isinstance(cluster, Gluster)
    # As long as a launch takes on a busy machine, and shorter than effio waits.
    late = mount_of(cluster, f"late-{mpi.name}", "--entry-timeout=4")
    try:
        for words, name in (
            ("mdtest --items 2 --iterations 2 --things files", "test-dir.1-0"),
            ("ior --files per-process --block 4KiB --transfer 4KiB", "ior.00000001"),
        ):
            (distributed.places[0] / name).mkdir()
            assert (late.mount_point / "data" / name).is_dir()
            (distributed.places[0] / name).rmdir()
            nodes = (0, len(cluster.clients) - 1)
            run = distributed.run(mpi, [*words.split(), "--quiet"], tmp_path, nodes=nodes)
            assert run.code == 0, run
            assert distributed.left() == []
    finally:
        late.unmount()
        cluster.clients.remove(late)
