# SPDX-License-Identifier: BSD-3-Clause
"""All runs under one directory: how they are made, listed and found by what a user calls them."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

from effio import text as fmt
from effio.errors import ANOTHER_PLACE, EffioError, ExitCode, results_error
from effio.home import expanded
from effio.store import safe_files, short_ids
from effio.store.answering import must_answer, must_have_name
from effio.store.folder import RECORD, RESULT, TOGETHER, RunFolder, held

_IMPORT_PATIENCE = 60.0  # seconds: a file may hold thousands of runs


def _written(path: Path) -> int | None:
    """When this file was written, in nanoseconds; None of what is not a file."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_mtime_ns if stat.S_ISREG(status.st_mode) else None


def refuse_unreadable(root: Path, error: OSError) -> None:
    """A folder of runs that is not there has no runs. What one that cannot be read has is not
    known: raises EffioError."""
    if not isinstance(error, FileNotFoundError):
        raise EffioError(f"{root}: {error.strerror}", ExitCode.IO_ERROR, ANOTHER_PLACE) from None


class Store:
    """All runs under one directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def create(self, benchmark: str, label: str = "") -> RunFolder:
        """A fresh folder named after the time and the benchmark."""
        stem = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ") + f"-{benchmark}"
        if label:
            stem += f"-{label}"
        new = safe_files.missing_directories(self.root)
        try:
            with safe_files.making(self.root):
                for attempt in range(1, 1000):
                    path = self.root / (stem if attempt == 1 else f"{stem}-{attempt}")
                    try:
                        path.mkdir()
                    except FileExistsError:
                        continue
                    return RunFolder(path, new)
        except OSError as error:
            raise results_error(self.root, error) from None
        raise EffioError(f"no free name for a run in {self.root}", ExitCode.IO_ERROR)

    @contextlib.contextmanager
    def preparing(self, benchmark: str, label: str = "") -> Iterator[RunFolder]:
        """As `create`, with a block that makes what the folder holds first. If it fails or is
        interrupted, the folder is removed: it would look like a run that died."""
        folder = self.create(benchmark, label)
        try:
            yield folder
        except OSError as error:
            folder.discard()
            raise results_error(self.root, error) from None
        except BaseException:
            folder.discard()
            raise

    @contextlib.contextmanager
    def importing(self) -> Iterator[None]:
        """While it is held no other effio imports into this store, which is made if needed. Two
        that both find a file missing would both keep it."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(safe_files.making(self.root))
            except OSError as error:
                raise results_error(self.root, error) from None
            other = f"{self.root}: another effio imports files"
            stack.enter_context(held(self.root, _IMPORT_PATIENCE, other))
            yield

    def folders(self) -> list[RunFolder]:
        """The newest last.

        Names contain the second; what began in one second is in the order of its last record.
        """
        found: list[tuple[str, int, str, Path]] = []
        try:
            for path in self.root.iterdir():
                written = _written(path / RECORD) or _written(path / RESULT)
                if written is not None:
                    second = path.name.partition("-")[0]
                    found.append((second, written, path.name, path))
        except OSError as error:
            refuse_unreadable(self.root, error)
            return []
        return [RunFolder(path) for *_, path in sorted(found)]

    def named(self, name: str) -> RunFolder | None:
        """The run with exactly this name, which is compared with names and not made into a path."""
        try:
            if name not in os.listdir(self.root):  # noqa: PTH208  ten thousand names, no objects
                return None
        except OSError as error:
            refuse_unreadable(self.root, error)
            return None
        path = self.root / name
        is_run = any(_written(path / file) is not None for file in (RECORD, RESULT))
        return RunFolder(path) if is_run else None

    def find(self, name: str) -> RunFolder | Path:
        """Finds a run by its folder, result file, name or an unambiguous part of it, short id, or
        `last`: the newest run with a result.

        A plain result file that belongs to no folder is returned as its path.
        """
        must_have_name(name)
        path = must_answer(expanded(name))
        if path.is_dir() and ((path / RECORD).is_file() or (path / RESULT).is_file()):
            return RunFolder(path)
        if (path / TOGETHER).is_file():
            groups = sorted(group.parent for group in path.glob(f"*/{RESULT}"))
            several = fmt.count_of(len(groups), "group")
            raise EffioError(
                f"'{name}' holds the results of {several} of one job, not of one run",
                hint=f"name one of them: {', '.join(map(str, groups))}",
            )
        if path.is_symlink():
            path = safe_files.real(path)  # named by the user, not found in a store
        if path.is_file() and path.suffix == ".toml":
            raise EffioError(
                f"{name} is a campaign or another file of settings, not a result",
                hint="effio runs lists the runs of each campaign",
            )
        if path.is_file():
            record = path.parent / RECORD
            return RunFolder(path.parent) if path.name == RESULT and record.is_file() else path
        folders = self.folders()
        if name == "last":
            measured = [f for f in folders if f.has_result]
            if not measured:
                waiting = fmt.count_of(len(folders), "run has", "runs have")
                more = f"; {waiting} not measured anything yet" if folders else ""
                raise EffioError(
                    f"{self.root} has no run with a result{more}",
                    hint="effio runs" if folders else "effio run --help",
                )
            return measured[-1]
        matching = [f for f in folders if f.id == name] or [
            f for f in folders if short_ids.is_part(name, f.id) or short_ids.means(name, f.id)
        ]
        if len(matching) == 1:
            return matching[0]
        if matching:
            ids = short_ids.ShortIds([f.id for f in folders])
            some = ", ".join(f"{f.id} ({ids.of(f.id)})" for f in matching[:4])
            raise EffioError(
                f"'{name}' is ambiguous, it matches {len(matching)} runs: {some}"
                + (", …" if len(matching) > 4 else "")
            )
        raise EffioError(
            f"no run '{name}': neither the folder of a run, a result file, nor a run in"
            f" {self.root}",
            hint="effio runs lists them",
        )
