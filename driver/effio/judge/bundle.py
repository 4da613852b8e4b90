# SPDX-License-Identifier: BSD-3-Clause
"""A submission as a folder: everything that the numbers are based on, readable without effio.

index.html, submission.md   the tables; the page has the report of every run as well
tables/*.csv                the same tables; submission.xlsx, submission.docx: for people
engine/NAME/                of each engine that measured: build log and sources
inputs/                     rules and description, as they were given; files of --include
runs/NAME/                  result, logs, job script, environment and checksums of each run
SHA256SUMS                  of all of it (`effio verify-bundle`, or sha256sum -c)
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from effio.errors import EffioError, ExitCode
from effio.judge.manifest import write_sums
from effio.judge.samples import Judged
from effio.store import safe_files
from effio.store.folder import KEPT_FILES, RESULT, RunFolder
from effio.store.masking import reading_masked
from effio.text import encodable

# Instructions ask for no large binary data; a result of this size is none.
_MOST_BYTES = 4 << 30


def _safe(name: str, taken: set[str]) -> str:
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "run"
    unique = stem
    number = 2
    while unique in taken:
        unique, number = f"{stem}-{number}", number + 1
    taken.add(unique)
    return unique


def _copy(source: Path, target: Path, masks: bool = False) -> None:
    with reading_masked(source, masks) as stream:
        if os.fstat(stream.fileno()).st_size > _MOST_BYTES:
            raise EffioError(f"{source} is too large for a bundle")
        with safe_files.creating(target) as out:
            shutil.copyfileobj(stream, out, 1 << 20)


def _copy_run(run: Judged, target: Path) -> None:
    target.mkdir()
    if not run.path.is_dir():
        _copy(run.path, target / RESULT)
        return
    folder = RunFolder(run.path)
    for name in (*KEPT_FILES, *folder.turns()):
        source = run.path / name
        if safe_files.is_regular(source):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            _copy(source, target / name, folder.may_hold_secrets(name))


def _made(
    target: Path,
    runs: Sequence[Judged],
    texts: Mapping[str, str | bytes],
    inputs: Sequence[Path],
) -> str:
    try:
        scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    except OSError as error:
        error.filename = os.fspath(target)  # the path that the caller knows
        raise
    try:
        (scratch / "runs").mkdir()
        (scratch / "inputs").mkdir()
        taken: set[str] = set()
        for run in runs:
            _copy_run(run, scratch / "runs" / _safe(run.name, taken))
        taken = set()
        for path in inputs:
            _copy(path.resolve(), scratch / "inputs" / _safe(path.name, taken))
        if not inputs:
            (scratch / "inputs").rmdir()
        for place, text in texts.items():
            file = scratch / place
            file.parent.mkdir(exist_ok=True, parents=True)
            if isinstance(text, bytes):
                file.write_bytes(text)
            else:
                safe_files.write_atomically(file, encodable(text), durable=False)
        identity = write_sums(scratch)
        umask = os.umask(0)
        os.umask(umask)
        scratch.chmod(0o777 & ~umask)
        scratch.rename(target)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return identity


def write_bundle(
    target: Path,
    runs: Sequence[Judged],
    texts: Mapping[str, str | bytes],
    inputs: Sequence[Path],
) -> str:
    """`texts` (and files of other programs) by their place in the bundle. The folder appears whole
    or not at all; one that exists is refused. Returns the checksum of its checksums."""
    if os.path.lexists(target):
        raise EffioError(f"{target} exists", hint=safe_files.TAKEN)
    try:
        with safe_files.making(target.parent):
            return _made(target, runs, texts, inputs)
    except OSError as error:
        where = error.filename or target
        raise EffioError(f"{where}: {error.strerror or error}", ExitCode.IO_ERROR) from None
