# SPDX-License-Identifier: BSD-3-Clause
"""An acceptance as a matrix of rules, with what is behind each ruling."""

from __future__ import annotations

from collections.abc import Sequence

from effio import text as fmt
from effio.judge.outcomes import REHEARSAL, Acceptance, Outcome
from effio.judge.systems import MeasuredSystem, letters_of
from effio.judge.verdicts import Ruling
from effio.report.model import (
    Axis,
    Block,
    Cell,
    Column,
    Figure,
    Panel,
    Quantity,
    RunNames,
    Section,
    Series,
    Table,
)

_MARKS = {Ruling.PASS: "✓", Ruling.FAIL: "✗", Ruling.CLOSE: "≈", Ruling.OPEN: "?"}


def ruling_text(outcome: Outcome, rehearsal: bool = False) -> str:
    marked = " (projected)" if outcome.projection is not None else ""
    marked += " (rehearsal)" if rehearsal else ""
    return f"{_MARKS[outcome.ruling]} {outcome.ruling.text}{marked}"


def value_of(outcome: Outcome) -> Cell:
    if outcome.value is None:
        return None
    if outcome.projection is not None:
        return f"{fmt.quantity(outcome.value, outcome.unit)} (projected)"
    return Quantity(outcome.value, outcome.unit)


def summary_text(acceptance: Acceptance) -> str:
    counts = [
        f"{acceptance.count(ruling)} {ruling.text}" for ruling in Ruling if acceptance.count(ruling)
    ]
    return f"{acceptance.verdict}: {', '.join(counts)}"


def _runs(outcome: Outcome) -> RunNames:
    return RunNames([run.name for run in outcome.runs], 3)


def _basis(outcome: Outcome) -> str:
    """The basis of a ruling that has no other reason."""
    parts = []
    if outcome.sample is not None:
        parts.append(fmt.count_of(outcome.sample.count, "value"))
        if outcome.sample.cov is not None:
            parts.append(f"COV {fmt.significant(outcome.sample.cov, 2)}")
    elif outcome.runs:
        parts.append(fmt.count_of(len(outcome.runs), "run"))
    return ", ".join(parts)


def matrix(acceptance: Acceptance, systems: Sequence[MeasuredSystem]) -> Table:
    rows: list[list[Cell]] = [
        [
            o.rule.id,
            ruling_text(o, acceptance.rehearsal),
            o.limit,
            value_of(o),
            o.reason or _basis(o),
            o.wrong,
            o.rule.title,
            o.sample.count if o.sample else None,
            o.sample.cov if o.sample else None,
            letters_of(o.runs, systems),
            _runs(o),
        ]
        for o in acceptance.outcomes
    ]
    columns = [
        Column("rule", kept=True),
        Column("ruling", kept=True),
        Column("asked", kept=True),
        Column("measured", "1", kept=True),
        Column("reason", kept=True, below=True),
        Column("wrong with probability", "1", digits=2, extra=True),
        Column("of what", extra=True),
        Column("values", "1", extra=True),
        Column("COV", "1", digits=3, extra=True),
        Column("system", extra=True),
        Column("runs", extra=True),
    ]
    return Table(
        columns,
        rows,
        acceptance.rules.title + (f" ({REHEARSAL.lower()})" if acceptance.rehearsal else ""),
        "COV is the deviation over the mean. Of a rule over steps the step that comes nearest to"
        " failing is shown. A projected value was not measured; the reason names its base.",
        narrow_cards=True,
    )


def _steps(outcome: Outcome) -> list[Block]:
    axis = getattr(outcome.rule, "axis", "")
    rows: list[list[Cell]] = [
        [
            s.at,
            Quantity(s.value, outcome.unit),
            None if s.needed is None else Quantity(s.needed, outcome.unit),
            s.value / s.needed if s.needed else None,
            s.met,
            s.sample.count,
            s.sample.cov,
        ]
        for s in outcome.steps
    ]
    columns = [
        Column(axis, "1"),
        Column("measured", "1"),
        Column("needed", "1"),
        Column("of what is needed", "1", "%", 3),
        Column("met"),
        Column("values", "1"),
        Column("COV", "1", digits=3),
    ]
    x = [s.at for s in outcome.steps]
    series = [
        Series(outcome.rule.statistic, x, [s.value for s in outcome.steps],
               high=[s.sample.max for s in outcome.steps],
               low=[s.sample.min for s in outcome.steps],
               faulty=[s.met is False for s in outcome.steps]),
        Series("needed", x, [s.needed for s in outcome.steps], form="limit"),
    ]  # fmt: skip
    ticks = [(at, f"{at:g}") for at in x]
    figure = Figure(
        f"steps-{outcome.rule.id}",
        f"{outcome.rule.id}: {outcome.rule.title}",
        "Whiskers reach from the least to the largest value; what is below the dashed line is too"
        " little, and its mark is open.",
        "curves",
        Axis(axis.removeprefix("label."), log=True, ticks=ticks),
        Axis("rate", outcome.unit, log=True, switch=True),
        {"": [Panel("", series)]},
        columns=1,
        table=Table(columns, rows, f"Steps of {outcome.rule.id}"),
    )
    return [figure, Table(columns, rows, f"Steps of {outcome.rule.id}")]


def acceptance_section(acceptance: Acceptance, systems: Sequence[MeasuredSystem]) -> Section:
    blocks: list[Block] = [summary_text(acceptance) + ".", matrix(acceptance, systems)]
    for outcome in acceptance.outcomes:
        if outcome.steps:
            blocks += _steps(outcome)
    title = f"Acceptance: {REHEARSAL.lower()}" if acceptance.rehearsal else "Acceptance"
    return Section("acceptance", title, blocks, acceptance.rules.purpose)
