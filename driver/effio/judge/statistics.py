# SPDX-License-Identifier: BSD-3-Clause
"""Everything that is computed from samples after they were measured. Intervals have 95 %
confidence; what cannot be computed is None.

Rates vary by factors, not by amounts: ratios are taken of logarithms, so that A over B and B over A
say the same. (Welch 1947 for two samples, Student for pairs, Holm 1979 for many tests at once.)
"""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import Struct

from effio.judge import Interval

# With two there is a deviation, but an interval some thirteen times as wide as that of ten.
FEWEST = 3
SIGNIFICANCE = 0.05
# A difference of which it is said that it would have been seen is found so often.
POWER = 0.95
_FAR = 30.0


class Summary(Struct, frozen=True):
    """A summary in the sample's unit; `deviation` (n-1) and `cov`, the deviation over the mean, of
    one value are None."""

    count: int
    mean: float
    median: float
    min: float
    max: float
    deviation: float | None
    cov: float | None


@dataclass(frozen=True)
class Ratio:
    """Geometric mean of the second sample over that of the first. `p` is the probability of such a
    difference, or a larger one, between equal systems; `seen` the factor (above 1) that would have
    been found in 95 of 100 trials; `error` the standard error of the logarithm."""

    value: float
    low: float
    high: float
    p: float
    seen: float
    paired: bool
    error: float = 0.0
    freedom: float = 1.0

    def seen_at(self, level: float) -> float:
        """`seen` for a test at another level, for example one of many measurements."""
        away = quantile_t(1 - level / 2, self.freedom) + quantile_t(POWER, self.freedom)
        return math.exp(min(700.0, away * self.error))

    def power(self, factor: float, level: float) -> float:
        """How often a true ratio of this factor would be called different (noncentral t)."""
        if self.error <= 0:
            return 1.0
        from scipy.special import nctdtr  # not at every start: it takes a quarter of a second

        most = quantile_t(1 - level / 2, self.freedom)
        away = abs(math.log(factor)) / self.error
        if away > _FAR:  # the noncentral distribution is not computed this far out
            return 1.0
        return float(1 - nctdtr(self.freedom, away, most))


@dataclass(frozen=True)
class Drift:
    """`change` is the fitted line's end over its start, minus one; `sure` if chance would hardly
    make such a trend."""

    change: float
    p: float

    @property
    def sure(self) -> bool:
        return self.p < SIGNIFICANCE


def quantile_t(probability: float, freedom: float) -> float:
    """A quantile of Student's distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def two_sided(t: float, freedom: float) -> float:
    """Probability of |T| or more."""
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(t)))


def summary(values: Sequence[float]) -> Summary | None:
    if not values:
        return None
    if len(values) == 1:  # thousands of runs may each be a point
        only = float(values[0])
        return Summary(
            count=1, mean=only, median=only, min=only, max=only, deviation=None, cov=None
        )
    import numpy as np  # not at every start

    sample = np.asarray(values, dtype=float)
    mean = float(sample.mean())
    deviation = float(sample.std(ddof=1)) if len(values) > 1 else None
    return Summary(
        count=len(values),
        mean=mean,
        median=float(np.median(sample)),
        min=float(sample.min()),
        max=float(sample.max()),
        deviation=deviation,
        cov=deviation / abs(mean) if deviation is not None and mean else None,
    )


@functools.cache
def _median_place(count: int) -> int:
    """The largest place with 2 P(Bin(count, 1/2) < place) <= 5 %."""
    if 2 * 0.5**count > SIGNIFICANCE:
        return 0
    from scipy.special import bdtr

    def too_likely(place: int) -> bool:
        return 2 * float(bdtr(place, count, 0.5)) > SIGNIFICANCE

    return 1 + bisect.bisect_left(range(1, (count + 1) // 2), True, key=too_likely)


def median_interval(values: Sequence[float]) -> Interval | None:
    """The interval of the median, between two order statistics: at least 95 % whatever the
    distribution, because a value is below the median as often as a coin falls heads. None for fewer
    than six values: even their extremes hold the median less often."""
    ordered, count = sorted(values), len(values)
    place = _median_place(count)
    if place == 0:
        return None
    return Interval(ordered[place - 1], ordered[count - place])


def ratio(first: Sequence[float], second: Sequence[float], paired: bool = False) -> Ratio | None:
    """None if a value is not above 0, or there are too few: three on one side, and one on the
    other. `paired`: the values belong together one by one, as those of interleaved runs do; then
    equally many are needed, three at least.

    A sample of one or two has no deviation: then both are taken to have the same."""
    sizes = (len(first), len(second))
    if min(sizes) < 1 or max(sizes) < FEWEST or min(*first, *second) <= 0:
        return None
    import numpy as np

    a, b = np.log(np.asarray(first, dtype=float)), np.log(np.asarray(second, dtype=float))
    if paired:
        if len(a) != len(b):
            return None
        gaps = b - a
        error = float(gaps.std(ddof=1)) / math.sqrt(len(gaps))
        return _ratio(float(gaps.mean()), error, len(gaps) - 1, paired)
    squares = [float(((x - x.mean()) ** 2).sum()) for x in (a, b)]
    if min(sizes) < FEWEST:
        freedom: float = sum(sizes) - 2
        error = math.sqrt(sum(squares) / freedom * sum(1 / n for n in sizes))
    else:
        parts = [s / (n - 1) / n for s, n in zip(squares, sizes, strict=True)]
        error = math.sqrt(sum(parts))
        freedom = _welch(parts, [n - 1 for n in sizes])
    return _ratio(float(b.mean() - a.mean()), error, freedom, paired)


def pooled(first: Sequence[float], second: Sequence[float]) -> Ratio | None:
    """As `ratio`, of two values and more on each side, with one deviation for both: exact for
    samples of two where equal systems are equally noisy."""
    if min(len(first), len(second)) < 2 or min(*first, *second) <= 0:
        return None
    import numpy as np

    a, b = np.log(np.asarray(first, dtype=float)), np.log(np.asarray(second, dtype=float))
    freedom = len(a) + len(b) - 2
    squares = float(((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum())
    error = math.sqrt(squares / freedom * (1 / len(a) + 1 / len(b)))
    return _ratio(float(b.mean() - a.mean()), error, freedom, False)


def _welch(parts: Sequence[float], freedoms: Sequence[int]) -> float:
    below = sum(p * p / f for p, f in zip(parts, freedoms, strict=True))
    return sum(parts) ** 2 / below if below > 0 else float(sum(freedoms))


def _ratio(mean: float, error: float, freedom: float, paired: bool) -> Ratio | None:
    # Samples without spread (virtual time) leave only rounding.
    if error <= 1e-12 * max(1.0, abs(mean)):
        p = 1.0 if abs(mean) <= 1e-12 else 0.0
        value = math.exp(mean)
        return Ratio(value, value, value, p, 1.0, paired)
    half = quantile_t(1 - SIGNIFICANCE / 2, freedom) * error
    seen = half + quantile_t(POWER, freedom) * error
    try:
        return Ratio(
            math.exp(mean),
            math.exp(mean - half),
            math.exp(mean + half),
            two_sided(mean / error, freedom),
            math.exp(seen),
            paired,
            error,
            freedom,
        )
    except OverflowError:
        return None


def geometric_mean(ratios: Sequence[float]) -> Ratio | None:
    """The mean of three ratios or more that each describe one thing, with its interval, which shows
    how they scatter."""
    return ratio([1.0] * len(ratios), ratios, paired=True)


def holm(probabilities: Sequence[float]) -> list[float]:
    """Adjusted so that the chance of one false alarm among all of them is what it is for one."""
    import numpy as np  # not at every start

    order = np.argsort(probabilities)
    adjusted = [0.0] * len(order)
    worst = 0.0
    for rank, place in enumerate(order):
        worst = max(worst, min(1.0, probabilities[place] * (len(order) - rank)))
        adjusted[place] = worst
    return adjusted


def drift(values: Sequence[float]) -> Drift | None:
    """A line through the logarithms in their order. None below five values or at 0."""
    if len(values) < 5 or min(values) <= 0:
        return None
    import numpy as np

    y = np.log(np.asarray(values, dtype=float))
    x = np.arange(len(y)) - (len(y) - 1) / 2
    spread = float(x @ x)
    slope = float(x @ y) / spread
    rest = y - y.mean() - slope * x
    error = math.sqrt(float(rest @ rest) / (len(y) - 2) / spread)
    change = math.expm1(slope * (len(y) - 1))
    if error <= 1e-12:
        return Drift(change, 0.0 if abs(slope) > 1e-12 else 1.0)
    return Drift(change, two_sided(slope / error, len(y) - 2))
