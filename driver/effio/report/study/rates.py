# SPDX-License-Identifier: BSD-3-Clause
"""The rates of a study over its axes: the coordinates of a figure, the curves and the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from effio import text as fmt
from effio.campaign.file import Chart
from effio.report.charts import Measured, chart_blocks
from effio.report.common import certainty
from effio.report.common.names import access_style, grouped, unique
from effio.report.model import Axis, Column, Figure, Panel, Series, Table, table_of
from effio.report.parts import known, member, value_at, value_of, word
from effio.report.plots import means, plot
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.values import as_number


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
    return f"{word(f, 'pattern')} {word(f, 'access')}".strip()


def place_of(f: FigureRecord, axes: Sequence[Coordinate]) -> str:
    """Without the axes that do not apply to it."""
    reported = [(axis.title, axis.text(f)) for axis in axes]
    return ", ".join(f"{title} {text}" for title, text in reported if text)


def varying(rates: Sequence[FigureRecord], axes: Sequence[Coordinate]) -> list[Coordinate]:
    return [a for a in axes if len({a.text(f) for f in rates}) > 1]


access_of = partial(word, name="access")

# Values of an axis of words that a panel shows side by side; more are choices.
_MOST_WORDS = 2
# With a larger factor between them bars have a logarithmic axis.
_MOST_LINEAR = 30
# With more patterns each has its own panel.
_MOST_PATTERNS_A_PANEL = 3


@dataclass(frozen=True)
class _Look:
    """How the curve or the bars are drawn that a rate belongs to; `order` is their place in the
    panel."""

    name: str
    style: int
    order: int
    dashed: bool = False


@dataclass(frozen=True)
class _Drawing:
    """What a figure of these rates has on its x axis (`first`; bars have no axis), in panels, in
    curves, and as choices (`others`)."""

    rates: Sequence[FigureRecord]
    first: Coordinate | None
    # Calls that are independent and collective, say, are compared in one panel.
    word: Coordinate | None
    others: Sequence[Coordinate]
    # If there are many patterns, each has its own panel.
    apart: bool

    @classmethod
    def of(cls, rates: Sequence[FigureRecord], axes: Sequence[Coordinate]) -> _Drawing:
        several = varying(rates, axes)
        first = next((a for a in several if a.unit), None)
        apart = len({str(f.where.get("pattern", "")) for f in rates}) > _MOST_PATTERNS_A_PANEL
        word = next((a for a in several if a is not first and not a.unit), None)
        if apart or word is None or len({word.text(f) for f in rates}) > _MOST_WORDS:
            word = None
        return cls(rates, first, word, [a for a in several if a not in (first, word)], apart)

    @cached_property
    def _operations(self) -> list[str]:
        return unique(map(operation_of, self.rates))

    @cached_property
    def _accesses(self) -> list[str]:
        return unique(map(access_of, self.rates))

    @cached_property
    def _words(self) -> list[str]:
        return unique(self.word.text(f) for f in self.rates) if self.word else []

    def _look(self, f: FigureRecord) -> _Look:
        """Curves of the same operation have the same color, those of the second word are dashed;
        bars of an operation are next to each other."""
        access, operation = access_of(f), operation_of(f)
        if self.apart:
            style = access_style(access, self._accesses)
            return _Look(access, style, self._accesses.index(access))
        number = self._operations.index(operation)
        if self.word is None:
            return _Look(operation, number, number)
        value = self.word.text(f)
        at = self._words.index(value)
        if self.first is None:
            return _Look(value, at, at)
        order = at * len(self._operations) + number
        return _Look(f"{operation}, {value}", number, order, at > 0)

    def _series(self, look: _Look, some: Sequence[FigureRecord]) -> Series:
        """A curve over the first axis; without it, bars."""
        first = self.first

        def x(f: FigureRecord) -> float | str:
            if first is not None:
                return as_number(f.where.get(first.name)) or 0.0
            return operation_of(f) if self.word else look.name

        if first is not None:
            some = [f for _, f in _placed(some, first)]
        else:
            some = sorted(some, key=lambda f: self._operations.index(operation_of(f)))
        notes = [fmt.plain(members_of(f).cache, 40) for f in some]
        return means(look.name, some, x, look.style, notes=notes, dashed=look.dashed)

    def panels(self, some: Sequence[FigureRecord]) -> list[Panel]:
        by_panel = grouped(some, lambda f: str(f.where.get("pattern", "")) if self.apart else "")
        found = []
        for title, of_panel in by_panel.items():
            looks = grouped(of_panel, self._look)
            in_order = sorted(looks, key=lambda look: look.order)
            series = [self._series(look, looks[look]) for look in in_order]
            found.append(Panel(fmt.plain(title, 40), series))
        return found


def _placed(rates: Sequence[FigureRecord], axis: Coordinate) -> list[tuple[float, FigureRecord]]:
    found = [(as_number(f.where.get(axis.name)), f) for f in rates]
    return sorted(((x, f) for x, f in found if x is not None), key=lambda p: p[0])


def figure_of(rates: Sequence[FigureRecord], axes: Sequence[Coordinate]) -> Figure | None:
    """Curves over the first axis with several numbers, or bars if there is none."""
    drawing = _Drawing.of(rates, axes)
    first = drawing.first
    x_axis = Axis("access" if drawing.apart else "pattern and access")
    if first is not None:
        ticks = {x: first.text(f) for x, f in _placed(rates, first)}
        x_axis = Axis(first.title, first.unit, log=True, ticks=sorted(ticks.items()))
    # The lowest bar of a linear axis would not be seen if values span decades.
    values = [f.metric.value for f in rates if f.metric.value]
    log = first is not None or (bool(values) and max(values) > _MOST_LINEAR * min(values))
    cases = grouped(rates, lambda f: place_of(f, drawing.others))
    return plot(
        "study-rates",
        f"Rate by {first.title}" if first else "Rates",
        "Means over the repetitions; whiskers are 95 % intervals, or the range of two to four"
        " repetitions. Hovering shows whether bytes came from a device or from a cache.",
        "curves" if first else "bars",
        x_axis,
        Axis("rate", "B/s", log=log, switch=log),
        {case: drawing.panels(some) for case, some in cases.items()},
        columns=3 if drawing.apart else 1,
        case=", ".join(a.title for a in drawing.others) or "case",
        height=260 if drawing.apart else 420,
    )


def rate_figure(result: Result) -> Figure | None:
    return figure_of(result.figures_named("bandwidth"), coordinates(result))


def rate_table(result: Result) -> Table:
    """None of its rows without rates: a peak alone is nothing to compare."""
    axes = coordinates(result)
    rates = result.figures_named("bandwidth")
    scaled = bool(result.figures_named("speed_up"))

    def key(f: FigureRecord) -> tuple[str, ...]:
        return (operation_of(f), *(axis.text(f) for axis in axes))

    share = value_at(result, "share_of_peak", key)
    more = [
        (Column("speed-up", "1"), value_at(result, "speed_up", key)),
        (Column("efficiency", "1", "%", 3), value_at(result, "efficiency", key)),
    ]
    return table_of(
        [*result.figures_named("peak"), *rates] if rates else [],
        [
            *((Column(axis.title), axis.text) for axis in axes),
            (Column("pattern"), lambda f: word(f, "pattern")),
            (Column("access"), access_of),
            (Column("rate", "B/s"), lambda f: f.metric.value),
            (Column("lowest", "B/s"), lambda f: certainty.range_of(f)[0]),
            (Column("highest", "B/s"), lambda f: certainty.range_of(f)[1]),
            (Column("± (95 %)", "B/s"), certainty.half_of),
            (Column("repetitions", "1"), lambda f: f.samples.count if f.samples else 0),
            (Column("calls alone", "B/s"), member("transfer_rate_bytes_per_second")),
            (Column("of the peak", "1", "%", 3), lambda f: None if f.name == "peak" else share(f)),
            *(more if scaled else ()),
            (Column("bytes from or to"), lambda f: fmt.plain(members_of(f).cache, 40)),
            (
                Column("remark"),
                lambda f: "the peak" if f.name == "peak" else "; ".join(f.reasons),
            ),
        ],
        "Rates",
        "± (95 %): half the interval of the mean, from five repetitions on.",
        longest=80,
    )


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
    places: list[float | str] = sorted(
        {x for s in panel.series for x in s.x}, key=lambda x: (isinstance(x, str), x)
    )
    limits = [Series("peak", places, [1.0] * len(places), 20, form="limit")]
    numbers = [x for x in places if isinstance(x, (int, float))]
    if axis is not None and axis.name in _RANKS and len(numbers) == len(places) and numbers[0] > 0:
        limits.append(_ideal(numbers, panel.series))
    return replace(
        figure,
        y=Axis("of the peak", shown="%", low=0.0),
        variants={"": [Panel("", [*panel.series, *limits])]},
    )
