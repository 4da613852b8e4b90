# SPDX-License-Identifier: BSD-3-Clause
"""What reports that are lists leave out, figures of means over cases, and values of several runs at
one place."""

from __future__ import annotations

from pathlib import Path

import pytest

from driver import made
from effio.judge import Interval
from effio.report.build import report_of
from effio.report.model import Axis, Column, Finding, Panel, Table
from effio.report.parts import (
    Maker,
    Part,
    differing,
    found,
    known,
    member,
    quantity,
    sections_of,
    valid,
    value_at,
    value_of,
)
from effio.report.plots import best, by_case, interval, means, plot
from effio.report.spots import Spot, curve, x_axis
from effio.store.reader import Result, read_result

_SAMPLES = {"count": 5, "min": 8.0, "max": 14.0, "deviation": 2.0, "low95": 9.0, "high95": 13.0}


def _result(tmp_path: Path) -> Result:
    lines = made.b_eff_io()
    for line in lines:
        if line["kind"] == "measurement" and line["pattern"] == "shared":
            line |= made.invalid("broken")
        if line.get("name") == "type_bandwidth":
            line["samples"] = _SAMPLES
            if line["where"]["pattern"] == "scatter" and line["where"]["access"] == "write":
                line["metric"] |= {"value": None, "reason": "broken"}
    return read_result(made.write(tmp_path / "result.jsonl", lines))


def _table(*rows: str) -> Table:
    return Table([Column("name")], [[row] for row in rows])


def test_what_has_nothing_to_say_is_left_out() -> None:
    full: Part[int] = Part("full", "Full", (lambda _: _table("a"), lambda _: _table()))
    nothing: list[Maker[int]] = [lambda _: None, lambda _: [], lambda _: _table()]
    empty: Part[int] = Part("empty", "Empty", nothing)
    several: Part[int] = Part("more", "More", (lambda n: [_table("a")] * n, lambda _: "text"))
    sections = sections_of((full, empty, several), 2)
    assert [(s.id, len(s.blocks)) for s in sections] == [("full", 1), ("more", 3)]
    one = Finding("one")
    finders = (lambda _: one, lambda _: None, lambda n: [Finding("more")] * n)
    assert [f.text for f in found(finders, 2)] == ["one", "more", "more"]


def test_records_that_count(tmp_path: Path) -> None:
    result = _result(tmp_path)
    writes = valid(result, "write")
    assert {m.pattern for m in writes} == {"scatter", "separated", "segmented", "seg_coll"}
    assert {m.access for m in valid(result)} == {"write", "rewrite", "read"}
    rates = result.figures_named("type_bandwidth")
    assert rates[0].metric.value is None
    assert known(result, "type_bandwidth") == rates[1:]
    assert [value_of(f) for f in (None, rates[0])] == [0.0, 0.0]
    assert member("open_seconds")(rates[0]) == 0.25
    at = value_at(result, "type_bandwidth", lambda f: (f.where["access"], f.where["pattern"]))
    assert at(rates[1]) == rates[1].metric.value
    assert quantity(None, "s") is None
    assert differing([{"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}]) == ["b", "c"]


def test_a_curve_has_its_style_in_all_cases(tmp_path: Path) -> None:
    rates = _result(tmp_path).figures_named("type_bandwidth")
    panels = by_case(
        rates,
        lambda f: str(f.where["access"]),
        lambda f: str(f.where["pattern"]),
        lambda f: str(f.where["access"]),
        first=("seg_coll",),
    )
    assert list(panels) == ["write", "rewrite", "read"]
    styles = {name: [(s.name, s.style) for s in of[0].series] for name, of in panels.items()}
    assert styles["write"][:2] == [("seg_coll", 0), ("scatter", 1)]
    assert styles["rewrite"] == [("scatter", 1)]


def test_whiskers_are_what_they_are_called(tmp_path: Path) -> None:
    (rate, *_) = _result(tmp_path).figures_named("type_bandwidth")
    curves = [means("m", [rate], lambda _: 1.0, ends=ends) for ends in (best, interval)]
    assert [(list(c.low), c.high) for c in curves] == [([], [14.0]), ([9.0], [13.0])]
    assert plot("id", "title", "", "bars", Axis(""), Axis(""), {}) is None
    figure = plot("id", "title", "", "bars", Axis(""), Axis(""), [Panel("a", curves)], case="of")
    assert figure is not None
    assert [p.title for p in figure.variants[""]] == ["a"]
    assert figure.variant_title == "of"


def test_a_spot_has_an_interval_or_its_range() -> None:
    few, many = Spot([8.0, 12.0]), Spot([10.0, 11.0, 9.0, 10.0, 10.0])
    assert few.ends == (8.0, 12.0)
    assert few.interval is None
    assert list(many.ends) == pytest.approx([9.122, 10.878], abs=1e-3)
    assert Spot([10.0], Interval(-1.0, 12.0)).ends == (0.0, 12.0)
    assert Spot([10.0]).ends == Spot([]).ends == (None, None)
    drawn = curve("mean", [1.0, 2.0], [few, many])
    assert (list(drawn.y), drawn.low[0], drawn.high[0]) == ([10.0, 10.0], 8.0, 12.0)


def test_an_axis_of_texts_is_one_of_numbers_where_all_are() -> None:
    axis, counted = x_axis("where.block_bytes", ["64KiB", "1MiB"])
    assert (axis.title, counted, axis.log) == ("block bytes", True, True)
    assert axis.ticks == [(65536.0, "64 KiB"), (1048576.0, "1 MiB")]
    axis, counted = x_axis("ranks", ["2", "4"])
    assert (axis.log, counted) == (False, True)
    axis, counted = x_axis("where.kind", ["2", "all"])
    assert (axis.title, axis.ticks, counted) == ("kind", (), False)


@pytest.mark.parametrize("counted", [{}, {"error_count": 1, "stopped_by": "interrupted"}])
def test_an_interrupted_cell_is_not_called_a_failed_call(
    counted: made.Line, tmp_path: Path
) -> None:
    lines = made.b_eff_io()
    lines[1] |= made.invalid("stopped by a signal") | counted
    lines[2] |= made.invalid("short write") | {"error_count": 3}
    result = read_result(made.write(tmp_path / "r.jsonl", lines))
    texts = [finding.text for finding in report_of("r", result).findings]
    first, second = (text for text in texts if "; the first: " in text)
    assert first.startswith("1 measurement had failed calls or wrong data")
    assert first.endswith("short write")
    assert second.startswith("1 measurement is not valid")
    assert second.endswith("stopped by a signal")
