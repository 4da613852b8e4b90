# SPDX-License-Identifier: BSD-3-Clause
"""Figures from records: curves of means with whiskers, a panel for each case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from effio.report.common import certainty
from effio.report.common.names import grouped, unique
from effio.report.model import Axis, Block, Cell, Column, Figure, Panel, Series, Table
from effio.store.records import Figure as FigureRecord

# The lower and the upper end of a whisker.
Ends = tuple[float | None, float | None]
# Curves of a single panel, panels side by side, or panels by the case that a reader chooses.
Drawn = Sequence[Series] | Sequence[Panel] | Mapping[str, Sequence[Panel]]


def plot(
    identity: str,
    title: str,
    caption: str,
    kind: Literal["curves", "bars", "stacked", "heatmap", "radar"],
    x: Axis,
    y: Axis,
    drawn: Drawn,
    *,
    case: str = "",
    columns: int = 1,
    height: int = 260,
    table: Table | None = None,
) -> Figure | None:
    """A figure; None if there is nothing to draw. `case`: what the choices of panels are."""
    if not drawn:
        return None
    if isinstance(drawn, Mapping):
        variants: Mapping[str, Sequence[Panel]] = drawn
    else:
        panels = [one for one in drawn if isinstance(one, Panel)]
        series = [one for one in drawn if isinstance(one, Series)]
        variants = {"": panels or [Panel("", series)]}
    return Figure(
        identity,
        title,
        caption,
        kind,
        x,
        y,
        variants,
        columns=columns,
        variant_title=case,
        table=table,
        panel_height=height,
    )


def means(
    name: str,
    figures: Sequence[FigureRecord],
    x: Callable[[FigureRecord], float | str],
    style: int = 0,
    ends: Callable[[FigureRecord], Ends] = certainty.ends_of,
    **more: Any,
) -> Series:
    """A curve or bars of means; `ends` are the lower and upper ends of the whiskers."""
    whiskers = [ends(f) for f in figures]
    return Series(
        name,
        [x(f) for f in figures],
        [f.metric.value for f in figures],
        style,
        high=[high for _, high in whiskers],
        low=() if ends is best else [low for low, _ in whiskers],
        **more,
    )


def best(f: FigureRecord) -> Ends:
    """A whisker from the mean to the best repetition."""
    return None, f.samples.max if f.samples else None


def interval(f: FigureRecord) -> Ends:
    """A whisker over the 95 % interval; fewer than five repetitions have none."""
    bounds = certainty.shown_bounds(f)
    return (bounds.low, bounds.high) if bounds is not None else (None, None)


def by_case(
    figures: Iterable[FigureRecord],
    case: Callable[[FigureRecord], str],
    curve: Callable[[FigureRecord], str],
    x: Callable[[FigureRecord], float | str],
    ends: Callable[[FigureRecord], Ends] = certainty.ends_of,
    first: Sequence[str] = (),
) -> dict[str, list[Panel]]:
    """A panel for each case with the `means` of each curve, which numbers on its axis order. A
    curve has the same style in all cases: its number, those of `first` before others."""
    figures = list(figures)
    styles = {name: i for i, name in enumerate(unique([*first, *map(curve, figures)]))}
    panels = {}
    for name, some in grouped(figures, case).items():
        series = []
        for one, of in sorted(grouped(some, curve).items(), key=lambda item: styles[item[0]]):
            in_order = of if isinstance(x(of[0]), str) else sorted(of, key=x)
            series.append(means(one, in_order, x, styles[one], ends))
        panels[name] = [Panel("", series)]
    return panels


@dataclass(frozen=True)
class ScalingPoint:
    """A rate in bytes per second. Points of one case and label form a curve."""

    case: str  # "write, 96³ cells, weak scaling"
    label: str  # "hdf5 + largeblock"
    processes: int
    rate: float


def scaling_blocks(points: Sequence[ScalingPoint]) -> list[Block]:
    """A figure and its table; nothing if no curve has two numbers of processes. Several results
    for one point count by their mean."""
    cases = unique(p.case for p in points)
    in_order = sorted(points, key=lambda p: cases.index(p.case))
    curves = {
        place: grouped(some, lambda p: p.processes)
        for place, some in grouped(in_order, lambda p: (p.case, p.label)).items()
    }
    if not any(len(curve) > 1 for curve in curves.values()):
        return []
    styles = {label: i for i, label in enumerate(unique(p.label for p in points))}
    panels: dict[str, list[Series]] = {}
    rows: list[list[Cell]] = []
    for (case, label), curve in curves.items():
        counts = sorted(curve)
        rates = [[p.rate for p in curve[n]] for n in counts]
        means = [fmean(some) for some in rates]
        series = Series(
            label, list(map(float, counts)), means, styles[label], list(map(max, rates))
        )
        panels.setdefault(case, []).append(series)
        for n, mean in zip(counts, means, strict=True):
            linear = means[0] / counts[0] * n
            share = mean / linear if linear > 0 else None
            rows.append([case, label, n, mean, mean / n, share, len(curve[n])])
    columns = [Column("case"), Column("series"), Column("processes", "1"), Column("rate", "B/s")]
    columns += [Column("rate a process", "B/s"), Column("of linear", "1", "%", 3)]
    columns.append(Column("runs", "1"))
    figure = curves_over_processes(
        "scaling",
        "Scaling over all runs",
        "Means over the runs that measured a point; whiskers reach to the best. Linear scaling"
        " is a straight line of slope one. The table says how much of it is left, counted from"
        " the smallest number of processes.",
        {case: [Panel("", series)] for case, series in panels.items()},
        [p.processes for p in points],
        Table(columns, rows, "Scaling over all runs"),
    )
    return [figure] if figure else []


def curves_over_processes(
    identity: str,
    title: str,
    caption: str,
    cases: dict[str, list[Panel]],
    processes: Iterable[int],
    table: Table | None = None,
) -> Figure | None:
    """Rates in bytes per second over numbers of processes, one case at a time."""
    return plot(
        identity,
        title,
        caption,
        "curves",
        Axis("processes", log=True, ticks=[(float(n), str(n)) for n in sorted(set(processes))]),
        Axis("rate", "B/s", log=True, switch=True),
        cases,
        case="case",
        table=table,
        height=420,
    )
