# SPDX-License-Identifier: BSD-3-Clause
"""What I/O costs: a fixed part, a part for each call and a part for each byte, fitted by weighted
least squares to times that were measured at two sizes or more.

Errors of times are proportional to the times, so each size has the weight of its mean time. No cost
is negative. The interval of a prediction is that of linear regression (Student's t, residuals of
all measurements), so it is the wider the farther a size is from those that were measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from effio.judge import FEWEST, Interval, statistics

Floats = NDArray[np.float64]
# As many as five repetitions of one size leave (judge/repetitions.py).
FEWEST_FREEDOM = FEWEST - 1
_EQUAL = 1e-6


@dataclass(frozen=True)
class Work:
    """What all processes do together, once: files that are opened, calls, bytes."""

    opens: float
    operations: float
    bytes: float

    @property
    def parts(self) -> tuple[float, float, float]:
        return self.opens, self.operations, self.bytes

    def is_like(self, other: Work, within: float) -> bool:
        return all(
            abs(a - b) <= within * max(a, b) for a, b in zip(self.parts, other.parts, strict=True)
        )


@dataclass(frozen=True)
class Timed:
    """One measurement."""

    work: Work
    seconds: float


@dataclass(frozen=True)
class Expectation:
    """`interval` is None if there are too few measurements."""

    seconds: float
    interval: Interval | None


@dataclass(frozen=True)
class Cost:
    """Seconds per opened file, call and byte. `deviation` is relative to the time."""

    open: float
    operation: float
    byte: float
    deviation: float
    freedom: int
    sizes: int
    units: Floats
    rows: Floats  # measured works in these units, weighted

    @property
    def parts(self) -> Floats:
        return np.array([self.open, self.operation, self.byte])

    def seconds(self, work: Work) -> float:
        return float(np.dot(self.parts, work.parts))

    def expected(self, work: Work) -> Expectation | None:
        """None if the measured sizes do not determine this one: all had as many calls, say."""
        row = np.asarray(work.parts) / self.units
        inverse = np.linalg.pinv(self.rows.T @ self.rows, rcond=_EQUAL**2, hermitian=True)
        covered = row @ (self.rows.T @ self.rows) @ inverse
        if np.linalg.norm(covered - row) > 1e-3 * np.linalg.norm(row):
            return None
        seconds = self.seconds(work)
        if self.freedom < FEWEST_FREEDOM:
            return Expectation(seconds, None)
        error = self.deviation * float(row @ inverse @ row) ** 0.5
        half = statistics.quantile_t(0.975, self.freedom) * error
        return Expectation(seconds, Interval(max(0.0, seconds - half), seconds + half))


def fit(timed: Sequence[Timed]) -> Cost | None:
    """None for fewer than two sizes."""
    from scipy.optimize import nnls  # not at every start

    works = np.array([one.work.parts for one in timed], dtype=np.float64).reshape(-1, 3)
    seconds = np.array([one.seconds for one in timed], dtype=np.float64)
    sizes, place = np.unique(works, axis=0, return_inverse=True)
    if len(sizes) < 2 or seconds.min() <= 0:
        return None
    place = place.reshape(-1)
    means = np.bincount(place, weights=seconds) / np.bincount(place)
    weights = 1 / means[place]
    most: Floats = works.max(axis=0)
    units = np.where(most > 0, most, 1.0)
    rows = works / units * weights[:, None]
    scaled, _ = nnls(rows, seconds * weights)
    left = rows @ scaled - seconds * weights
    freedom = len(seconds) - int(np.linalg.matrix_rank(rows, tol=_EQUAL * np.linalg.norm(rows)))
    deviation = float(np.sqrt(left @ left / freedom)) if freedom > 0 else 0.0
    opening, call, byte = map(float, scaled / units)
    return Cost(opening, call, byte, deviation, freedom, len(sizes), units, rows)
