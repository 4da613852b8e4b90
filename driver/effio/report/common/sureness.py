# SPDX-License-Identifier: BSD-3-Clause
"""How sure every mean and every rate is: a table of means over repetitions or rounds, and one of
what a single pass says of itself by batch means (docs/reading.md, "Within one pass")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from effio import text as fmt
from effio.report.common.spread import repeated, spread_table
from effio.report.model import Cell, Column, Finding, Section, Table
from effio.store.details import Detail
from effio.store.reader import Result
from effio.store.records import Figure, Measurement, Number

# Longer tables are for the page, not for the terminal.
_LONG = 40
_MOST_NAMED = 3
# Of b_eff_io, whose own findings say it.
_LEFT_OUT = "leaving one round out"


class _Interval(Detail):
    method: str = ""
    rounds: int = 0
    worth_rounds: Number | None = None
    may_be_untrue: bool = False
    none: str = ""


class _OfFigure(Detail):
    interval: _Interval | None = None


class _Pass(Detail):
    """Rates in `unit`."""

    method: str = ""
    unit: str = ""
    slices: int = 0
    slice_seconds: Number | None = None
    mean: Number | None = None
    low95: Number | None = None
    high95: Number | None = None
    worth_slices: Number | None = None
    may_be_untrue: bool = False
    reasons: list[str] = Field(default_factory=list)
    none: str = ""


class _OfMeasurement(Detail):
    batch_means: _Pass | None = None


def _differing(places: Sequence[Mapping[str, Any]]) -> list[str]:
    """The coordinates that distinguish these."""
    keys = dict.fromkeys(key for place in places for key in place)
    return [k for k in keys if any(place.get(k) != places[0].get(k) for place in places)]


def _place(where: Mapping[str, Any], keys: Sequence[str]) -> str:
    words = []
    for key in keys:
        value = where.get(key)
        if key.endswith("_bytes") and isinstance(value, int | float):
            words.append(f"{key[: -len('_bytes')]} {fmt.exact_size(int(value))}")
        elif isinstance(value, bool):
            words.append(key if value else "")
        elif value is not None:
            words.append(f"{key} {value}")
    return ", ".join(word for word in words if word)


def _name(figure: Figure, keys: Sequence[str]) -> str:
    return ", ".join(part for part in (figure.name, _place(figure.where, keys)) if part)


def _share(half: float | None, mean: float | None) -> float | None:
    return half / abs(mean) if half is not None and mean else None


def _means(result: Result) -> list[tuple[Figure, _Interval]]:
    told = [(f, _OfFigure.of(f).interval) for f in result.figures]
    return [(f, i) for f, i in told if i is not None and i.method and f.samples is not None]


def _means_table(means: Sequence[tuple[Figure, _Interval]]) -> Table:
    rows: list[list[Cell]] = []
    keys = _differing([figure.where for figure, _ in means])
    for figure, interval in means:
        half = figure.samples.half95 if figure.samples else None
        rows.append(
            [
                _name(figure, keys),
                fmt.quantity(figure.metric.value, figure.metric.unit),
                _share(half, figure.metric.value),
                interval.rounds,
                interval.worth_rounds,
                "; ".join(figure.reasons) if interval.may_be_untrue else "",
            ]
        )
    return Table(
        [
            Column("what"),
            Column("mean"),
            Column("± half its 95 % interval", "1", "%", 3),
            Column("measured", "1"),
            Column("worth", "1", digits=3),
            Column("what makes it unreliable"),
        ],
        rows,
        "How sure the means are",
        "Of values that were measured one after another. Autocorrelated neighbors are worth "
        "fewer independent ones. A drift or a warm-up makes an interval unreliable.",
        page_only=len(rows) > _LONG,
    )


def _passes_table(passes: Sequence[tuple[Measurement, _Pass]]) -> Table:
    rows: list[list[Cell]] = []
    keys = _differing([m.where for m, _ in passes])
    for m, told in passes:
        known = None not in (told.low95, told.high95)
        half = (told.high95 - told.low95) / 2 if known else None  # type: ignore[operator]
        rows.append(
            [
                m.access,
                ", ".join(part for part in (m.pattern, _place(m.where, keys)) if part),
                m.repetition,
                fmt.quantity(told.mean, told.unit) if told.mean is not None else "",
                _share(half, told.mean),
                told.slices or None,
                told.slice_seconds,
                "; ".join(told.reasons) or told.none,
            ]
        )
    return Table(
        [
            Column("access"),
            Column("what"),
            Column("repetition", "1"),
            Column("rate of the calls"),
            Column("± half its 95 % interval", "1", "%", 3),
            Column("slices", "1"),
            Column("a slice", "s", digits=3),
            Column("what makes it unreliable, or why there is none"),
        ],
        rows,
        "How sure the rate of a single pass is",
        "Batch means: the pass is cut into 20 to 100 slices, whose rates are taken as repetitions. "
        "Of the calls alone, without open, flush and close; it says nothing of the next pass.",
        page_only=len(rows) > _LONG,
    )


def sureness_section(result: Result) -> Section | None:
    means = _means(result)
    told = [(m, _OfMeasurement.of(m).batch_means) for m in result.measurements if m.valid]
    passes = [(m, one) for m, one in told if one is not None]
    several = repeated(result)
    tables = [spread_table(several)] if several else []
    if means:
        tables.append(_means_table(means))
    if any(one.method for _, one in passes):
        tables.append(_passes_table(passes))
    if not tables:
        return None
    return Section("sureness", "How sure the rates are", tables)


def doubt_findings(result: Result) -> list[Finding]:
    """Means whose interval may be too narrow. With --until-ci its own figure says so."""
    if result.figures_named("until_ci"):
        return []
    doubted = [f for f, i in _means(result) if i.may_be_untrue and i.method != _LEFT_OUT]
    if not doubted:
        return []
    keys = _differing([f.where for f in doubted])
    named = ", ".join(fmt.plain(_name(f, keys), 120) for f in doubted[:_MOST_NAMED])
    more = len(doubted) - _MOST_NAMED
    text = (
        f"Of {fmt.count_of(len(doubted), 'mean')} the interval may be too narrow, because what was"
        " measured drifts, warms up or is autocorrelated:"
        f" {named}{f' and {more} more' if more > 0 else ''}."
    )
    return [Finding(text, "sureness", "warn")]
