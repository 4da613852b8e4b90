# SPDX-License-Identifier: BSD-3-Clause
"""What the numbers of kept runs are good for: accept a system, submit it, compare two.

`FEWEST` and `Interval` are here because reports and lists need them at every start; the modules
load numpy."""

from __future__ import annotations

from dataclasses import dataclass

# With fewer values neither spread nor trend can be estimated.
FEWEST = 5


@dataclass(frozen=True)
class Interval:
    """In the unit of its values; both ends belong to it."""

    low: float
    high: float

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high
