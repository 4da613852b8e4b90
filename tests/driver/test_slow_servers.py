# SPDX-License-Identifier: BSD-3-Clause
"""A slow server of a file system is named where the servers of the files are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.report.ior import slow_server_finding
from effio.store.abilities import servers_in
from effio.store.reader import Result, read_result
from effio.store.run_record import RunRecord

GLUSTER = (
    "(<DISTRIBUTE:effio-dht> <POSIX(/srv/brick2/data):node2:/srv/brick2/data/data/ior.00000003>)"
)
DISPERSED = (
    "(<DISTRIBUTE:effio-dht> (<EC:effio-disperse-0>"
    " <POSIX(/srv/b1):node1:/srv/b1/ior.0> <POSIX(/srv/b2):node2:/srv/b2/ior.0>))"
)
MOOSEFS = """/mnt/data/ior.00000000:
\tchunk 0: 0000000000000005_00000001 / (id:5 ver:1)
\t\tcopy 1: 198.18.79.3:9422 (status:VALID)
\t\tcopy 2: 198.18.79.4:9422 (status:VALID)
"""
LUSTRE = """/mnt/ior.00000000
lmm_stripe_count:  2
lmm_stripe_size:   1048576
\tobdidx\t\t objid\t\t objid\t\t group
\t     3\t          1234\t        0x4d2\t             0
\t     7\t          1235\t        0x4d3\t             0
"""
BEEGFS = """+ Number of storage targets: desired: 2; actual: 2
+ Storage targets:
  + 1 @ node1.beeg.local [ID: 1]
  + 2 @ node2.beeg.local [ID: 2]
"""


@pytest.mark.parametrize(
    ("kind", "layout", "servers"),
    [
        ("fuse.glusterfs", GLUSTER, ["node2:/srv/brick2/data/data"]),
        ("fuse.glusterfs", DISPERSED, ["node1:/srv/b1", "node2:/srv/b2"]),
        ("fuse.mfs", MOOSEFS, ["198.18.79.3:9422", "198.18.79.4:9422"]),
        ("lustre", LUSTRE, ["OST 3", "OST 7"]),
        ("beegfs", BEEGFS, ["target 1 of node1.beeg.local", "target 2 of node2.beeg.local"]),
        ("ext4", "", []),
    ],
)
def test_what_a_file_systems_tools_say_of_a_file(
    kind: str, layout: str, servers: list[str]
) -> None:
    assert servers_in(layout, kind) == servers


def _result(
    tmp_path: Path, seconds: list[list[float]], kind: str = "fuse.glusterfs", **options: Any
) -> Result:
    """A result of four ranks that write 1 MB each to a file; a row of times for each repetition."""
    manifest = {"directory": "/mnt/", "files": [{"name": "ior.%d", "count": 4}]}
    given = {"files": "per-process", "threads": 1, **options}
    files = {"type": kind, "source": "server:/volume"}
    lines = [made.run_line(benchmark="ior", options=given, manifest=manifest, file_system=files)]
    for row in seconds:
        ranks = [{"bytes": 1e6, "total_seconds": s, "transfer_seconds": s} for s in row]
        lines.append(
            made.measurement(
                "write", "", 1, 4e6, benchmark="ior", bytes=4_000_000,
                detail={"rank_details": ranks},
            )
        )  # fmt: skip
    return read_result(made.write(tmp_path / "r.jsonl", made.numbered([*lines, made.end()])))


def _said(result: Result, servers: dict[str, list[str]]) -> str:
    result.record = RunRecord(
        id="x", created="", benchmark="ior", arguments=[], directory="/", command=[],
        servers_of_files=servers,
    )  # fmt: skip
    finding = slow_server_finding(result)
    return finding.text if finding is not None else ""


ON = {"ior.0": ["a"], "ior.1": ["b"], "ior.2": ["c"], "ior.3": ["c"]}


def test_the_server_of_the_slow_files_is_named(tmp_path: Path) -> None:
    result = _result(tmp_path, [[1, 1, 3, 3], [1, 1, 3, 3]])
    assert _said(result, ON) == (
        "Files of one server were slower: writes of 2 of 4 files ran at 33 % of the rate of the"
        " others: they are on c."
    )


def test_files_that_move_between_repetitions_say_nothing(tmp_path: Path) -> None:
    """MooseFS chooses chunk servers when a file is created, and each repetition creates it."""
    seconds: list[list[float]] = [[1, 1, 3, 3], [1, 1, 3, 3]]
    phases = {"phases": ["write"]}
    assert _said(_result(tmp_path, seconds, "fuse", **phases), ON) == ""


@pytest.mark.parametrize(
    ("seconds", "servers", "options"),
    [
        # One of the two files on it is as fast as others.
        ([[1, 1, 1, 30], [1, 1, 1, 30]], ON, {}),
        # Slower by less than half.
        ([[1, 1, 1.4, 1.4], [1, 1, 1.4, 1.4]], ON, {}),
        # Once does not make a pattern.
        ([[1, 1, 3, 3]], ON, {}),
        # All files are on all servers.
        ([[1, 1, 3, 3], [1, 1, 3, 3]], {name: ["a", "b", "c"] for name in ON}, {}),
        # A rank has several files.
        ([[1, 1, 3, 3], [1, 1, 3, 3]], ON, {"threads": 2}),
        ([[1, 1, 3, 3], [1, 1, 3, 3]], {}, {}),
    ],
)
def test_nothing_is_said_without_a_clear_difference(
    tmp_path: Path,
    seconds: list[list[float]],
    servers: dict[str, list[str]],
    options: dict[str, Any],
) -> None:
    assert _said(_result(tmp_path, seconds, **options), servers) == ""
