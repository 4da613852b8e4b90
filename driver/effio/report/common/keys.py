# SPDX-License-Identifier: BSD-3-Clause
"""What distinguishes the measurements of a table: the first columns of a table of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from effio.report.common.names import distinguishing, unique
from effio.report.model import Cell, Column
from effio.store.option_values import place_unit
from effio.store.records import Measurement

# A column and its cell for a measurement, as `table_of` takes them.
Key = tuple[Column, Callable[[Measurement], Cell]]


def _coordinate(name: str) -> Key:
    """A member of `where`; nested ones do not fit into a cell."""

    def of(m: Measurement) -> Cell:
        value = m.where.get(name)
        return value if isinstance(value, (str, int, float)) else None

    title = name.removesuffix("_bytes").removesuffix("_seconds").replace("_", " ")
    return Column(title, place_unit(name)), of


def keys_of(measurements: Sequence[Measurement]) -> list[Key]:
    """The keys: access, pattern, sizes, the benchmark's other coordinates, ranks and repetition, in
    this order, each that distinguishes measurements which those before it do not."""
    places = {id(m.where): m.where for m in measurements}
    names = unique(name for where in places.values() for name in where)
    sizes = [n for n in names if n.endswith("_bytes")]
    candidates: list[Key] = [
        (Column("access"), lambda m: m.access),
        (Column("pattern"), lambda m: m.pattern),
        *map(_coordinate, [*sizes, *(n for n in names if n not in sizes)]),
        (Column("ranks", "1"), lambda m: m.ranks),
        (Column("repetition", "1"), lambda m: m.repetition),
    ]
    # Most of many measurements repeat others: those that differ in nothing else count once.
    alike = cell_of_each(measurements)
    different = list(dict(zip(alike, measurements, strict=True)).values())
    access, *others, repetition = candidates

    def values(key: Key) -> Iterable[Cell]:
        return map(key[1], different)

    chosen, groups = distinguishing(others, values, values(access))
    every = [groups[n] for n in alike]
    last, _ = distinguishing([repetition], lambda key: map(key[1], measurements), every)
    return [access, *chosen, *last]


def cell_of_each(measurements: Sequence[Measurement]) -> list[int]:
    """The number of each measurement's cell: those that differ in nothing but their repetition
    have the same one. Repetitions that were read from one file share their `where`."""
    by_object: dict[tuple[str, str, int, int], int] = {}
    by_value: dict[object, int] = {}
    found = []
    for m in measurements:
        key = (m.access, m.pattern, m.ranks, id(m.where))
        number = by_object.get(key)
        if number is None:
            where = tuple(sorted((name, str(value)) for name, value in m.where.items()))
            value = (m.access, m.pattern, m.ranks, where)
            number = by_object[key] = by_value.setdefault(value, len(by_value))
        found.append(number)
    return found
