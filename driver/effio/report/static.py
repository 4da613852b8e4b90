# SPDX-License-Identifier: BSD-3-Clause
"""Single figures for papers, by matplotlib: the same panels as on the page."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from effio import text as fmt
from effio.errors import EffioError, ExitCode, pip_install
from effio.report.axes import (
    Scale,
    color_scale,
    scale_of,
    single_bars,
    title_of,
    whisker_ends,
    x_values,
    y_values,
)
from effio.report.build import load, report_of
from effio.report.draw import SeriesStyle, SeriesStyles, styles_of
from effio.report.model import Figure, Panel, Report, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.text import Text

# As on the page (page/traces.js), on white.
_COLOURS = (
    "#0067a8", "#c85200", "#00835c", "#b0578d", "#9a6f00", "#3a93c9", "#6b4fa0", "#5b6570",
)  # fmt: skip
_MARKERS = ("o", "s", "D", "^", "P", "v", "*", "X")
_DASHES = ("--", ":", "-.", (0, (8, 3)), (0, (8, 3, 2, 3)))
_ROUNDS = ("-", ":", "--", (0, (8, 3)), "-.")
_HATCHES = ("", "//", "xx", "..", "--")
_LIMIT_COLOUR = "#5a6675"
_DPI = 200
_NAME_ROOM = 26  # letters in a line of a name next to or below an axis


@dataclass(frozen=True)
class Choice:
    """What the page's switches offer: one of the figure's variants (None: the first), and a linear
    axis instead of a logarithmic one."""

    figure: str
    variant: str | None = None
    linear: bool = False


def find_figure(report: Report, choice: Choice) -> Figure:
    """The chosen figure, reduced to the chosen variant. A wrong name is answered by what there
    is."""
    figures = {f.id: f for f in report.figures()}
    if choice.figure not in figures:
        names = [
            f"{f.id} ({', '.join(f.variants)})" if len(f.variants) > 1 else f.id
            for f in figures.values()
        ]
        raise EffioError(
            f"no figure '{choice.figure}'; there are: " + (", ".join(names) or "none in this run")
        )
    figure = figures[choice.figure]
    name = _find_variant(figure, choice.variant)
    if choice.linear:
        if not figure.y.switch:
            raise EffioError(f"figure '{figure.id}' has no switch between log and linear")
        figure = replace(figure, y=replace(figure.y, log=False))
    if len(figure.variants) > 1:
        figure = replace(figure, title=f"{figure.title}: {name}")
    return replace(figure, variants={name: figure.variants[name]})


def _find_variant(figure: Figure, wanted: str | None) -> str:
    """The variant by its name, or by as much of its start as is unique."""
    names = list(figure.variants)
    if wanted is None or wanted in names:
        return names[0] if wanted is None else wanted
    found = [n for n in names if n.casefold().startswith(wanted.casefold())]
    if len(found) == 1:
        return found[0]
    if len(names) < 2:
        raise EffioError(f"figure '{figure.id}' has no variants to choose from")
    how_many = "several variants" if found else "no variant"
    raise EffioError(
        f"figure '{figure.id}' has {how_many} '{wanted}'; there are: {', '.join(found or names)}"
    )


def _literal(text: str) -> str:
    """matplotlib would read dollars as mathematics."""
    return fmt.plain(text, 200).replace("$", r"\$")


def _wrapped(text: str, room: int) -> str:
    """Wraps a text into lines of at most `room` letters."""
    return "\n".join(textwrap.wrap(_literal(text), room)) or " "


def _prepare_axis(axes: Axes, scale: Scale, which: str, log: bool) -> None:
    side: Any = getattr(axes, f"{which}axis")
    if log:
        getattr(axes, f"set_{which}scale")("log")
    inside = [(t, _literal(text)) for t, text in scale.ticks if scale.low <= t <= scale.high]
    side.set_ticks([t for t, _ in inside], [text for _, text in inside])
    side.set_ticks([], minor=True)
    getattr(axes, f"set_{which}lim")(scale.low, scale.high)


def _draw_whiskers(
    axes: Axes, at: Sequence[float], figure: Figure, series: Series, colour: str
) -> None:
    ends = [(at[i], low, high) for i, low, high in whisker_ends(figure, series)]
    if ends:
        xs, lows, highs = zip(*ends, strict=True)
        axes.vlines(xs, lows, highs, color=colour, linewidth=0.8)


def _draw_curve(axes: Axes, figure: Figure, series: Series, look: SeriesStyle) -> None:
    # Names stand where a figure by number would have its numbers.
    at = [float(i) if isinstance(x, str) else x for i, x in enumerate(series.x)]
    points = [(x, y) for x, y in zip(at, series.y, strict=True) if y is not None]
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    name = _literal(series.name)
    if series.form == "limit":
        dash: Any = _DASHES[look.round % len(_DASHES)]
        axes.plot(xs, ys, linestyle=dash, color=_LIMIT_COLOUR, label=name)
        return
    colour, marker = _COLOURS[look.colour], _MARKERS[look.symbol]
    line: Any = "none" if series.form == "points" else _ROUNDS[look.round % len(_ROUNDS)]
    axes.plot(
        xs, ys, linestyle=line, marker=marker, markersize=4, linewidth=1.2, color=colour,
        label=name,
    )  # fmt: skip
    faulty = [
        (x, y)
        for x, y, bad in zip(at, series.y, series.faulty, strict=False)
        if bad and y is not None
    ]
    for x, y in faulty:
        axes.plot(
            x, y, linestyle="none", marker=marker, markersize=4, color=colour,
            markerfacecolor="white",
        )  # fmt: skip
    _draw_whiskers(axes, at, figure, series, colour)


def _draw_bars(
    axes: Axes, figure: Figure, panel: Panel, styles: SeriesStyles, stacked: bool
) -> None:
    names = list(dict.fromkeys(str(x) for s in panel.series for x in s.x))
    at = {name: i for i, name in enumerate(names)}
    begin = [0.0] * len(names)
    # If each name has only one bar, the bar is wide and centered above it.
    grouped = not stacked and not single_bars(panel)
    wide = 0.8 / (max(1, len(panel.series)) if grouped else 1)
    for number, series in enumerate(panel.series):
        look = styles[series.name, series.style]
        colour, hatch = _COLOURS[look.colour], _HATCHES[look.round % len(_HATCHES)]
        places = [
            at[str(x)] + ((number - (len(panel.series) - 1) / 2) * wide if grouped else 0)
            for x in series.x
        ]
        for i, (place, y) in enumerate(zip(places, series.y, strict=True)):
            if y is None:
                continue
            bad = i < len(series.faulty) and series.faulty[i]
            shape = "//" if bad else hatch
            if stacked:
                row = at[str(series.x[i])]
                axes.barh(row, y, left=begin[row], color=colour, height=0.75, hatch=hatch)
                begin[row] += y
            else:
                axes.bar(place, y, wide, color=colour, hatch=shape, edgecolor="white")
        if not stacked:
            _draw_whiskers(axes, places, figure, series, "#1b2430")
        axes.plot([], [], "s", color=colour, label=_literal(series.name))
    labels = [_wrapped(name, _NAME_ROOM) for name in names]
    if stacked:
        axes.set_yticks(range(len(names)), labels)
        axes.invert_yaxis()
    else:
        axes.set_xticks(range(len(names)), labels)


def _draw_heat(axes: Axes, figure: Figure, panel: Panel) -> None:
    """One scale of colours for all panels of the figure."""
    scale = color_scale(figure, next(iter(figure.variants.values())))
    grid = [[float("nan") if v is None else v for v in row] for row in panel.values]
    image = axes.imshow(grid, aspect="auto", cmap="cividis", vmin=scale.low, vmax=scale.high)
    axes.set_xticks(range(len(panel.x_labels)), [_wrapped(x, _NAME_ROOM) for x in panel.x_labels])
    axes.set_yticks(range(len(panel.y_labels)), [_wrapped(y, _NAME_ROOM) for y in panel.y_labels])
    canvas = axes.get_figure()
    assert canvas is not None
    bar = canvas.colorbar(image, ax=axes)
    ticks = [(t, text) for t, text in scale.ticks if scale.low <= t <= scale.high]
    bar.set_ticks([t for t, _ in ticks], labels=[text for _, text in ticks])
    bar.ax.tick_params(labelsize=7)


def draw(figure: Figure, target: Path, kind: str, subtitle: str) -> None:
    """A figure of one variant."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise EffioError(
            "single figures need matplotlib, which is not installed",
            ExitCode.ENVIRONMENT,
            pip_install("matplotlib"),
        ) from None
    # The same input always produces the same bytes.
    equal: dict[str, dict[str, Any]] = {
        "pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": "effio"},
    }  # fmt: skip
    with mpl.rc_context({"backend": "Agg", "svg.hashsalt": "effio"}):
        canvas = _canvas_of(figure, subtitle)
        canvas.set_layout_engine("none")  # everything has its place
        canvas.savefig(target, format=kind, dpi=_DPI, metadata=equal[kind])


def _canvas_of(figure: Figure, subtitle: str) -> Canvas:
    """A canvas with enough space for titles, legends and labels."""
    from matplotlib.figure import Figure as Canvas

    panels = list(next(iter(figure.variants.values())))
    bands = list(figure.bands) or [("", len(panels))]
    rows: list[tuple[str, list[Panel]]] = []
    rest = panels
    for title, count in bands:
        width = count if figure.bands else figure.columns
        band, rest = rest[:count], rest[count:]
        rows += [(title if i == 0 else "", band[i : i + width]) for i in range(0, count, width)]
    wide = figure.columns if len(rows) > 1 else max(1, len(rows[0][1]))
    height = 2.7 if figure.kind != "stacked" else figure.panel_height / 90
    canvas = Canvas(
        figsize=(max(5.5, 2.5 * wide), height * len(rows) + 0.8), dpi=_DPI, layout="constrained"
    )
    subfigures: Any = canvas.subfigures(len(rows), 1, squeeze=False)
    styles = styles_of(figure)
    everything: list[Axes] = []
    for (title, row), sub in zip(rows, subfigures[:, 0], strict=True):
        axes_row: Any = sub.subplots(1, len(row), squeeze=False)[0]
        for i, (panel, axes) in enumerate(zip(row, axes_row, strict=True)):
            _draw_panel(figure, panel, axes, styles, i == 0)
        everything.extend(axes_row)
        if title:
            sub.suptitle(_wrapped(title, _letters(canvas, 8)), fontsize=8)
        if figure.bands:
            _draw_legend(canvas, sub, axes_row, figure.kind)
    if not figure.bands:
        _draw_legend(canvas, canvas, everything, figure.kind)
    _put_title(canvas, figure.title, subtitle)
    wide_before = canvas.get_figwidth()
    _make_room(figure, canvas, everything, len(rows), wide)
    if canvas.get_figwidth() != wide_before:
        _put_title(canvas, figure.title, subtitle)
        _make_room(figure, canvas, everything, len(rows), wide)
    return canvas


def _put_title(canvas: Canvas, title: str, subtitle: str) -> None:
    """Its lines are as long as the canvas is wide."""
    lines = [_wrapped(text, _letters(canvas, 8)) for text in (title, subtitle) if text]
    canvas.suptitle("\n".join(lines), fontsize=8)


def _letters(canvas: Canvas, points: float) -> int:
    """Number of letters of this size that fit in a line: wide letters are 0.62 of their height."""
    return int(72 * (canvas.get_figwidth() - 0.3) / (0.62 * points))


def _draw_legend(canvas: Canvas, part: Any, axes: Sequence[Axes], kind: str) -> None:
    """Draws the legend of all curves of these panels, in as many columns as fit."""
    found = dict(
        reversed(pair)
        for one in axes
        for pair in zip(*one.get_legend_handles_labels(), strict=True)
    )
    if not found or (len(found) == 1 and kind != "stacked"):
        return
    room = _DPI * (canvas.get_figwidth() - 0.2)
    labels = [textwrap.fill(name, _letters(canvas, 9)) for name in found]
    for columns in range(min(6, len(found)), 0, -1):
        legend = part.legend(
            found.values(), labels, loc="outside lower center", ncols=columns, fontsize=7,
            frameon=False,
        )  # fmt: skip
        if columns == 1 or legend.get_window_extent().width <= room:
            return
        legend.remove()


def _make_room(
    figure: Figure, canvas: Canvas, axes: Sequence[Axes], rows: int, columns: int
) -> None:
    """Enlarges the picture if names leave too little space for the drawing. Labels that would touch
    are thinned out."""
    tall = 1.5 if figure.kind != "stacked" else 0.6 * figure.panel_height / 90
    broad = 2.6 if columns == 1 else 1.2
    for _ in range(3):
        _place_panels(canvas)
        # Half of the time goes into these layouts: the second one only if something has changed.
        changed = [_thin_out(one) for one in axes]
        if any(changed):
            _place_panels(canvas)
        boxes = [one.get_window_extent() for one in axes]
        higher = tall - min(box.height for box in boxes) / _DPI
        wider = broad - min(box.width for box in boxes) / _DPI
        if higher < 0.05 and wider < 0.05:
            return
        canvas.set_size_inches(
            canvas.get_figwidth() + max(0.0, wider) * columns,
            canvas.get_figheight() + max(0.0, higher) * rows,
        )


def _place_panels(canvas: Canvas) -> None:
    """Gives the panels their places without drawing them, which takes twice as long."""
    engine = canvas.get_layout_engine()
    assert engine is not None
    engine.execute(canvas)


def _thin_out(axes: Axes) -> bool:
    """Slants labels of the horizontal axis that would touch, and hides some if that is not
    enough. Returns whether anything looks different now."""
    labels = [t for t in axes.get_xticklabels() if t.get_text()]
    boxes = [t.get_window_extent() for t in labels]
    line = 9 / 72 * _DPI
    changed = False
    if any(b.x0 < a.x1 + line / 3 for a, b in pairwise(boxes)):
        axes.tick_params(axis="x", labelrotation=60)
        changed = True
    for label in labels if labels and labels[0].get_rotation() else []:
        label.set(horizontalalignment="right", rotation_mode="anchor")
    if labels and labels[0].get_rotation():
        at = [axes.transData.transform((t.get_position()[0], 0.0))[0] for t in labels]
        sizes = [line * (1 + t.get_text().count("\n")) for t in labels]
        changed = _hide_close(labels, at, sizes) or changed
    sides = [t for t in axes.get_yticklabels() if t.get_text()]
    extents = [t.get_window_extent() for t in sides]
    middles = [(b.y0 + b.y1) / 2 for b in extents]
    return _hide_close(sides, middles, [b.height for b in extents]) or changed


def _hide_close(labels: Sequence[Text], at: Sequence[float], sizes: Sequence[float]) -> bool:
    last: float | None = None
    changed = False
    for label, place, size in zip(labels, at, sizes, strict=True):
        shown = last is None or abs(place - last) >= size
        changed = changed or shown != label.get_visible()
        label.set_visible(shown)
        if shown:
            last = place
    return changed


def _draw_panel(
    figure: Figure, panel: Panel, axes: Axes, styles: SeriesStyles, first: bool
) -> None:
    if panel.title:
        axes.set_title(_literal(panel.title), fontsize=9)
    axes.tick_params(labelsize=7)
    panels = next(iter(figure.variants.values()))
    heights = scale_of(figure.y, y_values(figure, panels), figure.y.log)
    if figure.kind == "heatmap":
        _draw_heat(axes, figure, panel)
        axes.set_ylabel(_literal(figure.y.title), fontsize=8)
    elif figure.kind == "stacked":
        _draw_bars(axes, figure, panel, styles, stacked=True)
        _prepare_axis(axes, heights, "x", log=False)
        axes.set_xlabel(_literal(title_of(figure.y)), fontsize=8)
        return
    else:
        if figure.kind in ("curves", "radar"):  # on paper side by side: easier to read
            for series in panel.series:
                _draw_curve(axes, figure, series, styles[series.name, series.style])
            _place_x(figure, panels, axes)
            axes.grid(True, linewidth=0.3)
        else:
            _draw_bars(axes, figure, panel, styles, stacked=False)
        _prepare_axis(axes, heights, "y", figure.y.log)
    axes.set_xlabel(_literal(title_of(figure.x)), fontsize=8)
    if figure.kind != "heatmap":
        if first:
            axes.set_ylabel(_literal(title_of(figure.y)), fontsize=8)
        else:
            axes.tick_params(labelleft=False)


def _place_x(figure: Figure, panels: Sequence[Panel], axes: Axes) -> None:
    numbers = x_values(panels)
    if numbers:
        _prepare_axis(axes, scale_of(figure.x, numbers, figure.x.log), "x", figure.x.log)
        return
    names = list(dict.fromkeys(str(x) for p in panels for s in p.series for x in s.x))
    axes.set_xticks(range(len(names)), [_wrapped(n, _NAME_ROOM) for n in names])


def write_figure(
    path: Path, choice: Choice, kind: str, target: Path, ceilings: Mapping[str, float]
) -> Path:
    """One figure of one run (folder or result file)."""
    return write_figure_of(report_of(*load(path), ceilings=ceilings), choice, kind, target)


def write_figure_of(report: Report, choice: Choice, kind: str, target: Path) -> Path:
    """One figure of a report."""
    figure = find_figure(report, choice)
    # Names of runs mean nothing to the reader of a paper; those of campaigns do.
    name = f"campaign {report.name}" if report.benchmark == "campaign" else report.benchmark
    try:
        draw(figure, target, kind, " · ".join(filter(None, (name, report.subtitle))))
    except OSError as error:
        raise EffioError(f"cannot write {target}: {error.strerror}", ExitCode.IO_ERROR) from None
    return target
