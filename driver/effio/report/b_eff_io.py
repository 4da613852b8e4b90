# SPDX-License-Identifier: BSD-3-Clause
"""Tells of b_eff_io: the classic page of three diagrams by access and five by pattern type, and
what limits the figure. docs/benchmarks/b_eff_io.md says how to read it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from effio import text as fmt
from effio.report import common, generic
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
from effio.store import records
from effio.store.reader import Result
from effio.store.records import Measurement

ACCESSES = ("write", "rewrite", "read")
TYPES = ("scatter", "shared", "separated", "segmented", "seg_coll")
# The original's diagrams: well-formed and non-well-formed sizes stand in pairs, the largest alone.
POSITIONS = {1: 1.0, 2: 2.0, 3: 4.0, 4: 5.0, 5: 7.0, 6: 8.0, 7: 10.0}
PAIRS = ((1, 2), (3, 4), (5, 6))


def _partition(m: Measurement | records.Figure) -> int:
    value = m.where.get("partition")
    return value if isinstance(value, int) else 0


def _rate(m: Measurement) -> float | None:
    return m.rate.value if m.valid else None


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(math.log(v) for v in values) / len(values))


class _Cells:
    """The printed cells of one partition by access, type and position."""

    def __init__(self, measurements: Iterable[Measurement]) -> None:
        self.all = list(measurements)
        self._by: dict[tuple[str, str, int], Measurement] = {}
        for m in self.all:
            position = m.place("position")
            if isinstance(position, int) and position in POSITIONS:
                self._by[m.access, m.pattern, position] = m

    def at(self, access: str, pattern: str, position: int) -> Measurement | None:
        return self._by.get((access, pattern, position))

    def rate(self, access: str, pattern: str, position: int) -> float | None:
        m = self.at(access, pattern, position)
        return _rate(m) if m else None

    def chunk(self, position: int) -> int:
        return next(
            (int(m.number("chunk_bytes")) for (_, _, p), m in self._by.items() if p == position), 0
        )

    @property
    def accesses(self) -> list[str]:
        return [a for a in ACCESSES if any(key[0] == a for key in self._by)]


class _Run:
    """A result, sorted."""

    def __init__(self, result: Result) -> None:
        self.result = result
        numbers = sorted({_partition(m) for m in result.measurements})
        self.partitions = {
            n: _Cells(m for m in result.measurements if _partition(m) == n) for n in numbers
        }
        final = result.figure("b_eff_io")
        value = final.where.get("partition") if final else None
        self.best = value if value in self.partitions else (numbers[0] if numbers else None)

    @property
    def best_cells(self) -> _Cells:
        return self.partitions[self.best] if self.best is not None else _Cells([])

    def ranks(self, partition: int) -> int:
        cells = self.partitions[partition].all
        return cells[0].ranks if cells else 0

    def order(self) -> list[int]:
        """The best partition first: it is the one that counts."""
        return sorted(self.partitions, key=lambda n: (n != self.best, n))

    def label(self, partition: int) -> str:
        same = sum(self.ranks(n) == self.ranks(partition) for n in self.partitions)
        name = fmt.count_of(self.ranks(partition), "rank")
        return name if same == 1 else f"{name} (no. {partition})"

    def type_rate(self, partition: int, access: str, pattern: str) -> records.Figure | None:
        for f in self.result.figures_named("type_bandwidth"):
            place = (_partition(f), f.where.get("access"), f.where.get("pattern"))
            if place == (partition, access, pattern):
                return f
        return None


# The classic page ------------------------------------------------------------------------------


def _curve(cells: _Cells, access: str, pattern: str, name: str, style: int) -> Series:
    found = [(p, m) for p in POSITIONS if (m := cells.at(access, pattern, p)) is not None]
    return Series(
        name,
        [POSITIONS[p] for p, _ in found],
        [_rate(m) for _, m in found],
        style=style,
        notes=[_note(m) for _, m in found],
        faulty=[not m.valid or m.stopped_by == "cap" or m.error_count > 0 for _, m in found],
    )


def _note(m: Measurement) -> str:
    words = [
        f"{fmt.exact_size(int(m.number('chunk_bytes')))} chunks",
        f"{fmt.count_of(m.operations, 'call')}, {fmt.size(m.bytes)} in "
        f"{fmt.duration(m.total_seconds)}",
    ]
    if m.cache is not None and m.cache.verdict != "unknown":
        words.append({"cache": "from cache", "device": "device"}.get(m.cache.verdict, "mixed"))
    if m.stopped_by == "cap":
        words.append("cut short by the cap on bytes")
    if not m.valid:
        words.append(f"INVALID: {m.invalid_reason}")
    return ", ".join(words)


def _classic_page(run: _Run) -> Figure:
    variants = {}
    for n in run.order():
        cells = run.partitions[n]
        by_access = [
            Panel(a, [_curve(cells, a, t, t, i) for i, t in enumerate(TYPES)]) for a in ACCESSES
        ]
        by_type = [
            Panel(t, [_curve(cells, a, t, a, 10 + i) for i, a in enumerate(ACCESSES)])
            for t in TYPES
        ]
        variants[run.label(n)] = [*by_access, *by_type]
    cells = run.best_cells
    ticks = []
    for position, x in POSITIONS.items():
        small = position in (2, 4, 6)
        label = "+8 B" if small else fmt.exact_size(cells.chunk(position)).replace(" ", "")
        ticks.append((x, label))
    return Figure(
        "classic",
        "The b_eff_io page",
        "Bandwidth over the contiguous chunk on disk; all panels share one axis. Sizes stand in "
        "pairs: a power of two, and the same with 8 bytes more, which no block or stripe boundary "
        "fits. A drop within a pair is the price of being unaligned. Hollow points are not "
        "trustworthy: cut short by the cap on bytes, or with errors.",
        "curves",
        Axis("chunk on disk", "B", ticks=ticks, low=0.4, high=10.6),
        Axis("bandwidth", "B/s", log=True, switch=True),
        variants,
        columns=5,
        variant_title="partition",
        table=_cell_table(run),
        bands=(("By access, one curve for each pattern type", 3),
               ("By pattern type, one curve for each access", 5)),
    )  # fmt: skip


def _cell_table(run: _Run) -> Table:
    rows: list[list[Cell]] = []
    for n in run.order():
        for m in run.partitions[n].all:
            rows.append(
                [
                    m.ranks,
                    m.access,
                    m.pattern,
                    int(m.number("chunk_bytes")),
                    int(m.number("memory_chunk_bytes")),
                    m.operations,
                    m.bytes,
                    m.total_seconds,
                    _rate(m),
                    m.cache.verdict if m.cache else None,
                    m.stopped_by,
                    m.error_count,
                ]
            )
    return Table(
        [
            Column("ranks", "1"),
            Column("access"),
            Column("pattern"),
            Column("chunk on disk", "B"),
            Column("chunk in memory", "B"),
            Column("calls", "1"),
            Column("data", "B"),
            Column("time", "s"),
            Column("bandwidth", "B/s", "MB/s"),
            Column("cache or device"),
            Column("ended by"),
            Column("errors", "1"),
        ],
        rows,
        "All rows of b_eff_io",
        page_only=True,
    )


def _summary_table(run: _Run, partition: int) -> Table:
    """As the original prints it: chunk sizes down, pattern types across, for each access."""
    cells = run.partitions[partition]
    rows: list[list[Cell]] = []
    for access in cells.accesses:
        for position in POSITIONS:
            rates = [cells.rate(access, t, position) for t in TYPES]
            if any(r is not None for r in rates):
                rows.append([fmt.exact_size(cells.chunk(position)), access, *rates])
        totals = [run.type_rate(partition, access, t) for t in TYPES]
        if any(totals):
            rows.append(["total", access, *(f.metric.value if f else None for f in totals)])
    return Table(
        [Column("chunk"), Column("access"), *(Column(t, "B/s", "MB/s") for t in TYPES)],
        rows,
        f"Bandwidth on {run.label(partition)}",
        "MB/s = 10⁶ bytes per second. `total` includes opening, closing and the warm-up call.",
    )


# Averages --------------------------------------------------------------------------------------


def _average_table(run: _Run) -> Table:
    rows: list[list[Cell]] = []
    for n in run.partitions:
        averages: list[Cell] = []
        for access in ACCESSES:
            found = [
                f
                for f in run.result.figures_named("access_bandwidth")
                if _partition(f) == n and f.where.get("access") == access
            ]
            averages.append(found[0].metric.value if found else None)
        whole: list[Cell] = []
        valid: Cell = None
        for name in ("write_average", "b_eff_io_partition"):
            mine = [f for f in run.result.figures_named(name) if _partition(f) == n]
            whole.append(mine[0].metric.value if mine else None)
            valid = mine[0].valid if mine else valid
        rows.append([run.label(n), *averages, *whole, valid, "best" if n == run.best else ""])
    shown = [Column(a, "B/s", "MB/s") for a in (*ACCESSES, "writing (B_wr)", "b_eff_io")]
    return Table(
        [Column("partition"), *shown, Column("valid"), Column("")],
        rows,
        "Averages",
        "An access' average weighs scatter double. b_eff_io of a partition is the geometric mean of"
        " writing (write, with scatter's rewrite) and reading; of a run, the best partition's.",
    )


def _scaling_figure(run: _Run) -> Figure | None:
    by_ranks = sorted(run.partitions, key=run.ranks)
    if len({run.ranks(n) for n in by_ranks}) < 2:
        return None
    series = []
    for i, access in enumerate(ACCESSES):
        points = [
            (run.ranks(n), f.metric.value)
            for n in by_ranks
            for f in run.result.figures_named("access_bandwidth")
            if _partition(f) == n and f.where.get("access") == access
        ]
        series.append(
            Series(access, [float(p) for p, _ in points], [v for _, v in points], style=10 + i)
        )
    points = [
        (run.ranks(n), f.metric.value)
        for n in by_ranks
        for f in run.result.figures_named("b_eff_io_partition")
        if _partition(f) == n
    ]
    series.append(
        Series("b_eff_io", [float(p) for p, _ in points], [v for _, v in points], style=13)
    )
    ticks = [(float(run.ranks(n)), str(run.ranks(n))) for n in by_ranks]
    return Figure(
        "scaling",
        "More ranks, more bandwidth?",
        "The averages of each partition. A curve that falls means that ranks are in each other's "
        "way: locks on the shared file, too few cores, a saturated device.",
        "curves",
        Axis("ranks", "1", log=True, ticks=ticks),
        Axis("bandwidth", "B/s", log=True, switch=True),
        {"": [Panel("", series)]},
        columns=1,
        panel_height=320,
    )


# What limits -----------------------------------------------------------------------------------


def _splits(run: _Run) -> list[common.TimeSplit]:
    """By access and type, with open and close, which belong to types and not to rows."""
    assert run.best is not None
    cells = run.best_cells.all
    splits = common.time_splits(cells, lambda m: f"{m.access} {m.pattern}")
    for split in splits:
        access, _, pattern = split.name.partition(" ")
        figure = run.type_rate(run.best, access, pattern)
        for part in ("open", "close"):
            seconds = figure.detail.get(f"{part}_seconds") if figure else None
            if isinstance(seconds, (int, float)) and 0 <= seconds < 1e12:
                split.parts[part] += float(seconds)
    return splits


def _limit_finding(run: _Run) -> Finding | None:
    """What most of the time of writing and reading went into."""
    splits = [s for s in _splits(run) if s.total > 0]
    total = sum(s.total for s in splits)
    if total <= 0:
        return None
    shares: dict[str, float] = {}
    for split in splits:
        for part, seconds in split.parts.items():
            shares[part] = shares.get(part, 0) + seconds / total
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    meaning = {
        "data calls": "the data calls themselves: storage, network or the MPI-IO library's copying",
        "sync to storage": "flushing what was written to storage",
        "waiting for the slowest rank": "waiting for the slowest rank: uneven service, or more "
        "ranks than cores",
        "stop votes": "agreeing when to stop, after each call: calls are shorter than a vote",
        "open": "opening files",
        "close": "closing and removing files",
    }
    first, share = ranked[0]
    text = f"{fmt.percent(share)} of the time went into {meaning.get(first, first)}"
    if len(ranked) > 1 and ranked[1][1] >= 0.1:
        second = ranked[1][0]
        text += f"; {fmt.percent(ranked[1][1])} into {meaning.get(second, second).split(':')[0]}"
    return Finding(text + ".", "time", "info", "limit")


def _small_chunk_finding(cells: _Cells) -> Finding | None:
    """Small chunks where each call moves one chunk: the cost of a call shows."""
    worst: tuple[float, str, str, float, float] | None = None
    for access in cells.accesses:
        for pattern in TYPES[1:]:  # scatter moves 1 MiB a call whatever the chunk
            small, large = cells.rate(access, pattern, 1), cells.rate(access, pattern, 7)
            if small and large and (worst is None or small / large < worst[0]):
                worst = (small / large, access, pattern, small, large)
    if worst is None or worst[0] > 0.5:
        return None
    ratio, access, pattern, small, large = worst
    per_call = cells.chunk(1) / small
    m = cells.at(access, pattern, 1)
    ranks = m.ranks if m else 1
    return Finding(
        f"Small chunks: {pattern} {access} reaches {fmt.rate(small)} with "
        f"{fmt.exact_size(cells.chunk(1))}, {fmt.significant(100 * ratio, 2)} % of the "
        f"{fmt.rate(large)} with {fmt.exact_size(cells.chunk(7))}. A call costs about "
        f"{fmt.duration(per_call * ranks)} whatever it moves: latency limits, not bandwidth.",
        "roofline",
        "warn",
    )


def _alignment_finding(cells: _Cells) -> Finding | None:
    ratios = []
    for access in cells.accesses:
        for pattern in TYPES:
            for even, odd in PAIRS:
                a, b = cells.rate(access, pattern, even), cells.rate(access, pattern, odd)
                if a and b:
                    ratios.append((a / b, access, pattern, cells.chunk(even)))
    if len(ratios) < 5:
        return None
    mean = _geometric_mean([r[0] for r in ratios])
    ratio, access, pattern, chunk = max(ratios)
    if mean < 1.15 and ratio < 3:
        return Finding(
            "Alignment: 8 bytes more than a power of two cost little here "
            f"(a factor {fmt.significant(mean, 3)} on average).",
            "classic",
            "good",
        )
    return Finding(
        f"Alignment: 8 bytes more than a power of two cost a factor {fmt.significant(mean, 3)} on "
        f"average, and {fmt.significant(ratio, 3)} in {pattern} {access} of "
        f"{fmt.exact_size(chunk)}.",
        "classic",
        "warn" if mean > 1.5 or ratio > 5 else "info",
    )


def _type_finding(run: _Run) -> Finding | None:
    assert run.best is not None
    found = []
    for access in ("write", "read"):
        rates = {
            t: f.metric.value
            for t in TYPES
            if (f := run.type_rate(run.best, access, t)) is not None and f.metric.value
        }
        if len(rates) < 2:
            continue
        slowest = min(rates, key=lambda t: rates[t] or 0)
        fastest = max(rates, key=lambda t: rates[t] or 0)
        low, high = rates[slowest] or 0, rates[fastest] or 0
        found.append(
            (
                low / high,
                f"{access}: {slowest} is slowest with {fmt.rate(low)}, {fastest} fastest with "
                f"{fmt.rate(high)} ({fmt.significant(high / low, 3)} times)",
            )
        )
    if not found:
        return None
    worst = min(f[0] for f in found)
    text = "; ".join(f[1] for f in found)
    return Finding(f"Pattern types: {text}.", "classic", "warn" if worst < 0.2 else "info")


def _scaling_finding(run: _Run) -> Finding | None:
    values = {
        run.ranks(_partition(f)): f.metric.value
        for f in run.result.figures_named("b_eff_io_partition")
        if _partition(f) in run.partitions and f.metric.value
    }
    if len(values) < 2 or run.best is None:
        return None
    best, most = run.ranks(run.best), max(values)
    if best == most or best not in values:
        return None
    share = (values[most] or 0) / (values[best] or 1)
    return Finding(
        f"Scaling: the best value is that of {fmt.count_of(best, 'rank')}; with {most} ranks it is "
        f"{fmt.percent(share)} of it.",
        "scaling",
        "warn" if share < 0.7 else "info",
    )


def _balance_finding(result: Result) -> Finding | None:
    figure = result.figure("balance_time")
    if figure is None or not figure.metric.value:
        return None
    seconds = figure.metric.value
    return Finding(
        f"Balance: at this rate the whole memory is written in {fmt.duration(seconds)}; a balanced "
        "system needs at most 10 min.",
        "averages",
        "good" if seconds <= 600 else "warn",
    )


class BeffIoTeller:
    def headline(self, result: Result) -> Headline:
        run = _Run(result)
        final = result.figure("b_eff_io")
        fs = result.run.file_system
        context = f"on {run.label(run.best)}" if run.best is not None else ""
        if fs is not None and fs.type:
            context += f", {fs.type}"
        headline = generic.headline_of(final, result, context)
        if final is None:
            return Headline(
                "b_eff_io", None, "B/s", context, False, "NOT VALID: the run is incomplete",
                missing="no partition was measured completely",
            )  # fmt: skip
        return headline

    def findings(self, result: Result) -> Sequence[Finding]:
        run = _Run(result)
        if run.best is None:
            return []
        cells = run.best_cells
        found = [
            _limit_finding(run),
            _type_finding(run),
            _small_chunk_finding(cells),
            _alignment_finding(cells),
            _scaling_finding(run),
            _balance_finding(result),
        ]
        pointer = result.figure("shared_file_pointer")
        if pointer is not None and pointer.detail.get("used") is False:
            found.append(
                Finding(
                    "The shared file pointer was not used: " + str(pointer.detail.get("note", "")),
                    "classic",
                    "bad",
                )
            )
        capped = sum(m.stopped_by == "cap" for m in cells.all)
        if capped:
            reason = result.run.extra.get("b_eff_io", {})
            why = reason.get("cap_reason", "") if isinstance(reason, dict) else ""
            found.append(
                Finding(
                    f"{fmt.count_of(capped, 'row')} of the best partition ended at the cap on bytes"
                    f" ({why}) before their scheduled time.",
                    "classic",
                    "warn",
                )
            )
        return [f for f in found if f is not None]

    def sections(self, result: Result) -> Sequence[Section]:
        run = _Run(result)
        if run.best is None:
            return []
        page: list[Block] = [_classic_page(run)]
        page += [_summary_table(run, n) for n in run.order()]
        averages: list[Block] = [_average_table(run)]
        if scaling := _scaling_figure(run):
            averages.append(scaling)
        sections = [
            Section("page", "Bandwidth by pattern, chunk size and access", page),
            Section("averages", "How the figure comes about", averages),
        ]
        splits = _splits(run)
        if splits:
            sections.append(Section("where", "Where the time went", [common.time_figure(splits)]))
        timed = run.best_cells.all
        if figure := common.call_time_figure(timed, lambda m: m.pattern):
            sections.append(Section("calls", "Call times", [figure, common.call_time_table(timed)]))
        return sections


TELLER = BeffIoTeller()
