# SPDX-License-Identifier: BSD-3-Clause
"""The page of a campaign: how its runs ended, a figure for each value over the axes that were
swept, a table of points, and its runs with links to their reports."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

from effio import text as fmt
from effio.campaign.figures import figures_of
from effio.campaign.file import Campaign
from effio.config.site import load_site
from effio.judge import FEWEST
from effio.judge.accept import accept
from effio.judge.gather import counting_of, labels_of
from effio.judge.rules import RuleFile, load_rules, shipped
from effio.judge.samples import Judged
from effio.judge.systems import systems_of
from effio.report.acceptance import acceptance_section, summary_text
from effio.report.axes import before_scale
from effio.report.claims import axes_of, claimed
from effio.report.common.names import grouped, unique
from effio.report.model import (
    Axis,
    AxisValue,
    Block,
    Cell,
    Column,
    Figure,
    Finding,
    Headline,
    Level,
    Link,
    Panel,
    Quantity,
    Report,
    Section,
    Series,
    Table,
    table_of,
)
from effio.report.parts import differing, quantity
from effio.report.peaks import campaign_section, peak_of_run
from effio.report.plots import plot
from effio.report.registry import reporter_of
from effio.report.spots import Spot, curve, number_of, place_of, x_axis
from effio.store import safe_files
from effio.store.attempts import Attempt
from effio.store.evidence import mark_of, short_of
from effio.store.folder import REPORT, RunFolder
from effio.store.option_values import coordinate_text
from effio.store.reader import ResultError

_MOST_PANELS = 12
_MOST_NAMED = 3


@dataclass
class Measured(Spot):
    """A point of a campaign: the numbers of its runs, and the interval of their mean. `axes` as
    text, the benchmark, the step and the ranks among them."""

    axes: Mapping[str, str] = field(default_factory=dict)
    figure: str = ""
    unit: str = ""
    runs: int = 0

    def quantity(self, value: float | None) -> Quantity | None:
        return quantity(value, self.unit)


def runs_of(folders: Iterable[RunFolder], campaign: str, every: bool = False) -> list[Judged]:
    """The results of the attempts that count, by their start."""
    return read_all(counting_of(map(Attempt, folders), campaign, every))


def read_all(folders: Iterable[RunFolder]) -> list[Judged]:
    """The results of runs of campaigns, by their start, without those that cannot be read."""
    found = []
    for folder in folders:
        try:
            result = folder.reported()
        except ResultError:
            continue
        found.append(Judged(folder.id, folder.path, result, labels_of(result.part)))
    return sorted(found, key=lambda run: (run.started, run.name))


def measured_points(runs: Sequence[Judged]) -> list[Measured]:
    """Runs whose number does not count have a point without it."""
    found: dict[object, Measured] = {}
    for run in map(claimed, runs):
        number = run.claim.number
        # Runs of one point may have different figures as their number, which have no mean.
        key = (*run.axes.items(), number.name, number.unit)
        new = Measured(axes=run.axes, figure=number.name, unit=number.unit)
        point = found.setdefault(key, new)
        point.runs += 1
        if number.value is not None and number.valid is not False:
            point.values.append(number.value)
            point.own = run.claim.interval
    names = unique(name for point in found.values() for name in point.axes)
    return sorted(found.values(), key=lambda p: [place_of(p.axes.get(name, "")) for name in names])


def varying(points: Sequence[Measured]) -> list[str]:
    """Axes that distinguish these points; those of the campaign before its own."""
    names = differing([point.axes for point in points])
    return sorted(names, key=lambda name: name in ("benchmark", "step", "ranks"))


def _series(name: str, some: Sequence[Measured], axis: str, style: int) -> Series:
    texts = [p.axes.get(axis, "") for p in some]
    numbers = [number_of(text) for text in texts]
    notes = [
        fmt.count_of(len(p.values), "run")
        + ("" if p.interval or len(p.values) < 2 else ": their range")
        for p in some
    ]
    x = [text if n is None else n for text, n in zip(texts, numbers, strict=True)]
    return curve(name, x, some, style, notes=notes)


def _words(point: Measured, names: Sequence[str]) -> str:
    return ", ".join(f"{name} {coordinate_text(name, point.axes.get(name, '–'))}" for name in names)


def value_figure(number: int, points: Sequence[Measured], of: str = "") -> Figure | None:
    """`of`: the benchmark, where others have figures of the same name.

    Lines over the first axis whose values are numbers, a panel for each value of the second, a
    curve for the rest; bars where nothing is a number."""
    counted = [p for p in points if p.values]
    if not counted:
        return None
    names = varying(counted)
    first = next(
        (n for n in names if all(number_of(p.axes.get(n, "")) is not None for p in counted)), None
    )
    if first is None:
        counted = [
            replace(p, axes={**p.axes, "point": _words(p, names) or p.figure}) for p in counted
        ]
    title, x_name = counted[0].figure, first or "point"
    others = [n for n in names if n != x_name] if first else []
    second, rest = next(iter(others), ""), others[1:]
    curves = unique(_words(p, rest) for p in counted)
    panels = []
    for value, some in grouped(counted, lambda p: p.axes.get(second, "")).items():
        by_curve = grouped(some, lambda p: _words(p, rest))
        series = [
            _series(name or title, by_curve[name], x_name, style)
            for style, name in enumerate(curves)
            if name in by_curve
        ]
        panels.append(Panel(f"{second} {coordinate_text(second, value)}" if second else "", series))
    caption = "Means over the runs; whiskers are 95 % intervals, or the range of two to four runs."
    if len(panels) > _MOST_PANELS:
        caption += f" Shown are {_MOST_PANELS} of {len(panels)} panels; the table has all points."
    return plot(
        f"value-{number}",
        f"{of}: {title}" if of else fmt.heading(title),
        caption,
        "curves" if first else "bars",
        x_axis(x_name, (p.axes[x_name] for p in counted))[0] if first else Axis(x_name),
        Axis(fmt.heading(title), counted[0].unit),
        panels[:_MOST_PANELS],
        columns=1 if len(panels) == 1 else 3,
        height=340 if len(panels) == 1 else 260,
        table=points_table(counted if first else points),
    )


def points_table(points: Sequence[Measured]) -> Table:
    def axis(name: str) -> Callable[[Measured], Cell]:
        return lambda p: AxisValue(name, p.axes.get(name, ""))

    def median(p: Measured) -> Quantity | None:
        return p.quantity(p.statement.summary.median if p.statement else None)

    return table_of(
        points,
        [
            *((Column(name), axis(name)) for name in varying(points)),
            (Column("value"), lambda p: p.figure),
            (Column("mean", "1"), lambda p: p.quantity(p.mean)),
            (
                Column("95 % from", "1"),
                lambda p: p.quantity(p.interval.low if p.interval else None),
            ),
            (Column("to", "1"), lambda p: p.quantity(p.interval.high if p.interval else None)),
            (Column("median", "1"), median),
            (Column("runs", "1"), lambda p: p.runs),
            (Column("counted", "1"), lambda p: len(p.values)),
            (
                Column("what is odd, and what to do", below=True),
                lambda p: p.statement.text if p.statement else "",
            ),
        ],
        "Points",
        narrow_cards=True,
    )


def _link(run: Judged, target: Path) -> Link:
    """The run's report, or its folder where it has none; relative to the page."""
    page = run.path / REPORT
    place = page if page.is_file() else run.path
    relative = os.path.relpath(safe_files.real(place), safe_files.real(target.parent))
    return Link(run.name, "./" + quote(relative))


def runs_table(runs: Sequence[Judged], target: Path | None) -> Table:
    verdicts = {True: "✓ valid", False: "✗ not valid", None: ""}

    def point(run: Judged) -> str:
        return ", ".join(f"{n} {coordinate_text(n, value)}" for n, value in run.labels.items())

    return table_of(
        [(run, reporter_of(run.result).headline(run.result)) for run in runs],
        [
            (Column("run"), lambda row: _link(row[0], target) if target else row[0].name),
            (Column("step"), lambda row: axes_of(row[0])["step"]),
            (Column("point"), lambda row: point(row[0])),
            (Column("value"), lambda row: row[1].name),
            (Column("measured", "1"), lambda row: quantity(row[1].value, row[1].unit)),
            (Column("verdict"), lambda row: verdicts[row[1].valid]),
            (
                Column("evidence"),
                lambda row: short_of(row[1].evidence, row[0].result.run),
            ),
            (Column("outcome"), lambda row: row[0].result.status),
            (Column("started"), lambda row: row[0].result.run.started),
        ],
        "Runs",
        narrow_cards=True,
    )


def _evidence_findings(runs: Sequence[Judged], headlines: Sequence[Headline]) -> list[Finding]:
    each = [(h.evidence, run.result.run) for h, run in zip(headlines, runs, strict=True)]
    places = [place for evidence, run in each if (place := short_of(evidence, run))]
    if not places:
        return []
    counts = {place: places.count(place) for place in unique(places)}
    text = "; ".join(f"{place}: {fmt.count_of(n, 'run')}" for place, n in counts.items())
    marks = {mark_of(evidence, run) for evidence, run in each} - {""}
    level: Level = "warn" if marks - {"simulated"} else "info" if marks else "good"
    return [Finding(f"Where the bytes of the numbers were: {text}.", "runs", level)]


def rules_of(campaign: str) -> RuleFile | None:
    """The rules for a campaign that effio ships under the campaign's name, if any."""
    return load_rules(campaign) if campaign in shipped() else None


def _acceptance(rules: RuleFile, runs: Sequence[Judged]) -> tuple[Finding, Section]:
    found = accept(rules, runs)
    level: Level = "bad" if found.failed else "good" if found.verdict == "ACCEPTED" else "warn"
    text = f"By the rules of {rules.title}: {summary_text(found)}."
    return Finding(text, "acceptance", level), acceptance_section(found, systems_of(runs, []))


def _shares(runs: Sequence[Judged]) -> Section | None:
    """The mean of each point as a percentage of the peak that the site's settings state."""
    settings = load_site().peaks
    peaks = [(run, peak) for run in runs if (peak := peak_of_run(settings, run)) is not None]
    points = measured_points([run for run, _ in peaks])
    names = varying(points)
    found = []
    for point in points:
        mine = [p for run, p in peaks if dict(axes_of(run)) == dict(point.axes)]
        if point.mean is not None and point.unit == "B/s" and mine:
            words = [*(AxisValue(n, point.axes.get(n, "")) for n in names), point.figure]
            least = min(mine, key=lambda peak: peak.rate)
            found.append((words, Quantity(point.mean, point.unit), least))
    return campaign_section(found, [*names, "value"])


def summary_findings(runs: Sequence[Judged], points: Sequence[Measured]) -> list[Finding]:
    headlines = [reporter_of(r.result).headline(r.result) for r in runs]
    ended = [r.result.status for r in runs]
    badly = [s for s in ended if s != "done"]
    invalid = sum(h.valid is False for h in headlines)
    text = (
        f"{fmt.count_of(len(runs), 'run')} of {fmt.count_of(len(points), 'point')}, from"
        f" {runs[0].result.run.started} to {runs[-1].result.run.started}."
    )
    found = [Finding(text)]
    if badly:
        text = f"{len(badly)} of them did not end well: {', '.join(unique(badly))}."
        found.append(Finding(text, level="bad"))
    if invalid:
        text = f"The number of {fmt.count_of(invalid, 'run')} is not valid and counts nowhere."
        found.append(Finding(text, level="warn"))
    found += _evidence_findings(runs, headlines)
    alone = sum(p.interval is None for p in points)
    if alone:
        text = (
            f"{fmt.count_of(alone, 'point')} of {len(points)} have no interval: fewer than"
            f" {FEWEST} runs count, and a single run states none."
        )
        found.append(Finding(text, level="info"))
    odd = [p for p in points if (reported := p.statement) is not None and reported.is_odd]
    if odd:
        names = varying(points)
        named = "; ".join(
            f"{_words(p, names) or p.figure}: {p.statement.text}"  # type: ignore[union-attr]
            for p in odd[:_MOST_NAMED]
        )
        more = f"; and {len(odd) - _MOST_NAMED} more" if len(odd) > _MOST_NAMED else ""
        text = f"The means of {fmt.count_of(len(odd), 'point')} are misleading. {named}{more}."
        found.append(Finding(text, "points", "warn"))
    return found


def numbers_section(campaign: Campaign, runs: Sequence[Judged]) -> Section | None:
    """The numbers of the whole that the campaign's file defines."""
    if not campaign.figure:
        return None
    results = [(axes_of(run)["step"], run.result) for run in runs]
    table = table_of(
        figures_of(campaign, results),
        [
            (Column("number"), lambda one: one.figure.title),
            (Column("value", "1"), lambda one: one.value),
            (Column("unit"), lambda one: one.figure.unit),
            (Column("note", below=True), lambda one: one.note),
        ],
        "Numbers of the whole",
    )
    return Section("numbers", table.title, [table])


def campaign_report(
    name: str,
    runs: Sequence[Judged],
    target: Path | None = None,
    rules: RuleFile | None = None,
    charts: Section | None = None,
    numbers: Section | None = None,
    scale: float = 1.0,
) -> Report:
    """`target` is the path of the page: links are relative to it, and omitted without it. `rules`
    judge the runs; the default is the rules that effio ships for this campaign, if any. `charts`:
    the figures that its file describes, `numbers`: those of the whole. `scale`: what the campaign
    was called with."""
    points = measured_points(runs)
    groups = grouped(points, lambda p: (p.axes["benchmark"], p.figure, p.unit))
    names = [figure for _, figure, _ in groups]
    figures = [
        value_figure(i + 1, some, benchmark if names.count(figure) > 1 else "")
        for i, ((benchmark, figure, _), some) in enumerate(groups.items())
    ]
    blocks: list[Block] = [f for f in figures if f is not None]
    sections = [one for one in (numbers, charts) if one is not None]
    sections += [Section("values", "Values over the axes", blocks)] if blocks else []
    findings = summary_findings(runs, points)
    if scale != 1:
        sections = [before_scale(section, scale) for section in sections]
        text = (
            f"Measured at --scale {fmt.few_digits(scale)}: the sizes, counts and times that axes"
            " and tables name are those of the full campaign. What a run used is on its page."
        )
        findings.append(Finding(text, "points", "warn"))
    rules = rules or rules_of(name)
    if rules is not None:
        verdict, section = _acceptance(rules, runs)
        findings.insert(1, verdict)
        sections.insert(0, section)
    if (shares := _shares(runs)) is not None:
        sections.append(shares)
    sections.append(Section("points", "Points", [points_table(points)]))
    sections.append(Section("runs", "Runs", [runs_table(runs, target)]))
    counted = sum(bool(p.values) for p in points)
    headline = Headline(
        "points with a number that counts",
        counted,
        "1",
        f"of {fmt.count_of(len(points), 'point')}",
        anchor="points",
    )
    steps = unique(axes_of(run)["step"] for run in runs)
    return Report(
        name, "campaign", headline, findings, sections,
        "steps: " + ", ".join(steps),
    )  # fmt: skip
