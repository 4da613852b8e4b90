# SPDX-License-Identifier: BSD-3-Clause
"""What findings may say of means, and of factors between rates: the rules of judge/repetitions.py
for figures of a result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from effio.judge import FEWEST, Interval, repetitions
from effio.judge.statistics import geometric_mean
from effio.store.records import Figure

ONCE = "measured once"
NO_INTERVAL = "it has no interval"
OVERLAP = "the 95 % intervals overlap"
FEW = "fewer than five repetitions have no interval"


def bounds_of(figure: Figure | None) -> Interval | None:
    """The 95 % interval of its mean."""
    of = figure.samples if figure is not None else None
    if of is None or of.low95 is None or of.high95 is None:
        return None
    return Interval(of.low95, of.high95)


def ends_of(figure: Figure) -> tuple[float | None, float | None]:
    """Both ends of the whisker of a mean: those of its 95 % interval, or of the range of fewer than
    five repetitions (judge/repetitions.py)."""
    of = figure.samples
    if of is None:
        return None, None
    if _are_few(figure):
        return (of.min, of.max) if of.count > 1 else (None, None)
    return of.low95, of.high95


def range_of(figure: Figure) -> tuple[float | None, float | None]:
    """The lowest and the highest repetition; None where there is one."""
    of = figure.samples
    return (of.min, of.max) if of is not None and of.count > 1 else (None, None)


def sample(name: str) -> Callable[[Figure], float | None]:
    """A member of what a mean is based on, by figure."""
    return lambda figure: getattr(figure.samples, name, None)


def half_of(figure: Figure) -> float | None:
    """Half the 95 % interval of a mean; None below five repetitions."""
    of = figure.samples
    return of.half95 if of is not None and not _are_few(figure) else None


def shown_bounds(figure: Figure) -> Interval | None:
    """The 95 % interval for texts; None below five repetitions, where only verdicts use it."""
    return None if _are_few(figure) else bounds_of(figure)


def _are_few(figure: Figure | None) -> bool:
    of = figure.samples if figure is not None else None
    return of is not None and of.count < FEWEST


def is_known(figure: Figure | None) -> bool:
    """Whether a statement may be based on this mean."""
    of = figure.samples if figure is not None else None
    return of is not None and repetitions.is_known(bounds_of(figure), of.count)


def are_apart(first: Figure | None, second: Figure | None) -> bool:
    """Whether a difference between two means may be stated."""
    if not is_known(first) or not is_known(second):
        return False
    return repetitions.are_apart(bounds_of(first), bounds_of(second))


def why_not_known(figure: Figure | None) -> str:
    """The reason; empty if the mean is known."""
    if is_known(figure):
        return ""
    of = figure.samples if figure is not None else None
    if of is None or of.count < 2:
        return ONCE
    return FEW if _are_few(figure) else NO_INTERVAL


def why_not_apart(first: Figure | None, second: Figure | None) -> str:
    """The reason; empty if they are apart."""
    if are_apart(first, second):
        return ""
    overlap = FEW if _are_few(first) or _are_few(second) else OVERLAP
    return why_not_known(first) or why_not_known(second) or overlap


def doubt_of_first(first: Figure, others: Iterable[Figure], word: str) -> str:
    """For the context of a number that was chosen as the highest or lowest (`word`) of several: why
    it may not be. Empty if it is apart from all others."""
    reasons = [why for f in others if f is not first and (why := why_not_apart(first, f))]
    return f"not known to be the {word}: {reasons[0]}" if reasons else ""


# Fewer pairs are single rows, and single rows do not support a verdict.
FEWEST_PAIRS = 5


@dataclass(frozen=True)
class Factor:
    """A factor between two things, out of pairs of rates that differ in nothing else: the geometric
    mean of the ratios, with its interval of 95 % confidence."""

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
    found = geometric_mean(ratios)
    return None if found is None else Factor(found.value, found.low, found.high, len(ratios))
