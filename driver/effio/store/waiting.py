# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for a SQLite file that another process has locked, with a message and not forever."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

# Where SQLite places its locks (sqlite3.c, PENDING_BYTE), and how many bytes they are.
_FIRST_BYTE = 0x40000000
_BYTES = 512
# A line of /proc/locks: "1: POSIX  ADVISORY  WRITE 1234 fe:00:5678 1073741825 1073741825".
_HELD = re.compile(r"\d+: POSIX +\w+ +\w+ (\d+) [0-9a-f]+:[0-9a-f]+:(\d+) (\d+) \d+")
_MOMENT = 5000  # milliseconds
_TURN = 0.2  # seconds of one attempt: SQLite does not notice Ctrl-C while it waits

Waiting = Callable[[str], None]


def holder_of(place: Path) -> int | None:
    """The process of this machine that has a lock of SQLite on the file, if that is known."""
    with contextlib.suppress(OSError, ValueError):
        inode = os.lstat(place).st_ino
        for line in Path("/proc/locks").read_text(errors="replace").splitlines():
            found = _HELD.match(line)
            if found is None or int(found[2]) != inode:
                continue
            if 0 <= int(found[3]) - _FIRST_BYTE < _BYTES and int(found[1]) != os.getpid():
                return int(found[1]) or None
    return None


class Patience:
    """Waits `seconds` for the lock of the file in all, and calls `waiting` once, after `quiet`
    seconds, with what there is to say."""

    def __init__(self, place: Path, seconds: float, quiet: float, waiting: Waiting) -> None:
        self._place = place
        self._left = seconds
        self._quiet = quiet
        self._waiting: Waiting | None = waiting

    def execute(self, database: sqlite3.Connection, statement: str) -> None:
        """Raises sqlite3.OperationalError ("database is locked") if another process has it for too
        long."""
        database.execute(f"PRAGMA busy_timeout = {round(1000 * max(0, min(_TURN, self._left)))}")
        while True:
            start = time.monotonic()
            try:
                database.execute(statement)
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                took = time.monotonic() - start
                self._left -= took
                self._quiet -= took
                if self._left <= 0:
                    raise
                self._say()

    @contextlib.contextmanager
    def locked(self, database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
        """A transaction, during which no other process reads or writes. Raises as `execute`."""
        self.execute(database, "BEGIN IMMEDIATE")
        # An effio that takes no such lock may read for a moment while this one writes.
        database.execute(f"PRAGMA busy_timeout = {_MOMENT}")
        with database:
            yield database

    def _say(self) -> None:
        if self._quiet > 0 or self._waiting is None:
            return
        holder = holder_of(self._place)
        who = f"process {holder}" if holder else "another process"
        self._waiting(
            f"waiting for {who}, which has locked the index of these runs ({self._place}); after"
            f" {max(1, round(self._left))} s the runs are read without it"
        )
        self._waiting = None
