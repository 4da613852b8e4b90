# SPDX-License-Identifier: BSD-3-Clause
"""Report of FLASH I/O: the bandwidth by the definition and until the data are on storage, where the
time of each file went, and what a restart took. docs/benchmarks/flash_io.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean

from effio import text as fmt
from effio.report import common
from effio.report.common.names import unique
from effio.report.generic import headline_of
from effio.report.model import (
    Axis,
    Block,
    Cell,
    Column,
    Figure,
    Finding,
    Headline,
    Panel,
    Section,
    Series,
    Table,
    table_of,
)
from effio.report.scaling import ScalingPoint, scaling_blocks
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Measurement

# Parts of writing a file, in order, and of reading it.
_PARTS = {
    "header": "header and tree",
    "unknown": "unknowns",
    "sync": "sync to storage",
    "close": "close",
    "open": "open",
    "data": "data",
}

# The same as what a rank does.
_WORKS = {
    "header": "the header and the tree",
    "unknown": "the simulation's variables",
    "sync": "the flush to storage",
    "close": "closing files",
    "open": "opening files",
    "data": "the data",
}


def _value(result: Result, name: str) -> float | None:
    found = result.figure(name)
    return found.metric.value if found else None


def _files(measurements: Sequence[Measurement]) -> dict[tuple[str, str], list[Measurement]]:
    """Valid measurements by access and file."""
    groups: dict[tuple[str, str], list[Measurement]] = {}
    for m in measurements:
        if m.valid:
            groups.setdefault((m.access, m.pattern), []).append(m)
    return groups


def _part(measurements: Sequence[Measurement], part: str) -> float:
    """The slowest rank's seconds, the mean of the files."""
    known = [m.seconds[part].max for m in measurements if part in m.seconds]
    return fmean(known) if known else 0.0


# The measurements of an access and a file.
_File = tuple[tuple[str, str], list[Measurement]]


def _mean(of: Callable[[Measurement], float | None]) -> Callable[[_File], Cell]:
    """The mean of those that have one."""

    def mean(file: _File) -> Cell:
        known = [value for m in file[1] if (value := of(m)) is not None]
        return fmean(known) if known else None

    return mean


def _counted_seconds(m: Measurement) -> float:
    return members_of(m).by_definition_seconds or m.total_seconds


def file_table(measurements: Sequence[Measurement]) -> Table:
    return table_of(
        _files(measurements).items(),
        [
            (Column("access"), lambda file: file[0][0]),
            (Column("file"), lambda file: fmt.plain(file[0][1], 40)),
            (Column("files", "1"), lambda file: len(file[1])),
            (Column("size", "B"), lambda file: int(fmean(m.bytes for m in file[1]))),
            (Column("time", "s"), _mean(_counted_seconds)),
            (
                Column("on storage", "B/s"),
                _mean(lambda m: members_of(m).synced_bandwidth_bytes_per_second),
            ),
            (Column("rate", "B/s"), _mean(lambda m: m.rate.value)),
            (Column("verified", "B"), lambda file: sum(m.verified_bytes for m in file[1])),
        ],
        "Files",
        "Times are the slowest rank's, times and rates means over the files. On storage: the rate"
        " with the sync. Time and rate are those of the benchmark's definition, without it.",
    )


def part_table(measurements: Sequence[Measurement]) -> Table:
    def seconds(part: str) -> tuple[Column, Callable[[_File], Cell]]:
        return Column(_PARTS[part], "s"), lambda file: _part(file[1], part)

    return table_of(
        [file for file in _files(measurements).items() if file[0][0] == "write"],
        [
            (Column("access"), lambda file: file[0][0]),
            (Column("file"), lambda file: fmt.plain(file[0][1], 40)),
            *map(seconds, ("header", "unknown", "close", "sync")),
        ],
        "Parts of writing",
        "The slowest rank's, means over the files.",
    )


def part_figure(measurements: Sequence[Measurement]) -> Figure | None:
    groups = _files(measurements)
    if not groups:
        return None
    names = [f"{access} {fmt.plain(name, 40)}" for access, name in groups]
    series = []
    for style, (part, title) in enumerate(_PARTS.items()):
        values = [_part(some, part) for some in groups.values()]
        if any(values):
            series.append(Series(title, names, values, style))
    return Figure(
        "file-parts",
        "Where the time of each file went",
        "The slowest rank's time in each part, stacked. Unknowns are the simulation's variables."
        " A long sync says that the data were still"
        " in memory when the benchmark's own clock stopped.",
        "stacked",
        Axis("file"),
        Axis("time", "s"),
        {"all": [Panel("", series)]},
        columns=1,
        panel_height=360,
    )


def repetition_figure(result: Result) -> Figure | None:
    found = [f for f in result.figures if f.name == "repetition_bandwidth" and f.metric.value]
    if len(found) < 2:
        return None
    x = [float(i) for i in range(1, len(found) + 1)]
    synced = [members_of(f).synced_bandwidth_bytes_per_second for f in found]
    return Figure(
        "repetitions",
        "Bandwidth by repetition",
        "Falling rates indicate caches that fill; scatter indicates other users.",
        "curves",
        Axis("repetition", ticks=[(v, f"{v:.0f}") for v in x], low=0.7, high=len(x) + 0.3),
        Axis("bandwidth", "B/s", low=0),
        {
            "all": [
                Panel(
                    "",
                    [
                        Series("by the definition", x, [f.metric.value for f in found], 0),
                        Series("flushed", x, synced, 1),
                    ],
                )
            ]
        },
        columns=1,
    )


def sync_finding(result: Result) -> list[Finding]:
    plain, synced = _value(result, "flash_io"), _value(result, "flash_io_synced")
    if not plain:
        return []
    if not synced:
        return [
            Finding(
                "Files were not flushed: the bandwidth may be that of memory.", "file-parts", "warn"
            )
        ]
    if synced > 0.8 * plain:
        return []
    return [
        Finding(
            f"Until the data were on storage the bandwidth was {fmt.quantity(synced, 'B/s')},"
            f" {fmt.significant(100 * synced / plain, 2)} % of the number by the definition.",
            "file-parts",
            "warn",
        )
    ]


def part_finding(measurements: Sequence[Measurement]) -> list[Finding]:
    """What part the writing spent most of its time in."""
    written = [m for m in measurements if m.valid and m.access == "write"]
    times = {
        part: sum(m.seconds[part].max for m in written if part in m.seconds) for part in _PARTS
    }
    total = sum(times.values())
    worst = max(times, key=lambda part: times[part])
    if total <= 0:
        return []
    share = fmt.significant(100 * times[worst] / total, 2)
    return [
        Finding(
            f"Most of the time of writing ({share} %) went into {_WORKS[worst]}.",
            "file-parts",
            card="limit",
        )
    ]


def restart_finding(result: Result) -> list[Finding]:
    rate = _value(result, "flash_io_restart")
    if not rate:
        return []
    verified = sum(m.verified_bytes for m in result.measurements)
    wrong = sum(m.error_count for m in result.measurements if m.access == "read")
    words = (
        f"{fmt.count_of(wrong, 'value was', 'values were')} WRONG"
        if wrong
        else "every value was right"
    )
    return [
        Finding(
            f"Reading back ran at {fmt.quantity(rate, 'B/s')};"
            f" {fmt.quantity(verified, 'B')} were checked, {words}.",
            "files",
            "bad" if wrong else "good",
        )
    ]


def series_finding(result: Result) -> list[Finding]:
    found = [f for f in result.figures if f.name == "repetition_bandwidth"]
    shares = [members_of(f).io_fraction for f in found if members_of(f).compute_seconds]
    known = [s for s in shares if s is not None]
    if not known:
        return []
    return [
        Finding(
            f"Dumps took {fmt.significant(100 * fmean(known), 2)} % of the time of the series,"
            " computing the rest.",
            "repetitions" if len(found) > 1 else "files",
        )
    ]


def scaling_points(result: Result) -> list[ScalingPoint]:
    """A result's rates, for comparison with those of runs on other numbers of ranks."""
    backends = unique(str(m.where.get("backend", "")) for m in result.measurements)
    cells = unique(str(m.where.get("cells", "?")) for m in result.measurements)
    titles = {
        "flash_io": "write, by the definition",
        "flash_io_synced": "write, flushed",
        "flash_io_restart": "read",
    }
    points = []
    for name, title in titles.items():
        rate = _value(result, name)
        if rate:
            case = f"{title}, block edge {fmt.plain(', '.join(cells), 20)}"
            label = fmt.plain(", ".join(backends), 60)
            points.append(ScalingPoint(case, label, result.run.system.ranks, rate))
    return points


class FlashIoReporter:
    def headline(self, result: Result) -> Headline:
        names = unique(str(m.where.get("backend", "")) for m in result.measurements)
        context = f"on {fmt.count_of(result.run.system.ranks, 'rank')}"
        if names:
            context += f", {fmt.plain(', '.join(names), 60)}"
        titles = {
            "flash_io_synced": "writes, flushed",
            "flash_io": "writes, not flushed",
            "flash_io_restart": "reads of a restart",
        }
        for name, title in titles.items():
            figure = result.figure(name)
            if figure and figure.metric.value:
                headline = replace(headline_of(figure, result, context), name=title)
                access = "read" if name == "flash_io_restart" else "write"
                cells = [m for m in result.measurements if m.valid and m.access == access]
                synced = name == "flash_io_synced"
                return common.claimed(headline, result, cells, figure, after_sync=synced)
        return headline_of(result.figure("flash_io"), result, context)

    def findings(self, result: Result) -> Sequence[Finding]:
        measured = result.measurements
        return [
            *part_finding(measured),
            *sync_finding(result),
            *restart_finding(result),
            *common.collective_findings(measured, "files", "backend"),
            *series_finding(result),
        ]

    def sections(self, result: Result) -> Sequence[Section]:
        if not result.measurements:
            return []
        figures = [f for f in (part_figure(result.measurements), repetition_figure(result)) if f]
        tables = [file_table(result.measurements), part_table(result.measurements)]
        return [Section("files", "Files", [*figures, *(t for t in tables if t.rows)])]

    def across(self, results: Sequence[Result]) -> Sequence[Block]:
        return scaling_blocks([point for result in results for point in scaling_points(result)])


REPORTER = FlashIoReporter()
