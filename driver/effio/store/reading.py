# SPDX-License-Identifier: BSD-3-Clause
"""Reads runs for the index. Many of them are read by several processes: each is a fork of
this one, so that it has the same modules, and ends with it, because its pipe breaks then."""

from __future__ import annotations

import contextlib
import json
import marshal
import os
import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import msgspec

from effio.store.attempts import facts_of
from effio.store.folder import RECORD, RESULT, RunFolder
from effio.store.known import Line, digest_of, stamps_of, sum_of_shape
from effio.store.reader import Result, ResultError
from effio.store.table import TABLES, Row, kind_of_value, rows_of
from effio.text import encodable

Describe = Callable[[RunFolder, Result | ResultError], Line]

# From this number of runs on several processes read them; new ones, which know all columns so far,
# are started after `_AT_ONCE` runs.
_MANY = 200
_AT_ONCE = 1000
_MOST_PROCESSES = 8
# What differs between the names of runs of one step.
_OF_ONE_RUN = re.compile(rb"[0-9a-f]{8,}|\d+")
_Names = tuple[str, ...]
_Kinds = tuple[str, ...]
_KINDS = {bool: "bool", float: "float", str: "text", type(None): ""}


@dataclass(frozen=True)
class Texts:
    """The texts of a run as the index stores them: those of `Kept` with their digest, and table,
    shape and rows of each of its tables."""

    kept: tuple[bytes, ...]
    sum: str
    rows: Sequence[tuple[str, str, bytes]]


class NewColumnError(Exception):
    """A column that has no number yet."""


class RunReader:
    """`column` numbers the columns of tables; it may raise NewColumnError."""

    def __init__(self, root: Path, describe: Describe, column: Callable[[str, str], int]) -> None:
        self.root = root
        self._describe = describe
        self.column = column
        # Most runs of a store have the same columns.
        self._keys: dict[tuple[str, _Names], list[str]] = {}
        self._shapes: dict[tuple[str, Sequence[tuple[_Names, Sequence[_Kinds]]]], str] = {}

    def read(self, name: bytes, stamp: bytes) -> Texts:
        folder = RunFolder(self.root / os.fsdecode(name))
        fault = ""
        sums = folder.sealed()
        sealed = [file for _, file in sums if file not in (RECORD, RESULT)]
        before = stamps_of(os.fsencode(folder.path), sealed)
        known: dict[str, str] = {}
        result: Result | ResultError
        try:
            result = folder.reported(known, sums)
        except ResultError as error:
            result = error
            fault = error.message if folder.has_result else ""
        line = self._describe(folder, result)
        # A run that continues may end without a change of its files, by a kill.
        stamp = b"" if line["state"] == "running" else stamp
        facts = facts_of(folder, line["state"], result, sums, known)
        rows = []
        if isinstance(result, Result):
            for part in TABLES:
                if some := list(rows_of(part, folder.id, result)):
                    rows.append((part, *self._texts(part, some)))
        parts = {part: digest_of(sum_of_shape(shape), text) for part, shape, text in rows}
        state_of_files = json.dumps([sealed, before]) if sealed else ""
        rest = json.dumps(facts), state_of_files
        kept = json.dumps(line), encodable(fault), json.dumps(parts), *rest
        texts = stamp, *(text.encode() for text in kept)
        return Texts(texts, digest_of(name, *texts), rows)

    def _texts(self, part: str, rows: Sequence[Row]) -> tuple[str, bytes]:
        """The shape of rows, and the rows as lines of JSON."""
        kinds: dict[_Names, dict[_Kinds, None]] = {}
        lines = []
        for row in rows:
            names, values = tuple(row), row.values()
            if (keys := self._keys.get((part, names))) is None:
                keys = [f"c{self.column(part, name)}" for name in names]
                self._keys[part, names] = keys
            # Rows have few combinations of kinds.
            own = tuple(
                [_KINDS[type(v)] if type(v) in _KINDS else kind_of_value(v) for v in values]
            )
            kinds.setdefault(names, {})[own] = None
            lines.append(_json({k: v for k, v in zip(keys, values, strict=True) if v is not None}))
        of_all = part, tuple((names, tuple(some)) for names, some in kinds.items())
        if (shape := self._shapes.get(of_all)) is None:
            shape = self._shapes[of_all] = self._shape(*of_all)
        return shape, b"\n".join(lines) + b"\n"

    def _shape(self, part: str, rows: Sequence[tuple[_Names, Sequence[_Kinds]]]) -> str:
        columns: dict[str, set[str]] = {}
        for names, kinds in rows:
            for name, *some in zip(names, *kinds, strict=True):
                columns.setdefault(name, set()).update(some)
        named = ((self.column(part, name), name, kinds) for name, kinds in columns.items())
        return json.dumps(sorted([n, name, sorted(k - {""})] for n, name, k in named))


def _json(line: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(line)
    except (ValueError, msgspec.MsgspecError):  # a name that is not UTF-8
        return json.dumps(line).encode()


def _one_of_each_kind(wanted: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """One run for each kind of name: together these runs have nearly all columns."""
    first: dict[bytes, tuple[bytes, bytes]] = {}
    for one in wanted:
        first.setdefault(_OF_ONE_RUN.sub(b"", one[0]), one)
    return list(first.values())[:_MANY]


def _processes(count: int) -> int:
    """How many processes read; a fork of one of several threads may find a lock taken forever."""
    if count < _MANY or threading.active_count() > 1:
        return 1
    return min(len(os.sched_getaffinity(0)), _MOST_PROCESSES)


def read_all(
    reader: RunReader, wanted: Sequence[tuple[bytes, bytes]], columns: Mapping[tuple[str, str], int]
) -> Iterator[tuple[bytes, Texts]]:
    """Names of runs and their texts, in any order. `columns` grows while the caller takes them."""
    count = _processes(len(wanted))
    alone = wanted if count < 2 else _one_of_each_kind(wanted)
    for name, stamp in alone:
        yield name, reader.read(name, stamp)
    read = {name for name, _ in alone}
    rest = [one for one in wanted if one[0] not in read]
    for start in range(0, len(rest), _AT_ONCE):
        yield from _read_by(count, reader, rest[start : start + _AT_ONCE], columns)


def _read_by(
    count: int,
    reader: RunReader,
    wanted: Sequence[tuple[bytes, bytes]],
    columns: Mapping[tuple[str, str], int],
) -> Iterator[tuple[bytes, Texts]]:
    """Each of `count` processes reads every `count`-th run. This process reads what they leave."""
    children: list[tuple[int, IO[bytes]]] = []
    try:
        with contextlib.suppress(OSError):  # no more processes: this one reads their runs
            for which in range(count):
                children.append(_started(reader, wanted[which::count], columns, children))
        for number, (name, stamp) in enumerate(wanted):
            which = number % count
            found = _taken(children[which][1]) if which < len(children) else None
            yield name, found if found is not None else reader.read(name, stamp)
    finally:
        for child, stream in children:
            stream.close()
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


def _started(
    reader: RunReader,
    wanted: Sequence[tuple[bytes, bytes]],
    columns: Mapping[tuple[str, str], int],
    others: Sequence[tuple[int, IO[bytes]]],
) -> tuple[int, IO[bytes]]:
    """A process that reads these runs, and the stream to which it writes them."""
    source, sink = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about threads of libraries
        child = os.fork()
    if child:
        os.close(sink)
        return child, os.fdopen(source, "rb")
    try:
        # A stream that another process still reads would not end with the reader.
        for handle in (source, *(stream.fileno() for _, stream in others)):
            os.close(handle)
        reader.column = _known(columns)
        with os.fdopen(sink, "wb") as stream:
            for name, stamp in wanted:
                marshal.dump(_read_or_none(reader, name, stamp), stream)
    finally:
        os._exit(0)


def _known(columns: Mapping[tuple[str, str], int]) -> Callable[[str, str], int]:
    def column(part: str, name: str) -> int:
        number = columns.get((part, name))
        if number is None:
            raise NewColumnError
        return number

    return column


def _read_or_none(reader: RunReader, name: bytes, stamp: bytes) -> tuple[Any, ...] | None:
    try:
        found = reader.read(name, stamp)
    except NewColumnError:
        return None
    return found.kept, found.sum, found.rows


def _taken(stream: IO[bytes]) -> Texts | None:
    try:
        found = marshal.load(stream)  # written by a process that this one started
    except (EOFError, ValueError, TypeError):
        return None
    return Texts(*found) if found is not None else None
