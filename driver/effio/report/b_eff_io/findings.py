# SPDX-License-Identifier: BSD-3-Clause
"""What the data say, in sentences; each names the figure that shows it."""

from __future__ import annotations

from effio import text as fmt
from effio.report import common
from effio.report.b_eff_io.cells import PAIRS, TYPES, Cells, Run, partition_of
from effio.report.common import certainty
from effio.report.model import Finding, Level
from effio.store.reader import Result


def time_splits(run: Run) -> list[common.TimeSplit]:
    """The times by access and type, with open and close, which belong to types and not to rows."""
    assert run.best is not None
    cells = run.best_cells.all
    splits = common.time_splits(cells, lambda m: f"{m.access} {m.pattern}")
    for split in splits:
        access, _, pattern = split.name.partition(" ")
        figure = run.type_rate(run.best, access, pattern)
        for part in ("open", "close"):
            seconds = figure.detail.get(f"{part}_seconds") if figure else None
            if isinstance(seconds, (int, float)) and 0 <= seconds < 1e12:
                split.parts[part] += float(seconds)
    return splits


def _interval(factor: common.Factor) -> str:
    low, mean, high = (fmt.significant(v, 3) for v in (factor.low, factor.mean, factor.high))
    pairs = fmt.count_of(factor.pairs, "pair")
    return f"{mean} ({low} to {high} with 95 % confidence, {pairs} of rows)"


def _small_chunk_finding(cells: Cells) -> Finding | None:
    """Small chunks where each call moves one chunk: the cost of a call shows."""
    pairs = []
    for access in cells.accesses:
        for pattern in TYPES[1:]:  # scatter moves 1 MiB a call whatever the chunk
            small, large = (cells.sure_rate(access, pattern, p) for p in (1, 7))
            if small and large:
                pairs.append((large, small))
    factor = common.factor_of(pairs)
    if factor is None or factor.low < 2:
        return None
    return Finding(
        f"Small chunks: with {fmt.exact_size(cells.chunk(1))} rates are lower than with"
        f" {fmt.exact_size(cells.chunk(7))} by a factor {_interval(factor)}: latency limits, not"
        " bandwidth.",
        "roofline",
        "warn",
    )


def _alignment_finding(cells: Cells) -> Finding | None:
    pairs = []
    for access in cells.accesses:
        for pattern in TYPES:
            for even, odd in PAIRS:
                a, b = (cells.sure_rate(access, pattern, p) for p in (even, odd))
                if a and b:
                    pairs.append((a, b))
    factor = common.factor_of(pairs)
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


def _balance_finding(result: Result) -> Finding | None:
    figure = result.figure("balance_time")
    final = result.figure("b_eff_io")
    if figure is None or not figure.metric.value or (final and final.valid is False):
        return None
    seconds = figure.metric.value
    return Finding(
        f"Balance: at this rate the whole memory is written in {fmt.duration(seconds)}; a balanced "
        "system needs at most 10 min.",
        "averages",
        "good" if seconds <= 600 else "warn",
    )


def _pointer_finding(result: Result) -> Finding | None:
    pointer = result.figure("shared_file_pointer")
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


def findings_of(run: Run) -> list[Finding]:
    """The most important first."""
    found = [
        common.limit_finding(time_splits(run)),
        _type_finding(run),
        _small_chunk_finding(run.best_cells),
        _alignment_finding(run.best_cells),
        _scaling_finding(run),
        _balance_finding(run.result),
        _pointer_finding(run.result),
        _cap_finding(run),
    ]
    return [f for f in found if f is not None]
