# SPDX-License-Identifier: BSD-3-Clause
"""A run as a job of a batch system: its folder and script, the job's id in it, and how it ended.

A folder with a batch part and no outcome is a job that is not taken over yet. Its script looks
whether the folder is still wanted before it begins, so that nothing is measured over a result, nor
by a job that a driver which was killed had submitted without any user's knowing.
"""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass
from pathlib import Path

from effio.config.site import load_site
from effio.errors import ExitCode, results_error
from effio.launch import watch
from effio.launch.batch import BatchJob, BatchSystem, explained
from effio.launch.choose import NoLauncherError, choose_launcher
from effio.launch.job import Finished, Request, data_directories, judge, launch_of, record_of, seal
from effio.launch.launchers import LAUNCHER_OF_FAMILY, Hydra, Launch, Launcher, OpenMpi, Srun
from effio.launch.live import LiveView
from effio.launch.machine import Allocation, Machine
from effio.store import folder as store
from effio.store import safe_files
from effio.store.all_runs import Store
from effio.store.folder import RunFolder
from effio.store.masking import masked_text, masked_words
from effio.store.run_record import Outcome

_POLL_SECONDS = 2.0
_LAST_BYTES = 4096
# Of a benchmark whose plan names no time.
_UNPLANNED_SECONDS = 1800.0


@dataclass(frozen=True)
class Terms:
    """The terms on which a job is submitted. `own_directory` is made before the ranks start, and
    removed when they left nothing in it."""

    system: BatchSystem
    minutes: int
    directives: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    own_directory: str = ""


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


def _launching(request: Request, directory: Path, system: BatchSystem) -> tuple[Launcher, Launch]:
    launcher = _batch_launcher(request, system)
    result = str(directory.absolute() / store.RESULT)
    program = request.program("--result", result, "--progress", "log")
    return launcher, launch_of(request, launcher, program, _inside(request.machine, system))


def write_script(request: Request, directory: Path, terms: Terms) -> Path:
    """Writes the script of a run whose result and logs go to this directory."""
    _, launch = _launching(request, directory, terms.system)
    return _write(request, directory.absolute(), terms, launch)


def _write(request: Request, directory: Path, terms: Terms, launch: Launch) -> Path:
    before, after = _around(request, terms.own_directory)
    script = terms.system.script(
        BatchJob(
            name=f"effio-{request.label if request.campaign else request.benchmark}",
            directory=directory,
            working_directory=Path.cwd(),
            ranks=request.ranks,
            minutes=terms.minutes,
            launch=launch,
            directives=terms.directives,
            setup=terms.setup,
            before=tuple(before),
            after=tuple(after),
            once=True,
            site_environment=load_site().results.environment,
        )
    )
    path = directory / store.JOB_SCRIPT
    # A script without secrets may be readable by others. Secrets are masked when the job has ended.
    private = masked_text(script) != script
    safe_files.write_atomically(path, script, mode=0o700 if private else 0o777)
    return path


def _around(request: Request, own_directory: str) -> tuple[list[str], list[str]]:
    """Shell lines for the set-up and the clean-up of a run; no word of them is the shell's."""
    before, after = [], []
    for words in request.setup:
        command = shlex.join(words)
        said = f"effio: the set-up command {shlex.join(masked_words(words))} failed"
        fault = shlex.quote(said)
        before.append(f'{command} || {{ echo {fault} > "$run/stderr.log"; exit 6; }}')
    if own_directory:
        place = shlex.quote(own_directory)
        before.append(f"mkdir -p -- {place} || exit 6")
        after.append(f"rmdir -- {place}")
    return before, [*after, *(shlex.join(words) for words in request.cleanup)]


def _expected_seconds(plan: object) -> float:
    """The scheduled time, or where there is none, or it is longer, the time that the plan expects
    at the rate it assumes."""
    members = plan if isinstance(plan, dict) else {}
    seconds = members.get("estimate", {}).get("seconds", {})
    planned = [members.get("scheduled_seconds"), seconds.get("expected")]
    known = [float(v) for v in planned if isinstance(v, (int, float)) and v >= 0]
    return max(known, default=_UNPLANNED_SECONDS)


def minutes_of(plan: object) -> int:
    """A time limit. Scheduled times are lower bounds: sync, slow first calls and removal come on
    top."""
    return 15 + int(3 * _expected_seconds(plan) / 60)


def prepare(request: Request, runs: Store, terms: Terms) -> RunFolder:
    """Makes the run's folder with a script that is ready to submit."""
    with runs.preparing(request.benchmark, request.label) as folder:
        launcher, launch = _launching(request, folder.path, terms.system)
        record = record_of(request, folder, launcher, launch)
        record.data_directories = data_directories(request)
        record.batch = {"system": terms.system.name, "script": store.JOB_SCRIPT}
        if terms.own_directory:
            record.batch["directory"] = terms.own_directory
        folder.write_record(record)
        _write(request, folder.path.absolute(), terms, launch)
    return folder


def submit(folder: RunFolder, system: BatchSystem) -> str:
    """Submits a prepared job; its id is in its folder when this returns."""
    job_id = system.submit((folder.path / store.JOB_SCRIPT).absolute())
    keep_id(folder, job_id)
    return job_id


def keep_id(folder: RunFolder, job_id: str) -> None:
    record = folder.record()
    assert record is not None
    record.batch = {**(record.batch or {}), "job_id": job_id, "submitted": store.now_utc()}
    try:
        folder.write_record(record)
    except OSError as error:
        raise results_error(folder.path, error, new=False) from None


def taken_over(
    folder: RunFolder, job_ended: str, seconds: float = 0.0, interrupted: bool = False
) -> Finished:
    """Seals the folder of a job that has ended, with what came of it."""
    record = folder.record()
    assert record is not None
    known = (record.batch or {}).get("job_id")
    if not known and not folder.is_sealed and not folder.has_result:
        outcome = Outcome(
            status="interrupted",
            exit_code=int(ExitCode.INTERRUPTED),
            reason="the driver was killed before it had submitted the job",
            finished=store.now_utc(),
        )
        return seal(folder, record, outcome)
    last_words = _last_words(folder.path / "stderr.log")
    outcome = judge(
        folder,
        watch.Outcome(
            seconds=seconds,
            interrupted=interrupted,
            engine_spoke=True,
            job_ended=job_ended,
            last_words=last_words,
        ),
    )
    if outcome.status == "not started" and last_words:
        outcome.reason += f": {last_words[-1]}"
    if outcome.status == "interrupted" and not interrupted:
        outcome.reason += f"; {_asked_to_stop(job_ended)}"
    return seal(folder, record, outcome)


def _asked_to_stop(job_ended: str) -> str:
    """Why the engine was, when effio did not do that."""
    if job_ended in ("", "COMPLETED", "FAILED"):
        return (
            "the batch system asked it to stop, as it does shortly before the time limit "
            "(--minutes gives more)"
        )
    return f"the job ended as {explained(job_ended)}"


def _last_words(path: Path) -> list[str]:
    try:
        with safe_files.reading(path, most=None) as stream:
            stream.seek(0, 2)
            stream.seek(max(0, stream.tell() - _LAST_BYTES))
            text = stream.read(_LAST_BYTES).decode(errors="replace")
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip()][-20:]


def submit_and_wait(
    folder: RunFolder,
    system: BatchSystem,
    view: LiveView,
) -> Finished:
    """Submits a prepared job and follows its log until it has ended. Ctrl-C asks the job to stop;
    a second one cancels it."""
    follower = _Follower(folder.path / "stderr.log", view)
    wishes = 0
    granted = 0

    def wish() -> None:
        nonlocal wishes
        wishes += 1

    # From before the submission: a job that is not known here would run without its driver.
    with watch.stop_signals(wish):
        job_id = submit(folder, system)
        view.message(f"submitted as {system.name} job {job_id}; waiting for it")
        started = time.monotonic()
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
    return taken_over(folder, system.end_of(job_id), seconds, interrupted=wishes > 0)


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
            with safe_files.reading(self._path, most=None) as stream:
                stream.seek(self._offset)
                data = stream.read(1 << 20)
        except OSError:
            return
        whole = data.rpartition(b"\n")[0]
        if whole:
            self._offset += len(whole) + 1
            for line in whole.decode(errors="replace").splitlines():
                self._view.message(line)
