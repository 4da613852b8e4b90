# SPDX-License-Identifier: BSD-3-Clause
"""A trial of a search as a run of the engine, kept like any other run; what was measured once is
not measured again when a search continues."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from effio import text as fmt
from effio.errors import EffioError, ExitCode
from effio.launch import job
from effio.launch.choose import NoLauncherError
from effio.launch.live import LiveView
from effio.store.evidence import is_reading
from effio.store.reader import Result, ResultError
from effio.store.records import Measurement
from effio.store.run_record import CampaignPart
from effio.store.tidy import tidy
from effio.store.values import as_count
from effio.tune.folder import TuningFolder
from effio.tune.search import Reading, StoppedError, Trial
from effio.tune.setting import DEFAULT, Group, Setup
from effio.tune.space import Tuning

# What a rule of a hints file can distinguish in addition to the access, by benchmark: the
# coordinates of a measurement that are its pattern (none: its own) and its chunk
# (docs/definitions/b-eff-io.md, Info file). Others take rules for all they do.
_GROUPED_BY: Mapping[str, tuple[str, str]] = {
    "ior": ("files", "transfer_bytes"),  # the options files and transfer
    "b-eff-io": ("", ""),
    "flash-io": ("", ""),
}

Viewing = Callable[[str, str], LiveView]


def group_of(m: Measurement, tuning: Tuning) -> Group:
    """The finest that can be set up alone. Without hints nothing can; then accesses are
    distinguished for the reader."""
    if tuning.benchmark not in _GROUPED_BY:
        return Group() if tuning.vary.hints else Group(access=m.access)
    # What is varied distinguishes settings, not groups: no setting would have the default's.
    pattern_of, chunk_of = (
        "varied" if name.removesuffix("_bytes") in tuning.vary.options else name
        for name in _GROUPED_BY[tuning.benchmark]
    )
    pattern = str(m.where.get(pattern_of, "")) if pattern_of else m.pattern
    chunk = as_count(m.where.get(chunk_of))
    return Group(m.access or "all", pattern or "all", str(chunk) if chunk > 0 else "all")


def unit_of(result: Result) -> str:
    """The unit of the values; empty if they have several, or one that counts the other way."""
    units = {m.rate.unit if m.rate.better == "higher" else "" for m in result.measurements}
    return units.pop() if len(units) == 1 else ""


def values_of(result: Result, tuning: Tuning) -> tuple[dict[Group, float], str]:
    """Geometric means by group, higher being better; a group with an invalid measurement has none.
    The second value says why there are none at all."""
    logs: dict[Group, list[float]] = {}
    bad: dict[Group, str] = {}
    for m in result.measurements:
        group = group_of(m, tuning)
        value = m.rate.value
        if not m.valid or value is None or value <= 0:
            bad.setdefault(group, m.invalid_reason or m.rate.reason or "no valid rate")
            continue
        sign = 1 if m.rate.better == "higher" else -1
        logs.setdefault(group, []).append(sign * math.log(value))
    values = {g: math.exp(sum(v) / len(v)) for g, v in logs.items() if g not in bad}
    return values, "" if values else next(iter(bad.values()), "nothing was measured")


def notes_of(result: Result, tuning: Tuning) -> Iterator[str]:
    """What a reader has to know of the requested hints, and of where bytes came from."""
    if result.run.simulated:
        yield "Simulated: a gain is the model's, not one of storage."
    for m in result.measurements:
        for key, value in m.hints_asked.items():
            if m.hints_echoed:
                yield "The library returns every hint, whether it knows it or not."
            elif key not in m.hints_granted:
                yield f"The library drops {key}={value}."
            elif m.hints_granted[key] != value:
                yield f"The library changes {key}={value} to {m.hints_granted[key]}."
        if m.cache is not None and m.cache.verdict == "cache":
            title = group_of(m, tuning).title
            moved = "reads came out of" if is_reading(m.access) else "writes were in"
            yield f"{title}: the {moved} memory; a gain there is not one of storage."


@dataclass
class Runner:
    """Measures a trial, or looks up what an earlier call measured. Raises StoppedError when a run
    is interrupted, and EffioError where nothing can be measured here at all."""

    model: job.Request
    tuning: Tuning
    folder: TuningFolder
    view: Viewing
    say: Callable[[str], None]
    number: int = 0
    looked_up: int = 0
    reported: bool = False
    stop_wished: bool = False  # by the user, during a run that then ended by itself

    def __call__(self, trial: Trial) -> Reading:
        self.number += 1
        known = self.folder.reading(trial)
        if known is not None:
            self.looked_up += 1
            return known
        if self.stop_wished:
            raise StoppedError("stopped between two runs")
        reading = self._run(trial)
        # What keeps the whole from being measured may be mended before it continues.
        if not (reading.fault and trial.name == DEFAULT.id):
            self.folder.note(trial, reading)
        return reading

    def request(self, trial: Trial) -> job.Request:
        setup = trial.setup
        words = list(self.tuning.words(setup.job))
        hints = self.folder.hints_file(trial.name, [*setup.rules()])
        if hints is not None:
            words.append(f"--hints={hints}")
        pairs = [*setup.job.options, *setup.job.environment]
        pairs += [(key, value) for some in setup.hints.values() for key, value in some]
        return replace(
            self.model,
            benchmark=self.tuning.benchmark,
            arguments=tuple(words),
            label=f"{self.folder.name}-{trial.stage}-{trial.name}-r{trial.round}",
            environment=dict(setup.job.environment),
            notes=not self.reported,
            campaign=CampaignPart(
                name=self.folder.name,
                step=trial.stage,
                point=trial.name,
                repetition=trial.round,
                axes=dict(pairs),
                tags=["tuning"],
            ),
        )

    def _run(self, trial: Trial) -> Reading:
        title = _title(trial)
        above = f"{self.folder.name}: run {self.number}"
        with self.view(title, above) as live:
            finished = job.run_here(self.request(trial), self.folder.runs, live)
        self.reported = True
        self.stop_wished = finished.stop_wished
        if finished.code == ExitCode.INTERRUPTED:
            raise StoppedError(finished.reason)
        if finished.code == ExitCode.RESULTS:
            raise EffioError(finished.reason, ExitCode.RESULTS)
        if finished.not_started and trial.name == DEFAULT.id:
            raise NoLauncherError(finished.reason, ExitCode.ENVIRONMENT)
        record = finished.folder.record()
        seconds = record.outcome.seconds if record is not None and record.outcome else 0.0
        run = finished.folder.id
        if finished.code != ExitCode.DONE:
            why = finished.reason or finished.code.name.lower()
            self.say(f"{title}: {why}")
            return Reading(seconds=seconds, fault=fmt.plain(why, 500), run=run)
        try:
            result = finished.folder.result()
        except ResultError as error:
            return Reading(seconds=seconds, fault=error.message, run=run)
        values, fault = values_of(result, self.tuning)
        notes = tuple(dict.fromkeys(notes_of(result, self.tuning)))
        return Reading(values, seconds, fmt.plain(fault, 500), run, notes, unit_of(result))

    def take_up(self) -> None:
        """Ends and tidies what a driver left that was killed in the middle of a run."""
        for one in self.folder.runs.folders():
            record = one.record() if self.folder.name in one.id else None
            part = record.campaign if record is not None else None
            ours = part is not None and part.name == self.folder.name
            if ours and (fault := job.adopt(one, lambda run: tidy(run, self.say))):
                self.say(f"left alone: {one.id}: {fault}")


def _title(trial: Trial) -> str:
    setup: Setup = trial.setup
    hints = dict.fromkeys(f"{k}={v}" for pairs in setup.hints.values() for k, v in pairs)
    words = [*hints, setup.job.text]
    reported = " ".join(filter(None, words)) or "default"
    return reported if trial.stage == "search" else f"{trial.stage}, {reported}"
