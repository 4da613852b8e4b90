# SPDX-License-Identifier: BSD-3-Clause
"""Figures from records: curves of means with whiskers, a panel for each case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from effio.report.common import certainty
from effio.report.common.names import grouped, unique
from effio.report.model import Axis, Figure, Panel, Series, Table
from effio.store.records import Figure as FigureRecord

Item = TypeVar("Item")
# Curves of a single panel, panels side by side, or panels by the case that a reader chooses.
Drawn = Sequence[Series] | Sequence[Panel] | Mapping[str, Sequence[Panel]]


def plot(
    identity: str,
    title: str,
    caption: str,
    kind: Literal["curves", "bars", "stacked", "heatmap", "radar"],
    x: Axis,
    y: Axis,
    drawn: Drawn,
    *,
    case: str = "",
    columns: int = 1,
    height: int = 260,
    table: Table | None = None,
) -> Figure | None:
    """A figure; None if there is nothing to draw. `case`: what the choices of panels are."""
    if not drawn:
        return None
    if isinstance(drawn, Mapping):
        variants: Mapping[str, Sequence[Panel]] = drawn
    else:
        panels = [one for one in drawn if isinstance(one, Panel)]
        series = [one for one in drawn if isinstance(one, Series)]
        variants = {"": panels or [Panel("", series)]}
    return Figure(
        identity,
        title,
        caption,
        kind,
        x,
        y,
        variants,
        columns=columns,
        variant_title=case,
        table=table,
        panel_height=height,
    )


def means(
    name: str,
    figures: Sequence[FigureRecord],
    x: Callable[[FigureRecord], float | str],
    style: int = 0,
    ends: Callable[[FigureRecord], tuple[float | None, float | None]] = certainty.ends_of,
    **more: Any,
) -> Series:
    """A curve or bars of means; `ends` are the lower and upper ends of the whiskers."""
    whiskers = [ends(f) for f in figures]
    return Series(
        name,
        [x(f) for f in figures],
        [f.metric.value for f in figures],
        style,
        high=[high for _, high in whiskers],
        low=() if ends is best else [low for low, _ in whiskers],
        **more,
    )


def best(f: FigureRecord) -> tuple[float | None, float | None]:
    """A whisker from the mean to the best repetition."""
    return None, f.samples.max if f.samples else None


def interval(f: FigureRecord) -> tuple[float | None, float | None]:
    """A whisker over the 95 % interval."""
    return (f.samples.low95, f.samples.high95) if f.samples else (None, None)


def by_case(
    items: Iterable[Item],
    case: Callable[[Item], str],
    curve: Callable[[Item], str],
    draw: Callable[[str, list[Item], int], Series],
    first: Sequence[str] = (),
) -> dict[str, list[Panel]]:
    """A panel for each case with a series for each curve. A curve has the same style in all cases:
    its number, those of `first` before others."""
    items = list(items)
    styles = {name: i for i, name in enumerate(unique([*first, *map(curve, items)]))}
    panels = {}
    for name, some in grouped(items, case).items():
        curves = sorted(grouped(some, curve).items(), key=lambda item: styles[item[0]])
        panels[name] = [Panel("", [draw(one, of, styles[one]) for one, of in curves])]
    return panels
