# SPDX-License-Identifier: BSD-3-Clause
"""What of a large result goes into a page: its beginning where rows are in order, and median,
least and largest where there are more curves or points than a reader can distinguish. The page says
at each place what it left out or put together; the result file has everything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TypeVar

from effio import text as fmt
from effio.report.model import Block, Figure, Panel, Report, Series, Table

T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """The limits of one table, of one curve, and of the curves and bars of one panel."""

    rows: int
    points: int
    curves: int


# The first whose page is small enough is taken.
STEPS = (Limits(1000, 1500, 48), Limits(300, 400, 24), Limits(60, 120, 12), Limits(20, 40, 8))


def bounded(report: Report, limits: Limits) -> Report:
    sections = [
        replace(s, blocks=[bounded_block(block, limits) for block in s.blocks])
        for s in report.sections
    ]
    return replace(report, sections=sections)


def bounded_block(block: Block, limits: Limits) -> Block:
    if isinstance(block, Table):
        return _table(block, limits)
    return _figure(block, limits) if isinstance(block, Figure) else block


def _points(number: int) -> str:
    return fmt.count_of(number, "point")


def _count(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def _with(caption: str, words: Sequence[str]) -> str:
    return " ".join([*([caption] if caption else []), *words])


def _table(table: Table, limits: Limits) -> Table:
    if len(table.rows) <= limits.rows:
        return table
    note = (
        f"These are the first {_count(limits.rows)} of {_count(len(table.rows))} rows;"
        " effio export writes all."
    )
    return replace(table, rows=table.rows[: limits.rows], caption=_with(table.caption, [note]))


def _figure(figure: Figure, limits: Limits) -> Figure:
    notes: dict[str, None] = {}
    variants = {
        name: [_panel(figure, panel, limits, notes) for panel in panels]
        for name, panels in list(figure.variants.items())[: limits.curves]
    }
    if len(variants) < len(figure.variants):
        notes[f"Shown are {len(variants)} of {_count(len(figure.variants))} choices."] = None
    # Never of all points: a figure may have millions, and its table would be cut right here.
    shown = replace(figure, variants=variants)
    return replace(
        shown,
        table=_table(shown.as_table(), limits),
        caption=_with(figure.caption, list(notes)),
    )


def _panel(figure: Figure, panel: Panel, limits: Limits, notes: dict[str, None]) -> Panel:
    if figure.kind == "heatmap":
        return panel
    series = list(panel.series)
    data = [s for s in series if s.form != "limit"]
    if figure.kind == "curves" and len(data) > limits.curves:
        notes[
            f"Where a panel would have more than {limits.curves} curves it shows the median, the"
            f" least and the largest of them at each place (here {_count(len(data))})."
        ] = None
        series = [*_envelope(data, limits.points), *(s for s in series if s.form == "limit")]
    if figure.kind != "curves":
        return replace(panel, series=[_bars(s, limits, notes) for s in series[: limits.curves]])
    return replace(panel, series=[_thinned(s, limits, notes) for s in series])


def _bars(series: Series, limits: Limits, notes: dict[str, None]) -> Series:
    most = min(len(series.x), limits.points // 10)
    if most < len(series.x):
        notes[f"Shown are the first {most} of {_count(len(series.x))} bars."] = None
    return _part(series, list(range(most)))


def _part(series: Series, kept: Sequence[int]) -> Series:
    def of(values: Sequence[T]) -> list[T]:
        return [values[i] for i in kept if i < len(values)]

    return replace(
        series,
        x=of(series.x),
        y=of(series.y),
        high=of(series.high),
        low=of(series.low),
        notes=of(series.notes),
        faulty=of(series.faulty),
    )


def _parts(values: Sequence[float], count: int) -> list[list[int]]:
    """Positions of equally many neighbors each, by value."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    size = math.ceil(len(order) / count)
    return [order[i : i + size] for i in range(0, len(order), size)]


def _thinned(series: Series, limits: Limits, notes: dict[str, None]) -> Series:
    """Neighbors become one point: their median, with a whisker to the largest."""
    if len(series.x) <= limits.points:
        return series
    if any(isinstance(x, str) for x in series.x):
        return _bars(series, limits, notes)
    known = [
        (float(x), y, series.high[i] if i < len(series.high) else None)
        for i, (x, y) in enumerate(zip(series.x, series.y, strict=True))
        if y is not None and not isinstance(x, str)
    ]
    parts = _parts([k[0] for k in known], limits.points // 3)
    notes[
        f"Where a curve has more than {_count(limits.points)} points, each shown is the median of"
        f" up to {_count(len(parts[0]))} neighbors; its line upwards ends at their largest."
    ] = None
    high = [max(max(known[i][1], known[i][2] or 0.0) for i in part) for part in parts]
    return Series(
        series.name,
        [median(known[i][0] for i in part) for part in parts],
        [median(known[i][1] for i in part) for part in parts],
        series.style,
        high,
        [_points(len(part)) for part in parts],
        form=series.form,
    )


def _envelope(data: Sequence[Series], points: int) -> list[Series]:
    known = [
        (float(x), y)
        for s in data
        for x, y in zip(s.x, s.y, strict=True)
        if y is not None and not isinstance(x, str)
    ]
    places: dict[float, list[float]] = {}
    for x, y in known:
        places.setdefault(x, []).append(y)
    groups = sorted(places.items())
    if len(groups) > points:
        parts = _parts([x for x, _ in known], points // 3)
        groups = [
            (median(known[i][0] for i in part), [known[i][1] for i in part]) for part in parts
        ]
    xs = [x for x, _ in groups]
    notes = [_points(len(ys)) for _, ys in groups]
    return [
        Series(name, xs, [how(ys) for _, ys in groups], style, notes=notes)
        for name, style, how in (("median", 0, median), ("least", 1, min), ("largest", 2, max))
    ]
