# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of noise with a known true value: samples of `count` repetitions in the order of
measurement, one sample per row. The deviation of independent noise is 5 % of the mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SPREAD = 0.05


def _gaussian(chance: np.random.Generator, trials: int, count: int) -> Floats:
    return 1 + chance.normal(0, SPREAD, (trials, count))


def _heavy(chance: np.random.Generator, trials: int, count: int) -> Floats:
    return np.maximum(0.1, 1 + SPREAD * chance.standard_t(3, (trials, count)))


def _bimodal(chance: np.random.Generator, trials: int, count: int) -> Floats:
    return _gaussian(chance, trials, count) * np.where(chance.random((trials, count)) < 0.2, 2, 1)


def _rare(chance: np.random.Generator, trials: int, count: int) -> Floats:
    return _gaussian(chance, trials, count) / np.where(chance.random((trials, count)) < 0.05, 5, 1)


def _autoregressive(correlation: float) -> Callable[[np.random.Generator, int, int], Floats]:
    def made(chance: np.random.Generator, trials: int, count: int) -> Floats:
        values = chance.normal(0, 1, (trials, count))
        for i in range(1, count):
            own = np.sqrt(1 - correlation**2) * values[:, i]
            values[:, i] = correlation * values[:, i - 1] + own
        return np.asarray(1 + SPREAD * values)

    return made


def _regimes(chance: np.random.Generator, trials: int, count: int) -> Floats:
    """Two levels; each repetition switches to the other one with a probability of 10 %."""
    changes = np.cumsum(chance.random((trials, count)) < 0.1, -1) + chance.integers(
        2, size=(trials, 1)
    )
    return _gaussian(chance, trials, count) * np.where(changes % 2, 1.3, 1.0)


def _sine(chance: np.random.Generator, trials: int, count: int) -> Floats:
    """A wave of 10 % with a period of 20 repetitions."""
    phase = 2 * np.pi * (np.arange(count) / 20 + chance.random((trials, 1)))
    return _gaussian(chance, trials, count) + 0.1 * np.sin(phase)


def _drift(chance: np.random.Generator, trials: int, count: int) -> Floats:
    return _gaussian(chance, trials, count) * 0.975 ** np.arange(count)


def _start(chance: np.random.Generator, trials: int, count: int) -> Floats:
    """The first two repetitions are slow."""
    values = _gaussian(chance, trials, count)
    values[:, :2] *= 0.6
    return values


def _nights(chance: np.random.Generator, trials: int, count: int) -> Floats:
    """All repetitions of a night share an effect of twice their deviation."""
    return _gaussian(chance, trials, count) + chance.normal(0, 2 * SPREAD, (trials, 1))


@dataclass(frozen=True)
class Kind:
    name: str
    what: str
    truth: float
    made: Callable[[np.random.Generator, int, int], Floats]


KINDS = (
    Kind("independent", "Gaussian, deviation 5 %", 1.0, _gaussian),
    Kind("heavy-tailed", "Student's t with 3 degrees of freedom", 1.0, _heavy),
    Kind("bimodal", "a fifth of the values is 2 times as large", 1.2, _bimodal),
    Kind("rare", "one value in 20 is a fifth of the others", 0.96, _rare),
    Kind("AR 0.3", "neighbors correlated by 0.3", 1.0, _autoregressive(0.3)),
    Kind("AR 0.5", "neighbors correlated by 0.5", 1.0, _autoregressive(0.5)),
    Kind("AR 0.7", "neighbors correlated by 0.7", 1.0, _autoregressive(0.7)),
    Kind("regimes", "two levels, 1 and 1.3, a change in one of 10", 1.15, _regimes),
    Kind("sine", "a wave of 10 % with a period of 20", 1.0, _sine),
    Kind("drift", "2.5 % less each time; the truth is the first", 1.0, _drift),
    Kind("start-up", "the first two are 40 % slower", 1.0, _start),
    Kind("nights", "an effect of 10 % that a night's repetitions share", 1.0, _nights),
)
