# SPDX-License-Identifier: BSD-3-Clause
"""What things are called, and which color they have, in every report."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from effio import text as fmt
from effio.store.option_values import place_unit
from effio.store.reader import Result
from effio.store.records import Figure, Measurement

# Accesses that every benchmark has keep their color in all figures; 10 and above are accesses.
ACCESS_STYLES = {"write": 10, "rewrite": 11, "read": 12}
_FURTHER_ACCESSES = 13


def access_style(access: str, others: Sequence[str] = ()) -> int:
    known = ACCESS_STYLES.get(access)
    if known is not None:
        return known
    unknown = [a for a in others if a not in ACCESS_STYLES]
    return _FURTHER_ACCESSES + (unknown.index(access) if access in unknown else 0)


# Accesses that move messages between ranks, not files.
_MESSAGES = frozenset({"exchange", "call times"})


def is_message(m: Measurement) -> bool:
    return m.access in _MESSAGES


def context_of(result: Result, cell: Iterable[Measurement] = ()) -> str:
    """Where a number was measured, in a few words: "on 4 ranks, ext4", or "on 2 of 4 ranks" where
    others of the run did not take part in its measurements."""
    fs, of = result.run.file_system, result.run.system.ranks
    took_part = {m.ranks for m in cell}
    part = f"{min(took_part)} of " if len(took_part) == 1 and took_part != {of} else ""
    words = [f"on {part}{fmt.count_of(of, 'rank')}", fs.type if fs else ""]
    return ", ".join(w for w in words if w)


def lies_at(where: Mapping[str, object], place: Mapping[str, object]) -> bool:
    """A measurement's coordinates are those of a place, which may have further ones."""
    return all(where[name] == value for name, value in place.items() if name in where)


def unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def first_of(texts: Sequence[str], most: int, between: str = ", ", last: str = " and ") -> str:
    """The first `most` of them, and how many more there are: "a, b and 3 more"."""
    more = f"{last}{len(texts) - most} more" if len(texts) > most else ""
    return between.join(texts[:most]) + more


Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Groups in one pass, in the order of their first items: a result may have any number of
    groups."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def distinguishing(
    candidates: Iterable[Item],
    values: Callable[[Item], Iterable[Hashable]],
    known: Iterable[Hashable],
) -> tuple[list[Item], list[int]]:
    """The candidates, in their order, each of whose values distinguishes things that `known` and
    the candidates before it do not; and the group of each thing by all of them."""

    def numbered(keys: Iterable[Hashable]) -> tuple[list[int], int]:
        numbers: dict[Hashable, int] = {}
        return [numbers.setdefault(key, len(numbers)) for key in keys], len(numbers)

    chosen = []
    groups, count = numbered(known)
    for candidate in candidates:
        finer, more = numbered(zip(groups, values(candidate), strict=True))
        if more > count:
            chosen.append(candidate)
            groups, count = finer, more
    return chosen, groups


# Coordinates whose value needs no name in front of it.
_BARE = frozenset({"access", "pattern", "phase", "figure"})


def differing(
    places: Sequence[Mapping[str, Any]], known: Sequence[Hashable] | None = None
) -> list[str]:
    """The fewest coordinates that distinguish these places: without those that are equal in
    all of them, or follow from the others (or from `known`, which is shown anyway)."""
    apart = known if known is not None else [()] * len(places)

    def kinds(keys: Sequence[str]) -> int:
        rows = zip(apart, places, strict=True)
        return len({(one, *(str(place.get(key)) for key in keys)) for one, place in rows})

    keys = list(dict.fromkeys(key for place in places for key in place))
    all_of_them = kinds(keys)
    for key in list(keys):
        rest = [other for other in keys if other != key]
        if kinds(rest) == all_of_them:
            keys = rest
    return keys


def place_text(where: Mapping[str, Any], keys: Sequence[str]) -> str:
    """ "write, block 4 KiB": the values of these coordinates."""
    words = []
    for key in keys:
        value = where.get(key)
        name = key.removesuffix("_bytes").removesuffix("_seconds").replace("_", " ")
        if isinstance(value, bool):
            words.append(name if value else "")
        elif value is not None:
            text = fmt.coordinate(value, place_unit(key))
            words.append(text if key in _BARE else f"{name} {text}")
    return ", ".join(word for word in words if word)


def cell_of(figure: Figure, others: Iterable[Figure]) -> str:
    """By what a figure differs from the others of its name; empty for a single one."""
    places = [f.where for f in others]
    apart = [n for n, v in figure.where.items() if any(where.get(n) != v for where in places)]
    return place_text(figure.where, [n for n in apart if figure.where[n] != ""])


def cell_name(m: Measurement) -> str:
    """A measurement in a few words: pattern, access and its chunk, where it has one."""
    chunk = m.number("chunk_bytes")
    words = [m.pattern, m.access, fmt.exact_size(int(chunk)) if chunk else ""]
    return " ".join(w for w in words if w) or m.benchmark


def operation_bytes(m: Measurement) -> float:
    """Bytes that one call of one rank moves, on average."""
    return m.bytes / m.operations if m.operations else 0.0
