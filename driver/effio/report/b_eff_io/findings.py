# SPDX-License-Identifier: BSD-3-Clause
"""What the data say, in sentences; each names the figure that shows it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from effio import text as fmt
from effio.report import common
from effio.report.b_eff_io.cells import PAIRS, TYPES, Cells, Run, partition_of
from effio.report.model import Finding
from effio.store.reader import Result


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(math.log(v) for v in values) / len(values))


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


def _small_chunk_finding(cells: Cells) -> Finding | None:
    """Small chunks where each call moves one chunk: the cost of a call shows."""
    worst: tuple[float, str, str, float, float] | None = None
    for access in cells.accesses:
        for pattern in TYPES[1:]:  # scatter moves 1 MiB a call whatever the chunk
            small, large = cells.rate(access, pattern, 1), cells.rate(access, pattern, 7)
            if small and large and (worst is None or small / large < worst[0]):
                worst = (small / large, access, pattern, small, large)
    if worst is None or worst[0] > 0.5:
        return None
    ratio, access, pattern, small, large = worst
    per_call = cells.chunk(1) / small
    m = cells.at(access, pattern, 1)
    ranks = m.ranks if m else 1
    return Finding(
        f"Small chunks: {pattern} {access} reaches {fmt.rate(small)} with "
        f"{fmt.exact_size(cells.chunk(1))}, {fmt.significant(100 * ratio, 2)} % of the "
        f"{fmt.rate(large)} with {fmt.exact_size(cells.chunk(7))}. A call costs about "
        f"{fmt.duration(per_call * ranks)} whatever it moves: latency limits, not bandwidth.",
        "roofline",
        "warn",
    )


def _alignment_finding(cells: Cells) -> Finding | None:
    ratios = []
    for access in cells.accesses:
        for pattern in TYPES:
            for even, odd in PAIRS:
                a, b = cells.rate(access, pattern, even), cells.rate(access, pattern, odd)
                if a and b:
                    ratios.append((a / b, access, pattern, cells.chunk(even)))
    if len(ratios) < 5:
        return None
    mean = _geometric_mean([r[0] for r in ratios])
    ratio, access, pattern, chunk = max(ratios)
    if mean < 1.15 and ratio < 3:
        cost = f"a factor {fmt.significant(mean, 3)} on average" if mean > 1 else "none on average"
        return Finding(
            f"Alignment: 8 bytes more than a power of two cost little here ({cost}).",
            "classic",
            "good",
        )
    return Finding(
        f"Alignment: 8 bytes more than a power of two cost a factor {fmt.significant(mean, 3)} on "
        f"average, and {fmt.significant(ratio, 3)} in {pattern} {access} of "
        f"{fmt.exact_size(chunk)}.",
        "classic",
        "warn" if mean > 1.5 or ratio > 5 else "info",
    )


def _type_finding(run: Run) -> Finding | None:
    assert run.best is not None
    found = []
    for access in ("write", "read"):
        rates = {
            t: f.metric.value
            for t in TYPES
            if (f := run.type_rate(run.best, access, t)) is not None and f.metric.value
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
        if partition_of(f) in run.partitions and f.metric.value
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
    if figure is None or not figure.metric.value:
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
    own = run.result.run.extra.get("b_eff_io", {})
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
