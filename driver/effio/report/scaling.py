# SPDX-License-Identifier: BSD-3-Clause
"""Rates against numbers of processes, out of several results of one benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from effio.report.common.names import grouped, unique
from effio.report.model import Axis, Block, Cell, Column, Figure, Panel, Series, Table


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
    curves: dict[tuple[str, str], dict[int, list[float]]] = {}
    for p in points:
        curves.setdefault((p.case, p.label), {}).setdefault(p.processes, []).append(p.rate)
    if not any(len(curve) > 1 for curve in curves.values()):
        return []
    styles = {label: i for i, label in enumerate(unique(p.label for p in points))}
    variants: dict[str, list[Panel]] = {}
    rows: list[list[Cell]] = []
    for case, of_case in grouped(curves.items(), lambda item: item[0][0]).items():
        series = []
        for (_, label), curve in of_case:
            counts = sorted(curve)
            means = [fmean(curve[n]) for n in counts]
            best = [max(curve[n]) for n in counts]
            series.append(Series(label, [float(n) for n in counts], means, styles[label], best))
            for n, mean in zip(counts, means, strict=True):
                linear = means[0] / counts[0] * n
                share = mean / linear if linear > 0 else None
                rows.append([case, label, n, mean, mean / n, share, len(curve[n])])
        variants[case] = [Panel("", series)]
    columns = [Column("case"), Column("series"), Column("processes", "1"), Column("rate", "B/s")]
    columns += [Column("rate a process", "B/s"), Column("of linear", "1", "%", 3)]
    columns.append(Column("runs", "1"))
    return [
        curves_over_processes(
            "scaling",
            "Scaling over all runs",
            "Means over the runs that measured a point; whiskers reach to the best. Linear scaling"
            " is a straight line of slope one. The table says how much of it is left, counted from"
            " the smallest number of processes.",
            variants,
            [p.processes for p in points],
            Table(columns, rows, "Scaling over all runs"),
        )
    ]


def curves_over_processes(
    identity: str,
    title: str,
    caption: str,
    cases: dict[str, list[Panel]],
    processes: Iterable[int],
    table: Table | None = None,
) -> Figure:
    """Rates in bytes per second over numbers of processes, one case at a time."""
    return Figure(
        identity,
        title,
        caption,
        "curves",
        Axis("processes", log=True, ticks=[(float(n), str(n)) for n in sorted(set(processes))]),
        Axis("rate", "B/s", log=True, switch=True),
        cases,
        columns=1,
        variant_title="case",
        table=table,
        panel_height=420,
    )
