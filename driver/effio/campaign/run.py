# SPDX-License-Identifier: BSD-3-Clause
"""Runs what a campaign still lacks; each run is a run like any other and stays one. What is done is
never done again, whatever ended the driver before: that is read from the folders of the runs, not
from what a driver remembers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from effio import text as fmt
from effio.campaign.budget import TimeBudget
from effio.campaign.earlier import NoValueError, values_of
from effio.campaign.expression import Value
from effio.campaign.file import Campaign, Step
from effio.campaign.names import Names, NamesOfStep, Settings
from effio.campaign.points import Point, Unit
from effio.campaign.state import CampaignFolder, UnitState, damage_of, end_of
from effio.engine.program import Engine
from effio.errors import EffioError, ExitCode
from effio.launch import job, places
from effio.launch.choose import NoLauncherError
from effio.launch.commands import carry_out
from effio.launch.live import LiveView
from effio.store.attempts import Attempt
from effio.store.folder import RunFolder
from effio.store.reader import Result, ResultError
from effio.store.run_record import CampaignPart
from effio.store.tidy import tidy, tidy_kept

# This many of the runs that did not start are named; the others are counted.
_MOST_NAMED = 10


@dataclass(frozen=True)
class UnitDone:
    """Outcome of a unit. `reason` explains a missing result. `before`: an earlier call did it.
    `cut_short`: its own time ran out; `not_run`: the campaign ended before it started;
    `no_use`: what comes after it would fail in the same way. `stop_wished`: the user requested a
    stop; this one ended by itself, and others are left."""

    unit: Unit
    code: ExitCode
    reason: str = ""
    folder: RunFolder | None = None
    before: bool = False
    cut_short: bool = False
    said: bool = False  # the engine has already printed the reason
    not_run: bool = False
    no_use: bool = False
    stop_wished: bool = False

    def result(self) -> Result | None:
        with contextlib.suppress(ResultError):
            return self.folder.reported() if self.folder is not None else None
        return None


@dataclass(frozen=True)
class RunRequest:
    """How a campaign is to be run. `model` is a request that its points fill in; `units` are in the
    order in which they are run. `known`: attempts by the ids of their folders, which need not be
    read."""

    campaign: Campaign
    settings: Settings
    model: job.Request
    engines: Mapping[str | None, Engine]
    units: Sequence[Unit]
    retry_failed: bool = False
    # Points that are done in --only and --skip are not; what they are needed for finds them all the
    # same.
    everything: Sequence[Unit] = field(default_factory=tuple)
    seconds: float | None = None  # no run starts after this; None: no limit
    known: Mapping[str, Attempt] = field(default_factory=dict)

    def time_budget(self) -> TimeBudget:
        return TimeBudget(self.seconds, stops_runs=self.campaign.afresh)

    def request(
        self, unit: Unit, name: str, more: Mapping[str, Value] | None = None
    ) -> job.Request:
        point = unit.point
        return replace(
            self.model,
            engine=self.engines[point.engine],
            benchmark=point.step.benchmark,
            arguments=point.words(more),
            ranks=point.ranks,
            label=f"{name}-{unit.label}",
            environment=point.environment,
            setup=(*point.laid.setup, *map(tuple, point.commands(point.step.setup))),
            cleanup=(*map(tuple, point.commands(point.step.cleanup)), *point.laid.cleanup),
            laid=point.laid,
            campaign=CampaignPart(
                name=name,
                step=point.step.name,
                point=point.id,
                repetition=unit.repetition,
                axes=point.axes,
                tags=list(point.tags),
                access=next((line.access for line in point.step.line if line.access), ""),
            ),
        )


Viewing = Callable[[str, str], LiveView]


class CampaignRun:
    """One call: what is done, how long it took, what is left. Here the runs are one after the
    other; jobs.py has them as jobs side by side."""

    def __init__(
        self, order: RunRequest, folder: CampaignFolder, view: Viewing, say: Callable[[str], None]
    ) -> None:
        self.order = order
        self.folder = folder
        self.view = view
        self.say = say
        self.reported = False  # what the launcher has to say of this machine it says once
        self.seconds: list[float] = []
        # Jobs of an earlier call, which may wait or run still.
        self.open = folder.open_jobs(order.known)
        self.states: dict[str, tuple[UnitState, RunFolder | None]] = {}
        self.budget = TimeBudget()

    def run(self) -> list[UnitDone]:
        order = self.order
        refuse_open_jobs(self.folder, self.open)
        self._take_up()
        wanted = [u for u in order.units if self._is_wanted(u)]
        done = [d for u in order.units if (d := self._as_it_is(u)) is not None]
        already = len(done)
        self.announce(already, len(wanted))
        self.budget = order.time_budget()
        for number, unit in enumerate(wanted):
            if self.budget.is_over:
                limit = fmt.elapsed(self.budget.limit or 0)
                done += self._not_run(wanted[number:], f"the time limit of {limit} is reached")
                break
            try:
                ended = self._one(unit, already + number + 1, len(wanted) - number)
            except KeyboardInterrupt:  # while no launcher was running
                ended = UnitDone(unit, ExitCode.INTERRUPTED, "stopped before or after its launch")
            done.append(ended)
            if ended.code == ExitCode.INTERRUPTED:
                break
            self.say(
                f"{already + number + 1} of {len(order.units)}, {self._title(unit)}: "
                + ended.code.name.lower()
                + (f": {ended.reason}" if ended.reason and not ended.said else "")
            )
            if ended.code == ExitCode.RESULTS or ended.stop_wished:
                break
            if ended.no_use:
                why = f"{self._title(unit)} could not continue"
                done += self._not_run(wanted[number + 1 :], why)
                break
        self._remove_kept()
        return done

    def announce(self, already: int, wanted: int) -> None:
        """Reports what is done already and how much will be written."""
        settings = self.order.settings
        if already:
            runs = fmt.count_of(len(self.order.units), "run is", "runs are")
            self.say(f"{already} of {runs} done already")
        if wanted and settings.bytes is not None:
            self.say(
                f"writing at most {fmt.size(settings.bytes)} to {settings.directory}; "
                "the data are removed at the end"
            )

    def _not_run(self, units: Sequence[Unit], reason: str) -> list[UnitDone]:
        why = f"not run: {reason}"
        for unit in units[:_MOST_NAMED]:
            self.say(f"{self._title(unit)}: {why}")
        if (more := len(units) - _MOST_NAMED) > 0:
            self.say(f"{fmt.count_of(more, 'more run is', 'more runs are')} {why}")
        return [UnitDone(unit, ExitCode.DONE, why, not_run=True) for unit in units]

    def _remove_kept(self) -> None:
        """Once nothing is left to do: what steps kept for those that read it."""
        states = [self.states[unit.label] for unit in self.order.everything]
        if self.order.campaign.remove_kept and all(state == "done" for state, _ in states):
            tidy_kept([folder for _, folder in states if folder is not None], self.say)

    def _take_up(self) -> None:
        """Ends and tidies what a driver left that was killed."""
        for attempt in self.folder.own_attempts(self.order.known):
            if attempt.is_sealed:
                continue
            record = attempt.record()
            part = record.campaign if record is not None else None
            ours = part is not None and part.name == self.folder.name
            if ours and (fault := job.adopt(attempt, lambda one: tidy(one, self.say))):
                self.say(f"left alone: {attempt.id}: {fault}")
        units = [*self.order.units, *self.order.everything]
        self.states = self.folder.states(units, self.order.known)
        for state, folder in self.states.values():
            if state == "to do" and folder is not None and (damage := damage_of(folder)):
                self.say(
                    f"{folder.id} is damaged and runs again: {fmt.plain(damage)}; its folder stays"
                )

    def _is_wanted(self, unit: Unit) -> bool:
        state, _ = self.states[unit.label]
        return state == "to do" or (state == "failed" and self.order.retry_failed)

    def _as_it_is(self, unit: Unit) -> UnitDone | None:
        _, folder = self.states[unit.label]
        if folder is None or self._is_wanted(unit):
            return None
        code, reason = end_of(self.order.known.get(folder.id) or Attempt(folder))
        return UnitDone(unit, code, reason, folder, before=True)

    def _title(self, unit: Unit) -> str:
        repeated = self.order.campaign.repetitions_of(unit.point.step) > 1
        return unit.point.title + (f", repetition {unit.repetition + 1}" if repeated else "")

    def _above(self, number: int, left: int) -> str:
        """The line above a run's own: how far the whole is."""
        states = [state for state, _ in self.states.values()]
        failed = states.count("failed")
        parts = [f"{self.folder.name}: run {number} of {len(self.order.units)}"]
        if failed:
            parts.append(f"{failed} failed")
        if self.seconds:
            mean = sum(self.seconds) / len(self.seconds)
            parts.append(f"about {fmt.elapsed(mean * left)} to go")
        return " · ".join(parts)

    def _one(self, unit: Unit, number: int, left: int) -> UnitDone:
        ready = self._ready(unit)
        if isinstance(ready, UnitDone):
            return ready
        try:
            places.refuse_more_nodes(self.order.request(ready, self.folder.name))
        except EffioError as error:
            return UnitDone(unit, error.code, f"not run: {error.message}")
        started = time.monotonic()
        ended = self._attempts(ready, self._above(number, left), left)
        self.seconds.append(time.monotonic() - started)
        self._note(ended)
        return replace(ended, unit=unit)

    def _note(self, ended: UnitDone) -> None:
        """Notes a unit that ended, for those that wait for it."""
        good = ended.code in (ExitCode.DONE, ExitCode.DATA_ERRORS)
        self.states[ended.unit.label] = ("done" if good else "failed", ended.folder)

    def _ready(self, unit: Unit) -> Unit | UnitDone:
        """The unit with the values of earlier steps; or why it is not run."""
        if why := unit.point.left_out():
            return UnitDone(unit, ExitCode.DONE, f"left out, {why}")
        try:
            ready = replace(unit, point=self._with_values(unit))
            self._judge(ready)
        except NoValueError as error:
            return UnitDone(unit, ExitCode.ENVIRONMENT, f"not run: {error}")
        except EffioError as error:
            return UnitDone(unit, error.code, f"not run: {error.message}")
        return ready

    def _judge(self, unit: Unit) -> None:
        """Has the engine judge values that were not known when all others were."""
        if unit.point.step.earlier:
            request = self.order.request(unit, self.folder.name)
            words = [request.benchmark, *unit.point.words(plan=True)]
            request.engine.check(words, request.ranks.total, request.ranks.per_node)

    def _with_values(self, unit: Unit) -> Point:
        """Raises NoValueError where an earlier step is not done in this repetition."""
        point = unit.point
        results: list[tuple[Point, Result]] = []
        for other in self._needed(unit):
            state, folder = self.states[other.label]
            if state != "done" or folder is None:
                raise NoValueError(f"{other.point.title} is not done")
            if other.point.step.name in {e.step for e in point.step.earlier.values()}:
                try:
                    results.append((other.point, folder.result()))
                except ResultError as error:
                    raise NoValueError(error.message) from None
        if not point.step.earlier:
            return point
        return point.with_values(values_of(point, results))

    def _needed(self, unit: Unit) -> list[Unit]:
        """For each step that it waits for: the points of this repetition, or of the last that it
        has."""
        if not unit.point.step.waits_for():
            return []
        campaign = self.order.campaign
        units = {(u.point.id, u.repetition): u for u in (*self.order.everything, *self.order.units)}
        return [
            other
            for name in unit.point.step.waits_for()
            for other in units.values()
            if other.point.step.name == name
            and other.repetition
            == min(unit.repetition, campaign.repetitions_of(other.point.step) - 1)
        ]

    def _attempts(self, unit: Unit, above: str, left: int) -> UnitDone:
        otherwise = unit.point.step.otherwise
        for more in [{}, otherwise] if otherwise else [{}]:
            request = replace(
                self.order.request(unit, self.folder.name, more), notes=not self.reported
            )
            patience = replace(request.patience, whole=self.budget.share(left))
            request = replace(request, patience=patience)
            with self.view(self._title(unit), above) as live:
                finished = job.run_here(request, self.folder.runs, live)
            self.reported = True
            if finished.forbidden and request.machine.allocation is None:
                raise NoLauncherError(finished.reason, ExitCode.ENVIRONMENT)
            if finished.code != ExitCode.IO_ERROR or finished.stop_wished:
                break
        code = ExitCode.DONE if finished.out_of_time else finished.code
        return UnitDone(
            unit,
            code,
            finished.reason,
            finished.folder,
            cut_short=finished.out_of_time,
            said=finished.said,
            no_use=self._is_hopeless(finished),
            stop_wished=finished.stop_wished and left > 1,
        )

    def _is_hopeless(self, finished: job.Finished) -> bool:
        """Whether the next run can only fail in the same way: nothing has started here so far; for
        a card also where the storage does not answer, or the engine refuses it."""
        if not self.order.campaign.afresh:
            return finished.not_started and not self.seconds
        refused = finished.refused and finished.code == ExitCode.IO_ERROR
        return finished.not_started or refused or finished.code == ExitCode.HUNG


def refuse_open_jobs(folder: CampaignFolder, jobs: Sequence[RunFolder]) -> None:
    """A run in a separate job would be measured a second time."""
    if jobs:
        raise EffioError(
            f"{fmt.count_of(len(jobs), 'run')} of {folder.name} may be in the batch system still",
            hint="run it with --jobs N: it waits for them, and takes over what has ended",
        )


CampaignRunMaker = Callable[
    [RunRequest, CampaignFolder, Viewing, Callable[[str], None]], CampaignRun
]


def run_campaign(
    order: RunRequest,
    folder: CampaignFolder,
    view: Viewing,
    say: Callable[[str], None],
    campaign_run: CampaignRunMaker = CampaignRun,
) -> list[UnitDone]:
    """All that is not done, until one is interrupted; a run that fails does not keep the next from
    running. The campaign must be locked. Raises NoLauncherError where nothing may be started: on a
    login node, perhaps.

    `view` makes the live view of a run from its title and a line about the whole, `say` hears a
    line when a run is over. While jobs of the campaign wait or run, it is neither set up again nor
    cleaned up.
    """
    campaign = order.campaign
    outside = Names(NamesOfStep(campaign, campaign.step[0], order.settings, None), {})

    def around(what: str, commands: Sequence[Sequence[str]]) -> str:
        words = [[outside.text(word) for word in command] for command in commands]
        return carry_out(words, folder.path, what, campaign.environment)

    made = campaign_run(order, folder, view, say)
    if not made.open and (fault := around("set-up", campaign.setup)):
        raise EffioError(fault, ExitCode.ENVIRONMENT)
    try:
        return made.run()
    finally:
        over = not campaign.cleanup or not folder.open_jobs()
        if over and (fault := around("clean-up", campaign.cleanup)):
            say(fault)


def code_of(done: Sequence[UnitDone]) -> ExitCode:
    """The code of the whole: that of an interruption, else of the first run that failed."""
    codes = [one.code for one in done if one.code != ExitCode.DONE]
    if ExitCode.INTERRUPTED in codes or any(one.stop_wished for one in done):
        return ExitCode.INTERRUPTED
    return codes[0] if codes else ExitCode.DONE


def first_of(done: Sequence[UnitDone], step: Step) -> UnitDone | None:
    """What a card shows of a step: its first run."""
    return next((one for one in done if one.unit.point.step.name == step.name), None)
