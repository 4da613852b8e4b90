# SPDX-License-Identifier: BSD-3-Clause
"""Where bytes were: one function judges them, and headline, tick, card and list say the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driver import made, test_report_mdtest
from effio.judge.samples import Judged
from effio.report import claims
from effio.report.build import load, report_of
from effio.report.claims import claimed, number_of
from effio.report.lines import NUMBER
from effio.report.listing import line_of
from effio.report.model import Report
from effio.report.trend import trend_of
from effio.store.evidence import Place, evidence_of, source_of
from effio.store.folder import RunFolder
from effio.store.reader import read_result
from effio.store.table import TABLES, rows_of
from effio.store.traffic import Traffic, counters

MB = 1_000_000
TILES = {"element_bytes": 8, "calls": "independent"}


def _measured(access: str, verdict: str, share: float | None, **more: Any) -> made.Line:
    cache = {"verdict": verdict, "storage_fraction": share, "reason": "why"}
    return made.measurement(
        access, "stream", 1, 100 * MB, benchmark="tile-io", bytes=100 * MB, where=TILES,
        cache=cache, **more,
    )  # fmt: skip


def _figures(access: str) -> list[made.Line]:
    place = {**TILES, "pattern": "stream", "access": access}
    samples = {"count": 1, "low95": None, "high95": None}
    return [
        made.figure("bandwidth", 100.0 * MB, benchmark="tile-io", where=place, samples=samples),
        made.figure("tile_io", 100.0 * MB, benchmark="tile-io", where={}, detail={"place": place}),
    ]


def _report(tmp_path: Path, cells: list[made.Line], access: str) -> Report:
    lines = [made.run_line(benchmark="tile-io"), *cells, *_figures(access), made.end()]
    return report_of(*load(made.write(tmp_path / "result.jsonl", made.numbered(lines))))


@pytest.mark.parametrize(
    ("verdict", "share", "level", "words", "mark"),
    [
        ("device", 0.97, "good", "writes until on storage", ""),
        ("mixed", 0.94, "warn", "writes, 94 % on storage", " (mixed)"),
        ("mixed", 0.5, "warn", "writes, 50 % on storage", " (mixed)"),
        ("cache", 0.0, "warn", "writes into memory", " (memory)"),
        (
            "unknown",
            None,
            "warn",
            "writes, in memory or on storage: not known",
            " (unknown)",
        ),
    ],
)
def test_the_tick_is_that_of_the_headlines_own_cell(
    tmp_path: Path, verdict: str, share: float | None, level: str, words: str, mark: str
) -> None:
    """Reads that all came from the device say nothing of a write that is the headline."""
    cells = [_measured("write", verdict, share), _measured("read", "device", 1.0)]
    report = _report(tmp_path, cells, "write")
    assert report.headline.basis() == f"{words}; one repetition says nothing about the next"
    tick = next(f for f in report.findings if f.card == "cache")
    assert tick.level == level
    assert "read came from" not in tick.text
    row = line_of(RunFolder(tmp_path), read_result(tmp_path / "result.jsonl"))
    assert row["figure"] == f"highest rate = 100.0 MB/s{mark}"


NULL_KEEPS_NOTHING = "the backend null keeps nothing and no storage was touched"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"clock": {"virtual": True}}, "time is virtual and no storage was touched"),
        ({"backend": {"name": "null", "settings": {}}}, NULL_KEEPS_NOTHING),
        ({"options": {"backend": "null"}}, NULL_KEEPS_NOTHING),
        ({"options": {"libraries": ["null"]}}, NULL_KEEPS_NOTHING),
    ],
)
def test_simulated_numbers_are_simulated_wherever_they_are_listed(
    tmp_path: Path, more: dict[str, Any], why: str
) -> None:
    """Also the numbers that count no bytes, of which evidence says nothing."""
    path = tmp_path / "result.jsonl"
    first, *others = test_report_mdtest.made_lines()
    del first["backend"]  # overlap has it among its options alone
    made.write(path, [first | more, *others])
    result = read_result(path)
    texts = [finding.text for finding in report_of("r", result).findings]
    assert f"Simulated: {why}." in texts
    row = line_of(RunFolder(tmp_path), result)
    assert row["value"]
    assert row["mark"] == "simulated"
    assert claims.read(row[NUMBER]).number.evidence == number_of(result).evidence == "simulated"
    trend = trend_of("t", [claimed(Judged("r", path, result, {}))])
    assert trend.courses[0].nights[0].evidence == ["simulated"]
    assert all(row["simulated"] for table in TABLES for row in rows_of(table, "r", result))


def test_names_in_the_memory_of_a_node_are_marked(tmp_path: Path) -> None:
    path = tmp_path / "result.jsonl"
    first, *others = test_report_mdtest.made_lines()
    first["file_system"] |= {"type": "tmpfs", "memory_backed": True}
    made.write(path, [first, *others])
    result = read_result(path)
    assert report_of("r", result).headline.counts == "operations in memory"
    assert line_of(RunFolder(tmp_path), result)["mark"] == "memory"
    assert number_of(result).evidence == "in memory"


def test_a_run_without_a_value_is_listed_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "result.jsonl"
    lines = test_report_mdtest.made_lines()
    for line in lines:
        if line["kind"] == "figure":
            line["metric"] |= {"value": None, "reason": "no iteration has a rate"}
    made.write(path, lines)
    row = line_of(RunFolder(tmp_path), read_result(path))
    assert (row["headline"], row["value"]) == ("File creation", "")
    assert row["interval"] == "no iteration has a rate"


def test_shares_are_by_bytes_and_unknown_is_not_nothing(tmp_path: Path) -> None:
    lines = [
        made.run_line(benchmark="tile-io"),
        _measured("write", "device", 1.0),
        _measured("write", "mixed", 0.5, repetition=1),
        _measured("read", "unknown", None),
        made.end(),
    ]
    result = read_result(made.write(tmp_path / "r.jsonl", made.numbered(lines)))
    written, read = evidence_of(result.measurements)
    assert (written.place, written.on_storage) == (Place.MIXED, 0.75)
    assert written.sentence() == (
        "75 % of the bytes written were on storage when the clock stopped, the rest in memory"
    )
    assert (read.place, read.on_storage) == (Place.UNKNOWN, None)
    assert read.sentence() == "whether the bytes read came from storage is not known (why)"


@pytest.mark.parametrize(
    ("verdict", "share", "why"),
    [("device", 1.0, "the peak is too low"), ("cache", 0.0, "a cache took part")],
)
def test_a_cache_is_blamed_for_what_is_above_the_peak_only_with_evidence(
    tmp_path: Path, verdict: str, share: float, why: str
) -> None:
    place = {**TILES, "pattern": "stream", "access": "write"}
    lines = [
        made.run_line(benchmark="tile-io"),
        _measured("write", verdict, share),
        *_figures("write"),
        made.figure("share_of_peak", 1.8, "1", benchmark="tile-io", where=place),
        made.end(),
    ]
    report = report_of(*load(made.write(tmp_path / "result.jsonl", made.numbered(lines))))
    above = next(f.text for f in report.findings if "the peak, at most" in f.text)
    assert above.endswith(f"with 180 % of it: {why}.")


# Where nothing counts bytes ----------------------------------------------------------------------


def _source(tmp_path: Path, access: str, cache: made.Line | None, **run: Any) -> str:
    """The source of one cell of 100 MB in a file system without counters."""
    lines = [
        made.run_line(benchmark="ior", **run),
        made.measurement(access, "", 1, 100.0 * MB, benchmark="ior", bytes=100 * MB, cache=cache),
        made.end(),
    ]
    result = read_result(made.write(tmp_path / "result.jsonl", made.numbered(lines)))
    return source_of(result.measurements, result.run)


@pytest.mark.parametrize(
    ("access", "cache", "options", "words"),
    [
        ("read", {"methods": ["dropped"]}, {}, "client cache dropped; server cache unknown"),
        (
            "read",
            {"methods": ["direct"]},
            {},
            "client cache bypassed (O_DIRECT); server cache unknown",
        ),
        (
            "write",
            {"methods": ["direct"]},
            {},
            "client cache bypassed (O_DIRECT); server cache unknown",
        ),
        (
            "read",
            {"methods": ["dropped", "other nodes"]},
            {},
            "client cache dropped, written by another node; server cache unknown",
        ),
        (
            "read",
            {"resident_before_fraction": 0.0},
            {},
            "not in this node's cache before; server cache unknown",
        ),
        ("read", {"resident_before_fraction": 0.5}, {}, "not known"),
        ("read", None, {}, "not known"),
        ("write", {}, {"sync": "end"}, "flushed within its time; server and device caches unknown"),
        ("write", {}, {"sync": "none"}, "not known"),
    ],
)
def test_what_is_known_is_said_where_no_counter_is(
    tmp_path: Path, access: str, cache: made.Line | None, options: made.Line, words: str
) -> None:
    reported = None if cache is None else {"verdict": "unknown", **cache}
    assert _source(tmp_path, access, reported, options=options) == words


def _names(tmp_path: Path, access: str, p50: float, **run: Any) -> str:
    lines = [
        made.run_line(benchmark="mdtest", **run),
        made.measurement(
            access, "", 1, 388.0, benchmark="mdtest", bytes=0, cache=None,
            call_times=made.call_times(500, p50),
        ),
        made.end(),
    ]  # fmt: skip
    result = read_result(made.write(tmp_path / "result.jsonl", made.numbered(lines)))
    return source_of(result.measurements, result.run)


def test_names_have_no_bytes_but_words(tmp_path: Path) -> None:
    synced = {"options": {"sync-phases": True}}
    assert _names(tmp_path, "create", 1e-2, **synced) == "synced within its time"
    assert _names(tmp_path, "create", 1e-2) == "in memory or on storage: not known"
    # 388 look-ups per second, as measured over a network, do not come from memory.
    assert _names(tmp_path, "stat", 2.6e-3) == "from this node's cache or beyond: not known"
    assert (
        _names(tmp_path, "stat", 2.6e-3, options={"drop-cache": "on"})
        == "client cache dropped; server cache unknown"
    )
    assert _names(tmp_path, "stat", 2e-6).startswith("from memory: half of the calls took less")
    assert _names(tmp_path, "stat", 2e-6, clock={"virtual": True}) == "simulated"


def test_the_network_of_a_node_bounds_what_came_from_a_server(tmp_path: Path) -> None:
    net = tmp_path / "net"
    dev = tmp_path / "dev"
    # The loopback and a bridge have no device: they would count twice.
    rows = {"eth0": 700, "lo": 9000, "br0": 700, "veth1": 600}
    for name in rows:
        (net / name).mkdir(parents=True)
    (net / "br0/bridge").mkdir()
    between = " 0 0 0 0 0 0 0 "
    lines_of_dev = ["Inter-| Receive", " face |bytes"]
    lines_of_dev += [f"{name}: {got}{between}50{between}" for name, got in rows.items()]
    dev.write_text("\n".join(lines_of_dev) + "\n")
    # In a container no interface is a device: its end of a pair counts.
    contained = counters(net, tmp_path / "none", dev)
    assert contained is not None
    assert (contained.received_bytes, contained.sent_bytes) == (700 + 600, 50 + 50)
    # Where there is no interface nothing is said, instead of "at most 0 %".
    (tmp_path / "only-lo").write_text("\n".join([*lines_of_dev[:2], lines_of_dev[3]]) + "\n")
    assert counters(net, tmp_path / "none", tmp_path / "only-lo") is None
    (net / "eth0/device").mkdir()
    port = tmp_path / "ib/mlx5_0/ports/1/counters"
    port.mkdir(parents=True)
    (port / "port_rcv_data").write_text("1000\n")
    (port / "port_xmit_data").write_text("10\n")
    reported = counters(net, tmp_path / "ib", dev)
    assert reported is not None
    assert (reported.received_bytes, reported.sent_bytes) == (700 + 4 * 1000, 50 + 4 * 10)
    # One that cannot be read does not count as 0 bytes: the difference would be too large.
    (port / "port_xmit_data").write_text("")
    assert counters(net, tmp_path / "ib", dev) is None
    lines = [
        made.run_line(benchmark="ior", file_system={"type": "fuse", "source": "server:/vol"}),
        _measured("read", "unknown", None),
        _measured("write", "unknown", None),
        made.end(),
    ]
    result = read_result(made.write(tmp_path / "r.jsonl", made.numbered(lines)))
    reads = [m for m in result.measurements if m.access == "read"]
    words = source_of(reads, result.run, Traffic(30 * MB, 0, 100 * MB, 100 * MB))
    assert words == "not known; at most 30 % of the bytes crossed this node's network"
    words = source_of(reads, result.run, Traffic(2000, 0, 100 * MB, 100 * MB))
    assert words == "not known; at most 1 % of the bytes crossed this node's network"
    words = source_of(reads, result.run, Traffic(0, 0, 100 * MB, 100 * MB))
    assert words == "not known; none of the bytes crossed this node's network"
    words = source_of(reads, result.run, Traffic(101 * MB, 0, 100 * MB, 100 * MB))
    assert words == "not known; as many bytes crossed this node's network"
    lines[0] |= {"file_system": {"type": "ext4", "source": "/dev/vda"}}
    local = read_result(made.write(tmp_path / "l.jsonl", made.numbered(lines)))
    assert source_of(reads, local.run, Traffic(0, 0, 100 * MB, 100 * MB)) == "not known"


def test_what_was_never_written_is_not_a_read_of_storage(tmp_path: Path) -> None:
    read = _measured("read", "device", 1.0)
    read["cache"]["hole_fraction"] = 0.79
    report = _report(tmp_path, [read], "read")
    tick = next(f for f in report.findings if f.card == "cache")
    assert tick.level == "warn"
    assert "79 % of them from holes that were never written" in tick.text
    assert "79 % of them from holes that were never written" in report.headline.basis()
