# SPDX-License-Identifier: BSD-3-Clause
"""A comparison as tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import geometric_mean

from effio import text as fmt
from effio.config.site import load_site
from effio.judge import FEWEST
from effio.judge.compare import NO_NUMBERS, Comparison, Line, Overall
from effio.judge.samples import Key, Scalar
from effio.judge.verdicts import Verdict
from effio.report.common.names import access_style, distinguishing, grouped, unique
from effio.report.model import (
    Axis,
    Block,
    Cell,
    Column,
    Figure,
    Finding,
    Panel,
    Section,
    Series,
    Table,
    table_of,
)
from effio.report.parts import quantity
from effio.report.peaks import comparison_table
from effio.report.plots import plot
from effio.store.option_values import place_unit

_MOST_NAMED = 24
# Of a Kiviat diagram that can be read.
_MOST_AXES = 12
_MOST_SIDES = 5
# An axis reaches no further beyond the gains than by this factor, whatever the whiskers do.
_WIDEST = 100


def axis_text(name: str, value: Scalar | None) -> str:
    if value is None:
        return "–"
    return fmt.coordinate(value, place_unit(name))


def varying(keys: Sequence[Key]) -> list[str]:
    """Axes that distinguish measurements which were not distinguished before, sizes
    first."""
    names = unique(name for key in keys for name, _ in key.axes)
    names.sort(key=lambda name: not name.endswith("_bytes"))
    known = [(k.benchmark, k.pattern, k.access) for k in keys]
    return distinguishing(names, lambda name: [k.axis(name) for k in keys], known)[0]


def place(key: Key, names: Sequence[str]) -> str:
    reported = [(name, key.axis(name)) for name in names]
    words = [
        fmt.count_of(value, "rank")
        if name == "ranks" and isinstance(value, int)
        else axis_text(name, value)
        if name.endswith("_bytes")
        else f"{name.replace('_', ' ')} {axis_text(name, value)}"
        for name, value in reported
        if value is not None
    ]
    return ", ".join(words)


def verdict_line(comparison: Comparison) -> str:
    """How many of which verdict."""
    counts = [
        verdict.counted(sum(line.verdict is verdict for line in comparison.lines))
        for verdict in Verdict
        if any(line.verdict is verdict for line in comparison.lines)
    ]
    return ", ".join(counts) or "nothing in common"


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def _range(line: Line) -> str:
    return _ends(line.shown.low, line.shown.high) if line.shown else ""


def _named(key: Key, names: Sequence[str]) -> str:
    return ", ".join(filter(None, (key.what, place(key, names))))


def lines_table(comparison: Comparison) -> Table:
    names = varying([line.key for line in comparison.lines])

    def center(line: Line, side: int) -> Cell:
        return quantity(line.centers[side], line.unit)

    def why(line: Line) -> str:
        return "; ".join(filter(None, (line.reason, line.note)))

    return table_of(
        comparison.lines,
        [
            (Column("benchmark"), lambda line: line.key.benchmark),
            (Column("measurement"), lambda line: _named(line.key, names)),
            (Column("gain", "1"), lambda line: line.gain),
            (Column("95 % interval"), _range),
            (Column("verdict"), lambda line: line.verdict.text),
            (Column("reason", extra=not any(map(why, comparison.lines)), below=True), why),
            (Column("first", "1", extra=True), lambda line: center(line, 0)),
            (Column("spread of the first", extra=True), lambda line: line.spreads[0]),
            (Column("second", "1", extra=True), lambda line: center(line, 1)),
            (Column("spread of the second", extra=True), lambda line: line.spreads[1]),
            (
                Column("over", extra=True),
                lambda line: (
                    " and ".join(map(str, line.counts)) + f" {line.basis}" if line.basis else ""
                ),
            ),
        ],
        f"{comparison.second.name} against {comparison.first.name}",
        "A gain above 1 is better, whichever way the metric goes: rates second over first, times"
        " first over second; values are geometric means, whose ratio the gain is. Fewer than five"
        " values a side have no interval. Verdicts allow for the number of measurements (Holm): the"
        " chance of one false alarm among all is below 5 %.",
    )


def all_lines_table(comparisons: Sequence[Comparison]) -> Table:
    """Table for other programs: one record per measurement of each comparison, with both sides."""
    tables = [(c, lines_table(c)) for c in comparisons]
    rows = [[c.second.name, c.first.name, *row] for c, table in tables for row in table.rows]
    columns = [Column("side"), Column("against"), *tables[0][1].columns]
    return Table(columns, rows, "Measurements")


def _scatter(one: Overall) -> str | None:
    return _ends(one.low, one.high) if one.measurements >= FEWEST else None


def overall_table(comparison: Comparison) -> Table:
    return table_of(
        comparison.overall,
        [
            (Column("benchmark"), lambda one: one.benchmark),
            (Column("measurements", "1"), lambda one: one.measurements),
            (Column("geometric mean of gains", "1"), lambda one: one.gain),
            (Column("95 % interval"), _scatter),
        ],
        "By benchmark",
        "The interval shows how much the gain depends on what is measured, from five measurements"
        " on; it does not include what changes from run to run.",
    )


def differences_table(comparison: Comparison) -> Table:
    return table_of(
        comparison.differences,
        [
            (Column("kind"), lambda d: d.kind),
            (Column("what"), lambda d: d.name),
            (Column("first value"), lambda d: fmt.plain(d.first, 300)),
            (Column("second value"), lambda d: fmt.plain(d.second, 300)),
        ],
        "What differs apart from the numbers, likely reasons first",
    )


def alone_table(comparison: Comparison) -> Table:
    names = varying([a.key for a in comparison.alone])
    return table_of(
        comparison.alone,
        [
            (Column("only in"), lambda a: a.side),
            (Column("benchmark"), lambda a: a.key.benchmark),
            (Column("measurement"), lambda a: _named(a.key, names)),
            (Column("why"), lambda a: fmt.plain(a.why, 300)),
        ],
        "What could not be paired",
    )


def _size_axis(lines: Sequence[Line]) -> str | None:
    """The size over which gains are drawn: the one with the most values."""
    names = [n for n in varying([line.key for line in lines]) if n.endswith("_bytes")]
    counted = [(len({line.key.axis(n) for line in lines}), n) for n in names]
    best = max(counted, default=(0, ""))
    return best[1] if best[0] > 2 else None


def _note(line: Line) -> str:
    verdict = ": ".join(filter(None, (line.verdict.text, line.reason)))
    interval = f"95 % interval {_range(line)}" if line.shown else ""
    return "; ".join(filter(None, (verdict, interval)))


def _series(name: str, some: Sequence[Line], x: Sequence[float | str], style: int) -> Series:
    ends = [line.shown for line in some]
    return Series(
        name,
        x,
        [line.gain for line in some],
        style,
        high=[end.high if end else None for end in ends],
        low=[end.low if end else None for end in ends],
        notes=[_note(line) for line in some],
        faulty=[line.verdict is Verdict.UNDECIDED for line in some],
        form="points",
    )


def _gain_axis(lines: Sequence[Line]) -> Axis:
    """An interval that says nothing would make the rest too small to be seen: its whisker is drawn
    to the end of the axis."""
    axis = Axis("gain", "1", log=True, switch=True)
    gains = [1.0, *(line.gain for line in lines if line.gain)]
    low, high = min(gains) / _WIDEST, max(gains) * _WIDEST
    ends = [end for n in lines if n.shown is not None for end in (n.shown.low, n.shown.high)]
    shown = [end for end in ends if low <= end <= high]
    if len(gains) == 1 or len(shown) == len(ends):
        return axis
    return replace(axis, low=min(*gains, *shown) / 1.2, high=max(*gains, *shown) * 1.2)


def _by_name(lines: Sequence[Line]) -> list[Series]:
    names = varying([line.key for line in lines])
    # Narrow pages cut names: a pattern that all curves have is left out.
    one = len({line.key.pattern for line in lines}) == 1
    x = [_named(replace(n.key, pattern="") if one else n.key, names) for n in lines]
    return [_series("gain", lines, x, 0), Series("equal", x, [1.0] * len(x), form="limit")]


def _by_size(lines: Sequence[Line], axis: str) -> list[Panel]:
    """A panel for each pattern, a series for each access."""
    values = ((line.key.axis(axis), line) for line in lines)
    placed = [(float(x), n) for x, n in values if isinstance(x, int | float) and x is not True]
    sizes = sorted({x for x, _ in placed})
    accesses = unique(line.key.access for line in lines)
    equal = Series("equal", sizes, [1.0] * len(sizes), form="limit")
    panels = []
    for pattern in unique(line.key.pattern for line in lines):
        mine = sorted((p for p in placed if p[1].key.pattern == pattern), key=lambda p: p[0])
        by_access = grouped(mine, lambda p: p[1].key.access)
        series = [
            _series(name, [n for _, n in some], [x for x, _ in some], access_style(name, accesses))
            for name in accesses
            if (some := by_access.get(name))
        ]
        panels.append(Panel(pattern, [*series, equal]))
    return panels


def gain_figure(comparison: Comparison, benchmark: str, number: int) -> Figure | None:
    """Gains over the size of what is moved, where there are several sizes; else by name."""
    lines = [x for x in comparison.lines if x.key.benchmark == benchmark and x.gain is not None]
    if not lines:
        return None
    axis, y = _size_axis(lines), _gain_axis(lines)
    caption = (
        "Above the line the second side is better, whichever way the metric goes. Whiskers are 95 %"
        " intervals over what the table names, from five values a side on; open marks are"
        " gains without a verdict."
    )
    if y.high is not None:
        caption += " A whisker that ends at the frame continues beyond it; the table has its end."
    if axis is None and len(lines) > _MOST_NAMED:
        caption += f" Shown are the first {_MOST_NAMED} of {len(lines)} of the table."
    return plot(
        f"gains-{number}",
        f"{benchmark}: gains of {comparison.second.name} over {comparison.first.name}",
        caption,
        "curves",
        Axis(axis.removesuffix("_bytes").replace("_", " "), "B", log=True)
        if axis
        else Axis("measurement"),
        y,
        _by_size(lines, axis) if axis else _by_name(lines[:_MOST_NAMED]),
        columns=3 if axis else 1,
        height=260 if axis else 360,
    )


def _directions(comparison: Comparison) -> dict[str, float]:
    """Geometric mean of the gains by benchmark and access; what cannot be compared is not in it."""
    groups: dict[str, list[float]] = {}
    for line in comparison.lines:
        if line.gain is not None and line.cause not in NO_NUMBERS:
            name = " ".join(filter(None, (line.key.benchmark, line.key.access or line.key.pattern)))
            groups.setdefault(name, []).append(line.gain)
    return {name: geometric_mean(gains) for name, gains in groups.items()}


def kiviat_figure(comparisons: Sequence[Comparison]) -> Figure | None:
    """The shape of the sides, by what all of them measured; None with fewer than three axes or more
    sides than can be distinguished."""
    found = [_directions(c) for c in comparisons]
    names = [name for name in found[0] if all(name in one for one in found)] if found else []
    if not 3 <= len(names) <= _MOST_AXES or len(found) > _MOST_SIDES:
        return None
    reference = comparisons[0].first.name
    series = [
        Series(c.second.name, names, [one[name] for name in names], i)
        for i, (c, one) in enumerate(zip(comparisons, found, strict=True))
    ]
    series.append(Series(reference, names, [1.0] * len(names), form="limit"))
    return plot(
        "kiviat",
        f"The shape of the sides, {reference} = 1",
        "Each axis is the geometric mean of the gains of one benchmark and access over"
        f" {reference}, the dashed ring; further out is better. Areas mean nothing: read the axes,"
        " or the table.",
        "radar",
        Axis("benchmark and access"),
        Axis("gain", "1"),
        series,
    )


def finding(comparison: Comparison) -> Finding:
    name = f"{comparison.second.name} against {comparison.first.name}"
    text = f"{name}: {verdict_line(comparison)}."
    return Finding(text, level="bad" if comparison.losses else "info")


def comparison_section(comparisons: Sequence[Comparison]) -> Section:
    """The section for the head of a page, and for a terminal."""
    blocks: list[Block] = []
    for comparison in comparisons:
        blocks += [finding(comparison).text, *comparison.notes, overall_table(comparison)]
        for benchmark in unique(line.key.benchmark for line in comparison.lines):
            figure = gain_figure(comparison, benchmark, len(blocks))
            if figure is not None:
                blocks.append(figure)
        if comparison.power is not None:
            blocks.append(comparison.power.text)
        names = varying([line.key for line in comparison.lines])
        named = [(line, _named(line.key, names)) for line in comparison.lines]
        if (of_peaks := comparison_table(load_site().peaks, comparison, named)) is not None:
            blocks.append(of_peaks)
        blocks += [lines_table(comparison), differences_table(comparison), alone_table(comparison)]
    if kiviat := kiviat_figure(comparisons):
        blocks.append(kiviat)
    return Section("comparison", "Comparison", blocks)
