# SPDX-License-Identifier: BSD-3-Clause
"""What findings may say of means: the rules of judge/repetitions.py for figures of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from effio.store.records import Figure

if TYPE_CHECKING:
    from effio.judge.statistics import Interval

ONCE = "measured once"
OVERLAP = "the 95 % intervals overlap"


def bounds_of(figure: Figure | None) -> Interval | None:
    """The 95 % interval of its mean."""
    from effio.judge.statistics import Interval  # numpy and scipy: not at every start

    of = figure.samples if figure is not None else None
    if of is None or of.low95 is None or of.high95 is None:
        return None
    return Interval(of.low95, of.high95)


def is_known(figure: Figure | None) -> bool:
    """Whether a statement may be based on this mean."""
    from effio.judge import repetitions

    of = figure.samples if figure is not None else None
    return of is not None and repetitions.is_known(bounds_of(figure), of.count)


def are_apart(first: Figure | None, second: Figure | None) -> bool:
    """Whether a difference between two means may be stated."""
    from effio.judge import repetitions

    if not is_known(first) or not is_known(second):
        return False
    return repetitions.are_apart(bounds_of(first), bounds_of(second))


def why_not_apart(first: Figure | None, second: Figure | None) -> str:
    """The reason; empty if they are apart."""
    if are_apart(first, second):
        return ""
    return OVERLAP if is_known(first) and is_known(second) else ONCE


def is_known_share(figure: Figure) -> bool:
    """A share is between 0 and 1: one that is outside with its whole interval is none."""
    bounds = bounds_of(figure)
    if not is_known(figure) or bounds is None:
        return False
    return bounds.high >= 0 and bounds.low <= 1
