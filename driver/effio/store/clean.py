# SPDX-License-Identifier: BSD-3-Clause
"""What a killed run left behind: found through the manifest in its result file, and removed.

Only names of the manifest and what MPI libraries keep beside them, only inside its directory, only
plain files, only such as were written while the run lasted. Trees are removed whole, but only those
that hold the run's token. Links are never followed, and what is mounted in a tree is left alone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import chain
from pathlib import Path

from effio import text as fmt
from effio.errors import EffioError
from effio.store.folder import RunFolder
from effio.store.reader import Result
from effio.store.records import Manifest, TreeSet

_INDEX = re.compile(r"%0(\d{1,2})d$")
# In the root of each tree: the token of the run that made it (engine/storage/own_tree.hpp).
OWNER_FILE = ".effio-owner"
# What ROMIO keeps beside a file for its shared pointer.
_SIDE_FILE = re.compile(r"\.(.+)\.shfp\.[\d.]+")
_MAX_NAMES = 50_000_000
# Clocks of file servers differ from ours by a little.
_SKEW_SECONDS = 5.0


@dataclass(frozen=True)
class Leftover:
    path: Path
    bytes: int
    tree: bool = False


@dataclass(frozen=True)
class Kept:
    """A name of the manifest that is there, but is not ours to remove."""

    path: Path
    why: str


def names_of(manifest: Manifest) -> Iterator[str]:
    """Every name that the run may have created. Raises if one points outside the directory."""
    for entry in manifest.files:
        parts = Path(entry.name).parts
        if entry.name.startswith("/") or ".." in parts or "\0" in entry.name or not parts:
            raise EffioError(
                f"the manifest names '{fmt.plain(entry.name)}', which is not inside its directory; "
                "nothing is removed"
            )
        if sum(f.count for f in manifest.files) > _MAX_NAMES:
            raise EffioError("the manifest names too many files; nothing is removed")
        found = _INDEX.search(entry.name)
        if found is None:
            yield entry.name
            continue
        stem, width = entry.name[: found.start()], int(found.group(1))
        for index in range(entry.count):
            yield f"{stem}{index:0{width}d}"


def side_files(manifest: Manifest, directory: Path) -> Iterator[str]:
    """Files that MPI libraries put beside those of the manifest and leave there when killed."""
    stems = []
    for entry in manifest.files:
        found = _INDEX.search(entry.name)
        text = re.escape(entry.name if found is None else entry.name[: found.start()])
        stems.append(text if found is None else text + r"\d+")
    ours = re.compile("|".join(stems))
    try:
        names = [path.name for path in directory.iterdir()]
    except OSError:
        return
    for name in names:
        side = _SIDE_FILE.fullmatch(name)
        if side is not None and ours.fullmatch(side.group(1)):
            yield name


def directory_of(result: Result, folder: RunFolder | None) -> Path:
    """Where the data files are. A relative directory counts from where the run was started."""
    manifest = result.run.manifest
    assert manifest is not None
    directory = Path(manifest.directory)
    if directory.is_absolute():
        return directory
    record = folder.record() if folder is not None else None
    if record is None:
        raise EffioError(
            f"the result says that the data are in '{fmt.plain(manifest.directory)}', but not where"
            " that is counted from",
            hint="name it: effio clean RUN --dir DIR",
        )
    return Path(record.directory) / directory


def _started(result: Result) -> float:
    try:
        moment = datetime.strptime(result.run.started, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        raise EffioError("the result does not say when it was started") from None
    return moment.replace(tzinfo=timezone.utc).timestamp()


def leftovers(
    result: Result, directory: Path, also_kept: bool = False
) -> tuple[list[Leftover], list[Kept]]:
    """What is there, and what is there but is not to be touched. Removes nothing."""
    manifest = result.run.manifest
    if manifest is None or not manifest.real:
        return [], []
    if manifest.keep and not also_kept:
        raise EffioError(
            f"the run was asked to keep its data files in {directory}",
            hint="effio clean RUN --kept removes them all the same",
        )
    began = _started(result) - _SKEW_SECONDS
    root = directory.resolve()
    found: list[Leftover] = []
    kept: list[Kept] = []
    for name in chain(names_of(manifest), side_files(manifest, directory)):
        path = directory / name
        try:
            info = path.lstat()
        except OSError:
            continue
        if not stat.S_ISREG(info.st_mode):
            kept.append(Kept(path, "not a plain file"))
        elif path.parent.resolve() != root and root not in path.parent.resolve().parents:
            kept.append(Kept(path, "outside the directory"))
        elif info.st_mtime < began:
            kept.append(Kept(path, "older than the run: not made by it"))
        elif info.st_uid != os.geteuid() and os.geteuid() != 0:
            kept.append(Kept(path, "somebody else's"))
        else:
            found.append(Leftover(path, info.st_size))
    for tree_set in manifest.trees:
        trees, foreign = _trees(tree_set, manifest, directory)
        found += trees
        kept += foreign
    return found, kept


def _trees(
    trees: TreeSet, manifest: Manifest, directory: Path
) -> tuple[list[Leftover], list[Kept]]:
    if "/" in trees.name or not manifest.token:
        raise EffioError(
            f"the manifest names the tree '{fmt.plain(trees.name)}', which no run of effio makes; "
            "nothing is removed"
        )
    base = directory if trees.directory == manifest.directory else Path(trees.directory)
    form = re.compile(re.escape(trees.name).replace("%d", r"(\d{1,18})"))
    found: list[Leftover] = []
    kept: list[Kept] = []
    try:
        names = sorted(path.name for path in base.iterdir())
    except OSError:
        return [], []
    for name in names:
        indexes = form.fullmatch(name)
        counts = zip(indexes.groups(), trees.counts, strict=False) if indexes else []
        if indexes is None or any(int(index) >= count for index, count in counts):
            continue
        path = base / name
        try:
            owner = (path / OWNER_FILE).read_text(errors="replace")[:100].strip()
            links = path.is_symlink() or (path / OWNER_FILE).is_symlink()
        except OSError:
            owner, links = "", False
        if owner != manifest.token or links:
            kept.append(Kept(path, "not a tree of this run"))
        else:
            found.append(Leftover(path, _bytes_in(path), tree=True))
    return found, kept


def _bytes_in(tree: Path) -> int:
    total = 0
    for folder, _, files in os.walk(tree):
        for name in files:
            with contextlib.suppress(OSError):
                total += (Path(folder) / name).lstat().st_size
    return total


def _remove_tree(tree: Path) -> None:
    """The owner file last, so that an interrupted removal can be taken up again."""
    device = tree.lstat().st_dev
    emptied: list[Path] = []
    for folder, folders, files in os.walk(tree):
        here = Path(folder)
        for name in list(folders):
            path = here / name
            if path.is_symlink():
                files.append(name)
                folders.remove(name)
            elif path.lstat().st_dev != device:
                raise OSError(errno.EBUSY, "another file system is mounted in it")
        for name in files:
            if here != tree or name != OWNER_FILE:
                (here / name).unlink(missing_ok=True)
        emptied.append(here)
    for path in reversed(emptied[1:]):
        path.rmdir()
    (tree / OWNER_FILE).unlink(missing_ok=True)
    tree.rmdir()


def remove(files: list[Leftover]) -> list[Kept]:
    """Returns what could not be removed, and why."""
    failed = []
    for file in files:
        try:
            if file.tree:
                _remove_tree(file.path)
            else:
                file.path.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            failed.append(Kept(file.path, error.strerror or str(error)))
    return failed
