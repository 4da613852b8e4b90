# SPDX-License-Identifier: BSD-3-Clause
"""Result files that somebody, or something, has tampered with: by line as JSON, or as bytes."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

Line = dict[str, Any]

STRANGE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 3, 255, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63), 2**64, 10**400,
    1e-320, 1e-9, 0.5, 1e15, 1e30, 1e308, -1e308, -0.0, "", "x" * 3000, "\x00", "\x1b[2J", "\ud7ff",
    "</script>", "NaN", "1", "write", [], [[]], [0] * 500, [1e308, -1e308], {}, {"": ""},
    {"a": {"b": [1, None]}}, [1, "a", None], [[1, 2], [3]],
)  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something could be changed: every member of every object and list."""
    items: Sequence[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for key, member in items:
        yield (*path, key)
        yield from _places(member, (*path, key))


def _inside(line: Line, way: Sequence[Any]) -> Any:
    value: Any = line
    for key in way:
        value = value[key]
    return value


def change_line(line: Line, chance: random.Random) -> None:
    """One member is left out, becomes something strange, what another member is, or another number.
    Kind and version stay: they decide whether the file is read at all."""
    places = [p for p in _places(line) if p[0] not in ("schema", "kind", "seq")]
    # Objects of a benchmark's own are not checked when they are read: they get most of it.
    own = [p for p in places if p[0] in ("where", "detail", "options", "system") and len(p) > 1]
    if own and chance.random() < 0.7:
        places = own
    if not places:
        return
    *way, last = chance.choice(places)
    inside = _inside(line, way)
    old = inside[last]
    match chance.randrange(6):
        case 0 if isinstance(inside, dict):
            del inside[last]
        case 1:
            inside[last] = copy.deepcopy(_inside(line, chance.choice(places)))
        case 2 if isinstance(old, (int, float)) and not isinstance(old, bool):
            inside[last] = old * chance.choice((-1, 2, 1000, 10**6, 10**12, 10**18))
        case 3 if isinstance(old, list) and old:
            inside[last] = old * chance.choice((2, 50, 1000))
        case _:
            inside[last] = copy.deepcopy(chance.choice(STRANGE))


def change_file(lines: Sequence[Line], chance: random.Random) -> list[Line]:
    """Lines are changed, doubled, left out, or change places."""
    all_lines = list(lines)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(all_lines))
        match chance.randrange(40):
            case 0:
                all_lines.insert(at, copy.deepcopy(all_lines[at]))
            case 1 if len(all_lines) > 2:
                del all_lines[at]
            case 2:
                tail = all_lines[1:]
                chance.shuffle(tail)
                all_lines[1:] = tail
            case _:
                # The `run` line, figures and the end are few: they get their share.
                few = [line for line in all_lines if line.get("kind") != "measurement"]
                some = few if few and chance.random() < 0.4 else all_lines
                line = chance.choice(some)
                where = next(i for i, other in enumerate(all_lines) if other is line)
                # Only this one: files have thousands of lines.
                all_lines[where] = copy.deepcopy(line)
                change_line(all_lines[where], chance)
    return all_lines


def change_bytes(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(changed))
        match chance.randrange(3):
            case 0:
                changed[at] = chance.randrange(256)
            case 1:
                del changed[at : at + chance.randint(1, 400)]
            case _:
                changed[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 9)))
        if not changed:
            break
    return bytes(changed)


def text_of(lines: Sequence[Line]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _other(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        return {key: _other(member, chance) for key, member in value.items()}
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value + chance.randrange(1, 10**6)
    return value


def distinct(lines: Sequence[Line], count: int, chance: random.Random) -> list[Line]:
    """A file of `count` lines like those of `lines`, each for a different cell."""
    found = [lines[0]]
    kinds = [line for line in lines if line["kind"] in ("measurement", "figure")]
    for _ in range(count):
        line = copy.deepcopy(chance.choice(kinds))
        for name in ("where", "detail", "ranks", "repetition"):
            if name in line:
                line[name] = _other(line[name], chance)
        found.append(line)
    return found


def mutant(lines: Sequence[Line], chance: random.Random) -> bytes:
    """One file in ten is damaged as bytes, the others as JSON."""
    if chance.random() < 0.1:
        return change_bytes(text_of(lines), chance)
    return text_of(change_file(lines, chance))
