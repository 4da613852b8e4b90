# SPDX-License-Identifier: BSD-3-Clause
"""The time that a campaign may take: no run starts after it, and a quick check stops a run whose
share of it is used up, so that one slow step does not take the time of all others."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

# Starting the runs of a campaign takes some seconds anywhere. A shorter time makes the steps
# shorter, but leaves none out.
LEAST_SECONDS = 30.0


@dataclass
class TimeBudget:
    """Wall time from its creation on; `seconds` is None where there is no limit. `stops_runs`: a
    run is stopped as well, after its share."""

    seconds: float | None = None
    stops_runs: bool = False
    now: Callable[[], float] = time.monotonic
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.now()

    @property
    def limit(self) -> float | None:
        return None if self.seconds is None else max(self.seconds, LEAST_SECONDS)

    def left(self) -> float | None:
        if self.limit is None:
            return None
        return self.limit - (self.now() - self._started)

    @property
    def is_over(self) -> bool:
        left = self.left()
        return left is not None and left <= 0

    def share(self, runs: int) -> float | None:
        """Most that the next of this many runs may take: twice an even part of what is left. The
        last one may take all."""
        left = self.left()
        if left is None or not self.stops_runs:
            return None
        return max(min(left, 2 * left / runs), 1.0)
