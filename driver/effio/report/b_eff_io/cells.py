# SPDX-License-Identifier: BSD-3-Clause
"""The cells of a b_eff_io result by partition, access, type and position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from effio import text as fmt
from effio.report.common.names import grouped
from effio.store import records
from effio.store.reader import Result
from effio.store.records import Measurement, Spread

ACCESSES = ("write", "rewrite", "read")
TYPES = ("scatter", "shared", "separated", "segmented", "seg_coll")
# The original's diagrams: well-formed and non-well-formed sizes come in pairs, the largest alone.
POSITIONS = {1: 1.0, 2: 2.0, 3: 4.0, 4: 5.0, 5: 7.0, 6: 8.0, 7: 10.0}
PAIRS = ((1, 2), (3, 4), (5, 6))


def partition_of(m: Measurement | records.Figure) -> int:
    return records.as_count(m.where.get("partition"))


def rate_of(m: Measurement) -> float | None:
    """None where there is none that counts; a rate is not negative."""
    value = m.rate.value
    return value if m.valid and value is not None and value >= 0 else None


def _joined(earlier: Measurement, later: Measurement) -> Measurement:
    """One cell in two rounds: the bytes of both over the time of both."""
    total = Spread(min=0.0, mean=0.0, max=earlier.total_seconds + later.total_seconds)
    both = earlier.bytes + later.bytes
    rates = (rate_of(earlier), rate_of(later))
    whole = later if rates[0] is not None else earlier  # an invalid one stays invalid
    rate = whole.rate
    if None not in rates and total.max > 0:
        rate = replace(rate, value=both / total.max)
    return replace(
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

    def figures(self, name: str, partition: int) -> Sequence[records.Figure]:
        return self._figures.get((name, partition), [])

    def type_rate(self, partition: int, access: str, pattern: str) -> records.Figure | None:
        return next(iter(self._types.get((partition, access, pattern), [])), None)
