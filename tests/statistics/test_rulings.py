# SPDX-License-Identifier: BSD-3-Clause
"""How often rulings of `effio accept` are wrong, where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from effio.judge import guard

RISK = 0.05
TRIALS = 2000
# Of 2,000 trials with a probability of 0.05: 100 ± 3 × 9.7.
MOST = 130


@pytest.mark.parametrize("count", [3, 5, 10])
def test_a_threshold_is_hardly_ever_ruled_wrongly(count: int) -> None:
    """The worst case: the true rate is on the limit. If it is slightly below, each pass is wrong,
    and slightly above each fail."""
    values = np.random.default_rng(43).normal(1.0, 0.1, (TRIALS, count))
    decided = {True: 0, False: 0}
    for sample in values:
        reported = guard.of_mean([sample], 1.0, sample.mean() >= 1.0, RISK)
        decided[reported.met] += reported.decides(RISK)
    assert max(decided.values()) <= MOST


def scaling(efficiency: tuple[float, ...], count: int, seed: int) -> np.ndarray:
    """Rates with 10 % noise at 1, 12, 24 and 36 servers: trial, step, repetition."""
    at = np.array([1.0, 12.0, 24.0, 36.0]) * efficiency
    noise = np.random.default_rng(seed).normal(0, 0.1, (TRIALS, 4, count))
    return np.asarray(at[None, :, None] * np.exp(noise))


def rulings(efficiency: tuple[float, ...], count: int) -> tuple[int, int]:
    """Passed and failed within 10 % of linear, as accept rules over steps."""
    passed = failed = 0
    for sample in scaling(efficiency, count, 7):
        steps = guard.linearity([1, 12, 24, 36], list(sample), 0.9, RISK).steps
        failed += any(not s.guard.met and s.guard.decides(RISK / 3) for s in steps)
        passed += all(s.guard.met and s.guard.decides(RISK) for s in steps)
    return passed, failed


@pytest.mark.parametrize("count", [3, 5])
def test_a_linear_system_is_hardly_ever_refused(count: int) -> None:
    assert rulings((1.0, 1.0, 1.0, 1.0), count)[1] <= MOST


@pytest.mark.parametrize("count", [3, 5])
@pytest.mark.parametrize("efficiency", [(1.0, 0.85, 0.85, 0.85), (1.0, 1.0, 1.0, 0.85)])
def test_one_that_is_not_linear_is_hardly_ever_accepted(
    efficiency: tuple[float, ...], count: int
) -> None:
    assert rulings(efficiency, count)[0] <= MOST


def test_enough_repetitions_decide() -> None:
    assert rulings((1.0, 1.0, 1.0, 1.0), 30)[0] >= 0.8 * TRIALS
    assert rulings((1.0, 0.7, 0.7, 0.7), 10)[1] >= 0.95 * TRIALS
