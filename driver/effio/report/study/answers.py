# SPDX-License-Identifier: BSD-3-Clause
"""Answers of a study next to its rates: things per second (ssca3), files per second, the strongest
and the weakest pattern of each access (pio), and how the data are divided into tiles (tile-io)."""

from __future__ import annotations

from collections.abc import Sequence

from effio import text as fmt
from effio.report import common
from effio.report.common import certainty
from effio.report.model import NO_MEAN, Cell, Column, Finding, Quantity, Table, table_of
from effio.report.study.rates import Coordinate, access_of, operation_of, place_of
from effio.store.evidence import Place, evidence_of, short_of
from effio.store.evidence import place_of as place_of_bytes
from effio.store.members import run_members
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import Measurement


def cells_of(result: Result, f: FigureRecord, passes: set[tuple[str, str]]) -> list[Measurement]:
    """Measurements of these passes at the place of a figure."""
    return [
        m
        for m in result.measurements
        if m.valid and (m.pattern, m.access) in passes and common.lies_at(m.where, f.where)
    ]


def _evidence(result: Result, cells: Sequence[Measurement]) -> str:
    return short_of(evidence_of(cells, result.run.clock.virtual))


def throughput_table(result: Result, axes: Sequence[Coordinate]) -> Table | None:
    """Things per second, over the passes that they take."""
    rows: list[list[Cell]] = []
    for throughput in run_members(result.run, "study").throughputs:
        for f in result.figures_named(throughput.name):
            passes = {tuple(p) for p in throughput.passes}
            if f.metric.value is None:
                continue
            rows.append(
                [
                    fmt.plain(throughput.name, 40).replace("_", " "),
                    place_of(f, axes),
                    Quantity(f.metric.value, f.metric.unit),
                    common.interval_of(f) or NO_MEAN,
                    _evidence(result, cells_of(result, f, passes)),
                    ", ".join(fmt.plain(" ".join(p), 60) for p in throughput.passes),
                ]
            )
    columns = [
        Column("answer", kept=True), Column("at", kept=True), Column("value", "1", kept=True),
        Column("interval", below=True), Column("where the bytes were"), Column("over", below=True),
    ]  # fmt: skip
    return Table(columns, rows, "Answers") if rows else None


def files_table(result: Result, axes: Sequence[Coordinate]) -> Table | None:
    rates = [f for f in result.figures_named("files_per_second") if f.metric.value is not None]
    if not rates:
        return None
    return table_of(
        rates,
        [
            *((Column(axis.title), axis.text) for axis in axes),
            (Column("pass"), operation_of),
            (Column("files/s", "op/s"), lambda f: f.metric.value),
            (Column("interval", below=True), lambda f: common.interval_of(f) or NO_MEAN),
        ],
        "Files per second",
    )


def _counting(result: Result, rates: Sequence[FigureRecord]) -> list[FigureRecord]:
    """The values whose bytes were on storage, if there are any: the others are rates of memory."""

    def is_stored(f: FigureRecord) -> bool:
        cells = cells_of(result, f, {(str(f.where.get("pattern")), access_of(f))})
        return place_of_bytes(evidence_of(cells, result.run.clock.virtual)) is Place.DEVICE

    return [f for f in rates if is_stored(f)] or list(rates)


def pattern_table(result: Result, axes: Sequence[Coordinate]) -> Table | None:
    """For each access the strongest and the weakest pattern, where that is the study's question."""
    if run_members(result.run, "study").headline != "strongest and weakest":
        return None
    rates = [f for f in result.figures_named("bandwidth") if f.metric.value]
    rows: list[list[Cell]] = []
    for access, of_access in common.grouped(rates, access_of).items():
        some = _counting(result, of_access)
        ends = (("strongest", max), ("weakest", min)) if len(some) > 1 else ()
        for word, pick in ends:
            f = pick(some, key=lambda one: one.metric.value or 0.0)
            passes = {(str(f.where.get("pattern")), access)}
            rows.append(
                [
                    access,
                    word,
                    f.metric.value,
                    fmt.plain(f.where.get("pattern", ""), 40),
                    place_of(f, axes),
                    common.interval_of(f) or NO_MEAN,
                    _evidence(result, cells_of(result, f, passes)),
                    certainty.doubt_of_first(f, some, word),
                ]
            )
    columns = [
        Column("access", kept=True), Column("", kept=True), Column("rate", "B/s", kept=True),
        Column("pattern", kept=True), Column("at", kept=True), Column("interval", below=True),
        Column("where the bytes were"), Column("doubt", below=True),
    ]  # fmt: skip
    return Table(columns, rows, "Strongest and weakest patterns") if rows else None


def answer_tables(result: Result, axes: Sequence[Coordinate]) -> list[Table]:
    found = (throughput_table, files_table, pattern_table)
    return [table for make in found if (table := make(result, axes)) is not None]


def division_findings(result: Result) -> list[Finding]:
    """What was divided how, where a reader compares it with other runs."""
    members, found = run_members(result.run, "study"), []
    if members.calibrated:
        text = (
            f"The amounts are those of preset {fmt.plain(members.preset, 40)}, calibrated: files"
            " and bytes are those of a published run, how they are divided is ours."
        )
        found.append(Finding(text, "study"))
    tiles = [e.tiles for e in members.extents if e.tiles]
    lengths = [e.dataset_elements for e in members.extents if e.dataset_elements]
    if tiles and len(tiles) == len(lengths):
        counts, sizes = (" × ".join(map(str, some)) for some in (tiles, lengths))
        axes = " × ".join("xyz"[: len(tiles)])
        found.append(Finding(f"{counts} tiles ({axes}) of a dataset of {sizes} elements.", "study"))
    return found
