# SPDX-License-Identifier: BSD-3-Clause
"""The classic page: three diagrams by access and five by pattern type, and its numbers."""

from __future__ import annotations

from effio import text as fmt
from effio.report.b_eff_io.cells import ACCESSES, POSITIONS, TYPES, Cells, Run, rate_of
from effio.report.common import certainty
from effio.report.model import Axis, Cell, Column, Figure, Panel, Series, Table
from effio.store.records import Measurement


def _curve(cells: Cells, access: str, pattern: str, name: str, style: int) -> Series:
    found = [(p, m) for p in POSITIONS if (m := cells.at(access, pattern, p)) is not None]
    return Series(
        name,
        [POSITIONS[p] for p, _ in found],
        [rate_of(m) for _, m in found],
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
        # Of a file that was dropped before it was opened, only calls before can have fetched it.
        ahead = m.access == "read" and "dropped" in m.cache.ways
        cached, mixed = ("read ahead", "partly read ahead") if ahead else ("from cache", "mixed")
        words.append({"cache": cached, "device": "device"}.get(m.cache.verdict, mixed))
    if m.stopped_by == "cap":
        words.append("cut short by the cap on bytes")
    if not m.valid:
        words.append(f"INVALID: {m.invalid_reason}")
    return ", ".join(words)


def classic_page(run: Run) -> Figure:
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
        label = "+8 B" if small else fmt.exact_size(cells.chunk(position))
        ticks.append((x, label))
    return Figure(
        "classic",
        "The b_eff_io page",
        "Bandwidth over the contiguous chunk on disk; all panels share one axis. Sizes come in "
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


def _cell_table(run: Run) -> Table:
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
                    rate_of(m),
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


def summary_table(run: Run, partition: int) -> Table:
    """The table as the original prints it: chunk sizes down, pattern types across, for each
    access."""
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
            halves = [certainty.half_of(f) if f else None for f in totals]
            if any(half is not None for half in halves):
                rows.append(["± 95 %", access, *halves])
    return Table(
        [Column("chunk"), Column("access"), *(Column(t, "B/s", "MB/s") for t in TYPES)],
        rows,
        f"Bandwidth on {run.label(partition)}",
        "MB/s = 10⁶ bytes per second. The total includes opening, closing and the warm-up call.",
    )
