# SPDX-License-Identifier: BSD-3-Clause
"""Statements about repetitions. With `remarks` this module alone decides whether there is an
interval, what makes it misleading, and what to do about it (measurements: docs/statistics.md).

Fewer than five repetitions have a range, no interval. From five on there is an interval, which
holds if the repetitions are independent and typical. From 60 on this can be checked; a mean without
anything odd is then called reliable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

from effio import text as fmt
from effio.judge import FEWEST, Interval, statistics
from effio.judge.statistics import Summary

if TYPE_CHECKING:
    from effio.judge.detection import Floats

RELIABLE_FROM = 60
_EQUAL = 1e-9


class Oddity(Enum):
    """What makes a mean misleading, the most important first, with advice."""

    MODES = (
        "report the median of each mode, and find out what differs (cache or device, one slow"
        " server)"
    )
    START = "add a warm-up run or more repetitions; the mean depends on how many are counted"
    LEVEL = "something changed: report both levels, and find out what"
    DRIFT = (
        "the mean depends on when it is measured; find out what changes (a cache that fills, a file"
        " system that grows, other users)"
    )
    OUTLIERS = "report the median, and look at those repetitions"
    CORRELATED = "use more repetitions, or spread them over a longer time"

    @property
    def advice(self) -> str:
        return self.value


class Grade(Enum):
    """How reliable the numbers are."""

    RANGE = "range only"
    UNCHECKED = "if the repetitions are independent"
    ODD = "not reliable"
    RELIABLE = "reliable"


@dataclass(frozen=True)
class Remark:
    oddity: Oddity
    what: str

    @property
    def text(self) -> str:
        return f"{self.what}: {self.oddity.advice}"


class Statement(Struct, frozen=True):
    """Statistics of the repetitions of one measurement, in their unit. `interval` is that of the
    mean, `of_median` that of the median (between two order statistics); None if there are too few
    values. `value` is the rate of all repetitions together if amounts and times are known, else the
    mean. `worth` is the effective number of independent repetitions."""

    summary: Summary
    value: float
    interval: Interval | None
    of_median: Interval | None
    worth: float
    grade: Grade
    remarks: Sequence[Remark] = ()

    @property
    def half(self) -> float | None:
        return (self.interval.high - self.interval.low) / 2 if self.interval else None

    @property
    def reliable(self) -> bool:
        return self.grade is Grade.RELIABLE

    @property
    def is_odd(self) -> bool:
        return self.grade is Grade.ODD

    @property
    def text(self) -> str:
        """What is odd, with advice; empty if nothing is."""
        return "; ".join(remark.text for remark in self.remarks)

    @property
    def verdict(self) -> str:
        """The verdict in one phrase: "not reliable: …", "reliable", or nothing."""
        if self.is_odd:
            return f"{Grade.ODD.value}: {self.text}"
        return Grade.RELIABLE.value if self.reliable else ""

    def spread(self, unit: str) -> str:
        """ "± 3 % (95 %)", or the range if there are fewer than five values."""
        reported = self.summary
        if reported.count < 2:
            return ""
        if self.half is None:
            return self._range(unit)
        share = abs(self.half / self.value) if self.value else 0.0
        return f"± {fmt.few_digits(100 * share if share > _EQUAL else 0)} % (95 %)"

    def spread_of_median(self, unit: str) -> str:
        """ "4 MB/s to 7 MB/s (95 %)", or the range if there are fewer than six values."""
        if self.summary.count < 2:
            return ""
        if self.of_median is None:
            return self._range(unit)
        low, high = (fmt.quantity(v, unit) for v in (self.of_median.low, self.of_median.high))
        return f"{low} to {high} (95 %)"

    def _range(self, unit: str) -> str:
        low, high = (fmt.quantity(v, unit) for v in (self.summary.min, self.summary.max))
        return f"{low} to {high} (range of {self.summary.count})"


def statement(values: Sequence[float]) -> Statement | None:
    """The statement about values in the order of measurement."""
    if len(values) < 2:  # thousands of runs may each be a point
        only = statistics.summary(values)
        return Statement(only, only.mean, None, None, 1.0, Grade.RANGE) if only else None
    import numpy as np  # not at every start

    return _statement(values, np.asarray(values, dtype=float))


def rate_statement(amounts: Sequence[float], seconds: Sequence[float]) -> Statement | None:
    """The statement about rates: the value is total amount over total time, with its interval."""
    import numpy as np

    from effio.judge import detection

    some, times = np.asarray(amounts, dtype=float), np.asarray(seconds, dtype=float)
    if len(some) != len(times) or not len(some) or times.min() <= 0:
        return None
    return _statement(list(map(float, some / times)), detection.linearized(some, times))


def _statement(values: Sequence[float], counted: Floats) -> Statement | None:
    reported = statistics.summary(values)
    if reported is None:
        return None
    value = float(counted.mean())
    median = statistics.median_interval(values)
    if reported.count < FEWEST:
        return Statement(reported, value, None, median, float(reported.count), Grade.RANGE)
    from effio.judge import detection, remarks

    odd = remarks.oddities(values)
    half = float(detection.half_width(counted))
    grade = Grade.RELIABLE if reported.count >= RELIABLE_FROM else Grade.UNCHECKED
    return Statement(
        reported,
        value,
        Interval(value - half, value + half),
        median,
        float(detection.worth(counted)),
        Grade.ODD if odd else grade,
        odd,
    )


def is_known(interval: Interval | None, count: int) -> bool:
    """Whether a statement may be based on this mean: it has at least two repetitions and an
    interval. Efficiency, scaling and shares all use this rule."""
    return interval is not None and count >= 2


def are_apart(first: Interval | None, second: Interval | None) -> bool:
    """Whether a difference may be stated: both intervals are known and do not overlap."""
    if first is None or second is None:
        return False
    return first.high < second.low or second.high < first.low
