# SPDX-License-Identifier: BSD-3-Clause
"""Statements about repetitions. This module alone decides whether there is an interval, what makes
it misleading, and what to do about it (measurements: docs/statistics.md).

Fewer than five repetitions have a range, no interval. From five on there is an interval, which
holds if the repetitions are independent and typical. From 60 on this can be checked; a mean without
anything odd is then called reliable.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from effio import text as fmt
from effio.judge import FEWEST, Interval, detection, statistics
from effio.judge.detection import Floats
from effio.judge.statistics import Summary

RELIABLE_FROM = 60
# A first level of at most this share of the repetitions is a start-up.
_START = 1 / 3
# Share of the values: a minority group at least this large is a mode, otherwise outliers.
_MODE = 0.1
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


@dataclass(frozen=True)
class Statement:
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
    return _statement(values, np.asarray(values, dtype=float))


def rate_statement(amounts: Sequence[float], seconds: Sequence[float]) -> Statement | None:
    """The statement about rates: the value is total amount over total time, with its interval."""
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
    remarks = oddities(values)
    half = float(detection.half_width(counted))
    grade = Grade.RELIABLE if reported.count >= RELIABLE_FROM else Grade.UNCHECKED
    return Statement(
        reported,
        value,
        Interval(value - half, value + half),
        median,
        float(detection.worth(counted)),
        Grade.ODD if remarks else grade,
        remarks,
    )


def oddities(values: Sequence[float]) -> tuple[Remark, ...]:
    """Oddities of values in the order of measurement, without those that merely follow from another
    one. None for fewer than five values."""
    some = np.asarray(values, dtype=float)
    if len(some) < FEWEST or float(np.ptp(some)) <= _EQUAL * abs(float(some.mean())):
        return ()
    # Rates differ by factors, so their logarithms are compared.
    scaled = np.log(some) if some.min() > 0 else some
    level = _level_remark(some, scaled)
    drift = bool(detection.drifts(some))
    found = [None if level and _same_groups(scaled) else _split_remark(some, scaled), level]
    if drift and level is None:
        found.append(_drift_remark(some))
    if not any(found[:2]) and (away := detection.outliers(some)).any():
        count = int(away.sum())
        what = f"{count} of {len(some)} {_are(count)} far from the others ({_worst(some, away)})"
        found.append(Remark(Oddity.OUTLIERS, what))
    if not any(found[1:]) and detection.correlated(some):
        found.append(Remark(Oddity.CORRELATED, _correlated(some)))
    reported = [remark for remark in found if remark is not None]
    if not reported and drift:
        reported = [_drift_remark(some)]
    return tuple(reported)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _same_groups(scaled: Floats) -> bool:
    """Whether the two modes are two consecutive levels."""
    modes, levels = detection.modes(scaled), detection.level_change(scaled)
    first = int(levels.place)
    low = first if levels.before < levels.after else len(scaled) - first
    return not modes.found or int(modes.place) == low


def odd(values: Floats) -> detection.Flags:
    """Whether `oddities` finds any, for many samples of positive values (along the last axis)."""
    logs = np.log(values)
    found = detection.modes(logs).found | detection.level_change(logs).found
    found = found | detection.drifts(values) | detection.outliers(values).any(-1)
    return np.asarray(found | detection.correlated(values))


def _factor(factor: float) -> str:
    return (
        f"{fmt.few_digits(factor, 2)} times"
        if factor >= 0.1
        else f"1/{fmt.few_digits(1 / factor, 2)}"
    )


def _split_remark(some: Floats, scaled: Floats) -> Remark | None:
    """Two modes, or, where the smaller group is small, outliers."""
    found = detection.modes(scaled)
    if not found.found:
        return None
    ordered = np.sort(some)
    place, count = int(found.place), len(some)
    low, high = float(np.median(ordered[:place])), float(np.median(ordered[place:]))
    upper = count - place <= place
    few = min(place, count - place)
    of = (high, low) if upper else (low, high)
    times = f" at {_factor(of[0] / of[1])} the others" if of[1] > 0 and of[0] > 0 else ""
    if few == 1 or few < _MODE * count:
        return Remark(
            Oddity.OUTLIERS, f"{few} of {count} {_are(few)} far off{times.replace(' at ', ': ')}"
        )
    return Remark(Oddity.MODES, f"two modes, {fmt.percent(few / count)} of {count}{times}")


def _level_remark(some: Floats, scaled: Floats) -> Remark | None:
    found = detection.level_change(scaled)
    if not found.found or int(found.place) == len(some) - 1:  # a last value is an outlier
        return None
    place = int(found.place)
    first, second = float(some[:place].mean()), float(some[place:].mean())
    if place <= max(1, math.floor(_START * len(some))):
        which = "the first is" if place == 1 else f"the first {place} are"
        times = (
            f" {_factor(first / second)} the others" if second > 0 and first > 0 else " different"
        )
        return Remark(Oddity.START, f"{which}{times}")
    times = f" to {_factor(second / first)} what it was" if first > 0 and second > 0 else ""
    return Remark(Oddity.LEVEL, f"the level changes after {place} of {len(some)}{times}")


def _drift_remark(some: Floats) -> Remark:
    return Remark(Oddity.DRIFT, f"the values {_direction(some)} from first to last")


def _direction(some: Floats) -> str:
    third = max(1, len(some) // 3)
    first, last = float(some[:third].mean()), float(some[-third:].mean())
    how = "rise" if last > first else "fall"
    return f"{how} by {fmt.percent(abs(last / first - 1))}" if first > 0 else how


def _worst(some: Floats, away: detection.Flags) -> str:
    median = float(np.median(some))
    worst = max((float(v) for v in some[away]), key=lambda v: abs(v - median))
    return (
        f"{_factor(worst / median)} the median"
        if worst > 0 and median > 0
        else fmt.few_digits(worst)
    )


def _correlated(some: Floats) -> str:
    count = len(some)
    if count < detection.FEWEST_WIDENED:
        return (
            "neighbors are alike (autocorrelated); too few to say how much that widens the interval"
        )
    worth = float(detection.worth(some))
    return f"autocorrelated: {count} count as {worth:.0f} independent ones"


def is_known(interval: Interval | None, count: int) -> bool:
    """Whether a statement may be based on this mean: it has at least two repetitions and an
    interval. Efficiency, scaling and shares all use this rule."""
    return interval is not None and count >= 2


def are_apart(first: Interval | None, second: Interval | None) -> bool:
    """Whether a difference may be stated: both intervals are known and do not overlap."""
    if first is None or second is None:
        return False
    return first.high < second.low or second.high < first.low
