# SPDX-License-Identifier: BSD-3-Clause
"""How sure a ruling is: guard bands, as in metrology (JCGM 106:2012, "The role of measurement
uncertainty in conformity assessment").

A ruling is wrong if the true value is on the other side of the limit. Its probability follows from
the distance between value and limit, in standard errors, by Student's t. Where it exceeds the risk
that a rule allows, there is no ruling: the value is too close to the limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from effio.judge import detection
from effio.judge.remarks import oddities
from effio.judge.statistics import quantile_t

# Arithmetic on equal values leaves this much.
_ROUNDING = 1e-12
# More repetitions than this are not realistic: they are not counted.
_MOST = 10_000


@dataclass(frozen=True)
class Guard:
    """`met` compares the value alone with the limit. `wrong` is the probability that this is the
    wrong side, None where one value has no spread. `needed` is the number of repetitions, in all,
    that would decide if value and spread stayed as they are. `odd` names what makes the mean
    misleading; then all values have to be on one side of the limit."""

    met: bool
    wrong: float | None
    needed: int | None = None
    odd: str = ""

    def decides(self, risk: float) -> bool:
        # A risk of one half and more asks for the value alone.
        return risk >= 0.5 or (self.wrong is not None and self.wrong <= risk)


def wrong_side(distance: float, error: float, freedom: float) -> float:
    """Probability that the true value is on the other side of a limit at this distance."""
    if error <= _ROUNDING * abs(distance) or error == 0:
        return 0.0
    from scipy.special import stdtr  # not at every start

    return float(stdtr(freedom, -abs(distance) / error))


def needed(distance: float, deviation: float, count: int, risk: float) -> int | None:
    """Repetitions that decide: the smallest n with t(1 - risk, n - 1) deviation / √n <= distance.
    None: more than 10,000."""
    if risk >= 0.5 or deviation <= 0:
        return count

    def enough(n: int) -> bool:
        half = quantile_t(1 - risk, n - 1.0) * deviation / math.sqrt(n)
        return half <= abs(distance)

    low, high = max(count, 2), _MOST
    if not enough(high):
        return None
    while low < high:  # the half width falls with n
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low


def of_mean(runs: Sequence[Sequence[float]], limit: float, met: bool, risk: float) -> Guard:
    """The guard of the mean of all values against a limit; `runs` holds the values by run.
    Repetitions of one run share its conditions: from three runs on the error is the larger of that
    over runs and that over all values. If the mean is misleading (effio.judge.repetitions), the
    values decide only if all of them are on one side of the limit, with the probability of the
    sign test."""
    values = [np.asarray(run, dtype=float) for run in runs if len(run)]
    flat = np.concatenate(values)
    distance = float(flat.mean()) - limit
    if len(flat) < 2:
        return Guard(met, None)
    odd = "; ".join(remark.text for remark in oddities(flat.tolist()))
    if odd:
        one_sided = float(flat.min()) > limit or float(flat.max()) < limit
        return Guard(met, 0.5 ** len(flat) if one_sided else 0.5, odd=odd)
    deviation = float(flat.std(ddof=1))
    independent = float(detection.worth(flat))
    error, freedom = deviation / math.sqrt(independent), max(1.0, independent - 1)
    wrong = wrong_side(distance, error, freedom)
    if len(values) >= 3:
        means = np.array([run.mean() for run in values])
        over_runs = float(means.std(ddof=1)) / math.sqrt(len(means))
        if over_runs > _ROUNDING * abs(limit):
            wrong = max(wrong, wrong_side(distance, over_runs, len(means) - 1.0))
            deviation = max(deviation, over_runs * math.sqrt(len(flat)))
    if deviation <= _ROUNDING * max(abs(limit), abs(float(flat.mean()))):
        wrong = 0.0
    if wrong <= risk:
        return Guard(met, wrong)
    return Guard(met, wrong, needed(distance, deviation, len(flat), risk))


@dataclass(frozen=True)
class StepGuard:
    """The guard of a step of an axis: its share of what the reference promises, with the bounds
    that the risk leaves, each one-sided."""

    share: float
    low: float
    high: float
    guard: Guard


@dataclass(frozen=True)
class Steps:
    """`line` is the exponent of the fitted power law with its 95 % interval; None where the
    steps do not lie on one."""

    steps: Sequence[StepGuard]
    line: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class _Pool:
    """Logarithms of the values of all steps: their means, and one deviation within steps."""

    means: np.ndarray
    counts: np.ndarray
    deviation: float
    freedom: int


def _pool(samples: Sequence[Sequence[float]]) -> _Pool:
    logs = [np.log(np.asarray(some, dtype=float)) for some in samples]
    freedom = sum(len(some) - 1 for some in logs)
    squares = sum(float(((some - some.mean()) ** 2).sum()) for some in logs)
    return _Pool(
        np.array([some.mean() for some in logs]),
        np.array([len(some) for some in logs], dtype=float),
        math.sqrt(squares / freedom) if freedom else 0.0,
        freedom,
    )


def _step(share: float, error: float, freedom: float, least: float, risk: float) -> StepGuard:
    distance = share - math.log(least)
    met = distance >= -_ROUNDING * 10
    if freedom < 1:
        return StepGuard(math.exp(share), 0.0, math.inf, Guard(met, None))
    if error <= _ROUNDING * 10:
        return StepGuard(math.exp(share), math.exp(share), math.exp(share), Guard(met, 0.0))
    half = quantile_t(1 - min(risk, 0.5), freedom) * error
    guard = Guard(met, wrong_side(distance, error, freedom))
    high = math.exp(min(700.0, share + half))
    return StepGuard(math.exp(share), math.exp(share - half), high, guard)


def _factor(guards: Sequence[StepGuard], least: float, risk: float) -> float | None:
    """How many times the repetitions would decide all steps: errors shrink with their root."""
    most = 1.0
    for one in guards:
        if one.guard.decides(risk):
            continue
        distance = abs(math.log(one.share) - math.log(least))
        if distance <= 0 or one.low <= 0:
            return None
        most = max(most, (math.log(one.high / one.low) / 2 / distance) ** 2)
    return most


def _with_needed(steps: Steps, counts: np.ndarray, least: float, risk: float) -> Steps:
    factor = _factor(steps.steps, least, risk)
    if factor is None or factor * float(counts.max()) > _MOST:
        return steps
    each = math.ceil(factor * float(counts.max()))
    reported = [
        StepGuard(s.share, s.low, s.high, Guard(s.guard.met, s.guard.wrong, each))
        for s in steps.steps
    ]
    return Steps(reported, steps.line)


def linearity(
    at: Sequence[float], samples: Sequence[Sequence[float]], least: float, risk: float
) -> Steps:
    """Efficiency of each step against the first: rate over axis, over that of the first step. From
    a power law through all values (regression of logarithms) where the means of the steps lie on
    one (lack-of-fit F test, 5 %); else from the means of the two steps."""
    pool = _pool(samples)
    x = np.log(np.asarray(at, dtype=float))
    y = pool.means - x
    fit = _line(x, y, pool)
    found = []
    for k in range(1, len(x)):
        if fit is None:
            share = float(y[k] - y[0])
            error = pool.deviation * math.sqrt(1 / pool.counts[k] + 1 / pool.counts[0])
            freedom = float(pool.freedom)
        else:
            slope, slope_error, freedom = fit
            share, error = slope * float(x[k] - x[0]), slope_error * float(x[k] - x[0])
        found.append(_step(share, error, freedom, least, risk))
    line = None
    if fit is not None:
        half = quantile_t(0.975, fit[2]) * fit[1]
        line = (1 + fit[0], 1 + fit[0] - half, 1 + fit[0] + half)
    return _with_needed(Steps(found, line), pool.counts, least, risk)


def _line(x: np.ndarray, y: np.ndarray, pool: _Pool) -> tuple[float, float, float] | None:
    """Slope of y over x, its error and freedoms; None with two steps, without repetitions, or where
    a line does not fit."""
    if len(x) < 3 or pool.freedom < 1 or pool.deviation <= _ROUNDING:
        return None
    weights = pool.counts
    middle = float(weights @ x) / float(weights.sum())
    spread = float(weights @ (x - middle) ** 2)
    slope = float(weights @ ((x - middle) * y)) / spread
    rest = y - float(weights @ y) / float(weights.sum()) - slope * (x - middle)
    lack = float(weights @ rest**2)
    from scipy.special import fdtrc

    freedom = len(x) - 2
    ratio = lack / freedom / pool.deviation**2
    if float(fdtrc(freedom, pool.freedom, ratio)) < 0.05:
        return None
    # What does not fit is part of the error: the line may hide a little of it.
    total = pool.freedom + freedom
    variance = (pool.deviation**2 * pool.freedom + lack) / total
    return slope, math.sqrt(variance / spread), float(total)


def floor(
    samples: Sequence[Sequence[float]], share: float, best: float | None, risk: float
) -> Steps:
    """Each step against `share` of a given best rate, or of the best step."""
    pool = _pool(samples)
    top = int(np.argmax(pool.means))
    found = []
    for k in range(len(pool.means)):
        reference = math.log(best) if best is not None else float(pool.means[top])
        own = 0.0 if best is not None else 1 / pool.counts[top]
        if best is None and k == top:
            found.append(StepGuard(1.0, 1.0, 1.0, Guard(True, 0.0)))
            continue
        error = pool.deviation * math.sqrt(1 / pool.counts[k] + own)
        distance = float(pool.means[k]) - reference
        found.append(_step(distance, error, float(pool.freedom), share, risk))
    return _with_needed(Steps(found), pool.counts, share, risk)
