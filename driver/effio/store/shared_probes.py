# SPDX-License-Identifier: BSD-3-Clause
"""Files `.effio-shared-TOKEN` that a killed run left: before a run of several nodes the engine
makes one for some seconds in each data directory, to see whether all nodes see the same
(engine/storage/shared_directory.hpp). It is empty, or holds TOKEN, forwards or backwards. There is
no manifest and no mark yet, so what the driver wrote down before the launch (run.json) names the
directories.

Such a file is removed if the run's folder is believed (store/proof.py), and it is such a plain
file of this user with one name, made after the run was prepared and not just now: another run may
be looking for one.

Directories of a killed trial of the file system (store/looks.py) are found in the same
directories.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path

from effio import text as fmt
from effio.store import answering, looks, proof, removal, safe_files
from effio.store.clean import Kept, Leftover
from effio.store.folder import RunFolder

_NAME = re.compile(r"\.effio-shared-[0-9a-f]{32}")
_SECOND = 1_000_000_000
# Nodes look for it for 5 s in each directory; clocks of file servers differ by a little.
_IN_USE_NS = 60 * _SECOND
_SKEW_NS = 5 * _SECOND


def directories_in(plan: object) -> Iterator[str]:
    """The directories that a plan needs, or those of its groups."""
    if isinstance(plan, Mapping):
        needed = plan.get("needed_directories")
        if isinstance(needed, Sequence) and not isinstance(needed, str):
            # JSON cannot carry every name: one that was mended is not looked for.
            yield from (one for one in needed if isinstance(one, str) and "\ufffd" not in one)
        groups = plan.get("groups")
        for group in groups if isinstance(groups, list) else []:
            yield from directories_in(group.get("plan") if isinstance(group, dict) else None)


def probes_of(folder: RunFolder) -> tuple[list[Leftover], list[Kept]]:
    """The probes of a run that did not end in order, directories of killed checks, and what is not
    to be touched."""
    found: list[Leftover] = []
    kept: list[Kept] = []
    record = folder.record()
    if record is None or not record.data_directories or folder.state() == "done":
        return found, kept
    if proof.folder_fault(folder.path, record):
        return found, kept
    try:
        made = datetime.strptime(record.created, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return found, kept
    first = int(made.timestamp()) * _SECOND - _SKEW_NS
    for place in map(Path, record.data_directories):
        if silence := answering.fault_of(place):
            kept.append(Kept(place, silence.removeprefix(f"{fmt.plain(place)} ")))
            continue
        looked, others = looks.left_in(place)
        found += looked
        kept += others
        try:
            names = sorted(one.name for one in place.iterdir() if _NAME.fullmatch(one.name))
        except OSError:
            continue
        for name in names:
            _look_at(place, name, first, found, kept)
    return found, kept


def _holds_token(path: Path, info: os.stat_result) -> bool:
    """Whether the file is still empty, or holds its token in either direction."""
    token = path.name.rpartition("-")[2].encode()
    if info.st_size not in (0, len(token)):
        return False
    return safe_files.read_bytes(path, len(token)) in (b"", token, token[::-1])


def _look_at(place: Path, name: str, first: int, found: list[Leftover], kept: list[Kept]) -> None:
    path = place / name
    try:
        with removal.parent_of(place, path) as parent:
            info = os.stat(name, dir_fd=parent, follow_symlinks=False)
            born = proof.born_ns(parent, name, info)
        ours = stat.S_ISREG(info.st_mode) and _holds_token(path, info)
    except OSError:
        return
    if not ours:
        kept.append(Kept(path, "not a plain file that is empty or holds its token"))
    elif info.st_uid != os.geteuid():
        kept.append(Kept(path, "belongs to another user"))
    elif info.st_nlink != 1:
        kept.append(Kept(path, "has a second name (a hard link)"))
    elif born < first:
        kept.append(Kept(path, "older than the run: not made by it"))
    elif time.time_ns() - born < _IN_USE_NS:
        kept.append(Kept(path, "less than a minute old: a run may be looking for it now"))
    else:
        found.append(Leftover(path, info.st_size, place, identity=removal.identity(info)))
