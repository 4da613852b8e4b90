# SPDX-License-Identifier: BSD-3-Clause
"""Report of partest: the rate of a container, of files of the tasks and of a shared file over tasks
and chunks, the seconds of each phase, and what is on storage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from msgspec.structs import replace

from effio import text as fmt
from effio.report.common.names import grouped, unique
from effio.report.generic import limit_finding
from effio.report.model import Axis, Cell, Column, Figure, Finding, Series, Table, table_of
from effio.report.parts import Part, member, valid
from effio.report.plots import plot
from effio.report.study import (
    StudyReporter,
    enough_findings,
    peak_findings,
    scaling_findings,
)
from effio.report.study.rates import Coordinate, coordinates, figure_of, rate_table
from effio.store.members import members_of
from effio.store.reader import Result
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


def rate_figure(result: Result) -> Figure | None:
    """What has no chunks is next to each size of them."""
    rates = result.figures_named("bandwidth")
    sizes = unique(f.where["chunk_bytes"] for f in rates if f.where.get("chunk_bytes") is not None)
    placed = []
    for f in rates:
        own = f.where.get("chunk_bytes")
        for size in sizes if own is None and sizes else [own]:
            placed.append(replace(f, where={**f.where, "chunk_bytes": size}))
    return figure_of(placed, coordinates(result))


# Pattern, access and the values of the axes.
_Place = tuple[str, ...]


def _place(m: Measurement, axes: Sequence[Coordinate]) -> _Place:
    values = [(m.where.get(axis.name), axis.unit) for axis in axes]
    texts = ["-" if value is None else fmt.coordinate(value, unit) for value, unit in values]
    return (fmt.plain(m.pattern, 40), fmt.plain(m.access, 40), *texts)


def _name(place: _Place, axes: Sequence[Coordinate]) -> str:
    where = [f"{a.title} {v}" for a, v in zip(axes, place[2:], strict=True) if v != "-"]
    return ", ".join([f"{place[0]} {place[1]}", *where])


def phase_figure(result: Result) -> Figure | None:
    axes = coordinates(result)
    cells = grouped(valid(result), lambda m: _place(m, axes))
    names = [_name(place, axes) for place in cells]
    series: list[Series] = []
    for phase in (p for p in _PHASES if any(p in m.seconds for m in valid(result))):
        known = [[m.seconds[phase].max for m in ms if phase in m.seconds] for ms in cells.values()]
        means = [fmean(seconds) if seconds else None for seconds in known]
        notes = ["" if mean is None else fmt.duration(mean) for mean in means]
        series.append(Series(_PHASES[phase], names, means, len(series), notes=notes))
    return plot(
        "partest-phases",
        "Seconds of each phase",
        "The slowest task of each phase, the mean over the repetitions. Files of the tasks are"
        " created, closed and opened; a container and a shared file are created by their opening.",
        "stacked",
        Axis("method"),
        Axis("time", "s"),
        series,
        height=max(160, 30 * len(names) + 70),
    )


def disk_table(result: Result) -> Table:
    axes = coordinates(result)
    reported = [m for m in valid(result) if members_of(m).on_disk]
    last = {_place(m, axes): m for m in reported}

    def value(at: int) -> Callable[[Measurement], Cell]:
        return lambda m: _place(m, axes)[2 + at]

    return table_of(
        last.values(),
        [
            (Column("method"), lambda m: fmt.plain(m.pattern, 40)),
            *((Column(axis.title), value(i)) for i, axis in enumerate(axes)),
            (Column("files", "1"), member("on_disk.files")),
            (Column("written", "B"), lambda m: m.bytes),
            (Column("length", "B"), member("on_disk.bytes")),
            (Column("on storage", "B"), member("on_disk.allocated_bytes")),
            (Column("sparse", "1", "%", 3), member("on_disk.sparse_share")),
        ],
        "Files and bytes on storage",
        "As the file system reports right after the close. What a container is longer than its data"
        " are holes, but for its head and tail.",
    )


def opening_finding(result: Result) -> Finding | None:
    """What the files of the tasks cost before the first byte, compared with a container."""
    found: dict[int, dict[str, list[float]]] = {}
    for m in valid(result, "write"):
        seconds = sum(m.seconds[p].max for p in _OPENING if p in m.seconds)
        found.setdefault(m.ranks, {}).setdefault(m.pattern, []).append(seconds)
    both = {n: methods for n, methods in found.items() if {"sion", "task-local"} <= set(methods)}
    if not both:
        return None
    tasks = max(both)
    files, container = both[tasks]["task-local"], both[tasks]["sion"]
    if not any(second for some in both[tasks].values() for second in some):
        return None  # a model without a time for opening
    once = ", measured once" if min(len(files), len(container)) < 2 else ""
    text = (
        f"Until {fmt.count_of(tasks, 'task')} could write took {fmt.duration(fmean(files))} with a"
        f" file for each and {fmt.duration(fmean(container))} with a container{once}."
    )
    return Finding(text, "partest-phases")


class PartestReporter(StudyReporter):
    finders = (limit_finding, opening_finding, peak_findings, scaling_findings, enough_findings)
    parts = (
        Part(
            "study",
            "Rates, phases and files",
            (rate_figure, rate_table, phase_figure, disk_table),
        ),
    )


REPORTER = PartestReporter()
