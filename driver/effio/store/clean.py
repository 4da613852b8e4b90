# SPDX-License-Identifier: BSD-3-Clause
"""What a killed run left behind: found through the manifest in its result file, and removed.

Only names of the manifest, only inside its directory, only plain files, only such as were written
while the run lasted. Links are never followed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from effio import text as fmt
from effio.errors import EffioError
from effio.store.folder import RunFolder
from effio.store.reader import Result
from effio.store.records import Manifest

_INDEX = re.compile(r"%0(\d{1,2})d$")
_MAX_NAMES = 50_000_000
# Clocks of file servers differ from ours by a little.
_SKEW_SECONDS = 5.0


@dataclass(frozen=True)
class Leftover:
    path: Path
    bytes: int


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
    for name in names_of(manifest):
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
    return found, kept


def remove(files: list[Leftover]) -> list[Kept]:
    """Returns what could not be removed, and why."""
    failed = []
    for file in files:
        try:
            file.path.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            failed.append(Kept(file.path, error.strerror or str(error)))
    return failed
