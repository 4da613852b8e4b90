# SPDX-License-Identifier: BSD-3-Clause
"""A comparison as tables and figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from effio import text as fmt
from effio.config.site import load_site
from effio.judge.compare import NO_NUMBERS, Comparison, Line
from effio.judge.samples import Key, Scalar
from effio.judge.verdicts import Verdict
from effio.report.common import access_style, unique
from effio.report.model import (
    Axis,
    Block,
    Cell,
    Column,
    Figure,
    Finding,
    Panel,
    Quantity,
    Section,
    Series,
    Table,
)
from effio.report.site_shares import comparison_table
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
    chosen: list[str] = []
    groups: list[tuple[object, ...]] = [(k.benchmark, k.pattern, k.access) for k in keys]
    for name in names:
        finer = [(*g, k.axis(name)) for g, k in zip(groups, keys, strict=True)]
        if len(set(finer)) > len(set(groups)):
            chosen.append(name)
            groups = finer
    return chosen


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


def _range(line: Line) -> str:
    if line.ratio is None:
        return ""
    return f"{line.ratio.low:.3f} to {line.ratio.high:.3f}"


def _named(key: Key, names: Sequence[str]) -> str:
    return ", ".join(filter(None, (key.what, place(key, names))))


def _over(line: Line) -> str:
    if not line.basis:
        return ""
    return f"{line.counts[0]} and {line.counts[1]} {line.basis}"


def lines_table(comparison: Comparison) -> Table:
    names = varying([line.key for line in comparison.lines])
    rows: list[list[Cell]] = [
        [
            line.key.benchmark,
            _named(line.key, names),
            line.gain,
            _range(line),
            line.verdict.text,
            "; ".join(filter(None, (line.reason, line.note))),
            None if line.first is None else Quantity(line.first.mean, line.unit),
            line.spreads[0],
            None if line.second is None else Quantity(line.second.mean, line.unit),
            line.spreads[1],
            _over(line),
        ]
        for line in comparison.lines
    ]
    columns = [
        Column("benchmark"),
        Column("measurement"),
        Column("gain", "1"),
        Column("95 % interval"),
        Column("verdict"),
        Column("reason", extra=not any(row[5] for row in rows), below=True),
        Column("first", "1", extra=True),
        Column("spread of the first", extra=True),
        Column("second", "1", extra=True),
        Column("spread of the second", extra=True),
        Column("over", extra=True),
    ]
    return Table(
        columns,
        rows,
        f"{comparison.second.name} against {comparison.first.name}",
        "A gain above 1 is better, whichever way the metric goes: rates second over first, times"
        " first over second; values are means. Verdicts allow for the number of measurements"
        " (Holm): the chance of one false alarm among all is below 5 %.",
    )


def shares_table(comparison: Comparison) -> Table | None:
    """Rates as a percentage of the peaks that the site's settings state."""
    names = varying([line.key for line in comparison.lines])
    named = [(line, _named(line.key, names)) for line in comparison.lines]
    return comparison_table(load_site().peaks, comparison, named)


def all_lines_table(comparisons: Sequence[Comparison]) -> Table:
    """Table for other programs: one record per measurement of each comparison, with both sides."""
    tables = [(c, lines_table(c)) for c in comparisons]
    rows = [[c.second.name, c.first.name, *row] for c, table in tables for row in table.rows]
    columns = [Column("side"), Column("against"), *tables[0][1].columns]
    return Table(columns, rows, "Measurements")


def overall_table(comparison: Comparison) -> Table:
    rows: list[list[Cell]] = [
        [
            one.benchmark,
            one.measurements,
            one.gain,
            None if one.low is None or one.high is None else f"{one.low:.3f} to {one.high:.3f}",
        ]
        for one in comparison.overall
    ]
    return Table(
        [
            Column("benchmark"),
            Column("measurements", "1"),
            Column("geometric mean of gains", "1"),
            Column("95 % interval"),
        ],
        rows,
        "By benchmark",
        "The interval shows how much the gain depends on what is measured; it does not include what"
        " changes from run to run.",
    )


def differences_table(comparison: Comparison) -> Table:
    rows: list[list[Cell]] = [
        [d.kind, d.name, fmt.plain(d.first, 300), fmt.plain(d.second, 300)]
        for d in comparison.differences
    ]
    columns = [Column("kind"), Column("what"), Column("first value"), Column("second value")]
    return Table(columns, rows, "What differs apart from the numbers, likely reasons first")


def alone_table(comparison: Comparison) -> Table:
    keys = [a.key for a in comparison.alone]
    names = varying(keys)
    rows: list[list[Cell]] = [
        [a.side, a.key.benchmark, _named(a.key, names), fmt.plain(a.why, 300)]
        for a in comparison.alone
    ]
    columns = [Column(n) for n in ("only in", "benchmark", "measurement", "why")]
    return Table(columns, rows, "What could not be paired")


def _size_axis(lines: Sequence[Line]) -> str | None:
    """The size over which gains are drawn: the one with the most values."""
    names = [n for n in varying([line.key for line in lines]) if n.endswith("_bytes")]
    counted = [(len({line.key.axis(n) for line in lines}), n) for n in names]
    best = max(counted, default=(0, ""))
    return best[1] if best[0] > 2 else None


def _notes(some: Sequence[Line]) -> list[str]:
    return [
        "; ".join(
            filter(
                None,
                (
                    ": ".join(filter(None, (line.verdict.text, line.reason))),
                    f"95 % interval {_range(line)}" if line.ratio else "",
                ),
            )
        )
        for line in some
    ]


def _series(name: str, some: Sequence[Line], x: Sequence[float | str], style: int) -> Series:
    ends = [line.ratio for line in some]
    return Series(
        name,
        x,
        [line.gain for line in some],
        style,
        high=[end.high if end else None for end in ends],
        low=[end.low if end else None for end in ends],
        notes=_notes(some),
        faulty=[line.verdict is Verdict.UNDECIDED for line in some],
        form="points",
    )


def _gain_axis(lines: Sequence[Line]) -> Axis:
    """An interval that says nothing would make the rest too small to be seen: its whisker is drawn
    to the end of the axis."""
    gains = [line.gain for line in lines if line.gain]
    if not gains:
        return Axis("gain", "1", log=True, switch=True)
    low, high = min(1.0, *gains) / _WIDEST, max(1.0, *gains) * _WIDEST
    ratios = [line.ratio for line in lines if line.ratio is not None]
    if all(low <= r.low and r.high <= high for r in ratios):
        return Axis("gain", "1", log=True, switch=True)
    ends = [end for r in ratios for end in (r.low, r.high) if low <= end <= high]
    low, high = min(1.0, *gains, *ends), max(1.0, *gains, *ends)
    return Axis("gain", "1", log=True, switch=True, low=low / 1.2, high=high * 1.2)


def gain_figure(comparison: Comparison, benchmark: str, number: int) -> Figure | None:
    """Gains over the size of what is moved, where there are several sizes; else by name."""
    lines = [x for x in comparison.lines if x.key.benchmark == benchmark and x.gain is not None]
    if not lines:
        return None
    axis = _size_axis(lines)
    caption = (
        "Above the line the second side is better, whichever way the metric goes. Whiskers are 95 %"
        " intervals over what the table names; open marks are gains without a verdict."
    )
    title = f"{benchmark}: gains of {comparison.second.name} over {comparison.first.name}"
    y = _gain_axis(lines)
    if y.high is not None:
        caption += " A whisker that ends at the frame continues beyond it; the table has its end."
    identity = f"gains-{number}"
    if axis is None:
        shown = lines[:_MOST_NAMED]
        names = varying([line.key for line in shown])
        # On a narrow page names are cut: what all have says nothing.
        one = len({n.key.pattern for n in shown}) == 1
        x = [_named(replace(n.key, pattern="") if one else n.key, names) for n in shown]
        if len(shown) < len(lines):
            caption += f" Shown are the first {len(shown)} of {len(lines)} of the table."
        series = [_series("gain", shown, x, 0), Series("equal", x, [1.0] * len(x), form="limit")]
        panels = {"": [Panel("", series)]}
        return Figure(identity, title, caption, "curves", Axis("measurement"), y, panels, columns=1,
                      panel_height=360)  # fmt: skip
    accesses = unique(line.key.access for line in lines)
    drawn = []
    patterns = unique(line.key.pattern for line in lines)
    placed = [(_number(line.key.axis(axis)), line) for line in lines]
    sizes = sorted({x for x, _ in placed if x is not None})
    for pattern in patterns:
        series = []
        for access in accesses:
            some = sorted(
                ((x, n) for x, n in placed
                 if x is not None and n.key.pattern == pattern and n.key.access == access),
                key=lambda p: p[0],
            )  # fmt: skip
            if some:
                series.append(_series(access, [n for _, n in some], [x for x, _ in some],
                                      access_style(access, accesses)))  # fmt: skip
        series.append(Series("equal", sizes, [1.0] * len(sizes), form="limit"))
        drawn.append(Panel(pattern, series))
    title_x = axis.removesuffix("_bytes").replace("_", " ")
    return Figure(identity, title, caption, "curves", Axis(title_x, "B", log=True), y, {"": drawn})


def _number(value: Scalar | None) -> float | None:
    return None if value is None or isinstance(value, (str, bool)) else float(value)


def _directions(comparison: Comparison) -> dict[str, float]:
    """Geometric mean of the gains by benchmark and access; what cannot be compared is not in it."""
    groups: dict[str, list[float]] = {}
    for line in comparison.lines:
        if line.gain is not None and line.cause not in NO_NUMBERS:
            name = " ".join(filter(None, (line.key.benchmark, line.key.access or line.key.pattern)))
            groups.setdefault(name, []).append(math.log(line.gain))
    return {name: math.exp(fmean(logs)) for name, logs in groups.items()}


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
    return Figure(
        "kiviat",
        f"The shape of the sides, {reference} = 1",
        "Each axis is the geometric mean of the gains of one benchmark and access over"
        f" {reference}, the dashed ring; further out is better. Areas mean nothing: read the axes,"
        " or the table.",
        "radar",
        Axis("benchmark and access"),
        Axis("gain", "1"),
        {"": [Panel("", series)]},
        columns=1,
    )


def finding(comparison: Comparison) -> Finding:
    level = "bad" if comparison.losses else "info"
    name = f"{comparison.second.name} against {comparison.first.name}"
    return Finding(f"{name}: {verdict_line(comparison)}.", "", level)  # type: ignore[arg-type]


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
        if (of_peaks := shares_table(comparison)) is not None:
            blocks.append(of_peaks)
        blocks += [lines_table(comparison), differences_table(comparison), alone_table(comparison)]
    if kiviat := kiviat_figure(comparisons):
        blocks.append(kiviat)
    return Section("comparison", "Comparison", blocks)
