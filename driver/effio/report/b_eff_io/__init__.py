# SPDX-License-Identifier: BSD-3-Clause
"""Report of b_eff_io: the classic page, how the figure is computed, and what limits it.
docs/benchmarks/b_eff_io.md says how to read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from effio import text as fmt
from effio.campaign.file import Chart
from effio.report import generic
from effio.report.b_eff_io.page import (
    ACCESSES,
    PAIRS,
    TYPES,
    Run,
    average_table,
    classic_page,
    partition_of,
    scaling_figure,
    summary_table,
    value_or_none,
)
from effio.report.balance import system_names
from effio.report.charts import Measured, chart_blocks
from effio.report.common import certainty
from effio.report.common.certainty import Factor, factor_of
from effio.report.common.counts import claimed
from effio.report.common.times import (
    TimeSplit,
    call_time_figure,
    call_time_table,
    limit_finding,
    time_figure,
    time_splits,
)
from effio.report.model import (
    Block,
    Cell,
    Column,
    Figure,
    Finding,
    Headline,
    Level,
    Section,
    Table,
    table_of,
)
from effio.report.parts import Finder, Part, found, sections_of
from effio.store.evidence import Place, evidence_of, place_of
from effio.store.reader import Result
from effio.store.values import as_number

# The most that writing the whole memory takes on a balanced system.
_BALANCED_SECONDS = 600
_STEPS = ("results",)
_NUMBER = "b_eff_io_partition"
_OPEN = "Open markers are not valid by the definition; compare them only with their like."


def scheduled_minutes(run: Run) -> str:
    """The minutes of one partition: the time of a run is divided among all of its partitions."""
    seconds = as_number(run.result.run.options.get("time"))
    parts = max(1, len(run.partitions))
    return f"{seconds / parts / 60:.3g}" if seconds is not None else "?"


def _values(named: Sequence[tuple[str, Run]], name: str) -> list[Measured]:
    """The values of the figures with this name, of all partitions of all systems."""
    return [
        Measured(
            {
                "system": system,
                "scheduled_minutes": scheduled_minutes(run),
                "ranks": str(run.ranks(n)),
                "access": str(f.where.get("access", "")),
                "pattern": str(f.where.get("pattern", "")),
            },
            f.metric.value,
            "B/s",
            valid=not any(one.valid is False for one in run.figures(_NUMBER, n)),
        )
        for system, run in named
        for n in run.partitions
        for f in run.figures(name, n)
        if f.metric.value is not None
    ]


def _ordered(values: Sequence[Measured], name: str, order: Sequence[str]) -> list[Measured]:
    return sorted(values, key=lambda v: order.index(v.at[name]) if v.at[name] in order else 99)


def systems_table(named: Sequence[tuple[str, Run]]) -> Table:
    """The best partition of each system."""
    sizes: dict[str, set[int]] = {}
    best: dict[str, tuple[float, Run, int]] = {}
    for system, run in named:
        sizes.setdefault(system, set()).update(map(run.ranks, run.partitions))
        for n in run.partitions:
            for f in run.figures(_NUMBER, n):
                if f.metric.value is not None and f.metric.value > best.get(system, (-1.0,))[0]:
                    best[system] = f.metric.value, run, n

    def average(access: str) -> Callable[[tuple[str, Run, int]], Cell]:
        return lambda row: value_or_none(row[1].average(access, row[2]))

    return table_of(
        [(system, run, n) for system, (_, run, n) in best.items()],
        [
            (Column("system"), lambda row: row[0]),
            (Column("best b_eff_io", "B/s", "MB/s"), lambda row: best[row[0]][0]),
            (Column("on ranks", "1"), lambda row: row[1].ranks(row[2])),
            (Column("scheduled [min]"), lambda row: scheduled_minutes(row[1])),
            *((Column(access, "B/s", "MB/s"), average(access)) for access in ACCESSES),
            (Column("valid"), lambda row: row[1].figures(_NUMBER, row[2])[0].valid),
            (Column("partition sizes", "1"), lambda row: len(sizes[row[0]])),
        ],
        "Systems: the best partition of each",
    )


def systems_blocks(results: Sequence[Result]) -> list[Block]:
    """A table of the best partitions, and the figures."""
    runs = [Run(result) for result in results]
    named = list(zip(system_names(results), runs, strict=True))
    several_times = len({scheduled_minutes(run) for run in runs}) > 1
    numbers = _values(named, _NUMBER)
    if not numbers:
        return []

    def chart(name: str, title: str, values: Sequence[Measured], **more: Any) -> list[Block]:
        over = {
            "over": "ranks",
            "curves": ("system", "scheduled_minutes") if several_times else ("system",),
        }
        own = Chart(name=name, title=title, caption=_OPEN, steps=_STEPS, **{**over, **more})
        return chart_blocks(own, values) if values else []

    blocks: list[Block] = [systems_table(named)]
    blocks += chart("systems", "b_eff_io over partition sizes", numbers)
    blocks += chart(
        "systems-accesses",
        "Write, rewrite and read over partition sizes",
        _ordered(_values(named, "access_bandwidth"), "access", ACCESSES),
        panels=("access",),
    )
    types = _ordered(_values(named, "type_bandwidth"), "pattern", TYPES)
    for access in ACCESSES:
        blocks += chart(
            f"systems-types-{access}",
            f"Pattern types over partition sizes: {access}",
            [v for v in types if v.at["access"] == access],
            panels=("pattern",),
        )
    if several_times:
        blocks += chart(
            "systems-times",
            "b_eff_io over the scheduled time of a partition",
            numbers,
            over="scheduled_minutes",
            curves=("system", "ranks"),
        )
    return blocks


def _time_splits(run: Run) -> list[TimeSplit]:
    """The times by access and type, with open and close, which belong to types and not to rows."""
    assert run.best is not None
    cells = run.best_cells.all
    splits = time_splits(cells, lambda m: f"{m.access} {m.pattern}")
    for split in splits:
        access, _, pattern = split.name.partition(" ")
        figure = run.type_rate(run.best, access, pattern)
        for part in ("open", "close"):
            seconds = figure.detail.get(f"{part}_seconds") if figure else None
            if isinstance(seconds, (int, float)) and 0 <= seconds < 1e12:
                split.parts[part] += float(seconds)
    return splits


def _interval(factor: Factor) -> str:
    low, mean, high = (fmt.significant(v, 3) for v in (factor.low, factor.mean, factor.high))
    pairs = fmt.count_of(factor.pairs, "pair")
    return f"{mean} ({low} to {high} with 95 % confidence, {pairs} of rows)"


def _small_chunk_finding(run: Run) -> Finding | None:
    """Small chunks where each call moves one chunk: the cost of a call shows."""
    cells, pairs = run.best_cells, []
    for access in cells.accesses:
        for pattern in TYPES[1:]:  # scatter moves 1 MiB a call whatever the chunk
            small, large = (cells.sure_rate(access, pattern, p) for p in (1, 7))
            if small and large:
                pairs.append((large, small))
    factor = factor_of(pairs)
    if factor is None or factor.low < 2:
        return None
    return Finding(
        f"Small chunks: with {fmt.exact_size(cells.chunk(1))} rates are lower than with"
        f" {fmt.exact_size(cells.chunk(7))} by a factor {_interval(factor)}: what limits them is"
        " not the bandwidth, which larger chunks reach.",
        "roofline",
        "warn",
    )


def _alignment_finding(run: Run) -> Finding | None:
    cells, pairs = run.best_cells, []
    for access in cells.accesses:
        for pattern in TYPES:
            for even, odd in PAIRS:
                a, b = (cells.sure_rate(access, pattern, p) for p in (even, odd))
                if a and b:
                    pairs.append((a, b))
    factor = factor_of(pairs)
    if factor is None:
        return None
    if not factor.is_sure:
        return Finding(
            "Alignment: no difference found between powers of two and 8 bytes more: a factor"
            f" {_interval(factor)}.",
            "classic",
        )
    return Finding(
        f"Alignment: rates with powers of two are {_interval(factor)} times those with 8 bytes"
        " more.",
        "classic",
        "warn" if factor.low > 1.5 else "info",
    )


def _type_finding(run: Run) -> Finding | None:
    """The slowest and the fastest pattern type; as such only if their intervals are apart."""
    assert run.best is not None
    found: list[str] = []
    worst = 1.0
    for access in ("write", "read"):
        types = {
            t: f
            for t in TYPES
            if (f := run.type_rate(run.best, access, t)) is not None
            and f.metric.value
            and run.best_cells.is_whole(access, t)
        }
        if len(types) < 2:
            continue
        rates = {t: f.metric.value or 0.0 for t, f in types.items()}
        slowest, fastest = min(rates, key=rates.__getitem__), max(rates, key=rates.__getitem__)
        low, high = rates[slowest], rates[fastest]
        times = f"{fmt.significant(high / low, 3)} times"
        if why := certainty.why_not_apart(types[slowest], types[fastest]):
            found.append(
                f"{access}: from {fmt.rate(low)} ({slowest}) to {fmt.rate(high)} ({fastest}),"
                f" {times}, {why}"
            )
            continue
        worst = min(worst, low / high)
        found.append(
            f"{access}: {slowest} is slowest with {fmt.rate(low)}, {fastest} fastest with"
            f" {fmt.rate(high)} ({times})"
        )
    if not found:
        return None
    level: Level = "warn" if worst < 0.2 else "info"
    return Finding(f"Pattern types: {'; '.join(found)}.", "classic", level)


def _scaling_finding(run: Run) -> Finding | None:
    figures = {
        run.ranks(partition_of(f)): f
        for f in run.result.figures_named("b_eff_io_partition")
        if partition_of(f) in run.partitions and f.metric.value and f.valid is not False
    }
    if len(figures) < 2 or run.best is None:
        return None
    best, most = run.ranks(run.best), max(figures)
    if best == most or best not in figures:
        return None
    share = (figures[most].metric.value or 0) / (figures[best].metric.value or 1)
    why = certainty.why_not_apart(figures[best], figures[most])
    doubt = f", which is not known to be less: {why}" if why else ""
    return Finding(
        f"Scaling: the value that counts is that of {fmt.count_of(best, 'rank')}; with {most} ranks"
        f" it is {fmt.percent(share)} of it{doubt}.",
        "scaling",
        "warn" if share < 0.7 and not why else "info",
    )


def _balance_finding(run: Run) -> Finding | None:
    figure = run.result.figure("balance_time")
    final = run.result.figure("b_eff_io")
    if figure is None or not figure.metric.value or (final and final.valid is False):
        return None
    seconds = figure.metric.value
    place = place_of(evidence_of(run.best_cells.all, run.result.run.simulated))
    text = (
        f"Balance: at this rate the whole memory is written in {fmt.duration(seconds)}; a balanced "
        "system needs at most 10 min."
    )
    if seconds > _BALANCED_SECONDS:
        return Finding(text, "averages", "warn")
    if place is Place.DEVICE:
        return Finding(text, "averages", "good")
    return Finding(f"{text} This rate is not known to be one of storage.", "averages")


def _pointer_finding(run: Run) -> Finding | None:
    pointer = run.result.figure("shared_file_pointer")
    if pointer is None or pointer.detail.get("used") is not False:
        return None
    note = str(pointer.detail.get("note", ""))
    return Finding(f"The shared file pointer was not used: {note}", "classic", "bad")


def _cap_finding(run: Run) -> Finding | None:
    capped = sum(m.stopped_by == "cap" for m in run.best_cells.all)
    if not capped:
        return None
    own = run.result.run.extra.get("b-eff-io", {})
    why = own.get("cap_reason", "") if isinstance(own, dict) else ""
    return Finding(
        f"{fmt.count_of(capped, 'row')} of the best partition ended at the cap on bytes ({why}), "
        "before the scheduled time.",
        "classic",
        "warn",
    )


def _limit_finding(run: Run) -> Finding | None:
    return limit_finding(_time_splits(run))


def _time_figure(run: Run) -> Figure | None:
    splits = _time_splits(run)
    return time_figure(splits) if splits else None


def _call_times(run: Run) -> list[Block]:
    timed = run.best_cells.all
    figure = call_time_figure(timed, lambda m: m.pattern)
    return [figure, call_time_table(timed)] if figure else []


_FINDERS: Sequence[Finder[Run]] = (
    _limit_finding,
    _type_finding,
    _small_chunk_finding,
    _alignment_finding,
    _scaling_finding,
    _balance_finding,
    _pointer_finding,
    _cap_finding,
)
_PARTS: Sequence[Part[Run]] = (
    Part(
        "page",
        "Bandwidth by pattern, chunk size and access",
        (classic_page, lambda run: [summary_table(run, n) for n in run.order()]),
    ),
    Part("averages", "How the figure is computed", (average_table, scaling_figure)),
    Part("where", "Where the time went", (_time_figure,)),
    Part("calls", "Call times", (_call_times,)),
)


class BeffIoReporter:
    def headline(self, result: Result) -> Headline:
        run = Run(result)
        final = result.figure("b_eff_io")
        fs = result.run.file_system
        context = f"on {run.label(run.best)}" if run.best is not None else ""
        if fs is not None and fs.type:
            context += f", {fs.type}"
        headline = generic.headline_of(final, result, context)
        headline = claimed(headline, result, run.best_cells.all, final)
        if final is None:
            return Headline(
                "b_eff_io", None, "B/s", context, False, "NOT VALID: the run is incomplete",
                missing="no partition was measured completely",
            )  # fmt: skip
        return replace(headline, anchor="averages") if run.best is not None else headline

    def findings(self, result: Result) -> Sequence[Finding]:
        run = Run(result)
        return found(_FINDERS, run) if run.best is not None else []

    def sections(self, result: Result) -> Sequence[Section]:
        run = Run(result)
        return sections_of(_PARTS, run) if run.best is not None else []

    def across(self, results: Sequence[Result]) -> Sequence[Block]:
        return systems_blocks(results)


REPORTER = BeffIoReporter()
