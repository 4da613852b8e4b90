# SPDX-License-Identifier: BSD-3-Clause
"""Several b_eff_io results: rates over the partition size of each system, by access and by pattern
type, and over the scheduled time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from effio.campaign.file import Chart
from effio.report.b_eff_io.cells import ACCESSES, TYPES, Run
from effio.report.charts import Measured, chart_blocks
from effio.report.common.names import grouped, unique
from effio.report.model import Block, Cell, Column, Table
from effio.report.systems import system_names
from effio.store.reader import Result
from effio.store.records import Figure, as_number

_STEPS = ("results",)
_NUMBER = "b_eff_io_partition"
_OPEN = "Open markers are not valid by the definition; compare them only with their like."


def scheduled_minutes(run: Run) -> str:
    """The minutes of one partition: the time of a run is divided among all of its partitions."""
    seconds = as_number(run.result.run.options.get("time"))
    parts = max(1, len(run.partitions))
    return f"{seconds / parts / 60:.3g}" if seconds is not None else "?"


def _values(system: str, run: Run, name: str) -> Iterator[Measured]:
    for n in run.partitions:
        for f in run.figures(name, n):
            if f.metric.value is not None:
                yield Measured(_at(system, run, n, f), f.metric.value, "B/s", 0, _counts(run, n))


def _at(system: str, run: Run, partition: int, figure: Figure) -> dict[str, str]:
    return {
        "system": system,
        "scheduled_minutes": scheduled_minutes(run),
        "ranks": str(run.ranks(partition)),
        "access": str(figure.where.get("access", "")),
        "pattern": str(figure.where.get("pattern", "")),
    }


def _counts(run: Run, partition: int) -> bool:
    return not any(f.valid is False for f in run.figures(_NUMBER, partition))


def _ordered(values: Sequence[Measured], name: str, order: Sequence[str]) -> list[Measured]:
    return sorted(values, key=lambda v: order.index(v.at[name]) if v.at[name] in order else 99)


def systems_table(named: Sequence[tuple[str, Run]]) -> Table:
    """The best partition of each system."""
    rows: list[list[Cell]] = []
    for system, some in grouped(named, lambda item: item[0]).items():
        found = [
            (f.metric.value, run, n, f.valid)
            for _, run in some
            for n in run.partitions
            for f in run.figures(_NUMBER, n)
            if f.metric.value is not None
        ]
        if not found:
            continue
        value, run, n, valid = max(found, key=lambda item: item[0])
        averages = {str(f.where.get("access")): f for f in run.figures("access_bandwidth", n)}
        rates = [averages[a].metric.value if a in averages else None for a in ACCESSES]
        sizes = {run.ranks(n) for _, run in some for n in run.partitions}
        rows.append(
            [system, value, run.ranks(n), scheduled_minutes(run), *rates, valid, len(sizes)]
        )
    columns = [
        Column("system"), Column("best b_eff_io", "B/s", "MB/s"), Column("on ranks", "1"),
        Column("scheduled [min]"), *(Column(a, "B/s", "MB/s") for a in ACCESSES),
        Column("valid"), Column("partition sizes", "1"),
    ]  # fmt: skip
    return Table(columns, rows, "Systems: the best partition of each")


def systems_blocks(results: Sequence[Result]) -> list[Block]:
    """A table of the best partitions, and the figures."""
    runs = [Run(result) for result in results]
    named = list(zip(system_names(results), runs, strict=True))
    times = unique(scheduled_minutes(run) for run in runs)
    curves = ("system", "scheduled_minutes") if len(times) > 1 else ("system",)
    numbers = [v for system, run in named for v in _values(system, run, _NUMBER)]
    if not numbers:
        return []
    accesses = [v for system, run in named for v in _values(system, run, "access_bandwidth")]
    types = [v for system, run in named for v in _values(system, run, "type_bandwidth")]
    blocks: list[Block] = [systems_table(named)]
    blocks += chart_blocks(
        Chart(
            name="systems", title="b_eff_io over partition sizes", caption=_OPEN, steps=_STEPS,
            over="ranks", curves=curves,
        ),
        numbers,
    )  # fmt: skip
    if accesses:
        blocks += chart_blocks(
            Chart(
                name="systems-accesses", title="Write, rewrite and read over partition sizes",
                caption=_OPEN, steps=_STEPS, over="ranks", curves=curves, panels=("access",),
            ),
            _ordered(accesses, "access", ACCESSES),
        )  # fmt: skip
    for access in ACCESSES:
        mine = [v for v in types if v.at["access"] == access]
        if mine:
            blocks += chart_blocks(
                Chart(
                    name=f"systems-types-{access}",
                    title=f"Pattern types over partition sizes: {access}", caption=_OPEN,
                    steps=_STEPS, over="ranks", curves=curves, panels=("pattern",),
                ),
                _ordered(mine, "pattern", TYPES),
            )  # fmt: skip
    if len(times) > 1:
        blocks += chart_blocks(
            Chart(
                name="systems-times", title="b_eff_io over the scheduled time of a partition",
                caption=_OPEN, steps=_STEPS, over="scheduled_minutes", curves=("system", "ranks"),
            ),
            numbers,
        )  # fmt: skip
    return blocks
