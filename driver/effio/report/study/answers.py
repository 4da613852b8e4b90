# SPDX-License-Identifier: BSD-3-Clause
"""Answers of a study next to its rates: things per second (ssca3), files per second, the strongest
and the weakest pattern of each access (pio), and how the data are divided into tiles (tile-io)."""

from __future__ import annotations

from collections.abc import Collection

from effio import text as fmt
from effio.report import common
from effio.report.common import certainty
from effio.report.model import NO_MEAN, Cell, Column, Finding, Quantity, Table, table_of
from effio.report.parts import known, valid, value_of, word
from effio.report.study.rates import access_of, coordinates, operation_of, place_of
from effio.store.evidence import Evidence, Place, evidence_of, short_of
from effio.store.evidence import place_of as place_of_bytes
from effio.store.members import run_members
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import Measurement


def cells_of(
    result: Result, f: FigureRecord, passes: Collection[tuple[object, object]]
) -> list[Measurement]:
    """Measurements of these passes, of pattern and access each, at the place of a figure."""
    return [
        m
        for m in valid(result)
        if (m.pattern, m.access) in passes and common.lies_at(m.where, f.where)
    ]


def evidence_at(
    result: Result, f: FigureRecord, passes: Collection[tuple[object, object]] = ()
) -> list[Evidence]:
    """Where the bytes of a figure were; without passes, of its own pattern and access."""
    own = ((f.where.get("pattern"), f.where.get("access")),)
    return evidence_of(cells_of(result, f, passes or own), result.run.clock.virtual)


def _interval(f: FigureRecord) -> str:
    return common.interval_of(f) or NO_MEAN


def throughput_table(result: Result) -> Table:
    """Things per second, over the passes that they take."""
    axes = coordinates(result)
    rows: list[list[Cell]] = [
        [
            fmt.plain(throughput.name, 40).replace("_", " "),
            place_of(f, axes),
            Quantity(value_of(f), f.metric.unit),
            _interval(f),
            short_of(evidence_at(result, f, {tuple(p) for p in throughput.passes})),
            ", ".join(fmt.plain(" ".join(p), 60) for p in throughput.passes),
        ]
        for throughput in run_members(result.run, "study").throughputs
        for f in known(result, throughput.name)
    ]
    columns = [
        Column("answer", kept=True), Column("at", kept=True), Column("value", "1", kept=True),
        Column("interval", below=True), Column("where the bytes were"), Column("over", below=True),
    ]  # fmt: skip
    return Table(columns, rows, "Answers")


def files_table(result: Result) -> Table:
    return table_of(
        known(result, "files_per_second"),
        [
            *((Column(axis.title), axis.text) for axis in coordinates(result)),
            (Column("pass"), operation_of),
            (Column("files/s", "op/s"), lambda f: f.metric.value),
            (Column("interval", below=True), _interval),
        ],
        "Files per second",
    )


def pattern_table(result: Result) -> Table | None:
    """For each access the strongest and the weakest pattern, where that is the study's question."""
    if run_members(result.run, "study").headline != "strongest and weakest":
        return None
    rates = [f for f in known(result, "bandwidth") if f.metric.value]
    found: list[tuple[str, FigureRecord, list[FigureRecord]]] = []
    for of_access in common.grouped(rates, access_of).values():
        # The values whose bytes were on storage, if there are any: others are rates of memory.
        stored = [f for f in of_access if place_of_bytes(evidence_at(result, f)) is Place.DEVICE]
        some = stored or of_access
        if len(some) > 1:
            found.append(("strongest", max(some, key=value_of), some))
            found.append(("weakest", min(some, key=value_of), some))
    axes = coordinates(result)
    return table_of(
        found,
        [
            (Column("access", kept=True), lambda one: access_of(one[1])),
            (Column("", kept=True), lambda one: one[0]),
            (Column("rate", "B/s", kept=True), lambda one: one[1].metric.value),
            (Column("pattern", kept=True), lambda one: word(one[1], "pattern")),
            (Column("at", kept=True), lambda one: place_of(one[1], axes)),
            (Column("interval", below=True), lambda one: _interval(one[1])),
            (Column("where the bytes were"), lambda one: short_of(evidence_at(result, one[1]))),
            (
                Column("doubt", below=True),
                lambda one: certainty.doubt_of_first(one[1], one[2], one[0]),
            ),
        ],
        "Strongest and weakest patterns",
    )


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
