# SPDX-License-Identifier: BSD-3-Clause
"""What is known of all runs, so that ten thousand need not be read anew for every question.

An index per folder of runs, a SQLite file in the user's cache directory. The folders of the runs
are the truth: each entry holds when and how large the files were that it was made from, one that no
longer agrees is made again, and an index that is damaged, of another effio or gone is made anew.
Where none can be kept, all is read as if there were none.

An index that another user could have written is not used, and what it holds is only believed if its
digest agrees: rows that were changed, lost or added by anything but `Index` are made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import effio
from effio.home import expanded, of_user
from effio.store.all_runs import Store, refuse_unreadable
from effio.store.folder import RunFolder
from effio.store.known import (
    Kept,
    Line,
    are_as_sealed,
    digest_of,
    read_json,
    stamp_of,
    sum_of_shape,
    without_collections,
)
from effio.store.waiting import Patience, Waiting
from effio.text import encodable

if TYPE_CHECKING:
    from effio.store.attempts import KnownAttempt
    from effio.store.reading import Describe, Texts

_LAYOUT = 5
# How long an index that another process has locked is waited for, and how long without a word.
WAIT_SECONDS = 30.0
QUIET_SECONDS = 1.0
# Words in errors of SQLite that do not mean that the file is damaged.
_PASSING = ("locked", "full", "readonly", "disk I/O")
_CREATE = """
CREATE TABLE about (text TEXT);
CREATE TABLE runs (name BLOB PRIMARY KEY, stamp BLOB, line BLOB, fault BLOB, parts BLOB, facts BLOB,
                   sealed BLOB, sum TEXT);
CREATE TABLE columns (id INTEGER PRIMARY KEY, part TEXT, name TEXT, UNIQUE (part, name));
CREATE TABLE shapes (sum TEXT PRIMARY KEY, text TEXT);
CREATE TABLE rows (run BLOB, part TEXT, shape TEXT, text BLOB, PRIMARY KEY (part, run));
"""

Reading = Callable[[int], None]


@dataclass(frozen=True)
class Column:
    """`kinds` of its values: "bool", "int", "float", "text"; none where all are empty."""

    id: int
    name: str
    kinds: frozenset[str]


class Entry(NamedTuple):
    """A run in one line, and why its result cannot be used. `sum` changes whenever the run does."""

    root: Path
    id: str
    line: Line
    fault: str = ""
    facts: bytes = b"{}"
    sum: str = ""
    sealed: bytes = b""

    @property
    def folder(self) -> RunFolder:
        return RunFolder(self.root / self.id)

    def attempt(self) -> KnownAttempt:
        from effio.store.attempts import Facts, KnownAttempt  # not for every question

        return KnownAttempt(self.root, self.id, self.line["state"], read_json(self.facts, Facts))

    @property
    def is_as_sealed(self) -> bool:
        """Whether the files that only matter to `attempt` are still as the index knows them."""
        return are_as_sealed(self.sealed, os.fsencode(f"{self.root}/{self.id}"))


@dataclass(frozen=True)
class _Table:
    """All rows of a table, and its columns by number."""

    columns: Sequence[Column]
    texts: Sequence[bytes]


class _DamagedError(Exception):
    """Rows do not agree with each other or with their digest."""


def _passes(error: Exception) -> bool:
    """Whether the file may be in order."""
    return isinstance(error, sqlite3.Error) and any(words in str(error) for words in _PASSING)


def place_of(root: Path) -> Path:
    """The path in EFFIO_CACHE or the XDG cache directory."""
    named = os.environ.get("EFFIO_CACHE")
    base = expanded(named) if named else of_user("XDG_CACHE_HOME", ".cache") / "effio"
    name = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]
    return base / f"runs-{name}.sqlite"


def _is_ours(place: Path) -> bool:
    """Whether no other user can have written the file, which is made if there is none."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.suppress(FileExistsError):
        os.close(os.open(place, flags, 0o600))
    # An existing file is not opened: closing it would drop the locks that SQLite holds on it for
    # another thread.
    info = os.lstat(place)
    others = stat.S_IWGRP | stat.S_IWOTH
    for suffix in ("-journal", "-wal"):  # SQLite would carry out what they say
        with contextlib.suppress(FileNotFoundError):
            if os.lstat(f"{place}{suffix}").st_uid != os.geteuid():
                return False
    is_own = stat.S_ISREG(info.st_mode) and info.st_uid == os.geteuid() and info.st_nlink == 1
    return is_own and not info.st_mode & others


def _text_of(data: bytes) -> str:
    """Decodes also what is not UTF-8; its digest will not agree."""
    return data.decode("utf-8", "surrogateescape")


def _sources() -> str:
    """What entries depend on in addition to the files of the runs: this very effio."""
    package = Path(effio.__file__).parent
    files = [p for part in ("store", "report") for p in (package / part).rglob("*.py")]
    newest = max((file.stat().st_mtime_ns for file in files), default=0)
    return f"{_LAYOUT} {effio.__version__} {len(files)} {newest}"


def _kept_of(texts: Sequence[bytes], sum_of_texts: str) -> Kept:
    stamp, line, fault, parts, facts, sealed = texts
    return Kept(stamp, line, fault.decode(), parts, facts, sealed, sum_of_texts)


class Index:
    """`describe` says a run in one line, by its folder and its result, if it has one. `waiting`
    gets a message when another process has locked the index."""

    def __init__(
        self,
        store: Store,
        describe: Describe,
        reading: Reading = lambda _: None,
        waiting: Waiting = lambda _: None,
    ) -> None:
        self.store = store
        self._describe = describe
        self._reading = reading
        self._columns: dict[tuple[str, str], int] = {}
        self._shapes: dict[str, str] = {}
        self._order: list[bytes] = []
        self._known: dict[bytes, Kept] = {}
        self._tables: dict[str, _Table] = {}
        self.is_kept = False  # for the next time
        self._with_sealed = False
        self._wanted: frozenset[bytes] | None = None
        place = place_of(store.root)
        self._patience = Patience(place, WAIT_SECONDS, QUIET_SECONDS, waiting)
        self._database = self._opened(place)

    def entries(
        self, with_sealed: bool = False, names: Collection[str] | None = None
    ) -> list[Entry]:
        """All runs, the newest last, as their files are now; `with_sealed`: also those files that
        only matter to `attempt`. With `names` only these runs are looked at."""
        self._with_sealed = with_sealed
        self._wanted = None if names is None else frozenset(map(os.fsencode, names))
        self._refresh()
        root = self.store.root
        known = ((os.fsdecode(name), self._known[name]) for name in self._order)
        return [
            Entry(root, name, read_json(kept.line), kept.fault, kept.facts, kept.sum, kept.sealed)
            for name, kept in known
        ]

    def faults(self) -> list[str]:
        """The faults of the runs, as in `entries`; entries are not made for it."""
        self._refresh()
        return [fault for name in self._order if (fault := self._known[name].fault)]

    def columns(self, table: str) -> Sequence[Column]:
        """The columns of all rows of a table, in the order of their first appearance. After
        `entries`."""
        return self._table(table).columns

    def rows(self, table: str) -> Iterator[bytes]:
        """The rows of every run as lines of JSON, with columns by their number ("c17"); what is
        empty is left out."""
        return iter(self._table(table).texts)

    def close(self) -> None:
        self._database.close()

    def _opened(self, place: Path) -> sqlite3.Connection:
        for attempt in range(2):
            try:
                place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                if not _is_ours(place):
                    break
                database = self._prepared(sqlite3.connect(place))
                self.is_kept = True
                return database
            except (sqlite3.Error, OSError) as error:
                if isinstance(error, sqlite3.Error) and "locked" in str(error):
                    break  # another effio is at work on it
                if attempt == 0:
                    with contextlib.suppress(OSError):
                        place.unlink()
        return self._prepared(sqlite3.connect(":memory:"))

    def _prepared(self, database: sqlite3.Connection, anew: bool = False) -> sqlite3.Connection:
        # Half an index is none: what a crash of the system takes is read again.
        self._patience.execute(database, "PRAGMA synchronous = OFF")
        # Of a new file: a row is larger than a page.
        self._patience.execute(database, "PRAGMA page_size = 16384")
        database.text_factory = _text_of
        about = encodable(f"{_sources()} {os.path.realpath(self.store.root)}")
        with self._patience.locked(database):
            with contextlib.suppress(sqlite3.OperationalError):
                found = database.execute("SELECT text FROM about").fetchone()
                if found == (about,) and not anew:
                    return database
            made = database.execute("SELECT type, name FROM sqlite_master").fetchall()
            for kind, name in made:
                if kind in ("table", "view"):  # takes its indices and triggers along
                    quoted = str(name).replace('"', '""')
                    database.execute(f'DROP {kind} "{quoted}"')
            for statement in _CREATE.split(";"):
                database.execute(statement)
            database.execute("INSERT INTO about VALUES (?)", (about,))
        return database

    def _refresh(self) -> None:
        try:
            with without_collections():
                self._brought_up_to_date()
        except sqlite3.Error as error:
            self._mended(error)

    def _in_memory(self) -> None:
        self.is_kept = False
        self._database.close()
        self._database = self._prepared(sqlite3.connect(":memory:"))
        self._brought_up_to_date()

    def _table(self, part: str) -> _Table:
        """The rows and columns of a table; both are of one reading, because making the index anew
        renumbers the columns."""
        if part not in self._tables:
            try:
                self._tables[part] = self._believed(part)
            except (_DamagedError, sqlite3.Error) as error:
                self._mended(error)
                self._tables[part] = self._believed(part)
        return self._tables[part]

    def _mended(self, error: Exception) -> None:
        if _passes(error):
            self._in_memory()  # another effio may use what is there
        else:
            self._made_anew()

    def _made_anew(self) -> None:
        try:
            self._database = self._prepared(self._database, anew=True)
            self._brought_up_to_date()
        except sqlite3.Error as error:
            # So damaged that not even its tables can be removed.
            if self.is_kept and not _passes(error):
                with contextlib.suppress(OSError):
                    place_of(self.store.root).unlink()
            self._in_memory()

    def _believed(self, part: str) -> _Table:
        """The table, if its rows agree with the digests of the runs; else _DamagedError."""
        with self._patience.locked(self._database) as database:
            found = {
                run: (shape, text)
                for run, shape, text in database.execute(
                    "SELECT run, shape, text FROM rows WHERE part = ?", (part,)
                )
            }
        texts = []
        shapes = set()
        for run in self._order:
            expected = read_json(self._known[run].parts).get(part)
            if expected is None:
                continue
            shape, text = found.get(run, ("", b""))
            if digest_of(shape, text) != expected:
                raise _DamagedError
            texts.append(text)
            shapes.add(shape)
        return _Table(self._columns_of(shapes), texts)

    def _columns_of(self, shapes: Iterable[str]) -> Sequence[Column]:
        names: dict[int, str] = {}
        kinds: dict[int, set[str]] = {}
        for shape in shapes:
            text = self._shapes.get(shape, "")
            if digest_of(text) != shape:
                raise _DamagedError
            for number, name, some in json.loads(text):
                if names.setdefault(number, name) != name:
                    raise _DamagedError
                kinds.setdefault(number, set()).update(some)
        if len(set(names.values())) < len(names):
            raise _DamagedError
        return [Column(n, names[n], frozenset(kinds[n])) for n in sorted(names)]

    def _kept(self) -> Iterator[tuple[bytes, Kept | None]]:
        """The entries; None for one that was changed since `_keep` wrote it."""
        for name, *texts, sum_of_texts in self._database.execute(
            "SELECT name, stamp, line, fault, parts, facts, sealed, sum FROM runs"
        ):
            is_whole = digest_of(name, *texts) == sum_of_texts
            yield name, _kept_of(texts, sum_of_texts) if is_whole else None

    def _brought_up_to_date(self) -> None:
        there = self._there()
        root = os.fsencode(self.store.root) + b"/"
        self._order = [name for name, _ in there]
        now = dict(there)
        self._tables = {}
        with self._patience.locked(self._database) as database:
            before = dict(self._kept())
            self._known = {name: kept for name in now if (kept := before.get(name)) is not None}
            stale = [
                name
                for name, stamp in there
                if (kept := self._known.get(name)) is None
                or kept.stamp != stamp
                or (
                    (self._with_sealed or kept.has_turns)
                    and not are_as_sealed(kept.sealed, root + name)
                )
            ]
            if stale:
                self._reading(len(stale))
            gone = [name for name in before if self._wanted is None and name not in now]
            self._forget([*gone, *stale])
            self._columns = {
                (part, name): number
                for number, part, name in database.execute("SELECT id, part, name FROM columns")
                if isinstance(part, str) and isinstance(name, str)
            }
            self._shapes = dict(database.execute("SELECT sum, text FROM shapes"))
            if not stale:
                return
            from effio.store.reading import RunReader, read_all  # not where all runs are known

            reader = RunReader(self.store.root, self._describe, self._column)
            wanted = [(name, now[name]) for name in stale]
            for name, texts in read_all(reader, wanted, self._columns):
                self._keep(name, texts)

    def _there(self) -> list[tuple[bytes, bytes]]:
        """Name and stamp of every run, the newest last, as Store.folders has them. Names are bytes:
        SQLite takes no text that is not UTF-8."""
        root = os.fsencode(self.store.root)
        found: list[tuple[bytes, int, bytes, bytes]] = []
        try:
            names = os.listdir(root)  # noqa: PTH208
        except OSError as error:
            refuse_unreadable(self.store.root, error)
            return []
        for name in names if self._wanted is None else self._wanted.intersection(names):
            stamp = stamp_of(root + b"/" + name)
            if stamp is not None:
                found.append((name.partition(b"-")[0], stamp[1], name, stamp[0]))
        return [(name, stamp) for _, _, name, stamp in sorted(found)]

    def _forget(self, names: Sequence[Any]) -> None:
        for table, column in (("runs", "name"), ("rows", "run")):
            self._database.executemany(
                f"DELETE FROM {table} WHERE {column} = ?", [(name,) for name in names]
            )

    def _keep(self, name: bytes, texts: Texts) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (name, *texts.kept, texts.sum),
        )
        for part, shape, text in texts.rows:
            known = sum_of_shape(shape)
            if self._shapes.get(known) != shape:
                self._database.execute(
                    "INSERT OR REPLACE INTO shapes VALUES (?, ?)", (known, shape)
                )
                self._shapes[known] = shape
            self._database.execute(
                "INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)", (name, part, known, text)
            )
        self._known[name] = _kept_of(texts.kept, texts.sum)

    def _column(self, part: str, name: str) -> int:
        number = self._columns.get((part, name))
        if number is None:
            made = self._database.execute(
                "INSERT INTO columns (part, name) VALUES (?, ?)", (part, name)
            )
            number = self._columns[part, name] = int(made.lastrowid or 0)
        return number
