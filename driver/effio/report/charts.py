# SPDX-License-Identifier: BSD-3-Clause
"""Figures that a campaign's file describes (`[[chart]]`): rates of its steps over any coordinate,
with what they lose against one of the curves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from effio.campaign.expression import Value, spelled
from effio.campaign.file import Campaign, Chart, load, load_shipped, shipped
from effio.campaign.state import FOLDER, CampaignFolder
from effio.errors import EffioError
from effio.judge.samples import Judged
from effio.judge.statistics import Interval
from effio.report.campaign import axes_of, interval_of, interval_over, number_of, place_of
from effio.report.common.names import grouped, unique
from effio.report.model import (
    Axis,
    AxisValue,
    Block,
    Cell,
    Column,
    Figure,
    Panel,
    Section,
    Series,
    Table,
)
from effio.store.evidence import evidence_of, short_of
from effio.store.folder import Store
from effio.store.option_values import coordinate_text
from effio.text import count_of, heading

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
class _Spot:
    """All values at one place of one curve."""

    values: list[Measured] = field(default_factory=list)

    @property
    def numbers(self) -> list[float]:
        return [one.number for one in self.values]

    @property
    def mean(self) -> float:
        return sum(self.numbers) / len(self.values)

    @property
    def note(self) -> str:
        """How many values, and where their bytes were."""
        places = dict.fromkeys(one.place for one in self.values if one.place)
        return ", ".join([count_of(len(self.values), "value"), *places])

    @property
    def seconds(self) -> float | None:
        """Seconds for the bytes that were moved, at the mean rate."""
        moved = max(one.bytes for one in self.values)
        return moved / self.mean if moved and self.mean > 0 else None


def text_of(value: object) -> str:
    if value is None:
        return NOTHING
    return spelled(value) if isinstance(value, (bool, int, float, str)) else str(value)


def _where(where: Mapping[str, object]) -> dict[str, str]:
    return {f"where.{name}": text_of(value) for name, value in where.items()}


def values_of(chart: Chart, runs: Sequence[Judged]) -> Iterator[Measured]:
    """The values of the chart's steps: measurements that are valid, figures that have a number."""
    for run in runs:
        part = run.result.record.campaign if run.result.record is not None else None
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
                place = short_of(evidence_of([m], run.result.run.clock.virtual))
                yield Measured(at, m.rate.value, m.rate.unit, m.bytes, place=place)


def _wanted(chart: Chart, at: Mapping[str, str]) -> bool:
    if chart.access and at["access"] not in chart.access:
        return False
    return _is(chart.where, at)


def _is(wanted: Mapping[str, Value], at: Mapping[str, str]) -> bool:
    return all(at.get(name, NOTHING) == spelled(value) for name, value in wanted.items())


def _title(name: str) -> str:
    """The title of a coordinate, in words."""
    return name.removeprefix("where.").replace("_", " ").replace("-", " ")


def _named(at: Mapping[str, str], names: Sequence[str]) -> str:
    """The values, each with the name of its coordinate where it would say nothing alone."""
    words = []
    for name in names:
        value = at.get(name, NOTHING)
        if value == NOTHING:
            continue
        alone = number_of(value) is None and value not in _SAYS_NOTHING_ALONE
        shown = coordinate_text(name, value)
        words.append(shown if alone else f"{_title(name)} {shown}")
    return ", ".join(words)


Spots = dict[tuple[str, str, str], _Spot]  # by panel, curve and place on the x axis


def _spots(chart: Chart, values: Sequence[Measured]) -> Spots:
    found: Spots = {}
    for value in values:
        panel, curve = _named(value.at, chart.panels), _named(value.at, chart.curves)
        x = value.at.get(chart.over, NOTHING)
        found.setdefault((panel, curve, x), _Spot()).values.append(value)
    return found


def _x_axis(chart: Chart, places: Sequence[str]) -> tuple[Axis, bool]:
    """And whether all places are numbers."""
    title = _title(chart.over)
    at = {number_of(text): text for text in places}
    if None in at or not at:
        return Axis(title), False
    ticks = sorted((n, coordinate_text(chart.over, t)) for n, t in at.items() if n is not None)
    wide = ticks[0][0] > 0 and ticks[-1][0] >= 8 * ticks[0][0]
    return Axis(title, log=wide, ticks=ticks), True


def _styles(chart: Chart, values: Sequence[Measured]) -> dict[str, tuple[int, bool]]:
    """The style of each curve, and whether it is dashed: a dashed curve has the color of the one
    that differs from it in the coordinates of `dashed` only."""
    solid = [name for name in chart.curves if name not in chart.dashed]
    kinds = unique(_named(v.at, solid) for v in values)
    return {
        _named(v.at, chart.curves): (
            kinds.index(_named(v.at, solid)),
            bool(chart.dashed) and _is(chart.dashed, v.at),
        )
        for v in values
    }


def _series(
    curve: str, look: tuple[int, bool], spots: Mapping[str, _Spot], counted: bool
) -> Series:
    places = sorted(spots, key=place_of)
    numbers = [spots[x].numbers for x in places]
    intervals = [interval_over(spots[x].numbers, spots[x].values[0].own) for x in places]
    ends = [
        (i.low, i.high) if i else (min(some), max(some)) if len(some) > 1 else (None, None)
        for i, some in zip(intervals, numbers, strict=True)
    ]
    return Series(
        curve or "mean",
        [(number_of(x) or 0.0) if counted else x for x in places],
        [spots[x].mean for x in places],
        look[0],
        high=[high for _, high in ends],
        low=[low for low, _ in ends],
        notes=[spots[x].note for x in places],
        faulty=[not all(one.valid for one in spots[x].values) for x in places],
        dashed=look[1],
    )


def chart_blocks(chart: Chart, values: Sequence[Measured]) -> list[Block]:
    """The figure, and that of the overhead if the chart names a reference; a sentence if nothing
    was measured."""
    units = unique(v.unit for v in values)
    if not values:
        steps = ", ".join(chart.steps)
        return [f"{chart.title}: no run of {steps} has a value that counts."]
    some = [v for v in values if v.unit == units[0]]
    spots = _spots(chart, some)
    axis, counted = _x_axis(chart, unique(x for _, _, x in spots))
    styles = _styles(chart, some)
    panels = _panels(spots, styles, lambda curve, of: _series(curve, styles[curve], of, counted))
    caption = "Means; whiskers are 95 % intervals, or the range of a few values."
    cached = sum(any(v.place in _CACHED for v in spot.values) for spot in spots.values())
    if cached:
        caption += f" {cached} of {count_of(len(spots), 'point')} came out of memory or went there."
    means = [spot.mean for spot in spots.values()]
    # A point from memory would make those of storage too small to be seen.
    wide = counted and min(means) > 0 and max(means) > _WIDE * min(means)
    blocks: list[Block] = [
        Figure(
            chart.name,
            chart.title,
            " ".join(filter(None, (chart.caption, caption))),
            "curves" if counted else "bars",
            axis,
            Axis(heading(chart.figure or "rate"), units[0], log=wide, switch=wide),
            {"": panels[:_MOST_PANELS]},
            columns=1 if len(panels) == 1 else 2,
            panel_height=340,
        )
    ]
    if chart.against and (overhead := _overhead(chart, some, spots, axis, counted, styles)):
        blocks.append(overhead)
    return blocks


def _in_order(titles: Iterable[str]) -> list[str]:
    """The texts ordered by the numbers and sizes in them; as they come where there is none."""
    return sorted(titles, key=lambda t: [number_of(word) or 0.0 for word in _NUMBER.findall(t)])


def _panels(
    spots: Spots,
    styles: Mapping[str, tuple[int, bool]],
    draw: Callable[[str, Mapping[str, _Spot]], Series | None],
) -> list[Panel]:
    """Solid curves before dashed ones, so that these find the colors taken."""
    found = []
    by_panel = grouped(spots.items(), lambda item: item[0][0])
    for panel in _in_order(by_panel):
        by_curve = grouped(by_panel[panel], lambda item: item[0][1])
        series = [
            draw(curve, {x: spot for (_, _, x), spot in by_curve[curve]})
            for curve in sorted(by_curve, key=lambda c: (styles[c][1], styles[c][0]))
        ]
        found.append(Panel(panel, [one for one in series if one is not None]))
    return found


@dataclass(frozen=True)
class _Lost:
    """What a curve loses against the reference at one place."""

    share: float
    seconds: float | None


def _lost(spot: _Spot, reference: _Spot) -> _Lost:
    mine, theirs = spot.seconds, reference.seconds
    # The same bytes at the rate of the reference: its files may be of another size.
    same = mine * spot.mean / reference.mean if mine is not None and theirs is not None else None
    seconds = mine - same if mine is not None and same is not None else None
    return _Lost(reference.mean / spot.mean - 1.0, seconds)


def _overhead(
    chart: Chart,
    values: Sequence[Measured],
    spots: Spots,
    axis: Axis,
    counted: bool,
    styles: Mapping[str, tuple[int, bool]],
) -> Figure | None:
    """How much longer each curve takes for the same bytes than the reference of its panel at the
    same place."""
    # The reference of a value has the same coordinates, but those that `against` names.
    shared = [n for n in (*chart.panels, *chart.curves, chart.over) if n not in chart.against]

    def key_of(value: Measured) -> tuple[str, ...]:
        return tuple(value.at.get(name, NOTHING) for name in shared)

    base = [v for v in values if _is(chart.against, v.at)]
    reference = {key: _Spot(some) for key, some in grouped(base, key_of).items()}
    shown = (*chart.curves, chart.over) if chart.over in chart.against else chart.curves
    names = {_named(v.at, [n for n in shown if n in chart.against]) for v in base}
    lost = {}
    for place, spot in spots.items():
        of = reference.get(key_of(spot.values[0]))
        if of is None or _is(chart.against, spot.values[0].at) or min(spot.mean, of.mean) <= 0:
            continue
        lost[place] = _lost(spot, of)
    if not lost:
        return None
    rows: list[list[Cell]] = []
    for (panel, curve, x), one in sorted(lost.items(), key=lambda i: [place_of(k) for k in i[0]]):
        spot = spots[panel, curve, x]
        rows.append(
            [
                panel,
                curve,
                AxisValue(chart.over, x),
                spot.mean,
                spot.seconds,
                one.seconds,
                one.share,
            ]
        )
    unit = values[0].unit

    def draw(curve: str, of: Mapping[str, _Spot]) -> Series | None:
        places = [x for x in sorted(of, key=place_of) if id(of[x]) in shares]
        if not places:
            return None
        return Series(
            curve,
            [(number_of(x) or 0.0) if counted else x for x in places],
            [shares[id(of[x])] for x in places],
            styles[curve][0],
            dashed=styles[curve][1],
        )

    shares = {id(spots[key]): one.share for key, one in lost.items()}
    others = ", ".join(sorted(names))
    asks = chart.title.endswith("?")
    title = f"{chart.title} Overhead" if asks else f"{chart.title}: overhead"
    title += f" over {others}"
    return Figure(
        f"{chart.name}-overhead",
        title,
        f"Additional time for the same bytes, as a percentage of the time of {others}: 100 % is"
        " twice the time, below 0 is faster. The table has it in seconds as well.",
        "curves" if counted else "bars",
        axis,
        Axis("overhead", shown="%"),
        {"": _panels(spots, styles, draw)[:_MOST_PANELS]},
        columns=1 if len({key[0] for key in lost}) == 1 else 2,
        panel_height=340,
        table=Table(
            [
                Column("panel"), Column("curve"), Column(axis.title), Column("rate", unit),
                Column("time", "s"), Column("overhead", "s"),
                Column("of the reference", "1", "%", 3),
            ],
            rows,
            title,
        ),
    )  # fmt: skip


def charts_section(charts: Sequence[Chart], runs: Sequence[Judged]) -> Section | None:
    """The figures that the campaign asks for, in the order of its file."""
    if not charts:
        return None
    blocks = [block for c in charts for block in chart_blocks(c, list(values_of(c, runs)))]
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


def scale_of(store: Store, campaign: str) -> float:
    """The factor by which a campaign shrank its sizes, counts and times."""
    try:
        called = CampaignFolder(store, campaign).called()
    except EffioError:  # of another version of effio
        return 1.0
    return called.scale if called is not None else 1.0
