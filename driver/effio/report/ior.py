# SPDX-License-Identifier: BSD-3-Clause
"""Report of ior: the rates, how they went by time, how equal the ranks were, what a transfer size
costs, and whether one of the servers of the file system is slow: by the rates of ranks that each
have a file, and the servers that have these files (launch/placer.py). docs/benchmarks/ior.md says
how to read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import mean

import msgspec

from effio import text as fmt
from effio.report import generic
from effio.report.common import certainty
from effio.report.common.counts import claimed
from effio.report.common.course import course, one_way_finding
from effio.report.common.names import access_style, cell_of, context_of, grouped, lies_at
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
from effio.report.parts import Part, PartsReporter, known, member, out_of_time, valid, value_of
from effio.report.plots import plot
from effio.store.clean import names_of
from effio.store.members import having, members_of
from effio.store.reader import Result
from effio.store.records import CallTimes, Measurement

# Files of a slow server are that much slower than any other.
_SLOW = 1.5
_LEAST_REPETITIONS = 2
_FEWEST_SLICES = 3


def _rates(measurements: Sequence[Measurement], names: Sequence[str]) -> Mapping[str, float]:
    """The rate of each file, the mean over the repetitions: rank n has the file n."""
    rates: dict[str, list[float]] = {}
    for m in measurements:
        ranks = members_of(m).rank_details
        if len(ranks) != len(names):
            return {}
        for name, rank in zip(names, ranks, strict=True):
            if (rank.bytes or 0) <= 0 or (rank.total_seconds or 0) <= 0:
                return {}
            rates.setdefault(name, []).append(rank.bytes / rank.total_seconds)
    return {name: mean(values) for name, values in rates.items()}


def _slow(access: str, rates: Mapping[str, float], servers: Mapping[str, list[str]]) -> str:
    """What to say of the server whose files are all slower than all others, and by much."""
    for server in sorted({one for those in servers.values() for one in those}):
        on = [rate for name, rate in rates.items() if server in servers.get(name, [])]
        off = [rate for name, rate in rates.items() if server not in servers.get(name, [])]
        if on and off and _SLOW * max(on) < min(off):
            return (
                f"{access}s of {len(on)} of {len(rates)} files ran at"
                f" {fmt.percent(mean(on) / mean(off))} of the rate of the others: they are on"
                f" {fmt.plain(server, 200)}"
            )
    return ""


def _stay(result: Result) -> bool:
    """Whether files are on the same servers in all repetitions. GlusterFS places them by their
    names, others anew each time that a file is created."""
    phases = result.run.options.get("phases")
    only_read = isinstance(phases, list) and "write" not in phases
    files = result.run.file_system
    return only_read or (files is not None and files.type == "fuse.glusterfs")


def slow_server_finding(result: Result) -> Finding | None:
    record, options = result.record, result.run.options
    if record is None or not record.servers_of_files or result.run.manifest is None:
        return None
    if options.get("files") != "per-process" or options.get("threads") not in (None, 1):
        return None
    if not _stay(result):
        return None
    names = [name for _, name in names_of(result.run.manifest.files)]
    found = []
    for access in ("write", "read"):
        # Elsewhere ranks read the files of others.
        if access == "read" and options.get("read-from") != "same":
            continue
        some = [m for m in result.measurements if m.access == access and m.valid]
        if len(some) < _LEAST_REPETITIONS:
            continue
        if slow := _slow(access, _rates(some, names), record.servers_of_files):
            found.append(slow)
    if not found:
        return None
    return Finding(f"Files of one server were slower: {'; '.join(found)}.", "results", "warn")


# A spread of the ranks' rates beyond this is worth a sentence.
_UNEQUAL = 1.5
_WIDE = 0.1
# In the order in which a headline takes them.
_BANDWIDTHS = ("write_bandwidth", "read_bandwidth", "mixed_bandwidth")


def _transfer(m: Measurement) -> float:
    return m.number("transfer_bytes")


def _name(m: Measurement) -> str:
    return f"{m.access} {fmt.quantity(_transfer(m), 'B')}, repetition {m.repetition}"


def results_table(result: Result) -> Table:
    return table_of(
        result.measurements,
        [
            (Column("access"), lambda m: m.access),
            (Column("transfer", "B"), _transfer),
            (Column("repetition", "1"), lambda m: m.repetition),
            (Column("data", "B"), lambda m: m.bytes),
            (Column("rate", "B/s"), lambda m: m.rate.value),
            (Column("calls alone", "B/s"), member("transfer_rate_bytes_per_second")),
            (Column("open", "s"), member("span_seconds.open")),
            (Column("calls", "s"), member("span_seconds.transfer")),
            (Column("sync", "s"), member("span_seconds.sync")),
            (Column("close", "s"), member("span_seconds.close")),
            (Column("slowest rank", "B/s"), member("rank_rate_bytes_per_second.min")),
            (Column("fastest rank", "B/s"), member("rank_rate_bytes_per_second.max")),
            (Column("ended by"), lambda m: m.stopped_by),
            (Column("verified", "B"), lambda m: m.verified_bytes or None),
            (Column("remark"), generic.remark_of),
        ],
        "Phases",
        "The rate is the data over the time from before the open to after the last close. The"
        " parts run from the first rank's start to the last one's end.",
        longest=80,
    )


def _percentiles(reported: object) -> tuple[float | None, float | None, float | None]:
    """The median, 99th percentile and maximum of the call times of one side, if it had calls."""
    try:
        times = msgspec.convert(reported, CallTimes)
    except msgspec.ValidationError:
        return None, None, None
    return (times.p50, times.p99, times.max) if times.count else (None, None, None)


def mix_table(result: Result) -> Table:
    rows: list[list[Cell]] = []
    for m in having(result.measurements, "mix"):
        mix = members_of(m).mix
        for side in ("read", "write") if mix else ():
            calls, times = (getattr(mix, f"{side}_{of}") for of in ("operations", "call_times"))
            place = [_transfer(m), m.repetition, mix.asked_read_percent, side]
            rows.append([*place, calls, *_percentiles(times)])
    columns = [
        Column("transfer", "B"), Column("repetition", "1"), Column("reads requested", "%"),
        Column("side"), Column("calls", "1"),
        *(Column(name, "s", digits=3) for name in ("p50", "p99", "max")),
    ]  # fmt: skip
    return Table(
        columns,
        rows,
        "The two sides of mixed phases",
        "How long calls took that read, and calls that wrote, while the others did both. Compare "
        "with the phases that only write or only read.",
        page_only=len(rows) > 80,
    )


def _course(m: Measurement, style: int) -> Series | None:
    detail = members_of(m)
    slices = detail.time_series
    amounts, seconds = slices.bytes, slices.slice_seconds
    if len(amounts) < _FEWEST_SLICES or (seconds or 0) <= 0:
        return None
    middles, rates = course(amounts, seconds, detail.span_seconds.get("transfer", 0.0))
    return Series(f"{fmt.quantity(_transfer(m), 'B')}, {m.repetition}", middles, rates, style)


def _may_have_course(m: Measurement) -> bool:
    """Whether the phase has slices enough, without reading members of thousands that have not."""
    slices = m.detail["time_series"]
    amounts = slices.get("bytes") if isinstance(slices, dict) else None
    return isinstance(amounts, list) and len(amounts) >= _FEWEST_SLICES


def rate_by_time(result: Result) -> Figure | None:
    panels = []
    for access, some in grouped(result.measurements, lambda m: m.access).items():
        sliced = having(some, "time_series")
        several = [(style, m) for style, m in enumerate(sliced) if _may_have_course(m)]
        series = [one for style, m in several if (one := _course(m, style))]
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
    for access, of_access in grouped(result.measurements, lambda m: m.access).items():
        counted = [m for m in of_access if m.valid and m.rate.value is not None]
        by_size = grouped(counted, _transfer)
        found = [[m.rate.value or 0.0 for m in by_size.get(size, [])] for size in sizes]
        means = [sum(rates) / len(rates) if rates else None for rates in found]
        best = [max(rates, default=None) for rates in found]
        series.append(Series(access, list(sizes), means, access_style(access), best))
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


def _one_way(result: Result) -> Finding | None:
    some = sorted((m for m in valid(result) if m.rate.value), key=lambda m: m.repetition)
    rates = {
        f"{access} {fmt.quantity(size, 'B')}": [m.rate.value or 0.0 for m in of]
        for (access, size), of in grouped(some, lambda m: (m.access, _transfer(m))).items()
    }
    return one_way_finding(rates, "B/s", "results")


def _worst(
    result: Result, member: str, factor_of: Callable[[Measurement], float | None], least: float
) -> tuple[str, float, Measurement] | None:
    """How many of the valid phases have a factor above `least`, the largest one, and its phase."""
    phases = valid(result)
    some = having(phases, member)
    factors = [(factor, m) for m in some if (factor := factor_of(m)) and factor > least]
    if not factors:
        return None
    count = f"{len(factors)} of {fmt.count_of(len(phases), 'phase')}"
    return count, *max(factors, key=lambda f: f[0])


def _tail(m: Measurement) -> float | None:
    """The time from the first worker's end to the last one's, as a share of the phase."""
    wall = members_of(m).stonewall
    if not wall:
        return None
    tail, whole = wall.tail_seconds, wall.last_done_seconds
    return float(tail / whole) if tail and whole else None


def _tail_finding(result: Result) -> Finding | None:
    if not (worst := _worst(result, "stonewall", _tail, _WIDE)):
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
    if m.ranks < 2:
        return None
    ranks = members_of(m).rank_rate_bytes_per_second
    lowest, highest = ranks.min or 0.0, ranks.max or 0.0
    return highest / lowest if highest and lowest > 0 else None


def _unequal_finding(result: Result) -> Finding | None:
    if not (worst := _worst(result, "rank_rate_bytes_per_second", _inequality, _UNEQUAL)):
        return None
    count, factor, m = worst
    return Finding(
        f"In {count} rank speeds differ by up to a factor of {factor:.1f} ({_name(m)}).",
        "results",
        "warn",
    )


def _first_of(
    result: Result, member: str, is_one: Callable[[Measurement], bool], what: str, anchor: str
) -> Finding | None:
    """How many of the valid phases this holds for, and the first of them."""
    phases = valid(result)
    some = [m for m in having(phases, member) if is_one(m)]
    if not some:
        return None
    count = f"{len(some)} of {fmt.count_of(len(phases), 'phase')}"
    return Finding(f"In {count} {what}; the first: {_name(some[0])}.", anchor, "warn")


def _unsteady_finding(result: Result) -> Finding | None:
    return _first_of(
        result,
        "steady",
        lambda m: members_of(m).steady.reached is False,
        "the rate did not become steady",
        "rate-by-time",
    )


def _reads_own_node(m: Measurement) -> bool:
    """Only where nothing shows that the bytes came from storage."""
    if m.access != "read" or not m.bytes or (m.cache and m.cache.verdict == "device"):
        return False
    return bool(members_of(m).ranks_on_own_node)


def _own_node_finding(result: Result) -> Finding | None:
    if result.run.simulated:
        return None
    what = "ranks read data of the same node, which its cache may hold"
    return _first_of(result, "ranks_on_own_node", _reads_own_node, what, "results")


def _spread_finding(result: Result) -> Finding | None:
    wide = []
    for name in _BANDWIDTHS:
        for figure in result.figures_named(name):
            mean = figure.metric.value
            half = certainty.half_of(figure)
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


def _left_out_finding(result: Result) -> Finding | None:
    options = result.run.options
    wanted = options.get("repetitions")
    if not options.get("time-limit") or options.get("until-ci") or not isinstance(wanted, int):
        return None
    done = {
        (name, i): sum(
            m.access == name.removesuffix("_bandwidth") and lies_at(m.where, figure.where)
            for m in result.measurements
        )
        for name in _BANDWIDTHS
        for i, figure in enumerate(result.figures_named(name))
    }
    short: dict[str, int] = {}
    for (name, _), count in done.items():
        if count < wanted:
            short[name] = min(count, short.get(name, count))
    if result.status != "done" or not short:
        return None
    each = ", ".join(f"{name.replace('_', ' ')} has {count}" for name, count in short.items())
    return out_of_time(wanted, each, "results")


class IorReporter(PartsReporter):
    finders = (
        _left_out_finding,
        _one_way,
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
        """That of the access that the campaign's step is for, else of the first that has a value:
        a step for reads also writes what it reads."""
        wanted = f"{result.part.access}_bandwidth" if result.part is not None else ""
        for name in sorted(_BANDWIDTHS, key=lambda name: name != wanted):
            if rates := known(result, name):
                # Of those with errors only if there are no others.
                rates = [rate for rate in rates if rate.valid is not False] or rates
                best = max(rates, key=value_of)
                access = name.removesuffix("_bandwidth")
                there = [
                    m
                    for m in result.measurements
                    if m.access == access and lies_at(m.where, best.where)
                ]
                mine = [m for m in there if m.valid] or [m for m in there if m.has_errors]
                words = [
                    cell_of(best, rates),
                    context_of(result, mine),
                    certainty.doubt_of_first(best, rates, "highest"),
                ]
                context = ", ".join(filter(None, words))
                return claimed(generic.headline_of(best, result, context), result, mine, best)
        figure = result.figure("write_bandwidth")
        return generic.headline_of(figure, result, context_of(result))


REPORTER = IorReporter()
