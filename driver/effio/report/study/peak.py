# SPDX-License-Identifier: BSD-3-Clause
"""Rates of a study as a percentage of its peak, with the peak as a line; over numbers of ranks with
the line of ideal scaling, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from effio.campaign.file import Chart
from effio.report.charts import Measured, chart_blocks
from effio.report.model import Axis, Figure, Panel, Series
from effio.report.parts import known, value_of
from effio.report.study.rates import Coordinate, coordinates
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord

_RANKS = frozenset({"tasks", "ranks", "processes", "streams"})


def _at(f: FigureRecord, axes: Sequence[Coordinate]) -> dict[str, str]:
    own = {f"where.{axis.name}": axis.text(f).replace(" ", "") for axis in axes}
    return {**own, "pattern": str(f.where.get("pattern", "")), "access": str(f.where.get("access"))}


def _longest(values: Sequence[Measured], axes: Sequence[Coordinate]) -> Coordinate | None:
    """The axis with the most values; numbers of ranks before others."""
    counts = {a.name: len({v.at[f"where.{a.name}"] for v in values}) for a in axes}
    several = [a for a in axes if counts[a.name] > 1]
    ranks = next((a for a in several if a.name in _RANKS), None)
    return ranks or max(several, key=lambda a: counts[a.name], default=None)


def _ideal(places: Sequence[float], values: Sequence[Series]) -> Series:
    """Linear from the best share at the fewest ranks, up to the peak."""
    first = max((s.y[0] or 0.0) for s in values if s.x and s.x[0] == places[0])
    y = [min(first * x / places[0], max(1.0, first)) for x in places]
    return Series("ideal scaling", list(places), y, 21, form="limit")


def peak_figure(result: Result) -> Figure | None:
    axes = coordinates(result)
    values = [Measured(_at(f, axes), value_of(f), "1") for f in known(result, "share_of_peak")]
    if not values:
        return None
    axis = _longest(values, axes)
    over = f"where.{axis.name}" if axis else "pattern"
    others = [f"where.{a.name}" for a in axes if a is not axis]
    varying = [n for n in others if len({v.at[n] for v in values}) > 1]
    names = ("pattern", "access") if over != "pattern" else ("access",)
    chart = Chart(
        name="peak-share", title="Per cent of the peak", steps=("results",), over=over,
        caption="The dashed line is the peak; what is above it came out of a cache, or the peak is"
        " too low.",
        curves=(*names, *varying),
    )  # fmt: skip
    (figure,) = (b for b in chart_blocks(chart, values) if isinstance(b, Figure))
    (panel,) = figure.variants[""]
    places: list[float | str] = sorted({x for s in panel.series for x in s.x}, key=_in_order)
    limits = [Series("peak", places, [1.0] * len(places), 20, form="limit")]
    numbers = [x for x in places if isinstance(x, (int, float))]
    if axis is not None and axis.name in _RANKS and len(numbers) == len(places) and numbers[0] > 0:
        limits.append(_ideal(numbers, panel.series))
    return replace(
        figure,
        y=Axis("of the peak", shown="%", low=0.0),
        variants={"": [Panel("", [*panel.series, *limits])]},
    )


def _in_order(place: float | str) -> tuple[bool, float, str]:
    return (isinstance(place, str), place if not isinstance(place, str) else 0.0, str(place))
