# SPDX-License-Identifier: BSD-3-Clause
"""The rates of a study over its axes: the coordinates of a figure, the curves and the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from effio import text as fmt
from effio.report import common
from effio.report.common import certainty
from effio.report.model import Axis, Cell, Column, Figure, Panel, Series, Table
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import as_number


@dataclass(frozen=True)
class Coordinate:
    """One axis of a study as its run line describes it."""

    name: str
    title: str
    unit: str

    def text(self, f: FigureRecord) -> str:
        value = f.where.get(self.name)
        return fmt.coordinate(value, self.unit) if value is not None else ""


def coordinates(result: Result) -> list[Coordinate]:
    study = result.run.extra.get("study")
    axes = study.get("axes") if isinstance(study, dict) else None
    if not isinstance(axes, list):
        return []
    return [
        Coordinate(*(fmt.plain(axis.get(member, ""), 40) for member in ("name", "title", "unit")))
        for axis in axes[:20]
        if isinstance(axis, dict)
    ]


def operation_of(f: FigureRecord) -> str:
    return " ".join(fmt.plain(f.where.get(name, ""), 40) for name in ("pattern", "access")).strip()


def place_of(f: FigureRecord, axes: Sequence[Coordinate]) -> str:
    """Without the axes that do not apply to it."""
    reported = [(axis.title, axis.text(f)) for axis in axes]
    return ", ".join(f"{title} {text}" for title, text in reported if text)


def varying(rates: Sequence[FigureRecord], axes: Sequence[Coordinate]) -> list[Coordinate]:
    return [a for a in axes if len({a.text(f) for f in rates}) > 1]


def _series(
    name: str, some: Sequence[FigureRecord], x: Sequence[float | str], style: int
) -> Series:
    ends = [certainty.ends_of(f) for f in some]
    return Series(
        name,
        x,
        [f.metric.value for f in some],
        style,
        high=[high for _, high in ends],
        low=[low for low, _ in ends],
        notes=[fmt.plain(members_of(f).cache, 40) for f in some],
    )


def access_of(f: FigureRecord) -> str:
    return fmt.plain(f.where.get("access", ""), 40)


def _placed(rates: Sequence[FigureRecord], axis: Coordinate) -> list[tuple[float, FigureRecord]]:
    found = [(as_number(f.where.get(axis.name)), f) for f in rates]
    return sorted(((x, f) for x, f in found if x is not None), key=lambda p: p[0])


def _ticks(rates: Sequence[FigureRecord], axis: Coordinate | None) -> dict[float, str]:
    return {x: axis.text(f) for x, f in _placed(rates, axis)} if axis is not None else {}


def _curve(name: str, some: Sequence[FigureRecord], first: Coordinate | None, style: int) -> Series:
    """A curve over `first`; without it, bars with this name."""
    if first is None:
        return _series(name, some, [name for _ in some], style)
    placed = _placed(some, first)
    return _series(name, [f for _, f in placed], [x for x, _ in placed], style)


def _side_by_side(
    rates: Sequence[FigureRecord],
    operations: Sequence[str],
    first: Coordinate | None,
    word: Coordinate,
    words: Sequence[str],
) -> list[Series]:
    """The values of an axis of words in one panel: curves of the same operation have the same
    color, the second value is dashed; bars of an operation are next to each other."""
    by_word = common.grouped(rates, word.text)
    found = []
    for number, value in enumerate(words):
        some = by_word.get(value, [])
        if first is None:
            of = {operation_of(f): f for f in some}
            names = [name for name in operations if name in of]
            found.append(_series(value, [of[name] for name in names], list(names), number))
            continue
        by_operation = common.grouped(some, operation_of)
        for style, operation in enumerate(operations):
            if operation in by_operation:
                curve = _curve(f"{operation}, {value}", by_operation[operation], first, style)
                found.append(replace(curve, dashed=number > 0))
    return found


# Values of an axis of words that a panel shows side by side; more are choices.
_MOST_WORDS = 2
# With a larger factor between them bars have a logarithmic axis.
_MOST_LINEAR = 30
# With more patterns each has its own panel.
_MOST_PATTERNS_A_PANEL = 3


def _panels(
    rates: Sequence[FigureRecord], first: Coordinate | None, accesses: Sequence[str]
) -> list[Panel]:
    """A panel for each pattern, a series for each access."""
    panels = []
    for pattern, some in common.grouped(rates, lambda f: str(f.where.get("pattern", ""))).items():
        by_access = common.grouped(some, access_of)
        series = [
            _curve(access, by_access[access], first, common.access_style(access, accesses))
            for access in accesses
            if access in by_access
        ]
        panels.append(Panel(fmt.plain(pattern, 40), series))
    return panels


def _spans_decades(rates: Sequence[FigureRecord]) -> bool:
    """Whether the lowest bar of a linear axis would not be seen."""
    values = [f.metric.value for f in rates if f.metric.value]
    return bool(values) and max(values) > _MOST_LINEAR * min(values)


def rate_figure(rates: Sequence[FigureRecord], axes: Sequence[Coordinate]) -> Figure | None:
    """Curves over the first axis with several numbers, or bars if there is none. If there are many
    patterns, each has its own panel."""
    if not rates:
        return None
    several = varying(rates, axes)
    first = next((a for a in several if a.unit), None)
    others = [a for a in several if a is not first]
    operations = common.unique(operation_of(f) for f in rates)
    patterns = {str(f.where.get("pattern", "")) for f in rates}
    apart = len(patterns) > _MOST_PATTERNS_A_PANEL
    accesses = common.unique(access_of(f) for f in rates)
    # Calls that are independent and collective, say: to be compared in one panel.
    word = next((a for a in others if not a.unit), None) if not apart else None
    words = common.unique(word.text(f) for f in rates) if word is not None else []
    if word is not None and len(words) <= _MOST_WORDS:
        others = [a for a in others if a is not word]
    else:
        word = None
    variants: dict[str, list[Panel]] = {}
    for case, of_case in common.grouped(rates, lambda f: place_of(f, others)).items():
        if apart:
            variants[case] = _panels(of_case, first, accesses)
            continue
        if word is not None:
            series = _side_by_side(of_case, operations, first, word, words)
            variants[case] = [Panel("", series)]
            continue
        by_operation = common.grouped(of_case, operation_of)
        series = [
            _curve(operation, by_operation[operation], first, style)
            for style, operation in enumerate(operations)
            if operation in by_operation
        ]
        variants[case] = [Panel("", series)]
    ticks = _ticks(rates, first)
    title = f"Rate by {first.title}" if first else "Rates"
    x_axis = Axis("access" if apart else "pattern and access")
    log = first is not None or _spans_decades(rates)
    if first is not None:
        x_axis = Axis(first.title, first.unit, log=True, ticks=sorted(ticks.items()))
    return Figure(
        "study-rates",
        title,
        "Means over the repetitions; whiskers are 95 % intervals, or the range of two to four"
        " repetitions. Hovering shows whether bytes came from a device or from a cache.",
        "curves" if first else "bars",
        x_axis,
        Axis("rate", "B/s", log=log, switch=log),
        variants,
        columns=3 if apart else 1,
        variant_title=", ".join(a.title for a in others) or "case",
        panel_height=260 if apart else 420,
    )


def rate_table(result: Result, axes: Sequence[Coordinate]) -> Table:
    def key(f: FigureRecord) -> tuple[str, ...]:
        return (operation_of(f), *(axis.text(f) for axis in axes))

    def by_place(name: str) -> dict[tuple[str, ...], float | None]:
        return {key(f): f.metric.value for f in result.figures_named(name)}

    shares = by_place("share_of_peak")
    speed_ups, efficiencies = by_place("speed_up"), by_place("efficiency")
    rows: list[list[Cell]] = []
    for name in ("peak", "bandwidth"):
        for f in result.figures_named(name):
            reported = members_of(f)
            rows.append(
                [
                    *(axis.text(f) for axis in axes),
                    fmt.plain(f.where.get("pattern", ""), 40),
                    fmt.plain(f.where.get("access", ""), 40),
                    f.metric.value,
                    *certainty.range_of(f),
                    certainty.half_of(f),
                    f.samples.count if f.samples else 0,
                    reported.transfer_rate_bytes_per_second,
                    shares.get(key(f)) if name == "bandwidth" else None,
                    *((speed_ups.get(key(f)), efficiencies.get(key(f))) if speed_ups else ()),
                    fmt.plain(reported.cache, 40),
                    "the peak" if name == "peak" else "; ".join(f.reasons),
                ]
            )
    columns = [
        *(Column(axis.title) for axis in axes),
        Column("pattern"),
        Column("access"),
        Column("rate", "B/s"),
        Column("lowest", "B/s"),
        Column("highest", "B/s"),
        Column("± (95 %)", "B/s"),
        Column("repetitions", "1"),
        Column("calls alone", "B/s"),
        Column("of the peak", "1", "%", 3),
        *((Column("speed-up", "1"), Column("efficiency", "1", "%", 3)) if speed_ups else ()),
        Column("bytes from or to"),
        Column("remark"),
    ]
    caption = "± (95 %): half the interval of the mean, from five repetitions on."
    return Table(columns, rows, "Rates", caption, page_only=len(rows) > 80)
