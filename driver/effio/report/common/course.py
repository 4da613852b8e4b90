# SPDX-License-Identifier: BSD-3-Clause
"""How rates went: within a measurement, slice by slice, and from repetition to repetition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from effio import text as fmt
from effio.report.common.names import first_of
from effio.report.model import Finding

# No slice is shorter than the resolution of clocks: a file that says so is damaged.
_SHORTEST_WIDTH = 1e-9
# A last slice shorter than this part of the others says nothing.
_SHORTEST_SLICE = 0.1
# Three in order come by chance in a third of all cases, four in a twelfth: that is not called a
# drift, and is worth a sentence only if they differ by this factor.
_FEW = (3, 4)
_ONE_WAY = 1.5


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


def _go_one_way(values: Sequence[float]) -> bool:
    """Whether each is above, or each is below, the one before it, and the last by much."""
    if len(values) not in _FEW or min(values) <= 0:
        return False
    steps = [later - earlier for earlier, later in pairwise(values)]
    in_order = min(steps) > 0 or max(steps) < 0
    return in_order and max(values) / min(values) >= _ONE_WAY


def one_way_finding(rates: Mapping[str, Sequence[float]], unit: str, anchor: str) -> Finding | None:
    """One sentence about all rates, by name, that rise or fall over so few repetitions that no test
    can call it a drift (judge/detection.py does from five on)."""
    some = {name: values for name, values in rates.items() if _go_one_way(values)}
    if not some:
        return None
    worst = sorted(some, key=lambda name: max(some[name]) / min(some[name]), reverse=True)
    reported = [
        f"{name} from {fmt.quantity(some[name][0], unit)} to {fmt.quantity(some[name][-1], unit)}"
        for name in worst
    ]
    text = (
        f"From the first repetition to the last rates went one way: {first_of(reported, 2)}."
        " Three or four in order also come by chance; more repetitions show whether they drift."
    )
    return Finding(text, anchor)
