# SPDX-License-Identifier: BSD-3-Clause
"""An acceptance as a matrix of rules, with what is behind each ruling."""

from __future__ import annotations

from collections.abc import Sequence

from effio import text as fmt
from effio.judge.outcomes import REHEARSAL, Acceptance, Outcome
from effio.judge.systems import MeasuredSystem, letters_of
from effio.judge.verdicts import Ruling
from effio.report.model import Axis, Block, Cell, Column, RunNames, Section, Series, Table, table_of
from effio.report.parts import quantity
from effio.report.plots import plot

_MARKS = {Ruling.PASS: "✓", Ruling.FAIL: "✗", Ruling.CLOSE: "≈", Ruling.OPEN: "?"}


def value_of(outcome: Outcome) -> Cell:
    if outcome.value is None or outcome.projection is None:
        return quantity(outcome.value, outcome.unit)
    return f"{fmt.quantity(outcome.value, outcome.unit)} (projected)"


def summary_text(acceptance: Acceptance) -> str:
    counts = []
    for ruling in Ruling:
        found = [o for o in acceptance.outcomes if o.ruling is ruling]
        projected = sum(o.projection is not None for o in found)
        # A projected value was not measured, and the first line must say so.
        marked = f" ({projected} projected, not measured)" if projected else ""
        counts += [f"{len(found)} {ruling.text}{marked}"] if found else []
    return f"{acceptance.verdict}: {', '.join(counts)}"


def _basis(outcome: Outcome) -> str:
    """The basis of a ruling that has no other reason."""
    if outcome.sample is None:
        return fmt.count_of(len(outcome.runs), "run") if outcome.runs else ""
    count = fmt.count_of(outcome.sample.count, "value")
    cov = outcome.sample.cov
    return count if cov is None else f"{count}, COV {fmt.significant(cov, 2)}"


def matrix(acceptance: Acceptance, systems: Sequence[MeasuredSystem]) -> Table:
    def ruling(o: Outcome) -> str:
        marked = " (projected)" if o.projection is not None else ""
        marked += " (rehearsal)" if acceptance.rehearsal else ""
        return f"{_MARKS[o.ruling]} {o.ruling.text}{marked}"

    return table_of(
        acceptance.outcomes,
        [
            (Column("rule", kept=True), lambda o: o.rule.id),
            (Column("ruling", kept=True), ruling),
            (Column("asked", kept=True), lambda o: o.limit),
            (Column("measured", "1", kept=True), value_of),
            (Column("reason", kept=True, below=True), lambda o: o.reason or _basis(o)),
            (Column("wrong with probability", "1", digits=2, extra=True), lambda o: o.wrong),
            (Column("of what", extra=True), lambda o: o.rule.title),
            (Column("values", "1", extra=True), lambda o: o.sample.count if o.sample else None),
            (
                Column("COV", "1", digits=3, extra=True),
                lambda o: o.sample.cov if o.sample else None,
            ),
            (Column("system", extra=True), lambda o: letters_of(o.runs, systems)),
            (Column("runs", extra=True), lambda o: RunNames([run.name for run in o.runs], 3)),
        ],
        acceptance.rules.title + (f" ({REHEARSAL.lower()})" if acceptance.rehearsal else ""),
        "COV is the deviation over the mean. Of a rule over steps the step that comes nearest to"
        " failing is shown. A projected value was not measured; the reason names its base.",
        narrow_cards=True,
    )


def _steps(outcome: Outcome) -> list[Block]:
    axis, unit = getattr(outcome.rule, "axis", ""), outcome.unit
    table = table_of(
        outcome.steps,
        [
            (Column(axis, "1"), lambda s: s.at),
            (Column("measured", "1"), lambda s: quantity(s.value, unit)),
            (Column("needed", "1"), lambda s: quantity(s.needed, unit)),
            (
                Column("of what is needed", "1", "%", 3),
                lambda s: s.value / s.needed if s.needed else None,
            ),
            (Column("met"), lambda s: s.met),
            (Column("values", "1"), lambda s: s.sample.count),
            (Column("COV", "1", digits=3), lambda s: s.sample.cov),
        ],
        f"Steps of {outcome.rule.id}",
    )
    x = [s.at for s in outcome.steps]
    series = [
        Series(
            outcome.rule.statistic,
            x,
            [s.value for s in outcome.steps],
            high=[s.sample.max for s in outcome.steps],
            low=[s.sample.min for s in outcome.steps],
            faulty=[s.met is False for s in outcome.steps],
        ),
        Series("needed", x, [s.needed for s in outcome.steps], form="limit"),
    ]
    figure = plot(
        f"steps-{outcome.rule.id}",
        f"{outcome.rule.id}: {outcome.rule.title}",
        "Whiskers reach from the least to the largest value; what is below the dashed line is too"
        " little, and its mark is open.",
        "curves",
        Axis(axis.removeprefix("label."), log=True, ticks=[(at, f"{at:g}") for at in x]),
        Axis("rate", unit, log=True, switch=True),
        series,
        table=table,
    )
    return [figure, table] if figure else []


def acceptance_section(acceptance: Acceptance, systems: Sequence[MeasuredSystem]) -> Section:
    blocks: list[Block] = [summary_text(acceptance) + ".", matrix(acceptance, systems)]
    blocks += [b for outcome in acceptance.outcomes if outcome.steps for b in _steps(outcome)]
    title = f"Acceptance: {REHEARSAL.lower()}" if acceptance.rehearsal else "Acceptance"
    return Section("acceptance", title, blocks, acceptance.rules.purpose)
