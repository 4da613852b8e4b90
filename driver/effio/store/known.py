# SPDX-License-Identifier: BSD-3-Clause
"""What the index keeps of a run, and whether it is still true. Runs that have changed are read by
`store/reading.py`, which most questions need not import."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import marshal
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from effio.store.folder import NOTES, RECORD, RESULT, SUMS, TURNS

Line = Mapping[str, str]

_STAMPED = tuple(f"/{name}".encode() for name in (RECORD, RESULT, SUMS, NOTES))
_OF_A_TURN = f'"{TURNS}/'.encode()


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Records have no cycles. Looking for cycles takes half of the time in which many of them are
    read, and a tenth of that in which a report is made of them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def digest_of(*texts: str | bytes) -> str:
    """Of texts with their types and lengths, which this version of marshal writes the same way in
    every Python."""
    return hashlib.blake2b(marshal.dumps(texts, 2), digest_size=16).hexdigest()


# Most runs of a store have the same shapes.
sum_of_shape = lru_cache(maxsize=10_000)(digest_of)


def read_json(text: str | bytes, kind: Any = Any) -> Any:
    try:
        return msgspec.json.decode(text, type=kind)
    except (ValueError, msgspec.MsgspecError):  # a name that is not UTF-8
        return msgspec.convert(json.loads(text), kind)


def _stamp_of(info: os.stat_result) -> list[int]:
    return [info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns]


def stamps_of(folder: bytes, names: Sequence[str]) -> list[list[int]]:
    """Inode, size and times of each file; an empty list for a file that is not there."""
    found: list[list[int]] = []
    for name in names:
        try:
            found.append(_stamp_of(os.lstat(folder + b"/" + os.fsencode(name))))
        except OSError:
            found.append([])
    return found


def stamp_of(folder: bytes) -> tuple[bytes, int] | None:
    """The state of a run's files, and when the first of them was written; None for what is not a
    run."""
    stamps: list[list[int]] = []
    written = 0
    for name in _STAMPED:
        try:
            info = os.lstat(folder + name)  # forty thousand calls, so without Path objects
        except OSError:
            stamps.append([])
            continue
        stamps.append(_stamp_of(info))
        if name in _STAMPED[:2] and not written and stat.S_ISREG(info.st_mode):
            written = info.st_mtime_ns
    return (msgspec.json.encode(stamps), written) if written else None


class Kept(NamedTuple):
    """What the index has of a run; `parts`: the digest of its rows by table, in JSON. `sealed`:
    the files with a checksum but those of `stamp`, and how they were when it was compared."""

    stamp: bytes
    line: bytes  # a Line
    fault: str
    parts: bytes
    facts: bytes
    sealed: bytes
    sum: str

    @property
    def has_turns(self) -> bool:
        """Whether results of turns are among the sealed files: the numbers depend on them too."""
        return _OF_A_TURN in self.sealed


def are_as_sealed(sealed: bytes, folder: bytes) -> bool:
    """Whether none of these files (`Kept.sealed`) has changed since."""
    if not sealed:
        return True
    names, stamps = read_json(sealed)
    return bool(stamps_of(folder, names) == stamps)
