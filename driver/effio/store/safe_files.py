# SPDX-License-Identifier: BSD-3-Clause
"""The only way in which the driver opens and writes files of a store.

A store may be a directory that others write to, or come out of an archive. So a file is opened
through the descriptor of its directory, without following a link, without waiting (a FIFO), and
only if it is a regular file that is not too large. A file is written as a new one (O_EXCL), or
replaced by a rename; one that is written in place must have one name only, because a second name
(a hard link) may be that of another user's file.

`below`: a directory above the file; the directories between the two must not be links either.
Without it the file's own directory may be reached through links. Everything raises OSError.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from effio import text as fmt
from effio.errors import EffioError, ExitCode

# Of a file that is read as a whole, unless the caller knows better.
MAX_BYTES = 64 << 20
# What to do about a target that exists and is not replaced.
TAKEN = "name another one, or remove it"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_BLOCK = 1 << 16  # a larger one is not faster, and takes longer to get
_MOST_NAME_BYTES = 255
_KINDS = (
    (stat.S_ISLNK, errno.ELOOP, "is a link"),
    (stat.S_ISDIR, errno.EISDIR, "is a directory"),
    (stat.S_ISFIFO, errno.EINVAL, "is a FIFO"),
    (stat.S_ISSOCK, errno.EINVAL, "is a socket"),
    (stat.S_ISBLK, errno.EINVAL, "is a device"),
    (stat.S_ISCHR, errno.EINVAL, "is a device"),
)


class UnsafeFileError(OSError):
    """The name is there, but effio does not open what it leads to."""


def _refuse_kind(mode: int, path: Path) -> None:
    for is_one, code, what in _KINDS:
        if is_one(mode):
            raise UnsafeFileError(code, f"{what}, not a regular file", str(path))


@contextlib.contextmanager
def directory(path: Path, below: Path | None = None) -> Iterator[int]:
    """The descriptor of a directory; no link is followed after `below`."""
    start = path if below is None else below
    handle = os.open(start, _DIRECTORY)
    try:
        for part in () if below is None else path.relative_to(start).parts:
            if part == "..":
                raise UnsafeFileError(errno.EINVAL, "leads out of its directory", str(path))
            try:
                inner = os.open(part, _DIRECTORY | os.O_NOFOLLOW, dir_fd=handle)
            except NotADirectoryError:
                raise UnsafeFileError(
                    errno.ENOTDIR, "is reached through a link or a file", str(path)
                ) from None
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


def make_directories(path: Path, below: Path) -> None:
    """`below` with all above it, and the directories from there to `path`, none of them a link."""
    below.mkdir(parents=True, exist_ok=True)
    here = below
    for part in path.relative_to(below).parts:
        with directory(here, below) as parent, contextlib.suppress(FileExistsError):
            os.mkdir(part, dir_fd=parent)
        here = here / part
    with directory(path, below):
        pass


def missing_directories(path: Path) -> tuple[Path, ...]:
    """This directory and those above it that are not there, the deepest first."""
    return tuple(place for place in (path, *path.parents) if not os.path.lexists(place))


def remove_empty(places: Sequence[Path]) -> None:
    """Removes the directories that are empty; the deepest comes first."""
    for place in places:
        with contextlib.suppress(OSError):
            place.rmdir()


@contextlib.contextmanager
def making(path: Path, below: Path | None = None) -> Iterator[None]:
    """The directory with all above it, none of those from `below` on a link. If what is done in it
    fails, new directories are removed again if they are empty."""
    new = missing_directories(path)
    try:
        make_directories(path, path if below is None else below)
        yield
    except BaseException:
        remove_empty(new)
        raise


def _opened(path: Path, flags: int, below: Path | None, most: int | None = None) -> int:
    """The descriptor of a regular file. A device is not opened at all: that may act on it."""
    with directory(path.parent, below) as parent:
        before = os.stat(path.name, dir_fd=parent, follow_symlinks=False)
        _refuse_kind(before.st_mode, path)
        handle = os.open(path.name, flags | _FILE, dir_fd=parent)
    try:
        info = os.fstat(handle)
        _refuse_kind(info.st_mode, path)
        if most is not None and info.st_size > most:
            raise UnsafeFileError(errno.EFBIG, f"is larger than {fmt.size(most)}", str(path))
        if flags & os.O_ACCMODE != os.O_RDONLY:
            if info.st_nlink > 1:
                what = "has a second name (a hard link): it is not written"
                raise UnsafeFileError(errno.EMLINK, what, str(path))
            if info.st_uid != os.geteuid():
                raise UnsafeFileError(errno.EPERM, "belongs to another user", str(path))
    except BaseException:
        os.close(handle)
        raise
    return handle


@contextlib.contextmanager
def reading(
    path: Path, most: int | None = MAX_BYTES, below: Path | None = None
) -> Iterator[IO[bytes]]:
    with os.fdopen(_opened(path, os.O_RDONLY, below, most), "rb") as stream:
        yield stream


def _blocks(path: Path, most: int | None = None, below: Path | None = None) -> Iterator[bytes]:
    """What is in a file, without the buffers of a stream: an index reads ten thousands of them."""
    handle = _opened(path, os.O_RDONLY, below, most)
    try:
        while block := os.read(handle, _BLOCK):
            yield block
    finally:
        os.close(handle)


def read_bytes(path: Path, most: int = MAX_BYTES, below: Path | None = None) -> bytes:
    """Never more than `most` bytes, even if the file grows meanwhile."""
    found, size = [], 0
    for block in _blocks(path, most, below):
        found.append(block)
        size += len(block)
        if size > most:
            raise UnsafeFileError(errno.EFBIG, f"is larger than {fmt.size(most)}", str(path))
    return b"".join(found)


def read_text(
    path: Path, most: int = MAX_BYTES, below: Path | None = None, errors: str = "strict"
) -> str:
    return read_bytes(path, most, below).decode("utf-8", errors)


def json_of(text: str) -> Any:
    """The value of JSON that someone else may have written. Raises ValueError if it is not JSON, or
    if a text in it has half a character (`\\ud800`), which no file and no terminal takes; raises
    RecursionError if it is nested too deeply."""
    value = json.loads(text)
    if "\\ud" in text.lower():
        json.dumps(value, ensure_ascii=False).encode()
    return value


def unreadable(file: Path, error: Exception, hint: str = "") -> EffioError:
    """A file that effio keeps next to runs cannot be read. `hint`: what to do about one that has
    something else in it than expected; where the system refuses, its reason says what to do."""
    from pydantic import ValidationError  # not for every list of runs

    said = f"{fmt.plain(file)} cannot be read"
    if isinstance(error, UnsafeFileError):
        return EffioError(f"{said}: it {error.strerror}", hint=hint)
    if isinstance(error, OSError):
        return EffioError(f"{said}: {error.strerror or error}", ExitCode.IO_ERROR)
    newer = " (a newer effio made it?)" if isinstance(error, ValidationError) else ""
    return EffioError(said + newer, hint=hint)


def json_text(value: object, indent: int | None = None) -> str:
    """JSON that `json_of` takes, also of names that are not UTF-8."""
    return fmt.encodable(json.dumps(value, indent=indent, ensure_ascii=False))


def _sha256(blocks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


def sha256_of(path: Path) -> str:
    return _sha256(_blocks(path))


def sha256_of_stream(stream: IO[bytes]) -> str:
    return _sha256(iter(partial(stream.read, _BLOCK), b""))


def real(path: Path) -> Path:
    """A path without links, of what the user named; Path.resolve() raises where links go in
    circles."""
    return Path(os.path.realpath(path))


def is_regular(path: Path) -> bool:
    """Whether there is such a file; a link to one is not."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def _create(name: str, parent: int, mode: int) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, flags, mode, dir_fd=parent)


@contextlib.contextmanager
def creating(path: Path, below: Path | None = None, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """A new file; FileExistsError if the name is taken, by a link as well."""
    with directory(path.parent, below) as parent:
        handle = _create(path.name, parent, mode)
    with os.fdopen(handle, "w+b") as stream:
        yield stream


@contextlib.contextmanager
def replacing(
    path: Path,
    below: Path | None = None,
    durable: bool = True,
    mode: int = 0o666,
    keep_existing: bool = False,
) -> Iterator[IO[bytes]]:
    """The file has either its old or its new content, whatever happens; if not `durable`, short of
    a crash of the system. What had the name before (a link, a FIFO) is replaced, not written to;
    `keep_existing`: FileExistsError instead."""
    with directory(path.parent, below) as parent:
        spare = os.fsencode(path.name)[: _MOST_NAME_BYTES - 20]
        name = os.fsdecode(b"." + spare + b"." + secrets.token_hex(8).encode())
        try:
            handle = _create(name, parent, mode)
        except OSError as error:
            error.filename = os.fspath(path)  # the path that the caller knows
            raise
        try:
            with os.fdopen(handle, "w+b") as stream:
                yield stream
                stream.flush()
                if durable:
                    os.fsync(stream.fileno())
            if keep_existing:
                _link_or_rename(name, path.name, parent)
            else:
                os.rename(name, path.name, src_dir_fd=parent, dst_dir_fd=parent)
            if durable:
                os.fsync(parent)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=parent)
            raise


def _link_or_rename(name: str, target: str, parent: int) -> None:
    """Gives the file its name unless that is taken."""
    try:
        os.link(name, target, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: the name is taken first, by an empty file.
        os.close(_create(target, parent, 0o600))
        os.rename(name, target, src_dir_fd=parent, dst_dir_fd=parent)
    else:
        os.unlink(name, dir_fd=parent)


def write_atomically(
    path: Path,
    text: str | bytes,
    durable: bool = True,
    below: Path | None = None,
    mode: int = 0o666,
) -> None:
    with replacing(path, below, durable, mode) as stream:
        # The bytes of a name that is not UTF-8, in a job script, are those of the name.
        given = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        stream.write(given)


@contextlib.contextmanager
def updating(path: Path, below: Path | None = None, append: bool = False) -> Iterator[IO[bytes]]:
    """A file of ours that is written in place, and made if it is not there: a lock, a log."""
    flags = os.O_RDWR | (os.O_APPEND if append else 0)
    for _ in range(100):
        try:
            handle = _opened(path, flags, below)
            break
        except FileNotFoundError:
            with (
                directory(path.parent, below) as parent,
                contextlib.suppress(FileExistsError),
            ):
                os.close(_create(path.name, parent, 0o666))
    else:
        raise UnsafeFileError(errno.EAGAIN, "comes and goes", str(path))
    with os.fdopen(handle, "r+b", buffering=0) as stream:
        yield stream


def sync(path: Path) -> None:
    """Until a file or a directory is on storage: a reboot must not take it back."""
    if path.is_dir() and not path.is_symlink():
        with directory(path) as handle:
            os.fsync(handle)
    else:
        handle = _opened(path, os.O_RDONLY, None)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove(path: Path, below: Path | None = None) -> None:
    """Takes the name away, whatever it leads to; nothing if it is not there."""
    with directory(path.parent, below) as parent, contextlib.suppress(FileNotFoundError):
        os.unlink(path.name, dir_fd=parent)
