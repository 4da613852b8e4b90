# SPDX-License-Identifier: BSD-3-Clause
"""Table 3 of a submission as instructions ask for it: one row for each of their tests, named as
there (`[[result]]` of a rules file). Everything else that was measured is in an appendix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from effio import text as fmt
from effio.judge import rules as data
from effio.judge import statistics
from effio.judge.accept import OpenError, one_workload
from effio.judge.outcomes import Outcome
from effio.judge.rules import ResultRow, RuleFile
from effio.judge.selection import Picked, coordinate, select
from effio.judge.systems import MeasuredSystem
from effio.report.charts import scale_of
from effio.report.common.names import grouped, unique
from effio.report.model import Cell, Column, Table
from effio.store.folder import Store
from effio.store.records import Measurement

# Units of the tables: what the field writes.
_SHOWN = {"B/s": ("MB/s", 1e-6)}
# A part of the servers may be off by this much: servers come whole.
_NEAR = 0.05


def in_units(value: float | None, unit: str) -> tuple[float | None, str]:
    shown, scale = _SHOWN.get(unit, (unit, 1.0))
    return (None if value is None else value * scale), shown


@dataclass(frozen=True)
class _Step:
    """What belongs to one row. `last`: at the largest value of its axis."""

    title: str
    picked: Sequence[Picked]
    last: bool = True


def _step_name(at: float, largest: float, test: ResultRow) -> str:
    """The step as "2/3 of the servers", "12 nodes"."""
    if not test.of:
        return f"{at:g} {str(test.axis).rpartition('.')[2]}"
    if at == 1 and largest > 1:
        return f"a single {test.of.removesuffix('s')}"
    part = Fraction(at / largest).limit_denominator(3)
    if part.denominator in (1, 3) and abs(float(part) - at / largest) <= _NEAR:
        thirds = part.numerator * 3 // part.denominator
        return f"{thirds}/3 of the {test.of}" if thirds < 3 else f"all {test.of}"
    return f"{at:g} of {largest:g} {test.of}"


def _steps(test: ResultRow, picked: Sequence[Picked]) -> Iterator[_Step]:
    """The steps by the axis of the test, if it has one and the runs have it."""
    title = test.title or test.id
    if test.axis is None:
        yield _Step(title, picked)
        return
    axis = test.axis
    places = grouped(picked, lambda p: data.as_number(coordinate(p, axis)))
    largest = max((at for at in places if at is not None), default=0.0)
    for at in sorted(places, key=lambda at: (at is None, at or 0.0)):
        if at is None:
            yield _Step(title, places[at], not largest)
        else:
            name = f"{title}, {_step_name(at, largest, test)}" if len(places) > 1 else title
            yield _Step(name, places[at], at == largest)


def _remark(test: ResultRow, picked: Sequence[Picked]) -> str:
    """What a reader must know about the mean. The row is named as the instructions have it, and a
    campaign that was scaled measured less than that."""
    bad = [p for p in picked if not p.m.valid or p.m.rate.value is None]
    campaigns = {
        (p.run.path.parent, p.run.result.record.campaign.name)
        for p in picked
        if p.run.result.record is not None and p.run.result.record.campaign is not None
    }
    scales = sorted({scale_of(Store(root), name) for root, name in campaigns} - {1.0})
    remarks = [f"measured at --scale {scale:g}, not as asked" for scale in scales]
    if bad:
        why = bad[0].m.invalid_reason or bad[0].m.rate.reason or "no rate"
        remarks.append(f"{len(bad)} invalid: {why}")
    try:
        one_workload(test, picked)
    except OpenError as error:
        remarks.append(str(error).partition(": select")[0])
    return fmt.plain("; ".join(remarks), 200)


def _row(test: ResultRow, letter: str, step: _Step, projected: Outcome | None) -> list[Cell]:
    values = [p.m.rate.value for p in step.picked if p.m.valid and p.m.rate.value is not None]
    reported = statistics.summary(values)
    unit = step.picked[0].m.rate.unit
    rate, shown = in_units(reported.mean if reported else None, unit)
    goal = in_units(projected.value, projected.unit)[0] if projected and step.last else None
    remark = _remark(test, step.picked)
    if goal is not None:
        remark = "; ".join(filter(None, (remark, "projected: see table 4")))
    cov = reported.cov if reported else None
    return [step.title, letter, rate, goal, shown, cov, reported.count if reported else 0, remark]


_COLUMNS = (
    Column("Test"), Column("System"), Column("Benchmarked Rate", "1"),
    Column("Projected Rate", "1"), Column("Units"), Column("COV", "1", digits=3),
    Column("Repetitions", "1"), Column("Remark"),
)  # fmt: skip


@dataclass(frozen=True)
class Instructed:
    """`rest`: the runs with what no test of the instructions requires."""

    tables: Sequence[Table]
    rest: Sequence[MeasuredSystem]


def instructed(
    rules: RuleFile, systems: Sequence[MeasuredSystem], projected: Sequence[Outcome]
) -> Instructed:
    """Table 3, a table for each group of tests; a test that was not measured has a row, too."""
    outcomes = {o.rule.id: o for o in projected}
    rows: dict[str, list[list[Cell]]] = {
        group: [] for group in unique(t.group for t in rules.result)
    }
    used: set[int] = set()
    for test in rules.result:
        of_test: list[list[Cell]] = []
        for system in systems:
            picked, _ = select(test, system.runs)
            used |= {id(p.m) for p in picked}
            if picked:
                goal = outcomes.get(test.projected or test.id)
                mine = goal if goal and _on(goal, system) else None
                of_test += [_row(test, system.letter, s, mine) for s in _steps(test, picked)]
        missing: list[Cell] = [test.title or test.id, "", None, None, "", None, 0, "not measured"]
        rows[test.group] += of_test or [missing]
    caption = (
        "Means over all repetitions. COV is their standard deviation (n-1) over the mean; one value"
        " has none. System is the letter of table 2."
    )
    tables = [
        Table(_COLUMNS, of_group, f"Table 3. I/O Test Results: {group}", caption)
        for group, of_group in rows.items()
    ]
    return Instructed(tables, [_without(system, used) for system in systems])


def _on(outcome: Outcome, system: MeasuredSystem) -> bool:
    letter = outcome.projection.system if outcome.projection else ""
    return letter in ("", system.letter)


def _without(system: MeasuredSystem, used: set[int]) -> MeasuredSystem:
    def kept(measurements: Sequence[Measurement]) -> list[Measurement]:
        return [m for m in measurements if id(m) not in used]

    runs = [
        replace(run, result=replace(run.result, measurements=kept(run.result.measurements)))
        for run in system.runs
    ]
    return replace(system, runs=[r for r in runs if r.result.measurements])
