# SPDX-License-Identifier: BSD-3-Clause
"""How the figure is computed: averages of accesses and partitions, and how they scale."""

from __future__ import annotations

from collections.abc import Sequence

from effio.report.b_eff_io.cells import ACCESSES, Run
from effio.report.common import certainty
from effio.report.common.precision import interval_of_rounds
from effio.report.model import Axis, Cell, Column, Figure, Panel, Series, Table
from effio.store.records import Figure as FigureRecord


def average_table(run: Run) -> Table:
    rows: list[list[Cell]] = []
    found = [f for n in run.partitions for f in run.figures("b_eff_io_partition", n)]
    in_rounds = any(interval_of_rounds(f) for f in found)
    more = [Column("interval of b_eff_io")] if in_rounds else []
    for n in run.partitions:
        averages: list[Cell] = []
        for access in ACCESSES:
            reported = run.figures("access_bandwidth", n)
            of_access = [f for f in reported if f.where.get("access") == access]
            averages.append(of_access[0].metric.value if of_access else None)
        whole: list[Cell] = []
        interval: list[Cell] = [""] if in_rounds else []
        valid: Cell = None
        for name in ("write_average", "b_eff_io_partition"):
            mine = run.figures(name, n)
            whole.append(mine[0].metric.value if mine else None)
            valid = mine[0].valid if mine else valid
            if mine and in_rounds:
                interval = [interval_of_rounds(mine[0])]
        rows.append(
            [run.label(n), *averages, *whole, *interval, valid, "best" if n == run.best else ""]
        )
    shown = [Column(a, "B/s", "MB/s") for a in (*ACCESSES, "writing (B_wr)", "b_eff_io")]
    return Table(
        [Column("partition"), *shown, *more, Column("valid"), Column("")],
        rows,
        "Averages",
        "In the average of an access, scatter counts twice. b_eff_io of a partition is the"
        " geometric mean of writing (write, with scatter's rewrite) and reading; of a run, the best"
        " partition's.",
    )


def _curve(run: Run, name: str, found: Sequence[tuple[int, FigureRecord]], style: int) -> Series:
    """Over the ranks; whiskers are the intervals over the rounds."""
    ends = [certainty.ends_of(f) for _, f in found]
    return Series(
        name,
        [float(run.ranks(n)) for n, _ in found],
        [f.metric.value for _, f in found],
        style,
        [high for _, high in ends],
        low=[low for low, _ in ends],
    )


def scaling_figure(run: Run) -> Figure | None:
    by_ranks = sorted(run.partitions, key=run.ranks)
    if len({run.ranks(n) for n in by_ranks}) < 2:
        return None
    series = []
    for i, access in enumerate(ACCESSES):
        found = [
            (n, f)
            for n in by_ranks
            for f in run.figures("access_bandwidth", n)
            if f.where.get("access") == access
        ]
        series.append(_curve(run, access, found, 10 + i))
    found = [(n, f) for n in by_ranks for f in run.figures("b_eff_io_partition", n)]
    series.append(_curve(run, "b_eff_io", found, 13))
    ticks = [(float(run.ranks(n)), str(run.ranks(n))) for n in by_ranks]
    return Figure(
        "scaling",
        "More ranks, more bandwidth?",
        "The averages of each partition. A curve that falls means that ranks are in each other's "
        "way: locks on the shared file, too few cores, a saturated device. Whiskers, where it was "
        "measured in rounds, are 95 % intervals.",
        "curves",
        Axis("ranks", "1", log=True, ticks=ticks),
        Axis("bandwidth", "B/s", log=True, switch=True),
        {"": [Panel("", series)]},
        columns=1,
        panel_height=320,
    )
