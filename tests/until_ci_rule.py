# SPDX-License-Identifier: BSD-3-Clause
"""The rule of --until-ci for many runs at once, to measure variants of it
(engine/core/sequential.hpp has the formula, engine/frame/until_ci.cpp the rule, and
until_ci_test.cpp holds the rule itself to the documented shares)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noise_kinds import Floats

_ERROR = 0.05
_LOGARITHM = -2 * np.log(_ERROR)
_R2 = (_LOGARITHM + np.log(_LOGARITHM + 1)) / 20  # narrowest after 20 values
_GAUSSIAN = 1.959963984540054
_LEAST_WORTH = 8


@dataclass(frozen=True)
class Rule:
    """`least` repetitions, at most `most`; none while the largest value is more than `factor` times
    the smallest."""

    share: float = 0.05
    least: int = 10
    most: int = 120
    factor: float = np.inf


@dataclass(frozen=True)
class Stopped:
    """For each run: whether an interval ended it, whether that holds the true mean, and after how
    many repetitions."""

    stopped: np.ndarray
    holds: np.ndarray
    repetitions: np.ndarray


def half_widths(values: Floats) -> tuple[Floats, Floats]:
    """Half widths of the confidence sequence of ten values or more, and their worth."""
    from scipy.special import stdtrit  # not in each process that collects tests

    n = values.shape[-1]
    away = values - values.mean(-1, keepdims=True)
    squares = (away**2).sum(-1)
    products = (away[:, 1:] * away[:, :-1]).sum(-1)
    neighbors = np.where(squares > 0, products / np.where(squares > 0, squares, 1), 0)
    correlation = np.clip((n * neighbors + 1) / (n - 4), 0, 0.95)
    times = (1 + correlation) / (1 - correlation)
    too_small = np.maximum(1 - (times - 1) / (n - 1), 1 / n)
    worth = n / times
    counted = np.maximum(worth, 2)
    student = stdtrit(np.floor(counted) - 1, 0.975) / _GAUSSIAN
    root = np.sqrt(counted * _R2 + 1)
    width = np.sqrt(squares / (n - 1) / too_small) * student * root
    return width * np.sqrt(2 / (counted**2 * _R2) * np.log(root / _ERROR)), worth


def drifts(values: Floats) -> np.ndarray:
    """Welch's t between the halves."""
    half = values.shape[-1] // 2
    first, last = values[:, :half], values[:, -half:]
    errors = [some.var(-1, ddof=1) / half for some in (first, last)]
    both = np.maximum(errors[0] + errors[1], 1e-300)
    freedom = both**2 / np.maximum((errors[0] ** 2 + errors[1] ** 2) / (half - 1), 1e-300)
    t = np.abs(first.mean(-1) - last.mean(-1)) / np.sqrt(both)
    from scipy.special import stdtr

    return np.asarray(2 * stdtr(freedom, -t) < 0.05)


def is_odd(values: Floats) -> np.ndarray:
    """Outliers, or two modes."""
    ordered = np.sort(values, -1)
    n = values.shape[-1]
    distances = np.abs(ordered - np.median(ordered, -1, keepdims=True))
    limit = 5 * 1.4826 * np.median(distances, -1, keepdims=True)
    outliers = (distances > limit).any(-1)
    gaps = np.diff(ordered, axis=-1)[:, 1:-1]  # each side has two values at least
    below = gaps.argmax(-1) + 2
    left = np.arange(n) < below[:, None]
    squares = np.zeros(len(values))
    for side in (left, ~left):
        count = side.sum(-1)
        mean = (ordered * side).sum(-1) / count
        squares += (((ordered - mean[:, None]) ** 2) * side).sum(-1)
    two_modes = gaps.max(-1) > 4 * np.sqrt(squares / (n - 2))
    return np.asarray(outliers | two_modes)


def stopped(values: Floats, truth: float, rule: Rule) -> Stopped:
    """`values` are runs of `most` repetitions; each ends by its interval, or not at all."""
    trials = len(values)
    ended, holds = np.zeros(trials, bool), np.zeros(trials, bool)
    repetitions = np.full(trials, rule.most)
    for n in range(rule.least, rule.most + 1):
        going = np.flatnonzero(~ended)
        if not len(going):
            break
        some = values[going, :n]
        mean = some.mean(-1)
        width, worth = half_widths(some)
        fine = (width <= rule.share * np.abs(mean)) & (worth >= _LEAST_WORTH)
        fine &= some.max(-1) <= rule.factor * some.min(-1)
        fine &= ~drifts(some) & ~is_odd(some)
        at = going[fine]
        ended[at] = True
        holds[at] = np.abs(mean[fine] - truth) <= width[fine]
        repetitions[at] = n
    return Stopped(ended, holds, repetitions)
