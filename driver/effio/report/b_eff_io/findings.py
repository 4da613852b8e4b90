# SPDX-License-Identifier: BSD-3-Clause
"""What the data say, in sentences; each names the figure that shows it."""

from __future__ import annotations

from effio import text as fmt
from effio.report import common
from effio.report.b_eff_io.cells import PAIRS, TYPES, Cells, Run, partition_of
from effio.report.model import Finding
from effio.store.reader import Result


def time_splits(run: Run) -> list[common.TimeSplit]:
    """By access and type, with open and close, which belong to types and not to rows."""
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
        f"Alignment: 8 bytes more than a power of two cost a factor {_interval(factor)}.",
        "classic",
        "warn" if factor.low > 1.5 else "info",
    )


def _type_finding(run: Run) -> Finding | None:
    assert run.best is not None
    found = []
    for access in ("write", "read"):
        rates = {
            t: f.metric.value
            for t in TYPES
            if (f := run.type_rate(run.best, access, t)) is not None
            and f.metric.value
            and run.best_cells.is_whole(access, t)
        }
        if len(rates) < 2:
            continue
        slowest = min(rates, key=lambda t: rates[t] or 0)
        fastest = max(rates, key=lambda t: rates[t] or 0)
        low, high = rates[slowest] or 0, rates[fastest] or 0
        found.append(
            (
                low / high,
                f"{access}: {slowest} is slowest with {fmt.rate(low)}, {fastest} fastest with "
                f"{fmt.rate(high)} ({fmt.significant(high / low, 3)} times)",
            )
        )
    if not found:
        return None
    worst = min(f[0] for f in found)
    text = "; ".join(f[1] for f in found)
    return Finding(f"Pattern types: {text}.", "classic", "warn" if worst < 0.2 else "info")


def _scaling_finding(run: Run) -> Finding | None:
    values = {
        run.ranks(partition_of(f)): f.metric.value
        for f in run.result.figures_named("b_eff_io_partition")
        if partition_of(f) in run.partitions and f.metric.value and f.valid is not False
    }
    if len(values) < 2 or run.best is None:
        return None
    best, most = run.ranks(run.best), max(values)
    if best == most or best not in values:
        return None
    share = (values[most] or 0) / (values[best] or 1)
    return Finding(
        f"Scaling: the best value is that of {fmt.count_of(best, 'rank')}; with {most} ranks it is "
        f"{fmt.percent(share)} of it.",
        "scaling",
        "warn" if share < 0.7 else "info",
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
        f"{fmt.count_of(capped, 'row')} of the best partition ended at the cap on bytes ({why}) "
        "before their scheduled time.",
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
