# SPDX-License-Identifier: BSD-3-Clause
"""What is known of all runs, so that ten thousand need not be read anew for every question.

An index per folder of runs, a SQLite file in the user's cache directory. The folders of the runs
are the truth: each entry holds when and how large the files were that it was made from, one that no
longer agrees is made again, and an index that is damaged, of another effio or gone is made anew.
Where none can be kept, all is read as if there were none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import effio
from effio.store.folder import NOTES, RECORD, RESULT, SUMS, RunFolder, Store
from effio.store.reader import Result, ResultError
from effio.store.table import TABLES, Row, kind_of_value, rows_of
from effio.text import encodable

_LAYOUT = 1
WAIT_SECONDS = 30.0
_STAMPED = tuple(f"/{name}".encode() for name in (RECORD, RESULT, SUMS, NOTES))
_CREATE = """
CREATE TABLE about (text TEXT);
CREATE TABLE runs (name BLOB PRIMARY KEY, stamp TEXT, line TEXT, fault TEXT);
CREATE TABLE columns (id INTEGER PRIMARY KEY, part TEXT, name TEXT, UNIQUE (part, name));
CREATE TABLE rows (run BLOB, part TEXT, shape TEXT, text TEXT, PRIMARY KEY (part, run));
"""

Line = Mapping[str, str]
Reading = Callable[[int], None]


@dataclass(frozen=True)
class Column:
    """`kinds` of its values: "bool", "int", "float", "text"; none where all are empty."""

    id: int
    name: str
    kinds: frozenset[str]


@dataclass(frozen=True)
class Entry:
    """A run in one line, and why its result cannot be used."""

    folder: RunFolder
    line: Line
    fault: str = ""


def place_of(root: Path) -> Path:
    """The path in EFFIO_CACHE or the XDG cache directory."""
    base = os.environ.get("EFFIO_CACHE")
    if not base:
        base = str(Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "effio")
    name = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]
    return Path(base) / f"runs-{name}.sqlite"


def _sources() -> str:
    """What entries depend on in addition to the files of the runs: this very effio."""
    package = Path(effio.__file__).parent
    files = [p for part in ("store", "report") for p in (package / part).rglob("*.py")]
    newest = max((file.stat().st_mtime_ns for file in files), default=0)
    return f"{_LAYOUT} {effio.__version__} {len(files)} {newest}"


def _stamp(folder: bytes) -> tuple[str, int] | None:
    """The state of a run's files, and when the first of them was written; None for what is not a
    run."""
    stamps: list[tuple[int, ...]] = []
    written = 0
    for name in _STAMPED:
        try:
            info = os.lstat(folder + name)  # forty thousand of them, no objects
        except OSError:
            stamps.append(())
            continue
        stamps.append((info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns))
        if name in _STAMPED[:2] and not written and stat.S_ISREG(info.st_mode):
            written = info.st_mtime_ns
    return (json.dumps(stamps), written) if written else None


class Index:
    """`describe` says a run in one line, by its folder and its result, if it has one."""

    def __init__(
        self,
        store: Store,
        describe: Callable[[RunFolder, Result | ResultError], Line],
        reading: Reading = lambda _: None,
    ) -> None:
        self.store = store
        self._describe = describe
        self._reading = reading
        self._columns: dict[tuple[str, str], int] = {}
        self._order: list[bytes] = []
        self._database = self._opened()

    def entries(self) -> list[Entry]:
        """All runs, the newest last, as their files are now."""
        self._refresh()
        known = {
            name: (line, fault)
            for name, line, fault in self._database.execute("SELECT name, line, fault FROM runs")
        }
        return [
            Entry(self._folder(name), json.loads(known[name][0]), known[name][1])
            for name in self._order
        ]

    def columns(self, table: str) -> list[Column]:
        """The columns of all rows of a table, in the order of their first appearance. After
        `entries`."""
        kinds: dict[int, set[str]] = {}
        for (shape,) in self._database.execute(
            "SELECT DISTINCT shape FROM rows WHERE part = ?", (table,)
        ):
            for number, found in json.loads(shape):
                kinds.setdefault(number, set()).update(found)
        names = dict(
            self._database.execute("SELECT id, name FROM columns WHERE part = ?", (table,))
        )
        return [Column(n, names[n], frozenset(kinds[n])) for n in sorted(kinds)]

    def rows(self, table: str) -> Iterator[str]:
        """The rows of every run as lines of JSON, with columns by their number ("c17"); what is
        empty is left out."""
        texts = dict(self._database.execute("SELECT run, text FROM rows WHERE part = ?", (table,)))
        return (text for name in self._order if (text := texts.get(name)))

    def close(self) -> None:
        self._database.close()

    def _opened(self) -> sqlite3.Connection:
        place = place_of(self.store.root)
        for attempt in range(2):
            try:
                place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                return self._prepared(sqlite3.connect(place, timeout=WAIT_SECONDS))
            except (sqlite3.Error, OSError):
                if attempt == 0:
                    with contextlib.suppress(OSError):
                        place.unlink()
        return self._prepared(sqlite3.connect(":memory:"))

    def _prepared(self, database: sqlite3.Connection) -> sqlite3.Connection:
        # Half an index is none: what a crash of the system takes is read again.
        database.execute("PRAGMA synchronous = OFF")
        about = encodable(f"{_sources()} {os.path.realpath(self.store.root)}")
        with contextlib.suppress(sqlite3.OperationalError):
            if database.execute("SELECT text FROM about").fetchone() == (about,):
                return database
        with database:
            tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            for (name,) in tables.fetchall():
                database.execute(f'DROP TABLE "{name}"')
            for statement in _CREATE.split(";"):
                database.execute(statement)
            database.execute("INSERT INTO about VALUES (?)", (about,))
        return database

    def _refresh(self) -> None:
        try:
            self._brought_up_to_date()
        except sqlite3.Error:
            # Damaged or full in the middle, or locked by another effio for too long.
            self._database.close()
            self._database = self._prepared(sqlite3.connect(":memory:"))
            self._brought_up_to_date()

    def _brought_up_to_date(self) -> None:
        there = self._there()
        self._order = [name for name, _ in there]
        now = dict(there)
        with self._database as database:
            known = dict(database.execute("SELECT name, stamp FROM runs"))
            stale = [name for name in self._order if known.get(name) != now[name]]
            if stale:
                self._reading(len(stale))
            gone = [name for name in known if name not in now]
            self._forget([*gone, *stale])
            self._columns = {
                (part, name): number
                for number, part, name in database.execute("SELECT id, part, name FROM columns")
            }
            for name in stale:
                self._read(name, now[name])

    def _folder(self, name: bytes) -> RunFolder:
        return RunFolder(self.store.root / os.fsdecode(name))

    def _there(self) -> list[tuple[bytes, str]]:
        """Name and stamp of every run, the newest last, as Store.folders has them. Names are bytes:
        SQLite takes no text that is not UTF-8."""
        root = os.fsencode(self.store.root)
        found: list[tuple[bytes, int, bytes, str]] = []
        try:
            names = os.listdir(root)  # noqa: PTH208
        except OSError:
            return []
        for name in names:
            stamp = _stamp(root + b"/" + name)
            if stamp is not None:
                found.append((name.partition(b"-")[0], stamp[1], name, stamp[0]))
        return [(name, stamp) for _, _, name, stamp in sorted(found)]

    def _forget(self, names: Sequence[bytes]) -> None:
        for table, column in (("runs", "name"), ("rows", "run")):
            self._database.executemany(
                f"DELETE FROM {table} WHERE {column} = ?", [(name,) for name in names]
            )

    def _read(self, name: bytes, stamp: str) -> None:
        folder = self._folder(name)
        fault = ""
        result: Result | ResultError
        try:
            result = folder.reported()
        except ResultError as error:
            result = error
            fault = error.message if folder.has_result else ""
        line = self._describe(folder, result)
        # A run that continues may end without a change of its files, by a kill.
        stamp = "" if line["state"] == "running" else stamp
        self._database.execute(
            "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?)",
            (name, stamp, json.dumps(line), encodable(fault)),
        )
        if isinstance(result, Result):
            for part in TABLES:
                self._keep(name, part, list(rows_of(part, folder.id, result)))

    def _keep(self, run: bytes, part: str, rows: Sequence[Row]) -> None:
        if not rows:
            return
        kinds: dict[int, set[str]] = {}
        lines = []
        for row in rows:
            line: dict[str, Any] = {}
            for name, value in row.items():
                number = self._column(part, name)
                found = kinds.setdefault(number, set())
                if value is not None:
                    found.add(kind_of_value(value))
                    line[f"c{number}"] = value
            lines.append(json.dumps(line))
        shape = json.dumps([[number, sorted(kinds[number])] for number in sorted(kinds)])
        self._database.execute(
            "INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)",
            (run, part, shape, "\n".join(lines) + "\n"),
        )

    def _column(self, part: str, name: str) -> int:
        number = self._columns.get((part, name))
        if number is None:
            made = self._database.execute(
                "INSERT INTO columns (part, name) VALUES (?, ?)", (part, name)
            )
            number = self._columns[part, name] = int(made.lastrowid or 0)
        return number
