# SPDX-License-Identifier: BSD-3-Clause
"""What a campaign measured: a row for each point, with the number of its benchmark over the
repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from rich.console import Console
from rich.text import Text

from effio import text as fmt
from effio.campaign.expression import Value, spelled
from effio.campaign.points import Unit
from effio.campaign.run import UnitDone
from effio.cli.grid import Field, grid
from effio.errors import ExitCode
from effio.report.registry import teller_of


@dataclass
class Row:
    """Of a point. `values` are those of its repetitions, in the figure's unit."""

    step: str
    axes: Mapping[str, Value]
    asked: int = 0
    done: int = 0
    figure: str = ""
    unit: str = ""
    values: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def state(self) -> str:
        if self.faults:
            return self.faults[-1]
        return "done" if self.done == self.asked else "to do" if not self.done else "in part"


def rows_of_units(units: Sequence[Unit], done: Sequence[UnitDone]) -> list[Row]:
    rows: dict[str, Row] = {}
    for unit in units:
        key = f"{unit.point.step.name} {unit.point.id}"
        row = rows.setdefault(key, Row(unit.point.step.name, unit.point.axes))
        row.asked += 1
    for one in done:
        if one.not_run:
            continue
        row = rows[f"{one.unit.point.step.name} {one.unit.point.id}"]
        if one.code == ExitCode.DONE:
            row.done += 1
        else:
            row.faults.append(one.code.name.lower())
        result = one.result()
        if result is None:
            continue
        headline = teller_of(result.benchmark).headline(result)
        row.figure, row.unit = headline.name, headline.unit
        if headline.value is not None:
            row.values.append(headline.value)
    return list(rows.values())


def print_table(console: Console, rows: Sequence[Row]) -> None:
    axes = list(dict.fromkeys(name for row in rows for name in row.axes))

    def cells(texts: Sequence[str]) -> list[Text]:
        return [Text(fmt.plain(text)) for text in texts]

    def interval(row: Row) -> str:
        if len(row.values) < 2:
            return ""
        low, high = (fmt.quantity(v, row.unit) for v in (min(row.values), max(row.values)))
        return f"{low} to {high}"

    fields = [Field("step", cells([row.step for row in rows]), kept=True)]
    for name in axes:
        texts = [spelled(row.axes[name]) if name in row.axes else "" for row in rows]
        fields.append(Field(name, cells(texts), kept=True))
    fields += [
        Field("runs", cells([f"{row.done} of {row.asked}" for row in rows])),
        Field("state", cells([row.state for row in rows]), kept=True),
        Field("figure", cells([row.figure for row in rows])),
        Field(
            "median",
            cells([fmt.quantity(median(r.values), r.unit) if r.values else "" for r in rows]),
            right=True,
            kept=True,
        ),
        Field("lowest to highest", cells([interval(row) for row in rows])),
    ]
    table, left_out = grid(fields, console.width)
    console.print(table)
    if left_out:
        console.print(Text(f"no room for: {', '.join(left_out)}", style="dim"))
