# SPDX-License-Identifier: BSD-3-Clause
"""What effio says of where bytes were, on one client node of a GlusterFS, against what the servers
count: `gluster volume profile` has the bytes that each brick has written and read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from effio.store.all_runs import Store
from effio.store.evidence import source_of
from effio.store.traffic import traffic_of
from engines import Engine

from .conftest import ALL, Mounted, effio_on
from .gluster import Gluster

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not ALL, reason="takes minutes: make test-file-systems"),
]

MIB = 1 << 20
BYTES = 32 * MIB  # two ranks of 16 MiB


def _profiled(cluster: Gluster) -> tuple[int, int]:
    """Bytes read from and written to the bricks since the last call."""
    said = cluster.command("volume", "profile", cluster.volume, "info", "incremental")
    read, written = (
        sum(map(int, re.findall(rf"Data {what}: (\d+) bytes", said)))
        for what in ("Read", "Written")
    )
    return read, written


@dataclass(frozen=True)
class Cell:
    options: str
    access: str
    words: str  # of the source
    over_network: bool  # what the servers say


CELLS = (
    Cell("--sync end --phases write", "write", "at the servers", True),
    Cell("--backend direct --phases write", "write", "at the servers", True),
    Cell("--drop-cache", "read", "from the servers", True),
    Cell("--backend direct", "read", "from the servers", True),
    Cell("--sync end --drop-cache off", "read", "from memory", False),
)


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.access} {cell.options}")
def test_what_is_said_is_what_the_servers_count(
    cell: Cell, openmpi: Engine, distributed: Mounted, tmp_path: Path
) -> None:
    cluster = distributed.cluster
    assert isinstance(cluster, Gluster)
    client = cluster.clients[0]
    cluster.command("volume", "profile", cluster.volume, "start")
    _profiled(cluster)
    words = [
        *("run", "ior", "--files", "per-process", "--block", "16MiB", "--transfer", "1MiB"),
        *("--read-from", "same", "--repetitions", "1", "--ranks", "2", "--no-report", "--quiet"),
        *cell.options.split(),
    ]
    done = effio_on(client, openmpi, tmp_path, *words, "--dir", distributed.places[0])
    assert done.returncode == 0, done.stderr
    read, written = _profiled(cluster)
    cluster.command("volume", "profile", cluster.volume, "stop")
    (folder,) = Store(tmp_path / "effio-runs").folders()
    result = folder.reported()
    cells = [m for m in result.measurements if m.access == cell.access]
    said = source_of(cells, result.run, traffic_of(result))
    assert written >= BYTES
    if cell.access == "read":
        assert (read >= BYTES) == cell.over_network, (read, said)
    assert cell.words in said, said
