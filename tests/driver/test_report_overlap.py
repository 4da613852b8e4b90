# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of overlap, against a result whose numbers are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from driver import made
from effio.report.build import report_of
from effio.report.html import render
from effio.report.model import Figure, Report, Table
from effio.store.reader import read_result

KIB, MIB = 1 << 10, 1 << 20
# By method and size: what hides, why no more, and how much longer the computation takes.
HIDDEN = {
    ("blocking", 64 * KIB): (0.0, "post", 1.0),
    ("blocking", MIB): (0.02, "post", 1.0),
    ("nonblocking", 64 * KIB): (0.01, "wait", 1.0),
    ("nonblocking", MIB): (0.6, "work", 1.4),
    ("uring", 64 * KIB): (0.95, "none", 1.0),
    ("uring", MIB): (1.0, "none", 1.0),
    ("thread", 64 * KIB): (-0.5, "poll", 1.02),
    ("thread", MIB): (0.5, "length", 1.0),
}


def _where(method: str, size: int) -> made.Line:
    return {"method": method, "work": "compute", "transfer_bytes": size, "access": "write"}


def _figure(
    name: str, method: str, size: int, value: float, unit: str, **detail: object
) -> made.Line:
    line = made.figure(name, value, unit, benchmark="overlap", where=_where(method, size))
    line["detail"] = detail
    line["samples"] = {
        "count": 10,
        "min": value - 0.02,
        "max": value + 0.02,
        "deviation": 0.014,
        "low95": value - 0.01,
        "high95": value + 0.01,
    }
    return line


def _measurement(method: str, size: int) -> made.Line:
    return {
        "schema": made.SCHEMA,
        "kind": "measurement",
        "benchmark": "overlap",
        "pattern": method,
        "access": "write",
        "where": {k: v for k, v in _where(method, size).items() if k != "access"},
        "ranks": 2,
        "nodes": 1,
        "bytes": 2 * size,
        "operations": 2,
        "seconds": {
            "total": made.spread(0.3),
            "post": made.spread(0.05),
            "compute": made.spread(0.2),
            "poll": made.spread(0.0),
            "wait": made.spread(0.05),
        },
        "rate": {"value": 2 * size / 0.3, "unit": "B/s", "better": "higher"},
        "valid": True,
        "detail": {},
    }


def made_lines() -> list[made.Line]:
    run = made.run_line(benchmark="overlap")
    lines = [run]
    for method, size in HIDDEN:
        lines.append(_measurement(method, size))
    for (method, size), (share, limit, slower) in HIDDEN.items():
        detail = {"limit": limit, "post_seconds": 0.05, "poll_seconds": 0.0, "wait_seconds": 0.05}
        lines.append(_figure("hidden_share", method, size, share, "1", **detail))
        lines.append(_figure("work_slowdown", method, size, slower, "1"))
        lines.append(_figure("io_seconds", method, size, 0.1, "s"))
        lines.append(_figure("work_seconds", method, size, 0.2, "s"))
        lines.append(_figure("both_seconds", method, size, 0.3 - 0.1 * share, "s"))
    best = made.figure("overlap", 1.0, "1", benchmark="overlap", where={})
    best["detail"] = {"best": _where("uring", MIB), "left_out": ["sloth: it sleeps"]}
    return made.numbered([*lines, best, made.end()])


def _reported(tmp_path: Path, lines: list[made.Line], foreign: bool = False) -> Report:
    result = read_result(made.write(tmp_path / "run.jsonl", lines, foreign))
    return report_of("run", result, result.remarks)


def _curves(report: Report, identity: str) -> Figure:
    return next(f for f in report.figures() if f.id == identity)


def test_the_headline_is_what_hides_at_best(tmp_path: Path) -> None:
    headline = _reported(tmp_path, made_lines()).headline
    assert headline.value == 1.0
    assert headline.interval == "± 1 % (95 %)"
    assert headline.shown() == "100 %"
    assert "write of 1 MiB by uring, during compute work" in headline.context


def test_a_curve_for_each_way_with_its_interval(tmp_path: Path) -> None:
    figure = _curves(_reported(tmp_path, made_lines()), "hidden")
    (panel,) = figure.variants["write during compute work"]
    assert [s.name for s in panel.series] == ["blocking", "nonblocking", "uring", "thread"]
    for series in panel.series:
        assert list(series.x) == [64 * KIB, MIB]
        expected = [HIDDEN[series.name, size][0] for size in (64 * KIB, MIB)]
        assert list(series.y) == pytest.approx(expected)
        assert list(series.low) == pytest.approx([v - 0.01 for v in expected])
        assert list(series.high) == pytest.approx([v + 0.01 for v in expected])


def test_what_the_computation_pays(tmp_path: Path) -> None:
    figure = _curves(_reported(tmp_path, made_lines()), "slow-down")
    (panel,) = figure.variants["write during compute work"]
    assert list(panel.series[1].y) == pytest.approx([1.0, 1.4])


def test_a_sentence_for_each_way_says_what_hides_and_why_not(tmp_path: Path) -> None:
    report = _reported(tmp_path, made_lines())
    texts = [f.text for f in report.findings]
    (blocking,) = [t for t in texts if t.startswith("blocking, write during compute work")]
    assert "hides 2 % of the time with 1 MiB: the call comes back only when" in blocking
    assert "but" not in blocking  # two hundredths do not count as a difference
    (nonblocking,) = [t for t in texts if t.startswith("nonblocking, ")]
    assert "60 % of the time with 1 MiB: it takes its time from the computation (40 % longer)" in (
        nonblocking
    )
    assert "; but 1 % of the time with 64 KiB: the rest is left for the wait" in nonblocking
    (uring,) = [f for f in report.findings if f.text.startswith("uring, ")]
    assert uring.level == "good"
    assert "hides 100 % of the time with 1 MiB: the computation covers it." in uring.text
    (thread,) = [t for t in texts if t.startswith("thread, ")]
    assert "all that so short a computation can cover" in thread
    # A share is not below 0.
    assert (
        "; but nothing with 64 KiB, where both take longer than one after the other: the time"
        " passes in the calls that ask" in thread
    )
    (cost,) = [f for f in report.findings if f.anchor == "slow-down"]
    assert "compute work takes 40 % longer during a write of 1 MiB by nonblocking" in cost.text
    assert "Left out: sloth: it sleeps." in texts
    places = {s.id for s in report.sections} | {f.id for f in report.figures()}
    assert {f.anchor for f in report.findings} <= places


def test_what_two_repetitions_hid_is_not_nothing(tmp_path: Path) -> None:
    """They have a range and no interval: 100 % was "nothing, where both take longer"."""
    lines = made_lines()
    for line in lines:
        if line.get("name") == "hidden_share":
            line["samples"] = {**line["samples"], "count": 2, "low95": None, "high95": None}
            line["samples"] |= dict.fromkeys(("min", "max"), line["metric"]["value"])
    found = [f.text for f in _reported(tmp_path, lines).findings if "hides" in f.text]
    said = next(text for text in found if text.startswith("uring"))
    assert said == (
        "uring, write during compute work, hides 100 % of the time with 1 MiB: the computation"
        " covers it."
    )
    assert any("thread" in t and "both take longer than one after the other" in t for t in found)


def test_a_slow_down_that_may_be_none_is_not_reported(tmp_path: Path) -> None:
    lines = made_lines()
    for line in lines:
        if line.get("name") == "work_slowdown":
            line["samples"]["low95"] = 0.9
    report = _reported(tmp_path, lines)
    assert not [f for f in report.findings if f.anchor == "slow-down"]


def test_a_small_slow_down_is_not_reported(tmp_path: Path) -> None:
    lines = made_lines()
    for line in lines:
        if line.get("name") == "work_slowdown":
            line["metric"]["value"] = 1.05
            line["samples"] |= {"low95": 1.04, "high95": 1.06}
    report = _reported(tmp_path, lines)
    assert not [f for f in report.findings if f.anchor == "slow-down"]


def test_a_share_that_is_not_known_is_not_explained(tmp_path: Path) -> None:
    """The share of the nonblocking method is known at 1 MiB only, that of the thread at no size."""
    lines = made_lines()
    for line in lines:
        if line.get("name") != "hidden_share":
            continue
        method, size = line["where"]["method"], line["where"]["transfer_bytes"]
        if method == "thread" or (method, size) == ("nonblocking", 64 * KIB):
            value = line["metric"]["value"]
            line["samples"].update(low95=value - 0.21, high95=value + 0.21)
    texts = [f.text for f in _reported(tmp_path, lines).findings]
    (nonblocking,) = [t for t in texts if t.startswith("nonblocking, ")]
    assert "60 % of the time with 1 MiB" in nonblocking
    assert "64 KiB" not in nonblocking
    assert not [t for t in texts if t.startswith("thread, ")]
    (thread,) = [t for t in texts if t.startswith("What thread, write during compute work, hides")]
    assert "is not known within ± 20 %" in thread


def test_a_rank_that_is_bound_to_one_processor_is_reported(tmp_path: Path) -> None:
    lines = made_lines()
    reported = "Rank 0 may use one processor only"
    assert not any(reported in f.text for f in _reported(tmp_path, lines).findings)
    lines[0]["system"]["cpu"]["usable_by_root_rank"] = 1
    (finding,) = [f for f in _reported(tmp_path, lines).findings if reported in f.text]
    assert (finding.anchor, finding.level) == ("system", "warn")
    lines[0]["clock"]["virtual"] = True
    assert not any(reported in f.text for f in _reported(tmp_path, lines).findings)


def test_the_table_holds_every_cell(tmp_path: Path) -> None:
    report = _reported(tmp_path, made_lines())
    blocks = [b for s in report.sections for b in s.blocks if isinstance(b, Table)]
    table = next(t for t in blocks if t.title == "Cells")
    rows = {(row[1], row[2]): row for row in table.rows}
    assert set(rows) == set(HIDDEN)
    row = rows["nonblocking", MIB]
    assert row[3:7] == pytest.approx([0.1, 0.2, 0.24, 0.6])
    assert row[9] == pytest.approx(1.4)
    assert row[-2:] == ["work", "not known"]


@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_results_that_are_incomplete(tmp_path: Path, count: int) -> None:
    report = _reported(tmp_path, made_lines()[:count])
    assert report.headline.value is None
    assert render([report], [])


def test_foreign_details_do_no_harm(tmp_path: Path) -> None:
    lines = made_lines()
    for line in lines[1:]:
        if line["kind"] == "figure":
            line["detail"] = {"limit": 7, "best": "uring", "left_out": {"a": 1}}
            line["where"] = {"transfer_bytes": "large", **line["where"]} if line["where"] else {}
    lines[10]["where"]["transfer_bytes"] = "large"
    lines[11]["where"]["method"] = ["<b>"]
    report = _reported(tmp_path, lines, foreign=True)
    assert render([report], [])
