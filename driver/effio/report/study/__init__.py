# SPDX-License-Identifier: BSD-3-Clause
"""Report of any benchmark that is a study: its headline, what its rates show, answers next to them
such as things per second, and the rates over the axes (rates.py). docs/results.md, "Studies",
describes such a result.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from msgspec import structs

from effio import text as fmt
from effio.report.common import certainty
from effio.report.common.counts import claimed, interval_of
from effio.report.common.names import context_of, grouped, lies_at
from effio.report.generic import headline_of, limit_finding, quantity_of
from effio.report.model import NO_MEAN, Column, Finding, Headline, Table, table_of
from effio.report.parts import Finder, Part, PartsReporter, known, value_of, word
from effio.report.study.rates import (
    Coordinate,
    access_of,
    coordinates,
    operation_of,
    peak_figure,
    place_of,
    rate_figure,
    rate_table,
    varying,
)
from effio.store.evidence import Evidence, Place, evidence_of, short_of
from effio.store.evidence import place_of as place_of_bytes
from effio.store.members import Members, members_of, run_members
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import Measurement
from effio.store.values import with_plain_values


def cells_of(
    result: Result, f: FigureRecord, passes: Collection[tuple[object, object]]
) -> list[Measurement]:
    """Measurements of these passes, of pattern and access each, at the place of a figure."""
    found = [
        one
        for own, places in result.valid_places.items()
        if own in passes
        for place in places
        if lies_at(place[0][1].where, f.where)
        for one in place
    ]
    return [m for _, m in sorted(found, key=lambda one: one[0])]


def evidence_at(
    result: Result, f: FigureRecord, passes: Collection[tuple[object, object]] = ()
) -> list[Evidence]:
    """Where the bytes of a figure were. If no passes are given: those of its pattern and access."""
    own = ((f.where.get("pattern"), f.where.get("access")),)
    return evidence_of(cells_of(result, f, passes or own), result.run.simulated)


def _interval(f: FigureRecord) -> str:
    return interval_of(f) or NO_MEAN


def _title(name: str) -> str:
    return fmt.plain(name, 40).replace("_", " ")


def throughput_table(result: Result) -> Table:
    """Things per second, over the passes that they take."""
    axes = coordinates(result)
    found = [
        (throughput, f)
        for throughput in run_members(result.run, "study").throughputs
        for f in known(result, throughput.name)
    ]

    def where(one: tuple[Members, FigureRecord]) -> str:
        return short_of(evidence_at(result, one[1], {tuple(p) for p in one[0].passes}))

    return table_of(
        found,
        [
            (Column("answer", kept=True), lambda one: _title(one[0].name)),
            (Column("at", kept=True), lambda one: place_of(one[1], axes)),
            (Column("value", "1", kept=True), lambda one: quantity_of(one[1].metric)),
            (Column("interval", below=True), lambda one: _interval(one[1])),
            (Column("where the bytes were"), where),
            (
                Column("over", below=True),
                lambda one: ", ".join(fmt.plain(" ".join(p), 60) for p in one[0].passes),
            ),
        ],
        "Answers",
    )


def files_table(result: Result) -> Table:
    return table_of(
        known(result, "files_per_second"),
        [
            *((Column(axis.title), axis.text) for axis in coordinates(result)),
            (Column("pass"), operation_of),
            (Column("files/s", "op/s"), lambda f: f.metric.value),
            (Column("interval", below=True), _interval),
        ],
        "Files per second",
    )


def pattern_table(result: Result) -> Table | None:
    """For each access the strongest and the weakest pattern, where that is the study's question."""
    if run_members(result.run, "study").headline != "strongest and weakest":
        return None
    rates = [f for f in known(result, "bandwidth") if f.metric.value]
    found: list[tuple[str, FigureRecord, list[FigureRecord]]] = []
    for of_access in grouped(rates, access_of).values():
        # The values whose bytes were on storage, if there are any: others are rates of memory.
        stored = [f for f in of_access if place_of_bytes(evidence_at(result, f)) is Place.DEVICE]
        some = stored or of_access
        if len(some) > 1:
            found.append(("strongest", max(some, key=value_of), some))
            found.append(("weakest", min(some, key=value_of), some))
    axes = coordinates(result)
    return table_of(
        found,
        [
            (Column("access", kept=True), lambda one: access_of(one[1])),
            (Column("", kept=True), lambda one: one[0]),
            (Column("rate", "B/s", kept=True), lambda one: one[1].metric.value),
            (Column("pattern", kept=True), lambda one: word(one[1], "pattern")),
            (Column("at", kept=True), lambda one: place_of(one[1], axes)),
            (Column("interval", below=True), lambda one: _interval(one[1])),
            (Column("where the bytes were"), lambda one: short_of(evidence_at(result, one[1]))),
            (
                Column("doubt", below=True),
                lambda one: certainty.doubt_of_first(one[1], one[2], one[0]),
            ),
        ],
        "Strongest and weakest patterns",
    )


def division_findings(result: Result) -> list[Finding]:
    """What was divided how, where a reader compares it with other runs."""
    members, found = run_members(result.run, "study"), []
    if members.calibrated:
        text = (
            f"The amounts are those of preset {fmt.plain(members.preset, 40)}, calibrated: files"
            " and bytes are those of a published run, how they are divided is ours."
        )
        found.append(Finding(text, "study"))
    tiles = [e.tiles for e in members.extents if e.tiles]
    lengths = [e.dataset_elements for e in members.extents if e.dataset_elements]
    if tiles and len(tiles) == len(lengths):
        counts, sizes = (" × ".join(map(str, some)) for some in (tiles, lengths))
        axes = " × ".join("xyz"[: len(tiles)])
        found.append(Finding(f"{counts} tiles ({axes}) of a dataset of {sizes} elements.", "study"))
    return found


def peak_findings(result: Result) -> list[Finding]:
    shares = known(result, "share_of_peak")
    axes = varying(shares, coordinates(result))
    findings = []
    if above := [f for f in shares if value_of(f) > 1]:
        most = max(above, key=value_of)
        # A cache is named as the reason only if there is evidence for that rate.
        cached = any(e.place in (Place.CACHE, Place.MIXED) for e in evidence_at(result, most))
        text = (
            f"{len(above)} of {fmt.count_of(len(shares), 'rate')}"
            f" {'exceeds' if len(above) == 1 else 'exceed'} the peak, at most"
            f" {operation_of(most)}, {place_of(most, axes)}, with {fmt.percent(value_of(most))} of"
            f" it: {'a cache took part' if cached else 'the peak is too low'}."
        )
        findings.append(Finding(text, "study-rates", "warn"))
    if honest := [f for f in shares if value_of(f) <= 1]:
        findings.append(_reached(result, honest, axes))
    return findings


def _reached(result: Result, shares: Sequence[FigureRecord], axes: Sequence[Coordinate]) -> Finding:
    """The largest and the smallest share of the peak; best and worst only if their rates are
    apart."""
    low, high = (pick(shares, key=value_of) for pick in (min, max))
    rates = {str(f.where): f for f in result.figures_named("bandwidth")}
    best, worst = (
        f"{operation_of(f)}, {place_of(f, axes)}, reaches {fmt.percent(value_of(f))}"
        for f in (high, low)
    )
    why = certainty.why_not_apart(*(rates.get(str(f.where)) for f in (high, low)))
    if high is low:
        text = f"{best} of the peak"
    elif why:
        text = f"{best} of the peak; {worst}; whether they differ is not known: {why}"
    else:
        text = f"Best: {best} of the peak; worst: {worst}"
    return Finding(f"{text[:1].upper()}{text[1:]}.", "study-rates")


def scaling_findings(result: Result) -> list[Finding]:
    """The speed-up of the largest number of ranks, for each pattern and access."""
    axes = coordinates(result)
    # For each operation and values of the other axes: ranks, fewest ranks, speed-up.
    found: dict[tuple[str, str], tuple[float, float, FigureRecord]] = {}
    for f in known(result, "speed_up"):
        ranks, fewest = members_of(f).ranks, members_of(f).from_ranks
        if ranks is None or fewest is None or not 0 < fewest < ranks:
            continue
        key = operation_of(f), place_of(f, [a for a in axes if f.where.get(a.name) != ranks])
        if key not in found or ranks > found[key][0]:
            found[key] = ranks, fewest, f
    findings = []
    for (operation, others), (ranks, fewest, speed_up) in list(found.items())[:4]:
        findings.append(
            Finding(
                f"{operation}{', ' if others else ''}{others}: {ranks:.0f} ranks get"
                f" {value_of(speed_up):.2f} times the rate of {fewest:.0f},"
                f" {_efficiency(result, speed_up, fewest, ranks)}.",
                "study-rates",
            )
        )
    return findings


def _rate_with(result: Result, speed_up: FigureRecord, ranks: float) -> FigureRecord | None:
    """The mean rate with this number of ranks at the place of a speed-up."""
    most = members_of(speed_up).ranks
    for f in result.figures_named("bandwidth"):
        if f.where.keys() == speed_up.where.keys() and all(
            f.where[name] == (ranks if value == most else value)
            for name, value in speed_up.where.items()
        ):
            return f
    return None


def _efficiency(result: Result, speed_up: FigureRecord, fewest: float, most: float) -> str:
    """The efficiency for the end of a sentence. It is a share: above 1 with its whole interval it
    says that the fewest ranks were too slow, not that the others are that efficient."""
    first, last = (_rate_with(result, speed_up, n) for n in (fewest, most))
    value = value_of(speed_up) * fewest / most
    if why := certainty.why_not_apart(first, last):
        how = "from one repetition, so that the efficiency is not known"
        return how if why == certainty.ONCE else f"but the efficiency is not known: {why}"
    low, high = certainty.bounds_of(first), certainty.bounds_of(last)
    assert low is not None
    assert high is not None
    if low.high > 0 and high.low / low.high * fewest / most > 1:
        return f"but the efficiency is not known: {fmt.percent(value)} is more than all"
    return f"an efficiency of {fmt.percent(value)}"


_SHAPES = {
    "linear": "the rate grows with the processes, and more may get more",
    "growing": "the rate still grows, by less than the processes",
    "level": "the rate grows, then stays level",
    "flat": "more are not faster",
    "falling": "beyond the best number more are slower",
}


def enough_sentence(f: FigureRecord) -> str:
    """ "use 12 of 64 processes for I/O" and the basis for it; empty if it is not known."""
    reported, ranks = members_of(f), f.metric.value
    rate, best, one = (
        reported.rate_bytes_per_second,
        reported.best_rate_bytes_per_second,
        reported.fewest_rate_bytes_per_second,
    )
    if reported.of_ranks is None or rate is None:
        return ""
    if ranks is None or not certainty.is_known(f):
        if best is None or reported.best_ranks is None:
            return ""
        why = f.metric.reason or "an answer needs at least two repetitions"
        # The engine says so only where intervals are apart (`answer`, since 1.2).
        falls = reported.answer and reported.shape == "falling" and certainty.is_known(f)
        slower = f"; {_SHAPES['falling']}" if falls else ""
        return (
            f"highest rate {fmt.rate(best)} with {reported.best_ranks:.0f} of"
            f" {reported.of_ranks:.0f} processes{slower}; {fmt.plain(why, 200)}."
        )
    text = f"use {ranks:.0f} of {reported.of_ranks:.0f} processes for I/O"
    bounds = certainty.shown_bounds(f)
    if bounds is not None and bounds.low < bounds.high:
        text += f" (95 % interval: {bounds.low:.0f} to {bounds.high:.0f})"
    text += f": {fmt.rate(rate)}"
    if best is not None and reported.best_ranks is not None and reported.best_ranks != ranks:
        most = fmt.count_of(round(reported.best_ranks), "process")
        text += f" of at most {fmt.rate(best)} ({most})"
    if one is not None and reported.fewest_ranks is not None and reported.fewest_ranks != ranks:
        gets = "gets" if reported.fewest_ranks == 1 else "get"
        text += f"; {reported.fewest_ranks:.0f} {gets} {fmt.rate(one)}"
    shown = reported.answer or reported.shape != "falling"
    words = _SHAPES.get(reported.shape) if shown else None
    return f"{text}; {words}." if words else f"{text}."


def enough_findings(result: Result) -> list[Finding]:
    """A sentence for each curve over numbers of ranks."""
    findings, axes = [], coordinates(result)
    for f in result.figures_named("enough_ranks")[:8]:
        others = place_of(f, [a for a in axes if a.name in f.where])
        if sentence := enough_sentence(f):
            where = f"{operation_of(f)}{', ' if others else ''}{others}"
            findings.append(Finding(f"{where}: {sentence}", "study-rates"))
    return findings


def _rivals(result: Result, place: dict[str, Any]) -> list[FigureRecord]:
    """The mean rates of the same kind of access."""
    rates = known(result, "bandwidth")
    return [f for f in rates if f.metric.value and access_of(f) == str(place.get("access"))]


def _rate_headline(
    name: str, result: Result, place: dict[str, Any], word: str = "highest", *, first: bool = True
) -> Headline:
    """The rate at a place, as a claim about the measurements there. `word`: what it was chosen
    for. Only the first number of a headline says which ranks and file system; axes with a single
    value are in the table."""
    place = with_plain_values(place)
    figure = next(
        (f for f in result.figures_named("bandwidth") if f.where == place),
        result.number,
    )
    if figure is None:
        return Headline(name, None, "B/s", missing="the rate is not in the result")
    there = structs.replace(figure, where=place)
    axes = varying(result.figures_named("bandwidth"), coordinates(result))
    where = [operation_of(there), place_of(there, axes)]
    cells = cells_of(result, there, {(place.get("pattern"), place.get("access"))})
    if first:
        where.append(context_of(result, cells))
    alone = members_of(figure).transfer_rate_bytes_per_second
    if alone is not None and figure.metric.value and alone > 1.05 * figure.metric.value:
        where.append(f"the calls alone {fmt.rate(alone)}")
    where.append(certainty.doubt_of_first(figure, _rivals(result, place), word))
    headline = Headline(
        name,
        figure.metric.value,
        figure.metric.unit,
        ", ".join(part for part in where if part),
        missing=figure.metric.reason,
        anchor="study-rates" if figure.metric.value is not None else "",
    )
    return claimed(headline, result, cells, figure)


def _aside(second: Headline) -> str:
    """A further number, in the context of a headline."""
    basis = second.basis(", ")
    return f"{second.shown()} {second.context}" + (f" ({basis})" if basis else "")


class StudyReporter(PartsReporter):
    finders: Sequence[Finder[Result]] = (
        limit_finding,
        division_findings,
        peak_findings,
        scaling_findings,
        enough_findings,
    )
    parts: Sequence[Part[Result]] = (
        Part(
            "study",
            "Rates",
            (throughput_table, files_table, pattern_table, rate_figure, peak_figure, rate_table),
        ),
    )

    def headline(self, result: Result) -> Headline:
        declared = run_members(result.run, "study").headline
        if declared == "throughputs" and (stated := self._throughputs(result)) is not None:
            return stated
        figure = result.number
        if figure is None or not (place := members_of(figure).place):
            stated = headline_of(figure, result, context_of(result))
            unit = stated.unit if figure is not None else "B/s"
            return Headline(
                "highest rate", stated.value, unit, stated.context, missing=stated.missing
            )
        if declared == "strongest and weakest":
            return self._strongest_and_weakest(result, place)
        if declared == "by access":
            return self._by_access(result, place, members_of(figure).others)
        return _rate_headline("highest rate", result, place)

    def _by_access(
        self, result: Result, place: dict[str, Any], others: Sequence[dict[str, Any]]
    ) -> Headline:
        """The highest rate of the first kind of access, followed by those of the others."""
        first = _rate_headline(f"highest {fmt.plain(place.get('access', ''), 40)}", result, place)
        text, evidence = first.context, [*first.evidence]
        for other in others:
            access = fmt.plain(other.get("access", ""), 40)
            stated = _rate_headline("", result, other, first=False)
            if stated.value is None:
                continue
            text += f"; highest {access}: {_aside(stated)}"
        return replace(first, context=text, evidence=evidence)

    def _throughputs(self, result: Result) -> Headline | None:
        """Things per second: the first in full, the others next to it."""
        throughputs = run_members(result.run, "study").throughputs
        names = [t.name for t in throughputs]
        found = [f for name in names for f in result.figures_named(name)[:1] if f.metric.value]
        if not found:
            return None
        first, *others = found
        more = [f"{_title(f.name)} {fmt.quantity(f.metric.value, f.metric.unit)}" for f in others]
        parts = {tuple(p) for t in throughputs if t.name == first.name for p in t.passes}
        cells = cells_of(result, first, parts)
        place = [place_of(first, coordinates(result)), context_of(result, cells)]
        headline = Headline(
            _title(first.name),
            first.metric.value,
            first.metric.unit,
            "; ".join([", ".join(part for part in place if part), *more]),
            anchor="study",
        )
        return claimed(headline, result, cells, first)

    def _strongest_and_weakest(self, result: Result, place: dict[str, Any]) -> Headline:
        """The strongest and the weakest pattern, both for the access of the strongest."""
        access = fmt.plain(place.get("access", ""), 40)
        headline = _rate_headline(f"strongest pattern, {access}", result, place, "strongest")
        rates = _rivals(result, place)
        own = result.number
        weakest = members_of(own).weakest
        if not weakest and rates:
            weakest = min(rates, key=value_of).where
        if not weakest or weakest == place:
            return headline
        low = _rate_headline("", result, weakest, "weakest", first=False)
        return replace(
            headline,
            context=f"{headline.context}; weakest: {_aside(low)}",
            evidence=[*headline.evidence, *low.evidence],
        )


REPORTER = StudyReporter()
