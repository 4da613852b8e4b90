# SPDX-License-Identifier: BSD-3-Clause
"""Report of ior: the rates, how they went by time, how equal the ranks were, and what a transfer
size costs. docs/benchmarks/ior.md says how to read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from effio import text as fmt
from effio.report import common, generic
from effio.report.model import (
    Axis,
    Block,
    Cell,
    Column,
    Figure,
    Finding,
    Headline,
    Panel,
    Section,
    Series,
    Table,
    table_of,
)
from effio.report.slow_servers import slow_server_finding
from effio.store.members import members_of
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


def results_table(measurements: Sequence[Measurement]) -> Table:
    return table_of(
        measurements,
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


def _times(reported: object) -> CallTimes | None:
    """The call times of one side, if it had calls."""
    try:
        times = msgspec.convert(reported, CallTimes)
    except msgspec.ValidationError:
        return None
    return times if times.count else None


def mix_table(measurements: Sequence[Measurement]) -> Table | None:
    rows: list[list[Cell]] = []
    for m in measurements:
        mix = members_of(m).mix
        if not mix:
            continue
        sides = (
            ("read", mix.read_operations, mix.read_call_times),
            ("write", mix.write_operations, mix.write_call_times),
        )
        for side, calls, times in sides:
            reported = _times(times)
            rows.append(
                [
                    _transfer(m),
                    m.repetition,
                    mix.asked_read_percent,
                    side,
                    calls,
                    reported.p50 if reported else None,
                    reported.p99 if reported else None,
                    reported.max if reported else None,
                ]
            )
    if not rows:
        return None
    return Table(
        [
            Column("transfer", "B"),
            Column("repetition", "1"),
            Column("reads requested", "%"),
            Column("side"),
            Column("calls", "1"),
            Column("p50", "s", digits=3),
            Column("p99", "s", digits=3),
            Column("max", "s", digits=3),
        ],
        rows,
        "The two sides of mixed phases",
        "How long calls took that read, and calls that wrote, while the others did both. Compare "
        "with the phases that only write or only read.",
        page_only=len(rows) > 80,
    )


def rate_by_time(measurements: Sequence[Measurement]) -> Figure | None:
    panels = []
    for access in common.unique(m.access for m in measurements):
        series = []
        for style, m in enumerate(m for m in measurements if m.access == access):
            phase = members_of(m)
            reported = phase.time_series
            if (reported.slice_seconds or 0) <= 0 or len(reported.bytes) < 3:
                continue
            end = phase.span_seconds.get("transfer", 0.0)
            middles, rates = common.course(reported.bytes, reported.slice_seconds, end)
            name = f"{fmt.quantity(_transfer(m), 'B')}, {m.repetition}"
            series.append(Series(name, middles, rates, style))
        if series:
            panels.append(Panel(access, series))
    if not panels:
        return None
    return Figure(
        "rate-by-time",
        "Rate by time",
        "One curve for each phase, one point for each slice of time. A rate that falls says that a "
        "cache has filled; one that ends in a slope that some ranks were done before others.",
        "curves",
        Axis("time since the first call", "s"),
        Axis("rate of all ranks", "B/s", low=0),
        {"": panels},
        columns=2,
    )


def rate_by_size(measurements: Sequence[Measurement]) -> Figure | None:
    sizes = sorted({_transfer(m) for m in measurements if _transfer(m) > 0})
    if len(sizes) < 2:
        return None
    series = []
    for access, of_access in common.grouped(measurements, lambda m: m.access).items():
        by_size = common.grouped(of_access, _transfer)
        found = {size: _rates(by_size.get(size, [])) for size in sizes}
        series.append(
            Series(
                access,
                list(sizes),
                [sum(r) / len(r) if (r := found[size]) else None for size in sizes],
                style=common.access_style(access),
                high=[max(r) if (r := found[size]) else None for size in sizes],
            )
        )
    return Figure(
        "rate-by-size",
        "Rate by transfer size",
        "The mean over the repetitions; a whisker ends at the best of them. Where the curve "
        "becomes flat, larger calls gain nothing.",
        "curves",
        Axis("transfer size", "B", log=True),
        Axis("rate", "B/s", log=True, switch=True),
        {"": [Panel("", series)]},
        columns=1,
    )


def _drift(valid: Sequence[Measurement]) -> Finding | None:
    rates: dict[str, list[float]] = {}
    for m in sorted(valid, key=lambda m: m.repetition):
        if m.rate.value:
            name = f"{m.access} {fmt.quantity(_transfer(m), 'B')}"
            rates.setdefault(name, []).append(m.rate.value)
    return common.drift_finding(rates, "B/s", "results")


def _of(some: Sequence[Measurement], valid: Sequence[Measurement]) -> str:
    return f"{len(some)} of {fmt.count_of(len(valid), 'phase')}"


def _tail_finding(valid: Sequence[Measurement]) -> Finding | None:
    tails = []
    for m in valid:
        wall = members_of(m).stonewall
        tail, last = wall.tail_seconds, wall.last_done_seconds
        if tail and last and tail > _WIDE * last:
            tails.append((tail / last, tail, last, m))
    if not tails:
        return None
    _, tail, last, worst = max(tails, key=lambda t: t[0])
    return Finding(
        f"Load imbalance: in {_of([t[3] for t in tails], valid)} the first worker finished well"
        f" before the last (up to {fmt.duration(tail)} earlier in a phase of"
        f" {fmt.duration(last)}: {_name(worst)}).",
        "results",
        "warn",
    )


def _unequal_finding(valid: Sequence[Measurement]) -> Finding | None:
    unequal = []
    for m in valid:
        ranks = members_of(m).rank_rate_bytes_per_second
        if ranks.min and ranks.max and ranks.min > 0 and ranks.max > _UNEQUAL * ranks.min:
            unequal.append((ranks.max / ranks.min, m))
    if not unequal:
        return None
    factor, worst = max(unequal, key=lambda u: u[0])
    return Finding(
        f"In {_of([u[1] for u in unequal], valid)} rank speeds differ by up to a factor of"
        f" {factor:.1f} ({_name(worst)}).",
        "results",
        "warn",
    )


def _unsteady_finding(valid: Sequence[Measurement]) -> Finding | None:
    some = [m for m in valid if members_of(m).steady.reached is False]
    if not some:
        return None
    return Finding(
        f"In {_of(some, valid)} the rate did not become steady; the first: {_name(some[0])}.",
        "rate-by-time",
        "warn",
    )


def _own_node_finding(valid: Sequence[Measurement]) -> Finding | None:
    """Only where nothing shows that the bytes came from storage."""
    own = [
        m
        for m in valid
        if m.access == "read"
        and members_of(m).ranks_on_own_node
        and not (m.cache and m.cache.verdict == "device")
    ]
    if not own:
        return None
    return Finding(
        f"In {_of(own, valid)} ranks read data of the same node, which its cache may hold; the"
        f" first: {_name(own[0])}.",
        "results",
        "warn",
    )


def _spread_findings(result: Result) -> list[Finding]:
    wide = []
    for name in _BANDWIDTHS:
        for figure in result.figures_named(name):
            mean = figure.metric.value
            half = figure.samples.half95 if figure.samples else None
            if mean and half and half > _WIDE * mean:
                wide.append((half / mean, name.replace("_", " ")))
    if not wide:
        return []
    share, name = max(wide)
    return [
        Finding(
            f"The mean of {fmt.count_of(len(wide), 'rate')} is imprecise (worst: {name},"
            f" ± {100 * share:.0f} % with 95 % confidence); use more repetitions.",
            "results",
            "warn",
        )
    ]


class IorReporter:
    def headline(self, result: Result) -> Headline:
        context = common.context_of(result)
        for name in _BANDWIDTHS:
            found = [f for f in result.figures_named(name) if f.metric.value is not None]
            if found:
                best = max(found, key=lambda f: f.metric.value or 0.0)
                access = name.removesuffix("_bandwidth")
                mine = [
                    m
                    for m in result.measurements
                    if m.access == access and m.valid and common.lies_at(m.where, best.where)
                ]
                return common.claimed(
                    generic.headline_of(best, result, context), result, mine, best
                )
        return generic.headline_of(result.figure("write_bandwidth"), result, context)

    def findings(self, result: Result) -> Sequence[Finding]:
        valid = [m for m in result.measurements if m.valid]
        found: list[Finding | None] = [
            _drift(valid),
            _tail_finding(valid),
            _unequal_finding(valid),
            slow_server_finding(result),
            _unsteady_finding(valid),
            None if result.run.clock.virtual else _own_node_finding(valid),
        ]
        return [*(f for f in found if f is not None), *_spread_findings(result)]

    def sections(self, result: Result) -> Sequence[Section]:
        if not result.measurements:
            return []
        results: list[Block] = [results_table(result.measurements)]
        if mixed := mix_table(result.measurements):
            results.append(mixed)
        if by_size := rate_by_size(result.measurements):
            results.append(by_size)
        sections = [Section("results", "What was measured", results)]
        if by_time := rate_by_time(result.measurements):
            sections.append(Section("course", "How it went", [by_time]))
        return sections


REPORTER = IorReporter()
