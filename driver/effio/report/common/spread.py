# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of the repetitions within a run: one row per measurement with several repetitions, and
a sentence about misleading means (docs/statistics.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from effio import text as fmt
from effio.judge.repetitions import Statement, rate_statement, statement
from effio.report.common.keys import cell_of_each
from effio.report.common.names import differing, first_of, place_text
from effio.report.model import Column, Finding, Quantity, Table, table_of
from effio.store.reader import Result
from effio.store.records import Measurement

_MOST_NAMED = 3
# Longer tables are shown on the page only, not on the terminal.
_LONG = 40
# Share of independent samples that are called odd by chance (docs/statistics.md).
_BY_CHANCE = 0.08


@dataclass(frozen=True)
class Repeated:
    """A measurement with several repetitions in a run."""

    name: str
    unit: str
    statement: Statement


def amount_of(m: Measurement) -> float | None:
    """The amount behind the rate, if known."""
    amounts = {"B/s": m.bytes, "op/s": m.operations}
    return float(amounts[m.rate.unit]) if amounts.get(m.rate.unit) else None


def statement_of(some: Sequence[Measurement]) -> Statement | None:
    """Statement about the repetitions of one measurement; a rate is total amount over total
    time."""
    values = [m.rate.value for m in some if m.rate.value is not None]
    amounts = [a for m in some if (a := amount_of(m)) is not None]
    if len(amounts) == len(values) == len(some) and values and min(values) > 0:
        return rate_statement(amounts, [a / v for a, v in zip(amounts, values, strict=True)])
    return statement(values)


def repeated(result: Result) -> list[Repeated]:
    groups: dict[int, list[Measurement]] = {}
    known = [m for m in result.measurements if m.valid and m.rate.value is not None]
    for cell, m in zip(cell_of_each(known), known, strict=True):
        groups.setdefault(cell, []).append(m)
    several = [
        sorted(some, key=lambda m: m.repetition) for some in groups.values() if len(some) > 1
    ]
    first = [some[0] for some in several]
    keys = differing([m.where for m in first], [_operation(m) for m in first])
    found = []
    for some in several:
        stated = statement_of(some)
        if stated is not None:
            words = (_operation(some[0]), place_text(some[0].where, keys))
            found.append(Repeated(", ".join(filter(None, words)), some[0].rate.unit, stated))
    return found


def _operation(m: Measurement) -> str:
    return " ".join(filter(None, (m.access, m.pattern)))


def _of_median(one: Repeated) -> str:
    median = one.statement.of_median
    if not median:
        return ""
    return f"{fmt.quantity(median.low, one.unit)} to {fmt.quantity(median.high, one.unit)}"


def spread_table(found: Sequence[Repeated]) -> Table:
    return table_of(
        found,
        [
            (Column("what"), lambda one: one.name),
            (Column("repetitions", "1"), lambda one: one.statement.summary.count),
            (Column("overall", "1"), lambda one: Quantity(one.statement.value, one.unit)),
            (Column("spread"), lambda one: one.statement.spread(one.unit)),
            (Column("median", "1"), lambda one: Quantity(one.statement.summary.median, one.unit)),
            (Column("95 % of the median"), _of_median),
            (Column("overall value is"), lambda one: one.statement.grade.value),
            (Column("what is odd, and what to do", below=True), lambda one: one.statement.text),
        ],
        "Repetitions",
        "Overall: the total amount over the total time of all repetitions, which is below the mean"
        " of their rates. Fewer than five repetitions have a range and no interval; from 60 on the"
        " value is called reliable, if nothing is odd. Where something is odd, report the median.",
        longest=_LONG,
    )


def odd_findings(found: Sequence[Repeated]) -> list[Finding]:
    """One finding about all misleading means, with the medians to report instead."""
    odd = [one for one in found if one.statement.is_odd]
    if not odd:
        return []
    named = first_of([_sentence(one) for one in odd], _MOST_NAMED, "; ", "; and ")
    what = fmt.share_of(
        len(odd),
        len(found),
        "means is misleading: its repetitions are odd",
        "means are misleading: their repetitions are odd",
    )
    text = f"{what}. {named}."
    counted = sum(one.statement.half is not None for one in found)
    if len(odd) <= _BY_CHANCE * counted:
        text += f" Among {counted} means this many are odd by chance alone."
    return [Finding(text, "sureness", "warn")]


def _sentence(one: Repeated) -> str:
    stated, median = one.statement, one.statement.of_median
    instead = f"median {fmt.quantity(stated.summary.median, one.unit)}"
    if median:
        ends = [fmt.quantity(v, one.unit) for v in (median.low, median.high)]
        instead += f" (95 %: {ends[0]} to {ends[1]})"
    return f"{fmt.plain(one.name, 120)}: {stated.text}; {instead}"
