# SPDX-License-Identifier: BSD-3-Clause
"""How often `effio compare` calls equal systems different when nights have effects of their own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from effio.judge import statistics

TRIALS = 2000
# Of 2,000 trials with a probability of 0.05: 100 ± 3 × 9.7.
MOST = 130
SPREAD = 0.05


def nights(kind: str, count: int, runs: int, chance: np.random.Generator) -> list[float]:
    """The mean of the runs of each night. A night has an effect of twice the deviation of
    its runs; what else happens to a run is the kind."""
    noise = chance.normal(0, SPREAD, (count, runs))
    if kind == "bimodal":
        noise += math.log(2) * (chance.random((count, runs)) < 0.2)
    elif kind == "rare":
        noise -= math.log(5) * (chance.random((count, runs)) < 0.05)
    elif kind == "heavy-tailed":
        noise = SPREAD * chance.standard_t(3, (count, runs))
    night = chance.normal(0, 2 * SPREAD, (count, 1))
    return [float(v) for v in np.exp((noise + night).mean(axis=1))]


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("kind", ["independent", "bimodal", "rare", "heavy-tailed"])
def test_equal_systems_on_other_nights(kind: str, count: int) -> None:
    chance = np.random.default_rng(43)
    alarms = 0
    for _ in range(TRIALS):
        sides = [nights(kind, count, 5, chance) for _ in range(2)]
        compared = statistics.pooled if count < statistics.FEWEST else statistics.ratio
        found = compared(*sides)
        assert found is not None
        alarms += found.p < statistics.SIGNIFICANCE
    assert alarms <= MOST


def test_runs_of_one_night_alone_would_alarm() -> None:
    """Why a verdict needs nights: five runs against five, of one night each."""
    chance = np.random.default_rng(43)
    alarms = 0
    for _ in range(TRIALS):
        sides = [
            np.exp(chance.normal(0, SPREAD, 5) + chance.normal(0, SPREAD)).tolist() for _ in "ab"
        ]
        found = statistics.ratio(*sides)
        assert found is not None
        alarms += found.p < statistics.SIGNIFICANCE
    assert alarms > 5 * MOST
