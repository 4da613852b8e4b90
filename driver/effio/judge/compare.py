# SPDX-License-Identifier: BSD-3-Clause
"""Two sides, measurement by measurement: which is better, by how much, and why there is no verdict.

What is compared are nights. Repetitions of one run share its conditions (blocks, neighbors), and so
do the runs of one night or allocation (a block, effio.judge.blocks). A verdict needs two
blocks on a side; with fewer, runs may at most be different tonight. Within one block it needs three
runs on a side, unless the user or virtual time says that repetitions will do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from effio import text as fmt
from effio.judge import FEWEST, blocks, order, repetitions, statistics
from effio.judge.alone import Alone, alone_in
from effio.judge.differences import Difference, differences, other_workload
from effio.judge.samples import Key, Sample, Side, samples_of
from effio.judge.statistics import Ratio, Summary
from effio.judge.verdicts import NoVerdict, Verdict

_NIGHTS_WITH_BOTH = "nights with both"
_PAIRS = "pairs of runs"
_OF_BASELINE = "nights of the baseline"
# Control limits: two-sided for all measurements together, so that one night in 100 is called worse
# by chance.
CONTROL = 0.02
# If a drift explains this share of a difference, the difference is not reported.
_EXPLAINED = 0.25
_PLACES = frozenset({"cache", "device"})


@dataclass(frozen=True)
class Terms:
    """How two sides are compared. `across`: axes and options that may differ, because they are what
    is compared. `tolerance`: a smaller change does not count. `control`: one new night is judged by
    the control limits of the first side's nights."""

    across: frozenset[str] = frozenset()
    tolerance: float = 0.02
    by_repetitions: bool = False
    control: bool = False

    @property
    def axes_across(self) -> frozenset[str]:
        """Options have the name on the command line; their axis may also end in its unit:
        transfer_bytes."""
        names = {name.replace("-", "_") for name in self.across} | self.across
        if "ranks" in names:
            names = names | {"workers"}  # ranks times threads; other --threads are listed
        return frozenset(names | {f"{name}_bytes" for name in names})


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
    cause: NoVerdict | None = None
    p: float | None = None  # adjusted for the number of measurements
    basis: str = ""  # what the interval is over, and of how many on each side
    counts: tuple[int, int] = (0, 0)
    note: str = ""
    spreads: tuple[str, str] = ("", "")  # of all values of each side: range or interval
    # Geometric means of what was compared; `gain` is their ratio.
    centers: tuple[float | None, float | None] = (None, None)
    by_blocks: bool = True  # enough of them for a verdict
    by_order: str = ""  # why a drift within nights could cause the difference

    @property
    def is_loss(self) -> bool:
        return self.verdict in (Verdict.SLOWER, Verdict.ALARM)

    @property
    def shown(self) -> Ratio | None:
        """The ratio with its interval for texts; None below five values a side, where only verdicts
        use it (judge/repetitions.py). Of a new night the deviation is that of the baseline."""
        counted = max(self.counts) if self.by_control else min(self.counts)
        return self.ratio if counted >= FEWEST else None

    @property
    def by_control(self) -> bool:
        return self.basis == _OF_BASELINE

    @property
    def level(self) -> float:
        return CONTROL if self.by_control else statistics.SIGNIFICANCE


@dataclass(frozen=True)
class Overall:
    """The result for a benchmark: the geometric mean of the gains; the interval says how they
    scatter over the measurements, not over runs."""

    benchmark: str
    measurements: int
    gain: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Power:
    """The probability that a loss of this size in one of the judged measurements would have been
    found, averaged over them."""

    loss: float
    measurements: int
    found: float

    @property
    def text(self) -> str:
        cells = (
            "the one measurement"
            if self.measurements == 1
            else f"one of {self.measurements} measurements"
        )
        return (
            f"A loss of {100 * self.loss:.0f} % in {cells} would have been found in"
            f" {round(100 * self.found)} of 100 cases."
        )


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
    power: Power | None = None
    same_runs: str = ""  # the note that runs are on both sides, if so

    @property
    def losses(self) -> list[Line]:
        return [line for line in self.lines if line.is_loss]


def compare(first: Side, second: Side, terms: Terms | None = None) -> Comparison:
    terms = terms or Terms()
    samples = [samples_of(side.runs, terms.axes_across) for side in (first, second)]
    common = [key for key in samples[0] if key in samples[1]]
    pairs = order.interleaved_pairs(first.runs, second.runs)
    sides = (first.runs, second.runs)
    numbers = blocks.blocks_of(*sides)
    block_of = [
        {run.name: n for run, n in zip(runs, some, strict=True)}
        for runs, some in zip(sides, numbers, strict=True)
    ]
    places = order.places(sides, numbers)
    found = [
        _in_order(_line(samples[0][k], samples[1][k], terms, pairs, block_of),
                  (samples[0][k], samples[1][k]), places)
        for k in common
    ]  # fmt: skip
    lines = _adjusted(found, terms)
    lines.sort(key=_weight)
    same_runs = _on_both_sides(first, second)
    notes = [same_runs] if same_runs else []
    if pairs:
        notes.append("The runs of the two sides alternate in time: they are compared in pairs.")
    return Comparison(
        first,
        second,
        terms,
        lines,
        _overall(lines),
        alone_in(samples[0], samples[1], first.name)
        + alone_in(samples[1], samples[0], second.name),
        differences(first.runs, second.runs),
        notes,
        _power(lines),
        same_runs,
    )


def _on_both_sides(first: Side, second: Side) -> str:
    """Says that a run is compared with itself, if so; a copy of it is the same run."""
    own = {one for run in first.runs for one in run.identity.known}
    shared = [run for run in second.runs if own.intersection(run.identity.same)]
    if not shared:
        return ""
    if len(shared) == len(first.runs) == len(second.runs):
        return "Both sides are the same: a run does not differ from itself. Name other runs."
    same = "is" if len(shared) == 1 else "are"
    return (
        f"{fmt.count_of(len(shared), 'run')} of {second.name} {same} also in {first.name}, which"
        " makes the sides more alike than they are."
    )


def _logs(sample: Sample) -> dict[str, float]:
    """The logarithm of the mean of each run; empty if a value is not positive."""
    means = {n: sum(v) / len(v) for n, v in sample.values.items() if v}
    return {n: math.log(m) for n, m in means.items()} if min(means.values(), default=0) > 0 else {}


def _in_order(line: Line, samples: Sequence[Sample], places: Sequence[order.Place]) -> Line:
    """Marks a difference that the order of the runs, or a drift, could have caused."""
    if line.ratio is None or not places:
        return line
    if order.one_is_always_first(places):
        return replace(line, by_order=f"{NoVerdict.ORDER.value}: a drift would look the same")
    found = order.slope([_logs(sample) for sample in samples], places)
    if found is None or not found.is_sure:
        return line
    later = order.leads(places)
    explained = abs(found.change * sum(later) / len(later))
    if explained <= _EXPLAINED * abs(math.log(line.ratio.value)):
        return line
    each = fmt.percent(abs(math.expm1(found.change)))
    why = f"rates drift by {each} per run, and the order is not balanced"
    return replace(line, by_order=why)


def _power(lines: Sequence[Line], loss: float = 0.10) -> Power | None:
    judged = [x for x in lines if x.p is not None and x.ratio is not None]
    if not judged:
        return None
    each = [x.ratio.power(1 - loss, x.level / len(judged)) for x in judged if x.ratio is not None]
    return Power(loss, len(judged), sum(each) / len(each))


def _unreported(a: Sample, b: Sample, terms: Terms) -> tuple[NoVerdict, str] | None:
    """Why there is nothing to compare, if so."""
    if a.units | b.units != {a.unit} or a.better != b.better:
        return NoVerdict.UNIT, ", ".join(sorted(a.units | b.units))
    if "virtual" not in terms.across:
        all_runs = [run.result.run for s in (a, b) for run in s.runs.values()]
        clocks = {(run.clock.virtual, run.simulated) for run in all_runs}
        if len(clocks) > 1:
            return NoVerdict.CLOCK, ""
    for sample in (a, b):
        if not sample.values:
            return NoVerdict.INVALID, sample.invalid[0]
    one = next(iter(a.runs.values()))
    for run in [*a.runs.values(), *b.runs.values()]:
        if differing := other_workload(one, run, a.key.axes, terms.across):
            return NoVerdict.WORKLOAD, differing
    if "cache" not in terms.across and _elsewhere(a.places, b.places):
        return NoVerdict.PLACE, f"{'/'.join(sorted(a.places))} against {'/'.join(sorted(b.places))}"
    if min(*a.all(), *b.all()) <= 0:
        return NoVerdict.VALUE, ""
    return None


def _elsewhere(a: set[str], b: set[str]) -> bool:
    """One from a cache and the other from the device; where either is not known nothing is said."""
    known = (a & _PLACES, b & _PLACES)
    return all(known) and a | b <= _PLACES and known[0] != known[1]


def _line(
    a: Sample,
    b: Sample,
    terms: Terms,
    paired: Sequence[tuple[str, str]],
    block_of: Sequence[Mapping[str, int]],
) -> Line:
    blank = Line(
        a.key,
        a.unit,
        a.better,
        statistics.summary(a.all()),
        statistics.summary(b.all()),
        None,
        None,
        Verdict.UNDECIDED,
    )
    if found := _unreported(a, b, terms):
        cause, detail = found
        return replace(blank, cause=cause, reason=": ".join(filter(None, (cause.value, detail))))
    blank = _with_statements(blank, a, b)
    means = [s.means() for s in (a, b)]
    # The better side above 1, whichever way the metric goes.
    turned = a.better == "lower"
    gain = math.exp((_log_mean(means[1]) - _log_mean(means[0])) * (-1 if turned else 1))
    blank = replace(blank, centers=_centers(means))
    virtual = next(iter(a.runs.values())).result.run.clock.virtual
    logs = [_logs(s) for s in (a, b)]
    nights = [blocks.means_by_block(*two) for two in zip(logs, block_of, strict=True)]
    if min(map(len, nights)) >= blocks.FEWEST and not virtual:
        return _over_blocks(blank, nights, gain, turned)
    of_baseline = len(nights[0]) >= blocks.FEWEST_OF_BASELINE and len(nights[1]) == 1
    if terms.control and of_baseline and not virtual:
        return _by_control(blank, nights, gain, turned)
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
            cause=NoVerdict.TOO_FEW,
            basis="repetitions" if repeated else "",
            counts=(len(a.all()), len(b.all())),
        )
    values = [a.all(), b.all()] if few_runs else means
    # Pairs are matched by run: if one has no valid value, its partner is dropped, too.
    whole = [(x, y) for x, y in paired if x in logs[0] and y in logs[1]]
    pairs = not few_runs and len(whole) >= statistics.FEWEST
    if pairs:
        names = ([x for x, _ in whole], [y for _, y in whole])
        values = [[math.exp(own[n]) for n in some] for own, some in zip(logs, names, strict=True)]
    basis = "repetitions" if few_runs else _PAIRS if pairs else "runs"
    ratio = _ratio(values[0], values[1], turned, pairs)
    counts = (len(values[0]), len(values[1]))
    if ratio is None:
        reason = f"too few {basis}: {len(values[0])} and {len(values[1])}"
        return replace(blank, gain=gain, reason=reason, cause=NoVerdict.TOO_FEW)
    by_blocks = virtual or terms.by_repetitions
    return replace(
        blank, gain=ratio.value, ratio=ratio, p=ratio.p, basis=basis, counts=counts,
        centers=_centers(values), by_blocks=by_blocks,
    )  # fmt: skip


def _with_statements(line: Line, a: Sample, b: Sample) -> Line:
    """The line with the range or interval of each side's values, and what makes their means
    misleading."""
    left_out = len(a.invalid) + len(b.invalid)
    notes = [f"{left_out} invalid left out"] if left_out else []
    spreads = []
    for name, sample in (("first", a), ("second", b)):
        reported = repetitions.statement(sample.all())
        spreads.append(reported.spread(line.unit) if reported else "")
        if reported is not None and reported.verdict:
            notes.append(f"the mean of the {name} is {reported.verdict}")
    return replace(line, note="; ".join(notes), spreads=(spreads[0], spreads[1]))


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
        return replace(blank, gain=gain, reason=reason, cause=NoVerdict.TOO_FEW)
    return replace(
        blank, gain=ratio.value, ratio=ratio, p=ratio.p, basis=basis, counts=counts,
        centers=_centers(values),
    )  # fmt: skip


def _by_control(
    blank: Line, nights: Sequence[Mapping[int, float]], gain: float, turned: bool
) -> Line:
    """One new night against the nights of a baseline: the deviation is that of the baseline."""
    values = [[math.exp(v) for v in one.values()] for one in nights]
    ratio = _ratio(values[0], values[1], turned)
    counts = (len(values[0]), len(values[1]))
    if ratio is None:
        return replace(blank, gain=gain, reason="no control limits", cause=NoVerdict.TOO_FEW)
    return replace(
        blank, gain=ratio.value, ratio=ratio, p=ratio.p, basis=_OF_BASELINE, counts=counts,
        centers=_centers(values),
    )  # fmt: skip


def _ratio(
    a: Sequence[float], b: Sequence[float], turned: bool, paired: bool = False
) -> Ratio | None:
    return statistics.ratio(b, a, paired) if turned else statistics.ratio(a, b, paired)


def _centers(values: Sequence[Sequence[float]]) -> tuple[float, float]:
    first, second = (math.exp(_log_mean(some)) for some in values)
    return first, second


def _log_mean(values: Sequence[float]) -> float:
    return sum(map(math.log, values)) / len(values)


def _adjusted(lines: Sequence[Line], terms: Terms) -> list[Line]:
    """Verdicts, in the knowledge of how many there are."""
    judged = [i for i, line in enumerate(lines) if line.p is not None]
    adjusted = dict(zip(judged, statistics.holm([lines[i].p or 0.0 for i in judged]), strict=True))
    return [
        _ruled(line, adjusted[i], len(judged), terms) if i in adjusted else line
        for i, line in enumerate(lines)
    ]


def _ruled(line: Line, p: float, judged: int, terms: Terms) -> Line:
    assert line.ratio is not None
    value = line.ratio.value
    if p >= line.level:
        part = 1 - 1 / line.ratio.seen_at(line.level / judged)
        reason = f"a loss of {fmt.percent(part)} would show"
        return replace(line, verdict=Verdict.SAME, p=p, reason=reason)
    # A loss of 2 % is a factor of 0.98; a gain that makes up for it is one over that.
    if 1 - terms.tolerance <= value <= 1 / (1 - terms.tolerance):
        reason = f"within the tolerance of {fmt.few_digits(100 * terms.tolerance, 2)} %"
        return replace(line, verdict=Verdict.SAME, p=p, reason=reason)
    how = "faster" if value > 1 else "slower"
    turns = f"{line.by_order}; alternate them, A B B A" if line.by_order else ""
    if turns and line.basis == _NIGHTS_WITH_BOTH:
        return replace(line, cause=NoVerdict.ORDER, p=p, reason=turns)
    if line.by_control and value < 1:
        return replace(line, verdict=Verdict.ALARM, p=p, reason="repeat on another night")
    if not line.by_blocks or line.by_control:
        reason = f"{how} in the runs of one night: repeat on another night"
        reason = "; ".join(filter(None, (reason, turns)))
        return replace(line, verdict=Verdict.TONIGHT, p=p, reason=reason)
    return replace(line, verdict=Verdict.FASTER if value > 1 else Verdict.SLOWER, p=p)


_ORDER = (
    Verdict.SLOWER,
    Verdict.ALARM,
    Verdict.FASTER,
    Verdict.TONIGHT,
    Verdict.SAME,
    Verdict.UNDECIDED,
)


def _weight(line: Line) -> tuple[int, float]:
    """What matters first: losses, gains, the rest; the largest change first."""
    change = abs(math.log(line.gain)) if line.gain else 0.0
    return _ORDER.index(line.verdict), -change


# Of these a gain would be a number about nothing.
NO_NUMBERS = frozenset(
    {
        NoVerdict.INVALID,
        NoVerdict.WORKLOAD,
        NoVerdict.CLOCK,
        NoVerdict.UNIT,
        NoVerdict.PLACE,
        NoVerdict.VALUE,
    }
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
