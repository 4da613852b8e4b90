# SPDX-License-Identifier: BSD-3-Clause
"""A run from request to sealed folder, here and now. batch_run.py has it as a job."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import shlex
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import effio
from effio import text as fmt
from effio.config.site import load_site
from effio.engine.program import Engine
from effio.errors import EffioError, ExitCode, results_error
from effio.launch import commands, layouts, placer, refusal, watch
from effio.launch.batch import explained
from effio.launch.choose import choose_launcher
from effio.launch.launchers import Launch, Launcher, Ranks
from effio.launch.live import LiveView
from effio.launch.machine import Machine
from effio.launch.places import ranks_stay_here, refuse_more_nodes, refuse_too_many
from effio.store import abilities, proof, safe_files, traffic
from effio.store import folder as store
from effio.store.all_runs import Store
from effio.store.environment import SITE_NAMES, kept_environment, of_secret
from effio.store.folder import RunFolder
from effio.store.reader import Result, ResultError, read_result
from effio.store.records import End
from effio.store.run_record import AbilityPart, CampaignPart, Outcome, RunRecord
from effio.store.shared_probes import directories_in
from effio.store.tidy import tidy_within

_PATIENCE_TO_REMOVE = 30.0  # seconds
_REFUSED = "refused"  # the engine left no result
# The engine says so when its result file takes no more.
_RESCUED = "; all results are kept in "


@dataclass(frozen=True)
class Request:
    """What the user requested. `arguments` are the engine's own, without the benchmark's name."""

    engine: Engine
    benchmark: str
    arguments: tuple[str, ...]
    ranks: Ranks
    machine: Machine
    launcher: str | None = None
    launcher_options: tuple[str, ...] = ()
    label: str = ""
    quiet: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)  # for the launcher and its ranks
    setup: tuple[tuple[str, ...], ...] = ()  # commands before the launch, and after it
    cleanup: tuple[tuple[str, ...], ...] = ()
    laid: layouts.Laying = field(default_factory=layouts.Laying)  # by commands of the set-up
    campaign: CampaignPart | None = None
    notes: bool = True  # what the launcher has to say of this machine is passed on
    patience: watch.Patience = field(default_factory=watch.Patience)

    def program(self, *more: str) -> tuple[str, ...]:
        return (str(self.engine.path), self.benchmark, *self.arguments, *more)


@dataclass(frozen=True)
class Finished:
    folder: RunFolder
    code: ExitCode
    reason: str
    not_started: bool = False  # the launcher ended without starting the engine
    refused: bool = False  # by the engine, before anything was done
    said: bool = False  # the engine has already printed the reason
    out_of_time: bool = False
    stop_wished: bool = False  # by the user, even if the run ended by itself
    forbidden: bool = False  # not started, in words of a machine that wants a batch job


def plain_command(request: Request) -> str:
    """What the user would type to run the same directly."""
    launcher = choose_launcher(
        request.engine, request.machine, request.launcher, request.launcher_options
    )
    launch = launch_of(request, launcher, request.program(), request.machine)
    settings = [f"{k}={shlex.quote(v)}" for k, v in launch.environment.items()]
    return " ".join([*settings, shlex.join(launch.command)])


def launch_of(
    request: Request, launcher: Launcher, program: Sequence[str], machine: Machine
) -> Launch:
    """The launch with the variables of the request and the names of variables that the site
    records."""
    added = dict(request.environment)
    if names := load_site().results.environment:
        added[SITE_NAMES] = ",".join(names)
    passing = launcher.passing(tuple(added))
    launch = passing.launch(request.ranks, program, machine)
    return replace(launch, environment={**launch.environment, **added})


def record_of(request: Request, folder: RunFolder, launcher: Launcher, launch: Launch) -> RunRecord:
    return RunRecord(
        id=folder.id,
        created=store.now_utc(),
        benchmark=request.benchmark,
        arguments=list(request.arguments),
        directory=str(Path.cwd()),
        command=list(launch.command),
        environment={k: of_secret(k, v) for k, v in launch.environment.items()},
        launcher=f"{launcher.program} ({launcher.mpi or launcher.name})",
        engine={
            "path": str(request.engine.path.resolve()),
            "origin": request.engine.origin,
            "sha256": request.engine.sha256,
            **request.engine.info.engine.model_dump(),
        },
        driver={
            "version": effio.__version__,
            "python": platform.python_version(),
            "command": ["effio", *sys.argv[1:]],
        },
        process=store.this_process(),
        folder=proof.folder_identity(folder.path),
        campaign=request.campaign,
    )


def data_directories(request: Request) -> list[str]:
    """The data directories, for the record of a run that may have several nodes."""
    with contextlib.suppress(EffioError):
        words = [request.benchmark, *request.arguments]
        plan = request.engine.check(words, request.ranks.total, request.ranks.per_node)
        return list(dict.fromkeys(str(Path.cwd() / one) for one in directories_in(plan)))
    return []


def _write_environment(folder: RunFolder, environment: Mapping[str, str]) -> None:
    kept = kept_environment(environment, load_site().results.environment)
    text = safe_files.json_text(kept, indent=2) + "\n"
    safe_files.write_atomically(folder.path / store.ENVIRONMENT, text)


def run_here(request: Request, runs: Store, view: LiveView) -> Finished:
    """Blocks until the run has ended. The folder is sealed whatever happened."""
    launcher = choose_launcher(
        request.engine, request.machine, request.launcher, request.launcher_options
    )
    refuse_too_many(request)
    refuse_more_nodes(request)
    with runs.preparing(request.benchmark, request.label) as folder:
        result = str(folder.result_path.absolute())
        program = request.program("--result", result, "--progress", "json")
        launch = launch_of(request, launcher, program, request.machine)
        record = record_of(request, folder, launcher, launch)
        if not ranks_stay_here(request):
            record.data_directories = data_directories(request)
        mark = f"{folder.id}-{uuid.uuid4().hex[:12]}"
        record.process["mark"] = mark
        folder.write_record(record)
        _write_environment(folder, {**os.environ, **launch.environment})
    for note in launch.notes if request.notes else ():
        view.message(note)
    watched = watch.Outcome()
    fault = commands.carry_out(request.setup, folder.path, "set-up", request.environment)
    if fault := fault or layouts.fault_of(request.laid, folder.path):
        outcome = _not_prepared(fault)
    else:
        watching = watch.Watch(launch, folder.path, mark, view, request.patience, request.quiet)
        before = traffic.counters()
        here = ranks_stay_here(request)
        words = request.arguments
        with placer.Placer(folder.result_path, words, here and placer.is_wanted(words)) as placed:
            watched = watching.run()
        if here:
            record.network = traffic.since(before)
            record.servers_of_files = placed.servers
        outcome = judge(folder, watched)
        if outcome.status == "done" and here:
            record.abilities = _abilities(folder)
    if fault := commands.carry_out(request.cleanup, folder.path, "clean-up", request.environment):
        view.message(fault)
    finished = seal(folder, record, outcome)
    if finished.code == ExitCode.HUNG or _was_cut_off(folder, outcome):
        _remove_leftovers(folder, mark, view)
    return replace(
        finished,
        refused=outcome.status == _REFUSED or _is_refusal(_result(folder)[0]),
        said=bool(outcome.reason) and any(outcome.reason in line for line in watched.last_words),
        # The run may have ended in order just before the time was up.
        out_of_time=watched.out_of_time > 0 and outcome.status != "done",
        stop_wished=watched.stop_wished,
        forbidden=finished.not_started and refusal.wants_a_job(watched.last_words),
    )


def _abilities(folder: RunFolder) -> list[AbilityPart]:
    """What the file system of the data can do, if it is one of servers."""
    result, _ = _result(folder)
    manifest = result.run.manifest if result is not None else None
    return _abilities_of(manifest.directory) if manifest is not None and manifest.real else []


@functools.cache
def _abilities_of(directory: str) -> list[AbilityPart]:
    """Once for all runs of a campaign."""
    place = Path(directory)
    with contextlib.suppress(OSError):
        if abilities.is_of_servers(place):
            found = abilities.abilities_of(place)
            return [AbilityPart(name=a.name, can=a.can, found=a.found) for a in found]
    return []


def _was_cut_off(folder: RunFolder, outcome: Outcome) -> bool:
    """Whether a second request to stop ended the ranks before they could remove their files."""
    result = _result(folder)[0]
    return outcome.status == "interrupted" and result is not None and result.end is None


def _remove_leftovers(folder: RunFolder, mark: str, view: LiveView) -> None:
    """Removes what a run left that hung or was cut off: the storage may not answer now either, and
    a process that it holds may write later."""
    later = f"effio clean {folder.id} removes what the run left"
    if alive := watch.processes_of(mark):
        held = fmt.count_of(len(alive), "process", "processes")
        view.message(f"{held} of the run cannot be ended yet; {later}")
    elif not tidy_within(_PATIENCE_TO_REMOVE, folder, view.message):
        view.message(f"removing files takes longer than {_PATIENCE_TO_REMOVE:.0f} s; {later}")


def _not_prepared(fault: str) -> Outcome:
    return Outcome(
        status="not prepared",
        exit_code=int(ExitCode.ENVIRONMENT),
        reason=fault,
        finished=store.now_utc(),
    )


def adopt(folder: RunFolder, tidy: Callable[[RunFolder], None]) -> str:
    """Ends, tidies and seals what a driver left that was killed: processes of the run that still
    live get the time to write their end, and the folder says how it ended. The seal comes last: a
    driver that is killed here as well leaves the rest of it to the next. A folder that is not ours
    (store/proof.py) is not touched, nor any process that it names: returns why."""
    record = folder.record()
    if record is None or folder.is_sealed:
        return ""
    if fault := proof.folder_fault(folder.path, record):
        return fault
    if record.batch is not None:
        # A job that no driver took over is not ours to end; it continues without a driver.
        if record.outcome is not None:
            seal(folder, record, record.outcome)
        return ""
    mark = record.process.get("mark")
    if isinstance(mark, str) and record.process.get("host") == os.uname().nodename:
        watch.end_processes(mark)
    tidy(folder)
    outcome = record.outcome
    result, fault = _result(folder)
    if outcome is None and result is not None and result.end is not None:
        outcome = judge(folder, watch.Outcome())
    seal(
        folder,
        record,
        outcome
        or Outcome(
            status="interrupted",
            exit_code=int(ExitCode.INTERRUPTED),
            reason=fault or "the driver was killed in the middle of the run",
            finished=store.now_utc(),
        ),
    )
    return ""


def seal(folder: RunFolder, record: RunRecord, outcome: Outcome) -> Finished:
    """Writes down how it ended. Where that is impossible the outcome is reported anyway."""
    code, reason = ExitCode.of_number(outcome.exit_code), outcome.reason
    try:
        record.outcome = outcome
        # A job's script seals too; its sums end here, so that none is of a record that was.
        (folder.path / store.SUMS).unlink(missing_ok=True)
        folder.write_record(record)
        folder.seal()
    except OSError as error:
        lost = results_error(folder.path, error).message
        reason = f"{reason}; {lost}" if reason else lost
        code = ExitCode.RESULTS if code == ExitCode.DONE else code
    return Finished(folder, code, reason, not_started=outcome.status == "not started")


def _result(folder: RunFolder) -> tuple[Result | None, str]:
    if not folder.result_path.exists():
        return None, ""
    try:
        return folder.result(), ""
    except ResultError as error:
        return None, error.message


def ending_of(path: Path) -> End | None:
    """The `end` line of a result that the engine keeps there."""
    try:
        return read_result(path).end
    except (ResultError, OSError):
        return None


def _is_refusal(result: Result | None) -> bool:
    """Whether the engine ended before it declared its files: then there is nothing to keep."""
    if result is None:
        return False
    of_storage = "dir" in result.run.options
    refusing = result.status in ("usage", "io_error") and not result.measurements
    return of_storage and refusing and result.run.manifest is None


def judge(folder: RunFolder, outcome: watch.Outcome) -> Outcome:
    """The `end` line is the truth; where there is none, the driver says what it saw."""
    result, fault = _result(folder)
    measured = result is not None and result.measurements
    kept = "complete measurements are kept" if measured else "no measurement was complete"

    def ended(status: str, code: ExitCode, reason: str) -> Outcome:
        return Outcome(
            status=status,
            exit_code=int(code),
            reason=reason,
            launcher_code=outcome.code,
            finished=store.now_utc(),
            seconds=round(outcome.seconds, 3),
        )

    if elsewhere := [w for w in (*outcome.last_words, *outcome.afterwords) if _RESCUED in w]:
        reported = elsewhere[-1].removeprefix("effio-mpi: ")
        end = ending_of(Path(reported.partition(_RESCUED)[2]))
        if end is not None and end.status != "done":
            # Where the results are says less than how the run ended.
            code = ExitCode.of_status(end.status)
            return ended(end.status, code, f"{end.reason}; {reported}")
        return ended("results", ExitCode.RESULTS, reported)
    if result is not None and result.end is not None:
        reason = result.end.reason
        if outcome.log_lost and result.status == "done":
            return ended("results", ExitCode.RESULTS, f"a log is not complete: {outcome.log_lost}")
        if outcome.out_of_time and result.status == "interrupted":
            given = fmt.elapsed(outcome.out_of_time)
            reason = f"stopped at its time limit of {given}; {kept}"
            return ended("interrupted", ExitCode.INTERRUPTED, reason)
        if outcome.hung and result.status == "interrupted":
            # Being ended woke it up: it could still write its `end` line.
            return ended("hung", ExitCode.HUNG, outcome.hung)
        if outcome.hung:
            begin = "complete, but" if result.status == "done" else f"{reason};"
            reason = f"{begin} the program did not leave: {outcome.hung}"
        return ended(result.status, ExitCode.of_status(result.status), reason)
    if outcome.hung:
        return ended("hung", ExitCode.HUNG, outcome.hung)
    if outcome.interrupted:
        return ended("interrupted", ExitCode.INTERRUPTED, f"stopped at once; {kept}")
    if fault:
        return ended("died", ExitCode.IO_ERROR, fault)
    if outcome.job_ended:
        how = f"the job ended as {explained(outcome.job_ended)}"
    else:
        how = f"signal {-outcome.code}" if outcome.code < 0 else f"exit code {outcome.code}"
    if outcome.code == ExitCode.RESULTS and result is not None:
        reason = "the result file is not complete: its place takes no more; see above"
        return ended("results", ExitCode.RESULTS, reason)
    if result is not None:
        return ended(
            "died",
            ExitCode.ENVIRONMENT,
            f"the engine died in the middle of the run ({how}); {kept}",
        )
    known = outcome.code in {
        ExitCode.USAGE,
        ExitCode.IO_ERROR,
        ExitCode.ENVIRONMENT,
        ExitCode.RESULTS,
    }
    spoken = [line for line in outcome.last_words if line.startswith(watch.ENGINE_SAYS)]
    if known and spoken:
        return ended(_REFUSED, ExitCode(outcome.code), spoken[-1].removeprefix(watch.ENGINE_SAYS))
    reason = f"the launcher ended before the engine started ({how})"
    if words := refusal.first_of(outcome.last_words):
        reason = f"{reason}: {words}"
    # What is wrong on this machine says nothing about the nodes of a job.
    if not outcome.job_ended and (lacking := refusal.temporary_fault(os.environ)):
        reason = f"{reason}; {lacking}; {refusal.ANOTHER_TEMPORARY}"
    return ended("not started", ExitCode.ENVIRONMENT, reason)
