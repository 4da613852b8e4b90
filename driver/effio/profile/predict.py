# SPDX-License-Identifier: BSD-3-Clause
"""What the application's I/O would take on the measured system: its amounts at the rates of kept
runs of the campaign. Runs are found by the tags of the steps, which change with what is measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from effio import text as fmt
from effio.judge import statistics
from effio.judge.samples import Judged
from effio.profile.model import Profile
from effio.profile.steps import Imitation, Measures
from effio.store.records import Measurement, as_number


@dataclass(frozen=True)
class Expected:
    """Of one step. Seconds in a run of the application; `low` and `high` are those of the 95 %
    interval of the mean rate. `reason`: why there is no answer."""

    step: str
    what: str  # the operation on names, or the access
    rate: float | None = None
    unit: str = ""
    values: int = 0
    ranks: tuple[int, ...] = ()
    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Prediction:
    """`share` of the run's time, with its interval; None where a step has no rate. `compute`: the
    time of a run that is no I/O."""

    expected: Sequence[Expected]
    seconds: float | None
    compute: float | None
    share: float | None
    low: float | None
    high: float | None
    remarks: Sequence[str]

    @property
    def measured(self) -> int:
        return sum(one.seconds is not None for one in self.expected)


def part_text(part: float) -> str:
    return fmt.percent(part) if part >= 0.01 or part == 0 else "less than 1 %"


def tag_of(run: Judged) -> str:
    part = run.result.record.campaign if run.result.record else None
    tags = part.tags if part else []
    return next((tag for tag in tags if tag.startswith("profile-")), "")


def _belongs(m: Measurement, one: Measures) -> bool:
    if one.phase:
        return m.where.get("phase") == one.phase
    return m.access == one.access and m.rate.unit == one.unit


def _rate(m: Measurement, one: Measures) -> float | None:
    return as_number(m.detail.get(one.member)) if one.member else m.rate.value


def _expected(step: Imitation, one: Measures, runs: Sequence[Judged]) -> Expected:
    what = one.phase or one.access
    found = [m for run in runs for m in run.result.measurements if _belongs(m, one)]
    good = [m for m in found if m.valid and (_rate(m, one) or 0) > 0]
    if not good:
        reason = "no valid measurement" if found else "not measured"
        told = next((m.invalid_reason for m in found if m.invalid_reason), "")
        return Expected(step.name, what, reason=f"{reason}: {told}" if told else reason)
    rates = [_rate(m, one) or 0 for m in good]
    summary = statistics.summary(rates)
    assert summary is not None
    enough = len(rates) >= statistics.FEWEST
    interval = statistics.mean_interval(rates) if enough else None
    return Expected(
        step=step.name,
        what=what,
        rate=summary.mean,
        unit=good[0].rate.unit,
        values=len(rates),
        ranks=tuple(sorted({m.ranks for m in good})),
        seconds=one.amount / summary.mean,
        low=one.amount / interval.high if interval else None,
        # An interval that reaches 0 gives no bound.
        high=one.amount / interval.low if interval and interval.low > 0 else None,
    )


def _is_cached(step: Imitation, runs: Sequence[Judged]) -> bool:
    """Whatever was measured of it; a rate that waits for storage is none of a cache."""
    told = [
        m.cache.verdict
        for run in runs
        if tag_of(run) in step.tags
        for m in run.result.measurements
        for one in step.measures
        if m.valid and m.cache is not None and not one.member and _belongs(m, one)
    ]
    return "cache" in told


def _remarks(profile: Profile, steps: Sequence[Imitation], runs: Sequence[Judged]) -> Iterable[str]:
    ranks = sorted({run.result.run.system.ranks for run in runs})
    others = [n for n in ranks if n != profile.ranks]
    if others:
        some = ", ".join(map(str, others[:4])) + (", …" if len(others) > 4 else "")
        word = "rank" if others == [1] else "ranks"
        yield (
            f"measured with {some} {word}, the application has {profile.ranks}: the total rate is"
            " assumed to be the same"
        )
    owns = {tag: step.bytes_of_a_rank for step in steps for tag in step.tags}
    parts = [
        m.bytes / m.ranks / owns[tag_of(run)]
        for run in runs
        for m in run.result.measurements
        if owns[tag_of(run)] and m.valid and m.bytes and m.ranks
    ]
    if parts and min(parts) < 0.9:
        yield (
            f"measured with {part_text(min(parts))} of the bytes of a process: caches and startup"
            " weigh more than in the application"
        )
    cached = [step.name for step in steps if _is_cached(step, runs)]
    if cached:
        yield f"out of or into memory, not storage: {', '.join(cached)}"
    if profile.io_share is None:
        yield "what share of its time is I/O now is not known: all of it counts as computation"


def predict(profile: Profile, steps: Sequence[Imitation], runs: Sequence[Judged]) -> Prediction:
    """`runs` may be any; those of the steps count."""
    by_tag: dict[str, list[Judged]] = {step.tag: [] for step in steps}
    whole = {tag: step.tag for step in steps for tag in step.tags}
    for run in runs:
        if not run.result.run.clock.virtual and tag_of(run) in whole:
            by_tag[whole[tag_of(run)]].append(run)
    expected = [_expected(s, one, by_tag[s.tag]) for s in steps for one in s.measures]
    ours = [run for some in by_tag.values() for run in some]
    remarks = list(_remarks(profile, steps, ours)) if ours else []
    known = [e.seconds for e in expected if e.seconds is not None]
    if len(known) < len(expected) or not known:
        return Prediction(expected, None, None, None, None, None, remarks)
    compute = profile.seconds * (1 - (profile.io_share or 0))
    total = sum(known)

    def share(seconds: float) -> float:
        return seconds / (compute + seconds)

    lows, highs = [e.low for e in expected], [e.high for e in expected]
    low = share(sum(v for v in lows if v is not None)) if None not in lows else None
    high = share(sum(v for v in highs if v is not None)) if None not in highs else None
    return Prediction(expected, total, compute, share(total), low, high, remarks)
