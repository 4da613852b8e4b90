# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a campaign as separate jobs, several in the queue at once. What is submitted is kept
in the folders of the runs: a driver that comes later finds the jobs of one that was killed, waits
for them or takes over what has ended, and submits nothing twice."""

from __future__ import annotations

import contextlib
import itertools
import math
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import sleep

from effio import text as fmt
from effio.campaign.expression import Value
from effio.campaign.points import Unit
from effio.campaign.run import CampaignRun, RunRequest, UnitDone, Viewing
from effio.campaign.state import CampaignFolder
from effio.errors import EffioError, ExitCode, results_error
from effio.launch import batch_run, watch
from effio.launch.batch import BatchSystem, QueueFullError
from effio.launch.job import Request, ending_of
from effio.launch.live import LiveView, Status
from effio.launch.queue import Queued, ends_of, jobs_in, waits
from effio.store import safe_files
from effio.store.folder import JOB_SCRIPT, RunFolder
from effio.store.tidy import tidy

# Network file systems show a job's last writes late.
_LATE_SECONDS = 15.0
_TICK_SECONDS = 1.0
# Options that make a run leave its files to others, or take those of others.
_SHARING = ("keep", "use-existing")


@dataclass(frozen=True)
class SideBySide:
    """How runs become jobs: at most `most` of them wait or run at once. `minutes`: the time limit
    of each; None: from its plan."""

    system: BatchSystem
    most: int
    minutes: int | None = None
    directives: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()

    def terms(self, request: Request, own_directory: str = "") -> batch_run.Terms:
        """Raises with the engine's own words if it refuses the run."""
        words = [request.benchmark, *request.arguments]
        plan = request.engine.check(words, request.ranks.total, request.ranks.per_node)
        return batch_run.Terms(
            self.system,
            self.minutes or batch_run.minutes_of(plan),
            self.directives,
            self.setup,
            own_directory,
        )


def shares_files(options: Mapping[str, Value]) -> bool:
    return any(options.get(name) not in (None, False) for name in _SHARING)


def own_directory(options: Mapping[str, Value], label: str) -> str:
    """Where a run measures at the same time as others: under the default names one would meet the
    other's files. Empty where there are no files, or they are for others."""
    place = options.get("dir")
    return (
        "" if place is None or shares_files(options) else str(Path(str(place)) / f"effio-{label}")
    )


def write_scripts(
    order: RunRequest, folder: CampaignFolder, batch: SideBySide
) -> tuple[Path, int, int]:
    """A job script for each run, in its own folder, to which its result goes; for each call
    anew, as a folder that has a result is not measured into again. Returns where they are, how many
    they are, and how many runs are left out, for their options follow from results to come."""
    place = _fresh(folder.path / "jobs", folder.runs.root)
    try:
        _write_into(place, order, folder, batch)
    except OSError as error:
        shutil.rmtree(place, ignore_errors=True)
        safe_files.remove_empty([place.parent])
        raise results_error(error.filename or place, error) from None
    known = [unit for unit in order.units if not unit.point.late]
    return place, len(known), len(order.units) - len(known)


def _write_into(place: Path, order: RunRequest, folder: CampaignFolder, batch: SideBySide) -> None:
    for number, unit in enumerate(order.units, 1):
        if unit.point.late:
            continue
        own = own_directory(unit.point.options, folder.label(unit))
        request = order.request(unit, folder.name, {"dir": own} if own else None)
        target = place / f"{number:05d}-{unit.label}"
        target.mkdir()
        batch_run.write_script(request, target, batch.terms(request, own))


def _fresh(root: Path, below: Path) -> Path:
    try:
        with safe_files.making(root, below):
            for number in itertools.count(1):
                with contextlib.suppress(FileExistsError):
                    (place := root / str(number)).mkdir()
                    return place
    except OSError as error:
        raise results_error(root, error) from None
    raise AssertionError("numbers do not end")


@dataclass
class _Job:
    unit: Unit | None  # None: of a point that the campaign has no more
    folder: RunFolder
    job_id: str = ""  # empty: the driver was killed before it knew whether there is a job
    reported: Queued | None = None
    gone: float | None = None  # for how many seconds we know that it has ended
    ended: str = ""  # as what

    @property
    def script(self) -> str:
        return str((self.folder.path / JOB_SCRIPT).absolute())


class BatchCampaignRun(CampaignRun):
    def __init__(
        self,
        batch: SideBySide,
        order: RunRequest,
        folder: CampaignFolder,
        view: Viewing,
        say: Callable[[str], None],
    ) -> None:
        super().__init__(order, folder, view, say)
        self.batch = batch
        self.asked_for = {unit.label for unit in order.units}
        self.left: dict[str, Unit] = {}
        self.jobs: list[_Job] = []
        self.done: list[UnitDone] = []
        self.otherwise: set[str] = set()  # labels of runs that get their one more try
        self.once: set[str] = set()  # what was said, and is not said again
        self.accepted = False
        self.already = 0
        self.started = time.monotonic()

    def run(self) -> list[UnitDone]:
        units = self.order.units
        self._take_up()
        self.jobs = self._found()
        there = {job.unit.label for job in self.jobs if job.unit is not None}
        for unit in units:
            if unit.label in there:
                continue
            if self._is_wanted(unit):
                self.left[unit.label] = unit
            elif (before := self._as_it_is(unit)) is not None:
                self.done.append(before)
        self.already = len(self.done)
        self.announce(self.already, len(self.left) + len(self.jobs))
        if self.jobs:
            self.say(f"{fmt.count_of(len(self.jobs), 'job')} of an earlier call: going on with it")
        try:
            with self.view(self.folder.name, "") as live:
                self._until_all_have_ended(live)
        except KeyboardInterrupt:
            raise self._going_on() from None
        self._remove_kept()
        place = {unit.label: number for number, unit in enumerate(units)}
        return sorted(self.done, key=lambda one: place[one.unit.label])

    def _found(self) -> list[_Job]:
        attempts = self.folder.attempts()
        units = {
            one.id: unit
            for unit in (*self.order.everything, *self.order.units)
            for one in self.folder.attempts_of(unit, attempts)
        }
        ids = {one.id for those in attempts.values() for one in those}
        found = []
        for folder in self.open:
            record = folder.record() if folder.id in ids else None
            if record is not None and record.batch is not None:
                known = str(record.batch.get("job_id") or "")
                found.append(_Job(units.get(folder.id), folder, known))
        return found

    def _going_on(self) -> EffioError:
        ids = [job.job_id for job in self.jobs if job.job_id]
        if not ids:
            return EffioError("interrupted", ExitCode.INTERRUPTED, "the same command continues")
        cancel = " ".join([*self.batch.system.cancel_command, *ids])
        return EffioError(
            f"interrupted; {fmt.count_of(len(ids), 'job')} of it stay: {', '.join(ids)}",
            ExitCode.INTERRUPTED,
            f"the same command continues them, {cancel} ends them",
        )

    def _until_all_have_ended(self, live: LiveView) -> None:
        pauses = waits()
        self._ask(live, 0.0)
        while True:
            self._submit_what_may(live)
            if not self.jobs and not self.left:
                return
            seconds = next(pauses)
            self._pause(seconds, live)
            if self._ask(live, seconds):
                pauses = waits()

    def _pause(self, seconds: float, live: LiveView) -> None:
        self._show(live)
        for _ in range(math.ceil(seconds / _TICK_SECONDS)):
            sleep(_TICK_SECONDS)
            live.tick()
            if live.reader_gone:
                raise KeyboardInterrupt

    def _show(self, live: LiveView) -> None:
        total = len(self.order.units)
        failed = sum(one.code != ExitCode.DONE for one in self.done)
        waiting = sum(job.reported is None or job.reported.waits for job in self.jobs)
        parts = [f"{len(self.done) - failed} of {total} done"]
        parts += [f"{failed} failed"] if failed else []
        parts += [f"{len(self.jobs) - waiting} running", f"{waiting} waiting"]
        gone = time.monotonic() - self.started
        ended = len(self.done) - self.already
        left = gone / ended * (total - len(self.done)) if ended else 0.0
        live.status(
            Status(
                title=" · ".join(parts),
                step_seconds=gone,
                plan_done_fraction=len(self.done) / total if total else 1.0,
                plan_seconds_left=gone + left if ended else 0.0,
            )
        )

    def _say_once(self, live: LiveView, what: str) -> None:
        if what not in self.once:
            self.once.add(what)
            live.message(what)

    # Submitting ----------------------------------------------------------------------------------

    def _submit_what_may(self, live: LiveView) -> None:
        for unit in list(self.left.values()):
            if len(self.jobs) >= self.batch.most:
                return
            if not self._may_begin(unit):
                continue
            try:
                made = self._submitted(unit)
            except QueueFullError as error:
                self._say_once(live, f"{error.message}: the rest is submitted when it takes more")
                return
            except EffioError as error:
                # Where the first one is refused, so are all.
                if (not self.accepted and not self.jobs) or error.code == ExitCode.RESULTS:
                    raise
                made = UnitDone(unit, error.code, f"not run: {error.message}")
            del self.left[unit.label]
            if isinstance(made, UnitDone):
                self._conclude(made, live)
                continue
            self.accepted = True
            self.jobs.append(made)
            live.message(f"{self._title(unit)}: {self.batch.system.name} job {made.job_id}")

    def _may_begin(self, unit: Unit) -> bool:
        """Not before those that it needs have ended, and of those that share files one at a
        time."""
        in_work = {job.unit.label for job in self.jobs if job.unit is not None}
        if any(o.label in in_work or o.label in self.left for o in self._needed(unit)):
            return False
        return not shares_files(unit.point.options) or not any(
            job.unit is not None and shares_files(job.unit.point.options) for job in self.jobs
        )

    def _submitted(self, unit: Unit) -> _Job | UnitDone:
        ready = self._ready(unit)
        if isinstance(ready, UnitDone):
            return ready
        name = self.folder.name
        more = dict(unit.point.step.otherwise) if unit.label in self.otherwise else {}
        place = own_directory({**ready.point.options, **more}, self.folder.label(unit))
        if place:
            more["dir"] = place
        request = self.order.request(ready, name, more)
        folder = batch_run.prepare(request, self.folder.runs, self.batch.terms(request, place))
        wishes = 0

        def wish() -> None:
            nonlocal wishes
            wishes += 1

        with watch.stop_signals(wish):
            try:
                job_id = batch_run.submit(folder, self.batch.system)
            except EffioError as error:
                if error.code != ExitCode.RESULTS:
                    folder.discard()  # if there is a job all the same, it does not begin
                raise
        job = _Job(unit, folder, job_id)
        if wishes:
            self.jobs.append(job)
            raise KeyboardInterrupt
        return job

    # Waiting -------------------------------------------------------------------------------------

    def _ask(self, live: LiveView, waited: float) -> bool:
        """What has become of the jobs; true if one has ended."""
        if not self.jobs:
            return False
        system = self.batch.system
        queued = jobs_in(system)
        if queued is None:
            self._say_once(live, f"{system.name} does not answer now; waiting")
            return False
        by_id = {one.job_id: one for one in queued}
        by_script = {one.script: one for one in queued if one.script}
        for job in self.jobs:
            job.reported = by_id.get(job.job_id) if job.job_id else by_script.get(job.script)
            if job.reported is not None and not job.job_id:
                job.job_id = job.reported.job_id
                batch_run.keep_id(job.folder, job.job_id)
            if job.reported is None or job.reported.over:
                job.gone = 0.0 if job.gone is None else job.gone + waited
                job.ended = job.reported.state if job.reported is not None else ""
                continue
            job.gone = None
            if job.reported.waits and job.reported.reason:
                self._say_once(live, f"jobs wait: {job.reported.reason}")
        over = [
            job
            for job in self.jobs
            if job.gone is not None and (job.folder.is_sealed or job.gone >= _LATE_SECONDS)
        ]
        accounts = ends_of(system, [job.job_id for job in over if job.job_id and not job.ended])
        for job in over:
            job.ended = job.ended or accounts.get(job.job_id, "")
            self._take_over(job, live)
        # What is gone is looked for again soon.
        return any(job.gone is not None for job in self.jobs) or bool(over)

    def _take_over(self, job: _Job, live: LiveView) -> None:
        """What the engine could not remove is removed before the folder is sealed: a driver that is
        killed in between leaves that to the next."""
        record = job.folder.record()
        if ending_of(job.folder.result_path) is None:
            tidy(job.folder, live.message)
        if record is not None and (place := (record.batch or {}).get("directory")):
            with contextlib.suppress(OSError):
                Path(str(place)).rmdir()
        never = not job.job_id and not job.folder.is_sealed and not job.folder.has_result
        finished = batch_run.taken_over(job.folder, job.ended)
        self.jobs.remove(job)
        unit = job.unit
        if unit is None:
            return
        wanted = unit.label in self.asked_for
        again = (
            finished.code == ExitCode.IO_ERROR
            and bool(unit.point.step.otherwise)
            and unit.label not in self.otherwise
        )
        if wanted and (never or again):
            if again:
                self.otherwise.add(unit.label)
            self.left = {unit.label: unit, **self.left}
            return
        ended = UnitDone(unit, finished.code, finished.reason, finished.folder)
        self._note(ended)
        if wanted:
            self._conclude(ended, live)
        if ended.code == ExitCode.RESULTS:
            self.left.clear()

    def _conclude(self, ended: UnitDone, live: LiveView) -> None:
        self.done.append(ended)
        line = f"{len(self.done)} of {len(self.order.units)}, {self._title(ended.unit)}: "
        line += ended.code.name.lower() + (f": {ended.reason}" if ended.reason else "")
        if ended.code != ExitCode.DONE and ended.folder is not None:
            line += f"; see {ended.folder.path}"
        live.message(line)
