# SPDX-License-Identifier: BSD-3-Clause
"""What distinguishes the measurements of a table: the first columns of a table of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from effio.report.common.names import unique
from effio.report.model import Cell, Column
from effio.store.option_values import place_unit
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

    title = name.removesuffix("_bytes").removesuffix("_seconds").replace("_", " ")
    return Key(Column(title, place_unit(name)), of)


def keys_of(measurements: Sequence[Measurement]) -> list[Key]:
    """The keys: access, pattern, sizes, the benchmark's other coordinates, ranks and repetition, in
    this order, each that distinguishes measurements which those before it do not."""
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
    # Most of many measurements repeat others: those that differ in nothing else count once.
    numbers: dict[object, int] = {}
    alike = [numbers.setdefault(_all_but_repetition(m), len(numbers)) for m in measurements]
    different = list(dict(zip(alike, measurements, strict=True)).values())
    groups, count = _refined([0] * len(different), candidates[0], different)
    for key in candidates[1:-1]:
        finer, more = _refined(groups, key, different)
        if more > count:
            chosen.append(key)
            groups, count = finer, more
    every = [groups[n] for n in alike]
    if _refined(every, candidates[-1], measurements)[1] > count:
        chosen.append(candidates[-1])
    return chosen


def _all_but_repetition(m: Measurement) -> object:
    where = tuple(m.where.items())
    try:
        hash(where)
    except TypeError:
        return m.access, m.pattern, m.ranks, repr(where)
    return m.access, m.pattern, m.ranks, where


def _refined(
    groups: Sequence[int], key: Key, measurements: Sequence[Measurement]
) -> tuple[list[int], int]:
    """The group of each measurement, with one more key, and how many groups there are."""
    numbers: dict[tuple[int, Cell], int] = {}
    of = key.of
    finer = [
        numbers.setdefault((group, of(m)), len(numbers))
        for group, m in zip(groups, measurements, strict=True)
    ]
    return finer, len(numbers)
