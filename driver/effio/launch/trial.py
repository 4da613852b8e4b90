# SPDX-License-Identifier: BSD-3-Clause
"""Some MPI libraries crash in nonblocking collective calls, or move wrong data. Before a run that
makes them they are tried in a short separate job (`ior --trial`), and the engine gets what was
found (`--tried`). A trial is a run like any other; one that is kept and was of the same engine,
launcher, calls and settings of MPI is not made again."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from effio.errors import EffioError, ExitCode
from effio.launch import job
from effio.launch.choose import choose_launcher
from effio.launch.live import LiveView
from effio.store import clean, safe_files
from effio.store.all_runs import Store
from effio.store.environment import kept_environment
from effio.store.folder import ENVIRONMENT, RunFolder
from effio.store.masking import masked_words
from effio.store.reader import ResultError

_LABEL = "trial"
_WATCHDOG = "--watchdog=20s"
# What of the environment may choose other calls of the library.
_STEERS_MPI = re.compile(r"^(OMPI_|PMIX_MCA_|ROMIO_|MPIR_|MPICH_|I_MPI_)")


class TrialError(EffioError):
    """The trial failed; how a run ends that needs it."""


def _given(arguments: Sequence[str]) -> dict[str, str]:
    given = {}
    for word, after in pairwise((*arguments, "")):
        name, equals, value = word.partition("=")
        if name.startswith("--"):
            given[name] = value if equals else after
    return given


def is_needed(request: job.Request) -> bool:
    """Whether a trial is needed: `ior` with calls that are both collective and queued, unless a
    trial is given."""
    given = _given(request.arguments)
    depth = given.get("--queue-depth", "1")
    return (
        request.benchmark == "ior"
        and "--collective" in given
        and not given.keys() & {"--trial", "--tried"}
        and depth.isdecimal()
        and int(depth) > 1
    )


def trial_of(request: job.Request) -> job.Request:
    words = ["--trial"]
    if "--watchdog" not in _given(request.arguments):
        words.append(_WATCHDOG)
    return replace(request, arguments=(*request.arguments, *words), label=_LABEL, quiet=True)


def with_word(request: job.Request, word: str) -> job.Request:
    return replace(request, arguments=(*request.arguments, f"--tried={word}"))


def tried(request: job.Request, runs: Store, view: LiveView) -> job.Request:
    """The request as the engine takes it. Raises TrialError if its calls do not work here."""
    trial = trial_of(request)
    for folder in reversed(runs.folders()):
        if folder.id.endswith(f"-{_LABEL}") and _is_the_same(folder, trial):
            word = _found(folder)
            if word:
                view.message(f"the MPI library can do this: tried by {folder.id}")
                return with_word(request, word)
    view.message("trying whether the MPI library can do this, in a short separate job")
    finished = job.run_here(trial, runs, view)
    word = _found(finished.folder) if finished.code == ExitCode.DONE else None
    if word and finished.stop_wished:
        raise EffioError("interrupted before the run itself", ExitCode.INTERRUPTED)
    if word:
        return with_word(request, word)
    _tidy(finished.folder)
    reported = f"{finished.reason or finished.code.name.lower()} (run {finished.folder.id})"
    died = finished.code in {ExitCode.HUNG, ExitCode.DATA_ERRORS} or (
        finished.code == ExitCode.ENVIRONMENT and not finished.not_started
    )
    if not died:
        raise TrialError(f"the trial of nonblocking collective calls: {reported}", finished.code)
    raise TrialError(
        f"nonblocking collective calls do not work with this MPI library: {reported}",
        ExitCode.ENVIRONMENT,
        "leave out --queue-depth or --collective, or take another of the library's "
        "implementations of MPI-IO (docs/benchmarks/ior.md, Collective calls under way)",
    )


def _is_the_same(folder: RunFolder, trial: job.Request) -> bool:
    record = folder.record()
    if record is None or record.benchmark != trial.benchmark:
        return False
    launcher = choose_launcher(trial.engine, trial.machine, trial.launcher, trial.launcher_options)
    program = trial.program("--result", "", "--progress", "json")
    launch = job.launch_of(trial, launcher, program, trial.machine)
    return (
        record.engine.get("sha256") == trial.engine.sha256
        and record.directory == str(Path.cwd())
        and _without_result(record.command) == _without_result(masked_words(launch.command))
        and _steering(_kept_environment(folder))
        == _steering(kept_environment({**os.environ, **launch.environment}))
    )


def _without_result(command: Sequence[str]) -> list[str]:
    return [w for w, before in zip(command, ["", *command], strict=False) if before != "--result"]


def _kept_environment(folder: RunFolder) -> Mapping[str, str]:
    try:
        kept = safe_files.json_of(safe_files.read_text(folder.path / ENVIRONMENT))
    except (OSError, ValueError, RecursionError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _steering(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if _STEERS_MPI.search(name)}


def _found(folder: RunFolder) -> str | None:
    """The word for --tried, of a trial in which all was right."""
    try:
        result = folder.result()
    except ResultError:
        return None
    word = result.end.detail.get("tried") if result.end and result.status == "done" else None
    return word if isinstance(word, str) else None


def _tidy(folder: RunFolder) -> None:
    """What a crash left would be in the way of the next trial."""
    with contextlib.suppress(EffioError):
        result = folder.result()
        files, _ = clean.leftovers(result, clean.directory_of(result, folder), folder=folder)
        clean.remove(files)
