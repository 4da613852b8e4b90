# SPDX-License-Identifier: BSD-3-Clause
"""What the figures of a study show: which rates exceed the peak, the speed-up with more ranks, and
how many processes are enough."""

from __future__ import annotations

from collections.abc import Sequence

from effio import text as fmt
from effio.report import common
from effio.report.common import certainty
from effio.report.model import Finding
from effio.report.parts import known, value_of
from effio.report.study.answers import evidence_at
from effio.report.study.rates import Coordinate, coordinates, operation_of, place_of, varying
from effio.store.evidence import Place
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord


def limit_finding(result: Result) -> Finding | None:
    return common.limit_finding(common.time_splits(result.measurements, lambda m: m.access))


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
    bounds = certainty.bounds_of(f)
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
