# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts on file systems of servers by what the node's network moved, cell by cell."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.launch.meter import Log, Meter, Sample, cells_of, directory_of
from effio.store.evidence import Place, evidence_of, source_of
from effio.store.on_servers import copies_of, judged_by_network
from effio.store.reader import Result, read_result
from effio.store.run_record import CellTraffic, NetworkPart, RunRecord

MB = 1_000_000
GLUSTER = {"type": "fuse.glusterfs", "source": "server:/volume"}


def _result(
    tmp_path: Path,
    access: str,
    files: dict[str, str],
    spans: list[tuple[float, float]],
    **cache: Any,
) -> Result:
    """Measurements of 100 MB each."""
    lines = [made.run_line(benchmark="ior", file_system=files)]
    for begin, end in spans:
        lines.append(
            made.measurement(
                access, "", 1, 100.0 * MB, benchmark="ior", bytes=100 * MB,
                cache={"verdict": "unknown", **cache},
                span={"begin_seconds": begin, "end_seconds": end},
            )
        )  # fmt: skip
    return read_result(made.write(tmp_path / "r.jsonl", made.numbered([*lines, made.end()])))


def _cell(least: int, most: int, number: int = 0, copies: float = 1.0) -> CellTraffic:
    """Both directions alike: of one of them the verdict is made."""
    parts = [NetworkPart(received_bytes=n * MB, sent_bytes=n * MB) for n in (least, most)]
    return CellTraffic(
        measurement=number, least=parts[0], most=parts[1], begin_seconds=0.9 + number,
        end_seconds=2.1 + number, copies=copies,
    )  # fmt: skip


def _judged(result: Result, *cells: CellTraffic) -> list[Place]:
    result.record = RunRecord(
        id="x", created="", benchmark="ior", arguments=[], directory="/", command=[],
        network_of_cells=list(cells),
    )  # fmt: skip
    result.measurements = judged_by_network(result)
    return [Place.of(m) for m in result.measurements]


DROPPED = {"ways": ["dropped"]}


@pytest.mark.parametrize(
    ("access", "cache", "least", "most", "place", "words"),
    [
        # 95.6 of 100 MB are data, and none was in this node before: they came from the servers.
        ("read", DROPPED, 90, 100, Place.SERVERS, "from the servers; server cache unknown"),
        ("read", {"resident_before_fraction": 0.0}, 90, 100, Place.SERVERS, None),
        # Of 98 MB in frames 94 MB are data.
        ("read", DROPPED, 90, 98, Place.UNKNOWN, None),
        # Nothing was done about the cache: as many bytes may be those of other users.
        ("read", {}, 100, 100, Place.UNKNOWN, None),
        # Most of the traffic may have been before or after.
        ("write", {}, 49, 100, Place.UNKNOWN, None),
        ("read", {}, 0, 5, Place.CACHE, "from memory"),
        ("read", DROPPED, 30, 40, Place.MIXED, "at most 40 % from the servers"),
        ("write", {}, 90, 100, Place.SERVERS, "at the servers; server and device caches unknown"),
        ("write", {}, 2, 4, Place.CACHE, "in memory"),
        # 50 MB are read, and the same are written.
        ("read-modify-write", DROPPED, 49, 50, Place.SERVERS, None),
        ("read-modify-write", DROPPED, 10, 20, Place.MIXED, None),
    ],
)
def test_a_cell_is_judged_by_what_crossed_the_network(
    tmp_path: Path,
    access: str,
    cache: dict[str, Any],
    least: int,
    most: int,
    place: Place,
    words: str | None,
) -> None:
    result = _result(tmp_path, access, GLUSTER, [(1.0, 2.0)], **cache)
    assert _judged(result, _cell(least, most)) == [place]
    if words is not None:
        assert source_of(result.measurements, result.run) == words


def test_little_traffic_proves_nothing_where_it_can_bypass_the_counters(tmp_path: Path) -> None:
    rdma = {"type": "beegfs", "source": "beegfs_nodev"}
    result = _result(tmp_path, "read", rdma, [(1.0, 2.0)], **DROPPED)
    assert _judged(result, _cell(0, 1)) == [Place.UNKNOWN]


def test_traffic_of_a_neighbor_is_not_taken_for_a_cells_own(tmp_path: Path) -> None:
    """What was counted from 0.9 s to 2.1 s may be the second read's."""
    spans = [(1.0, 2.0), (2.05, 3.0)]
    result = _result(tmp_path, "read", GLUSTER, spans, **DROPPED)
    assert _judged(result, _cell(60, 100), _cell(100, 100, 1)) == [Place.UNKNOWN, Place.SERVERS]


def test_traffic_long_before_a_cell_is_not_its_own(tmp_path: Path) -> None:
    """The driver looked at 0.9 s; this read began at 1.1 s."""
    result = _result(tmp_path, "read", GLUSTER, [(1.1, 2.0)], **DROPPED)
    assert _judged(result, _cell(60, 100)) == [Place.UNKNOWN]


def test_coded_parts_of_a_byte_are_not_counted_twice(tmp_path: Path) -> None:
    """Of two parts and one of redundancy: 100 MB on the wire are 67 MB of data."""
    result = _result(tmp_path, "write", GLUSTER, [(1.0, 2.0)])
    assert _judged(result, _cell(100, 100, copies=1.5)) == [Place.UNKNOWN]
    result = _result(tmp_path, "write", GLUSTER, [(1.0, 2.0)])
    assert _judged(result, _cell(150, 150, copies=1.5)) == [Place.SERVERS]


def test_what_is_partly_from_servers_is_bounded(tmp_path: Path) -> None:
    result = _result(tmp_path, "read", GLUSTER, [(1.0, 2.0), (3.0, 4.0)], **DROPPED)
    _judged(result, _cell(90, 100), _cell(0, 20, 1))
    (one,) = evidence_of(result.measurements)
    assert one.place is Place.MIXED
    assert one.sentence() == (
        "at most 60 % of the bytes read came from the servers, the rest in memory"
    )


def test_the_mount_of_a_gluster_says_how_often_a_byte_is_sent(tmp_path: Path) -> None:
    for name, kind, bricks in (
        ("vol-disperse-0", "cluster/disperse", 3), ("vol-client-0", "protocol/client", 0),
    ):  # fmt: skip
        place = tmp_path / ".meta/graphs/active" / name
        (place / "options").mkdir(parents=True)
        (place / "subvolumes").mkdir()
        (place / "type").write_text(f"{kind}\n")
        for number in range(bricks):
            (place / f"subvolumes/{number}").mkdir()
    (tmp_path / ".meta/graphs/active/vol-disperse-0/options/redundancy").write_text("1\n")
    assert copies_of(tmp_path) == 1.5
    assert copies_of(tmp_path / "none") == 1.0


def test_samples_and_lines_say_what_a_cell_moved(tmp_path: Path) -> None:
    """The line of the measurement came 2 s after the benchmark began, at 1000 s of the clock; the
    network moved 1 MB in each 10 ms from then on."""
    result = _result(tmp_path, "read", GLUSTER, [(1.0, 2.0)])
    size = result.path.stat().st_size
    samples = [Sample(1000 + n / 100, n * MB, 0) for n in range(301)]
    log = Log(samples, [(10, 1000.0), (size, 1002.0)])
    (cell,) = cells_of(log, result)
    # Within: 1.01 s to 1.99 s. Around: from 0.94 s, because a cell is recorded a little late.
    assert cell.least.received_bytes == 98 * MB
    assert cell.most.received_bytes == (201 - 94) * MB
    # A counter that was reset, or samples that end too early, say nothing.
    assert cells_of(Log([*samples, Sample(1004, 5, 0)], log.lines), result) == []
    assert cells_of(Log(samples[:200], log.lines), result) == []


def test_the_meter_counts_while_it_is_entered(tmp_path: Path) -> None:
    result = tmp_path / "result.jsonl"
    result.write_text("x")
    os.utime(result, (1000, 1000))
    moved = iter(range(1_000_000))
    counters = lambda: NetworkPart(received_bytes=next(moved), sent_bytes=0)  # noqa: E731
    with Meter(result, True, counters) as metered:
        pass
    assert metered.log.lines == [(1, 1000.0)]
    assert metered.log.samples
    with Meter(result, False, counters) as idle:
        pass
    assert idle.log.samples == []


@pytest.mark.parametrize(
    ("arguments", "directory"),
    [(["--dir=/a", "--x"], "/a"), (["--dir", "/b"], "/b"), (["--dir"], "."), ([], ".")],
)
def test_where_a_run_puts_its_files(arguments: list[str], directory: str) -> None:
    assert directory_of(arguments) == Path(directory)
