# SPDX-License-Identifier: BSD-3-Clause
"""What every benchmark's report has: caches, where the time went, call times, the roofline, hints,
errors and the system. Made from members that all measurements share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from effio import text as fmt
from effio.report.model import (
    Axis,
    Cell,
    Column,
    Figure,
    Finding,
    Panel,
    Section,
    Series,
    Table,
)
from effio.store.reader import Result
from effio.store.records import Measurement

# Parts of a measurement's seconds that lie inside other parts.
_INSIDE_OTHERS = frozenset({"total", "last_call", "last_vote"})
_PART_NAMES = {
    "calls": "data calls",
    "transfer": "data calls",
    "broadcast": "stop votes",
    "vote": "stop votes",
    "barrier": "waiting for the slowest rank",
    "sync": "sync to storage",
    "open": "open",
    "close": "close",
    "view": "file view",
    "stamp": "stamping data",
    "check": "checking data",
}
# One colour for a part everywhere.
_PART_STYLES = {
    "data calls": 0,
    "sync to storage": 1,
    "waiting for the slowest rank": 2,
    "stop votes": 3,
    "open": 4,
    "close": 5,
}


# Accesses that every benchmark has keep their colour in all figures; 10 and above are accesses.
ACCESS_STYLES = {"write": 10, "rewrite": 11, "read": 12}
_FURTHER_ACCESSES = 13


def access_style(access: str, others: Sequence[str] = ()) -> int:
    known = ACCESS_STYLES.get(access)
    if known is not None:
        return known
    unknown = [a for a in others if a not in ACCESS_STYLES]
    return _FURTHER_ACCESSES + (unknown.index(access) if access in unknown else 0)


def part_name(part: str) -> str:
    return _PART_NAMES.get(part, part.replace("_", " "))


def unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def cell_name(m: Measurement) -> str:
    """A measurement in a few words: pattern, access and its chunk, where it has one."""
    chunk = m.number("chunk_bytes")
    words = [m.pattern, m.access, fmt.exact_size(int(chunk)) if chunk else ""]
    return " ".join(w for w in words if w) or m.benchmark


def operation_bytes(m: Measurement) -> float:
    """Bytes that one call of one rank moves, on average."""
    return m.bytes / m.operations if m.operations else 0.0


# Caches ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CacheShare:
    """Of the bytes of one access: what fraction came from, or went to, where."""

    access: str
    bytes: int
    of: Mapping[str, float]  # verdict -> fraction

    @property
    def main(self) -> str:
        return max(self.of, key=lambda verdict: self.of[verdict]) if self.of else "unknown"


def is_reading(access: str) -> bool:
    return "read" in access.lower() and "readdir" not in access.lower()


def cache_shares(result: Result) -> list[CacheShare]:
    amounts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for m in result.measurements:
        if m.bytes > 0:
            amounts[m.access][m.cache.verdict if m.cache else "unknown"] += m.bytes
    shares = []
    for access, by_verdict in amounts.items():
        total = sum(by_verdict.values())
        of = {verdict: count / total for verdict, count in by_verdict.items()}
        shares.append(CacheShare(access, total, of))
    return shares


def cache_findings(result: Result) -> list[Finding]:
    shares = cache_shares(result)
    if result.run.clock.virtual:
        return [
            Finding(
                "Simulated: time is virtual and no storage was touched.", "caches", "info", "cache"
            )
        ]
    reads = [s for s in shares if is_reading(s.access)]
    if not reads:
        if not shares:
            return []
        return [Finding("Nothing was read back in this run.", "caches", "info", "cache")]
    total = sum(s.bytes for s in reads)
    of = {
        verdict: sum(s.of.get(verdict, 0) * s.bytes for s in reads) / total
        for verdict in ("cache", "device", "mixed", "unknown")
    }
    if of["cache"] >= 0.5:
        text = (
            f"Cached: {fmt.percent(of['cache'])} of the bytes read came out of memory. "
            "The read rates tell of the page cache, not of storage; more data than the nodes have "
            "memory, or readers on other nodes than the writers, would tell of storage."
        )
        return [Finding(text, "caches", "warn", "cache")]
    if of["device"] >= 0.5:
        text = f"From the device: {fmt.percent(of['device'])} of the bytes read came from storage."
        return [Finding(text, "caches", "good", "cache")]
    if of["unknown"] >= 0.5:
        text = (
            "Unknown: whether reads came from a cache or from storage could not be observed on "
            "this file system."
        )
        return [Finding(text, "caches", "warn", "cache")]
    text = (
        f"Mixed: {fmt.percent(of['cache'])} of the bytes read came out of memory, "
        f"{fmt.percent(of['device'])} from the device, the rest partly from either."
    )
    return [Finding(text, "caches", "warn", "cache")]


def cache_section(result: Result) -> Section:
    rows: list[list[Cell]] = []
    for s in cache_shares(result):
        told = [s.of.get(v, 0.0) for v in ("device", "mixed", "cache", "unknown")]
        rows.append([s.access, s.bytes, *told])
    table = Table(
        [
            Column("access"),
            Column("data", "B"),
            Column("device", "1", "%", 3),
            Column("mixed", "1", "%", 3),
            Column("cache", "1", "%", 3),
            Column("unknown", "1", "%", 3),
        ],
        rows,
        "Where the bytes came from or went to",
        "Share of the bytes by what the counters of processes and block devices saw during each "
        "measurement. Writes count as device when they had reached it before the clock stopped.",
    )
    return Section("caches", "Cache or device", [table])


# Where the time went ---------------------------------------------------------------------------


@dataclass
class TimeSplit:
    """Seconds of one group by part, the mean over ranks."""

    name: str
    parts: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def total(self) -> float:
        return sum(self.parts.values())


def time_splits(
    measurements: Iterable[Measurement], group: Callable[[Measurement], str]
) -> list[TimeSplit]:
    """What the parts leave of the total is "other"."""
    splits: dict[str, TimeSplit] = {}
    for m in measurements:
        split = splits.setdefault(group(m), TimeSplit(group(m)))
        told = 0.0
        for part, spread in m.seconds.items():
            if part in _INSIDE_OTHERS:
                continue
            split.parts[part_name(part)] += spread.mean
            told += spread.mean
        total = m.seconds["total"].mean if "total" in m.seconds else told
        if total > told * 1.01:
            split.parts["other" if told else "measured as a whole"] += total - told
    return list(splits.values())


def time_figure(splits: Sequence[TimeSplit], identity: str = "time") -> Figure:
    """Shares of the time as stacked bars, one bar a group."""
    parts = unique(p for s in splits for p in s.parts)
    parts.sort(key=lambda p: _PART_STYLES.get(p, 99))
    series = [
        Series(
            part,
            [s.name for s in splits],
            [s.parts.get(part, 0.0) / s.total if s.total > 0 else None for s in splits],
            style=_PART_STYLES.get(part, 6 + i),
            notes=[fmt.duration(s.parts.get(part, 0.0)) for s in splits],
        )
        for i, part in enumerate(parts)
    ]
    table = Table(
        [Column("group"), *(Column(p, "s") for p in parts), Column("total", "s")],
        [[s.name, *(s.parts.get(p, 0.0) for p in parts), s.total] for s in splits],
        "Where the time went",
        "Seconds, the mean over ranks.",
    )
    return Figure(
        identity,
        "Where the time went",
        "Each bar is the whole time of a group, divided by what ranks were doing (mean over ranks)."
        " Waiting for the slowest rank is lost time: it shows imbalance, or a vote after each call."
        " Sync is the price of having data on storage, not only in memory.",
        "stacked",
        Axis("group"),
        Axis("share of the time", "1", low=0, high=1),
        {"": [Panel("", series)]},
        columns=1,
        table=table,
        panel_height=max(160, 30 * len(splits) + 70),
    )


# Call times ------------------------------------------------------------------------------------


def call_time_table(measurements: Iterable[Measurement]) -> Table:
    rows: list[list[Cell]] = [
        [cell_name(m), m.ranks, c.count, c.min, c.p50, c.p90, c.p99, c.p999, c.max]
        for m in measurements
        if (c := m.call_times) is not None and c.count > 0
    ]
    names = ("min", "p50", "p90", "p99", "p99.9", "max")
    return Table(
        [
            Column("what"),
            Column("ranks", "1"),
            Column("calls", "1"),
            *(Column(n, "s", digits=3) for n in names),
        ],
        rows,
        "Call times",
        "p99 = 99 % of the calls took no longer than this. Percentiles carry the histogram's error "
        "of at most 3 %.",
        page_only=len(rows) > 60,
    )


def call_time_figure(
    measurements: Sequence[Measurement], group: Callable[[Measurement], str]
) -> Figure | None:
    """Median and 99th percentile over the size of a call, one panel for each access."""
    timed = [m for m in measurements if m.call_times and m.call_times.count and m.bytes]
    if not timed:
        return None
    names = unique(group(m) for m in timed)
    panels = []
    for access in unique(m.access for m in timed):
        series = []
        for style, name in enumerate(names):
            cells = sorted(
                (m for m in timed if m.access == access and group(m) == name), key=operation_bytes
            )
            if not cells:
                continue
            times = [m.call_times for m in cells if m.call_times]
            series.append(
                Series(
                    name,
                    [operation_bytes(m) for m in cells],
                    [t.p50 for t in times],
                    style=style,
                    high=[t.p99 for t in times],
                    notes=[
                        f"{cell_name(m)}: p99 {fmt.duration(t.p99)}, max {fmt.duration(t.max)}, "
                        f"{fmt.count_of(t.count, 'call')}"
                        for m, t in zip(cells, times, strict=True)
                    ],
                    form="points",
                )
            )
        panels.append(Panel(access, series))
    return Figure(
        "call-times",
        "How long one call takes",
        "Points are medians, the line upwards ends at the 99th percentile. A long line means that "
        "a few calls take much longer than the rest: a straggling rank, a lock, or a cache that is "
        "being flushed.",
        "curves",
        Axis("bytes moved by a call", "B", log=True),
        Axis("time of a call", "s", log=True, switch=True),
        {"": panels},
    )


# Roofline --------------------------------------------------------------------------------------


def roofline(result: Result, ceilings: Mapping[str, float] | None = None) -> Figure | None:
    """Rate against transfer size, under the ceilings that are known: the most operations per second
    that any cell reached, the highest rate that reached a device, and what the user states."""
    cells = [m for m in result.measurements if m.valid and m.bytes and m.total_seconds > 0]
    cells = [m for m in cells if m.rate.unit == "B/s" and m.rate.value]
    if not cells:
        return None
    accesses = unique(m.access for m in cells)
    series = []
    for access in accesses:
        mine = sorted((m for m in cells if m.access == access), key=operation_bytes)
        series.append(
            Series(
                access,
                [operation_bytes(m) for m in mine],
                [m.rate.value for m in mine],
                style=access_style(access, accesses),
                notes=[
                    f"{cell_name(m)} on {fmt.count_of(m.ranks, 'rank')}, "
                    f"{fmt.significant(m.operations / m.total_seconds, 3)} calls/s"
                    for m in mine
                ],
                form="points",
            )
        )
    smallest = min(operation_bytes(m) for m in cells)
    largest = max(operation_bytes(m) for m in cells)
    x = [smallest * (largest / smallest) ** (i / 24) for i in range(25)]
    top = max(m.rate.value or 0 for m in cells)
    limits = []
    fastest = max(m.operations / m.total_seconds for m in cells)
    slope = [min(top, fastest * size) for size in x]
    limits.append(
        Series(f"{fmt.significant(fastest, 3)} calls/s, the most seen", x, slope, 20, form="limit")
    )
    on_device = [m for m in cells if m.cache and m.cache.verdict == "device"]
    if on_device:
        best = max(m.rate.value or 0 for m in on_device)
        limits.append(
            Series(
                f"{fmt.rate(best)}, the most to or from a device", x, [best] * 25, 21, form="limit"
            )
        )
    for i, (name, value) in enumerate((ceilings or {}).items()):
        limits.append(
            Series(f"{name}, {fmt.rate(value)} as stated", x, [value] * 25, 22 + i, form="limit")
        )
    return Figure(
        "roofline",
        "I/O roofline",
        "Each point is a cell. Points along the slanted line are limited by the number of calls per"
        " second (latency): larger transfers would be faster. Points under a level line are limited"
        " by bandwidth. Points far below both lose their time elsewhere: see where the time went."
        " Ceilings are the most that this run has seen, and what `--ceiling` states.",
        "curves",
        Axis("bytes moved by a call", "B", log=True),
        Axis("bandwidth", "B/s", log=True, switch=True),
        {"": [Panel("", [*series, *limits])]},
        columns=1,
        panel_height=420,
    )


# Hints -----------------------------------------------------------------------------------------


def hint_section(result: Result) -> Section:
    """What was asked of the I/O library, and what it says it does. Never inferred."""
    seen: dict[tuple[str, str | None, str | None], list[str]] = defaultdict(list)
    for m in result.measurements:
        for key in unique([*m.hints_asked, *m.hints_granted]):
            seen[key, m.hints_asked.get(key), m.hints_granted.get(key)].append(cell_name(m))
    rows: list[list[Cell]] = []
    for (key, asked, granted), cells in sorted(seen.items(), key=lambda item: item[0][0]):
        if asked is None:
            verdict = "the library's own"
        elif granted is None:
            verdict = "not returned: unknown"
        else:
            verdict = "granted" if asked == granted else "CHANGED"
        where = cells[0] if len(cells) == 1 else fmt.count_of(len(cells), "cell")
        rows.append([key, asked, granted, verdict, where])
    environment = result.run.system.mpi.environment
    blocks: list[Table | Figure | str] = []
    if rows:
        blocks.append(
            Table(
                [Column(n) for n in ("hint", "asked", "granted", "verdict", "where")],
                rows,
                "Hints asked and granted",
                "Granted is what MPI_File_get_info returned on the open file.",
            )
        )
    else:
        blocks.append(
            "No hints were asked for, and the library returned none. Open MPI's OMPIO returns only "
            "what it was given; ROMIO and MPICH return all that are in force."
        )
    if environment:
        blocks.append(
            Table(
                [Column("variable"), Column("value")],
                [[k, v] for k, v in sorted(environment.items())],
                "Variables that steer MPI and I/O",
            )
        )
    return Section("hints", "Hints", blocks)


# Errors ----------------------------------------------------------------------------------------


def invalid_cells(result: Result) -> list[Measurement]:
    return [m for m in result.measurements if not m.valid or m.error_count]


def error_findings(result: Result) -> list[Finding]:
    findings = []
    bad = invalid_cells(result)
    if bad:
        first = bad[0]
        why = first.invalid_reason or (first.errors[0].text() if first.errors else "see the table")
        findings.append(
            Finding(
                f"{fmt.count_of(len(bad), 'measurement')} had failed calls or wrong data; the "
                f"first: {cell_name(first)}: {why}",
                "errors",
                "bad",
            )
        )
    end = result.end
    if end is None:
        findings.append(
            Finding("The run did not end in order; what is here was measured before.", "", "bad")
        )
    elif end.status != "done":
        findings.append(Finding(f"The run ended as '{end.status}': {end.reason}", "errors", "bad"))
    return findings


def error_section(result: Result) -> Section | None:
    rows: list[list[Cell]] = [
        [cell_name(m), m.error_count, m.invalid_reason or e, e if m.invalid_reason else ""]
        for m in invalid_cells(result)
        for e in ([x.text() for x in m.errors] or [""])
    ]
    end = result.end
    if end is not None:
        rows += [["end of the run", 1, e.text(), ""] for e in end.errors]
    if not rows:
        return None
    columns = [Column("where"), Column("errors", "1"), Column("reason"), Column("detail")]
    return Section("errors", "Errors", [Table(columns, rows, "Errors")])


# System ----------------------------------------------------------------------------------------


def _known(rows: Iterable[tuple[str, object]]) -> list[list[Cell]]:
    return [[name, str(value)] for name, value in rows if value not in (None, "", {}, [])]


def system_section(result: Result) -> Section:
    """Enough to repeat the run."""
    run = result.run
    system = run.system
    kernel, cpu, memory = system.kernel, system.cpu, system.memory

    def amount(value: object) -> str:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return ""
        return fmt.size(value)

    names = ", ".join(system.node_names[:16]) + (" …" if len(system.node_names) > 16 else "")
    machine = _known(
        [
            ("started", run.started),
            ("ranks", f"{system.ranks} on {fmt.count_of(system.nodes, 'node')}"),
            ("nodes", names),
            ("processor", f"{cpu.get('model', '')} ({cpu.get('logical_cpus', '?')} CPUs)"),
            ("memory of a node", amount(memory.get("node_total_bytes"))),
            ("operating system", kernel.get("distribution", "")),
            ("kernel", f"{kernel.get('system', '')} {kernel.get('release', '')}"),
            ("clock source", kernel.get("clock_source", "")),
            ("started by root", "yes" if system.user_is_root else ""),
        ]
    )
    fs = run.file_system
    storage: list[list[Cell]] = []
    if fs is not None:
        storage = _known(
            [
                ("directory", fs.path),
                ("file system", f"{fs.type or 'unknown'} on {fs.source}"),
                ("mounted at", fs.mount_point),
                ("mount options", fs.options.replace(";", " ; ").replace(",", ", ")),
                ("in memory", "yes" if fs.memory_backed else ""),
                ("size and free", f"{amount(fs.total_bytes)}, {amount(fs.free_bytes)} free"),
                ("striping", fs.striping),
            ]
        )
    if run.backend is not None:
        storage += _known([("backend", run.backend.name), ("settings", run.backend.settings)])
    engine = run.engine
    software = _known(
        [
            ("MPI", system.mpi.library),
            ("MPI standard", system.mpi.standard),
            ("engine", f"{engine.program} {engine.version} ({engine.revision})"),
            ("compiler", f"{engine.compiler} {engine.flags}"),
            ("command", " ".join(run.command)),
            ("classic command", " ".join(run.classic_command or [])),
            *((name, value) for name, value in sorted(system.batch.items())),
        ]
    )
    options: list[list[Cell]] = [
        [name, _value_text(value)] for name, value in run.options.items() if value not in (None, "")
    ]
    two = [Column("what"), Column("value")]
    return Section(
        "system",
        "The system, and how to repeat this run",
        [
            Table(two, machine, "Machine"),
            Table(two, storage, "Storage"),
            Table(two, software, "Software"),
            Table([Column("option"), Column("in force")], options, "Options", page_only=True),
        ],
    )


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ", ".join(str(v) for v in value) or "–"
    return str(value)
