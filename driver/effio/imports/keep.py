# SPDX-License-Identifier: BSD-3-Clause
"""Puts imported runs into the store. Each has a folder like any run, marked as imported. A file
that was imported before is recognized by its checksum and not imported twice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import effio
from effio import text as fmt
from effio.errors import EffioError
from effio.imports import formats
from effio.imports.model import STATEMENT, Imported, Source, lines, time_text
from effio.store import safe_files
from effio.store.all_runs import Store
from effio.store.folder import RESULT, RunFolder, now_utc
from effio.store.notes import Note, Notes
from effio.store.reader import ResultError
from effio.store.run_record import Outcome, RunRecord

LABEL = "imported"


@dataclass(frozen=True)
class Kept:
    """What became of a file: new folders, and those that hold it already."""

    path: Path
    format: str
    runs: Sequence[Imported]
    new: Sequence[RunFolder]
    there: Sequence[RunFolder]


def _known(store: Store) -> dict[tuple[str, int], RunFolder]:
    """Imported runs by the checksum of their file and their number in it."""
    found: dict[tuple[str, int], RunFolder] = {}
    for folder in store.folders():
        if LABEL not in folder.id:
            continue
        record = folder.record()
        source = record.driver.get(LABEL) if record is not None else None
        if isinstance(source, dict):
            found[str(source.get("sha256")), int(source.get("part", 0))] = folder
    return found


def _keep(run: Imported, source: Source, store: Store, tags: Sequence[str]) -> RunFolder:
    with store.preparing(run.benchmark, LABEL) as folder:
        text = "".join(
            json.dumps(line, allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"
            for line in lines(run, source)
        )
        with safe_files.creating(folder.path / RESULT) as stream:
            stream.write(fmt.encodable(text).encode())
        try:
            read = folder.result()  # what cannot be read again is not kept
        except ResultError as error:
            raise EffioError(
                f"{source.name}: {source.format} that no result can hold: {error.why}"
            ) from None
        assert read.end is not None
        folder.write_record(_record(folder, run, source, read.end.status, read.end.exit_code))
        note = Note(
            time=now_utc(), text=fmt.encodable(f"{STATEMENT}: {source.format} of {source.name}")
        )
        folder.write_notes(Notes(tags=tuple(dict.fromkeys([LABEL, *tags])), notes=(note,)))
        folder.seal()
    return folder


def _record(folder: RunFolder, run: Imported, source: Source, status: str, code: int) -> RunRecord:
    driver: dict[str, Any] = {
        "version": effio.__version__,
        LABEL: {"file": source.name, "sha256": source.sha256, "part": source.part},
    }
    return RunRecord(
        id=folder.id,
        created=time_text(source.time_of(run)[0]),
        benchmark=run.benchmark,
        arguments=list(run.command[1:]),
        directory="",
        command=list(run.command),
        driver=driver,
        outcome=Outcome(status=status, exit_code=code, reason=run.failed),
    )


def import_file(path: Path, store: Store, tags: Sequence[str]) -> Kept:
    """Raises EffioError if the file cannot be read, or the runs cannot be kept."""
    form, runs = formats.read(path)
    try:
        changed = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
        checksum = safe_files.sha256_of(safe_files.real(path))
    except OSError as error:
        raise EffioError(f"{path}: changed while it was read: {error.strerror or error}") from None
    new, there = [], []
    with store.importing():
        known = _known(store)
        for part, run in enumerate(runs, 1):
            if (checksum, part) in known:
                there.append(known[checksum, part])
            else:
                source = Source(str(path), checksum, form.name, changed, part)
                new.append(_keep(run, source, store, tags))
    return Kept(path, form.name, runs, new, there)
