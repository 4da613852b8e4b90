# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts on file systems of servers by what the engine saw cross the network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.launch.background import directory_of
from effio.report.build import load, report_of
from effio.store.evidence import Place, evidence_of, source_of
from effio.store.folder import RESULT, reported_result
from effio.store.reader import Result

MB = 1_000_000
GLUSTER = {"type": "fuse.glusterfs", "source": "server:/volume"}


DROPPED = {"methods": ["dropped"]}
SERVERS = "from the servers; server cache unknown"


def _network(whose: str, crossed: int, copies: float = 1.0) -> dict[str, Any]:
    """Both directions alike: of one of them the verdict is made."""
    moved = {"received_bytes": crossed * MB, "sent_bytes": crossed * MB}
    return {"network": {"interfaces": None, "client": None, "copies": copies, whose: moved}}


def _judged(
    tmp_path: Path,
    access: str,
    *caches: dict[str, Any],
    files: dict[str, str] = GLUSTER,
    nodes: int = 1,
) -> Result:
    """Measurements of 100 MB each."""
    lines = [made.run_line(benchmark="ior", file_system=files)]
    for cache in caches:
        lines.append(
            made.measurement(
                access, "", 1, 100.0 * MB, benchmark="ior", bytes=100 * MB, nodes=nodes,
                cache={"verdict": "unknown", **cache},
            )
        )  # fmt: skip
    lines += [made.figure("write_bandwidth", 100.0 * MB, benchmark="ior"), made.end()]
    return reported_result(made.write(tmp_path / RESULT, made.numbered(lines)))


def _places(result: Result) -> list[Place]:
    return [Place.of(m) for m in result.measurements]


@pytest.mark.parametrize(
    ("whose", "access", "cache", "crossed", "place", "words"),
    [
        # 95.6 of 100 MB are data, and none was in this node before: they came from the servers.
        ("interfaces", "read", DROPPED, 100, Place.SERVERS, SERVERS),
        ("interfaces", "read", {"resident_before_fraction": 0.0}, 100, Place.SERVERS, None),
        # Of 98 MB in frames 94 MB are data.
        ("interfaces", "read", DROPPED, 98, Place.UNKNOWN, None),
        # Nothing was done about the cache: as many bytes may be those of other users.
        ("interfaces", "read", {}, 100, Place.UNKNOWN, None),
        ("interfaces", "read", {}, 5, Place.CACHE, "from memory"),
        ("interfaces", "read", DROPPED, 40, Place.MIXED, "at most 40 % from the servers"),
        (
            "interfaces", "write", {}, 100, Place.SERVERS,
            "at the servers; server and device caches unknown",
        ),
        ("interfaces", "write", {}, 4, Place.CACHE, "in memory"),
        # 50 MB are read, and the same are written.
        ("interfaces", "read-modify-write", DROPPED, 49, Place.UNKNOWN, None),
        ("interfaces", "read-modify-write", DROPPED, 50, Place.SERVERS, None),
        ("interfaces", "read-modify-write", DROPPED, 20, Place.MIXED, None),
        # The client's own messages have no frames, and no other users than those of the mount.
        ("client", "read", {}, 96, Place.SERVERS, SERVERS),
        ("client", "read", {}, 94, Place.MIXED, "at most 94 % from the servers"),
        ("client", "write", {}, 96, Place.SERVERS, None),
        ("client", "write", {}, 4, Place.CACHE, "in memory"),
    ],
)  # fmt: skip
def test_a_measurement_is_judged_by_what_crossed_the_network(
    tmp_path: Path,
    whose: str,
    access: str,
    cache: dict[str, Any],
    crossed: int,
    place: Place,
    words: str | None,
) -> None:
    result = _judged(tmp_path, access, {**cache, **_network(whose, crossed)})
    assert _places(result) == [place]
    if words is not None:
        assert source_of(result.measurements, result.run) == words


def test_little_traffic_proves_nothing_where_it_can_bypass_the_counters(tmp_path: Path) -> None:
    rdma = {"type": "beegfs", "source": "beegfs_nodev"}
    cache = {**DROPPED, **_network("interfaces", 1)}
    assert _places(_judged(tmp_path, "read", cache, files=rdma)) == [Place.UNKNOWN]
    assert _places(_judged(tmp_path, "read", cache)) == [Place.CACHE]


def test_messages_between_nodes_are_not_taken_for_writes(tmp_path: Path) -> None:
    """Ranks that write collectively send each other the data first."""
    for whose, place in (("interfaces", Place.UNKNOWN), ("client", Place.SERVERS)):
        result = _judged(tmp_path, "write", _network(whose, 100), nodes=2)
        assert _places(result) == [place]


def test_coded_parts_of_a_byte_are_not_counted_twice(tmp_path: Path) -> None:
    """With two parts and one of redundancy, 100 MB that were sent are 67 MB of data."""
    result = _judged(
        tmp_path, "write", *(_network("client", crossed, 1.5) for crossed in (100, 150))
    )
    assert _places(result) == [Place.UNKNOWN, Place.SERVERS]


def test_what_is_partly_from_servers_is_bounded(tmp_path: Path) -> None:
    caches = ({**DROPPED, **_network("interfaces", crossed)} for crossed in (100, 20))
    (one,) = evidence_of(_judged(tmp_path, "read", *caches).measurements)
    assert one.place is Place.MIXED
    assert one.sentence() == (
        "at most 60 % of the bytes read came from the servers, the rest in memory"
    )


def test_a_verdict_of_the_engine_and_results_without_counts_stay_as_they_are(
    tmp_path: Path,
) -> None:
    caches = ({"verdict": "mixed", **_network("client", 100)}, DROPPED)
    assert _places(_judged(tmp_path, "read", *caches)) == [Place.MIXED, Place.UNKNOWN]


def test_reports_of_a_folder_and_of_a_file_use_the_verdict(tmp_path: Path) -> None:
    run = tmp_path / "run"
    _judged(run, "write", _network("client", 100), nodes=2)
    copy = tmp_path / "copied.jsonl"
    copy.write_bytes((run / RESULT).read_bytes())
    for path in (run, run / RESULT, copy):
        report = report_of(*load(path))
        assert report.headline.counts == "writes until at the servers", path
        assert any(f.text.startswith("At the servers: ") for f in report.findings), path


@pytest.mark.parametrize(
    ("arguments", "directory"),
    [(["--dir=/a", "--x"], "/a"), (["--dir", "/b"], "/b"), (["--dir"], "."), ([], ".")],
)
def test_where_a_run_puts_its_files(arguments: list[str], directory: str) -> None:
    assert directory_of(arguments) == Path(directory)
