# SPDX-License-Identifier: BSD-3-Clause
"""What a campaign measured: a row for each point, with the number of its benchmark over the
repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from statistics import median

from effio.campaign.expression import Value, spelled
from effio.campaign.points import Unit
from effio.campaign.run import UnitDone
from effio.errors import ExitCode
from effio.report.claims import Number, number_of
from effio.report.indexed import Known
from effio.report.model import AxisValue, Cell, Column, Quantity, Table
from effio.report.points import Point


@dataclass
class Row:
    """The row of a point. `measured`: the claims of its repetitions, if any has a result."""

    step: str
    axes: Mapping[str, Value]
    asked: int = 0
    done: int = 0
    measured: Point | None = None
    faults: list[str] = field(default_factory=list)

    @property
    def state(self) -> str:
        if self.faults:
            return self.faults[-1]
        return "done" if self.done == self.asked else "to do" if not self.done else "in part"


def rows_of_units(
    units: Sequence[Unit], done: Sequence[UnitDone], known: Mapping[str, Known] | None = None
) -> list[Row]:
    """`known`: runs of earlier calls, by their ids, which need not be read."""
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
        number = _number_of(one, known or {})
        if number is None:
            continue
        row.measured = row.measured or Point({}, number.name, number.unit)
        row.measured.add(number)
    return list(rows.values())


def _number_of(one: UnitDone, known: Mapping[str, Known]) -> Number | None:
    """None if the run has no result that can be read."""
    if one.before and one.folder is not None and one.folder.id in known:
        return known[one.folder.id].number
    result = one.result()
    return number_of(result) if result is not None else None


def table_of(rows: Sequence[Row]) -> Table:
    axes = list(dict.fromkeys(name for row in rows for name in row.axes))
    shown = cache(AxisValue)  # few values in many rows

    def cells(row: Row) -> list[Cell]:
        point = row.measured
        values = point.values if point is not None else []
        several = len(values) > 1

        def value(number: float) -> Cell:
            return Quantity(number, point.unit if point is not None else "")

        return [
            row.step,
            *(shown(name, spelled(row.axes[name])) if name in row.axes else "" for name in axes),
            f"{row.done} of {row.asked}",
            row.state,
            point.figure if point is not None else "",
            value(median(values)) if values else None,
            value(min(values)) if several else None,
            value(max(values)) if several else None,
            point.basis if point is not None else "",
        ]

    columns = [
        Column("step", kept=True),
        *(Column(name, kept=True) for name in axes),
        Column("runs"),
        Column("state", kept=True),
        Column("figure"),
        Column("median", "1", kept=True),
        Column("lowest", "1"),
        Column("highest", "1"),
        Column("basis", below=True),
    ]
    return Table(columns, [cells(row) for row in rows])
