# SPDX-License-Identifier: BSD-3-Clause
"""Directories `.effio-doctor-…` that were left when effio was killed while it found out what a file
system can do (store/abilities.py). They have no manifest and no mark.

Such a directory is removed if it is a directory of this user in which no other user can create
files (mode 0700, on the device of its parent) and at least two minutes old: another effio may be at
work in a younger one. Only the files of such a trial are removed from it; anything else in it
stays, with the directory.
"""

from __future__ import annotations

import os
import re
import stat
import time
from pathlib import Path

from effio.store import proof, removal
from effio.store.abilities import PREFIX
from effio.store.clean import OWNER_FILE, Kept, Leftover
from effio.store.records import NameSet

_NAME = re.compile(re.escape(PREFIX) + "[a-z0-9_]{8}")  # as tempfile makes them
_FILES = (
    "direct", "flock", "fcntl", "new", "old", "gone", "one", "two", "attributes", "mapped",
    "allocated", "holes", "placed",
)  # fmt: skip
NAMES = (
    *(NameSet(kind="file", name=name, counts=[]) for name in _FILES),
    NameSet(kind="link", name="symbolic", counts=[]),
)
# That takes a second; a lock or a server may hold it up for a minute.
_IN_USE_NS = 120 * 1_000_000_000


def left_in(directory: Path) -> tuple[list[Leftover], list[Kept]]:
    """What killed looks left in a directory, and what is not to be touched. Removes nothing."""
    found: list[Leftover] = []
    kept: list[Kept] = []
    try:
        names = sorted(one.name for one in directory.iterdir() if _NAME.fullmatch(one.name))
    except OSError:
        return found, kept
    for name in names:
        path = directory / name
        try:
            with removal.parent_of(directory, path) as parent:
                _look_at(path, parent, directory, found, kept)
        except FileNotFoundError:
            continue
        except OSError as error:
            kept.append(Kept(path, error.strerror or str(error)))
    return found, kept


def _look_at(path: Path, parent: int, base: Path, found: list[Leftover], kept: list[Kept]) -> None:
    info = os.stat(path.name, dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISDIR(info.st_mode):
        kept.append(Kept(path, "not a directory"))
        return
    if info.st_uid != os.geteuid():
        kept.append(Kept(path, "belongs to another user"))
        return
    if stat.S_IMODE(info.st_mode) != stat.S_IRWXU or info.st_dev != os.fstat(parent).st_dev:
        kept.append(Kept(path, "not a directory that effio made (other mode or device)"))
        return
    if time.time_ns() - max(proof.born_ns(parent, path.name, info), info.st_mtime_ns) < _IN_USE_NS:
        kept.append(Kept(path, "less than two minutes old: effio may be at work in it"))
        return
    with removal.opened(path.name, parent) as tree:
        seen = removal.through(tree, path, NAMES, OWNER_FILE, remove=False)
    if seen.left:
        kept += [Kept(one, "not made by effio doctor") for one in seen.left]
    else:
        found.append(Leftover(path, seen.bytes, base, NAMES))
