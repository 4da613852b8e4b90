# SPDX-License-Identifier: BSD-3-Clause
"""What a file system can do, found by doing it in a directory: a few small files, which
are removed again.

An answer is a fact about this directory from this node, today. Whether several nodes see the same
thing is not asked here: the engine does that before a run (engine/storage/shared_directory.hpp).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import mmap
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from effio import text as fmt
from effio.store.answering import mounts, whole_mount

# Of the directory in which the file system is tried.
PREFIX = ".effio-doctor-"
_BLOCK = 4096
_SECOND_LOCK = (
    "import fcntl, sys; file = open(sys.argv[1], 'r+b'); "
    "fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)"
)


@dataclass(frozen=True)
class Ability:
    """`can`: True, False, or None where it could not be found out."""

    name: str
    can: bool | None
    found: str
    means: str = ""  # for benchmarks, where it cannot


def mount_of(directory: Path) -> tuple[str, str, str]:
    """Type, source and mount point of the file system that a directory is on."""
    there = os.path.realpath(directory)
    best = ("unknown", "", "")
    longest = -1
    for point, kind, source, *_ in mounts():
        below = point == "/" or there == point or there.startswith(point + "/")
        if below and len(point) >= longest:
            longest = len(point)
            best = (kind, source, point)
    kind, source, point = best
    # MooseFS does not say its name in the type.
    return ("fuse.mfs" if kind == "fuse" and source.startswith("mfs#") else kind, source, point)


def _word_of(error: OSError) -> str:
    return f"{error.strerror or error} ({errno.errorcode.get(error.errno or 0, error.errno)})"


def _tried(name: str, means: str, work: Callable[[], str]) -> Ability:
    """`work` returns what was found, raises _NoError where it went without an error but wrong."""
    try:
        return Ability(name, True, work())
    except _NoError as no:
        return Ability(name, False, str(no), means)
    except OSError as error:
        return Ability(name, False, _word_of(error), means)


class _NoError(Exception):
    """The calls succeeded, and their effect is not what POSIX says."""


@contextlib.contextmanager
def _open(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> Iterator[int]:
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _direct(place: Path) -> str:
    with mmap.mmap(-1, _BLOCK) as block, _open(place / "direct", _DIRECT) as file:
        block.write(b"d" * _BLOCK)
        if os.pwrite(file, block, 0) != _BLOCK or os.preadv(file, [block], 0) != _BLOCK:
            raise _NoError("a call moved fewer bytes than asked")
    return f"write and read of {_BLOCK} B"


_DIRECT = os.O_RDWR | os.O_CREAT | getattr(os, "O_DIRECT", 0)


def _flock(place: Path) -> str:
    with _open(place / "flock") as first, _open(place / "flock") as second:
        fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return "a second lock is refused"
    raise _NoError("two descriptors hold an exclusive lock")


def _fcntl(place: Path) -> str:
    """Locks of one process never conflict, so another one asks."""
    with _open(place / "fcntl") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        words = [sys.executable, "-S", "-E", "-c", _SECOND_LOCK, str(place / "fcntl")]
        if subprocess.run(words, capture_output=True, timeout=60, check=False).returncode == 0:
            raise _NoError("two processes hold an exclusive lock")
    return "a second process is refused"


def _rename(place: Path) -> str:
    (place / "new").write_bytes(b"new")
    with _open(place / "old") as file:
        os.pwrite(file, b"old", 0)
        (place / "new").rename(place / "old")
        if os.pread(file, 3, 0) != b"old":
            raise _NoError("the open file has the data of the one that replaced it")
    if (place / "old").read_bytes() != b"new":
        raise _NoError("the name leads to the replaced file")
    return "the open file keeps its data"


def _unlink(place: Path) -> str:
    with _open(place / "gone") as file:
        (place / "gone").unlink()
        os.pwrite(file, b"data", 0)
        if os.pread(file, 4, 0) != b"data":
            raise _NoError("what is written after the removal cannot be read")
        rest = [one.name for one in place.iterdir() if ".fuse_hidden" in one.name]
        rest += [one.name for one in place.iterdir() if ".nfs" in one.name]
    return "the open file stays usable" + (f", as {rest[0]} until it is closed" if rest else "")


def _link(place: Path) -> str:
    (place / "one").touch()
    os.link(place / "one", place / "two")
    return "a second name of a file"


def _symlink(place: Path) -> str:
    (place / "symbolic").symlink_to("one")
    return f"made and read: {(place / 'symbolic').readlink()}"


def _attributes(place: Path) -> str:
    (place / "attributes").touch()
    os.setxattr(place / "attributes", "user.effio", b"x")
    return "user.* kept"


def _mapping(place: Path) -> str:
    with _open(place / "mapped") as file:
        os.ftruncate(file, _BLOCK)
        with mmap.mmap(file, _BLOCK) as memory:
            memory[0:4] = b"data"
            memory.flush()
        if os.pread(file, 4, 0) != b"data":
            raise _NoError("a read does not see what was written to memory")
    return "reads see what was written to memory"


def _allocation(place: Path) -> str:
    with _open(place / "allocated") as file:
        os.posix_fallocate(file, 0, 1 << 20)
        blocks = os.fstat(file).st_blocks * 512
    if blocks < 1 << 20:
        raise _NoError(f"without an error, but 1 MiB takes {fmt.size(blocks)}")
    return f"1 MiB takes {fmt.size(blocks)}"


def _holes(place: Path) -> str:
    with _open(place / "holes") as file:
        os.pwrite(file, b"x", 1 << 20)
        os.fsync(file)
        blocks = os.fstat(file).st_blocks * 512
        begin = os.lseek(file, 0, os.SEEK_DATA)
    if begin == 0:
        raise _NoError(f"SEEK_DATA does not skip them (the file takes {fmt.size(blocks)})")
    return f"SEEK_DATA skips them (the file takes {fmt.size(blocks)})"


def _directory_sync(place: Path) -> str:
    with _open(place, os.O_RDONLY | os.O_DIRECTORY) as directory:
        os.fsync(directory)
    return "fsync of a directory"


_TRIED: tuple[tuple[str, Callable[[Path], str], str], ...] = (
    ("O_DIRECT", _direct, "--backend direct is refused; the card uses cached calls"),
    ("flock", _flock, "no lock between the runs of several drivers"),
    ("fcntl locks", _fcntl, "ROMIO's shared file pointers and atomic mode fail"),
    ("rename onto an open file", _rename, ""),
    ("unlink of an open file", _unlink, ""),
    ("hard links", _link, "mdtest --also link fails"),
    ("symbolic links", _symlink, "mdtest --also symlink fails"),
    ("extended attributes", _attributes, "mdtest --also xattr fails"),
    ("shared mappings", _mapping, "--backend mmap is refused"),
    ("preallocation", _allocation, "--preallocate reserves nothing"),
    ("holes", _holes, "effio cannot see which reads are of holes"),
    ("sync of directories", _directory_sync, "--sync-phases says nothing about names"),
)


def _space(directory: Path) -> Iterator[Ability]:
    info = os.statvfs(directory)
    total, free = info.f_blocks * info.f_frsize, info.f_bavail * info.f_frsize
    if total == 0:
        yield Ability("space", None, "statfs reports none", "give --max-bytes")
    else:
        found = f"{fmt.size(free)} of {fmt.size(total)} available"
        yield Ability("space", free > 0, found, "" if free else "every run is refused")
    if info.f_files == 0:
        yield Ability("inodes", None, "statfs reports none")
    else:
        found = f"{info.f_favail} of {info.f_files} free"
        yield Ability("inodes", info.f_favail > 0, found)


def _said(*words: object) -> str:
    """Standard output of a tool of the file system, if it is here and knows."""
    if shutil.which(str(words[0])) is None:
        return ""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            [str(word) for word in words], capture_output=True, text=True, timeout=3, check=False
        )
        return done.stdout if done.returncode == 0 else ""
    return ""


_LIMITED = ("inodes", "length", "size", "realsize")


def _quota(kind: str, directory: Path) -> Ability:
    """Only what a user's tools of the file system say; block devices are the engine's to ask."""
    if kind == "fuse.mfs" and (reported := _said("mfsgetquota", directory)):
        # " size | 1130496 | - | 104857600 |": what is there, soft limit, hard limit.
        rows = [[c.strip() for c in line.split("|")] for line in reported.splitlines()]
        found = [
            f"{name}: {there} of {soft if hard == '-' else hard}"
            for name, there, soft, hard, *_ in (row for row in rows if len(row) > 3)
            if name in _LIMITED and (soft, hard) != ("-", "-")
        ]
        return Ability("quota", True, "; ".join(found) or "none is set here")
    return Ability("quota", None, "no tool here that a user may ask")


def layout_of(path: Path, kind: str) -> str:
    """Where the file system says that a file is: bricks, chunk servers or stripes; empty where it
    does not say."""
    if kind == "fuse.glusterfs":
        with contextlib.suppress(OSError):
            return os.getxattr(path, "trusted.glusterfs.pathinfo").decode(errors="replace")
    tools = {
        "fuse.mfs": ("mfsfileinfo",),
        "lustre": ("lfs", "getstripe"),
        "beegfs": ("beegfs-ctl", "--getentryinfo"),
    }
    return _said(*tools[kind], path).strip() if kind in tools else ""


_SERVERS = {
    "fuse.glusterfs": re.compile(r"<POSIX\([^)]*\):(?P<a>[^:>]+):(?P<b>[^>]+)/[^/>]+>"),
    "fuse.mfs": re.compile(r"copy \d+: (?P<a>[^\s(]+)(?P<b>)"),
    "lustre": re.compile(r"^\s+(?P<a>\d+)(?P<b>)\s+\d+\s+0x", re.MULTILINE),
    "beegfs": re.compile(r"\+ (?P<a>\d+) @ (?P<b>\S+)"),
}
_NAMES = {"lustre": "OST {a}", "beegfs": "target {a} of {b}", "fuse.glusterfs": "{a}:{b}"}


def names_servers(kind: str) -> bool:
    """Whether `layout_of` can name the servers of a file."""
    return kind in _SERVERS


def servers_in(layout: str, kind: str) -> list[str]:
    """The servers, bricks or targets that `layout_of` names, in its order."""
    if kind not in _SERVERS:
        return []
    name = _NAMES.get(kind, "{a}")
    return list(
        dict.fromkeys(name.format(**m.groupdict()) for m in _SERVERS[kind].finditer(layout))
    )


def _layout(kind: str, place: Path) -> Ability:
    file = place / "placed"
    file.write_bytes(b"x" * _BLOCK)
    found = layout_of(file, kind)
    means = "a slow server cannot be named"
    if not found:
        return Ability("place of a file", None, "not known", means)
    return Ability("place of a file", True, fmt.plain(" ".join(found.split()), 200))


def is_of_servers(directory: Path) -> bool:
    """Whether the file system is neither of a device nor of memory of this machine."""
    kind, source, _ = mount_of(directory)
    return not source.startswith("/dev/") and kind not in ("tmpfs", "ramfs", "overlay", "unknown")


_SUBVOLUME_AWAY = re.compile(r"^subvolume_status\[\d+\] = 0$", re.MULTILINE)


def hides_files(directory: Path) -> bool:
    """Whether some files only look removed: on a distributed GlusterFS, while all servers of a part
    of the volume are away. Its client says so to every user (engine/parallel/gluster_client.hpp).
    """
    kind, _, point = mount_of(directory)
    if kind != "fuse.glusterfs":
        return False
    # Only the mount of all of the volume has ".meta".
    whole = whole_mount(point)
    return whole is not None and part_is_away(Path(whole))


def part_is_away(mount_point: Path) -> bool:
    for kind in mount_point.glob(".meta/graphs/active/*/type"):
        with contextlib.suppress(OSError):
            if kind.read_text().strip() == "cluster/distribute":
                said = (kind.parent / "private").read_text(errors="replace")
                if _SUBVOLUME_AWAY.search(said):
                    return True
    return False


def abilities_of(directory: Path) -> list[Ability]:
    """Raises OSError where no directory can be made."""
    kind, source, point = mount_of(directory)
    found = [Ability("file system", True, f"{kind}, {source} at {point}")]
    found += _space(directory)
    found.append(_quota(kind, directory))
    place = Path(tempfile.mkdtemp(prefix=PREFIX, dir=directory))
    try:
        for name, work, means in _TRIED:
            found.append(_tried(name, means, lambda work=work: work(place)))  # type: ignore[misc]
        with contextlib.suppress(OSError):
            found.append(_layout(kind, place))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return found
