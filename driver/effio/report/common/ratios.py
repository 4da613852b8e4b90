# SPDX-License-Identifier: BSD-3-Clause
"""A factor between two things, out of pairs of rates that differ in nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Fewer pairs are single rows, and single rows do not support a verdict.
FEWEST_PAIRS = 5


@dataclass(frozen=True)
class Factor:
    """Geometric mean of the ratios, with its interval of 95 % confidence."""

    mean: float
    low: float
    high: float
    pairs: int

    @property
    def is_sure(self) -> bool:
        """That there is a difference at all."""
        return self.low > 1 or self.high < 1


def factor_of(pairs: Sequence[tuple[float, float]]) -> Factor | None:
    """None if there are too few."""
    ratios = [a / b for a, b in pairs if a > 0 and b > 0]
    if len(ratios) < FEWEST_PAIRS:
        return None
    from effio.judge.statistics import geometric_mean  # numpy and scipy: not at every start

    found = geometric_mean(ratios)
    return None if found is None else Factor(found.value, found.low, found.high, len(ratios))
