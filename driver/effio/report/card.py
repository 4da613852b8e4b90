# SPDX-License-Identifier: BSD-3-Clause
"""The device card: what a storage does, one line for each thing that was measured, as data that
the terminal and the page draw.

Every line has its rate, the lowest and highest of the repetitions, bytes, seconds, and where the
bytes were. A rate of memory does not answer a question about storage, and says so instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from effio import text as fmt
from effio.judge.repetitions import rate_statement
from effio.report.common.keys import cell_of_each
from effio.report.common.system import data_directory, mpi_name, ranks_on_nodes
from effio.report.model import Column, Table, table_of
from effio.report.parts import quantity
from effio.report.registry import reporter_of
from effio.store.evidence import MESSAGES, Evidence, Place, evidence_of, place_of, source_of
from effio.store.reader import Result
from effio.store.records import CallTimes, Measurement
from effio.store.traffic import traffic_of

if TYPE_CHECKING:
    from effio.campaign.file import Line


@dataclass(frozen=True)
class CardLine:
    """Base units. `count` measurements are between `low` and `high`; `missing` says why there is no
    value. Of repetitions of one measurement `spread` is the range or interval, and `odd` says what
    makes their mean misleading."""

    title: str
    value: float | None = None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    count: int = 0
    p99: float | None = None  # seconds of a call
    calls: int = 0
    bytes: int = 0
    seconds: float | None = None
    source: str = ""
    missing: str = ""
    spread: str = ""
    odd: str = ""

    def shown(self) -> str:
        return fmt.quantity(self.value, self.unit)

    def interval(self) -> str:
        if self.low is None or self.high is None:
            return ""
        if self.count < 2:
            return "one measurement"
        if self.spread:
            return self.spread
        low, high = (fmt.quantity(v, self.unit) for v in (self.low, self.high))
        return f"{low} to {high} (range of {self.count})"


@dataclass(frozen=True)
class Card:
    title: str
    subtitle: str = ""
    lines: Sequence[CardLine] = field(default_factory=tuple)
    # Below, and small: remarks, and figures that are not valid.
    notes: Sequence[str] = field(default_factory=tuple)

    def table(self) -> Table:
        return table_of(
            self.lines,
            [
                (Column("what"), lambda line: line.title),
                (Column("result", "1"), lambda line: quantity(line.value, line.unit)),
                (
                    Column("range, or 95 % interval"),
                    lambda line: "; ".join(
                        filter(None, (line.interval() or line.missing, line.odd))
                    ),
                ),
                (Column("99 % within", "s"), lambda line: line.p99),
                (Column("calls", "1"), lambda line: line.calls or None),
                (Column("data", "B"), lambda line: line.bytes or None),
                (Column("time", "s"), lambda line: line.seconds),
                (Column("where the data were"), lambda line: line.source),
            ],
            "",
            "Results are of all repetitions together: their bytes or operations over their "
            "seconds, flushing included. Fewer than five repetitions have a range, from five on the"
            " 95 % interval. 99 % of the calls were over within the time given.",
            narrow_cards=True,
        )


def line_of(line: Line, result: Result | None, reason: str) -> CardLine:
    """One line of a card. `reason` says why there is no result."""
    if result is None:
        return CardLine(line.title, missing=reason or "there is no result")
    cells = [
        m
        for m in result.measurements
        if line.access in (None, m.access)
        and all(m.where.get(name) == value for name, value in line.where.items())
    ]
    good = [m for m in cells if m.valid and m.rate.value and m.total_seconds > 0]
    if not good:
        why = next((m.invalid_reason for m in cells if m.invalid_reason), "")
        ended = result.end.reason if result.end else ""
        return CardLine(line.title, missing=why or reason or ended or "nothing was measured")
    if line.show in ("message time", "message rate"):
        return _of_messages(line, good[-1])
    return _judged(line, _of_cells(line, good), good, result)


def _seconds(m: Measurement) -> float:
    """The interval that the measurement's own rate is of."""
    amount = m.bytes if m.rate.unit == "B/s" else m.operations
    return amount / m.rate.value if m.rate.value else m.total_seconds


def _of_cells(line: Line, cells: Sequence[Measurement]) -> CardLine:
    """Bytes or operations of all over the seconds of all."""
    amounts = [m.bytes if line.show == "rate" else m.operations for m in cells]
    seconds = [_seconds(m) for m in cells]
    rates = [a / s for a, s in zip(amounts, seconds, strict=True)]
    timed = [m.call_times for m in cells if m.call_times and m.call_times.count]
    unit = "B/s" if line.show == "rate" else "op/s"
    spread, odd = _repetitions(cells, amounts, seconds, unit)
    return CardLine(
        line.title,
        sum(amounts) / sum(seconds),
        unit,
        min(rates),
        max(rates),
        len(rates),
        p99=_p99(timed) if line.show == "operations" else None,
        calls=sum(m.operations for m in cells),
        bytes=sum(m.bytes for m in cells),
        seconds=sum(seconds),
        spread=spread,
        odd=odd,
    )


def _repetitions(
    cells: Sequence[Measurement], amounts: Sequence[float], seconds: Sequence[float], unit: str
) -> tuple[str, str]:
    """Spread of the repetitions of one measurement, and what is odd about them. Different
    measurements (several sizes) have neither."""
    same = len(set(cell_of_each(cells))) == 1
    reported = rate_statement(amounts, seconds) if same else None
    if reported is None:
        return "", ""
    return reported.spread(unit), reported.verdict


def _p99(times: Sequence[CallTimes]) -> float | None:
    """The p99 of all calls together: the exact value of one histogram, the start of the bucket of
    several."""
    if len(times) < 2:
        return times[0].p99 if times else None
    merged: dict[int, int] = {}
    for one in times:
        for begin, count in one.buckets:
            merged[begin] = merged.get(begin, 0) + count
    wanted, seen = 0.99 * sum(merged.values()), 0
    for begin, count in sorted(merged.items()):
        seen += count
        if seen >= wanted:
            return begin / 1e9
    return None


def _of_messages(line: Line, m: Measurement) -> CardLine:
    """One message of a pair: the mean over the pairs, and the fastest and slowest of them. Their
    seconds are those of the shortest of a pair's measurements."""
    spread, length = m.seconds["total"], m.number("length_bytes")
    value, low, high, unit = spread.mean, spread.min, spread.max, "s"
    if line.show != "message time":
        low, high = (length / s if s > 0 else 0.0 for s in (spread.max, spread.min))
        value, unit = m.rate.value or 0.0, "B/s"
    return CardLine(
        line.title,
        value,
        unit,
        low,
        high,
        int(m.detail["pairs"]) if isinstance(m.detail.get("pairs"), int) else 1,
        calls=m.operations,
        bytes=m.bytes,
        seconds=m.operations * spread.mean,
        source=MESSAGES,
    )


def _judged(
    line: Line, reported: CardLine, cells: Sequence[Measurement], result: Result
) -> CardLine:
    """The line with where the bytes were. A rate of memory does not answer a question about
    storage; one of which nothing is known is shown with what is."""
    reported = replace(reported, source=source_of(cells, result.run, traffic_of(result)))
    evidence = evidence_of(cells, result.run.simulated)
    place = place_of(evidence)
    if not evidence or not line.from_storage or place not in (Place.CACHE, Place.MIXED):
        return reported
    return replace(
        reported,
        value=None,
        low=None,
        high=None,
        p99=None,
        missing=f"no storage read number: {_why_not(result, evidence)}",
    )


def _why_not(result: Result, evidence: Sequence[Evidence]) -> str:
    """Why this is not a number of storage; empty if it is one, or if nothing is known."""
    files = result.run.file_system
    if files is not None and files.memory_backed:
        return f"the directory is in memory ({files.type})"
    known = [one for one in evidence if one.place is not Place.UNKNOWN]
    return next((why for one in known if (why := one.why_not_storage())), "")


def figure_note(line: Line, result: Result | None, reason: str) -> str:
    """A benchmark's own figure in one sentence, with what it counts for."""
    if result is None:
        return f"{line.title}: no value, {reason or 'there is no result'}."
    headline = reporter_of(result).headline(result)
    if headline.value is None:
        return f"{line.title}: no value, {headline.missing or reason or 'nothing was measured'}."
    reads = [one for one in headline.evidence if one.reading]
    if line.from_storage and (why := _why_not(result, reads)):
        return f"{line.title}: no storage number, because {why}."
    text = f"{line.title}: {headline.shown()} {headline.context}".rstrip()
    dropped = "files dropped from the page cache before they are read"
    on = result.run.options.get("drop-cache") == "on"
    if reported := "; ".join(filter(None, (dropped if on else "", headline.basis()))):
        text += f" ({reported})"
    if headline.verdict:
        unmet = [r for r in headline.reasons if not r.met]
        causes = "; ".join(r.text for r in unmet if not r.asked)
        rules = "; ".join(r.text for r in unmet if r.asked)
        said = [causes, f"that requires: {rules}" if rules else ""]
        text += f". {headline.verdict}"
        if why := "; ".join(filter(None, said)):
            text += f" ({why})"
    return text + "."


def device_card(
    title: str, reported: Sequence[tuple[Line, Result | None, str]], notes: Sequence[str] = ()
) -> Card:
    """The card of (line, result, why there is none); figures of benchmarks are below."""
    results = [result for _, result, _ in reported if result is not None]
    below = [figure_note(*one) for one in reported if one[0].show == "figure"]
    stored = next((r for r in results if r.run.file_system), None)
    place = stored.run.file_system if stored else None
    if place is not None and place.memory_backed:
        below.insert(0, f"This directory is in memory ({place.type}): nothing here is storage.")
    directory = f"{place.title}, {data_directory(stored)}" if stored and place else ""
    lines = [line_of(*one) for one in reported if one[0].show != "figure"]
    return Card(title, _subtitle(directory, results), lines, [*below, *notes])


def _subtitle(directory: str, results: Sequence[Result]) -> str:
    if not results:
        return ""
    run = max((r.run for r in results), key=lambda run: run.system.ranks)
    ranks = ranks_on_nodes(run.system.ranks, run.system.nodes)
    parts = (directory, ranks, mpi_name(run.system.mpi.library), run.started)
    return " · ".join(filter(None, parts))
