# SPDX-License-Identifier: BSD-3-Clause
"""What distinguishes the measurements of a table: the first columns of a table of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from effio.report.common.names import unique
from effio.report.model import Cell, Column
from effio.store.records import Measurement


@dataclass(frozen=True)
class Key:
    column: Column
    of: Callable[[Measurement], Cell]


def _coordinate(name: str) -> Key:
    """A member of `where`; nested ones do not fit into a cell."""

    def of(m: Measurement) -> Cell:
        value = m.where.get(name)
        return value if isinstance(value, (str, int, float)) else None

    size = name.endswith("_bytes")
    title = name.removesuffix("_bytes").replace("_", " ")
    return Key(Column(title, "B" if size else ""), of)


def keys_of(measurements: Sequence[Measurement]) -> list[Key]:
    """Of access, pattern, sizes, the benchmark's other coordinates, ranks and repetition, in this
    order, those that tell measurements apart that were not told apart before."""
    names = unique(name for m in measurements for name in m.where)
    sizes = [n for n in names if n.endswith("_bytes")]
    candidates = [
        Key(Column("access"), lambda m: m.access),
        Key(Column("pattern"), lambda m: m.pattern),
        *map(_coordinate, [*sizes, *(n for n in names if n not in sizes)]),
        Key(Column("ranks", "1"), lambda m: m.ranks),
        Key(Column("repetition", "1"), lambda m: m.repetition),
    ]
    chosen = candidates[:1]
    groups: list[tuple[Cell, ...]] = [(candidates[0].of(m),) for m in measurements]
    for key in candidates[1:]:
        finer = [(*g, key.of(m)) for g, m in zip(groups, measurements, strict=True)]
        if len(set(finer)) > len(set(groups)):
            chosen.append(key)
            groups = finer
    return chosen
