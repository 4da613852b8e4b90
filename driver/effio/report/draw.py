# SPDX-License-Identifier: BSD-3-Clause
"""Figures as data for the page's script (page/page.js)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from effio import text as fmt
from effio.report.model import Axis, Figure, Panel, Series

_BINARY_TICKS = [4.0**i for i in range(0, 25)]


def axis_data(axis: Axis, positions: Sequence[float] = ()) -> dict[str, Any]:
    ticks = [(at, label) for at, label in axis.ticks]
    if axis.unit == "B" and axis.log and not ticks and positions:
        # Powers of 1024 and what lies between, not powers of ten.
        low, high = min(positions), max(positions)
        inside = [t for t in _BINARY_TICKS if low / 2 <= t <= high * 2]
        ticks = [(t, fmt.size(t)) for t in inside[:: max(1, len(inside) // 7)]]
    return {
        "title": axis.title,
        "unit": "" if axis.unit == "1" else axis.unit,
        "log": axis.log,
        "switch": axis.switch,
        "ticks": ticks,
        "low": axis.low,
        "high": axis.high,
    } | ({"unit": "1"} if axis.unit == "1" else {})


def _hover(figure: Figure, panel: Panel, series: Series, index: int) -> str:
    y = series.y[index]
    x = series.x[index]
    labels = dict(figure.x.ticks)
    if isinstance(x, str):
        place = x
    elif x in labels:
        place = labels[x]
    else:
        place = fmt.quantity(x, figure.x.unit)
    value = fmt.percent(y) if figure.kind == "stacked" and y is not None else None
    shown = value or fmt.quantity(y, figure.y.unit)
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


def _series_data(figure: Figure, panel: Panel, series: Series) -> dict[str, Any]:
    return {
        "name": series.name,
        "style": series.style,
        "form": series.form,
        "x": list(series.x),
        "y": list(series.y),
        "high": list(series.high),
        "faulty": list(series.faulty) or [False] * len(series.x),
        "hover": []
        if series.form == "limit"
        else [_hover(figure, panel, series, i) for i in range(len(series.x))],
    }


def _panel_data(figure: Figure, panel: Panel) -> dict[str, Any]:
    return {
        "title": panel.title,
        "series": [_series_data(figure, panel, s) for s in panel.series],
        "xLabels": list(panel.x_labels),
        "yLabels": list(panel.y_labels),
        "values": [list(row) for row in panel.values],
        "hover": [
            [
                f"{panel.title} {y} × {x}: {fmt.quantity(value, figure.y.unit)}".strip()
                for x, value in zip(panel.x_labels, row, strict=False)
            ]
            for y, row in zip(panel.y_labels, panel.values, strict=False)
        ],
    }


def figure_data(figure: Figure, identity: str) -> dict[str, Any]:
    positions = [
        x
        for panels in figure.variants.values()
        for panel in panels
        for series in panel.series
        for x in series.x
        if not isinstance(x, str) and x > 0
    ]
    return {
        "id": identity,
        "kind": figure.kind,
        "x": axis_data(figure.x, positions),
        "y": axis_data(figure.y),
        "columns": figure.columns,
        "bands": [list(band) for band in figure.bands],
        "panelHeight": figure.panel_height,
        "variants": [
            {"name": name, "panels": [_panel_data(figure, p) for p in panels]}
            for name, panels in figure.variants.items()
        ],
    }
