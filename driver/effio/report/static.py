# SPDX-License-Identifier: BSD-3-Clause
"""Single figures for papers, by matplotlib: the same panels as on the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from effio import text as fmt
from effio.errors import EffioError, ExitCode
from effio.report.build import load, tell
from effio.report.model import Axis, Figure, Panel, Report, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# As on the page (page/page.js), on white.
_COLOURS = (
    "#0067a8", "#c85200", "#00835c", "#b0578d", "#9a6f00", "#3a93c9", "#6b4fa0", "#5b6570",
)  # fmt: skip
_MARKERS = ("o", "s", "D", "^", "P", "v", "*", "X")
_DASHES = ("--", ":", "-.")
_LIMIT_COLOUR = "#5a6675"


def _index(style: int) -> int:
    return (style - 10) * 3 % 8 if style >= 10 else style % 8


@dataclass(frozen=True)
class Choice:
    """What the page's switches offer: one of the figure's variants (None: the first), and a linear
    axis instead of a logarithmic one."""

    figure: str
    variant: str | None = None
    linear: bool = False


def _described(figure: Figure) -> str:
    """A figure's name, with its variants where there is a choice."""
    if len(figure.variants) < 2:
        return figure.id
    return f"{figure.id} ({', '.join(figure.variants)})"


def find_figure(report: Report, choice: Choice) -> Figure:
    """The chosen figure, reduced to the chosen variant. A wrong name is answered by what there
    is."""
    figures = {f.id: f for f in report.figures()}
    if choice.figure not in figures:
        raise EffioError(
            f"no figure '{choice.figure}'; there are: "
            + (", ".join(map(_described, figures.values())) or "none in this run")
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
    """By its name, or as much of its beginning as tells it from the others."""
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


def _prepare_axis(axes: Axes, axis: Axis, which: str) -> None:
    from matplotlib.ticker import EngFormatter

    side: Any = getattr(axes, f"{which}axis")
    if axis.log:
        getattr(axes, f"set_{which}scale")("log")
    if axis.ticks:
        side.set_ticks([t for t, _ in axis.ticks], [_literal(label) for _, label in axis.ticks])
        side.set_ticks([], minor=True)
        if which == "x" and len(axis.ticks) > 4:
            axes.tick_params(axis="x", labelrotation=45)
    elif axis.unit in ("B/s", "B", "s"):
        side.set_major_formatter(EngFormatter(unit=axis.unit))
    if axis.low is not None and axis.high is not None:
        getattr(axes, f"set_{which}lim")(axis.low, axis.high)


def _draw_curve(axes: Axes, series: Series) -> None:
    index = _index(series.style)
    points = [
        (x, y, series.high[i] if i < len(series.high) else None)
        for i, (x, y) in enumerate(zip(series.x, series.y, strict=True))
        if y is not None and not isinstance(x, str)
    ]
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    if series.form == "limit":
        axes.plot(
            xs, ys, _DASHES[series.style % 3], color=_LIMIT_COLOUR, label=_literal(series.name)
        )
        return
    line = "none" if series.form == "points" else "-"
    axes.plot(
        xs, ys, linestyle=line, marker=_MARKERS[index], markersize=4, linewidth=1.2,
        color=_COLOURS[index], label=_literal(series.name),
    )  # fmt: skip
    for i, faulty in enumerate(series.faulty):
        x, y = series.x[i], series.y[i]
        if faulty and y is not None and not isinstance(x, str):
            axes.plot(
                x, y, linestyle="none", marker=_MARKERS[index], markersize=4,
                color=_COLOURS[index], markerfacecolor="white",
            )  # fmt: skip
    whiskers = [(x, y, h) for x, y, h in points if h is not None]
    if whiskers:
        axes.vlines(
            [w[0] for w in whiskers], [w[1] for w in whiskers], [w[2] for w in whiskers],
            color=_COLOURS[index], linewidth=0.8,
        )  # fmt: skip


def _draw_bars(axes: Axes, panel: Panel, stacked: bool) -> None:
    names = list(dict.fromkeys(str(x) for s in panel.series for x in s.x))
    at = {name: i for i, name in enumerate(names)}
    begin = [0.0] * len(names)
    wide = 0.8 / (1 if stacked else max(1, len(panel.series)))
    for number, series in enumerate(panel.series):
        colour = _COLOURS[_index(series.style)]
        for x, y in zip(series.x, series.y, strict=True):
            if y is None:
                continue
            i = at[str(x)]
            if stacked:
                axes.barh(i, y, left=begin[i], color=colour, height=0.75)
                begin[i] += y
            else:
                axes.bar(i + (number - (len(panel.series) - 1) / 2) * wide, y, wide, color=colour)
        axes.plot([], [], "s", color=colour, label=_literal(series.name))
    labels = [_literal(name) for name in names]
    if stacked:
        axes.set_yticks(range(len(names)), labels)
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
    else:
        axes.set_xticks(range(len(names)), labels)


def _draw_heat(axes: Axes, figure: Figure, panel: Panel) -> None:
    """One scale of colours for all panels of the figure."""
    from matplotlib.ticker import EngFormatter

    panels = next(iter(figure.variants.values()))
    told = [v for p in panels for row in p.values for v in row if v is not None]
    grid = [[float("nan") if v is None else v for v in row] for row in panel.values]
    low, high = (min(told), max(told)) if told else (0.0, 1.0)
    low = figure.y.low if figure.y.low is not None else low
    high = figure.y.high if figure.y.high is not None else high
    image = axes.imshow(grid, aspect="auto", cmap="cividis", vmin=low, vmax=high)
    axes.set_xticks(range(len(panel.x_labels)), [_literal(x) for x in panel.x_labels])
    axes.set_yticks(range(len(panel.y_labels)), [_literal(y) for y in panel.y_labels])
    canvas = axes.get_figure()
    assert canvas is not None
    unit = figure.y.unit if figure.y.unit != "1" else ""
    canvas.colorbar(image, ax=axes, format=EngFormatter(unit=unit))


def draw(figure: Figure, target: Path, kind: str, subtitle: str) -> None:
    """A figure of one variant."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise EffioError(
            "matplotlib is not installed, which draws single figures",
            ExitCode.ENVIRONMENT,
            "python -m pip install 'effio[print]'  (or: pip install matplotlib)",
        ) from None
    mpl.use("Agg")
    from matplotlib.figure import Figure as Canvas

    panels = list(next(iter(figure.variants.values())))
    bands = list(figure.bands) or [("", len(panels))]
    rows: list[list[Panel]] = []
    rest = panels
    for _, count in bands:
        width = count if figure.bands else figure.columns
        band, rest = rest[:count], rest[count:]
        rows += [band[i : i + width] for i in range(0, len(band), width)]
    wide = figure.columns if len(rows) > 1 else max(1, len(rows[0]))
    height = 2.7 if figure.kind != "stacked" else figure.panel_height / 90
    canvas = Canvas(figsize=(max(5.5, 2.5 * wide), height * len(rows) + 0.8), layout="constrained")
    subfigures: Any = canvas.subfigures(len(rows), 1, squeeze=False)
    limits: list[Axes] = []
    for row, sub in zip(rows, subfigures[:, 0], strict=True):
        axes_row: Any = sub.subplots(1, len(row), squeeze=False)[0]
        for i, (panel, axes) in enumerate(zip(row, axes_row, strict=True)):
            _draw_panel(figure, panel, axes, i == 0)
            limits.append(axes)
        handles, labels = axes_row[0].get_legend_handles_labels()
        if len(handles) > 1:
            sub.legend(
                handles, labels, loc="outside upper center", ncols=6, fontsize=7, frameon=False
            )
    if figure.kind == "curves":
        low = min(a.get_ylim()[0] for a in limits)
        high = max(a.get_ylim()[1] for a in limits)
        for axes in limits:
            axes.set_ylim(low, high)
    canvas.suptitle(_literal(f"{figure.title} ({subtitle})"), fontsize=9)
    # Equal input gives equal bytes.
    metadata: dict[str, Any] = {"CreationDate": None} if kind == "pdf" else {"Software": "effio"}
    canvas.savefig(target, format=kind, dpi=200, metadata=metadata)


def _draw_panel(figure: Figure, panel: Panel, axes: Axes, first: bool) -> None:
    if panel.title:
        axes.set_title(_literal(panel.title), fontsize=9)
    axes.tick_params(labelsize=7)
    if figure.kind == "curves":
        _prepare_axis(axes, figure.x, "x")
        _prepare_axis(axes, figure.y, "y")
        for series in panel.series:
            _draw_curve(axes, series)
        axes.grid(True, linewidth=0.3)
    elif figure.kind == "heatmap":
        _draw_heat(axes, figure, panel)
    else:
        _draw_bars(axes, panel, figure.kind == "stacked")
    if figure.kind == "stacked":
        axes.set_xlabel(_literal(figure.y.title), fontsize=8)
        return
    axes.set_xlabel(_literal(figure.x.title), fontsize=8)
    if first:
        axes.set_ylabel(_literal(figure.y.title), fontsize=8)
    elif figure.kind == "curves":
        axes.tick_params(labelleft=False)


def write_figure(
    path: Path, choice: Choice, kind: str, target: Path, ceilings: Mapping[str, float]
) -> Path:
    """One figure of one run (folder or result file)."""
    report = tell(*load(path), ceilings=ceilings)
    figure = find_figure(report, choice)
    try:
        draw(figure, target, kind, report.name)
    except OSError as error:
        raise EffioError(f"cannot write {target}: {error.strerror}", ExitCode.IO_ERROR) from None
    return target
