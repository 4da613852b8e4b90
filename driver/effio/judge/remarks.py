# SPDX-License-Identifier: BSD-3-Clause
"""What is odd about the repetitions of one measurement, in words (see `repetitions`)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from effio import text as fmt
from effio.judge import FEWEST, detection
from effio.judge.detection import Floats
from effio.judge.repetitions import Oddity, Remark

# A first level of at most this share of the repetitions is a start-up.
_START = 1 / 3
# Share of the values: a minority group at least this large is a mode, otherwise outliers.
_MODE = 0.1
_EQUAL = 1e-9


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
