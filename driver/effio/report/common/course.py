# SPDX-License-Identifier: BSD-3-Clause
"""How rates went: within a measurement, slice by slice, and from repetition to repetition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from effio import text as fmt
from effio.report.model import Finding

# No slice is shorter than the resolution of clocks: a file that says so is damaged.
_SHORTEST_WIDTH = 1e-9
# A last slice shorter than this part of the others says nothing.
_SHORTEST_SLICE = 0.1
# Repetitions that fall or rise by less than this do not drift.
_DRIFT = 1.25
# Of the pairs of repetitions, how many more must go one way than the other (Kendall's tau).
_ONE_WAY = 0.8
# Three in order come by chance in a third of all cases, four in a twelfth: that is not called a
# drift, and is worth a sentence only if they differ by this factor.
_FEW = (3, 4)
_IN_ORDER = 1.5


def course(
    amounts: Sequence[float | None], width: float, end: float
) -> tuple[list[float], list[float | None]]:
    """Middles and rates of the slices of a measurement that took `end` seconds: the last one is as
    long as the measurement went on in it, and slices behind the end are none."""
    if width < _SHORTEST_WIDTH:
        return [], []
    count = len(amounts)
    if end > 0:
        count = math.ceil(min(count, end / width - 1e-9))
    middles: list[float] = []
    rates: list[float | None] = []
    for i in range(count):
        length = min(width, end - i * width) if end > 0 else width
        amount = amounts[i]
        if i and length < _SHORTEST_SLICE * width:
            break
        middles.append(i * width + length / 2)
        rate = math.inf if amount is None else amount / length
        rates.append(rate if math.isfinite(rate) else None)
    return middles, rates


def _goes_one_way(values: Sequence[float], least: float) -> bool:
    """Whether the last is by this factor above or below the first, and most pairs are in order."""
    if len(values) < 3 or min(values) <= 0:
        return False
    ends = (values[0], values[-1])
    if max(ends) / min(ends) < least:
        return False
    import numpy as np  # not at every start

    from effio.judge.detection import kendall_score

    pairs = len(values) * (len(values) - 1) / 2
    return bool(abs(kendall_score(np.asarray(values))) >= _ONE_WAY * pairs)


def _drifts(values: Sequence[float]) -> bool:
    """Whether chance does not explain that they go one way, by the same test as elsewhere."""
    if not _goes_one_way(values, _DRIFT):
        return False
    import numpy as np

    from effio.judge import detection

    return len(values) >= detection.FEWEST and bool(detection.drifts(np.asarray(values)))


def drift_finding(rates: Mapping[str, Sequence[float]], unit: str, anchor: str) -> Finding | None:
    """One sentence about all rates, by name, that fall or rise from repetition to repetition."""

    def reported(some: Mapping[str, Sequence[float]]) -> str:
        def factor(name: str) -> float:
            first, last = some[name][0], some[name][-1]
            return max(first, last) / min(first, last)

        worst = sorted(some, key=factor, reverse=True)
        texts = [
            f"{name} from {fmt.quantity(some[name][0], unit)} to"
            f" {fmt.quantity(some[name][-1], unit)}"
            for name in worst[:2]
        ]
        return ", ".join(texts) + (f" and {len(worst) - 2} more" if len(worst) > 2 else "")

    if drifting := {name: values for name, values in rates.items() if _drifts(values)}:
        text = (
            f"From repetition to repetition rates drift: {reported(drifting)}. A cache fills, a"
            " directory grows, or others are at work: the mean says little."
        )
        return Finding(text, anchor, "warn")
    few = {
        name: values
        for name, values in rates.items()
        if len(values) in _FEW and _goes_one_way(values, _IN_ORDER)
    }
    if not few:
        return None
    text = (
        f"From the first repetition to the last rates went one way: {reported(few)}. Three or four"
        " in order also come by chance; more repetitions show whether they drift."
    )
    return Finding(text, anchor)
