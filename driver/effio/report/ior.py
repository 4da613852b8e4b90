# SPDX-License-Identifier: BSD-3-Clause
"""Report of ior: the rates, how they went by time, how equal the ranks were, and what a transfer
size costs. docs/benchmarks/ior.md says how to read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from effio import text as fmt
from effio.report import common, generic
from effio.report.model import (
    Axis,
    Cell,
    Column,
    Figure,
    Finding,
    Headline,
    Panel,
    Series,
    Table,
    table_of,
)
from effio.report.parts import Part, PartsReporter, known, valid, value_of
from effio.report.plots import plot
from effio.report.slow_servers import slow_server_finding
from effio.store.members import Members, members_of
from effio.store.reader import Result
from effio.store.records import CallTimes, Measurement

# A spread of the ranks' rates beyond this is worth a sentence.
_UNEQUAL = 1.5
_WIDE = 0.1
# In the order in which a headline takes them.
_BANDWIDTHS = ("write_bandwidth", "read_bandwidth", "mixed_bandwidth")


def _transfer(m: Measurement) -> float:
    return m.number("transfer_bytes")


def _name(m: Measurement) -> str:
    return f"{m.access} {fmt.quantity(_transfer(m), 'B')}, repetition {m.repetition}"


def _rates(measurements: Sequence[Measurement]) -> list[float]:
    return [m.rate.value for m in measurements if m.valid and m.rate.value is not None]


def _span(part: str) -> Callable[[Measurement], Cell]:
    """Seconds from the first rank's begin to the last one's end."""
    return lambda m: members_of(m).span_seconds.get(part)


def results_table(result: Result) -> Table:
    return table_of(
        result.measurements,
        [
            (Column("access"), lambda m: m.access),
            (Column("transfer", "B"), _transfer),
            (Column("repetition", "1"), lambda m: m.repetition),
            (Column("data", "B"), lambda m: m.bytes),
            (Column("rate", "B/s"), lambda m: m.rate.value),
            (Column("calls alone", "B/s"), lambda m: members_of(m).transfer_rate_bytes_per_second),
            (Column("open", "s"), _span("open")),
            (Column("calls", "s"), _span("transfer")),
            (Column("sync", "s"), _span("sync")),
            (Column("close", "s"), _span("close")),
            (Column("slowest rank", "B/s"), lambda m: members_of(m).rank_rate_bytes_per_second.min),
            (Column("fastest rank", "B/s"), lambda m: members_of(m).rank_rate_bytes_per_second.max),
            (Column("ended by"), lambda m: m.stopped_by),
            (Column("verified", "B"), lambda m: m.verified_bytes or None),
            (Column("remark"), generic.remark_of),
        ],
        "Phases",
        "The rate is the data over the time from before the open to after the last close. The"
        " parts run from the first rank's start to the last one's end.",
        longest=80,
    )


@dataclass(frozen=True)
class _Side:
    """The reads or the writes of a mixed phase."""

    phase: Measurement
    name: str
    calls: int
    times: CallTimes | None

    @classmethod
    def of(cls, phase: Measurement, name: str, mix: Members) -> _Side:
        try:
            times = msgspec.convert(getattr(mix, f"{name}_call_times"), CallTimes)
        except msgspec.ValidationError:
            times = None
        return cls(
            phase,
            name,
            getattr(mix, f"{name}_operations"),
            times if times and times.count else None,
        )


def mix_table(result: Result) -> Table:
    mixes = [(m, mix) for m in result.measurements if (mix := members_of(m).mix)]

    def time(name: str) -> Callable[[_Side], Cell]:
        return lambda side: getattr(side.times, name, None)

    return table_of(
        [_Side.of(m, name, mix) for m, mix in mixes for name in ("read", "write")],
        [
            (Column("transfer", "B"), lambda side: _transfer(side.phase)),
            (Column("repetition", "1"), lambda side: side.phase.repetition),
            (
                Column("reads requested", "%"),
                lambda side: members_of(side.phase).mix.asked_read_percent,
            ),
            (Column("side"), lambda side: side.name),
            (Column("calls", "1"), lambda side: side.calls),
            (Column("p50", "s", digits=3), time("p50")),
            (Column("p99", "s", digits=3), time("p99")),
            (Column("max", "s", digits=3), time("max")),
        ],
        "The two sides of mixed phases",
        "How long calls took that read, and calls that wrote, while the others did both. Compare "
        "with the phases that only write or only read.",
        longest=80,
    )


def _course(m: Measurement, style: int) -> Series | None:
    reported = members_of(m).time_series
    if (reported.slice_seconds or 0) <= 0 or len(reported.bytes) < 3:
        return None
    end = members_of(m).span_seconds.get("transfer", 0.0)
    middles, rates = common.course(reported.bytes, reported.slice_seconds, end)
    return Series(f"{fmt.quantity(_transfer(m), 'B')}, {m.repetition}", middles, rates, style)


def rate_by_time(result: Result) -> Figure | None:
    panels = []
    for access, some in common.grouped(result.measurements, lambda m: m.access).items():
        series = [one for style, m in enumerate(some) if (one := _course(m, style))]
        panels += [Panel(access, series)] if series else []
    return plot(
        "rate-by-time",
        "Rate by time",
        "One curve for each phase, one point for each slice of time. A rate that falls says that a "
        "cache has filled; one that ends in a slope that some ranks were done before others.",
        "curves",
        Axis("time since the first call", "s"),
        Axis("rate of all ranks", "B/s", low=0),
        panels,
        columns=2,
    )


def rate_by_size(result: Result) -> Figure | None:
    sizes = sorted({_transfer(m) for m in result.measurements if _transfer(m) > 0})
    if len(sizes) < 2:
        return None
    series = []
    for access, of_access in common.grouped(result.measurements, lambda m: m.access).items():
        by_size = common.grouped(of_access, _transfer)
        found = [_rates(by_size.get(size, [])) for size in sizes]
        means = [sum(rates) / len(rates) if rates else None for rates in found]
        best = [max(rates, default=None) for rates in found]
        series.append(Series(access, list(sizes), means, common.access_style(access), best))
    return plot(
        "rate-by-size",
        "Rate by transfer size",
        "The mean over the repetitions; a whisker ends at the best of them. Where the curve "
        "becomes flat, larger calls gain nothing.",
        "curves",
        Axis("transfer size", "B", log=True),
        Axis("rate", "B/s", log=True, switch=True),
        series,
    )


def _drift(result: Result) -> Finding | None:
    rates: dict[str, list[float]] = {}
    for m in sorted(valid(result), key=lambda m: m.repetition):
        if m.rate.value:
            name = f"{m.access} {fmt.quantity(_transfer(m), 'B')}"
            rates.setdefault(name, []).append(m.rate.value)
    return common.drift_finding(rates, "B/s", "results")


def _worst(
    result: Result, factor_of: Callable[[Measurement], float | None], least: float
) -> tuple[str, float, Measurement] | None:
    """How many of the valid phases have a factor above `least`, the largest one, and its phase."""
    phases = valid(result)
    factors = [(factor, m) for m in phases if (factor := factor_of(m)) and factor > least]
    if not factors:
        return None
    count = f"{len(factors)} of {fmt.count_of(len(phases), 'phase')}"
    return count, *max(factors, key=lambda f: f[0])


def _tail(m: Measurement) -> float | None:
    """The time from the first worker's end to the last one's, as a share of the phase."""
    wall = members_of(m).stonewall
    if wall.tail_seconds and wall.last_done_seconds:
        return float(wall.tail_seconds / wall.last_done_seconds)
    return None


def _tail_finding(result: Result) -> Finding | None:
    if not (worst := _worst(result, _tail, _WIDE)):
        return None
    count, _, m = worst
    wall = members_of(m).stonewall
    return Finding(
        f"Load imbalance: in {count} the first worker finished well before the last (up to"
        f" {fmt.duration(wall.tail_seconds)} earlier in a phase of"
        f" {fmt.duration(wall.last_done_seconds)}: {_name(m)}).",
        "results",
        "warn",
    )


def _inequality(m: Measurement) -> float | None:
    """The fastest rank's rate over the slowest one's."""
    ranks = members_of(m).rank_rate_bytes_per_second
    return ranks.max / ranks.min if ranks.max and (ranks.min or 0) > 0 else None


def _unequal_finding(result: Result) -> Finding | None:
    if not (worst := _worst(result, _inequality, _UNEQUAL)):
        return None
    count, factor, m = worst
    return Finding(
        f"In {count} rank speeds differ by up to a factor of {factor:.1f} ({_name(m)}).",
        "results",
        "warn",
    )


def _first_of(
    result: Result, is_one: Callable[[Measurement], bool], what: str, anchor: str
) -> Finding | None:
    """How many of the valid phases are such ones, and the first of them."""
    phases = valid(result)
    some = [m for m in phases if is_one(m)]
    if not some:
        return None
    count = f"{len(some)} of {fmt.count_of(len(phases), 'phase')}"
    return Finding(f"In {count} {what}; the first: {_name(some[0])}.", anchor, "warn")


def _unsteady_finding(result: Result) -> Finding | None:
    return _first_of(
        result,
        lambda m: members_of(m).steady.reached is False,
        "the rate did not become steady",
        "rate-by-time",
    )


def _reads_own_node(m: Measurement) -> bool:
    """Only where nothing shows that the bytes came from storage."""
    stored = m.cache is not None and m.cache.verdict == "device"
    return m.access == "read" and bool(members_of(m).ranks_on_own_node) and not stored


def _own_node_finding(result: Result) -> Finding | None:
    if result.run.clock.virtual:
        return None
    what = "ranks read data of the same node, which its cache may hold"
    return _first_of(result, _reads_own_node, what, "results")


def _spread_finding(result: Result) -> Finding | None:
    wide = []
    for name in _BANDWIDTHS:
        for figure in result.figures_named(name):
            mean = figure.metric.value
            half = figure.samples.half95 if figure.samples else None
            if mean and half and half > _WIDE * mean:
                wide.append((half / mean, name.replace("_", " ")))
    if not wide:
        return None
    share, name = max(wide)
    return Finding(
        f"The mean of {fmt.count_of(len(wide), 'rate')} is imprecise (worst: {name},"
        f" ± {100 * share:.0f} % with 95 % confidence); use more repetitions.",
        "results",
        "warn",
    )


class IorReporter(PartsReporter):
    finders = (
        _drift,
        _tail_finding,
        _unequal_finding,
        slow_server_finding,
        _unsteady_finding,
        _own_node_finding,
        _spread_finding,
    )
    parts = (
        Part("results", "What was measured", (results_table, mix_table, rate_by_size)),
        Part("course", "How it went", (rate_by_time,)),
    )

    def headline(self, result: Result) -> Headline:
        context = common.context_of(result)
        for name in _BANDWIDTHS:
            if rates := known(result, name):
                best = max(rates, key=value_of)
                mine = [
                    m
                    for m in valid(result, name.removesuffix("_bandwidth"))
                    if common.lies_at(m.where, best.where)
                ]
                return common.claimed(
                    generic.headline_of(best, result, context), result, mine, best
                )
        return generic.headline_of(result.figure("write_bandwidth"), result, context)


REPORTER = IorReporter()
