# SPDX-License-Identifier: BSD-3-Clause
"""Detects what makes the mean of repetitions misleading: one function per kind, over arrays.

Each function takes values in the order in which they were measured, along the last axis, and works
on any number of samples at once (tests/statistics tries thousands). Each gives a false alarm in
about one in a hundred samples of independent Gaussian values.

Splits (outliers, two modes, changes of level) compare the scatter within two groups with that of
the whole: the best split of the values in their own order is a change of level, that of the sorted
values separates modes. Block lengths follow Politis and White (2004), with the correction of
Patton, Politis and White (2009).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Counts: TypeAlias = NDArray[np.int64]

LEVEL = 0.01
# From this number on neighbors can be compared.
FEWEST_NEIGHBORS = 10

# 1 % quantiles for independent Gaussian values (200,000 samples each; tests/statistics measures the
# false alarms): the smallest share of the scatter that stays within the two parts of a split, of
# sorted values and of values in time, and the largest distance from the median in robust
# deviations (Hampel).
_SIZES = np.array([5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 60, 100, 200], dtype=float)
_SORTED = np.array(
    [0.0133, 0.0289, 0.0462, 0.0624, 0.0920, 0.1143, 0.1389, 0.1694, 0.1900, 0.2053, 0.2276,
     0.2532, 0.2796, 0.3044]
)  # fmt: skip
_IN_TIME = np.array(
    [0.0323, 0.0733, 0.1171, 0.1630, 0.2480, 0.3205, 0.4142, 0.5192, 0.5988, 0.6490, 0.7225,
     0.8047, 0.8769, 0.9341]
)  # fmt: skip
_HAMPEL = np.array(
    [18.7, 10.7, 10.7, 7.91, 6.96, 6.26, 5.98, 5.22, 4.99, 4.76, 4.59, 4.42, 4.29, 4.29]
)
# Neighbors count as correlated from this many standard errors on (5 %, one-sided): a missed
# correlation is worse than an interval that is wider than needed.
_CORRELATED = 1.645
# From this number on intervals are widened by the correlation of neighbors.
FEWEST_WIDENED = 20
_MOST_CORRELATED = 0.95
# Differences due to rounding, and the smallest change that is reported.
_EQUAL = 1e-9
_WORTH_A_WORD = 0.01


def _limit(table: Floats, count: int) -> float:
    return float(np.interp(math.log(count), np.log(_SIZES), table))


@dataclass(frozen=True)
class Split:
    """`found`: whether there are two groups. The first `place` values are one of them; `low` and
    `high` are the means of the groups in this order."""

    found: Flags
    place: Counts
    before: Floats
    after: Floats


def _split(values: Floats, table: Floats) -> Split:
    count = values.shape[-1]
    away = values - values.mean(-1, keepdims=True)
    total = (away**2).sum(-1)
    sums = np.cumsum(away, -1)[..., :-1]
    sizes = np.arange(1, count)
    between = sums**2 * (count / (sizes * (count - sizes)))
    place = between.argmax(-1)
    best = np.take_along_axis(between, place[..., None], -1)[..., 0]
    left = np.take_along_axis(sums, place[..., None], -1)[..., 0]
    before = values.mean(-1) + left / (place + 1)
    after = values.mean(-1) - left / (count - place - 1)
    worth = np.abs(after - before) > _WORTH_A_WORD * np.abs(values.mean(-1))
    within = np.where(total > 0, 1 - best / np.where(total > 0, total, 1.0), 1.0)
    return Split(worth & (within < _limit(table, count)), place + 1, before, after)


def modes(values: Floats) -> Split:
    """Two groups of values with a gap between them."""
    return _split(np.sort(values, -1), _SORTED)


def level_change(values: Floats) -> Split:
    """Two levels, one after the other. A short first one is a start-up."""
    return _split(values, _IN_TIME)


def outliers(values: Floats) -> Flags:
    """For each value whether it is too far from the median (Hampel's identifier)."""
    median = np.median(values, -1, keepdims=True)
    away = np.abs(values - median)
    scale = 1.4826 * np.median(away, -1, keepdims=True)
    limit = np.maximum(_limit(_HAMPEL, values.shape[-1]) * scale, _WORTH_A_WORD * np.abs(median))
    return np.asarray(away > limit)


@cache
def _inversions(count: int) -> Floats:
    """Probability of each number of inversions of a random order."""
    found = np.ones(1)
    for size in range(2, count + 1):
        found = np.convolve(found, np.full(size, 1 / size))
    return found


# For more values than this a sort is faster than comparing all pairs.
_MANY = 256


def kendall_score(values: Floats) -> Floats:
    """Kendall's score: the number of pairs whose later value is larger, minus the number of pairs
    whose later value is smaller."""
    count = values.shape[-1]
    if values.ndim == 1:
        if count <= _MANY:
            return np.asarray(np.tril(np.sign(np.subtract.outer(values, values))).sum())
        # SciPy's kendalltau would do, but to import it takes longer than all of this.
        half = count // 2
        earlier, later = np.sort(values[:half]), values[half:]
        larger = np.searchsorted(earlier, later, "left").sum()
        smaller = (half - np.searchsorted(earlier, later, "right")).sum()
        within = kendall_score(values[:half]) + kendall_score(later)
        return np.asarray(within + larger - smaller)
    score = np.zeros(values.shape[:-1])
    for gap in range(1, count):
        score += np.sign(values[..., gap:] - values[..., :-gap]).sum(-1)
    return score


def trend(values: Floats) -> Floats:
    """Probability of a trend as clear in independent values (Mann and Kendall, two-sided; exact up
    to 40 values)."""
    count = values.shape[-1]
    score = kendall_score(values)
    if count <= 40:
        chances = np.cumsum(_inversions(count)[::-1])[::-1]  # of that many or more
        pairs = count * (count - 1) / 2
        many = np.ceil((np.abs(score) + pairs) / 2).astype(int)
        return np.asarray(np.minimum(1.0, 2 * chances[many]))
    spread = math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    from scipy.special import ndtr  # not at every start

    return np.asarray(2 * ndtr(-np.maximum(0.0, np.abs(score) - 1) / spread))


def drifts(values: Floats) -> Flags:
    # Five values are monotonic by chance in one of 60 cases: no stronger evidence exists for five.
    level = LEVEL if values.shape[-1] > 5 else 0.02
    spread = values.max(-1) - values.min(-1)
    return np.asarray((trend(values) < level) & (spread > _WORTH_A_WORD * np.abs(values.mean(-1))))


def autocovariances(values: Floats, most: int) -> Floats:
    """Autocorrelation for the lags 0 to `most`, along a new last axis."""
    count = values.shape[-1]
    away = values - values.mean(-1, keepdims=True)
    return np.stack(
        [(away[..., gap:] * away[..., : count - gap]).sum(-1) / count for gap in range(most + 1)],
        -1,
    )


def correlated(values: Floats) -> Flags:
    """Whether neighbors are more similar than chance explains."""
    count = values.shape[-1]
    if count < FEWEST_NEIGHBORS:
        return np.zeros(values.shape[:-1], dtype=bool)
    found = autocovariances(values, 1)
    scale = np.where(found[..., 0] > 0, found[..., 0], 1.0)
    first = found[..., 1] / scale
    return np.asarray((first + 1 / count) * math.sqrt(count) > _CORRELATED)


def block_length(values: Floats) -> Floats:
    """Automatic block length of the circular block bootstrap (Politis and White 2004, corrected
    2009), between 1 and a third of the values."""
    count = values.shape[-1]
    near = max(5, math.ceil(math.sqrt(math.log10(count))))
    most = min(count - 2, math.ceil(math.sqrt(count)) + near)
    cov = autocovariances(values, most)
    scale = np.where(cov[..., :1] > 0, cov[..., :1], 1.0)
    small = np.abs(cov[..., 1:] / scale) < 2 * math.sqrt(math.log10(count) / count)
    # The smallest lag after which `near` consecutive correlations are negligible.
    width = np.full(values.shape[:-1], most, dtype=int)
    for gap in range(most - 1, -1, -1):
        quiet = small[..., gap : gap + near].all(-1)
        width = np.where(quiet, gap, width)
    half = np.maximum(1, width)
    lags = np.arange(1, most + 1)
    share = lags / (2.0 * half[..., None])
    window = np.clip(2 * (1 - share), 0.0, 1.0)  # the flat-top window of Politis and Romano
    slope = 2 * (window * lags * cov[..., 1:]).sum(-1)
    density = cov[..., 0] + 2 * (window * cov[..., 1:]).sum(-1)
    safe = np.where(density > 0, density, 1.0)
    length = np.cbrt(1.5 * (slope / safe) ** 2 * count)
    length = np.where((width == 0) | (density <= 0), 1.0, length)
    return np.asarray(np.clip(np.ceil(length), 1, max(1, count // 3)))


def error_of_mean(values: Floats, lengths: Floats) -> Floats:
    """Standard error of the mean over circular blocks of these lengths: the result of the block
    bootstrap, without resampling. At length 1 it is the deviation over the root of the count."""
    count = values.shape[-1]
    away = values - values.mean(-1, keepdims=True)
    twice = np.concatenate([away, away], -1)
    sums = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(twice, -1)], -1)
    found = np.zeros(values.shape[:-1])
    for length in np.unique(lengths):
        b = int(length)
        blocks = sums[..., b : b + count] - sums[..., :count]
        # Means of blocks vary around the mean of all values: n / (n - b) corrects for that.
        square = (blocks**2).mean(-1) / b / (count - b)
        found = np.where(lengths == length, square, found)
    return np.asarray(np.sqrt(found))


def worth(values: Floats) -> Floats:
    """How many independent values these count as: n (1 - r) / (1 + r) with the correlation r of
    neighbors, corrected for its bias (Kendall 1954) and never below 0."""
    count = values.shape[-1]
    if count < FEWEST_WIDENED:
        return np.full(values.shape[:-1], float(count))
    found = autocovariances(values, 1)
    first = found[..., 1] / np.where(found[..., 0] > 0, found[..., 0], 1.0)
    first = np.where(found[..., 0] > 0, first, -1.0)
    first = np.clip(first + (1 + 3 * np.clip(first, 0, 1)) / count, 0.0, _MOST_CORRELATED)
    return np.asarray(count * (1 - first) / (1 + first))


def half_width(values: Floats) -> Floats:
    """Half width of the 95 % interval of the mean: Student's t with the effective number of values;
    from 20 values on the larger of that and the error over blocks of automatic length."""
    from scipy.special import stdtrit  # not at every start

    count = values.shape[-1]
    deviation = values.std(-1, ddof=1)
    independent = worth(values)
    freedom = np.maximum(1.0, independent - 1)
    half = stdtrit(freedom, 0.975) * deviation / np.sqrt(independent)
    if count < FEWEST_WIDENED:
        return np.asarray(half)
    lengths = block_length(values)
    blocks = stdtrit(np.maximum(1.0, count / lengths - 1), 0.975)
    blocks = np.where(lengths > 1, blocks * error_of_mean(values, lengths), 0.0)
    return np.asarray(np.maximum(half, blocks))


def linearized(amounts: Floats, seconds: Floats) -> Floats:
    """Values whose mean is the rate of all repetitions together (total amount over total time) and
    whose scatter is that of this rate (delta method). The mean of rates is biased: it gives a
    short, fast repetition the same weight as a long, slow one."""
    rate = amounts.sum(-1, keepdims=True) / seconds.sum(-1, keepdims=True)
    return np.asarray(rate + (amounts - rate * seconds) / seconds.mean(-1, keepdims=True))
