# SPDX-License-Identifier: BSD-3-Clause
"""Tells of FLASH I/O: the bandwidth by the definition and until the data are on storage, where the
time of each file went, and what a restart took. docs/benchmarks/flash_io.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from effio import text as fmt
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
)
from effio.report.scaling import ScalingPoint, scaling_blocks
from effio.store.reader import Result
from effio.store.records import Measurement, as_number

# Parts of writing a file, in order, and of reading it.
_PARTS = {
    "header": "header and tree",
    "unknown": "unknowns",
    "sync": "sync to storage",
    "close": "close",
    "open": "open",
    "data": "data",
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


def file_table(measurements: Sequence[Measurement]) -> Table:
    rows: list[list[Cell]] = []
    for (access, name), some in _files(measurements).items():
        counted = [
            as_number(m.detail.get("by_definition_seconds")) or m.total_seconds for m in some
        ]
        rates = [m.rate.value for m in some if m.rate.value is not None]
        rows.append(
            [
                access,
                fmt.plain(name, 40),
                len(some),
                int(fmean(m.bytes for m in some)),
                fmean(counted),
                *[_part(some, part) for part in ("header", "unknown", "close", "sync")],
                fmean(rates) if rates else None,
                sum(m.verified_bytes for m in some),
            ]
        )
    return Table(
        [
            Column("access"),
            Column("file"),
            Column("files", "1"),
            Column("size", "B"),
            Column("time", "s"),
            *[Column(n, "s") for n in ("max header", "max unknown", "max close", "max sync")],
            Column("rate", "B/s"),
            Column("verified", "B"),
        ],
        rows,
        "Files",
        "Times are the slowest rank's, means over the files; the rate of writing does not count the"
        " sync, as the benchmark defines it.",
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
        "The slowest rank's time in each part, stacked. A long sync says that the data were still"
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
    x = [float(i) for i in range(len(found))]
    synced = [as_number(f.detail.get("synced_bandwidth_bytes_per_second")) for f in found]
    return Figure(
        "repetitions",
        "Bandwidth by repetition",
        "Falling rates tell of caches that fill; scatter tells of other users.",
        "curves",
        Axis("repetition"),
        Axis("bandwidth", "B/s", low=0),
        {
            "all": [
                Panel(
                    "",
                    [
                        Series("by the definition", x, [f.metric.value for f in found], 0),
                        Series("until on storage", x, synced, 1),
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
            f"Writing spent {share} % of its time in: {_PARTS[worst]}.", "file-parts", card="limit"
        )
    ]


def restart_finding(result: Result) -> list[Finding]:
    rate = _value(result, "flash_io_restart")
    if not rate:
        return []
    verified = sum(m.verified_bytes for m in result.measurements)
    wrong = sum(m.error_count for m in result.measurements if m.access == "read")
    words = f"{wrong} values were WRONG" if wrong else "every value was right"
    return [
        Finding(
            f"Reading back ran at {fmt.quantity(rate, 'B/s')};"
            f" {fmt.quantity(verified, 'B')} were checked, {words}.",
            "files",
            "bad" if wrong else "good",
        )
    ]


def collective_findings(
    measurements: Sequence[Measurement], anchor: str, place: str
) -> list[Finding]:
    """By library, which `place` of a measurement names: what it says of its collective calls."""
    asked: dict[str, float] = {}
    done: dict[str, float] = {}
    for m in measurements:
        library = m.detail.get("library")
        if not isinstance(library, dict) or "done_collectively" not in library:
            continue
        name = fmt.plain(str(m.where.get(place, "the library")), 40)
        asked[name] = asked.get(name, 0) + (as_number(library.get("collective_calls")) or 0)
        done[name] = done.get(name, 0) + (as_number(library.get("done_collectively")) or 0)
    return [
        Finding(
            f"Of {count:.0f} collective calls {name} carried out {done[name]:.0f} collectively.",
            anchor,
            "info" if count <= done[name] else "warn",
        )
        for name, count in asked.items()
        if count > 0
    ]


def series_finding(result: Result) -> list[Finding]:
    found = [f for f in result.figures if f.name == "repetition_bandwidth"]
    shares = [
        as_number(f.detail.get("io_fraction"))
        for f in found
        if as_number(f.detail.get("compute_seconds"))
    ]
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
        "flash_io_synced": "write, until on storage",
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


class FlashIoTeller:
    def headline(self, result: Result) -> Headline:
        names = unique(str(m.where.get("backend", "")) for m in result.measurements)
        context = f"on {fmt.count_of(result.run.system.ranks, 'rank')}"
        if names:
            context += f", {fmt.plain(', '.join(names), 60)}"
        figure = result.figure("flash_io")
        restart = result.figure("flash_io_restart")
        if figure and figure.metric.value is None and restart and restart.metric.value:
            figure = restart
        return headline_of(figure, result, context)

    def findings(self, result: Result) -> Sequence[Finding]:
        measured = result.measurements
        return [
            *part_finding(measured),
            *sync_finding(result),
            *restart_finding(result),
            *collective_findings(measured, "files", "backend"),
            *series_finding(result),
        ]

    def sections(self, result: Result) -> Sequence[Section]:
        if not result.measurements:
            return []
        figures = [f for f in (part_figure(result.measurements), repetition_figure(result)) if f]
        return [Section("files", "Files", [*figures, file_table(result.measurements)])]

    def across(self, results: Sequence[Result]) -> Sequence[Block]:
        return scaling_blocks([point for result in results for point in scaling_points(result)])


TELLER = FlashIoTeller()
