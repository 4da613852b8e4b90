# SPDX-License-Identifier: BSD-3-Clause
"""One of three servers has a slow link: the report names it, and the files that it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from effio.report.ior import slow_server_finding
from effio.store.all_runs import Store
from engines import Engine

from .conftest import ALL, effio_on, mounted

pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.skipif(not ALL, reason="takes minutes: make test-file-systems"),
]

FILES = 8


def test_the_report_names_a_slow_server(
    openmpi: Engine,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with mounted("distributed", tmp_path_factory.mktemp("slow")) as made:
        cluster = made.cluster
        words = "run ior --files per-process --phases write --block 4MiB --transfer 1MiB"
        # The servers are asked while the run measures, which takes time on a busy machine.
        words += f" --repetitions 6 --rank-details --no-report --quiet --ranks {FILES}"
        words += f" --dir {made.places[0]}"
        # 4 MiB take more than three seconds, much more than what a busy machine adds. Little waits
        # in the queue: each open asks all servers.
        slow = ("tbf", "rate", "10mbit", "burst", "4kb", "limit", "128kb")
        with cluster.network.shaped(cluster.servers[2], *slow, towards=True):
            done = effio_on(cluster.clients[0], openmpi, tmp_path, *words.split())
        assert done.returncode == 0, done.stderr
    (folder,) = Store(tmp_path / "effio-runs").folders()
    result = folder.reported()
    assert result.record is not None
    servers = result.record.servers_of_files
    assert len(servers) == FILES
    server = str(cluster.disks[2])
    on_it = [name for name, those in servers.items() if any(server in one for one in those)]
    finding = slow_server_finding(result)
    if not on_it or len(on_it) == FILES:
        assert finding is None  # nothing to compare
        pytest.skip(f"{len(on_it)} of {FILES} files are on the slow server")
    assert finding is not None, result.measurements
    assert f"{len(on_it)} of {FILES} files ran at" in finding.text
    assert server in finding.text
