# SPDX-License-Identifier: BSD-3-Clause
"""Report of mdtest: rates by phase with their spread, times of single operations, which ranks were
slow, and one directory for all against one for each. docs/benchmarks/mdtest.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import fmean

from effio import text as fmt
from effio.report.common import certainty
from effio.report.common.counts import interval_of
from effio.report.common.course import course, one_way_finding
from effio.report.common.names import context_of, grouped
from effio.report.generic import reasons_of
from effio.report.model import (
    Axis,
    Column,
    Figure,
    Finding,
    Headline,
    Panel,
    Series,
    Table,
    table_of,
)
from effio.report.parts import Part, PartsReporter, known, number, valid, value_of, word
from effio.report.plots import best, by_case, plot
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import Measurement

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


_ranks = partial(number, name="ranks")


def _cell(record: Measurement | FigureRecord) -> tuple[str, int, str]:
    """What repetitions have in common."""
    ranks = record.ranks if isinstance(record, Measurement) else _ranks(record)
    return _phase(record), ranks, _short(record)


def _cell_text(cell: tuple[str, int, str]) -> str:
    phase, ranks, trees = cell
    return f"{phase} ({fmt.count_of(ranks, 'rank')}, {trees})"


def rate_table(result: Result) -> Table:
    return table_of(
        result.figures_named("rate"),
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


def rate_figure(result: Result) -> Figure | None:
    rates = [f for f in known(result, "rate") if f.metric.value]
    return plot(
        "rates",
        "Operations in a second, by phase",
        "Bars are means over the iterations, whiskers reach to the best one. Phases that change"
        " names wait for the storage; stat and read may be answered from memory.",
        "bars",
        Axis("phase"),
        Axis("rate", "op/s", log=True, switch=True),
        by_case(rates, lambda f: fmt.count_of(_ranks(f), "rank"), _kind, _phase, best),
        case="ranks",
        height=420,
    )


def _unevenness(m: Measurement) -> float | None:
    """The slowest rank's own work over the mean rank's."""
    work = m.seconds.get("work")
    return work.max / work.mean if work and work.mean > 0 else None


def _slowest(m: Measurement) -> str:
    slow = [s for s in members_of(m).slowest_ranks[:3] if s.rank is not None]
    return ", ".join(f"{s.rank} ({fmt.plain(s.host, 60) or '?'})" for s in slow)


def balance_table(result: Result) -> Table:
    return table_of(
        [m for m in _of_items(result.measurements) if "work" in m.seconds and m.ranks > 1],
        [
            (Column("phase"), _phase),
            (Column("ranks", "1"), lambda m: m.ranks),
            (Column("trees"), _short),
            (Column("iteration"), lambda m: m.repetition),
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


def _of_items(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Without those of whole trees, which one rank makes."""
    return [m for m in measurements if m.pattern != "tree"]


def _over_time(m: Measurement) -> Series | None:
    reported = members_of(m).rate_over_time
    if (reported.slice_seconds or 0) <= 0:
        return None
    middles, rates = course(reported.operations, reported.slice_seconds, m.total_seconds)
    if len(rates) < 3:
        return None
    return Series(f"iteration {m.repetition}", middles, rates, m.repetition - 1)


def _one_way(result: Result) -> Finding | None:
    rates: dict[str, list[float]] = {}
    for m in sorted(_of_items(valid(result)), key=lambda m: m.repetition):
        if m.rate.value:
            rates.setdefault(_cell_text(_cell(m)), []).append(m.rate.value)
    return one_way_finding(rates, "op/s", "rates")


def time_figure(result: Result) -> Figure | None:
    panels: dict[str, list[Series]] = {}
    for m in result.measurements:
        if series := _over_time(m):
            name = f"{_phase(m)}, {fmt.count_of(m.ranks, 'rank')}, {_kind(m)}"
            panels.setdefault(name, []).append(series)
    return plot(
        "over-time",
        "Rates over time",
        "Operations in a second while a phase went on. A rate that sinks may be caches that fill or"
        " directories that grow: the figure does not show which.",
        "curves",
        Axis("time since the start of the phase", "s"),
        Axis("rate", "op/s", low=0),
        [Panel(name, some) for name, some in panels.items()],
        columns=2,
    )


def _tree_finding(in_own: FigureRecord, in_shared: FigureRecord) -> Finding:
    own, shared = value_of(in_own), value_of(in_shared)
    what = f"{fmt.plain(_phase(in_own), 60)} with {fmt.count_of(_ranks(in_own), 'rank')} is"
    in_each = f"in {OWN} ({fmt.quantity(own, 'op/s')})"
    in_one = f"in {SHARED} ({fmt.quantity(shared, 'op/s')})"
    if why := certainty.why_not_apart(in_own, in_shared):
        text = f"Whether {what} faster {in_each} than {in_one} is not known: {why}."
        return Finding(text, "rates")
    words = "times as fast" if own >= shared else "times as slow"
    by = fmt.significant(max(own / shared, shared / own), 3)
    return Finding(f"{what} {by} {words} {in_each} as {in_one}.", "rates")


def tree_findings(result: Result) -> list[Finding]:
    """One shared directory against a directory for each rank, where the run has both."""
    rates = [f for f in known(result, "rate") if f.metric.value]
    of = {(_phase(f), _ranks(f), _kind(f)): f for f in rates}
    return [
        _tree_finding(of[phase, ranks, OWN], f)
        for (phase, ranks, kind), f in of.items()
        if kind == SHARED
        and (phase, ranks, OWN) in of
        and phase in ("File creation", "File removal")
    ]


def balance_finding(result: Result) -> Finding | None:
    # The time of a rank that had nothing to do is that of its loop.
    done = [m for m in _of_items(valid(result)) if m.operations and m.ranks > 1]
    some = [m for m in done if _unevenness(m)]
    by_cell = {
        cell: fmean(_unevenness(m) or 0.0 for m in of_cell)
        for cell, of_cell in grouped(some, _cell).items()
    }
    worst = max(by_cell, key=lambda cell: by_cell[cell], default=None)
    if worst is None or by_cell[worst] < _UNEVEN:
        return None
    text = (
        f"The slowest rank of {_cell_text(worst)} took {fmt.significant(by_cell[worst], 3)} times"
        " as long as the mean rank; the others waited."
    )
    return Finding(text, "balance", "warn", "limit")


def _counts(result: Result) -> str:
    """Whether an operation counts when the file system says so, or when it was flushed: only the
    evidence says whether storage has it then."""
    if result.run.simulated:
        return "simulated operations"
    if result.run.in_memory:
        return "operations in memory"
    synced = [
        name for name in ("sync-files", "sync-phases") if result.run.options.get(name) is True
    ]
    if synced:
        return "operations, flushed"
    return "operations that the file system accepted, on storage or not"


def on_disk_findings(result: Result) -> list[Finding]:
    findings = []
    for f in result.figures_named("on_disk"):
        if f.valid is False:
            expected = members_of(f).expected
            count = "?" if expected is None or expected < 0 else expected
            names = fmt.count_of(round(value_of(f)), f"{word(f, 'thing', 20)} name")
            text = f"Found on disk: {names}; expected: {count}."
            findings.append(Finding(text, "rates", "bad"))
    return findings


class MdtestReporter(PartsReporter):
    finders = (on_disk_findings, _one_way, tree_findings, balance_finding)
    parts = (
        Part("rates-by-phase", "Rates", (rate_figure, rate_table)),
        Part("balance", "Balance of the ranks", (balance_table,)),
        Part("time-course", "Course of time", (time_figure,), show=False),
    )

    def headline(self, result: Result) -> Headline:
        rates = result.figures_named("rate")
        # The requested load: that of most ranks.
        most = sorted(rates, key=_ranks, reverse=True)
        ranked = [f for name in _HEADLINES for f in most if _phase(f) == name] + most
        if not ranked:
            missing = "no phase was measured completely"
            return Headline("mdtest", None, "op/s", context_of(result), False, missing=missing)
        first = ranked[0]
        there = [m for m in valid(result) if _cell(m) == _cell(first)]
        return Headline(
            _phase(first),
            first.metric.value,
            "op/s",
            f"{context_of(result, there)}, {_kind(first)}",
            missing=first.metric.reason,
            anchor="rates",
            counts=_counts(result),
            # The reason for a missing value also explains the missing interval.
            interval="" if first.metric.reason else interval_of(first),
        )


REPORTER = MdtestReporter()
