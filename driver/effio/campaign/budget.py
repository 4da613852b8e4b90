# SPDX-License-Identifier: BSD-3-Clause
"""The time limit of a campaign. No run starts after it. A quick check also stops a run that has
used its share, so that one slow step does not take the time of all others."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

# Starting the runs of a campaign takes some seconds on any machine. A shorter limit makes the steps
# shorter, but skips none.
LEAST_SECONDS = 30.0


@dataclass
class TimeBudget:
    """Wall time since the creation of this object; `seconds` is None if there is no limit.
    `stops_runs`: a run that has used its share is stopped, too."""

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
        """Longest time for the next run if this many remain: twice an equal part of the remaining
        time. The last run may take all of it."""
        left = self.left()
        if left is None or not self.stops_runs:
            return None
        return max(min(left, 2 * left / runs), 1.0)
