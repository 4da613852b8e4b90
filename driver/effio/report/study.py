# SPDX-License-Identifier: BSD-3-Clause
"""Tells of any benchmark that is a study: the rate over its first axis, a table whose columns are
the axes, and what exceeds the peak. docs/results.md, "Studies", says what such a result holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import Field

from effio import text as fmt
from effio.report import common
from effio.report.generic import headline_of
from effio.report.model import (
    Axis,
    Block,
    Cell,
    Column,
    Figure,
    Finding,
    Headline,
    Panel,
    Section,
    Series,
    Table,
)
from effio.store.details import Detail, Rows
from effio.store.evidence import Place
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import Number, as_number


class _Rate(Detail):
    """What a rate, or the peak, adds: the calls alone; bytes a second."""

    transfer_rate_bytes_per_second: Number | None = None
    cache: str = ""


class _SpeedUp(Detail):
    ranks: Number | None = None
    from_ranks: Number | None = None


class _Enough(Detail):
    """Of the fewest ranks that get nearly the best rate; bytes a second."""

    of_ranks: Number | None = None
    rate_bytes_per_second: Number | None = None
    best_ranks: Number | None = None
    best_rate_bytes_per_second: Number | None = None
    fewest_ranks: Number | None = None
    fewest_rate_bytes_per_second: Number | None = None
    shape: str = ""
    answer: str = ""  # "known", "once", "growing", "unclear"; empty in older results


class _Throughput(Detail):
    name: str = ""
    passes: list[tuple[str, str]] = Field(default_factory=list)


class _Study(Detail):
    """What the run line says of the study: the figures that answer its question."""

    headline: str = ""
    throughputs: Rows[_Throughput] | None = None

    @classmethod
    def of_run(cls, result: Result) -> _Study:
        study = result.run.extra.get("study")
        return cls.model_validate(study) if isinstance(study, dict) else cls()


class _Best(Detail):
    place: dict[str, Any] | None = None
    others: Rows[dict[str, Any]] | None = None  # of the other kinds of access
    weakest: dict[str, Any] | None = None


@dataclass(frozen=True)
class Coordinate:
    """One axis of a study as its run line describes it."""

    name: str
    title: str
    unit: str

    def text(self, f: FigureRecord) -> str:
        value = f.where.get(self.name)
        if self.unit == "B" and isinstance(value, int) and not isinstance(value, bool):
            return fmt.exact_size(value)
        return fmt.plain(value if value is not None else "", 40)


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


def _operation(f: FigureRecord) -> str:
    return " ".join(fmt.plain(f.where.get(name, ""), 40) for name in ("pattern", "access")).strip()


def _of(f: FigureRecord, axes: Sequence[Coordinate]) -> str:
    return ", ".join(f"{axis.title} {axis.text(f)}" for axis in axes)


def _varying(rates: Sequence[FigureRecord], axes: Sequence[Coordinate]) -> list[Coordinate]:
    return [a for a in axes if len({a.text(f) for f in rates}) > 1]


def _series(
    name: str, some: Sequence[FigureRecord], x: Sequence[float | str], style: int
) -> Series:
    return Series(
        name,
        x,
        [f.metric.value for f in some],
        style,
        high=[f.samples.high95 if f.samples else None for f in some],
        low=[f.samples.low95 if f.samples else None for f in some],
        notes=[fmt.plain(_Rate.of(f).cache, 40) for f in some],
    )


def _access(f: FigureRecord) -> str:
    return fmt.plain(f.where.get("access", ""), 40)


def _placed(rates: Sequence[FigureRecord], axis: Coordinate) -> list[tuple[float, FigureRecord]]:
    found = [(as_number(f.where.get(axis.name)), f) for f in rates]
    return sorted(((x, f) for x, f in found if x is not None), key=lambda p: p[0])


def _ticks(rates: Sequence[FigureRecord], axis: Coordinate | None) -> dict[float, str]:
    return {x: axis.text(f) for x, f in _placed(rates, axis)} if axis is not None else {}


def _curve(name: str, some: Sequence[FigureRecord], first: Coordinate | None, style: int) -> Series:
    """Over `first`; without it, bars that have the name."""
    if first is None:
        return _series(name, some, [name for _ in some], style)
    placed = _placed(some, first)
    return _series(name, [f for _, f in placed], [x for x, _ in placed], style)


# So many patterns are told apart in one panel; more have a panel each.
_MOST_PATTERNS_A_PANEL = 3


def _panels(
    rates: Sequence[FigureRecord], first: Coordinate | None, accesses: Sequence[str]
) -> list[Panel]:
    """A panel for each pattern, a series for each access."""
    panels = []
    for pattern, some in common.grouped(rates, lambda f: str(f.where.get("pattern", ""))).items():
        by_access = common.grouped(some, _access)
        series = [
            _curve(access, by_access[access], first, common.access_style(access, accesses))
            for access in accesses
            if access in by_access
        ]
        panels.append(Panel(fmt.plain(pattern, 40), series))
    return panels


def rate_figure(rates: Sequence[FigureRecord], axes: Sequence[Coordinate]) -> Figure | None:
    """Curves over the first axis that has several numbers; bars where none has. Many patterns have
    a panel each."""
    if not rates:
        return None
    varying = _varying(rates, axes)
    first = next((a for a in varying if a.unit), None)
    others = [a for a in varying if a is not first]
    operations = common.unique(_operation(f) for f in rates)
    patterns = {str(f.where.get("pattern", "")) for f in rates}
    apart = len(patterns) > _MOST_PATTERNS_A_PANEL
    accesses = common.unique(_access(f) for f in rates)
    variants: dict[str, list[Panel]] = {}
    for case, of_case in common.grouped(rates, lambda f: _of(f, others)).items():
        if apart:
            variants[case] = _panels(of_case, first, accesses)
            continue
        by_operation = common.grouped(of_case, _operation)
        series = [
            _curve(operation, by_operation[operation], first, style)
            for style, operation in enumerate(operations)
            if operation in by_operation
        ]
        variants[case] = [Panel("", series)]
    ticks = _ticks(rates, first)
    title = f"Rate over the {first.title}" if first else "Rates"
    x_axis = Axis("pattern and access")
    if first is not None:
        x_axis = Axis(first.title, first.unit, log=True, ticks=sorted(ticks.items()))
    return Figure(
        "study-rates",
        title,
        "Means over the repetitions; whiskers are 95 % intervals. Hovering shows whether bytes came"
        " from a device or from a cache.",
        "curves" if first else "bars",
        x_axis,
        Axis("rate", "B/s", log=first is not None, switch=first is not None),
        variants,
        columns=3 if apart else 1,
        variant_title=", ".join(a.title for a in others) or "case",
        panel_height=260 if apart else 420,
    )


def rate_table(result: Result, axes: Sequence[Coordinate]) -> Table:
    def key(f: FigureRecord) -> tuple[str, ...]:
        return (_operation(f), *(axis.text(f) for axis in axes))

    def by_place(name: str) -> dict[tuple[str, ...], float | None]:
        return {key(f): f.metric.value for f in result.figures_named(name)}

    shares = by_place("share_of_peak")
    speed_ups, efficiencies = by_place("speed_up"), by_place("efficiency")
    rows: list[list[Cell]] = []
    for name in ("peak", "bandwidth"):
        for f in result.figures_named(name):
            told = _Rate.of(f)
            rows.append(
                [
                    *(axis.text(f) for axis in axes),
                    fmt.plain(f.where.get("pattern", ""), 40),
                    fmt.plain(f.where.get("access", ""), 40),
                    f.metric.value,
                    f.samples.half95 if f.samples else None,
                    f.samples.count if f.samples else 0,
                    told.transfer_rate_bytes_per_second,
                    shares.get(key(f)) if name == "bandwidth" else None,
                    *((speed_ups.get(key(f)), efficiencies.get(key(f))) if speed_ups else ()),
                    fmt.plain(told.cache, 40),
                    "the peak" if name == "peak" else "; ".join(f.reasons),
                ]
            )
    columns = [
        *(Column(axis.title) for axis in axes),
        Column("pattern"),
        Column("access"),
        Column("rate", "B/s"),
        Column("± (95 %)", "B/s"),
        Column("repetitions", "1"),
        Column("calls alone", "B/s"),
        Column("of the peak", "1", "%", 3),
        *((Column("speed-up", "1"), Column("efficiency", "1", "%", 3)) if speed_ups else ()),
        Column("bytes from or to"),
        Column("remark"),
    ]
    return Table(columns, rows, "Rates", page_only=len(rows) > 80)


def _why_above(result: Result, share: FigureRecord) -> str:
    """A cache is the reason only where the evidence of that very rate says so."""
    cells = [
        m
        for m in result.measurements
        if m.valid
        and (m.pattern, m.access) == (share.where.get("pattern"), share.where.get("access"))
        and common.lies_at(m.where, share.where)
    ]
    evidence = common.evidence_of(cells, result.run.clock.virtual)
    if any(one.place in (Place.CACHE, Place.MIXED) for one in evidence):
        return "a cache took part"
    return "the peak is too low"


def peak_findings(result: Result, axes: Sequence[Coordinate]) -> list[Finding]:
    shares = [f for f in result.figures_named("share_of_peak") if f.metric.value is not None]
    if not shares:
        return []
    findings = []
    above = [f for f in shares if (f.metric.value or 0.0) > 1]
    if above:
        most = max(above, key=lambda f: f.metric.value or 0.0)
        share = fmt.percent(most.metric.value or 0.0)
        findings.append(
            Finding(
                f"{fmt.count_of(len(above), 'rate')} of {len(shares)} exceed the peak, at most"
                f" {_operation(most)}, {_of(most, axes)}, with {share} of it:"
                f" {_why_above(result, most)}.",
                "study-rates",
                "warn",
            )
        )
    honest = [f for f in shares if (f.metric.value or 0.0) <= 1]
    if honest:
        low, high = (pick(honest, key=lambda f: f.metric.value or 0.0) for pick in (min, max))
        findings.append(
            Finding(
                f"Of the peak reach {_operation(high)}, {_of(high, axes)},"
                f" {fmt.percent(high.metric.value or 0)}, and {_operation(low)}, {_of(low, axes)},"
                f" {fmt.percent(low.metric.value or 0)}.",
                "study-rates",
            )
        )
    return findings


def scaling_findings(result: Result, axes: Sequence[Coordinate]) -> list[Finding]:
    """For each pattern and access the speed-up of the most ranks."""
    # By pattern and access, and the other axes: ranks, the fewest, and the speed-up.
    found: dict[tuple[str, str], tuple[float, float, float]] = {}
    for f in result.figures_named("speed_up"):
        ranks, fewest = (told := _SpeedUp.of(f)).ranks, told.from_ranks
        if f.metric.value is None or ranks is None or fewest is None or not 0 < fewest < ranks:
            continue
        key = _operation(f), _of(f, [a for a in axes if f.where.get(a.name) != ranks])
        if key not in found or ranks > found[key][0]:
            found[key] = ranks, fewest, f.metric.value
    counts = [f.samples.count for f in result.figures_named("bandwidth") if f.samples]
    once = min(counts, default=2) < 2
    unknown = {
        (_operation(f), ranks): fmt.plain(f.metric.reason, 80)
        for f in result.figures_named("efficiency")
        if f.metric.value is None and (ranks := _SpeedUp.of(f).ranks) is not None
    }
    findings = []
    for (operation, others), (ranks, fewest, value) in list(found.items())[:4]:
        efficiency = f"an efficiency of {fmt.percent(value * fewest / ranks)}"
        if once:
            efficiency = "from one repetition, so that the efficiency is not known"
        elif (operation, ranks) in unknown:
            efficiency = f"but the efficiency is not known: {unknown[operation, ranks]}"
        findings.append(
            Finding(
                f"{operation}{', ' if others else ''}{others}: {ranks:.0f} ranks get"
                f" {value:.2f} times the rate of {fewest:.0f}, {efficiency}.",
                "study-rates",
            )
        )
    return findings


_SHAPES = {
    "linear": "the rate grows with the processes, and more may get more",
    "growing": "the rate still grows, by less than the processes",
    "level": "the rate grows, then stays level",
    "flat": "more are not faster",
    "falling": "beyond the best number more are slower",
}


def enough_sentence(f: FigureRecord) -> str:
    """ "use 12 of 64 processes for I/O", and what that stands on; empty if it is not known."""
    told, ranks = _Enough.of(f), f.metric.value
    rate, best, one = (
        told.rate_bytes_per_second,
        told.best_rate_bytes_per_second,
        told.fewest_rate_bytes_per_second,
    )
    if told.of_ranks is None or rate is None:
        return ""
    s = f.samples
    if ranks is None or s is None or s.count < 2:
        if best is None or told.best_ranks is None:
            return ""
        why = f.metric.reason or "how many are enough takes at least two repetitions"
        slower = f"; {_SHAPES['falling']}" if told.answer and told.shape == "falling" else ""
        return (
            f"highest rate {fmt.rate(best)} with {told.best_ranks:.0f} of {told.of_ranks:.0f}"
            f" processes{slower}; {fmt.plain(why, 200)}."
        )
    text = f"use {ranks:.0f} of {told.of_ranks:.0f} processes for I/O"
    if s.low95 is not None and s.high95 is not None and s.low95 < s.high95:
        text += f" (95 % interval: {s.low95:.0f} to {s.high95:.0f})"
    text += f": {fmt.rate(rate)}"
    if best is not None and told.best_ranks is not None and told.best_ranks != ranks:
        most = fmt.count_of(round(told.best_ranks), "process")
        text += f" of at most {fmt.rate(best)} ({most})"
    if one is not None and told.fewest_ranks is not None and told.fewest_ranks != ranks:
        gets = "gets" if told.fewest_ranks == 1 else "get"
        text += f"; {told.fewest_ranks:.0f} {gets} {fmt.rate(one)}"
    words = _SHAPES.get(told.shape)
    return f"{text}; {words}." if words else f"{text}."


def enough_findings(result: Result, axes: Sequence[Coordinate]) -> list[Finding]:
    """A sentence for each curve over numbers of ranks."""
    findings = []
    for f in result.figures_named("enough_ranks")[:8]:
        others = _of(f, [a for a in axes if a.name in f.where])
        if sentence := enough_sentence(f):
            where = f"{_operation(f)}{', ' if others else ''}{others}"
            findings.append(Finding(f"{where}: {sentence}", "study-rates"))
    return findings


def _rate_headline(name: str, result: Result, place: dict[str, Any]) -> Headline:
    """The rate at a place, as a claim about the measurements there."""
    figure = next(
        (f for f in result.figures_named("bandwidth") if f.where == place),
        result.figure(result.benchmark.replace("-", "_")),
    )
    if figure is None:
        return Headline(name, None, "B/s", missing="the rate is not in the result")
    there = figure.model_copy(update={"where": place})
    where = [_operation(there), _of(there, coordinates(result)), common.context_of(result)]
    cells = [
        m
        for m in result.measurements
        if m.valid
        and (m.pattern, m.access) == (place.get("pattern"), place.get("access"))
        and common.lies_at(m.where, place)
    ]
    alone = _Rate.of(figure).transfer_rate_bytes_per_second
    if alone is not None and figure.metric.value and alone > 1.05 * figure.metric.value:
        where.append(f"the calls alone {fmt.rate(alone)}")
    headline = Headline(
        name,
        figure.metric.value,
        figure.metric.unit,
        ", ".join(part for part in where if part),
        missing=figure.metric.reason,
        anchor="study-rates" if figure.metric.value is not None else "",
    )
    return common.claimed(headline, result, cells, figure)


class StudyTeller:
    def headline(self, result: Result) -> Headline:
        declared = _Study.of_run(result).headline
        if declared == "throughputs" and (told := self._throughputs(result)) is not None:
            return told
        figure = result.figure(result.benchmark.replace("-", "_"))
        if figure is None or (place := _Best.of(figure).place) is None:
            told = headline_of(figure, result, common.context_of(result))
            unit = told.unit if figure is not None else "B/s"
            return Headline("highest rate", told.value, unit, told.context, missing=told.missing)
        if declared == "strongest and weakest":
            return self._strongest_and_weakest(result, place)
        if declared == "by access":
            return self._by_access(result, place, _Best.of(figure).others or ())
        return _rate_headline("highest rate", result, place)

    def _by_access(
        self, result: Result, place: dict[str, Any], others: Sequence[dict[str, Any]]
    ) -> Headline:
        """The highest rate of writing, and next to it that of reading."""
        first = _rate_headline(f"highest {fmt.plain(place.get('access', ''), 40)}", result, place)
        text, evidence = first.context, [*first.evidence]
        for other in others:
            access = fmt.plain(other.get("access", ""), 40)
            told = _rate_headline("", result, other)
            if told.value is None:
                continue
            text += f"; highest {access}: {told.shown()} {told.context}"
            text += f" ({told.basis()})" if told.basis() else ""
        return replace(first, context=text, evidence=evidence)

    def _throughputs(self, result: Result) -> Headline | None:
        """Things per second: the first in full, the others next to it."""
        names = [t.name for t in _Study.of_run(result).throughputs or ()]
        found = [f for name in names for f in result.figures_named(name)[:1] if f.metric.value]
        if not found:
            return None
        first, *others = found
        told = [f"{fmt.plain(f.name, 40).replace('_', ' ')} {f.metric.value:.4g}" for f in others]
        told += [_of(first, coordinates(result)), common.context_of(result)]
        headline = Headline(
            fmt.plain(first.name, 40).replace("_", " "),
            first.metric.value,
            first.metric.unit,
            ", ".join(part for part in told if part),
            anchor="study",
        )
        parts = {
            (p[0], p[1])
            for t in _Study.of_run(result).throughputs or ()
            if t.name == first.name
            for p in t.passes
        }
        cells = [
            m
            for m in result.measurements
            if (m.pattern, m.access) in parts and common.lies_at(m.where, first.where)
        ]
        return common.claimed(headline, result, cells)

    def _strongest_and_weakest(self, result: Result, place: dict[str, Any]) -> Headline:
        """Of the rates of the access that the strongest has."""
        access = fmt.plain(place.get("access", ""), 40)
        headline = _rate_headline(f"strongest pattern, {access}", result, place)
        rates = [
            f
            for f in result.figures_named("bandwidth")
            if f.metric.value is not None and _access(f) == str(place.get("access"))
        ]
        own = result.figure(result.benchmark.replace("-", "_"))
        weakest = _Best.of(own).weakest if own is not None else None
        if weakest is None and rates:
            weakest = min(rates, key=lambda f: f.metric.value or 0.0).where
        if weakest is None or weakest == place:
            return headline
        low = _rate_headline("", result, weakest)
        text = f"; weakest: {low.shown()} {low.context}"
        return replace(
            headline,
            context=headline.context + text + (f" ({low.basis()})" if low.basis() else ""),
            evidence=[*headline.evidence, *low.evidence],
        )

    def findings(self, result: Result) -> Sequence[Finding]:
        limit = common.limit_finding(common.time_splits(result.measurements, lambda m: m.access))
        return [
            *([limit] if limit is not None else []),
            *peak_findings(result, coordinates(result)),
            *scaling_findings(result, coordinates(result)),
            *enough_findings(result, coordinates(result)),
        ]

    def sections(self, result: Result) -> Sequence[Section]:
        rates = result.figures_named("bandwidth")
        if not rates:
            return []
        axes = coordinates(result)
        figure = rate_figure(rates, axes)
        blocks: list[Block] = [*([figure] if figure else []), rate_table(result, axes)]
        return [Section("study", "Rates", blocks)]


TELLER = StudyTeller()
