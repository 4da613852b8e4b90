# SPDX-License-Identifier: BSD-3-Clause
"""Figures as data for the page's script (page/draw.js)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from effio import text as fmt
from effio.report import axes
from effio.report.model import Axis, Figure, Panel, Series

COLOURS = 8
# A heat map of up to this many columns and rows shows its values.
_MOST_COLUMNS = 4
_MOST_ROWS = 12


@dataclass(frozen=True)
class SeriesStyle:
    """How a series is drawn: indices of a colour and a marker, and a round of all colours (dashes
    of lines, hatches of bars). No two series of a figure look the same."""

    colour: int
    symbol: int
    round: int
    number: int  # of the series in its figure


SeriesStyles = Mapping[tuple[str, int], SeriesStyle]


def styles_of(figure: Figure) -> SeriesStyles:
    """Styles by name. A style has its color in all figures; where two of a figure would have the
    same, the later one takes the next that is free, and from the ninth on another marker."""
    found: dict[tuple[str, int], SeriesStyle] = {}
    used: set[tuple[int, int]] = set()
    colours: dict[int, int] = {}  # of a style, for its dashed companion
    limits = 0
    for series in (s for panels in figure.variants.values() for p in panels for s in p.series):
        key = (series.name, series.style)
        if key in found:
            continue
        if series.form == "limit":
            found[key] = SeriesStyle(-1, 0, limits, len(found))
            limits += 1
            continue
        # Accesses (10…) begin where the five pattern types of b_eff_io end: both are in a figure.
        wanted = (series.style - 5 if series.style >= 10 else series.style) % COLOURS
        turn = len(used) // COLOURS
        if series.dashed:  # lines of later rounds are dashed
            wanted = colours.get(series.style, wanted)
            turn = next(t for t in count(1) if (wanted, t) not in used)
        while sum(t == turn for _, t in used) == COLOURS:
            turn += 1
        free = (wanted + i for i in range(COLOURS))
        colour = next(c % COLOURS for c in free if (c % COLOURS, turn) not in used)
        used.add((colour, turn))
        colours.setdefault(series.style, colour)
        found[key] = SeriesStyle(colour, (colour + turn) % COLOURS, turn, len(found))
    return found


def _scale_data(scale: axes.Scale) -> dict[str, Any]:
    return {"range": [scale.low, scale.high], "ticks": [list(t) for t in scale.ticks]}


def _axis_data(axis: Axis) -> dict[str, Any]:
    return {
        "title": axes.title_of(axis),
        "unit": "" if axis.unit == "1" else axis.unit,
        "log": axis.log,
        "switch": axis.switch,
        "low": axis.low,
        "high": axis.high,
    }


def _hover(
    figure: Figure, labels: Mapping[float, str], panel: Panel, series: Series, index: int
) -> str:
    """`labels` are those of the ticks."""
    y = series.y[index]
    x = series.x[index]
    if isinstance(x, str):
        place = x
    elif x in labels:
        place = labels[x]
    else:
        place = fmt.quantity(x, figure.x.unit)
    part = fmt.percent(y) if figure.y.shown == "%" and y is not None else None
    shown = part or fmt.quantity(y, figure.y.unit)
    lines = [" · ".join(part for part in (panel.title, series.name, place) if part), shown]
    if index < len(series.notes) and series.notes[index]:
        lines.append(series.notes[index])
    return "\n".join(_broken(line) for line in lines)


def _broken(line: str, width: int = 60) -> str:
    """Long lines would run out of the window."""
    words, out, room = line.split(" "), [""], width
    for word in words:
        if len(word) + 1 > room and out[-1]:
            out.append("")
            room = width
        out[-1] += (" " if out[-1] else "") + word
        room -= len(word) + 1
    return "\n".join(out)


def _series_data(
    figure: Figure, panel: Panel, series: Series, styles: SeriesStyles
) -> dict[str, Any]:
    labels = dict(figure.x.ticks)
    look = styles[series.name, series.style]
    ends = {i: (low, high) for i, low, high in axes.whisker_ends(figure, series)}
    return {
        "name": series.name,
        "key": look.number,
        "colour": look.colour,
        "symbol": look.symbol,
        "round": look.round,
        "form": series.form,
        "x": list(series.x),
        "y": list(series.y),
        "high": [ends[i][1] if i in ends else None for i in range(len(series.y))] if ends else [],
        "low": [ends[i][0] if i in ends else None for i in range(len(series.y))] if ends else [],
        "faulty": list(series.faulty) or [False] * len(series.x),
        "hover": []
        if series.form == "limit"
        else [_hover(figure, labels, panel, series, i) for i in range(len(series.x))],
    }


def _panel_data(figure: Figure, panel: Panel, styles: SeriesStyles) -> dict[str, Any]:
    return {
        "title": panel.title,
        "series": [_series_data(figure, panel, s, styles) for s in panel.series],
        "single": figure.kind == "bars" and axes.single_bars(panel),
        "xLabels": list(panel.x_labels),
        "yLabels": list(panel.y_labels),
        "values": [list(row) for row in panel.values],
        # Few cells have room for their values.
        "shown": [
            ["" if v is None else fmt.quantity(v, figure.y.unit) for v in row]
            for row in panel.values
        ]
        if len(panel.x_labels) <= _MOST_COLUMNS and len(panel.y_labels) <= _MOST_ROWS
        else [],
        "hover": [
            [
                f"{panel.title} {y} × {x}: {fmt.quantity(value, figure.y.unit)}".strip()
                for x, value in zip(panel.x_labels, row, strict=False)
            ]
            for y, row in zip(panel.y_labels, panel.values, strict=False)
        ],
    }


def _variant_data(
    figure: Figure, name: str, panels: Sequence[Panel], styles: SeriesStyles
) -> dict[str, Any]:
    numbers = axes.x_values(panels)
    values = axes.y_values(figure, panels)
    kinds = {"linear": False, "log": True} if figure.y.log else {"linear": False}
    return {
        "name": name,
        "colors": _scale_data(axes.color_scale(figure, panels)),
        "panels": [_panel_data(figure, p, styles) for p in panels],
        "x": _scale_data(axes.scale_of(figure.x, numbers, figure.x.log)) if numbers else None,
        "y": {
            kind: _scale_data(axes.scale_of(figure.y, values, log)) for kind, log in kinds.items()
        },
    }


def figure_data(figure: Figure, identity: str) -> dict[str, Any]:
    styles = styles_of(figure)
    return {
        "id": identity,
        "kind": figure.kind,
        "x": _axis_data(figure.x),
        "y": _axis_data(figure.y),
        "columns": figure.columns,
        "bands": [list(band) for band in figure.bands],
        "panelHeight": figure.panel_height,
        "variants": [
            _variant_data(figure, name, panels, styles) for name, panels in figure.variants.items()
        ],
    }
