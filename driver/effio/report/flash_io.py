# SPDX-License-Identifier: BSD-3-Clause
"""Report of FLASH I/O: the bandwidth by the definition and until the data are on storage, where the
time of each file went, and what a restart took. docs/benchmarks/flash_io.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean

from effio import text as fmt
from effio.report.common.counts import claimed
from effio.report.common.hints import collective_findings
from effio.report.common.names import grouped, unique
from effio.report.generic import headline_of
from effio.report.model import (
    Axis,
    Block,
    Cell,
    Column,
    Figure,
    Finding,
    Headline,
    Series,
    Table,
    table_of,
)
from effio.report.parts import Part, PartsReporter, known, member, out_of_time, valid, value_of
from effio.report.plots import ScalingPoint, plot, scaling_blocks
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Measurement
from effio.store.values import as_count

# Parts of writing a file, in order, and of reading it; and the same as what a rank does.
_PARTS = {
    "header": ("header and tree", "the header and the tree"),
    "unknown": ("unknowns", "the simulation's variables"),
    "sync": ("sync to storage", "the flush to storage"),
    "close": ("close", "closing files"),
    "open": ("open", "opening files"),
    "data": ("data", "the data"),
}


# The measurements of an access and a file.
_File = tuple[tuple[str, str], list[Measurement]]


def _files(result: Result) -> list[_File]:
    """Valid measurements by access and file."""
    return list(grouped(valid(result), lambda m: (m.access, m.pattern)).items())


def _part(measurements: Sequence[Measurement], part: str) -> float:
    """The slowest rank's seconds, the mean of the files."""
    some = [m.seconds[part].max for m in measurements if part in m.seconds]
    return fmean(some) if some else 0.0


def _mean(of: Callable[[Measurement], float | None]) -> Callable[[_File], Cell]:
    """The mean of those that have one."""

    def mean(file: _File) -> Cell:
        some = [value for m in file[1] if (value := of(m)) is not None]
        return fmean(some) if some else None

    return mean


def _counted_seconds(m: Measurement) -> float:
    return members_of(m).by_definition_seconds or m.total_seconds


def file_table(result: Result) -> Table:
    def seconds(part: str) -> Callable[[_File], Cell]:
        return lambda file: _part(file[1], part) or None

    return table_of(
        _files(result),
        [
            (Column("access"), lambda file: file[0][0]),
            (Column("file"), lambda file: fmt.plain(file[0][1], 40)),
            (Column("files", "1"), lambda file: len(file[1])),
            (Column("size", "B"), lambda file: int(fmean(m.bytes for m in file[1]))),
            (Column("time", "s"), _mean(_counted_seconds)),
            (
                Column("on storage", "B/s"),
                _mean(member("synced_bandwidth_bytes_per_second")),
            ),
            (Column("rate", "B/s"), _mean(lambda m: m.rate.value)),
            (Column("verified", "B"), lambda file: sum(m.verified_bytes for m in file[1])),
            *(
                (Column(title, "s", extra=True), seconds(part))
                for part, (title, _) in _PARTS.items()
            ),
        ],
        "Files",
        "Times are the slowest rank's, times and rates means over the files. On storage: the rate"
        " with the sync. Time and rate are those of the benchmark's definition, without it. Then"
        " come the parts of the time.",
    )


def part_figure(result: Result) -> Figure | None:
    files = _files(result)
    names = [f"{access} {fmt.plain(name, 40)}" for (access, name), _ in files]
    times = {part: [_part(some, part) for _, some in files] for part in _PARTS}
    series = [
        Series(title, names, times[part], style)
        for style, (part, (title, _)) in enumerate(_PARTS.items())
        if any(times[part])
    ]
    return plot(
        "file-parts",
        "Where the time of each file went",
        "The slowest rank's time in each part, stacked. Unknowns are the simulation's variables."
        " A long sync says that the data were still"
        " in memory when the benchmark's own clock stopped.",
        "stacked",
        Axis("file"),
        Axis("time", "s"),
        series,
        height=360,
    )


def repetition_figure(result: Result) -> Figure | None:
    found = [f for f in known(result, "repetition_bandwidth") if f.metric.value]
    if len(found) < 2:
        return None
    x = [float(i) for i in range(1, len(found) + 1)]
    synced = [members_of(f).synced_bandwidth_bytes_per_second for f in found]
    return plot(
        "repetitions",
        "Bandwidth by repetition",
        "Falling rates may be caches that fill, scatter other users: the figure shows neither.",
        "curves",
        Axis("repetition", ticks=[(v, f"{v:.0f}") for v in x], low=0.7, high=len(x) + 0.3),
        Axis("bandwidth", "B/s", low=0),
        [
            Series("by the definition", x, [f.metric.value for f in found], 0),
            Series("flushed", x, synced, 1),
        ],
    )


def part_finding(result: Result) -> Finding | None:
    """What part the writing spent most of its time in."""
    written = valid(result, "write")
    times = {
        part: sum(m.seconds[part].max for m in written if part in m.seconds) for part in _PARTS
    }
    total = sum(times.values())
    worst = max(times, key=lambda part: times[part])
    if total <= 0:
        return None
    share = fmt.significant(100 * times[worst] / total, 2)
    text = f"Most of the time of writing ({share} %) went into {_PARTS[worst][1]}."
    return Finding(text, "file-parts", card="limit")


def sync_finding(result: Result) -> Finding | None:
    plain, synced = (value_of(result.figure(name)) for name in ("flash_io", "flash_io_synced"))
    if not plain or synced > 0.8 * plain:
        return None
    text = "Files were not flushed: the bandwidth may be that of memory."
    if synced:
        text = (
            f"Until the data were on storage the bandwidth was {fmt.quantity(synced, 'B/s')},"
            f" {fmt.significant(100 * synced / plain, 2)} % of the number by the definition."
        )
    return Finding(text, "file-parts", "warn")


def restart_finding(result: Result) -> Finding | None:
    rate = value_of(result.figure("flash_io_restart"))
    if not rate:
        return None
    verified = sum(m.verified_bytes for m in result.measurements)
    wrong = sum(m.error_count for m in result.measurements if m.access == "read")
    text = f"Reading back ran at {fmt.quantity(rate, 'B/s')};"
    if not verified and not wrong:
        return Finding(f"{text} no value was checked.", "files")
    words = (
        f"{fmt.count_of(wrong, 'value was', 'values were')} WRONG"
        if wrong
        else "every value was right"
    )
    return Finding(
        f"{text} {fmt.quantity(verified, 'B')} were checked, {words}.",
        "files",
        "bad" if wrong else "good",
    )


def left_out_finding(result: Result) -> Finding | None:
    options = result.run.options
    counts = [f.detail.get("repetitions_left_out_by_time_limit") for f in result.figures]
    left = max(map(as_count, counts), default=0)
    if not left or options.get("until-ci"):
        return None
    of_them = f"{fmt.count_of(left, 'was', 'were')} left out"
    return out_of_time(as_count(options.get("repetitions")), of_them, "files")


def series_finding(result: Result) -> Finding | None:
    found = [members_of(f) for f in result.figures_named("repetition_bandwidth")]
    shares = [f.io_fraction for f in found if f.compute_seconds and f.io_fraction is not None]
    if not shares:
        return None
    return Finding(
        f"Dumps took {fmt.significant(100 * fmean(shares), 2)} % of the time of the series,"
        " computing the rest.",
        "repetitions" if len(found) > 1 else "files",
    )


def _backends(result: Result) -> str:
    names = unique(str(m.where.get("backend", "")) for m in result.measurements)
    return fmt.plain(", ".join(names), 60)


def scaling_points(result: Result) -> list[ScalingPoint]:
    """A result's rates, for comparison with those of runs on other numbers of ranks."""
    cells = unique(str(m.where.get("cells", "?")) for m in result.measurements)
    edge = fmt.plain(", ".join(cells), 20)
    titles = {
        "flash_io": "write, by the definition",
        "flash_io_synced": "write, flushed",
        "flash_io_restart": "read",
    }
    return [
        ScalingPoint(
            f"{title}, block edge {edge}", _backends(result), result.run.system.ranks, rate
        )
        for name, title in titles.items()
        if (rate := value_of(result.figure(name)))
    ]


class FlashIoReporter(PartsReporter):
    finders = (
        left_out_finding,
        part_finding,
        sync_finding,
        restart_finding,
        lambda result: collective_findings(result.measurements, "files", "backend"),
        series_finding,
    )
    parts = (Part("files", "Files", (part_figure, repetition_figure, file_table)),)

    def headline(self, result: Result) -> Headline:
        ranks = fmt.count_of(result.run.system.ranks, "rank")
        context = f"on {ranks}" + (f", {_backends(result)}" if result.measurements else "")
        titles = {
            "flash_io_synced": "writes, flushed",
            "flash_io": "writes, not flushed",
            "flash_io_restart": "reads of a restart",
        }
        for name, title in titles.items():
            figure = result.figure(name)
            if figure and figure.metric.value:
                headline = replace(headline_of(figure, result, context), name=title)
                cells = valid(result, "read" if name == "flash_io_restart" else "write")
                synced = name == "flash_io_synced"
                return claimed(headline, result, cells, figure, after_sync=synced)
        return headline_of(result.figure("flash_io"), result, context)

    def across(self, results: Sequence[Result]) -> Sequence[Block]:
        return scaling_blocks([point for result in results for point in scaling_points(result)])


REPORTER = FlashIoReporter()
