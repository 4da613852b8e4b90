# SPDX-License-Identifier: BSD-3-Clause
"""The classic page, three diagrams by access and five by pattern type; its numbers; and how the
figure is computed from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec import structs

from effio import text as fmt
from effio.report.common import certainty
from effio.report.common.names import grouped
from effio.report.common.precision import interval_of_rounds
from effio.report.model import Axis, Cell, Column, Panel, Series, Table, table_of
from effio.report.model import Figure as Plot
from effio.report.plots import means, plot
from effio.store.reader import Result
from effio.store.records import Figure, Measurement, Spread
from effio.store.values import as_count

ACCESSES = ("write", "rewrite", "read")
TYPES = ("scatter", "shared", "separated", "segmented", "seg_coll")
# The original's diagrams: well-formed and non-well-formed sizes come in pairs, the largest alone.
POSITIONS = {1: 1.0, 2: 2.0, 3: 4.0, 4: 5.0, 5: 7.0, 6: 8.0, 7: 10.0}
PAIRS = ((1, 2), (3, 4), (5, 6))


def partition_of(m: Measurement | Figure) -> int:
    return as_count(m.where.get("partition"))


def rate_of(m: Measurement) -> float | None:
    """The rate of a valid measurement, else None. No rate is negative."""
    value = m.rate.value
    return value if m.valid and value is not None and value >= 0 else None


def value_or_none(figure: Figure | None) -> float | None:
    return figure.metric.value if figure is not None else None


def _joined(earlier: Measurement, later: Measurement) -> Measurement:
    """One cell in two rounds: the bytes of both over the time of both."""
    total = Spread(min=0.0, mean=0.0, max=earlier.total_seconds + later.total_seconds)
    both = earlier.bytes + later.bytes
    counts = [rate_of(m) is not None or (m.valid and not m.operations) for m in (earlier, later)]
    whole = later if counts[0] else earlier  # an invalid one stays invalid
    rate = whole.rate
    if all(counts) and both and total.max > 0:
        rate = structs.replace(rate, value=both / total.max, reason="")
    return structs.replace(
        whole,
        bytes=both,
        operations=earlier.operations + later.operations,
        seconds={**later.seconds, "total": total},
        rate=rate,
        stopped_by="cap" if earlier.stopped_by == "cap" else later.stopped_by,
        error_count=earlier.error_count + later.error_count,
    )


class Cells:
    """The printed cells of one partition by access, type and position."""

    def __init__(self, measurements: Iterable[Measurement]) -> None:
        self.all = list(measurements)
        self._by: dict[tuple[str, str, int], Measurement] = {}
        for m in self.all:
            position = m.place("position")
            if isinstance(position, int) and position in POSITIONS:
                place = m.access, m.pattern, position
                self._by[place] = _joined(self._by[place], m) if place in self._by else m

    def at(self, access: str, pattern: str, position: int) -> Measurement | None:
        return self._by.get((access, pattern, position))

    def rate(self, access: str, pattern: str, position: int) -> float | None:
        m = self.at(access, pattern, position)
        return rate_of(m) if m else None

    def sure_rate(self, access: str, pattern: str, position: int) -> float | None:
        """For verdicts: of a row that neither the cap nor an error cut short."""
        m = self.at(access, pattern, position)
        return rate_of(m) if m and m.stopped_by != "cap" and not m.error_count else None

    def is_whole(self, access: str, pattern: str) -> bool:
        """No row of the type is cut short or invalid."""
        mine = [p for (a, t, p) in self._by if (a, t) == (access, pattern)]
        return all(self.sure_rate(access, pattern, p) is not None for p in mine)

    def chunk(self, position: int) -> int:
        return next(
            (int(m.number("chunk_bytes")) for (_, _, p), m in self._by.items() if p == position), 0
        )

    @property
    def accesses(self) -> list[str]:
        return [a for a in ACCESSES if any(key[0] == a for key in self._by)]


class Run:
    """A result, sorted."""

    def __init__(self, result: Result) -> None:
        self.result = result
        found = grouped(result.measurements, partition_of)
        numbers = sorted(found)
        self.partitions = {n: Cells(found[n]) for n in numbers}
        self._figures = grouped(result.figures, lambda f: (f.name, partition_of(f)))
        self._types = grouped(
            result.figures_named("type_bandwidth"),
            lambda f: (partition_of(f), str(f.where.get("access")), str(f.where.get("pattern"))),
        )
        self._alike = Counter(self.ranks(n) for n in numbers)
        final = result.figure("b_eff_io")
        value = partition_of(final) if final else None
        self.best = value if value in self.partitions else (numbers[0] if numbers else None)

    @property
    def best_cells(self) -> Cells:
        return self.partitions[self.best] if self.best is not None else Cells([])

    def ranks(self, partition: int) -> int:
        cells = self.partitions[partition].all
        return cells[0].ranks if cells else 0

    def order(self) -> list[int]:
        """The best partition first: it is the one that counts."""
        return sorted(self.partitions, key=lambda n: (n != self.best, n))

    def label(self, partition: int) -> str:
        name = fmt.count_of(self.ranks(partition), "rank")
        return name if self._alike[self.ranks(partition)] == 1 else f"{name} (no. {partition})"

    def figures(self, name: str, partition: int) -> Sequence[Figure]:
        return self._figures.get((name, partition), [])

    def type_rate(self, partition: int, access: str, pattern: str) -> Figure | None:
        return next(iter(self._types.get((partition, access, pattern), [])), None)

    def average(self, access: str, partition: int) -> Figure | None:
        """The average of an access of a partition."""
        averages = self.figures("access_bandwidth", partition)
        return next((f for f in averages if f.where.get("access") == access), None)


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
        ahead = m.access == "read" and "dropped" in m.cache.methods
        cached, mixed = ("read ahead", "partly read ahead") if ahead else ("from cache", "mixed")
        words.append({"cache": cached, "device": "device"}.get(m.cache.verdict, mixed))
    if m.stopped_by == "cap":
        words.append("cut short by the cap on bytes")
    if not m.valid:
        words.append(f"INVALID: {m.invalid_reason}")
    return ", ".join(words)


def classic_page(run: Run) -> Plot:
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
    return Plot(
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
    return table_of(
        [m for n in run.order() for m in run.partitions[n].all],
        [
            (Column("ranks", "1"), lambda m: m.ranks),
            (Column("access"), lambda m: m.access),
            (Column("pattern"), lambda m: m.pattern),
            (Column("chunk on disk", "B"), lambda m: int(m.number("chunk_bytes"))),
            (Column("chunk in memory", "B"), lambda m: int(m.number("memory_chunk_bytes"))),
            (Column("calls", "1"), lambda m: m.operations),
            (Column("data", "B"), lambda m: m.bytes),
            (Column("time", "s"), lambda m: m.total_seconds),
            (Column("bandwidth", "B/s", "MB/s"), rate_of),
            (Column("cache or device"), lambda m: m.cache.verdict if m.cache else None),
            (Column("ended by"), lambda m: m.stopped_by),
            (Column("errors", "1"), lambda m: m.error_count),
        ],
        "All rows of b_eff_io",
        longest=0,
    )


def summary_table(run: Run, partition: int) -> Table:
    """The table as the original prints it: chunk sizes down, pattern types across, for each
    access."""
    cells = run.partitions[partition]
    rows: list[list[Cell]] = []
    for access in cells.accesses:
        totals = [run.type_rate(partition, access, t) for t in TYPES]
        for name, values in (
            *(
                (fmt.exact_size(cells.chunk(p)), [cells.rate(access, t, p) for t in TYPES])
                for p in POSITIONS
            ),
            ("total", [f.metric.value if f else None for f in totals]),
            ("± 95 %", [certainty.half_of(f) if f else None for f in totals]),
        ):
            if any(value is not None for value in values):
                rows.append([name, access, *values])
    return Table(
        [Column("chunk"), Column("access"), *(Column(t, "B/s", "MB/s") for t in TYPES)],
        rows,
        f"Bandwidth on {run.label(partition)}",
        "MB/s = 10⁶ bytes per second. The total includes opening, closing and the warm-up call.",
    )


def average_table(run: Run) -> Table:
    rows: list[list[Cell]] = []
    found = [f for n in run.partitions for f in run.figures("b_eff_io_partition", n)]
    in_rounds = any(map(interval_of_rounds, found))
    for n in run.partitions:
        written, whole = (
            next(iter(run.figures(name, n)), None)
            for name in ("write_average", "b_eff_io_partition")
        )
        figures = [*(run.average(access, n) for access in ACCESSES), written, whole]
        judged = whole or written
        rows.append(
            [
                run.label(n),
                *map(value_or_none, figures),
                *([interval_of_rounds(whole) if whole else ""] if in_rounds else []),
                judged.valid if judged else None,
                "best" if n == run.best else "",
            ]
        )
    shown = [Column(a, "B/s", "MB/s") for a in (*ACCESSES, "writing (B_wr)", "b_eff_io")]
    more = [Column("interval of b_eff_io")] if in_rounds else []
    return Table(
        [Column("partition"), *shown, *more, Column("valid"), Column("")],
        rows,
        "Averages",
        "In the average of an access, scatter counts twice. b_eff_io of a partition is the"
        " geometric mean of writing (write, with scatter's rewrite) and reading; of a run, the best"
        " partition's.",
    )


def scaling_figure(run: Run) -> Plot | None:
    by_ranks = sorted(run.partitions, key=run.ranks)
    if len({run.ranks(n) for n in by_ranks}) < 2:
        return None

    def curve(name: str, style: int, figures: Callable[[int], Sequence[Figure]]) -> Series:
        """Over the ranks; whiskers are the intervals over the rounds."""
        some = [f for n in by_ranks for f in figures(n)]
        return means(name, some, lambda f: float(run.ranks(partition_of(f))), style)

    def of_access(access: str) -> Callable[[int], Sequence[Figure]]:
        return lambda n: [f for f in (run.average(access, n),) if f is not None]

    series = [curve(a, 10 + i, of_access(a)) for i, a in enumerate(ACCESSES)]
    series.append(curve("b_eff_io", 13, lambda n: run.figures("b_eff_io_partition", n)))
    ticks = [(float(run.ranks(n)), str(run.ranks(n))) for n in by_ranks]
    return plot(
        "scaling",
        "More ranks, more bandwidth?",
        "The averages of each partition. A curve that falls means that ranks are in each other's "
        "way: locks on the shared file, too few cores, a saturated device. Whiskers, where it was "
        "measured in rounds, are 95 % intervals.",
        "curves",
        Axis("ranks", "1", log=True, ticks=ticks),
        Axis("bandwidth", "B/s", log=True, switch=True),
        series,
        height=320,
    )
