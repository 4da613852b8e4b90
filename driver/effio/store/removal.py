# SPDX-License-Identifier: BSD-3-Clause
"""Taking names away through the descriptors of their directories (as engine/storage/removal.hpp).

A name goes only if it is accounted for by kind and name; a directory when it is empty; nothing
through a link. Raises OSError.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from effio.store.records import NameSet

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Deeper trees would take more descriptors than a process commonly has.
_DEEPEST = 800


@dataclass
class Seen:
    """What is in a directory: bytes that are accounted for, and the paths that are not."""

    bytes: int = 0
    left: list[Path] = field(default_factory=list)


def holds(names: NameSet, name: str) -> bool:
    """Whether `name` is one of them: a number below its count in place of each %d."""
    form = re.escape(names.name).replace("%d", r"(\d+)")
    found = re.fullmatch(form, name, re.ASCII)
    if found is None or len(found.groups()) != len(names.counts):
        return False
    # Numbers may begin with zeros; int() refuses to read very long ones.
    numbers = [group.lstrip("0") or "0" for group in found.groups()]
    return all(
        len(number) < 20 and int(number) < count
        for number, count in zip(numbers, names.counts, strict=True)
    )


@contextlib.contextmanager
def opened(name: str | Path, parent: int | None = None, follow: bool = False) -> Iterator[int]:
    """The descriptor of a directory."""
    flags = _DIRECTORY if follow else _DIRECTORY | os.O_NOFOLLOW
    descriptor = os.open(name, flags, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def parent_of(base: Path, path: Path) -> Iterator[int]:
    """The directory of `path`, which is below `base`; between the two no link is followed."""
    with contextlib.ExitStack() as stack:
        here = stack.enter_context(opened(base, follow=True))
        for part in path.relative_to(base).parts[:-1]:
            here = stack.enter_context(opened(part, here))
        yield here


def identity(info: os.stat_result) -> tuple[int, ...]:
    """Distinguishes a file from another one with its name."""
    return (info.st_dev, info.st_ino, info.st_mode, info.st_uid, info.st_nlink)


def remove_file(name: str, parent: int, known: tuple[int, ...] | None = None) -> None:
    """`known`: the identity that it must have still."""
    info = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISREG(info.st_mode):
        raise OSError(0, "not a plain file")
    if known is not None and identity(info) != known:
        raise OSError(0, "another file now than the one that was seen")
    os.unlink(name, dir_fd=parent)


def first_line(name: str, parent: int) -> str | None:
    """The first line of a plain file of this user, with no second name; None if there is none."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, errors="replace") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid() or info.st_nlink != 1:
            raise OSError(0, "not a plain file of this user")
        return file.readline(100).strip()


def through(
    tree: int, path: Path, names: Iterable[NameSet], spare: str, remove: bool, depth: int = 0
) -> Seen:
    """Looks at a tree, or removes what `names` account for; passes over an entry `spare` of it."""
    names = tuple(names)
    device = os.fstat(tree).st_dev
    seen = Seen()
    with os.scandir(tree) as entries:
        found = sorted(entry.name for entry in entries)
    for name in found:
        if name == spare:
            continue
        info = os.stat(name, dir_fd=tree, follow_symlinks=False)
        kind = _kind(info.st_mode)
        ours = (
            info.st_dev == device
            and info.st_uid == os.geteuid()
            and _accounted(names, kind, name)
            and depth < _DEEPEST
        )
        if not ours:
            seen.left.append(path / name)
        elif kind == "directory":
            with opened(name, tree) as child:
                inside = through(child, path / name, names, "", remove, depth + 1)
            seen.bytes += inside.bytes
            seen.left += inside.left
            if remove and not inside.left:
                os.rmdir(name, dir_fd=tree)
        else:
            seen.bytes += info.st_size
            if remove:
                os.unlink(name, dir_fd=tree)
    return seen


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "other"


def _accounted(names: Sequence[NameSet], kind: str, name: str) -> bool:
    return any(one.kind == kind and holds(one, name) for one in names)
