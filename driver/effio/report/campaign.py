# SPDX-License-Identifier: BSD-3-Clause
"""The page of a campaign: how its runs ended, a figure for each value over the axes that were
swept, a table of points, and its runs with links to their reports."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

from effio import text as fmt
from effio.campaign.figures import figures_of
from effio.campaign.file import Campaign
from effio.config.site import load_site
from effio.judge import FEWEST
from effio.judge.accept import accept
from effio.judge.rules import RuleFile, load_rules, shipped
from effio.judge.samples import Judged
from effio.judge.systems import systems_of
from effio.report.acceptance import acceptance_section, summary_text
from effio.report.axes import before_scale
from effio.report.claims import Claimed, axes_of
from effio.report.common.names import first_of, grouped, unique
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
from effio.report.spots import Spot, curve, number_of, place_of, x_axis
from effio.store import safe_files
from effio.store.folder import REPORT
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


class CampaignRuns:
    """The runs of a campaign that count, by their start. Most of a page is made of their claims,
    which the index keeps; a result is read when a rule, chart or number of the whole needs it."""

    def __init__(self, claimed: Iterable[Claimed]) -> None:
        self.claimed = sorted(claimed, key=lambda run: (run.started, run.name))
        self._read: dict[Path, Judged | None] = {}

    def judged(self, steps: Collection[str] | None = None) -> list[Judged]:
        """The runs of all steps, or of these, with their results, each of which is read once.
        Without those that can no longer be read."""
        some = [r for r in self.claimed if steps is None or r.axes["step"] in steps]
        return [run for one in some if (run := self._judged(one)) is not None]

    def _judged(self, run: Claimed) -> Judged | None:
        if run.path not in self._read:
            self._read[run.path] = None
            with contextlib.suppress(ResultError):
                self._read[run.path] = run.judged()
        return self._read[run.path]


def measured_points(runs: Sequence[Claimed]) -> list[Measured]:
    """Runs whose number does not count have a point without it."""
    found: dict[object, Measured] = {}
    for run in runs:
        number, axes = run.claim.number, run.axes
        # Runs of one point may have different figures as their number, which have no mean.
        key = (*axes.items(), number.name, number.unit)
        new = Measured(axes=axes, figure=number.name, unit=number.unit)
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
            (Column("95 % from", "1"), lambda p: p.quantity(p.end("low"))),
            (Column("to", "1"), lambda p: p.quantity(p.end("high"))),
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


def _link(run: Claimed, target: Path) -> Link:
    """The run's report, or its folder where it has none; relative to the page."""
    page = run.path / REPORT
    place = page if page.is_file() else run.path
    relative = os.path.relpath(safe_files.real(place), safe_files.real(target.parent))
    return Link(run.name, "./" + quote(os.fsencode(relative)))


def runs_table(runs: Sequence[Claimed], target: Path | None) -> Table:
    verdicts = {True: "✓ valid", False: "✗ not valid", None: ""}

    def point(run: Claimed) -> str:
        return ", ".join(f"{n} {coordinate_text(n, value)}" for n, value in run.labels.items())

    def measured(run: Claimed) -> Quantity | None:
        return quantity(run.claim.number.value, run.claim.number.unit)

    return table_of(
        runs,
        [
            (Column("run"), lambda run: _link(run, target) if target else run.name),
            (Column("step"), lambda run: run.axes["step"]),
            (Column("point"), point),
            (Column("value"), lambda run: run.claim.number.name),
            (Column("measured", "1"), measured),
            (Column("verdict"), lambda run: verdicts[run.claim.number.valid]),
            (Column("evidence"), lambda run: run.claim.number.evidence),
            (Column("outcome"), lambda run: run.claim.status),
            (Column("started"), lambda run: run.started),
        ],
        "Runs",
        narrow_cards=True,
    )


def _evidence_findings(runs: Sequence[Claimed]) -> list[Finding]:
    counts = Counter(place for run in runs if (place := run.claim.number.evidence))
    if not counts:
        return []
    text = "; ".join(f"{place}: {fmt.count_of(n, 'run')}" for place, n in counts.items())
    marks = {run.claim.mark for run in runs} - {""}
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


def _shares(runs: Sequence[Claimed]) -> Section | None:
    """The mean of each point as a percentage of the peak that the site's settings state."""
    settings = load_site().peaks
    peaks = [(run, peak) for run in runs if (peak := peak_of_run(settings, run.claim)) is not None]
    if not peaks:
        return None
    points = measured_points([run for run, _ in peaks])
    names = varying(points)
    of_point = grouped(peaks, lambda one: tuple(sorted(one[0].axes.items())))
    found = []
    for point in points:
        mine = [peak for _, peak in of_point[tuple(sorted(point.axes.items()))]]
        if point.mean is not None and point.unit == "B/s":
            words = [*(AxisValue(n, point.axes.get(n, "")) for n in names), point.figure]
            least = min(mine, key=lambda peak: peak.rate)
            found.append((words, Quantity(point.mean, point.unit), least))
    return campaign_section(found, [*names, "value"])


def summary_findings(runs: Sequence[Claimed], points: Sequence[Measured]) -> list[Finding]:
    badly = [run.claim.status for run in runs if run.claim.status != "done"]
    invalid = sum(run.claim.number.valid is False for run in runs)
    text = (
        f"{fmt.count_of(len(runs), 'run')} of {fmt.count_of(len(points), 'point')}, from"
        f" {runs[0].started} to {runs[-1].started}."
    )
    found = [Finding(text)]
    if badly:
        text = f"{len(badly)} of them did not end well: {', '.join(unique(badly))}."
        found.append(Finding(text, level="bad"))
    if invalid:
        text = f"The number of {fmt.count_of(invalid, 'run')} is not valid and counts nowhere."
        found.append(Finding(text, level="warn"))
    found += _evidence_findings(runs)
    alone = sum(p.interval is None for p in points)
    if alone:
        which = fmt.share_of(alone, len(points), "points has", "points have")
        text = f"{which} no interval: fewer than {FEWEST} runs count, and a single run states none."
        found.append(Finding(text, level="info"))
    several = (p for p in points if len(p.values) > 1)  # a single value cannot be odd
    odd = [(p, s.text) for p in several if (s := p.statement) is not None and s.is_odd]
    if odd:
        names = varying(points)
        said = [f"{_words(p, names) or p.figure}: {why}" for p, why in odd]
        named = first_of(said, _MOST_NAMED, "; ", "; and ")
        means = fmt.count_of(len(odd), "mean of a point is", "means of points are")
        text = f"{means} misleading. {named}."
        found.append(Finding(text, "points", "warn"))
    return found


def numbers_section(campaign: Campaign, runs: CampaignRuns) -> Section | None:
    """The numbers of the whole that the campaign's file defines."""
    if not campaign.figure:
        return None
    steps = {earlier.step for figure in campaign.figure for earlier in figure.earlier.values()}
    results = [(axes_of(run)["step"], run.result) for run in runs.judged(steps)]
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
    runs: CampaignRuns,
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
    claimed = runs.claimed
    points = measured_points(claimed)
    groups = grouped(points, lambda p: (p.axes["benchmark"], p.figure, p.unit))
    names = [figure for _, figure, _ in groups]
    figures = [
        value_figure(i + 1, some, benchmark if names.count(figure) > 1 else "")
        for i, ((benchmark, figure, _), some) in enumerate(groups.items())
    ]
    blocks: list[Block] = [f for f in figures if f is not None]
    sections = [one for one in (numbers, charts) if one is not None]
    sections += [Section("values", "Values over the axes", blocks)] if blocks else []
    findings = summary_findings(claimed, points)
    if scale != 1:
        sections = [before_scale(section, scale) for section in sections]
        text = (
            f"Measured at --scale {fmt.few_digits(scale)}: the sizes, counts and times that axes"
            " and tables name are those of the full campaign. What a run used is on its page."
        )
        findings.append(Finding(text, "points", "warn"))
    rules = rules or rules_of(name)
    if rules is not None:
        verdict, section = _acceptance(rules, runs.judged())
        findings.insert(1, verdict)
        sections.insert(0, section)
    if (shares := _shares(claimed)) is not None:
        sections.append(shares)
    sections.append(Section("points", "Points", [points_table(points)]))
    sections.append(Section("runs", "Runs", [runs_table(claimed, target)]))
    counted = sum(bool(p.values) for p in points)
    headline = Headline(
        "points with a number that counts",
        counted,
        "1",
        f"of {fmt.count_of(len(points), 'point')}",
        anchor="points",
    )
    steps = unique(run.axes["step"] for run in claimed)
    return Report(
        name, "campaign", headline, findings, sections,
        "steps: " + ", ".join(steps),
    )  # fmt: skip
