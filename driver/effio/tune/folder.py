# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of a tuning, in a folder that is made once and never written over:

RUNS/tunings/<time>-<name>/
call.json       what it was called with, for --resume
space.toml      its file, as it was
journal.jsonl   a line for each run: what it gave; the runs themselves are in RUNS
trials/         the hints files of the settings that were tried
tuning.json     what came out (docs/tune.md)
hints, romio-hints, environment.sh   what to use, if something helps
tuning.html     before and after
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from effio import text as fmt
from effio.campaign.state import CampaignFolder
from effio.errors import EffioError, ExitCode, results_error
from effio.store import safe_files
from effio.store.all_runs import Store
from effio.store.short_ids import is_part
from effio.tune.search import Reading, Terms, Trial
from effio.tune.setting import Group

FOLDER = "tunings"
_JOURNAL = "journal.jsonl"
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Called(BaseModel):
    """call.json."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)
    schema_name: str = Field(
        default="effio-tuning-call/1", alias="schema", pattern=r"^effio-tuning-call/1(\.\d+)?$"
    )
    file: str
    options: dict[str, str] = Field(default_factory=dict)  # given in place of the file's
    directory: str
    ranks: int = Field(ge=1)
    nodes: int | None = None
    ranks_per_node: int | None = None
    launcher: str | None = None
    launcher_options: tuple[str, ...] = ()
    engine: str = ""
    engine_sha256: str = ""
    seconds: float | None = None
    runs: int | None = None
    confirmations: int = Field(ge=3)
    tolerance: float = Field(ge=0, lt=1)
    seed: int = 1

    def terms(self) -> Terms:
        return Terms(self.seconds, self.runs, self.confirmations, self.tolerance, self.seed)


class _Line(BaseModel):
    """A line of the journal."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)
    trial: str
    values: list[tuple[tuple[str, str, str], Positive]] = Field(default_factory=list)
    seconds: float = Field(default=0.0, ge=0)
    fault: str = ""
    run: str = ""
    notes: tuple[str, ...] = ()
    unit: str = ""

    def reading(self) -> Reading:
        values = {Group(*group): value for group, value in self.values}
        return Reading(values, self.seconds, self.fault, self.run, self.notes, self.unit)


def _key(trial: Trial) -> str:
    """The key of a trial with all that it is set up with: a journal is for this search only."""
    parts = [trial.setup.job.id, *trial.setup.rules()]
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
    return f"{trial.stage} {trial.round} {trial.name} {digest}"


class TuningFolder:
    def __init__(self, runs: Store, name: str) -> None:
        self.runs = runs
        self.name = name
        self.path = runs.root / FOLDER / name
        self._known: dict[str, Reading] | None = None
        self._created: tuple[Path, ...] = ()

    @staticmethod
    def create(runs: Store, name: str) -> TuningFolder:
        """A fresh one, named after the time and the file."""
        stem = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ") + f"-{name}"
        for attempt in range(1, 1000):
            folder = TuningFolder(runs, stem if attempt == 1 else f"{stem}-{attempt}")
            folder._created = safe_files.missing_directories(folder.path.parent)
            try:
                with safe_files.making(folder.path.parent, runs.root):
                    folder.path.mkdir()
            except FileExistsError:
                continue
            except OSError as error:
                raise results_error(runs.root, error) from None
            return folder
        raise EffioError(f"no free name for a tuning in {runs.root}", ExitCode.IO_ERROR)

    def locked(self, take_over: bool = False) -> contextlib.AbstractContextManager[None]:
        return CampaignFolder(self.runs, self.name, FOLDER).locked(take_over)

    def write(self, name: str, text: str) -> Path:
        try:
            safe_files.write_atomically(self.path / name, text, below=self.runs.root)
        except OSError as error:
            raise self._error(error) from None
        return self.path / name

    def _error(self, error: OSError) -> EffioError:
        """A search that has measured something continues where that is."""
        return results_error(self.path, error, new=not self._has_measured())

    def _has_measured(self) -> bool:
        """Whether the journal has a line; on a full disk it may be there without one."""
        try:
            return next(self._lines(), None) is not None
        except EffioError:
            return True

    def keep(self, called: Called, text: str) -> None:
        """Raises with nothing left behind."""
        try:
            self.write("space.toml", text)
            written = safe_files.json_text(called.model_dump(by_alias=True), indent=2)
            self.write("call.json", written + "\n")
        except BaseException:
            self.discard()
            raise

    def called(self) -> Called:
        file = self.path / "call.json"
        try:
            return Called.model_validate(
                safe_files.json_of(safe_files.read_text(file, below=self.runs.root))
            )
        except (OSError, ValueError, RecursionError) as error:
            raise safe_files.unreadable(file, error) from None

    def hints_file(self, name: str, rules: Sequence[str]) -> Path | None:
        """Where the rules of a set-up stand; None without rules."""
        if not rules:
            return None
        place = self.path / "trials"
        try:
            safe_files.make_directories(place, self.runs.root)
        except OSError as error:
            raise self._error(error) from None
        return self.write(f"trials/{name}.hints", "\n".join(rules) + "\n").absolute()

    def discard_if_empty(self) -> bool:
        """Removes a folder in which nothing was measured."""
        if self._has_measured():
            return False
        self.discard()
        return True

    def discard(self) -> None:
        """Also removes directories above it that were made for it, if nothing else is in them."""
        shutil.rmtree(self.path, ignore_errors=True)
        safe_files.remove_empty(self._created)

    # The journal ---------------------------------------------------------------------------------

    def _lines(self) -> Iterator[_Line]:
        """A driver that was killed may have left half a line at the end."""
        try:
            text = safe_files.read_text(
                self.path / _JOURNAL, below=self.runs.root, errors="replace"
            )
        except FileNotFoundError:
            return
        except OSError as error:
            raise results_error(self.path, error) from None
        for line in fmt.lines(text):
            with contextlib.suppress(ValueError, RecursionError, ValidationError):
                yield _Line.model_validate(safe_files.json_of(line))

    def reading(self, trial: Trial) -> Reading | None:
        """What an earlier call measured of it."""
        if self._known is None:
            self._known = {line.trial: line.reading() for line in self._lines()}
        return self._known.get(_key(trial))

    def note(self, trial: Trial, reading: Reading) -> None:
        line = _Line(
            trial=_key(trial),
            values=[((g.access, g.pattern, g.chunk), v) for g, v in reading.values.items()],
            seconds=reading.seconds,
            fault=reading.fault,
            run=reading.run,
            notes=reading.notes,
            unit=reading.unit,
        )
        try:
            with safe_files.updating(self.path / _JOURNAL, self.runs.root, append=True) as stream:
                # After half a line a new one begins.
                if stream.seek(0, os.SEEK_END):
                    stream.seek(-1, os.SEEK_END)
                    if stream.read(1) != b"\n":
                        stream.write(b"\n")
                stream.write(safe_files.json_text(line.model_dump()).encode() + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise results_error(self.path, error, new=False) from None


def names(runs: Store) -> list[str]:
    """The names of the tunings that are kept, the oldest first."""
    return sorted(file.parent.name for file in (runs.root / FOLDER).glob("*/call.json"))


def find(runs: Store, name: str) -> TuningFolder:
    """The tuning by its name, an unambiguous part of it, or `last`."""
    known = names(runs)
    if name == "last" and known:
        return TuningFolder(runs, known[-1])
    matching = [n for n in known if n == name] or [n for n in known if is_part(name, n)]
    if len(matching) == 1:
        return TuningFolder(runs, matching[0])
    if matching:
        some = ", ".join(matching[:4])
        raise EffioError(f"'{name}' is part of the names of {len(matching)} tunings: {some}")
    reported = ", ".join(known[-4:]) or "none"
    raise EffioError(f"no tuning '{name}' in {runs.root / FOLDER}; there are: {reported}")
