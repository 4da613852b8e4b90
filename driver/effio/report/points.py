# SPDX-License-Identifier: BSD-3-Clause
"""Runs by what was varied: a row for each point, over its repetitions, with one number of each run:
that of its benchmark, a figure by its name, or the rate of an access. Runs of a store come from its
index, without reading their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from statistics import median
from typing import TYPE_CHECKING, Any

from effio.campaign.expression import as_number, spelled
from effio.config.toml_file import nearest
from effio.errors import EffioError
from effio.judge.repetitions import Statement, statement
from effio.judge.samples import Judged
from effio.report import model
from effio.report.claims import Claimed, Number, claimed
from effio.report.model import NO_MEAN, AxisValue, Cell, Column, Quantity, Table
from effio.text import count_of

# Only where results are read.
if TYPE_CHECKING:
    from effio.store.records import Figure as FigureRecord

# What says where a result went, not what was measured.
_NO_AXES = frozenset({"dir", "result", "progress", "quiet", "name", "label"})
_OF_CAMPAIGN = ("campaign", "step")


@dataclass
class Point:
    """The claims of its runs together. `values` are of runs whose number counts. `own`: the
    interval that a run states of its number, or why it has none. `missing`: why runs have no
    number. `places`: where the bytes of each number were. `judged`: how many runs have rules,
    `invalid`: how many did not meet them."""

    axes: Mapping[str, str]
    figure: str
    unit: str
    runs: int = 0
    values: list[float] = field(default_factory=list)
    own: str = ""
    missing: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    judged: int = 0
    invalid: int = 0

    def add(self, number: Number) -> None:
        """The number of another run."""
        self.runs += 1
        self.judged += number.valid is not None
        self.invalid += number.valid is False
        if number.value is not None and number.valid is not False:
            self.values.append(number.value)
            self.own = number.own
            self.places.append(number.evidence)
        elif number.valid is not False and number.own != NO_MEAN:
            self.missing.append(number.own)

    @cached_property
    def stated(self) -> Statement | None:
        """To be read when all runs are added."""
        return statement(self.values)

    @property
    def interval(self) -> str:
        """That of the values of several runs; of a single run the interval within it."""
        if self.stated is None:
            why = "; ".join(dict.fromkeys(filter(None, self.missing)))
            return f"no run counts: {why}" if why else "no run counts"
        return self.stated.spread(self.unit) if len(self.values) > 1 else self.own

    @property
    def evidence(self) -> str:
        """Where the bytes were; with the number of runs where that differs."""
        counts = Counter(self.places)
        if len(counts) < 2:
            return next(iter(counts), "")
        return ", ".join(
            f"{place or 'not known'}: {n} of {self.runs}" for place, n in counts.items()
        )

    @property
    def validity(self) -> str:
        """Empty where no rules apply."""
        if self.invalid:
            return "not valid" + (f": {self.invalid} of {self.runs}" if self.runs > 1 else "")
        return "valid" if self.judged else ""

    @property
    def basis(self) -> str:
        """What belongs to its median: interval, evidence and validity."""
        interval = self.interval
        if self.stated is not None and len(self.values) > 1:
            interval = self.stated.spread_of_median(self.unit)
        evidence = self.evidence and f"evidence: {self.evidence}"
        return "; ".join(part for part in (interval, evidence, self.validity) if part)


# Each with the coordinates in which it differs from the others of its run.
_Numbers = Sequence[tuple[Mapping[str, str], Number]]


def _text(value: object) -> str:
    """As in a campaign's file: false, not False."""
    return spelled(value) if isinstance(value, bool | int | float) else str(value)


def _number_of(run: Judged, name: str, figure: FigureRecord) -> Number:
    from effio.report.common.counts import interval_of

    value = figure.metric.value if figure.valid is not False else None
    own = figure.metric.reason if figure.metric.value is None else interval_of(figure)
    return Number(
        name,
        figure.metric.unit,
        value,
        own or NO_MEAN,
        _evidence_of_figure(run, name, figure),
        figure.valid,
    )


def _evidence_of_figure(run: Judged, name: str, figure: FigureRecord) -> str:
    """The evidence of the headline if that is the figure, else of the measurements at its place
    that move bytes in the direction of its name; empty for a figure that does not count bytes."""
    from effio.report.common.names import lies_at
    from effio.report.registry import reporter_of
    from effio.store.evidence import evidence_of, is_reading, short_of

    headline = reporter_of(run.result).headline(run.result)
    if (headline.name, headline.value) == (name, figure.metric.value):
        return short_of(headline.evidence, run.result.run)
    if figure.metric.unit != "B/s":
        return short_of([], run.result.run)
    there = [m for m in run.result.measurements if lies_at(m.where, figure.where)]
    if "read" in name or "write" in name:
        there = [m for m in there if is_reading(m.access) is is_reading(name)]
    return short_of(evidence_of(there), run.result.run)


def _values_of(run: Judged, wanted: str) -> _Numbers:
    """The values of each figure with this name, if a run has several (the partitions of b_eff_io),
    with the coordinates in which they differ; else of the run."""
    from effio.report.parts import differing

    figures = run.result.figures_named(wanted)
    if len(figures) < 2:
        return [({}, _value_of(run, wanted))]
    places = [{n: _text(v) for n, v in f.where.items() if v is not None} for f in figures]
    names = differing(places)
    return [
        ({name: place[name] for name in names if name in place}, _number_of(run, wanted, f))
        for f, place in zip(figures, places, strict=True)
    ]


def _value_of(run: Judged, wanted: str) -> Number:
    """Several rates of an access count by their median."""
    from effio.store.evidence import evidence_of, short_of

    figure = run.result.figure(wanted)
    if figure is not None:
        return _number_of(run, wanted, figure)
    those = [m for m in run.result.measurements if m.access == wanted]
    rates = [m.rate.value for m in those if m.valid and m.rate.value is not None]
    unit = those[0].rate.unit if those else ""
    own = f"no interval: the median of {count_of(len(rates), 'rate')}"
    places = short_of(evidence_of([m for m in those if m.valid]), run.result.run)
    valid = all(m.valid for m in those) if those else None
    if valid and run.result.is_imported:
        valid = None
    return Number(f"{wanted} rate", unit, median(rates) if rates else None, own, places, valid)


def _known_values(runs: Sequence[Judged]) -> list[str]:
    names = [f.name for run in runs for f in run.result.figures]
    return list(dict.fromkeys(names + [m.access for run in runs for m in run.result.measurements]))


def _axes_of(runs: Sequence[Claimed]) -> list[dict[str, str]]:
    """The axes of each run: benchmark, campaign and step, the axes of its campaign or else the
    options that differ among its like, and ranks; without what is the same for all."""
    every = [
        {
            "benchmark": run.benchmark,
            **({"campaign": part.name, "step": part.step} if (part := run.part) else {}),
            **run.labels,
            **{
                name: spelled(value)
                for name, value in run.options.items()
                if name not in _NO_AXES and isinstance(value, (str, int, float, bool))
            },
            "ranks": str(run.ranks),
        }
        for run in runs
    ]
    names = list(dict.fromkeys(name for axes in every for name in axes))

    def differs(name: str) -> bool:
        # An option that only one benchmark has distinguishes its runs only if they differ in it.
        values = {(axes["benchmark"], axes[name]) for axes in every if name in axes}
        benchmarks = {benchmark for benchmark, _ in values}
        if name == "benchmark" or name in _OF_CAMPAIGN:
            return len({axes.get(name) for axes in every}) > 1
        return len(values) > len(benchmarks)

    varied = [name for name in names if differs(name)]
    return [{name: axes[name] for name in varied if name in axes} for axes in every]


def points_of(runs: Sequence[Judged], by: Sequence[str] = (), value: str = "") -> list[Point]:
    """`by` names the axes that distinguish points; by default all that differ."""
    numbers = [_values_of(run, value) for run in runs] if value else ()
    points = points_of_claims([claimed(run) for run in runs], by, numbers)
    if value and value not in _known_values(runs):
        raise EffioError(
            f"no figure or access '{value}' in these runs{nearest(value, _known_values(runs))}"
        )
    return points


def points_of_claims(
    runs: Sequence[Claimed], by: Sequence[str] = (), numbers: Sequence[_Numbers] = ()
) -> list[Point]:
    """`numbers`: those of each run; by default the run's own number."""
    numbers = numbers or [[({}, run.claim.number)] for run in runs]
    all_axes = [
        {**axes, **own} if own else axes
        for axes, some in zip(_axes_of(runs), numbers, strict=True)
        for own, _ in some
    ]
    known = list(dict.fromkeys(name for axes in all_axes for name in axes))
    for name in by:
        if name not in known:
            raise EffioError(f"'{name}' does not differ among these runs{nearest(name, known)}")
    names = by or known
    found: dict[object, Point] = {}
    for axes, number in zip(all_axes, (one for some in numbers for _, one in some), strict=True):
        chosen = [axes.get(name, "") for name in names]
        key = (*chosen, number.name, number.unit)
        if (point := found.get(key)) is None:
            of = dict(zip(names, chosen, strict=True))
            point = found[key] = Point(of, number.name, number.unit)
        point.add(number)
    place = cache(_in_order)
    return sorted(found.values(), key=lambda p: [place(p.axes[name]) for name in names])


def _in_order(text: str) -> tuple[bool, float, str]:
    number = as_number(text)
    return (True, 0.0, text) if number is None else (False, float(number), text)


# A column and its cell for a point.
Made = tuple[Column, Callable[[Point], Cell]]


def table_of(points: Sequence[Point], title: str = "") -> Table:
    names = list(points[0].axes) if points else []
    units = {point.unit for point in points}
    unit = units.pop() if len(units) == 1 else ""

    def axis(name: str) -> Callable[[Point], Cell]:
        value = cache(partial(AxisValue, name))  # few values in many points
        return lambda point: value(point.axes[name])

    def column(name: str, of: Callable[[Statement], float | None], **more: Any) -> Made:
        """A column with a number from the points' statements."""

        def cell(point: Point) -> Cell:
            value = of(point.stated) if point.stated is not None else None
            return value if unit or value is None else Quantity(value, point.unit)

        return Column(name, unit or "1", **more), cell

    def share(point: Point) -> Cell:
        found = point.stated
        if found is None or found.half is None or not found.value:
            return None
        return found.half / found.value

    return model.table_of(
        points,
        [
            *((Column(name, kept=True), axis(name)) for name in names),
            (Column("runs", "1"), lambda point: point.runs),
            (Column("counted", "1", extra=True), lambda point: len(point.values)),
            (Column("figure", kept=True), lambda point: point.figure),
            column("median", lambda s: s.summary.median, kept=True),
            column(
                "median 95 % from", lambda s: s.of_median.low if s.of_median else None, extra=True
            ),
            column("to", lambda s: s.of_median.high if s.of_median else None, extra=True),
            column("lowest", lambda s: s.summary.min),
            column("highest", lambda s: s.summary.max),
            column("mean", lambda s: s.summary.mean, extra=True),
            column("deviation", lambda s: s.summary.deviation, extra=True),
            (Column("interval", below=True), lambda point: point.interval),
            (Column("evidence", below=True), lambda point: point.evidence),
            (Column("verdict", below=True), lambda point: point.validity),
            (Column("± half the mean's 95 % interval", "1", "%", 3, extra=True), share),
            (
                Column("what is odd", below=True),
                lambda point: point.stated.text if point.stated else "",
            ),
            (Column("unit in CSV"), lambda point: point.unit),
        ],
        title,
    )


def across(points: Sequence[Point], axis: str, title: str = "") -> Table:
    """The medians, with the values of one axis side by side, each followed by what it is based on:
    interval, evidence and verdict."""
    names = [name for name in points[0].axes if name != axis] if points else []
    if points and axis not in points[0].axes:
        known = list(points[0].axes)
        raise EffioError(f"'{axis}' does not differ among these runs{nearest(axis, known)}")
    heads = sorted({point.axes[axis] for point in points}, key=_in_order)
    rows: dict[object, list[Cell]] = {}
    for point in points:
        key = (*(point.axes[name] for name in names), point.figure, point.unit)
        words = [AxisValue(name, point.axes[name]) for name in names]
        start: list[Cell] = [*words, point.figure]
        row = rows.setdefault(key, [*start, *(None for _ in heads for _ in range(2)), point.unit])
        place = len(start) + 2 * heads.index(point.axes[axis])
        row[place + 1] = point.basis
        if point.values:
            row[place] = Quantity(median(point.values), point.unit)
    columns = [*(Column(name, kept=True) for name in names), Column("figure", kept=True)]
    for head in heads:
        columns += [Column(f"{axis}={head}", "1"), Column(f"basis of {head}", below=True)]
    return Table([*columns, Column("unit in CSV")], list(rows.values()), title)
