# SPDX-License-Identifier: BSD-3-Clause
"""Where a series of numbers changes its level, by PELT (Killick 2012) on the logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from effio.judge.detection import Floats

# Fewer nights before or after it show no change.
SHORTEST = 3
# Noise below this part of the value is none that a change has to stand out from.
_LEAST_NOISE = 0.002
# Of the penalty for a change point: log(nights) times the variance, times this.
_PENALTY = 6.0


def _cost() -> Any:
    """The squared deviations from the mean of a stretch, as the model "l2" of ruptures has them. A
    hundred values over a hundred nights have half a million stretches: numpy takes ten times as
    long for the variance of each as two differences of sums do."""
    from ruptures.base import BaseCost

    class SquaredDeviations(BaseCost):  # type: ignore[misc]
        model = "l2"
        min_size = 1

        def fit(self, signal: Floats) -> SquaredDeviations:
            self.signal = signal
            values = [float(value) for value in signal[:, 0]]
            # Around their mean, so that the differences lose no digits.
            middle = fmean(values)
            around = [value - middle for value in values]
            self._sums = [0.0, *accumulate(around)]
            self._squares = [0.0, *accumulate(value * value for value in around)]
            return self

        def error(self, start: int, end: int) -> float:
            total = self._sums[end] - self._sums[start]
            return self._squares[end] - self._squares[start] - total * total / (end - start)

    return SquaredDeviations()


def change_points(values: Sequence[float]) -> list[int]:
    """Where a stretch of another level begins. Raises ModuleNotFoundError without ruptures."""
    if len(values) < 2 * SHORTEST or min(values) <= 0:
        return []
    import numpy as np
    import ruptures  # takes a second

    logs = np.log(np.asarray(values, dtype=float))
    # Of differences of neighbors, which a change of level hardly touches.
    noise = 1.4826 * median(abs(float(d)) for d in np.diff(logs)) / math.sqrt(2)
    noise = max(noise, _LEAST_NOISE)
    penalty = _PENALTY * math.log(len(values)) * noise**2
    search = ruptures.Pelt(custom_cost=_cost(), min_size=SHORTEST, jump=1)
    return [int(end) for end in search.fit(logs.reshape(-1, 1)).predict(pen=penalty)[:-1]]
