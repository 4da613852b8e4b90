# SPDX-License-Identifier: BSD-3-Clause
"""Where an axis begins and ends and which of its places have a label: the same for the page and for
figures in papers. A curve without a label next to it cannot be read: every axis has at least two.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from effio import text as fmt
from effio.report.model import Axis, Block, Figure, Panel, Section, Series

# More sizes than this are labelled at round ones instead of at each that was measured.
_MOST_SIZES = 40
# The same of sizes that are means, as of the calls of a measurement.
_MOST_MEANS = 6
# Free space beyond the outermost values, as a part of the axis.
_MARGIN = 0.04
# No quantity is as large or, as its inverse, as small: beyond it an axis does not reach, so that
# ratios of two that are drawn stay numbers.
_MOST = 1e150
_SI = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0))
_SMALL = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


@dataclass(frozen=True)
class Scale:
    """Limits (on a logarithmic axis too in the axis' own unit) and labels."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]


def title_of(axis: Axis) -> str:
    """The title with the unit, where the labels do not have it."""
    own = axis.shown == "%" or axis.unit in ("", "1", "B", "B/s", "s") or axis.ticks
    return axis.title if own else f"{axis.title} [{axis.unit}]"


def label(axis: Axis, value: float) -> str:
    """One place on the axis, as short as it can be."""
    if axis.shown == "%":
        return f"{fmt.few_digits(100 * value, 4)} %"
    if value == 0:
        return "0"
    if axis.unit == "B":
        return fmt.size(value) if value >= 1 else f"{value:.4g} B"
    if axis.unit == "s":
        if value >= 600:
            return fmt.duration(value)
        name, step = next((s for s in _SMALL if abs(value) >= s[1] * 0.9999), _SMALL[-1])
        return f"{value / step:.4g} {name}"
    prefix, step = next((s for s in _SI if abs(value) >= s[1] * 0.9999), _SI[-1])
    unit = f"{prefix}B/s" if axis.unit == "B/s" else prefix
    blank = " " if unit else ""
    return f"{value / step:.4g}{blank}{unit}"


def _nice_step(width: float, parts: int = 5) -> float:
    """1, 2, 2.5 or 5 times a power of ten, so that some `parts` of them make the width."""
    raw = width / parts
    power = 10.0 ** math.floor(math.log10(raw))
    return next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= raw * 0.9999)


def _linear(axis: Axis, values: Sequence[float]) -> Scale:
    """From zero, because lengths that are compared must not be cut."""
    low, high = min(0.0, *values), max(0.0, *values)
    space = (high - low) * _MARGIN
    low, high = (low - space if low < 0 else 0.0), high + space
    low = axis.low if axis.low is not None else low
    if axis.high is not None:
        # A hair more, so that the last label is not taken for one outside.
        high = axis.high + (axis.high - low) * 0.002
    if not high > low:
        high = low + (abs(low) or 1.0)
    step = _nice_step(high - low)
    first = math.ceil(low / step - 1e-9)
    count = math.floor(high / step + 1e-9) - first + 1
    places = [(first + i) * step for i in range(count)]
    return Scale(low, high, [(p, label(axis, p)) for p in places])


def _mean_size(value: float) -> str:
    return fmt.size(value) if value >= 1024 else f"{value:.3g} B"


def _log_places(low: float, high: float, base: Axis) -> list[float]:
    """Round values between the limits, some three to ten of them."""
    if base.unit == "B":
        for parts in ((1.0,), (1.0, 1.25, 1.5, 1.75)):
            steps = [m * 4.0**i for i in range(-15, 31) for m in (*parts, *(2 * p for p in parts))]
            inside = [s for s in steps if low <= s <= high]
            if len(inside) >= 2:
                return inside[:: math.ceil(len(inside) / 10)]
    decades = math.log10(high / low)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)):
        found = [m * 10.0**p for p in powers for m in digits if low <= m * 10.0**p <= high]
        if len(found) >= min(4, 2 + decades):
            return found[:: math.ceil(len(found) / 12)]
    step = _nice_step(high - low, 4)
    first = math.ceil(low / step)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def _logarithmic(axis: Axis, values: Sequence[float]) -> Scale:
    positive = [v for v in values if v > 0] or [1.0]
    bottom, top = min(positive), max(positive)
    room = (top / bottom) ** _MARGIN if top > bottom else 1.0
    # A single value gets company: its axis reaches to half and to twice of it.
    room = max(room, 2.0 if top / bottom < 1.05 else 1.08)
    low = axis.low if axis.low is not None and axis.low > 0 else bottom / room
    high = axis.high if axis.high is not None and axis.high > low else top * room
    if axis.ticks:
        return Scale(low, high, list(axis.ticks))
    sizes = sorted(set(positive))
    if axis.unit == "B" and len(sizes) <= _MOST_SIZES and all(s == int(s) for s in sizes):
        return Scale(low, high, [(s, fmt.exact_size(int(s))) for s in sizes])
    if axis.unit == "B" and len(sizes) <= _MOST_MEANS:
        return Scale(low, high, [(s, _mean_size(s)) for s in sizes])
    return Scale(low, high, [(p, label(axis, p)) for p in _log_places(low, high, axis)])


def scale_of(axis: Axis, values: Iterable[float], log: bool) -> Scale:
    drawn = [v for v in values if abs(v) <= _MOST]
    known = [v if abs(v) >= 1 / _MOST else 0.0 for v in drawn] or [1.0]
    if log:
        return _logarithmic(axis, known)
    if axis.ticks:
        # A marker at the end of an axis without free space would be cut.
        space = (max(known) - min(known)) * _MARGIN
        low = axis.low if axis.low is not None else min(known) - space
        high = axis.high if axis.high is not None else max(known) + space
        return Scale(low, high, list(axis.ticks))
    return _linear(axis, known)


def x_values(panels: Iterable[Panel]) -> list[float]:
    return [x for p in panels for s in p.series for x in s.x if not isinstance(x, str)]


def whisker_ends(figure: Figure, series: Series) -> list[tuple[int, float, float]]:
    """For each point with a whisker: its index, the lower and the upper end. A whisker without a
    lower end starts at its point. Rates, times and sizes are not negative, so their whiskers end at
    0; on other axes at the lowest value that there is (`low`)."""
    least = 0.0 if figure.y.unit != "1" else -math.inf
    least = max(least, figure.y.low) if figure.y.low is not None else least
    found = []
    for i, (y, high, low) in enumerate(zip_longest(series.y, series.high, series.low)):
        if y is not None and high is not None:
            found.append((i, max(low, least) if low is not None else y, high))
    return found


def color_scale(figure: Figure, panels: Iterable[Panel]) -> Scale:
    """The scale of a heat map: one for all panels, so that equal colors mean equal values."""
    reported = [v for p in panels for row in p.values for v in row if v is not None] or [0.0, 1.0]
    low = min(reported) if figure.y.low is None else figure.y.low
    high = max(reported) if figure.y.high is None else figure.y.high
    if not high > low:
        high = low + (abs(low) or 1.0)
    scale = scale_of(replace(figure.y, low=low, high=high), reported, log=False)
    return Scale(low, high, scale.ticks)


def single_bars(panel: Panel) -> bool:
    """Whether each name has bars of one series only."""
    drawn = [str(x) for s in panel.series for x, y in zip(s.x, s.y, strict=True) if y is not None]
    return len(set(drawn)) == len(drawn)


def y_values(figure: Figure, panels: Iterable[Panel]) -> list[float]:
    """The values with the ends of whiskers; of stacked bars the whole stacks."""
    if figure.kind != "stacked":
        drawn = [s for p in panels for s in p.series]
        ends = [
            end for s in drawn for _, low, high in whisker_ends(figure, s) for end in (low, high)
        ]
        return [*(y for s in drawn for y in s.y if y is not None), *ends]
    stacks: dict[tuple[int, str], float] = {}
    for number, panel in enumerate(panels):
        for series in panel.series:
            for x, y in zip(series.x, series.y, strict=True):
                key = (number, str(x))
                stacks[key] = stacks.get(key, 0.0) + (y or 0.0)
    return list(stacks.values())


def before_scale(section: Section, scale: float) -> Section:
    """For a campaign's page: axes of sizes and times say that they name what its file has, which
    the runs shrank."""

    def named(block: Block) -> Block:
        if not isinstance(block, Figure):
            return block
        if not any(c.isalpha() for _, text in block.x.ticks for c in text):
            return block  # counts, or no labels
        title = f"{block.x.title} (before --scale {fmt.few_digits(scale)})"
        return replace(block, x=replace(block.x, title=title))

    return replace(section, blocks=[named(block) for block in section.blocks])
