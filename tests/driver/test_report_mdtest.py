# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of mdtest, against results whose numbers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.report.build import report_of
from effio.report.html import render
from effio.report.model import Figure, Report, Table
from effio.store.reader import read_result


def _place(phase: str, own: bool, ranks: int = 2) -> made.Line:
    return {"thing": "file", "phase": phase, "ranks": ranks, "unique": own}


def _measurement(phase: str, access: str, own: bool, work: made.Line, **more: Any) -> made.Line:
    """200 operations in 2 s."""
    line: made.Line = {
        "schema": made.SCHEMA,
        "kind": "measurement",
        "benchmark": "mdtest",
        "pattern": "file",
        "access": access,
        "where": _place(phase, own),
        "ranks": 2,
        "nodes": 1,
        "repetition": 1,
        "bytes": 0,
        "operations": 200,
        "seconds": {"total": made.spread(2.0), "work": work},
        "rate": {"value": 100.0, "unit": "op/s", "better": "higher"},
        "valid": True,
        "stopped_by": "count",
        "call_times": made.call_times(200, 0.01),
        "hints_asked": {},
        "hints_granted": {},
        "verified_bytes": 0,
        "error_count": 0,
        "errors": [],
        "cache": None,
        "detail": {
            "failed_operations": 0,
            "slowest_ranks": [{"rank": 1, "host": "node01", "work_seconds": 2.0}],
            "rate_over_time": {"slice_seconds": 0.5, "operations": [80.0, 60.0, 40.0, 20.0]},
        },
    }
    line.update(more)
    return line


def _rate(phase: str, own: bool, mean: float) -> made.Line:
    return {
        "schema": made.SCHEMA,
        "kind": "figure",
        "benchmark": "mdtest",
        "name": "rate",
        "where": {**_place(phase, own), "access": "create"},
        "metric": {"value": mean, "unit": "op/s", "better": "higher"},
        "valid": True,
        "reasons": [],
        "samples": {
            "count": 3,
            "min": mean / 2,
            "max": mean * 2,
            "deviation": 1.0,
            "low95": mean - 2.0,
            "high95": mean + 2.0,
        },
        "detail": {"mean_seconds": 2.0},
    }


def made_lines() -> list[made.Line]:
    even = made.spread(2.0)
    uneven = {"min": 0.5, "mean": 1.0, "max": 2.0}
    lines = [
        made.run_line(benchmark="mdtest"),
        _measurement("File creation", "create", False, uneven),
        _measurement("File stat", "stat", False, even),
        _measurement("File creation", "create", True, uneven),
        _rate("File creation", False, 100.0),
        _rate("File stat", False, 4000.0),
        _rate("File creation", True, 300.0),
        {
            "schema": made.SCHEMA,
            "kind": "end",
            "status": "done",
            "exit_code": 0,
            "reason": "",
            "errors": [],
            "detail": {},
        },
    ]
    return made.numbered(lines)


def _reported(tmp_path: Path, lines: list[made.Line]) -> Report:
    result = read_result(made.write(tmp_path / "run.jsonl", lines))
    return report_of("run", result, result.remarks)


def _table(report: Report, title: str) -> Table:
    blocks = [b for s in report.sections for b in s.blocks]
    return next(b for b in blocks if isinstance(b, Table) and b.title == title)


def _figure(report: Report, identity: str) -> Figure:
    return next(f for f in report.figures() if f.id == identity)


def test_the_headline_is_the_creation_of_files(tmp_path: Path) -> None:
    headline = _reported(tmp_path, made_lines()).headline
    assert (headline.name, headline.shown()) == ("File creation", "100.0 op/s")
    assert headline.context == "on 2 ranks, ext4, one tree for all ranks"
    # Three runs have a range and no interval; one has neither, and that is said.
    assert headline.interval == "50.00 op/s to 200.0 op/s (range of 3)"
    lines = made_lines()
    for line in lines:
        if line["kind"] == "figure" and line.get("samples"):
            line["samples"] = {"count": 1}
    assert (
        _reported(tmp_path, lines).headline.interval == "one repetition says nothing about the next"
    )


def test_the_headline_is_that_of_most_ranks_and_says_how_many(tmp_path: Path) -> None:
    """mdtest --ranks 1,2 in a job of four: the rate of one rank comes first in the file."""
    one: made.Line = {"where": _place("File creation", False, 1), "ranks": 1}
    alone = _measurement("File creation", "create", False, made.spread(2.0), **one)
    rate = {**_rate("File creation", False, 500.0), "where": one["where"] | {"access": "create"}}
    first, *others = made_lines()
    first["system"] |= {"ranks": 4, "ranks_per_node": {"min": 4, "max": 4}}
    lines = made.numbered([first, alone, *others[:3], rate, *others[3:]])
    headline = _reported(tmp_path, lines).headline
    assert (headline.name, headline.shown()) == ("File creation", "100.0 op/s")
    assert headline.context == "on 2 of 4 ranks, ext4, one tree for all ranks"


def test_the_sentences_follow_from_the_data(tmp_path: Path) -> None:
    text = "\n".join(f.text for f in _reported(tmp_path, made_lines()).findings)
    assert "3.00 times as fast in a tree for each rank (300.0 op/s)" in text
    assert "The slowest rank of File creation (2 ranks, shared) took 2.00 times as long" in text
    assert "File stat" not in text


@pytest.mark.parametrize(
    ("samples", "why"),
    [({"count": 1}, "measured once"),
     ({"count": 3, "low95": 50.0, "high95": 400.0},
      "fewer than five repetitions have no interval"),
     ({"count": 5, "low95": 50.0, "high95": 400.0}, "the 95 % intervals overlap")],
)  # fmt: skip
def test_a_difference_that_is_not_known_is_not_said(
    tmp_path: Path, samples: dict[str, float], why: str
) -> None:
    lines = made_lines()
    for line in lines:
        if line["kind"] == "figure" and line.get("samples"):
            line["samples"] = samples
    text = "\n".join(f.text for f in _reported(tmp_path, lines).findings)
    assert "times as fast" not in text
    assert f"than in one tree for all ranks (100.0 op/s) is not known: {why}." in text


def test_ranks_that_had_nothing_to_do_are_not_compared(tmp_path: Path) -> None:
    lines = made_lines()
    for line in lines:
        if line["kind"] == "measurement" and line["where"]["phase"] == "File creation":
            line["operations"] = 0
    text = "\n".join(f.text for f in _reported(tmp_path, lines).findings)
    assert "The slowest rank" not in text


def test_the_tables_hold_the_numbers(tmp_path: Path) -> None:
    report = _reported(tmp_path, made_lines())
    first = list(_table(report, "Rates").rows[0])
    assert first[:9] == [
        "File creation", 2, "shared", 100.0, 50.0, 200.0, 1.0, None, 3,
    ]  # fmt: skip
    times = _table(report, "Call times")
    cells = dict(zip([column.name for column in times.columns], times.rows[0], strict=True))
    assert [cells[name] for name in ("calls", "p50", "p90", "p99", "p99.9", "max")] == [
        200, 0.01, 0.02, 0.04, 0.08, 0.1,
    ]  # fmt: skip
    balance = list(_table(report, "Ranks against each other").rows[0])
    assert balance[4:] == [0.5, 1.0, 2.0, 2.0, "1 (node01)"]


def test_a_rate_over_time_is_operations_over_slices(tmp_path: Path) -> None:
    figure = _figure(_reported(tmp_path, made_lines()), "over-time")
    series = figure.variants[""][0].series[0]
    assert list(series.x) == [0.25, 0.75, 1.25, 1.75]
    assert list(series.y) == [160.0, 120.0, 80.0, 40.0]


def test_bars_compare_the_trees(tmp_path: Path) -> None:
    figure = _figure(_reported(tmp_path, made_lines()), "rates")
    shared, own = figure.variants["2 ranks"][0].series
    assert list(shared.y) == [100.0, 4000.0]
    assert list(own.y) == [300.0]
    assert list(shared.high) == [200.0, 8000.0]


def test_a_wrong_count_on_disk_is_reported(tmp_path: Path) -> None:
    count = _rate("x", False, 99.0)
    count["metric"]["unit"] = "1"
    count.update(name="on_disk", valid=False, reasons=["another number"], detail={"expected": 100})
    count["where"] = {"thing": "file", "repetition": 1, "ranks": 2, "unique": False}
    count["where"]["after_removal"] = False
    report = _reported(tmp_path, made.numbered([*made_lines()[:-1], count]))
    assert any("Found on disk: 99 file names; expected: 100." in f.text for f in report.findings)


def test_an_incomplete_result_is_borne(tmp_path: Path) -> None:
    for kept in (1, 2, 4):
        report = _reported(tmp_path, made_lines()[:kept])
        assert report.headline.value is None
        assert report.headline.missing
        render([report], ["run.jsonl"])
