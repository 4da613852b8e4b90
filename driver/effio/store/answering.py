# SPDX-License-Identifier: BSD-3-Clause
"""Whether a place answers before effio looks at it itself.

A call on a file system whose server is gone (NFS, FUSE) may never return, and the kernel may keep
the process until it does. So a child process looks first, for a limited time; one that the kernel
keeps is left behind. Places on disks and memory of this machine are not tried: they answer.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from effio import text as fmt
from effio.errors import EffioError, ExitCode

PATIENCE = 10.0  # seconds
_BELIEVED = 30.0  # seconds until a place is tried again
_MOST_LINKS = 40
# Of memory, and of the kernel; disks are known by their source.
_OF_THIS_MACHINE = {
    "tmpfs", "ramfs", "devtmpfs", "overlay", "proc", "sysfs", "devpts", "cgroup", "cgroup2", "zfs",
    "rootfs",
}  # fmt: skip
# statvfs asks the server, whatever the client remembers of a directory.
_LOOK = """
import os, sys
os.stat(sys.argv[1])
os.statvfs(sys.argv[1])
if os.path.isdir(sys.argv[1]):
    next(os.scandir(sys.argv[1]), None)
"""


class Mount(NamedTuple):
    point: str
    kind: str
    source: str
    device: str  # "major:minor"
    root: str  # the folder of the file system that is mounted; "/" is all of it


def mounts() -> Iterator[Mount]:
    """Every mounted file system; a later one hides an earlier one at the same point."""
    # Names contain any bytes; of those that split lines or fields, the kernel masks only ASCII's.
    for line in fmt.lines(os.fsdecode(Path("/proc/self/mountinfo").read_bytes())):
        before, _, after = line.partition(" - ")
        kind, source = after.split(" ")[:2]
        device, root, point = before.split(" ")[2:5]
        yield Mount(_unescaped(point), kind, _unescaped(source), device, _unescaped(root))


def whole_mount(point: str) -> str | None:
    """Where all of the file system is mounted that `point` shows, or shows a folder of (a bind
    mount); None if that is nowhere."""
    there = list(mounts())
    device = [mount.device for mount in there if mount.point == point][-1:]
    whole = [m.point for m in there if [m.device] == device and m.root == "/"]
    return point if point in whole else next(iter(whole), None)


def _unescaped(field: str) -> str:
    """The kernel writes some characters as a backslash and three octal digits."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)


def _is_of_this_machine(kind: str, source: str) -> bool:
    on_disk = source.startswith("/dev/") and not kind.startswith("fuse")
    return on_disk or kind in _OF_THIS_MACHINE


def _stays_here(path: Path) -> bool:
    """Whether every step of the way to `path`, through links as well, is on this machine."""
    try:
        local = {point: _is_of_this_machine(kind, source) for point, kind, source, *_ in mounts()}
        # Not absolute(): the directory of work as the kernel has it, without links.
        whole = Path.cwd() / path
    except (OSError, ValueError, IndexError):
        return False
    parts, here, links = [*reversed(whole.parts)], Path("/"), 0
    while parts:
        part = parts.pop()
        if part == "..":
            here = here.parent
            continue
        here = here / part
        if not local.get(str(here), True):
            return False
        try:
            target = here.readlink()
        except OSError:
            continue  # no link, or nothing: the next step says so as well, at once
        links += 1
        if links > _MOST_LINKS:
            return True  # the kernel refuses it before the last link
        here = here.parent
        parts += reversed(target.parts)
    return True


@functools.lru_cache(maxsize=1000)
def _tried(path: str, seconds: float, _slot: int) -> bool:
    words = [sys.executable, "-I", "-S", "-c", _LOOK, path]
    nowhere = subprocess.DEVNULL
    child = subprocess.Popen(words, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        # A child that the kernel keeps is not waited for.
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(0.2)
        return False
    return True


def answers(path: Path) -> bool:
    """Whether a place answers in time; an error is an answer."""
    if "\0" in str(path) or _stays_here(path):
        return True
    return _tried(str(Path.cwd() / path), PATIENCE, int(time.monotonic() / _BELIEVED))


def forget() -> None:
    """What was tried so far."""
    _tried.cache_clear()


def fault_of(path: Path) -> str:
    """What is wrong with a place that does not answer, or nothing."""
    if answers(path):
        return ""
    return f"{fmt.plain(path)} does not answer (waited {PATIENCE:g} s)"


def must_answer(path: Path) -> Path:
    """The path; raises if nothing there can be looked at."""
    if fault := fault_of(path):
        raise EffioError(
            fault,
            ExitCode.IO_ERROR,
            "its file server or FUSE program does not respond; name another place, or try later",
        )
    return path


def must_have_name(word: str) -> str:
    """Returns the word. Raises if it is empty, because Path("") is the current directory."""
    if not word:
        raise EffioError("a name is empty", hint="write . for this directory; is a variable unset?")
    return word
