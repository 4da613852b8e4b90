# SPDX-License-Identifier: BSD-3-Clause
"""Runs as one file and back: a gzipped tar of run folders and of what is kept of their campaigns,
with a line of checksums for each file.

An archive is foreign: its list is judged as a whole before a byte is written. Plain files only, in
the places that a store has, none twice, none outside, no links, bounded in number and size. What is
there already is never written over.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

from effio import text as fmt
from effio.errors import EffioError, ExitCode, results_error
from effio.store import safe_files
from effio.store.all_runs import Store
from effio.store.folder import KEPT_FILES, REPORT, SUMS, RunFolder, is_of_turn
from effio.store.masking import reading_masked
from effio.store.safe_files import is_regular, sha256_of

# Where a campaign is kept (campaign/state.py), and what of it.
CAMPAIGNS = "campaigns"
CAMPAIGN_TOML = "campaign.toml"
CAMPAIGN_FILES = ("campaign.json", CAMPAIGN_TOML)
MAX_FILES = 500_000
MAX_BYTES = 64 << 30
_MAX_SUMS = 128 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.=+-]*")
_BLOCK = 1 << 20
_MOST_NAME_BYTES = 255
# Left free for other users, or as much as the runs take if that is less.
_SPARE_BYTES = 64 << 20
# Size of an extended header (for example a long name), which tarfile reads as a whole.
_MOST_HEADER_BYTES = 1 << 20
_LONG_HEADERS = frozenset(
    (
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
    )
)


class ArchiveError(EffioError):
    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}; nothing is restored")


_Self = TypeVar("_Self", bound="_Member")


class _Member(tarfile.TarInfo):
    """A header that is refused if it needs much memory: tarfile trusts the sizes in it."""

    @classmethod
    def frombuf(cls: type[_Self], buf: bytes | bytearray, encoding: str, errors: str) -> _Self:
        found = super().frombuf(buf, encoding, errors)
        if found.type in _LONG_HEADERS and not 0 <= found.size <= _MOST_HEADER_BYTES:
            raise tarfile.ReadError(f"a header of {found.size} bytes")
        if found.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError("a sparse file")
        return found


class _PlaceError(Exception):
    """Carries an error of the folder of runs past those that blame the archive."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(frozen=True)
class Restored:
    """Names of what is new here, and of what was here already, file by file the same."""

    runs: Sequence[str]
    there: Sequence[str]


class _Kept(NamedTuple):
    """A file for the archive; `masks`: secrets in it are masked."""

    name: str
    path: Path
    masks: bool


def _sum_of(file: _Kept) -> str:
    with reading_masked(file.path, file.masks) as stream:
        return safe_files.sha256_of_stream(stream)


def write(target: Path, runs: Sequence[RunFolder], campaigns: Sequence[Path]) -> int:
    """Returns the number of files. The archive appears whole or not at all; one that exists is
    refused."""
    files = [
        _Kept(f"{run.id}/{name}", run.path / name, run.may_hold_secrets(name))
        for run in runs
        for name in (*KEPT_FILES, REPORT, *run.turns())
    ]
    files += [
        _Kept(f"{CAMPAIGNS}/{campaign.name}/{name}", campaign / name, name == CAMPAIGN_TOML)
        for campaign in campaigns
        for name in CAMPAIGN_FILES
    ]
    files = [file for file in files if is_regular(file.path)]
    for file in files:
        if not _is_place(file.name):
            what = fmt.plain(file.name)
            raise EffioError(f"{what}: not a name that effio gives; it cannot be archived")
    if os.path.lexists(target):
        raise EffioError(f"{target} exists", hint=safe_files.TAKEN)
    try:
        with (
            safe_files.replacing(target, keep_existing=True) as stream,
            tarfile.open(fileobj=stream, mode="w:gz") as archive,
        ):
            _write_all(archive, files)
    except FileExistsError:
        raise EffioError(f"{target} exists", hint=safe_files.TAKEN) from None
    except OSError as error:
        where = error.filename or target
        raise EffioError(f"{where}: {error.strerror or error}", ExitCode.IO_ERROR) from None
    return len(files)


def _write_all(archive: tarfile.TarFile, files: Sequence[_Kept]) -> None:
    """The checksums first, so that a reader knows what to expect."""
    sums = "".join(f"{_sum_of(file)}  {file.name}\n" for file in files).encode()
    head = tarfile.TarInfo(SUMS)
    head.size = len(sums)
    archive.addfile(head, io.BytesIO(sums))
    for file in files:
        with reading_masked(file.path, file.masks) as stream:
            info = tarfile.TarInfo(file.name)
            status = file.path.lstat()
            # Of the person only what the run itself says.
            info.size, info.mtime = os.fstat(stream.fileno()).st_size, int(status.st_mtime)
            info.mode = 0o755 if status.st_mode & 0o100 else 0o644
            archive.addfile(info, stream)


def _is_place(name: str) -> bool:
    """Whether the name is that of a file in the folder of a run, or of a campaign."""
    run, _, place = name.partition("/")
    if is_of_turn(place):
        return run != CAMPAIGNS and _NAME.fullmatch(run) is not None
    *folders, file = name.split("/")
    if not all(_NAME.fullmatch(part) for part in folders):
        return False
    if len(folders) == 1 and folders[0] != CAMPAIGNS:
        return file in (*KEPT_FILES, REPORT)
    return len(folders) == 2 and folders[0] == CAMPAIGNS and file in CAMPAIGN_FILES


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with contextlib.ExitStack() as stack:
            try:
                # Named by the user: a link to it is followed.
                reading = safe_files.reading(safe_files.real(path), most=None)
                stream = stack.enter_context(reading)
            except OSError as error:
                raise EffioError(f"{path}: {error.strerror or error}") from None
            yield stack.enter_context(tarfile.open(fileobj=stream, mode="r:gz", tarinfo=_Member))
    except (tarfile.TarError, EOFError, ValueError, RecursionError) as error:
        what = f"not an archive of effio, or damaged ({fmt.plain(error, 200)})"
        raise ArchiveError(path, what) from None
    except OSError as error:
        # gzip complains in this way of what it cannot read.
        if error.errno is None:
            raise ArchiveError(path, f"not an archive of effio, or damaged ({error})") from None
        if error.filename is None:  # an error in reading the archive names no file
            raise EffioError(f"{path}: {error.strerror}", ExitCode.IO_ERROR) from None
        raise results_error(error.filename, error) from None


def _judged(path: Path, archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Every member, as soon as nothing is wrong with it. Raises at the first that is."""
    names: set[str] = set()
    total = 0
    for member in archive:
        name = fmt.plain(member.name, 200)
        total += max(0, member.size)
        if any(len(os.fsencode(part)) > _MOST_NAME_BYTES for part in member.name.split("/")):
            raise ArchiveError(path, f"'{fmt.plain(member.name, 60)}' has a name that is too long")
        if member.name.startswith("/"):
            raise ArchiveError(path, f"'{name}' is an absolute path")
        if ".." in member.name.split("/"):
            raise ArchiveError(path, f"'{name}' leads out of the folder of the runs")
        if member.issym() or member.islnk():
            raise ArchiveError(path, f"'{name}' is a link")
        if not member.isreg() or member.issparse():
            raise ArchiveError(path, f"'{name}' is not a regular file")
        if member.name in names:
            raise ArchiveError(path, f"'{name}' is there twice")
        if member.name != SUMS and not _is_place(member.name):
            raise ArchiveError(path, f"'{name}' is none of the files of a run")
        names.add(member.name)
        if len(names) > MAX_FILES or total > MAX_BYTES:
            raise ArchiveError(
                path, f"more than {MAX_FILES:,} files, or than {fmt.size(MAX_BYTES)}"
            )
        yield member


def restore(path: Path, store: Store) -> Restored:
    """Unpacks next to the place, compares, and moves folder by folder to where nothing is yet.
    Raises before anything is moved if a folder is there that differs."""
    with _opened(path) as archive:
        _check_space(path, store.root, _judged(path, archive))
    new = safe_files.missing_directories(store.root)
    try:
        store.root.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=store.root, prefix=".restore-"))
    except OSError as error:
        safe_files.remove_empty(new)
        raise results_error(store.root, error) from None
    try:
        with _opened(path) as archive:
            _unpack(path, archive, scratch)
        return _moved(path, scratch, store.root)
    except _PlaceError as error:
        raise results_error(store.root, error.error) from None
    except OSError as error:
        raise results_error(error.filename or store.root, error) from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        safe_files.remove_empty(new)


def _on_disk(size: int) -> int:
    """Blocks, and about as much for the name."""
    return (size + 4095) // 4096 * 4096 + 4096


def _check_space(path: Path, root: Path, members: Iterable[tarfile.TarInfo]) -> None:
    """Raises at the first member that does not fit: a small archive may unpack to any size, and
    tarfile unpacks each member to reach the next header."""
    there = next(place for place in (root.absolute(), *root.absolute().parents) if place.is_dir())
    free = shutil.disk_usage(there).free
    needed = 0
    for member in members:
        needed += _on_disk(member.size)
        spare = min(needed, _SPARE_BYTES)
        if needed + spare > free:
            raise EffioError(
                f"{path} needs at least {fmt.size(needed)}, and {fmt.size(spare)} to spare for "
                f"others, in {there}, where {fmt.size(free)} are free; nothing is restored",
                ExitCode.RESULTS,
            )


def _unpack(path: Path, archive: tarfile.TarFile, scratch: Path) -> None:
    sums: dict[str, str] | None = None
    for member in _judged(path, archive):
        stream = archive.extractfile(member)
        assert stream is not None  # a plain file
        if sums is None:
            if member.name != SUMS or member.size > _MAX_SUMS:
                raise ArchiveError(path, f"it does not begin with {SUMS}")
            lines = stream.read().decode("utf-8", "replace").splitlines()
            sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
            continue
        target = scratch / member.name
        with _writing():
            target.parent.mkdir(parents=True, exist_ok=True)
        if _copied(stream, target) != sums.pop(member.name, None):
            raise ArchiveError(path, f"'{member.name}' is not what was archived: checksums differ")
        os.utime(target, (member.mtime, member.mtime))
        if member.mode & 0o100:
            target.chmod(target.stat().st_mode | 0o111)
    if sums is None:
        raise ArchiveError(path, "it is empty")
    if sums:
        raise ArchiveError(path, f"'{fmt.plain(next(iter(sums)), 200)}' is missing in it")


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    """An error in here is one of the place, not of the archive. Reading inside raises others."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise _PlaceError(error) from None


def _copied(stream: IO[bytes], target: Path) -> str:
    digest = hashlib.sha256()
    with _writing(), safe_files.creating(target) as out:
        while block := stream.read(_BLOCK):
            digest.update(block)
            out.write(block)
    return digest.hexdigest()


def _moved(path: Path, scratch: Path, root: Path) -> Restored:
    folders = [p for p in sorted(scratch.iterdir()) if p.name != CAMPAIGNS]
    if (scratch / CAMPAIGNS).is_dir():
        folders += sorted((scratch / CAMPAIGNS).iterdir())
    new, there = [], []
    for folder in folders:
        target = root / folder.relative_to(scratch)
        if not os.path.lexists(target):
            new.append(folder)
        elif folder.parent == scratch and not _same(folder, target):
            raise ArchiveError(path, f"{target} is here already, and differs")
        else:
            there.append(folder)
    umask = os.umask(0)
    os.umask(umask)
    for folder in new:
        target = root / folder.relative_to(scratch)
        safe_files.make_directories(target.parent, root)
        folder.chmod(0o777 & ~umask)
        folder.rename(target)

    def runs(those: Sequence[Path]) -> list[str]:
        return [folder.name for folder in those if folder.parent == scratch]

    return Restored(runs(new), runs(there))


def _same(one: Path, other: Path) -> bool:
    """The archive's files are in the folder that is here; what else is in that does not matter."""
    return other.is_dir() and all(
        is_regular(here := other / file.relative_to(one)) and sha256_of(here) == sha256_of(file)
        for file in one.rglob("*")
        if file.is_file() and file.name != REPORT
    )
