# SPDX-License-Identifier: BSD-3-Clause
"""One folder for each run, made once and never overwritten.

run.json          what was started, with which engine and launcher, and how it ended
environment.json  the variables that steer MPI, I/O and the batch system (no others: an
                  environment holds secrets)
result.jsonl      the engine's result file
stdout.log, stderr.log
job.sh, job.log, environment.txt   of a batch job
SHA256SUMS        of the files above, when the run has ended
report.html       drawn from them
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from effio.errors import EffioError, ExitCode
from effio.store.reader import MAX_LINE_BYTES, Result, ResultError, read_result

RESULT = "result.jsonl"
RECORD = "run.json"
ENVIRONMENT = "environment.json"
SUMS = "SHA256SUMS"
JOB_SCRIPT = "job.sh"
REPORT = "report.html"
_SUMMED = (RESULT, RECORD, ENVIRONMENT, "environment.txt", "stdout.log", "stderr.log")

RECORD_SCHEMA = "effio-run/1"

# Only what explains a result; never the rest. Extended regular expressions, for grep as for us.
TELLING = (
    "^(OMPI_|PMIX_MCA_|ROMIO_|MPIR_|MPICH_|I_MPI_|UCX_|FI_|PNETCDF_|HDF5_|OMP_NUM|DARSHAN_|"
    "SLURM|PBS_|LSB_|FLUX_JOB|FLUX_ENCLOSING|EFFIO_|CRAY|PE_ENV|"
    "LOADEDMODULES|PATH|LD_LIBRARY_PATH|LD_PRELOAD|TMPDIR|HOSTNAME|LANG)"
)
SECRET = "^[^=]*(TOKEN|SECRET|PASSWORD|CREDENTIAL|_KEY|JWT)"

State = Literal["planned", "submitted", "running", "done", "failed", "interrupted", "hung"]


class Outcome(BaseModel):
    """How a run ended, as the driver saw it."""

    model_config = ConfigDict(extra="ignore")
    status: str  # of the table of exit codes, or "died"
    exit_code: int
    reason: str = ""
    launcher_code: int | None = None
    finished: str = ""
    seconds: float = 0.0


class RunRecord(BaseModel):
    """run.json."""

    model_config = ConfigDict(extra="ignore")
    schema_name: str = Field(
        default=RECORD_SCHEMA, alias="schema", pattern=r"^effio-run/1(\.\d+)?$"
    )
    id: str
    created: str
    benchmark: str
    arguments: list[str]  # the engine's, as asked for
    directory: str  # where effio was called; relative paths count from there
    command: list[str]  # as started
    environment: dict[str, str] = Field(default_factory=dict)  # set for it by effio
    launcher: str = ""
    engine: dict[str, Any] = Field(default_factory=dict)
    driver: dict[str, Any] = Field(default_factory=dict)
    process: dict[str, Any] = Field(default_factory=dict)  # host, pid and start time of the driver
    batch: dict[str, Any] | None = None
    outcome: Outcome | None = None


def now_utc() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def write_atomically(path: Path, text: str) -> None:
    """The file has either its old or its new content, whatever happens."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        # As a plainly created file: mkstemp makes them private.
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def telling_environment(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in sorted(environment.items())
        if re.search(TELLING, name) and not re.search(SECRET, name, re.I)
    }


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@dataclass(frozen=True)
class RunFolder:
    path: Path

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def result_path(self) -> Path:
        return self.path / RESULT

    @property
    def has_result(self) -> bool:
        return self.result_path.is_file()

    def record(self) -> RunRecord | None:
        """None if there is none, or one that cannot be read."""
        file = self.path / RECORD
        try:
            if file.stat().st_size > MAX_LINE_BYTES:
                return None
            return RunRecord.model_validate(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError, ValidationError):
            return None

    def write_record(self, record: RunRecord) -> None:
        text = json.dumps(record.model_dump(by_alias=True), indent=2)
        write_atomically(self.path / RECORD, text + "\n")

    def result(self) -> Result:
        return read_result(self.result_path)

    def seal(self) -> None:
        """Writes the checksums. To be called when the run has ended."""
        lines = [
            f"{_sha256(self.path / name)}  {name}"
            for name in _SUMMED
            if (self.path / name).is_file()
        ]
        write_atomically(self.path / SUMS, "\n".join(lines) + "\n")

    def changed_since_sealed(self) -> list[str]:
        """Names of files that differ from their checksum or are gone; empty if none was sealed."""
        try:
            lines = (self.path / SUMS).read_text(encoding="utf-8").splitlines()[:1000]
        except (OSError, ValueError):
            return []
        changed = []
        for line in lines:
            digest, _, name = line.partition("  ")
            if name not in _SUMMED:
                continue
            file = self.path / name
            if not file.is_file() or _sha256(file) != digest:
                changed.append(name)
        return changed

    def state(self) -> State:
        """From the files alone, so that a killed driver leaves no lie behind."""
        record = self.record()
        try:
            status = self.result().status
        except ResultError:
            status = ""
        if status in ("done", "data_errors"):
            return "done"
        if record is not None and record.outcome is not None and record.outcome.status == "hung":
            return "hung"
        if status in ("interrupted", "hung"):
            return status  # type: ignore[return-value]
        if status and status != "unfinished":
            return "failed"
        if record is None:
            return "failed"
        if record.outcome is not None:
            known: dict[str, State] = {"interrupted": "interrupted", "hung": "hung"}
            return known.get(record.outcome.status, "failed")
        if record.batch is not None:
            if status == "unfinished":
                return "running" if not (self.path / SUMS).exists() else "failed"
            if (self.path / SUMS).exists():
                return "failed"
            return "submitted" if record.batch.get("job_id") else "planned"
        return "running" if _is_alive(record.process) else "failed"


def _start_time(pid: int) -> str:
    """When a process started, in ticks since boot: tells it from a later one of its number."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def this_process() -> dict[str, Any]:
    return {"host": os.uname().nodename, "pid": os.getpid(), "start": _start_time(os.getpid())}


def _is_alive(process: Mapping[str, Any]) -> bool:
    """On another host we cannot know; then the run counts as running."""
    if process.get("host") != os.uname().nodename:
        return True
    pid, start = process.get("pid"), process.get("start")
    return isinstance(pid, int) and bool(start) and _start_time(pid) == start


class Store:
    """All runs under one directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def create(self, benchmark: str, label: str = "") -> RunFolder:
        """A fresh folder named after the time and the benchmark."""
        stem = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ") + f"-{benchmark}"
        if label:
            stem += f"-{label}"
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            for attempt in range(1, 1000):
                path = self.root / (stem if attempt == 1 else f"{stem}-{attempt}")
                try:
                    path.mkdir()
                except FileExistsError:
                    continue
                return RunFolder(path)
        except OSError as error:
            raise EffioError(
                f"cannot create a folder for the run in {self.root}: {error.strerror}",
                ExitCode.IO_ERROR,
                "name another place: --runs DIR, or EFFIO_RUNS",
            ) from None
        raise EffioError(f"no free name for a run in {self.root}", ExitCode.IO_ERROR)

    def folders(self) -> list[RunFolder]:
        """The newest last."""
        try:
            entries = sorted(self.root.iterdir())
        except OSError:
            return []
        return [RunFolder(p) for p in entries if (p / RECORD).is_file() or (p / RESULT).is_file()]

    def find(self, name: str) -> RunFolder | Path:
        """A run by folder, by result file, by its id or an unambiguous part of it, or `last`: the
        newest that has a result.

        A plain result file that belongs to no folder is returned as its path.
        """
        path = Path(name).expanduser()
        if path.is_dir() and ((path / RECORD).is_file() or (path / RESULT).is_file()):
            return RunFolder(path)
        if path.is_file():
            beside = path.parent / RECORD
            return RunFolder(path.parent) if path.name == RESULT and beside.is_file() else path
        folders = self.folders()
        if name == "last":
            measured = [f for f in folders if f.has_result]
            if not measured:
                waiting = f"; {len(folders)} have not measured anything yet" if folders else ""
                raise EffioError(
                    f"there is no run with a result in {self.root}{waiting}",
                    hint="effio runs" if folders else "effio run --help",
                )
            return measured[-1]
        matching = [f for f in folders if f.id == name] or [f for f in folders if name in f.id]
        if len(matching) == 1:
            return matching[0]
        if matching:
            some = ", ".join(f.id for f in matching[:4])
            raise EffioError(
                f"'{name}' is part of the names of {len(matching)} runs: {some}"
                + (", …" if len(matching) > 4 else "")
            )
        raise EffioError(
            f"no run '{name}': neither a folder, a result file, nor a run in {self.root}",
            hint="effio runs lists them",
        )
