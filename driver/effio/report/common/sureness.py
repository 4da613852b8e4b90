# SPDX-License-Identifier: BSD-3-Clause
"""How sure every mean and every rate is: a table of means over repetitions or rounds, and one of
what a single pass says of itself by batch means (docs/reading.md, "Within one pass")."""

from __future__ import annotations

from collections.abc import Sequence

from effio import text as fmt
from effio.judge import FEWEST
from effio.report.common import certainty
from effio.report.common.names import differing, first_of, place_text
from effio.report.common.spread import Repeated, spread_table
from effio.report.model import Column, Finding, Section, Table, table_of
from effio.store.members import Members, having, members_of
from effio.store.reader import Result
from effio.store.records import Figure, Measurement

# Longer tables are for the page, not for the terminal.
_LONG = 40
_MOST_NAMED = 3
# Of b_eff_io, whose own findings say it.
_LEFT_OUT = "leaving one round out"


def _names(figures: Sequence[Figure]) -> list[str]:
    """What distinguishes each; the name of the figure only if others are at the same place."""
    own = [{"figure": figure.name.replace("_", " "), **figure.where} for figure in figures]
    keys = differing(own)
    return [place_text(place, keys) or str(place["figure"]) for place in own]


def _share(half: float | None, mean: float | None) -> float | None:
    return half / abs(mean) if half is not None and mean else None


def _means(result: Result) -> list[tuple[str, Figure, Members]]:
    """Each with its name among all of them: what is said of one says which of all it is."""
    reported = [(f, members_of(f).interval) for f in result.figures if f.samples is not None]
    means = [(f, i) for f, i in reported if i.method]
    return [(n, f, i) for n, (f, i) in zip(_names([f for f, _ in means]), means, strict=True)]


def _means_table(means: Sequence[tuple[str, Figure, Members]]) -> Table:
    return table_of(
        means,
        [
            (Column("what"), lambda row: row[0]),
            (Column("mean"), lambda row: fmt.quantity(row[1].metric.value, row[1].metric.unit)),
            (
                Column("± half its 95 % interval", "1", "%", 3),
                lambda row: _share(certainty.half_of(row[1]), row[1].metric.value),
            ),
            (Column("values", "1"), lambda row: row[2].rounds),
            (Column("independent ones", "1", digits=3), lambda row: row[2].worth_rounds),
            (
                Column("what makes it unreliable"),
                lambda row: "; ".join(row[1].reasons) if row[2].unreliable else "",
            ),
        ],
        "How sure the means are",
        "Of five values or more, measured one after another. If neighbors are autocorrelated, they "
        "count as fewer independent ones. A drift or a warm-up makes an interval unreliable.",
        longest=_LONG,
    )


def _passes_table(passes: Sequence[tuple[Measurement, Members]]) -> Table:
    keys = differing([m.where for m, _ in passes], [(m.access, m.pattern) for m, _ in passes])

    def what(row: tuple[Measurement, Members]) -> str:
        return ", ".join(filter(None, (row[0].pattern, place_text(row[0].where, keys))))

    def rate(row: tuple[Measurement, Members]) -> str:
        return fmt.quantity(row[1].mean, row[1].unit) if row[1].mean is not None else ""

    def half(row: tuple[Measurement, Members]) -> float | None:
        low, high = row[1].low95, row[1].high95
        return _share(None if None in (low, high) else (high - low) / 2, row[1].mean)

    return table_of(
        passes,
        [
            (Column("access"), lambda row: row[0].access),
            (Column("what"), what),
            (Column("repetition", "1"), lambda row: row[0].repetition),
            (Column("rate of the calls"), rate),
            (Column("± half its 95 % interval", "1", "%", 3), half),
            (Column("slices", "1"), lambda row: row[1].slices or None),
            (Column("a slice", "s", digits=3), lambda row: row[1].slice_seconds),
            (
                Column("what makes it unreliable, or why there is none"),
                lambda row: "; ".join(row[1].reasons) or row[1].none,
            ),
        ],
        "How sure the rate of a single pass is",
        "Batch means: the pass is cut into 20 to 100 slices, whose rates are taken as repetitions. "
        "Of the calls alone, without open, flush and close; it says nothing of the next pass.",
        longest=_LONG,
    )


def sureness_section(result: Result, several: Sequence[Repeated]) -> Section | None:
    means = _means(result)
    passes = [
        (m, one)
        for m in having(result.measurements, "batch_means")
        if m.valid and (one := members_of(m).batch_means)
    ]
    tables = [spread_table(several)] if several else []
    if certain := [
        (n, f, i) for n, f, i in means if (i.rounds or 0) >= FEWEST or i.method == _LEFT_OUT
    ]:
        tables.append(_means_table(certain))
    if any(one.method for _, one in passes):
        tables.append(_passes_table(passes))
    if not tables:
        return None
    return Section("sureness", "How sure the rates are", tables)


def doubt_findings(result: Result) -> list[Finding]:
    """Means whose interval may be too narrow. With --until-ci its own figure says so."""
    if result.figures_named("until_ci"):
        return []
    doubted = [n for n, _, i in _means(result) if i.unreliable and i.method != _LEFT_OUT]
    if not doubted:
        return []
    named = first_of([fmt.plain(name, 120) for name in doubted], _MOST_NAMED, "; ")
    text = (
        f"Of {fmt.count_of(len(doubted), 'mean')} the interval may be too narrow, because what was"
        f" measured drifts, warms up or is autocorrelated: {named}."
    )
    return [Finding(text, "sureness", "warn")]
