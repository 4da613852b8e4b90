# SPDX-License-Identifier: BSD-3-Clause
"""Figures that a campaign's file describes (`[[chart]]`): rates of its steps over any coordinate,
with what they lose against one of the curves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from effio.campaign.expression import Value, spelled
from effio.campaign.file import Campaign, Chart, load, load_shipped, shipped
from effio.campaign.state import FOLDER
from effio.errors import EffioError
from effio.judge import Interval
from effio.judge.samples import Judged
from effio.report.claims import axes_of, interval_of
from effio.report.common.names import grouped, unique
from effio.report.model import (
    Axis,
    AxisValue,
    Block,
    Column,
    Figure,
    Panel,
    Section,
    Series,
    table_of,
)
from effio.report.plots import plot
from effio.report.spots import Spot, curve, number_of, place_of, title_of, x_axis
from effio.store.all_runs import Store
from effio.store.evidence import evidence_of, short_of
from effio.store.option_values import coordinate_text
from effio.text import count_of, heading

if TYPE_CHECKING:
    from effio.report.campaign import CampaignRuns

_MOST_PANELS = 12
# Curves whose values differ by more than this factor are drawn on a logarithmic axis.
_WIDE = 30
_SAYS_NOTHING_ALONE = ("on", "off", "true", "false", "none")
# Of Evidence.short().
_CACHED = ("from memory", "in memory")
NOTHING = "–"  # replaces a coordinate that a value does not have

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?: ?(?:[KMGTPE]iB|[kMGTPE]?B)\b)?")


@dataclass(frozen=True)
class Measured:
    """A number with its coordinates as text. `bytes`: what it moved, 0 if that is not known.
    `valid`: a figure can have a number that its definition does not accept. `own`: the interval
    that a figure has within its run. `place`: where the bytes were, in the words of a table."""

    at: Mapping[str, str]
    number: float
    unit: str
    bytes: int = 0
    valid: bool = True
    own: Interval | None = None
    place: str = ""


@dataclass
class _Spot(Spot):
    """All values at one place of one curve of a panel."""

    panel: str = ""
    curve: str = ""
    x: str = ""
    style: int = 0
    dashed: bool = False
    measured: list[Measured] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Its mean; a spot has values."""
        return self.mean or 0.0

    @property
    def note(self) -> str:
        """How many values, and where their bytes were."""
        places = dict.fromkeys(one.place for one in self.measured if one.place)
        return ", ".join([count_of(len(self.values), "value"), *places])

    @property
    def seconds(self) -> float | None:
        """Seconds for the bytes that were moved, at the mean rate."""
        moved = max(one.bytes for one in self.measured)
        return moved / self.rate if moved and self.rate > 0 else None

    def on(self, axis: Axis) -> float | str:
        """Its place there; an axis of numbers has labels."""
        return (number_of(self.x) or 0.0) if axis.ticks else self.x


def _spot(some: Sequence[Measured], **place: Any) -> _Spot:
    return _Spot([one.number for one in some], some[0].own, measured=list(some), **place)


def text_of(value: object) -> str:
    if value is None:
        return NOTHING
    return spelled(value) if isinstance(value, (bool, int, float, str)) else str(value)


def _where(where: Mapping[str, object]) -> dict[str, str]:
    return {f"where.{name}": text_of(value) for name, value in where.items()}


def values_of(chart: Chart, runs: Sequence[Judged]) -> Iterator[Measured]:
    """The values of the chart's steps: measurements that are valid, figures that have a number."""
    for run in runs:
        part = run.result.part
        axes = {**axes_of(run), **{n: text_of(v) for n, v in (part.axes if part else {}).items()}}
        if axes["step"] not in chart.steps:
            continue
        if chart.figure:
            for f in run.result.figures_named(chart.figure):
                at = {**axes, "access": text_of(f.where.get("access")), **_where(f.where)}
                if f.metric.value is not None and _wanted(chart, at):
                    valid, within = f.valid is not False, interval_of(f)
                    yield Measured(at, f.metric.value, f.metric.unit, 0, valid, within)
            continue
        for m in run.result.measurements:
            own = {"access": m.access, "pattern": m.pattern, "ranks": str(m.ranks)}
            at = {**axes, **own, **_where(m.where)}
            if m.valid and m.rate.value is not None and _wanted(chart, at):
                place = short_of(evidence_of([m], run.result.run.simulated))
                yield Measured(at, m.rate.value, m.rate.unit, m.bytes, place=place)


def _wanted(chart: Chart, at: Mapping[str, str]) -> bool:
    if chart.access and at["access"] not in chart.access:
        return False
    return _is(chart.where, at)


def _is(wanted: Mapping[str, Value], at: Mapping[str, str]) -> bool:
    return all(at.get(name, NOTHING) == spelled(value) for name, value in wanted.items())


def _named(at: Mapping[str, str], names: Sequence[str]) -> str:
    """The values, each with the name of its coordinate where it would say nothing alone."""
    words = []
    for name in names:
        value = at.get(name, NOTHING)
        if value == NOTHING:
            continue
        alone = number_of(value) is None and value not in _SAYS_NOTHING_ALONE
        shown = coordinate_text(name, value)
        words.append(shown if alone else f"{title_of(name)} {shown}")
    return ", ".join(words)


def _spots(chart: Chart, values: Sequence[Measured]) -> list[_Spot]:
    """A dashed curve has the color of the one that differs from it in the coordinates of `dashed`
    only."""
    solid = [name for name in chart.curves if name not in chart.dashed]
    kinds = unique(_named(v.at, solid) for v in values)

    def place(v: Measured) -> tuple[str, str, str]:
        return _named(v.at, chart.panels), _named(v.at, chart.curves), v.at.get(chart.over, NOTHING)

    return [
        _spot(
            some,
            panel=panel,
            curve=curve,
            x=x,
            style=kinds.index(_named(some[0].at, solid)),
            dashed=bool(chart.dashed) and _is(chart.dashed, some[0].at),
        )
        for (panel, curve, x), some in grouped(values, place).items()
    ]


def chart_blocks(chart: Chart, values: Sequence[Measured]) -> list[Block]:
    """The figure, and that of the overhead if the chart names a reference; a sentence if nothing
    was measured."""
    if not values:
        steps = ", ".join(chart.steps)
        return [f"{chart.title}: no run of {steps} has a value that counts."]
    unit = values[0].unit
    some = [v for v in values if v.unit == unit]
    spots = _spots(chart, some)
    axis, counted = x_axis(chart.over, unique(spot.x for spot in spots))

    def draw(of: Sequence[_Spot]) -> Series:
        return curve(
            of[0].curve or "mean",
            [spot.on(axis) for spot in of],
            of,
            of[0].style,
            notes=[spot.note for spot in of],
            faulty=[not all(one.valid for one in spot.measured) for spot in of],
            dashed=of[0].dashed,
        )

    caption = "Means; whiskers are 95 % intervals, or the range of a few values."
    cached = sum(any(v.place in _CACHED for v in spot.measured) for spot in spots)
    if cached:
        caption += f" {cached} of {count_of(len(spots), 'point')} came out of memory or went there."
    means = [spot.rate for spot in spots]
    # A point from memory would make those of storage too small to be seen.
    wide = counted and min(means) > 0 and max(means) > _WIDE * min(means)
    panels = _panels(spots, draw)
    figure = plot(
        chart.name,
        chart.title,
        " ".join(filter(None, (chart.caption, caption))),
        "curves" if counted else "bars",
        axis,
        Axis(heading(chart.figure or "rate"), unit, log=wide, switch=wide),
        panels[:_MOST_PANELS],
        columns=1 if len(panels) == 1 else 2,
        height=340,
    )
    overhead = _overhead(chart, some, spots, axis) if chart.against else None
    return [one for one in (figure, overhead) if one is not None]


def _in_order(titles: Iterable[str]) -> list[str]:
    """The texts ordered by the numbers and sizes in them; as they come where there is none."""
    return sorted(titles, key=lambda t: [number_of(word) or 0.0 for word in _NUMBER.findall(t)])


def _panels(spots: Iterable[_Spot], draw: Callable[[Sequence[_Spot]], Series]) -> list[Panel]:
    """Solid curves before dashed ones, so that these find the colors taken."""
    by_panel = grouped(spots, lambda spot: spot.panel)
    panels = []
    for panel in _in_order(by_panel):
        in_order = sorted(by_panel[panel], key=lambda spot: (spot.dashed, spot.style))
        curves = grouped(in_order, lambda spot: spot.curve).values()
        series = [draw(sorted(some, key=lambda spot: place_of(spot.x))) for some in curves]
        panels.append(Panel(panel, series))
    return panels


@dataclass(frozen=True)
class _Lost:
    """What a curve loses against the reference at one place."""

    spot: _Spot
    reference: _Spot

    @property
    def share(self) -> float:
        return self.reference.rate / self.spot.rate - 1.0

    @property
    def seconds(self) -> float | None:
        """For the same bytes at the rate of the reference: its files may be of another size."""
        mine = self.spot.seconds
        if mine is None or self.reference.seconds is None:
            return None
        return mine - mine * self.spot.rate / self.reference.rate


def _overhead(
    chart: Chart, values: Sequence[Measured], spots: Sequence[_Spot], axis: Axis
) -> Figure | None:
    """How much longer each curve takes for the same bytes than the reference of its panel at the
    same place."""
    # The reference of a value has the same coordinates, but those that `against` names.
    shared = [n for n in (*chart.panels, *chart.curves, chart.over) if n not in chart.against]

    def key_of(value: Measured) -> tuple[str, ...]:
        return tuple(value.at.get(name, NOTHING) for name in shared)

    base = [v for v in values if _is(chart.against, v.at)]
    references = {key: _spot(some) for key, some in grouped(base, key_of).items()}
    lost = [
        _Lost(spot, of)
        for spot in spots
        if (of := references.get(key_of(spot.measured[0]))) is not None
        and not _is(chart.against, spot.measured[0].at)
        and min(spot.rate, of.rate) > 0
    ]
    shares = {id(one.spot): one.share for one in lost}

    def draw(of: Sequence[_Spot]) -> Series:
        x, y = [spot.on(axis) for spot in of], [shares[id(spot)] for spot in of]
        return Series(of[0].curve, x, y, of[0].style, dashed=of[0].dashed)

    shown = (*chart.curves, chart.over) if chart.over in chart.against else chart.curves
    names = {_named(v.at, [n for n in shown if n in chart.against]) for v in base}
    others = ", ".join(sorted(names))
    title = chart.title + (" Overhead" if chart.title.endswith("?") else ": overhead")
    title += f" over {others}"
    panels = _panels((one.spot for one in lost), draw)
    table = table_of(
        sorted(lost, key=lambda o: [place_of(t) for t in (o.spot.panel, o.spot.curve, o.spot.x)]),
        [
            (Column("panel"), lambda one: one.spot.panel),
            (Column("curve"), lambda one: one.spot.curve),
            (Column(axis.title), lambda one: AxisValue(chart.over, one.spot.x)),
            (Column("rate", values[0].unit), lambda one: one.spot.rate),
            (Column("time", "s"), lambda one: one.spot.seconds),
            (Column("overhead", "s"), lambda one: one.seconds),
            (Column("of the reference", "1", "%", 3), lambda one: one.share),
        ],
        title,
    )
    return plot(
        f"{chart.name}-overhead",
        title,
        f"Additional time for the same bytes, as a percentage of the time of {others}: 100 % is"
        " twice the time, below 0 is faster. The table has it in seconds as well.",
        "curves" if axis.ticks else "bars",
        axis,
        Axis("overhead", shown="%"),
        panels[:_MOST_PANELS],
        columns=1 if len(panels) == 1 else 2,
        height=340,
        table=table,
    )


def charts_section(charts: Sequence[Chart], runs: CampaignRuns) -> Section | None:
    """The figures that the campaign asks for, in the order of its file."""
    if not charts:
        return None
    each = [(chart, list(values_of(chart, runs.judged(chart.steps)))) for chart in charts]
    blocks = [block for chart, values in each for block in chart_blocks(chart, values)]
    return Section("charts", "What the campaign asks", blocks)


def charts_of(store: Store, campaign: str) -> Sequence[Chart]:
    """The charts of the copy of the campaign's file that is kept with its runs; else of the shipped
    campaign with this name."""
    kept = kept_file(store, campaign)
    found = kept.chart if kept is not None else ()
    return found or (load_shipped(campaign).chart if campaign in shipped() else ())


def kept_file(store: Store, campaign: str) -> Campaign | None:
    """The copy of the campaign's file that is kept with its runs."""
    try:
        return load(store.root / FOLDER / campaign / "campaign.toml")[0]
    except EffioError:  # of another version of effio, or none is kept
        return None
