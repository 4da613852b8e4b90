# SPDX-License-Identifier: BSD-3-Clause
"""Two sides, measurement by measurement: which is better, by how much, and why one cannot tell.

What is compared are nights. Repetitions of one run share its luck (which blocks, which neighbors),
and so do the runs of one night or allocation (a block, effio.judge.blocks). A verdict needs two
blocks on a side; with fewer, runs may at most be different tonight. Within one block it needs three
runs on a side, unless the user or virtual time says that repetitions will do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from effio import text as fmt
from effio.judge import blocks, statistics
from effio.judge.differences import Difference, differences, other_workload
from effio.judge.samples import Judged, Key, Sample, samples_of
from effio.judge.statistics import Ratio, Summary
from effio.judge.verdicts import Untold, Verdict

_NIGHTS_WITH_BOTH = "nights with both"
_PLACES = frozenset({"cache", "device"})


@dataclass(frozen=True)
class Side:
    name: str
    runs: Sequence[Judged]


@dataclass(frozen=True)
class Terms:
    """How two sides are compared. `across`: axes and options that may differ, because they are what
    is compared. `tolerance`: a change of this part is none."""

    across: frozenset[str] = frozenset()
    tolerance: float = 0.02
    by_repetitions: bool = False


@dataclass(frozen=True)
class Line:
    """One measurement. `gain` is above 1 where the second side is better, whichever way the metric
    goes; it has no interval without `ratio`."""

    key: Key
    unit: str
    better: str
    first: Summary | None
    second: Summary | None
    gain: float | None
    ratio: Ratio | None
    verdict: Verdict
    reason: str = ""
    cause: Untold | None = None
    p: float | None = None  # adjusted for the number of measurements
    basis: str = ""  # what the interval is over, and of how many on each side
    counts: tuple[int, int] = (0, 0)
    note: str = ""
    by_blocks: bool = True  # enough of them for a verdict
    by_order: bool = False  # a drift within nights would look the same

    @property
    def is_loss(self) -> bool:
        return self.verdict is Verdict.SLOWER


@dataclass(frozen=True)
class Overall:
    """Of a benchmark: the geometric mean of the gains; the interval says how they scatter over the
    measurements, not over runs."""

    benchmark: str
    measurements: int
    gain: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Alone:
    """What one side has and the other has not."""

    key: Key
    side: str
    why: str


@dataclass(frozen=True)
class Comparison:
    first: Side
    second: Side
    terms: Terms
    lines: Sequence[Line]
    overall: Sequence[Overall]
    alone: Sequence[Alone]
    differences: Sequence[Difference]
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def losses(self) -> list[Line]:
        return [line for line in self.lines if line.is_loss]


def compare(first: Side, second: Side, terms: Terms | None = None) -> Comparison:
    terms = terms or Terms()
    samples = [samples_of(side.runs, terms.across) for side in (first, second)]
    common = [key for key in samples[0] if key in samples[1]]
    paired = are_interleaved(first.runs, second.runs)
    block_of = [_blocks(first, second, i) for i in (0, 1)]
    found = [_line(samples[0][k], samples[1][k], terms, paired, block_of) for k in common]
    if blocks.one_is_always_first(first.runs, second.runs):
        found = [replace(x, by_order=x.basis == _NIGHTS_WITH_BOTH) for x in found]
    lines = _adjusted(found, terms)
    lines.sort(key=_weight)
    notes = []
    if paired:
        notes.append("The runs of the two sides alternate in time: they are compared in pairs.")
    return Comparison(
        first,
        second,
        terms,
        lines,
        _overall(lines),
        _alone(samples[0], samples[1], first.name) + _alone(samples[1], samples[0], second.name),
        differences(first.runs, second.runs),
        notes,
    )


def _blocks(first: Side, second: Side, side: int) -> dict[str, int]:
    """Of the runs of one side; a night is the same block for both."""
    both = [
        Judged(f"{i} {run.name}", run.path, run.result)
        for i, one in enumerate((first, second))
        for run in one.runs
    ]
    start = f"{side} "
    found = blocks.blocks_of(both)
    return {name[2:]: number for name, number in found.items() if name.startswith(start)}


def are_interleaved(first: Sequence[Judged], second: Sequence[Judged]) -> bool:
    """Whether each run of one side stands beside one of the other in time: A B A B, A B B A."""
    if len(first) != len(second) or len(first) < statistics.FEWEST:
        return False
    if any(len({run.result.benchmark for run in side}) != 1 for side in (first, second)):
        return False
    starts = [[run.result.run.started for run in side] for side in (first, second)]
    if any(not all(some) or len(set(some)) < len(some) or some != sorted(some) for some in starts):
        return False
    blocks = [sorted(pair) for pair in zip(*starts, strict=True)]
    return all(a[1] < b[0] for a, b in pairwise(blocks))


def _untold(a: Sample, b: Sample, terms: Terms) -> tuple[Untold, str] | None:
    """Why there is nothing to compare, if so."""
    if a.units | b.units != {a.unit} or a.better != b.better:
        return Untold.UNIT, ", ".join(sorted(a.units | b.units))
    if "virtual" not in terms.across:
        clocks = {run.result.run.clock.virtual for s in (a, b) for run in s.runs.values()}
        if len(clocks) > 1:
            return Untold.CLOCK, ""
    for sample in (a, b):
        if not sample.values:
            return Untold.INVALID, sample.invalid[0]
    one = next(iter(a.runs.values()))
    for run in [*a.runs.values(), *b.runs.values()]:
        if differing := other_workload(one, run, a.key.axes, terms.across):
            return Untold.WORKLOAD, differing
    if "cache" not in terms.across and _elsewhere(a.places, b.places):
        return Untold.PLACE, f"{'/'.join(sorted(a.places))} against {'/'.join(sorted(b.places))}"
    if min(*a.all(), *b.all()) <= 0:
        return Untold.VALUE, ""
    return None


def _elsewhere(a: set[str], b: set[str]) -> bool:
    """One from a cache and the other from the device; where either is not known nothing is said."""
    known = (a & _PLACES, b & _PLACES)
    return all(known) and a | b <= _PLACES and known[0] != known[1]


def _line(
    a: Sample, b: Sample, terms: Terms, paired: bool, block_of: Sequence[Mapping[str, int]]
) -> Line:
    blank = Line(
        a.key,
        a.unit,
        a.better,
        statistics.summary(a.all()),
        statistics.summary(b.all()),
        None,
        None,
        Verdict.UNTOLD,
    )
    if found := _untold(a, b, terms):
        cause, detail = found
        return replace(blank, cause=cause, reason=": ".join(filter(None, (cause.value, detail))))
    if left_out := len(a.invalid) + len(b.invalid):
        blank = replace(blank, note=f"{left_out} invalid left out")
    means = [s.means() for s in (a, b)]
    # The better side above 1, whichever way the metric goes.
    turned = a.better == "lower"
    gain = math.exp((_log_mean(means[1]) - _log_mean(means[0])) * (-1 if turned else 1))
    virtual = next(iter(a.runs.values())).result.run.clock.virtual
    logs = [{n: _log_mean([sum(v) / len(v)]) for n, v in s.values.items() if v} for s in (a, b)]
    nights = [blocks.means_by_block(*two) for two in zip(logs, block_of, strict=True)]
    if min(map(len, nights)) >= blocks.FEWEST and not virtual:
        return _over_blocks(blank, nights, gain, turned)
    few_runs = max(map(len, means)) < statistics.FEWEST
    if few_runs and not (terms.by_repetitions or virtual):
        reason = (
            f"too few runs: {len(means[0])} and {len(means[1])}; {statistics.FEWEST} are needed"
        )
        repeated = _ratio(a.all(), b.all(), turned)
        return replace(
            blank,
            gain=gain,
            ratio=repeated,
            reason=reason,
            cause=Untold.TOO_FEW,
            basis="repetitions" if repeated else "",
            counts=(len(a.all()), len(b.all())),
        )
    values = [a.all(), b.all()] if few_runs else means
    # Pairs by their place in time: none where a run of one has no valid value.
    whole = len(a.values) == len(a.runs) == len(b.runs) == len(b.values)
    pairs = paired and not few_runs and whole and len(values[0]) == len(values[1])
    basis = "repetitions" if few_runs else "pairs of runs" if pairs else "runs"
    ratio = _ratio(values[0], values[1], turned, pairs)
    counts = (len(values[0]), len(values[1]))
    if ratio is None:
        reason = f"too few {basis}: {len(values[0])} and {len(values[1])}"
        return replace(blank, gain=gain, reason=reason, cause=Untold.TOO_FEW)
    by_blocks = virtual or terms.by_repetitions
    return replace(
        blank, gain=ratio.value, ratio=ratio, p=ratio.p, basis=basis, counts=counts,
        by_blocks=by_blocks,
    )  # fmt: skip


def _over_blocks(
    blank: Line, nights: Sequence[Mapping[int, float]], gain: float, turned: bool
) -> Line:
    """Nights on which both sides ran are pairs: what both had in common is taken out."""
    common = [block for block in nights[0] if block in nights[1]]
    pairs = len(common) >= statistics.FEWEST
    values = [
        [math.exp(one[b]) for b in (common if pairs else one)] for one in (nights[0], nights[1])
    ]
    counts = (len(values[0]), len(values[1]))
    basis = _NIGHTS_WITH_BOTH if pairs else "nights"
    ratio = (
        _ratio(values[0], values[1], turned, pairs)
        if max(counts) >= statistics.FEWEST
        else statistics.pooled(values[1], values[0])
        if turned
        else statistics.pooled(values[0], values[1])
    )
    if ratio is None:
        reason = f"too few {basis}: {counts[0]} and {counts[1]}"
        return replace(blank, gain=gain, reason=reason, cause=Untold.TOO_FEW)
    return replace(blank, gain=ratio.value, ratio=ratio, p=ratio.p, basis=basis, counts=counts)


def _ratio(
    a: Sequence[float], b: Sequence[float], turned: bool, paired: bool = False
) -> Ratio | None:
    return statistics.ratio(b, a, paired) if turned else statistics.ratio(a, b, paired)


def _log_mean(values: Sequence[float]) -> float:
    return sum(map(math.log, values)) / len(values)


def _adjusted(lines: Sequence[Line], terms: Terms) -> list[Line]:
    """Verdicts, in the knowledge of how many there are."""
    judged = [i for i, line in enumerate(lines) if line.p is not None]
    adjusted = dict(zip(judged, statistics.holm([lines[i].p or 0.0 for i in judged]), strict=True))
    return [
        _ruled(line, adjusted[i], terms) if i in adjusted else line for i, line in enumerate(lines)
    ]


def _ruled(line: Line, p: float, terms: Terms) -> Line:
    assert line.ratio is not None
    value = line.ratio.value
    if p >= statistics.SIGNIFICANCE:
        part = 1 - 1 / line.ratio.seen
        reason = f"a loss of {fmt.percent(part)} would show"
        return replace(line, verdict=Verdict.SAME, p=p, reason=reason)
    # A loss of 2 % is a factor of 0.98; a gain that makes up for it is one over that.
    if 1 - terms.tolerance <= value <= 1 / (1 - terms.tolerance):
        reason = f"within the tolerance of {100 * terms.tolerance:.2g} %"
        return replace(line, verdict=Verdict.SAME, p=p, reason=reason)
    if line.by_order:
        reason = f"{Untold.ORDER.value}: a drift would look the same; take turns, A B B A"
        return replace(line, cause=Untold.ORDER, p=p, reason=reason)
    if not line.by_blocks:
        how = "faster" if value > 1 else "slower"
        reason = f"{how} in the runs of one night: repeat on another night"
        return replace(line, verdict=Verdict.TONIGHT, p=p, reason=reason)
    return replace(line, verdict=Verdict.FASTER if value > 1 else Verdict.SLOWER, p=p)


_ORDER = (Verdict.SLOWER, Verdict.FASTER, Verdict.TONIGHT, Verdict.SAME, Verdict.UNTOLD)


def _weight(line: Line) -> tuple[int, float]:
    """What matters first: losses, gains, the rest; the largest change first."""
    change = abs(math.log(line.gain)) if line.gain else 0.0
    return _ORDER.index(line.verdict), -change


# Of these a gain would be a number about nothing.
NO_NUMBERS = frozenset(
    {Untold.INVALID, Untold.WORKLOAD, Untold.CLOCK, Untold.UNIT, Untold.PLACE, Untold.VALUE}
)


def _overall(lines: Iterable[Line]) -> list[Overall]:
    gains: dict[str, list[float]] = {}
    for line in lines:
        if line.gain is not None and line.cause not in NO_NUMBERS:
            gains.setdefault(line.key.benchmark, []).append(line.gain)
    found = []
    for benchmark, some in sorted(gains.items()):
        scatter = statistics.geometric_mean(some)
        found.append(
            Overall(
                benchmark,
                len(some),
                math.exp(_log_mean(some)),
                scatter.low if scatter else None,
                scatter.high if scatter else None,
            )
        )
    return found


def _alone(mine: Mapping[Key, Sample], other: Mapping[Key, Sample], name: str) -> list[Alone]:
    alike: dict[tuple[str, str, str], list[Key]] = {}
    for key in other:
        alike.setdefault((key.benchmark, key.pattern, key.access), []).append(key)
    benchmarks = {key.benchmark for key in other}
    return [
        Alone(key, name, _why_alone(key, alike, benchmarks)) for key in mine if key not in other
    ]


def _why_alone(
    key: Key, alike: Mapping[tuple[str, str, str], Sequence[Key]], benchmarks: set[str]
) -> str:
    """By the nearest measurement of the other side."""
    if key.benchmark not in benchmarks:
        return f"the other side has no {key.benchmark}"
    candidates = alike.get((key.benchmark, key.pattern, key.access), ())
    if not candidates:
        return f"the other side has no {key.what}"
    nearest = min(candidates, key=lambda c: len(_differing(key, c)))
    told = [
        f"{n} {_shown(key.axis(n))} / {_shown(nearest.axis(n))}" for n in _differing(key, nearest)
    ]
    return f"differs from the nearest there in {', '.join(told)}"


def _shown(value: object) -> str:
    return "–" if value is None else str(value)


def _differing(a: Key, b: Key) -> list[str]:
    one, other = dict(a.axes), dict(b.axes)
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]
