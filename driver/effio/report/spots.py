# SPDX-License-Identifier: BSD-3-Clause
"""All values that were measured at one place of a figure, and curves of their means over an axis of
texts: numbers, sizes, or words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal

from effio import text as fmt
from effio.campaign.expression import as_number
from effio.judge import Interval
from effio.judge.repetitions import Statement, statement
from effio.report.model import Axis, Series
from effio.store.option_values import coordinate_text


@dataclass
class Spot:
    """`own`: what a single value says of its interval."""

    values: list[float] = field(default_factory=list)
    own: Interval | None = None

    @property
    def mean(self) -> float | None:
        return sum(self.values) / len(self.values) if self.values else None

    @cached_property
    def statement(self) -> Statement | None:
        """To be read when all values are there."""
        return statement(self.values)

    @property
    def interval(self) -> Interval | None:
        """The interval of the mean; of a single value its own. No rate or time is below zero."""
        stated = self.statement if len(self.values) > 1 else None
        found = stated.interval if stated is not None else None
        found = self.own if len(self.values) == 1 else found
        if not found or min(self.values) < 0:
            return found
        return Interval(max(0.0, found.low), found.high)

    def end(self, which: Literal["low", "high"]) -> float | None:
        """An end of the interval; None without one."""
        return getattr(self.interval, which, None)

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The ends of its whisker: the interval, or the range of too few values for one."""
        if (interval := self.interval) is not None:
            return interval.low, interval.high
        return (min(self.values), max(self.values)) if len(self.values) > 1 else (None, None)


def curve(
    name: str, x: Sequence[float | str], spots: Sequence[Spot], style: int = 0, **more: Any
) -> Series:
    """The means with their whiskers."""
    ends = [spot.ends for spot in spots]
    return Series(
        name,
        x,
        [spot.mean for spot in spots],
        style,
        high=[high for _, high in ends],
        low=[low for low, _ in ends],
        **more,
    )


@lru_cache(maxsize=10_000)  # of each axis of ten thousand points, several times
def number_of(text: str) -> float | None:
    """A number, or a size in bytes; None for a word."""
    number = as_number(text)
    if number is not None:
        return float(number)
    size = fmt.parse_size(text)
    return None if size is None else float(size)


def place_of(text: str) -> tuple[bool, float, str]:
    """For sorting: numbers and sizes by value, before words."""
    number = number_of(text)
    return (number is None, number or 0.0, text)


def title_of(coordinate: str) -> str:
    """The title of a coordinate, in words."""
    return coordinate.removeprefix("where.").replace("_", " ").replace("-", " ")


def x_axis(coordinate: str, places: Iterable[str]) -> tuple[Axis, bool]:
    """The axis of these places, and whether all of them are numbers."""
    title = title_of(coordinate)
    at = {number_of(text): text for text in places}
    if None in at or not at:
        return Axis(title), False
    ticks = sorted((n, coordinate_text(coordinate, t)) for n, t in at.items() if n is not None)
    wide = ticks[0][0] > 0 and ticks[-1][0] >= 8 * ticks[0][0]
    return Axis(title, log=wide, ticks=ticks), True
