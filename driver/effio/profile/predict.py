# SPDX-License-Identifier: BSD-3-Clause
"""What the application's I/O would take on the measured system: its opens, calls and bytes at the
costs that fit kept runs of the campaign (profile/cost.py). Runs are found by the tags of the steps,
which change with what is measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from effio import text as fmt
from effio.judge import Interval, remarks, repetitions
from effio.judge.samples import Judged
from effio.profile.cost import Cost, Timed, Work, fit
from effio.profile.model import Profile
from effio.profile.steps import Imitation, Measures
from effio.store.records import Measurement
from effio.store.values import as_number

# Sizes that differ by less are the same one.
_ALIKE = 0.1


@dataclass(frozen=True)
class Expected:
    """What is expected of one step. Seconds in a run of the application; `low` and `high` are the
    bounds of their 95 % interval. `reason`: why the times are unknown. `odd`: what makes
    them misleading."""

    step: str
    what: str  # the operation on names, or the access
    # At the largest size that was measured.
    rate: float | None = None
    unit: str = ""
    values: int = 0
    ranks: tuple[int, ...] = ()
    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    cost: Cost | None = None
    odd: str = ""


@dataclass(frozen=True)
class Extrapolation:
    """How what was measured becomes that of the application. `part`: the largest share of the bytes
    of a process that was measured."""

    measured_ranks: tuple[int, ...]
    ranks: int
    part: float | None

    @property
    def text(self) -> str:
        """Empty if nothing is extrapolated."""
        reported = []
        most = max(self.measured_ranks, default=self.ranks)
        if most != self.ranks:
            reported.append(
                f"from {most} to {fmt.count_of(self.ranks, 'rank')}"
                f" (a factor of {fmt.significant(self.ranks / most, 3)})"
            )
        if self.part is not None and self.part < 1 - _ALIKE:
            reported.append(f"to {fmt.significant(1 / self.part, 3)} times the bytes of a process")
        return " and ".join(reported)


@dataclass(frozen=True)
class Prediction:
    """`share` of the run's time, with its interval; None where a step has no rate. `compute`: the
    time of a run that is not I/O."""

    expected: Sequence[Expected]
    seconds: float | None
    compute: float | None
    share: float | None
    low: float | None
    high: float | None
    remarks: Sequence[str]
    extrapolation: Extrapolation | None = None

    @property
    def measured(self) -> int:
        return sum(one.rate is not None for one in self.expected)

    @property
    def answered(self) -> int:
        return sum(one.seconds is not None for one in self.expected)


def part_text(part: float) -> str:
    return fmt.percent(part) if part >= 0.01 or part == 0 else "less than 1 %"


def tag_of(run: Judged) -> str:
    part = run.result.part
    tags = part.tags if part else []
    return next((tag for tag in tags if tag.startswith("profile-")), "")


def _belongs(m: Measurement, one: Measures) -> bool:
    if one.phase:
        return m.where.get("phase") == one.phase
    return m.access == one.access and m.rate.unit == one.unit


def _rate(m: Measurement, one: Measures) -> float | None:
    return as_number(m.detail.get(one.member)) if one.member else m.rate.value


def _timed(m: Measurement, one: Measures) -> Timed:
    """The time from the first open to the last close; where another rate counts, the time that it
    says."""
    amount = m.bytes if one.unit == "B/s" else m.operations
    whole = 0.0 if one.member else m.total_seconds
    work = Work(
        m.ranks if one.opens_each else 1,
        m.operations if one.counts_calls else 0,
        m.bytes if one.unit == "B/s" else 0,
    )
    return Timed(work, whole or amount / (_rate(m, one) or 1))


def _expected(step: Imitation, one: Measures, runs: Sequence[Judged]) -> Expected:
    what = one.phase or one.access
    found = [m for run in runs for m in run.result.measurements if _belongs(m, one)]
    good = [m for m in found if m.valid and (_rate(m, one) or 0) > 0]
    if not good:
        reason = "no valid measurement" if found else "not measured"
        reported = next((m.invalid_reason for m in found if m.invalid_reason), "")
        return Expected(step.name, what, reason=f"{reason}: {reported}" if reported else reason)
    timed = [_timed(m, one) for m in good]
    most = max(t.work.parts for t in timed)
    largest = [_rate(m, one) or 0 for m, t in zip(good, timed, strict=True) if t.work.parts == most]
    known = Expected(
        step=step.name,
        what=what,
        rate=sum(largest) / len(largest),
        unit=good[0].rate.unit,
        values=len(good),
        ranks=tuple(sorted({m.ranks for m in good})),
    )
    return _of_one_size(known, one, timed) or _fitted(known, one, timed)


def _of_one_size(known: Expected, one: Measures, timed: Sequence[Timed]) -> Expected | None:
    """At the size of the application nothing is fitted; None if that is not all that is there."""
    if not all(t.work.is_like(one.work, _ALIKE) for t in timed):
        return None
    reported = repetitions.statement([t.seconds for t in timed])
    assert reported is not None
    return _at(known, one.times, reported.value, reported.interval, odd=reported.text)


def _fitted(known: Expected, one: Measures, timed: Sequence[Timed]) -> Expected:
    cost = fit(timed)
    if cost is None:
        return replace(
            known,
            reason="measured at one size, which is not the application's: run all points of the"
            " step, with a larger --scale if they are equal",
        )
    expected = cost.expected(one.work)
    if expected is None:
        return replace(
            known,
            cost=cost,
            reason="the measured sizes do not separate the costs of opening, of a call and of a"
            " byte: use a larger --scale",
        )
    # What is left of each time, in the order of measurement.
    ratios = [t.seconds / max(cost.seconds(t.work), 1e-12) for t in timed]
    odd = "; ".join(one.text for one in remarks.oddities(ratios))
    return replace(_at(known, one.times, expected.seconds, expected.interval, odd=odd), cost=cost)


def _at(
    known: Expected, times: int, seconds: float, interval: Interval | None, odd: str
) -> Expected:
    return replace(
        known,
        seconds=times * seconds,
        low=times * max(0.0, interval.low) if interval else None,
        high=times * interval.high if interval else None,
        odd=odd,
    )


def _is_cached(step: Imitation, runs: Sequence[Judged]) -> bool:
    """Whatever was measured of it; a rate that waits for storage is none of a cache."""
    reported = [
        m.cache.verdict
        for run in runs
        if tag_of(run) in step.tags
        for m in run.result.measurements
        for one in step.measures
        if m.valid and m.cache is not None and not one.member and _belongs(m, one)
    ]
    return "cache" in reported


def _extrapolation(
    profile: Profile, steps: Sequence[Imitation], runs: Sequence[Judged]
) -> Extrapolation:
    owns = {tag: step.bytes_of_a_rank for step in steps for tag in step.tags}
    parts: dict[str, float] = {}
    for run in runs:
        tag = tag_of(run)
        for m in run.result.measurements:
            if owns[tag] and m.valid and m.bytes and m.ranks:
                parts[tag] = max(parts.get(tag, 0.0), m.bytes / m.ranks / owns[tag])
    ranks = tuple(sorted({run.result.run.system.ranks for run in runs}))
    return Extrapolation(ranks, profile.ranks, min(parts.values(), default=None))


def _remarks(
    profile: Profile,
    steps: Sequence[Imitation],
    runs: Sequence[Judged],
    expected: Sequence[Expected],
) -> Iterable[str]:
    far = _extrapolation(profile, steps, runs)
    others = [n for n in far.measured_ranks if n != profile.ranks]
    if others:
        some = ", ".join(map(str, others[:4])) + (", …" if len(others) > 4 else "")
        word = "rank" if others == [1] else "ranks"
        yield (
            f"measured with {some} {word}, the application has {profile.ranks}: all ranks together"
            " are assumed to open, call and move as much in a second as the measured ones"
        )
    if far.part is not None and far.part < 1 - _ALIKE:
        yield (
            f"measured with {part_text(far.part)} of the bytes of a process at most: caches can"
            " hold a larger share of them than of the application's"
        )
    cached = [step.name for step in steps if _is_cached(step, runs)]
    if cached:
        yield f"out of or into memory, not storage: {', '.join(cached)}"
    for one in expected:
        if one.odd:
            yield f"{one.step}, {one.what}: not reliable: {one.odd}"
    if profile.io_share is None:
        yield "what share of its time is I/O now is not known: all of it counts as computation"


def predict(profile: Profile, steps: Sequence[Imitation], runs: Sequence[Judged]) -> Prediction:
    """`runs` may be any; those of the steps count."""
    by_tag: dict[str, list[Judged]] = {step.tag: [] for step in steps}
    whole = {tag: step.tag for step in steps for tag in step.tags}
    for run in runs:
        if not run.result.run.simulated and tag_of(run) in whole:
            by_tag[whole[tag_of(run)]].append(run)
    expected = [_expected(s, one, by_tag[s.tag]) for s in steps for one in s.measures]
    ours = [run for some in by_tag.values() for run in some]
    far = _extrapolation(profile, steps, ours) if ours else None
    remarks = list(_remarks(profile, steps, ours, expected)) if ours else []
    known = [e.seconds for e in expected if e.seconds is not None]
    if len(known) < len(expected) or not known:
        return Prediction(expected, None, None, None, None, None, remarks, far)
    compute = profile.seconds * (1 - (profile.io_share or 0))
    total = sum(known)

    def share(seconds: float) -> float:
        return seconds / (compute + seconds)

    lows, highs = [e.low for e in expected], [e.high for e in expected]
    low = share(sum(v for v in lows if v is not None)) if None not in lows else None
    high = share(sum(v for v in highs if v is not None)) if None not in highs else None
    return Prediction(expected, total, compute, share(total), low, high, remarks, far)
