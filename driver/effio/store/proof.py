# SPDX-License-Identifier: BSD-3-Clause
"""What proves that a run, and the data files that its manifest names, are ours to remove.

A manifest is a claim, never an order: any user can write one. It is believed if
- the run's folder and the folder of runs belong to this user, and no other user can write to them;
- the folder is the very one in which the run was made (inode and birth time are in run.json, and no
  archive can know them): one that was restored or copied proves nothing;
- the data directory holds the mark of the run (engine/storage/run_marks.hpp), a file of this user
  with the same manifest. Only files that were made after the mark are the run's.
Of files that were kept on purpose the mark is gone; the folder and the time of the run
prove it.
"""

from __future__ import annotations

import contextlib
import ctypes
import grp
import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from effio.store import safe_files
from effio.store.records import Manifest
from effio.store.run_record import RunRecord

MARK = ".effio-run-"
_MARK_LETTERS = 16
_AT_EMPTY_PATH = 0x1000
_AT_SYMLINK_NOFOLLOW = 0x100
_STATX_BTIME = 0x800
# struct statx: where the mask and the birth time are, and its length.
_BIRTH_OFFSET = 0x50
_STATX_BYTES = 256
_SECOND = 1_000_000_000


def birth_ns(descriptor: int, name: str = "") -> int | None:
    """When a file, or one in a directory, was made; None where the file system does not know."""
    statx = getattr(ctypes.CDLL(None, use_errno=True), "statx", None)
    if statx is None:
        return None
    buffer = ctypes.create_string_buffer(_STATX_BYTES)
    flags = _AT_SYMLINK_NOFOLLOW | (0 if name else _AT_EMPTY_PATH)
    if statx(descriptor, os.fsencode(name), flags, _STATX_BTIME, buffer) != 0:
        return None
    raw = buffer.raw
    if not int.from_bytes(raw[:4], "little") & _STATX_BTIME:
        return None
    seconds = int.from_bytes(raw[_BIRTH_OFFSET : _BIRTH_OFFSET + 8], "little", signed=True)
    rest = int.from_bytes(raw[_BIRTH_OFFSET + 8 : _BIRTH_OFFSET + 12], "little")
    return seconds * _SECOND + rest


def folder_identity(folder: Path) -> dict[str, int]:
    """The identity for run.json. Devices are not in it: a network file system has another on each
    node."""
    with safe_files.directory(folder) as handle:
        return {"inode": os.fstat(handle).st_ino, "birth_ns": birth_ns(handle) or 0}


def _own_group(gid: int) -> bool:
    """The group that many systems give each user, with no other user in it."""
    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return (
        group.gr_name == user.pw_name and gid == user.pw_gid and set(group.gr_mem) <= {user.pw_name}
    )


def _foreign(info: os.stat_result) -> str:
    if info.st_uid != os.geteuid():
        return "belongs to another user"
    return "can be written by others" if _written_by_others(info) else ""


def _written_by_others(info: os.stat_result) -> bool:
    by_group = info.st_mode & stat.S_IWGRP and not _own_group(info.st_gid)
    return bool(info.st_mode & stat.S_IWOTH or by_group)


def not_ours(path: Path) -> str:
    """Why something cannot be trusted, or nothing."""
    try:
        info = path.lstat()
    except OSError as error:
        return error.strerror or str(error)
    return "is a link" if stat.S_ISLNK(info.st_mode) else _foreign(info)


def not_trusted(path: Path) -> str:
    """Why a file may hold what another user wants this one to do, or nothing: it, or a link to it,
    is neither of this user nor of root, or others can write it."""
    try:
        known = [info for info in (path.lstat(), path.stat()) if not stat.S_ISLNK(info.st_mode)]
        owners = {path.lstat().st_uid, path.stat().st_uid}
    except OSError:
        return ""  # whoever reads it says so
    if not owners <= {0, os.geteuid()}:
        return "belongs to another user"
    return "can be written by others" if any(map(_written_by_others, known)) else ""


def folder_fault(folder: Path, record: RunRecord | None) -> str:
    """Why what a run's folder says is not believed, or nothing."""
    whole = safe_files.real(folder)
    for place, what in ((whole.parent, "the folder of runs"), (whole, "the run's folder")):
        if fault := not_ours(place):
            return f"{what} {fault}"
    if record is None:
        return "it has no run.json that can be read"
    if not record.folder:
        return "an older effio made it, which did not record where"
    try:
        here = folder_identity(whole)
    except OSError as error:
        return error.strerror or str(error)
    if record.folder != here:
        return "it was restored or copied: this is not the folder in which the run was made"
    return ""


@dataclass(frozen=True)
class Window:
    """When the run made files; in nanoseconds by the clock of the file system."""

    first: int
    last: int | None = None
    # By another clock than that of the file system.
    skew: int = 0

    def fault(self, born: int) -> str:
        if born < self.first - self.skew:
            return "older than the run: not made by it"
        if self.last is not None and born > self.last + self.skew:
            return "made after the run: not made by it"
        return ""


def mark_name(manifest: Manifest) -> str:
    return MARK + manifest.token[:_MARK_LETTERS]


def window_by_mark(base: int, manifest: Manifest) -> Window | str:
    """The window, from the mark in a data directory, or why there is none that counts."""
    if not manifest.token:
        return "nothing proves that the run made it (an older effio-mpi)"
    name = mark_name(manifest)
    path = Path(f"/proc/self/fd/{base}") / name
    try:
        with safe_files.reading(path) as stream:
            info = os.fstat(stream.fileno())
            born = birth_ns(stream.fileno())
            text = stream.read(safe_files.MAX_BYTES)
    except FileNotFoundError:
        return f"nothing proves that the run made it: there is no {name} in its directory"
    except OSError as error:
        return f"{name} proves nothing: {error.strerror}"
    if fault := _foreign(info):
        return f"{name} proves nothing: it {fault}"
    if info.st_nlink != 1:
        return f"{name} proves nothing: it has a second name (a hard link)"
    try:
        same = Manifest.model_validate(safe_files.json_of(text.decode())) == manifest
    except (ValueError, RecursionError, ValidationError):
        same = False
    if not same:
        return f"{name} proves nothing: its manifest is not that of the result"
    return Window(born) if born is not None else Window(info.st_mtime_ns, skew=_SECOND)


def place_fault(base: int, directory: Path, manifest: Manifest) -> str:
    """Why a data directory is not the one in which the run worked; empty if it is."""
    inodes = {place.directory: place.inode for place in manifest.places}
    known = inodes.get(str(directory))
    if known is not None and known != os.fstat(base).st_ino:
        return "the directory is not the one in which the run worked (another inode)"
    return ""


def born_ns(parent: int, name: str, info: os.stat_result) -> int:
    born = birth_ns(parent, name)
    return info.st_mtime_ns if born is None else born


def last_sign_of_life(folder: Path) -> int:
    """When a run last wrote to its folder, in nanoseconds."""
    times = [0]
    for name in ("result.jsonl", "stdout.log", "stderr.log", "job.log"):
        with contextlib.suppress(OSError):
            times.append((folder / name).lstat().st_mtime_ns)
    return max(times)
