# SPDX-License-Identifier: BSD-3-Clause
"""A run from request to sealed folder: here and now, or through a batch system."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import effio
from effio import text as fmt
from effio.engine.program import Engine
from effio.errors import EffioError, ExitCode, results_error
from effio.launch import commands, watch
from effio.launch.batch import BatchJob, BatchSystem
from effio.launch.choose import NoLauncherError, choose_launcher
from effio.launch.launchers import (
    LAUNCHER_OF_FAMILY,
    Hydra,
    Launch,
    Launcher,
    OpenMpi,
    Ranks,
    Srun,
    ranks_of,
)
from effio.launch.live import LiveView
from effio.launch.machine import Allocation, Machine
from effio.store import folder as store
from effio.store.folder import RunFolder, Store
from effio.store.reader import Result, ResultError, read_result
from effio.store.records import End
from effio.store.run_record import CampaignPart, Outcome, RunRecord

_DEFAULT_RANKS = 4
_POLL_SECONDS = 2.0
# The engine says so when its result file takes no more.
_RESCUED = "; all results are kept in "


@dataclass(frozen=True)
class Request:
    """What the user asked for. `arguments` are the engine's own, without the benchmark's name."""

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


def default_ranks(
    total: int | None, nodes: int | None, per_node: int | None, machine: Machine
) -> tuple[Ranks, str]:
    """Fills in what was not given; the second value says how, if something was chosen."""
    if total is not None or (nodes is not None and per_node is not None):
        return ranks_of(total, nodes, per_node), ""
    allocation = machine.allocation
    if allocation is not None:
        where = f"{allocation.system} job {allocation.job_id}"
        if nodes is None and per_node is not None and allocation.nodes:
            return Ranks(allocation.nodes * per_node, allocation.nodes, per_node), ""
        if allocation.ranks:
            return Ranks(allocation.ranks, nodes, per_node), (
                f"{fmt.count_of(allocation.ranks, 'rank')}, as {where}"
            )
    if nodes is not None or per_node is not None:
        raise EffioError(
            "give --ranks, or both --nodes and --ranks-per-node", hint="effio run BENCHMARK --help"
        )
    chosen = min(machine.cores, _DEFAULT_RANKS)
    return Ranks(chosen), (
        f"{fmt.count_of(chosen, 'rank')} (this machine has {fmt.count_of(machine.cores, 'core')}; "
        "--ranks to change)"
    )


def plain_command(request: Request) -> str:
    """What the user would type to run the same by hand."""
    launcher = choose_launcher(
        request.engine, request.machine, request.launcher, request.launcher_options
    )
    launch = _launch(request, launcher, request.program(), request.machine)
    settings = [f"{k}={shlex.quote(v)}" for k, v in launch.environment.items()]
    return " ".join([*settings, shlex.join(launch.command)])


def _launch(
    request: Request, launcher: Launcher, program: Sequence[str], machine: Machine
) -> Launch:
    """With the variables that the request sets."""
    passing = launcher.passing(tuple(request.environment))
    launch = passing.launch(request.ranks, program, machine)
    return replace(launch, environment={**launch.environment, **request.environment})


def _record(request: Request, folder: RunFolder, launcher: Launcher, launch: Launch) -> RunRecord:
    return RunRecord(
        id=folder.id,
        created=store.now_utc(),
        benchmark=request.benchmark,
        arguments=list(request.arguments),
        directory=str(Path.cwd()),
        command=list(launch.command),
        environment=dict(launch.environment),
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
        campaign=request.campaign,
    )


def _write_environment(folder: RunFolder, environment: Mapping[str, str]) -> None:
    telling = store.telling_environment(environment)
    store.write_atomically(folder.path / store.ENVIRONMENT, json.dumps(telling, indent=2) + "\n")


def run_here(request: Request, runs: Store, view: LiveView) -> Finished:
    """Blocks until the run has ended. The folder is sealed whatever happened."""
    launcher = choose_launcher(
        request.engine, request.machine, request.launcher, request.launcher_options
    )
    folder = runs.create(request.benchmark, request.label)
    program = request.program("--result", str(folder.result_path.absolute()), "--progress", "json")
    launch = _launch(request, launcher, program, request.machine)
    record = _record(request, folder, launcher, launch)
    mark = f"{folder.id}-{uuid.uuid4().hex[:12]}"
    record.process["mark"] = mark
    try:
        folder.write_record(record)
        _write_environment(folder, {**os.environ, **launch.environment})
    except OSError as error:
        folder.discard()
        raise results_error(runs.root, error) from None
    for note in launch.notes if request.notes else ():
        view.message(note)
    if fault := commands.carry_out(request.setup, folder.path, "set-up", request.environment):
        outcome = _not_prepared(fault)
    else:
        watching = watch.Watch(launch, folder.path, mark, view, request.patience, request.quiet)
        outcome = judge(folder, watching.run())
    if fault := commands.carry_out(request.cleanup, folder.path, "clean-up", request.environment):
        view.message(fault)
    return _seal(folder, record, outcome)


def _not_prepared(fault: str) -> Outcome:
    return Outcome(
        status="not prepared",
        exit_code=int(ExitCode.ENVIRONMENT),
        reason=fault,
        finished=store.now_utc(),
    )


def adopt(folder: RunFolder, tidy: Callable[[RunFolder], None]) -> None:
    """Ends, tidies and seals what a driver left that was killed: processes of the run that still
    live get the time to write their end, and the folder says how it ended. The seal comes last: a
    driver that is killed here as well leaves the rest of it to the next."""
    record = folder.record()
    if record is None or folder.is_sealed or record.batch is not None:
        return
    mark = record.process.get("mark")
    if isinstance(mark, str) and record.process.get("host") == os.uname().nodename:
        watch.end_processes(mark)
    tidy(folder)
    outcome = record.outcome
    result, fault = _result(folder)
    if outcome is None and result is not None and result.end is not None:
        outcome = judge(folder, watch.Outcome())
    _seal(
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


def _seal(folder: RunFolder, record: RunRecord, outcome: Outcome) -> Finished:
    """Writes down how it ended. Where that is impossible the outcome is told all the same."""
    code, reason = ExitCode(outcome.exit_code), outcome.reason
    try:
        record.outcome = outcome
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


def _ending_of(path: Path) -> End | None:
    """The `end` line of a result that the engine keeps there."""
    try:
        return read_result(path).end
    except (ResultError, OSError):
        return None


def judge(folder: RunFolder, outcome: watch.Outcome) -> Outcome:
    """The `end` line is the truth; where there is none, the driver says what it saw."""
    result, fault = _result(folder)

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
        told = elsewhere[-1].removeprefix("effio-mpi: ")
        kept = _ending_of(Path(told.partition(_RESCUED)[2]))
        if kept is not None and kept.status != "done":
            # Where the results lie says less than how the run ended.
            code = ExitCode.of_status(kept.status)
            return ended(kept.status, code, f"{kept.reason}; {told}")
        return ended("results", ExitCode.RESULTS, told)
    if result is not None and result.end is not None:
        reason = result.end.reason
        if outcome.log_lost and result.status == "done":
            return ended("results", ExitCode.RESULTS, f"a log is not complete: {outcome.log_lost}")
        if outcome.hung and result.status == "interrupted":
            # Being ended woke it up: it could still write its `end` line.
            return ended("hung", ExitCode.HUNG, outcome.hung)
        if outcome.hung:
            reason = f"complete, but the program did not leave: {outcome.hung}"
        return ended(result.status, ExitCode.of_status(result.status), reason)
    if outcome.hung:
        return ended("hung", ExitCode.HUNG, outcome.hung)
    if outcome.interrupted:
        reason = "stopped at once; complete measurements are kept"
        return ended("interrupted", ExitCode.INTERRUPTED, reason)
    if fault:
        return ended("died", ExitCode.IO_ERROR, fault)
    if outcome.job_ended:
        how = f"the job ended as {outcome.job_ended}"
    else:
        how = f"signal {-outcome.code}" if outcome.code < 0 else f"exit code {outcome.code}"
    if outcome.code == ExitCode.RESULTS and result is not None:
        reason = "the result file is not complete: its place takes no more; see above"
        return ended("results", ExitCode.RESULTS, reason)
    if result is not None:
        return ended(
            "died",
            ExitCode.ENVIRONMENT,
            f"the engine died in the middle of the run ({how}); complete measurements are kept",
        )
    known = outcome.code in {
        ExitCode.USAGE,
        ExitCode.IO_ERROR,
        ExitCode.ENVIRONMENT,
        ExitCode.RESULTS,
    }
    spoken = any(line.startswith("effio-mpi") for line in outcome.last_words)
    if known and spoken:
        return ended("refused", ExitCode(outcome.code), "the engine refused to run; see above")
    return ended(
        "not started", ExitCode.ENVIRONMENT, f"the launcher ended before the engine started ({how})"
    )


# Batch jobs ------------------------------------------------------------------------------------


def _inside(machine: Machine, system: BatchSystem) -> Machine:
    """This machine as it is seen from within a job."""
    return Machine(machine.cores, machine.is_root, Allocation(system.name, "job"))


def _batch_launcher(request: Request, system: BatchSystem) -> Launcher:
    """What starts the ranks inside the job: srun, else the launcher of the engine's MPI."""
    mpi = request.engine.mpi
    kind = LAUNCHER_OF_FAMILY[mpi.family] if mpi is not None else Hydra
    # Whether Slurm has a pmix plugin that works is only known inside; Open MPI's own mpiexec needs
    # none.
    if request.launcher is None and system.name == "slurm" and kind is not OpenMpi:
        return Srun("srun", mpi, request.launcher_options)
    outside = Machine(request.machine.cores, request.machine.is_root, None)
    try:
        return choose_launcher(request.engine, outside, request.launcher, request.launcher_options)
    except NoLauncherError:
        # A login node without one; compute nodes have it.
        return kind("mpiexec", mpi, request.launcher_options)


def prepare_batch(
    request: Request,
    runs: Store,
    system: BatchSystem,
    minutes: int,
    directives: Sequence[str] = (),
    setup: Sequence[str] = (),
) -> RunFolder:
    """Makes the run's folder with a script that is ready to submit."""
    launcher = _batch_launcher(request, system)
    folder = runs.create(request.benchmark, request.label)
    program = request.program("--result", str(folder.result_path.absolute()), "--progress", "log")
    launch = _launch(request, launcher, program, _inside(request.machine, system))
    record = _record(request, folder, launcher, launch)
    record.batch = {"system": system.name, "script": store.JOB_SCRIPT}
    folder.write_record(record)
    script = system.script(
        BatchJob(
            name=f"effio-{request.benchmark}",
            directory=folder.path.absolute(),
            working_directory=Path.cwd(),
            ranks=request.ranks,
            minutes=minutes,
            launch=launch,
            directives=tuple(directives),
            setup=tuple(setup),
        )
    )
    path = folder.path / store.JOB_SCRIPT
    store.write_atomically(path, script)
    path.chmod(0o755)
    return folder


def submit_and_wait(
    folder: RunFolder,
    system: BatchSystem,
    view: LiveView,
) -> Finished:
    """Submits a prepared job and follows its log until it has ended. Ctrl-C asks the job to stop;
    a second one cancels it."""
    job_id = system.submit((folder.path / store.JOB_SCRIPT).absolute())
    record = folder.record()
    assert record is not None
    record.batch = {**(record.batch or {}), "job_id": job_id, "submitted": store.now_utc()}
    folder.write_record(record)
    view.message(f"submitted as {system.name} job {job_id}; waiting for it")
    started = time.monotonic()
    follower = _Follower(folder.path / "stderr.log", view)
    wishes = 0
    granted = 0

    def wish() -> None:
        nonlocal wishes
        wishes += 1

    with watch.stop_signals(wish):
        while system.is_alive(job_id) is not False:
            follower.follow()
            view.tick()
            if view.reader_gone and not wishes:
                wishes = 1
            if wishes > granted:
                granted = wishes
                view.message("cancelling the job" if granted > 1 else "asking the job to stop")
                system.stop(job_id, at_once=granted > 1)
            time.sleep(_POLL_SECONDS)
    _wait_for_files(folder)
    follower.follow()
    seconds = time.monotonic() - started
    outcome = watch.Outcome(
        seconds=seconds,
        interrupted=wishes > 0,
        engine_spoke=True,
        job_ended=system.end_of(job_id),
    )
    return _seal(folder, folder.record() or record, judge(folder, outcome))


def _wait_for_files(folder: RunFolder, seconds: float = 15.0) -> None:
    """Network file systems show a job's last writes late."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if (folder.path / store.SUMS).exists():
            return
        time.sleep(0.5)


class _Follower:
    """New lines of a log, as they come."""

    def __init__(self, path: Path, view: LiveView) -> None:
        self._path = path
        self._view = view
        self._offset = 0

    def follow(self) -> None:
        try:
            with self._path.open("rb") as stream:
                stream.seek(self._offset)
                data = stream.read(1 << 20)
        except OSError:
            return
        whole = data.rpartition(b"\n")[0]
        if whole:
            self._offset += len(whole) + 1
            for line in whole.decode(errors="replace").splitlines():
                self._view.message(line)
