# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of a campaign night by night: value and interval, change points, and where the
software changed."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from effio import text as fmt
from effio.errors import pip_install
from effio.report.claims import Claimed
from effio.report.common.names import grouped, unique
from effio.report.model import (
    Axis,
    Block,
    Column,
    Figure,
    Finding,
    Headline,
    Link,
    Quantity,
    Report,
    Section,
    Series,
    Table,
    table_of,
)
from effio.report.parts import differing, quantity
from effio.report.plots import plot
from effio.report.spots import Spot, curve

# Fewer nights before or after it show no change.
SHORTEST = 3
_TOO_FEW = f"a search for changes needs at least {2 * SHORTEST} nights with a number above zero"
# Noise below this part of the value is none that a change has to stand out from.
_LEAST_NOISE = 0.002
# Of the penalty for a change point: log(nights) times the variance, times this.
_PENALTY = 6.0
# Figures of a page: one of 9,000 has nine megabytes, and takes a browser minutes.
MOST_DRAWN = 200
SCHEMA = "effio-trend/1"


@dataclass
class Night(Spot):
    """`day` is the date (UTC) at which the runs started."""

    day: str = ""
    evidence: list[str] = field(default_factory=list)

    @property
    def level(self) -> float:
        """Its mean; a night has values."""
        return fmean(self.values)


@dataclass(frozen=True)
class Change:
    """A change: from `night` on the value is another one; means of the stretches before and after
    it."""

    night: str
    before: float
    after: float

    @property
    def part(self) -> float:
        return self.after / self.before - 1


@dataclass
class TrendLine:
    """One number of one point over the nights. `better`: higher or lower."""

    what: str
    figure: str
    unit: str
    better: str
    nights: list[Night] = field(default_factory=list)
    changes: Sequence[Change] = ()

    @property
    def can_be_searched(self) -> bool:
        return _can_be_searched([night.level for night in self.nights])


@dataclass(frozen=True)
class Software:
    night: str
    what: str
    before: str
    after: str


@dataclass(frozen=True)
class Trend:
    name: str
    courses: Sequence[TrendLine]
    software: Sequence[Software]
    days: Sequence[str]
    missing: str = ""  # why no change point was looked for
    left_out: int = 0  # runs without a valid number

    @property
    def not_searched(self) -> str:
        """Why no value at all was searched for changes; empty if one was."""
        some = any(course.can_be_searched for course in self.courses)
        return self.missing or ("" if some else _TOO_FEW)

    @property
    def worse(self) -> list[tuple[TrendLine, Change]]:
        return [
            (c, x) for c in self.courses for x in c.changes if (x.part < 0) == (c.better != "lower")
        ]


def software_changes(runs: Sequence[Claimed]) -> list[Software]:
    """Changes of software, by the start of runs: what is another version than in the run before
    it."""
    found: list[Software] = []
    known: dict[str, str] = {}
    for run in runs:
        for what, version in run.claim.versions.items():
            if version and known.get(what, version) != version:
                found.append(Software(run.started[:10], what, known[what], version))
            if version:
                known[what] = version
    return found


def _can_be_searched(values: Sequence[float]) -> bool:
    return len(values) >= 2 * SHORTEST and min(values) > 0


def change_points(values: Sequence[float]) -> list[int]:
    """Where a stretch of another level begins, by PELT (Killick 2012) on the logarithms. Raises
    ModuleNotFoundError without ruptures."""
    if not _can_be_searched(values):
        return []
    import numpy as np
    import ruptures  # takes a second

    logs = np.log(np.asarray(values, dtype=float))
    # Of differences of neighbors, which a change of level hardly touches.
    noise = 1.4826 * median(abs(float(d)) for d in np.diff(logs)) / math.sqrt(2)
    noise = max(noise, _LEAST_NOISE)
    penalty = _PENALTY * math.log(len(values)) * noise**2
    # With a linear kernel the cost of a stretch is its squared deviations from their mean, in C.
    search = ruptures.KernelCPD(kernel="linear", min_size=SHORTEST)
    around = (logs - logs.mean()).reshape(-1, 1)
    return [int(end) for end in search.fit(around).predict(pen=penalty)[:-1]]


def _changes(course: TrendLine) -> list[Change]:
    means = [night.level for night in course.nights]
    starts = change_points(means)
    ends = [0, *starts, len(means)]
    return [
        Change(
            course.nights[start].day,
            fmean(means[ends[i] : start]),
            fmean(means[start : ends[i + 2]]),
        )
        for i, start in enumerate(starts)
    ]


def trend_of(name: str, runs: Sequence[Claimed]) -> Trend:
    """`runs` by their start. Numbers that do not count are left out."""
    courses: dict[object, TrendLine] = {}
    axes = [run.axes for run in runs]
    apart = differing(axes)
    left_out = 0
    for run, own in zip(runs, axes, strict=True):
        number, day = run.claim.number, run.started[:10]
        if number.value is None or number.valid is False or not day:
            left_out += 1
            continue
        what = ", ".join(f"{n} {own[n]}" for n in apart if own.get(n)) or run.benchmark
        key = (what, number.name, number.unit)
        new = TrendLine(what, number.name, number.unit, run.claim.better)
        course = courses.setdefault(key, new)
        if not course.nights or course.nights[-1].day != day:
            course.nights.append(Night(day=day))
        course.nights[-1].values.append(number.value)
        course.nights[-1].own = run.claim.interval
        course.nights[-1].evidence.append(number.evidence)
    missing = ""
    for course in courses.values():
        try:
            course.changes = _changes(course)
        except ModuleNotFoundError:
            missing = (
                f"change points need ruptures, which is not installed ({pip_install('ruptures')})"
            )
            break
    days = sorted({night.day for c in courses.values() for night in c.nights})
    return Trend(name, list(courses.values()), software_changes(runs), days, missing, left_out)


def change_sentence(course: TrendLine, change: Change) -> str:
    return (
        f"{course.what}, {course.figure}: from {change.night} on:"
        f" {fmt.quantity(change.after, course.unit)} instead of"
        f" {fmt.quantity(change.before, course.unit)} ({fmt.percent(change.part, 1, signed=True)})."
    )


def findings(trend: Trend, drawn: Collection[int]) -> list[Finding]:
    """`drawn`: positions of the values that have a figure."""
    found = [
        Finding(
            change_sentence(course, change),
            f"trend-{i + 1}" if i in drawn else "table",
            "bad" if (change.part < 0) == (course.better != "lower") else "good",
        )
        for i, course in enumerate(trend.courses)
        for change in course.changes
    ]
    if trend.missing:
        return [Finding(trend.missing[:1].upper() + trend.missing[1:] + ".", level="warn")]
    searched = [course for course in trend.courses if course.can_be_searched]
    apart = len(trend.courses) - len(searched)
    if not searched:
        return [Finding(f"{fmt.count_of(len(trend.days), 'night')}: {_TOO_FEW}."), *_others(trend)]
    if not found:
        nights = fmt.count_of(max(len(course.nights) for course in searched), "night")
        found.append(Finding(f"No change of level was found in {nights}."))
    if apart:
        some = fmt.share_of(apart, len(trend.courses), "values was", "values were")
        found.append(Finding(f"{some} not searched for changes: {_TOO_FEW}.", "table"))
    return found + _others(trend)


def _others(trend: Trend) -> list[Finding]:
    """Findings that are not about changes of level."""
    found = []
    if trend.left_out:
        text = (
            f"{fmt.count_of(trend.left_out, 'run')} left out: the number is not valid or missing,"
            " or the start of the run is not known."
        )
        found.append(Finding(text, "table", "warn"))
    found += [
        Finding(f"{s.night}: {s.what} changed from {s.before} to {s.after}.")
        for s in trend.software
    ]
    return found


def _figure(number: int, course: TrendLine, trend: Trend) -> Figure:
    at = {day: float(date.fromisoformat(day).toordinal()) for day in trend.days}
    nights = course.nights
    x, means = [at[night.day] for night in nights], [night.level for night in nights]
    intervals = [night.interval for night in nights]
    runs = [fmt.count_of(len(night.values), "run") for night in nights]
    series = [curve(course.figure, x, nights, notes=runs)]
    starts = {change.night: change for change in course.changes}
    changed = [i for i, night in enumerate(nights) if night.day in starts]
    for style, (start, end) in enumerate(pairwise([0, *changed, len(x)] if changed else []), 1):
        level = fmean(means[start:end])
        name = f"level {fmt.quantity(level, course.unit)}"
        ends = [x[start], x[end - 1]]
        series.append(Series(name, ends, [level, level], style, form="limit"))
    if changed:
        notes = [fmt.percent(starts[nights[i].day].part, 1, signed=True) for i in changed]
        places, levels = [x[i] for i in changed], [means[i] for i in changed]
        series.append(Series("level changes", places, levels, 3, form="points", notes=notes))
    top = max([*means, *(i.high for i in intervals if i)])
    for day, some in grouped(trend.software, lambda s: s.night).items():
        if day in at:
            name = ", ".join(f"{s.what} {s.after}" for s in some)
            series.append(Series(name, [at[day]] * 2, [0.0, top], 30, form="limit"))
    figure = plot(
        f"trend-{number}",
        f"{course.what}: {course.figure}",
        "The mean of each night; whiskers are 95 % intervals, or the range of two to four runs."
        " Level lines are the means between two changes; a second mark is on the first night of a"
        " new level. Vertical lines show where software changed.",
        "curves",
        Axis(
            "night",
            ticks=[(place, day) for day, place in at.items()],
            low=min(at.values()) - 0.5,
            high=max(at.values()) + 0.5,
        ),
        Axis(fmt.heading(course.figure), course.unit),
        series,
        table=nights_table([course]),
    )
    assert figure is not None
    return figure


def nights_table(courses: Sequence[TrendLine]) -> Table:
    changes = {
        (id(c), change.night): fmt.percent(change.part, 1, signed=True)
        for c in courses
        for change in c.changes
    }

    return table_of(
        [(course, night) for course in courses for night in course.nights],
        [
            (Column("point"), lambda row: row[0].what),
            (Column("value"), lambda row: row[0].figure),
            (Column("night"), lambda row: row[1].day),
            (Column("mean", "1"), lambda row: Quantity(row[1].level, row[0].unit)),
            (Column("95 % from", "1"), lambda row: quantity(row[1].end("low"), row[0].unit)),
            (Column("to", "1"), lambda row: quantity(row[1].end("high"), row[0].unit)),
            (Column("runs", "1"), lambda row: len(row[1].values)),
            (Column("evidence"), lambda row: "; ".join(unique(filter(None, row[1].evidence)))),
            (Column("change"), lambda row: changes.get((id(row[0]), row[1].day), "")),
        ],
        "Nights",
        narrow_cards=True,
    )


def _drawn(trend: Trend, most: int | None) -> list[int]:
    """Positions of the values that are drawn, in their order."""
    by_interest = sorted(range(len(trend.courses)), key=lambda i: not trend.courses[i].changes)
    return sorted(by_interest[:most])


def trend_report(trend: Trend, most: int | None = None, others: Link | None = None) -> Report:
    """`most`: this many figures, first those of values that changed their level; `others` leads to
    the rest."""
    drawn = _drawn(trend, most)
    count = sum(len(course.changes) for course in trend.courses)
    missing = trend.not_searched
    headline = Headline(
        "changes of level", None if missing else count, "1",
        f"in {fmt.count_of(len(trend.days), 'night')},"
        f" {fmt.count_of(len(trend.courses), 'value')}",
        missing=missing,
    )  # fmt: skip
    blocks: list[Block] = [_figure(i + 1, trend.courses[i], trend) for i in drawn]
    if len(drawn) < len(trend.courses):
        text = (
            f"Drawn are {len(drawn)} of {fmt.count_of(len(trend.courses), 'value')}, first those"
            " that changed their level. effio trend draws each by its number (--svg trend-1), and"
            " writes all nights (--format csv)."
        )
        blocks = [text, *([others] if others is not None else []), *blocks]
    sections = [
        Section("nights", "Night by night", blocks, show=False),
        Section("table", "All nights", [nights_table(trend.courses)]),
    ]
    name = f"trend of {trend.name}"
    span = " to ".join(unique([trend.days[0], trend.days[-1]])) if trend.days else ""
    return Report(name, name, headline, findings(trend, set(drawn)), sections, span)


def as_data(trend: Trend) -> dict[str, Any]:
    """The trend for other programs; values in base units."""
    return {
        "schema": SCHEMA,
        "campaign": trend.name,
        "change_points": trend.not_searched or "looked for",
        "values": [
            {
                "point": course.what,
                "value": course.figure,
                "unit": course.unit,
                "better": course.better,
                "searched": course.can_be_searched and not trend.missing,
                "nights": [
                    {
                        "night": night.day,
                        "mean": night.level,
                        "low95": night.end("low"),
                        "high95": night.end("high"),
                        "runs": len(night.values),
                    }
                    for night in course.nights
                ],
                "changes": [asdict(change) for change in course.changes],
            }
            for course in trend.courses
        ],
        "software": [asdict(change) for change in trend.software],
    }
