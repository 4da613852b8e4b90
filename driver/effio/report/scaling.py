# SPDX-License-Identifier: BSD-3-Clause
"""Rates against numbers of processes, out of several results of one benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from effio.report.common.names import grouped, unique
from effio.report.model import Axis, Block, Cell, Column, Figure, Panel, Series, Table
from effio.report.plots import plot


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
