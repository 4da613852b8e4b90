# SPDX-License-Identifier: BSD-3-Clause
"""Report of mdtest: rates by phase with their spread, times of single operations, which ranks were
slow, and one directory for all against one for each. docs/benchmarks/mdtest.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from effio import text as fmt
from effio.report import common
from effio.report.common import certainty
from effio.report.common.names import context_of, grouped
from effio.report.generic import reasons_of
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
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import Measurement, as_count

SHARED = "one tree for all ranks"
OWN = "a tree for each rank"
# A rank that takes so much longer than the mean is worth a sentence.
_UNEVEN = 1.5
# What people ask for first.
_HEADLINES = ("File creation", "Directory creation", "File stat", "File read", "Tree creation")


def _kind(record: Measurement | FigureRecord) -> str:
    return OWN if record.where.get("unique") is True else SHARED


def _short(record: Measurement | FigureRecord) -> str:
    return "own" if _kind(record) == OWN else "shared"


def _phase(record: Measurement | FigureRecord) -> str:
    return str(record.where.get("phase", "")) or "unknown"


def _ranks(figure: FigureRecord) -> int:
    return as_count(figure.where.get("ranks"))


def rates_of(result: Result) -> list[FigureRecord]:
    """One a phase, number of ranks and kind of tree."""
    return result.figures_named("rate")


def rate_table(rates: Sequence[FigureRecord]) -> Table:
    return table_of(
        rates,
        [
            (Column("phase"), _phase),
            (Column("ranks", "1"), _ranks),
            (Column("trees"), _short),
            (Column("mean", "op/s"), lambda f: f.metric.value),
            (Column("lowest", "op/s"), certainty.sample("min")),
            (Column("highest", "op/s"), certainty.sample("max")),
            (Column("std. dev.", "op/s"), certainty.sample("deviation")),
            (Column("± (95 %)", "op/s"), certainty.half_of),
            (Column("iterations", "1"), lambda f: f.samples.count if f.samples else 0),
            (Column("remark"), reasons_of),
        ],
        "Rates",
        "Operations of all ranks in a second; the time runs until the slowest rank is ready. The"
        " mean is that of the iterations' rates, as in mdtest's own table. ± (95 %): half its"
        " interval, from five iterations on.",
    )


def rate_figure(rates: Sequence[FigureRecord]) -> Figure | None:
    known = [f for f in rates if f.metric.value]
    if not known:
        return None
    variants = {}
    for ranks, of_ranks in grouped(known, _ranks).items():
        series = []
        for style, (kind, some) in enumerate(grouped(of_ranks, _kind).items()):
            highs = [f.samples.max if f.samples else None for f in some]
            series.append(
                Series(
                    kind, [_phase(f) for f in some], [f.metric.value for f in some], style, highs
                )
            )
        variants[fmt.count_of(ranks, "rank")] = [Panel("", series)]
    return Figure(
        "rates",
        "Operations in a second, by phase",
        "Bars are means over the iterations, whiskers reach to the best one. Phases that change"
        " names wait for the storage; stat and read may be answered from memory.",
        "bars",
        Axis("phase"),
        Axis("rate", "op/s", log=True, switch=True),
        variants,
        columns=1,
        variant_title="ranks",
        panel_height=420,
    )


# What distinguishes the rows of tables of measurements.
_KEYS: Sequence[tuple[Column, Callable[[Measurement], Cell]]] = (
    (Column("phase"), _phase),
    (Column("ranks", "1"), lambda m: m.ranks),
    (Column("trees"), _short),
    (Column("iteration"), lambda m: m.repetition),
)


def _time(name: str) -> Callable[[Measurement], Cell]:
    return lambda m: getattr(m.call_times, name)


def times_table(measurements: Sequence[Measurement]) -> Table:
    return table_of(
        [m for m in measurements if m.call_times is not None and m.call_times.count],
        [
            *_KEYS,
            (Column("operations", "1"), _time("count")),
            (Column("median", "s"), _time("p50")),
            (Column("90 %", "s"), _time("p90")),
            (Column("99 %", "s"), _time("p99")),
            (Column("99.9 %", "s"), _time("p999")),
            (Column("longest", "s"), _time("max")),
        ],
        "Times of single operations",
        "Percentiles: the given share of operations took no longer than this.",
        longest=40,
    )


def _unevenness(m: Measurement) -> float | None:
    """The slowest rank's own work over the mean rank's."""
    work = m.seconds.get("work")
    return work.max / work.mean if work and work.mean > 0 else None


def _slowest(m: Measurement) -> str:
    slow = [s for s in members_of(m).slowest_ranks[:3] if s.rank is not None]
    return ", ".join(f"{s.rank} ({fmt.plain(s.host, 60) or '?'})" for s in slow)


def balance_table(measurements: Sequence[Measurement]) -> Table:
    return table_of(
        [m for m in measurements if "work" in m.seconds and m.ranks > 1 and m.pattern != "tree"],
        [
            *_KEYS,
            (Column("fastest rank", "s"), lambda m: m.seconds["work"].min),
            (Column("mean rank", "s"), lambda m: m.seconds["work"].mean),
            (Column("slowest rank", "s"), lambda m: m.seconds["work"].max),
            (Column("slowest / mean", "1", digits=3), _unevenness),
            (Column("slowest ranks"), _slowest),
        ],
        "Ranks against each other",
        "Time of a rank from the common start to the end of its last operation. The rate is set"
        " by the slowest.",
        longest=40,
    )


def _over_time(m: Measurement) -> Series | None:
    reported = members_of(m).rate_over_time
    if (reported.slice_seconds or 0) <= 0:
        return None
    middles, rates = common.course(reported.operations, reported.slice_seconds, m.total_seconds)
    if len(rates) < 3:
        return None
    return Series(f"iteration {m.repetition}", middles, rates, m.repetition - 1)


def drift_finding(measurements: Sequence[Measurement]) -> Finding | None:
    rates: dict[str, list[float]] = {}
    for m in sorted(measurements, key=lambda m: m.repetition):
        if m.valid and m.rate.value and m.pattern != "tree":
            name = f"{_phase(m)} ({fmt.count_of(m.ranks, 'rank')}, {_short(m)})"
            rates.setdefault(name, []).append(m.rate.value)
    return common.drift_finding(rates, "op/s", "rates")


def time_figure(measurements: Sequence[Measurement]) -> Figure | None:
    panels: dict[str, list[Series]] = {}
    for m in measurements:
        if series := _over_time(m):
            panels.setdefault(
                f"{_phase(m)}, {fmt.count_of(m.ranks, 'rank')}, {_kind(m)}", []
            ).append(series)
    if not panels:
        return None
    return Figure(
        "over-time",
        "Rates over time",
        "Operations in a second while a phase went on. A rate that sinks indicates caches that fill"
        " or directories that grow.",
        "curves",
        Axis("time since the start of the phase", "s"),
        Axis("rate", "op/s", low=0),
        {"all": [Panel(name, some) for name, some in panels.items()]},
        columns=2,
    )


def tree_findings(rates: Sequence[FigureRecord]) -> list[Finding]:
    """One shared directory against a directory for each rank, where the run has both."""
    findings = []
    of = {(_phase(f), _ranks(f), _kind(f)): f for f in rates if f.metric.value}
    for phase, ranks, kind in of:
        in_own = of.get((phase, ranks, OWN))
        if kind != SHARED or in_own is None or phase not in ("File creation", "File removal"):
            continue
        in_shared = of[phase, ranks, SHARED]
        own, shared = in_own.metric.value or 0.0, in_shared.metric.value or 0.0
        if why := certainty.why_not_apart(in_own, in_shared):
            text = (
                f"Whether {fmt.plain(phase, 60)} with {fmt.count_of(ranks, 'rank')} is faster in"
                f" {OWN} ({fmt.quantity(own, 'op/s')}) than in {SHARED}"
                f" ({fmt.quantity(shared, 'op/s')}) is not known: {why}."
            )
            findings.append(Finding(text, "rates"))
            continue
        times = own / shared
        words = "times as fast" if own >= shared else "times as slow"
        by = fmt.significant(max(times, 1 / times), 3)
        findings.append(
            Finding(
                f"{fmt.plain(phase, 60)} with {fmt.count_of(ranks, 'rank')} is {by} {words}"
                f" in {OWN} ({fmt.quantity(own, 'op/s')}) as in {SHARED}"
                f" ({fmt.quantity(shared, 'op/s')}).",
                "rates",
            )
        )
    return findings


def balance_findings(measurements: Sequence[Measurement]) -> list[Finding]:
    by_phase: dict[str, list[float]] = {}
    for m in measurements:
        if m.valid and m.pattern != "tree" and m.ranks > 1 and (found := _unevenness(m)):
            by_phase.setdefault(_phase(m), []).append(found)
    worst = max(by_phase, key=lambda p: fmean(by_phase[p]), default=None)
    if worst is None or fmean(by_phase[worst]) < _UNEVEN:
        return []
    by = fmt.significant(fmean(by_phase[worst]), 3)
    return [
        Finding(
            f"The slowest rank of {worst} took {by} times as long as the mean rank; the others"
            " waited.",
            "balance",
            "warn",
            "limit",
        )
    ]


def _expected(f: FigureRecord) -> str:
    expected = members_of(f).expected
    return "?" if expected is None or expected < 0 else str(expected)


def _counts(result: Result) -> str:
    """Whether an operation counts when the file system says so, or when it was flushed: only the
    evidence says whether storage has it then."""
    if result.run.clock.virtual:
        return "simulated operations"
    synced = [
        name for name in ("sync-files", "sync-phases") if result.run.options.get(name) is True
    ]
    if synced:
        return "operations, flushed"
    return "operations that the file system accepted, on storage or not"


class MdtestReporter:
    def headline(self, result: Result) -> Headline:
        rates = rates_of(result)
        context = context_of(result)
        ranked = [f for name in _HEADLINES for f in rates if _phase(f) == name] + list(rates)
        if not ranked:
            return Headline(
                "mdtest", None, "op/s", context, False, missing="no phase was measured completely"
            )
        first = ranked[0]
        return Headline(
            _phase(first),
            first.metric.value,
            "op/s",
            f"{context}, {_kind(first)}",
            missing=first.metric.reason,
            anchor="rates",
            counts=_counts(result),
            # The reason for a missing value also explains the missing interval.
            interval="" if first.metric.reason else common.interval_of(first),
        )

    def findings(self, result: Result) -> Sequence[Finding]:
        wrong = [f for f in result.figures if f.name == "on_disk" and f.valid is False]
        findings = [
            Finding(
                f"On disk were {f.metric.value or 0:.0f}"
                f" {fmt.plain(f.where.get('thing', ''), 20)} names,"
                f" {_expected(f)} were expected.",
                "rates",
                "bad",
            )
            for f in wrong
        ]
        drift = drift_finding(result.measurements)
        findings += [*([drift] if drift else []), *tree_findings(rates_of(result))]
        return [*findings, *balance_findings(result.measurements)]

    def sections(self, result: Result) -> Sequence[Section]:
        rates = rates_of(result)
        measured = result.measurements
        sections = []
        blocks: list[Block] = [b for b in (rate_figure(rates),) if b]
        if rates:
            sections.append(Section("rates-by-phase", "Rates", [*blocks, rate_table(rates)]))
        times = times_table(measured)
        if times.rows:
            sections.append(Section("operations", "Times of operations", [times]))
        balance = balance_table(measured)
        if balance.rows:
            sections.append(Section("balance", "Balance of the ranks", [balance]))
        if over_time := time_figure(measured):
            sections.append(Section("time-course", "Course of time", [over_time], show=False))
        return sections


REPORTER = MdtestReporter()
