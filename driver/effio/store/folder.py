# SPDX-License-Identifier: BSD-3-Clause
"""One folder for each run, made once and never overwritten.

run.json          what was started, with which engine and launcher, and how it ended
environment.json  the variables that steer MPI, I/O and the batch system (no others: an
                  environment holds secrets)
result.jsonl      the engine's result file
result.turns/     of interference: the results of each turn's groups, and their logs
stdout.log, stderr.log
job.sh, job.log, environment.txt   of a batch job
SHA256SUMS        of the files above, when the run has ended
notes.json        what people say of it afterwards: notes and tags
report.html       drawn from them
progress.json     how far it is, while it continues
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from effio import text as fmt
from effio.errors import EffioError, results_error
from effio.store import safe_files
from effio.store.safe_files import is_regular, sha256_of, write_atomically

# What reads results and records takes longer to import than most lists of runs take; they come from
# the index.
if TYPE_CHECKING:
    from effio.store.notes import Notes
    from effio.store.reader import Digest, Result, ResultError
    from effio.store.run_record import RunRecord

RESULT = "result.jsonl"
TOGETHER = "together.log"  # of a job of several benchmarks, next to their folders
TURNS = f"{Path(RESULT).stem}.turns"  # their folder, next to the result
_TURN_FILE = re.compile(
    rf"[A-Za-z0-9][A-Za-z0-9_.=+-]*/({re.escape(TOGETHER)}|group-\d{{1,9}}/{re.escape(RESULT)})"
)
RECORD = "run.json"
ENVIRONMENT = "environment.json"
SUMS = "SHA256SUMS"
NOTES = "notes.json"
COMMANDS = "commands.jsonl"  # set-up and clean-up, as they went
JOB_SCRIPT = "job.sh"
REPORT = "report.html"
# How far a run is, while it continues: the engine's last word of progress.
PROGRESS = "progress.json"
JOB_LOG = "job.log"
_SUMMED = (RESULT, RECORD, ENVIRONMENT, "environment.txt", "stdout.log", "stderr.log")

# Texts of people and programs, which may hold secrets until the run is sealed.
_FREE_TEXTS = ("stdout.log", "stderr.log", JOB_SCRIPT, JOB_LOG)

_MAX_SUMMED = 100_000
_NOTES_PATIENCE = 10.0  # seconds

# All that a run leaves but the page, which is drawn from them, and its turns.
KEPT_FILES = (*_SUMMED, JOB_SCRIPT, JOB_LOG, COMMANDS, NOTES, SUMS)

State = Literal["planned", "submitted", "running", "done", "failed", "interrupted", "hung", "newer"]


def _locks(handle: int) -> bool:
    """Whether the lock is ours now; OSError where there are none."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def held(place: Path, patience: float, other: str) -> Iterator[None]:
    """The lock of a directory; EffioError with `other` if it is not free within `patience`
    seconds. On a file system without locks of directories it does nothing."""
    with contextlib.ExitStack() as stack:
        try:
            handle = stack.enter_context(safe_files.directory(place))
            deadline = time.monotonic() + patience
            while not _locks(handle):
                if time.monotonic() > deadline:
                    raise EffioError(other)
                time.sleep(0.02)
        except OSError:
            pass
        yield


def files_of_turns(result: Path) -> list[Path]:
    """What the turns of interference left next to its result."""
    place = result.with_suffix(Path(TURNS).suffix)
    found = sorted([*place.glob(f"*/{TOGETHER}"), *place.glob(f"*/group-*/{RESULT}")])
    return [path for path in found if is_regular(path)]


def is_of_turn(name: str) -> bool:
    """Whether the name is that of a turn's file in the folder of a run."""
    folder, _, rest = name.partition("/")
    return folder == TURNS and _TURN_FILE.fullmatch(rest) is not None


def now_utc() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class RunFolder:
    path: Path
    # Directories of the store that were created for this run, the deepest first.
    created: tuple[Path, ...] = field(default=(), compare=False)

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def result_path(self) -> Path:
        return self.path / RESULT

    @property
    def has_result(self) -> bool:
        return is_regular(self.result_path)

    def turns(self) -> list[str]:
        """Names in this folder of what the turns of interference left."""
        names = [
            path.relative_to(self.path).as_posix() for path in files_of_turns(self.result_path)
        ]
        return [name for name in names if is_of_turn(name)]

    def record(self, digest: Digest | None = None) -> RunRecord | None:
        """None if there is none, or one that cannot be read. `digest` gets the bytes of the
        file."""
        from effio.store.reader import MAX_LINE_BYTES
        from effio.store.run_record import RunRecord

        try:
            data = safe_files.read_bytes(self.path / RECORD, MAX_LINE_BYTES)
            if digest is not None:
                digest.update(data)
            return RunRecord.model_validate(safe_files.json_of(data.decode()))
        except (OSError, ValueError, RecursionError):  # of pydantic as well
            return None

    def write_record(self, record: RunRecord) -> None:
        text = safe_files.json_text(record.model_dump(by_alias=True), indent=2)
        write_atomically(self.path / RECORD, text + "\n")

    def notes(self, to_change: bool = False) -> Notes:
        """Empty if there are none, or such as cannot be read; EffioError about the latter if they
        are read to be written again."""
        from effio.store.notes import MAX_BYTES, NO_NOTES, Notes

        file = self.path / NOTES
        if not os.path.lexists(file):
            return NO_NOTES
        try:
            return Notes.model_validate(safe_files.json_of(safe_files.read_text(file, MAX_BYTES)))
        except (OSError, ValueError, RecursionError) as error:
            if to_change and os.path.lexists(file):
                hint = "move it away; it is not replaced"
                raise safe_files.unreadable(file, error, hint) from None
            return NO_NOTES

    @contextlib.contextmanager
    def noting(self) -> Iterator[None]:
        """While it is held no other effio changes the notes. On a file system without locks of
        directories it does nothing."""
        other = f"{self.id}: another effio changes the notes; try again"
        with held(self.path, _NOTES_PATIENCE, other):
            yield

    def write_notes(self, said: Notes) -> None:
        from effio.store.notes import MAX_BYTES

        text = safe_files.json_text(said.model_dump(by_alias=True), indent=2)
        if len(text) >= MAX_BYTES:
            raise EffioError(f"{self.id}: all notes together take {fmt.size(MAX_BYTES)} at most")
        try:
            write_atomically(self.path / NOTES, text + "\n")
        except OSError as error:
            raise results_error(self.path, error, new=False) from None

    def result(self, digest: Digest | None = None) -> Result:
        from effio.store.reader import read_result

        return read_result(self.result_path, digest)

    def reported(
        self,
        known: dict[str, str] | None = None,
        sealed: Sequence[tuple[str, str]] | None = None,
    ) -> Result:
        """The result, with what the driver and people know of the run. If the result, the record or
        the result of a turn changed after the run had ended, no number of the run is valid. `known`
        gets the checksums of the files that were read; `sealed`, if the caller has it already."""
        from effio.store.on_servers import judged_by_network

        known = {} if known is None else known
        digest, of_record = hashlib.sha256(), hashlib.sha256()
        result = self.result(digest)
        result.record, result.notes = self.record(of_record), self.notes()
        result.measurements = judged_by_network(result)
        result.content = digest.hexdigest()
        known |= {RESULT: result.content, RECORD: of_record.hexdigest()}
        sums = self.sealed() if sealed is None else sealed
        judged = [(d, name) for d, name in sums if name in (*known, SUMS) or is_of_turn(name)]
        if changed := self.changed(judged, known):
            result.distrust(changed_text(changed))
        return result

    def discard(self) -> None:
        """Removes a folder without anything worth keeping, and its store with what is above it if
        those were created for it."""
        shutil.rmtree(self.path, ignore_errors=True)
        safe_files.remove_empty(self.created)

    def seal(self) -> None:
        """Writes the checksums, with all that they are of on storage. To be called when the run has
        ended. Secrets in logs and in the job's script are masked before."""
        from effio.store import masking

        for name in _FREE_TEXTS:
            if is_regular(self.path / name):
                masking.mask_file(self.path / name)
        summed = [name for name in _SUMMED if is_regular(self.path / name)] + self.turns()
        for name in summed:
            safe_files.sync(self.path / name)
        lines = [f"{sha256_of(self.path / name)}  {name}" for name in summed]
        write_atomically(self.path / SUMS, "\n".join(lines) + "\n")

    def may_hold_secrets(self, name: str) -> bool:
        """Whether a file must be masked when it is copied elsewhere. Files with a checksum were
        masked before and cannot change any more."""
        return name in _FREE_TEXTS and not (name in _SUMMED and self.is_sealed)

    @property
    def is_sealed(self) -> bool:
        return is_regular(self.path / SUMS)

    def sealed(self) -> list[tuple[str, str]]:
        """Checksum and name of every file that was sealed. If the checksum of the result is
        missing, the list was damaged: it is then included, with an empty checksum that no file
        has."""
        if not self.is_sealed:
            return []
        try:
            lines = fmt.lines(safe_files.read_text(self.path / SUMS))[:_MAX_SUMMED]
        except (OSError, ValueError):
            lines = []
        pairs = [line.partition("  ")[::2] for line in lines]
        found = [(digest, name) for digest, name in pairs if name in _SUMMED or is_of_turn(name)]
        if self.has_result and all(name != RESULT for _, name in found):
            found.append(("", SUMS))
        return found

    def changed_since_sealed(self) -> list[str]:
        """Names of files that differ from their checksum or are gone; empty if none was sealed."""
        return self.changed(self.sealed())

    def changed(
        self, sealed: Sequence[tuple[str, str]], known: Mapping[str, str] | None = None
    ) -> list[str]:
        """The names that no longer have these checksums. `known`: checksums of files as they
        are."""
        found = known or {}
        changed = []
        for digest, name in sealed:
            try:
                is_same = (found.get(name) or sha256_of(self.path / name)) == digest
            except OSError:
                is_same = False
            if not is_same:
                changed.append(name)
        return changed

    def no_result(self) -> EffioError:
        """Of a job that waits, or a run that never started: which, and why."""
        state, record = self.state(), self.record()
        if state in ("planned", "submitted"):
            hint = f"its job script is {self.path / JOB_SCRIPT}"
        elif record is not None and record.outcome is not None:
            hint = record.outcome.reason
        else:
            hint = f"look into {self.path / 'stderr.log'}"
        return EffioError(f"run {self.id} has no result: it is {state}", hint=hint)

    def state(self) -> State:
        """The state, from the files alone, so that a killed driver leaves nothing false behind."""
        from effio.store.reader import ResultError

        try:
            return self.state_by(self.result(), self.record())
        except ResultError as error:
            return self.state_by(error, self.record())

    def state_by(self, result: Result | ResultError, record: RunRecord | None) -> State:
        """The same, for who has read them already."""
        from effio.store.reader import Result, ResultError

        if isinstance(result, ResultError) and result.newer:
            return "newer"
        status = result.status if isinstance(result, Result) else ""
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
        return "running" if is_alive(record.process) else "failed"


def _start_time(pid: int) -> str:
    """When a process started, in ticks since boot: a later one with its number differs in it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def this_process() -> dict[str, Any]:
    return {"host": os.uname().nodename, "pid": os.getpid(), "start": _start_time(os.getpid())}


def is_alive(process: Mapping[str, Any]) -> bool:
    """On another host we cannot know; then the run counts as running."""
    if process.get("host") != os.uname().nodename:
        return True
    pid, start = process.get("pid"), process.get("start")
    return isinstance(pid, int) and bool(start) and _start_time(pid) == start


def reported_result(path: Path) -> Result:
    """A result file; if it is in a run folder, with what the driver and people know of the run."""
    if path.name == RESULT:
        return RunFolder(path.parent).reported()
    from effio.store.on_servers import judged_by_network
    from effio.store.reader import read_result

    digest = hashlib.sha256()
    result = read_result(path, digest)
    result.content = digest.hexdigest()
    result.measurements = judged_by_network(result)
    return result


def changed_text(names: Sequence[str]) -> str:
    return f"{', '.join(names)} changed after the run had ended (checksums differ)"
