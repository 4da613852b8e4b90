# SPDX-License-Identifier: BSD-3-Clause
"""Report of partest: the rate of a container, of files of the tasks and of a shared file over tasks
and chunks, the seconds of each phase, and what is on storage."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from effio import text as fmt
from effio.report import common
from effio.report.model import (
    Axis,
    Block,
    Cell,
    Column,
    Figure,
    Finding,
    Panel,
    Section,
    Series,
    Table,
)
from effio.report.study import StudyReporter
from effio.report.study.findings import enough_findings, peak_findings, scaling_findings
from effio.report.study.rates import Coordinate, coordinates, rate_figure, rate_table
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import Measurement

# The phases in their order, and what readers call them.
_PHASES = {
    "create": "create",
    "create_close": "close of create",
    "open": "open",
    "transfer": "write or read",
    "turn": "waiting for the turn",
    "sync": "sync to storage",
    "close": "close",
    "unlink": "unlink",
    "file_barrier": "waiting for the file's tasks",
    "global_barrier": "waiting for all tasks",
}
_OPENING = ("create", "create_close", "open")


def _everywhere(rates: Sequence[FigureRecord]) -> list[FigureRecord]:
    """What has no chunks is next to each size of them."""
    sizes = common.unique(
        f.where["chunk_bytes"] for f in rates if f.where.get("chunk_bytes") is not None
    )
    placed = []
    for f in rates:
        own = f.where.get("chunk_bytes")
        for size in sizes if own is None and sizes else [own]:
            placed.append(replace(f, where={**f.where, "chunk_bytes": size}))
    return placed


def _cell(m: Measurement, axes: Sequence[Coordinate]) -> tuple[str, ...]:
    return (
        fmt.plain(m.pattern, 40),
        fmt.plain(m.access, 40),
        *(_value(m, axis) for axis in axes),
    )


def _value(m: Measurement, axis: Coordinate) -> str:
    value = m.where.get(axis.name)
    if value is None:
        return "-"
    return fmt.coordinate(value, axis.unit)


def _name(cell: tuple[str, ...], axes: Sequence[Coordinate]) -> str:
    where = [f"{a.title} {v}" for a, v in zip(axes, cell[2:], strict=True) if v != "-"]
    return ", ".join([f"{cell[0]} {cell[1]}", *where])


def _slowest(some: Sequence[Measurement], phase: str) -> float | None:
    """Seconds of the slowest task, the mean over the repetitions."""
    seconds = [m.seconds[phase].max for m in some if phase in m.seconds]
    return sum(seconds) / len(seconds) if seconds else None


def phase_figure(result: Result, axes: Sequence[Coordinate]) -> Figure | None:
    valid = [m for m in result.measurements if m.valid]
    cells = common.grouped(valid, lambda m: _cell(m, axes))
    if not cells:
        return None
    names = [_name(cell, axes) for cell in cells]
    present = {
        phase: [_slowest(some, phase) for some in cells.values()]
        for phase in _PHASES
        if any(phase in m.seconds for m in valid)
    }
    series = [
        Series(
            _PHASES[phase],
            names,
            [value or 0.0 for value in values],
            style,
            notes=[fmt.duration(value or 0.0) for value in values],
        )
        for style, (phase, values) in enumerate(present.items())
    ]
    rows: list[list[Cell]] = [
        [*cell, *(values[i] for values in present.values())] for i, cell in enumerate(cells)
    ]
    table = Table(
        [
            Column("way"),
            Column("access"),
            *(Column(axis.title) for axis in axes),
            *(Column(_PHASES[phase], "s") for phase in present),
        ],
        rows,
        "Seconds of each phase",
        "The slowest task's, the mean over the repetitions.",
        page_only=len(rows) > 60,
    )
    return Figure(
        "partest-phases",
        "Seconds of each phase",
        "The slowest task of each phase, the mean over the repetitions. Files of the tasks are"
        " created, closed and opened; a container and a shared file are created by their opening.",
        "stacked",
        Axis("way"),
        Axis("time", "s"),
        {"": [Panel("", series)]},
        columns=1,
        table=table,
        panel_height=max(160, 30 * len(names) + 70),
    )


def disk_table(result: Result, axes: Sequence[Coordinate]) -> Table | None:
    rows: list[list[Cell]] = []
    reported = [m for m in result.measurements if m.valid and members_of(m).on_disk]
    for cell, some in common.grouped(reported, lambda m: _cell(m, axes)).items():
        disk = members_of(some[-1]).on_disk
        data: list[Cell] = [cell[0], *cell[2:], disk.files, some[-1].bytes]
        rows.append([*data, disk.bytes, disk.allocated_bytes, disk.sparse_share])
    if not rows:
        return None
    return Table(
        [
            Column("way"),
            *(Column(axis.title) for axis in axes),
            Column("files", "1"),
            Column("written", "B"),
            Column("length", "B"),
            Column("on storage", "B"),
            Column("sparse", "1", "%", 3),
        ],
        rows,
        "Files and bytes on storage",
        "As the file system reports right after the close. What a container is longer than its data"
        " are holes, but for its head and tail.",
    )


def opening_finding(result: Result) -> list[Finding]:
    """What the files of the tasks cost before the first byte, compared with a container."""
    found: dict[int, dict[str, list[float]]] = {}
    for m in result.measurements:
        if m.valid and m.access == "write":
            seconds = sum(m.seconds[p].max for p in _OPENING if p in m.seconds)
            found.setdefault(m.ranks, {}).setdefault(m.pattern, []).append(seconds)
    both = {n: ways for n, ways in found.items() if {"sion", "task-local"} <= set(ways)}
    if not both:
        return []
    tasks = max(both)
    mean = {way: sum(some) / len(some) for way, some in both[tasks].items()}
    if not any(mean.values()):  # a model without a time for opening
        return []
    fewest = min(len(some) for way, some in both[tasks].items() if way in ("sion", "task-local"))
    once = ", measured once" if fewest < 2 else ""
    return [
        Finding(
            f"Until {fmt.count_of(tasks, 'task')} could write took"
            f" {fmt.duration(mean['task-local'])} with a file for each and"
            f" {fmt.duration(mean['sion'])} with a container{once}.",
            "partest-phases",
        )
    ]


class PartestReporter(StudyReporter):
    def findings(self, result: Result) -> Sequence[Finding]:
        limit = common.limit_finding(common.time_splits(result.measurements, lambda m: m.access))
        axes = coordinates(result)
        return [
            *([limit] if limit is not None else []),
            *opening_finding(result),
            *peak_findings(result, axes),
            *scaling_findings(result, axes),
            *enough_findings(result, axes),
        ]

    def sections(self, result: Result) -> Sequence[Section]:
        rates = result.figures_named("bandwidth")
        axes = coordinates(result)
        blocks: list[Block] = []
        if rates:
            figure = rate_figure(_everywhere(rates), axes)
            blocks += [*([figure] if figure else []), rate_table(result, axes)]
        phases, disk = phase_figure(result, axes), disk_table(result, axes)
        blocks += [block for block in (phases, disk) if block is not None]
        return [Section("study", "Rates, phases and files", blocks)] if blocks else []


REPORTER = PartestReporter()
