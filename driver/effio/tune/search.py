# SPDX-License-Identifier: BSD-3-Clause
"""The search itself, over anything that measures a set-up: successive halving against the default,
then a fresh confirmation that alone decides.

A round runs the default and every remaining setting once, in a shuffled order that the next round
reverses. A setting's gain in a round is its value divided by the default's: conditions that both
had cancel. After some rounds the better half of each group stays (Karnin et al. 2013). The winner
of many settings won partly by chance, so its gain in the search is too high and only an estimate.
The confirmation measures the winner again, alternately with the default, in new runs.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from effio import text as fmt
from effio.errors import EffioError
from effio.judge import statistics
from effio.judge.statistics import SIGNIFICANCE, Ratio, holm
from effio.judge.verdicts import Verdict
from effio.tune.setting import DEFAULT, Group, Setting, Setup, everywhere

Stage = Literal["begin", "search", "confirm"]

# More rounds than this do not separate a rung's halves better, for what they cost.
_MOST_ROUNDS = 8


@dataclass(frozen=True)
class Trial:
    """One run. `name` is a setting's id, or "tuned" for what is confirmed."""

    stage: Stage
    round: int
    name: str
    setup: Setup


@dataclass(frozen=True)
class Reading:
    """The mean rate of each group, higher being better; with a fault there is none. `seconds` is
    what the run took of the budget."""

    values: Mapping[Group, float] = field(default_factory=dict)
    seconds: float = 0.0
    fault: str = ""
    run: str = ""
    notes: tuple[str, ...] = ()
    unit: str = ""  # of the values; empty where they are of several


Measure = Callable[[Trial], Reading]


class StoppedError(Exception):
    """The user, or the machine, ends it here; what was measured stays."""


class BudgetError(EffioError):
    """The budget is too small, also for a call that continues with it."""


@dataclass(frozen=True)
class Terms:
    """The budget, and what a gain has to be. `seconds` are those of runs, launches included.
    `tolerance`: a gain of this part or less is none."""

    seconds: float | None = None
    runs: int | None = None
    confirmations: int = 8
    tolerance: float = 0.02
    seed: int = 1

    @property
    def fewest_runs(self) -> int:
        """One to begin with, the default and a setting once, and the confirmation."""
        return 3 + 2 * self.confirmations


@dataclass(frozen=True)
class Tried:
    """A setting, and its gain over the default in each group, over this many rounds."""

    setting: Setting
    rounds: int
    gains: Mapping[Group, float]
    fault: str = ""


@dataclass(frozen=True)
class Confirmed:
    """A group: what was chosen for it, the gain that the search saw (an estimate that is too good),
    and what the confirmation found."""

    group: Group
    hints: Setting
    seen: float | None
    ratio: Ratio | None
    p: float | None  # adjusted
    verdict: Verdict
    before: Sequence[float] = ()
    after: Sequence[float] = ()


State = Literal["gain", "nothing helps", "interrupted"]


@dataclass(frozen=True)
class Outcome:
    """`setup` is what holds: nothing unless `state` is "gain"."""

    state: State
    why: str
    setup: Setup
    chosen: Setup
    groups: Sequence[Confirmed]
    tried: Sequence[Tried]
    runs: int
    seconds: float
    left_out: int  # settings that the budget had no room for
    unit: str = ""
    notes: Sequence[str] = ()


class Search:
    """One search. After StoppedError `outcome` holds what is known so far."""

    def __init__(
        self,
        settings: Sequence[Setting],
        measure: Measure,
        terms: Terms,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.terms = terms
        self._all = list(settings)
        self._measure = measure
        self._say = say
        self._groups: list[Group] = []
        self._seen: dict[str, dict[int, Mapping[Group, float]]] = {}
        self._faults: dict[str, str] = {}
        self._notes: list[str] = []
        self._settings = {s.id: s for s in settings}
        self._default_seconds: list[float] = []
        self._round = 0
        self._taken = 0
        self._spent = 0.0
        self._left_out = 0
        self._chosen: Setup | None = None
        self._estimates: dict[Group, float] = {}
        self._confirmation: list[tuple[Mapping[Group, float], Mapping[Group, float]]] = []
        self._tuned_fault = ""
        self._unit = ""

    def run(self) -> Outcome:
        """Raises EffioError where the default cannot be measured or the budget is too small, and
        StoppedError."""
        if not self._all:
            raise EffioError("there is nothing to try: no setting but the default")
        if self.terms.runs is not None and self.terms.runs < self.terms.fewest_runs:
            raise EffioError(
                f"{fmt.count_of(self.terms.runs, 'run is', 'runs are')} too few: "
                f"{self.terms.fewest_runs} at least, "
                f"{2 * self.terms.confirmations} of them to confirm",
                hint="allow more with --max-runs, or confirm less with --confirmations",
            )
        self._begin()
        alive = self._halve()
        self._choose(alive)
        if self._chosen is not None and self._chosen.changes:
            self._confirm(self._chosen)
        return self.outcome(finished=True)

    # What is measured ----------------------------------------------------------------------------

    def _trial(self, stage: Stage, number: int, name: str, setup: Setup) -> Reading:
        reading = self._measure(Trial(stage, number, name, setup))
        self._taken += 1
        self._spent += reading.seconds
        for note in reading.notes:
            if note not in self._notes:
                self._notes.append(note)
        if name == DEFAULT.id:
            if reading.fault:
                raise EffioError(f"the default cannot be measured: {reading.fault}")
            self._default_seconds.append(reading.seconds)
        return reading

    def _begin(self) -> None:
        """Shows how long a run takes and which groups there are; it is compared with nothing,
        because the first run of a machine is like no other."""
        first = self._trial("begin", 0, DEFAULT.id, Setup())
        self._groups = list(first.values)
        self._unit = first.unit
        if not self._groups:
            raise EffioError("the default gave no valid rate: there is nothing to compare")
        room = self._room()
        if room < 2:
            needed = self.terms.fewest_runs * first.seconds
            raise BudgetError(
                f"a run takes {fmt.duration(first.seconds)}, and {self.terms.fewest_runs} are "
                f"needed at least: about {fmt.duration(needed)}",
                hint="allow more with --time, or measure less in a run",
            )
        kept = len(self._all)
        while kept > 1 and sum(size + 1 for size in _rungs(kept)) > room:
            kept -= 1
        self._left_out = len(self._all) - kept
        self._all = self._all[:kept]

    def _room(self) -> float:
        """Runs that the search may still take, the confirmation being kept back."""
        mean = max(fmean(self._default_seconds), 1e-9)
        rooms = [math.inf]
        if self.terms.runs is not None:
            rooms.append(self.terms.runs - self._taken)
        if self.terms.seconds is not None:
            rooms.append((self.terms.seconds - self._spent) / mean)
        return min(rooms) - 2 * self.terms.confirmations

    def _halve(self) -> dict[Group, list[str]]:
        """The best settings of each group, the best first."""
        alive = {group: [s.id for s in self._all] for group in self._groups}
        rungs = _rungs(len(self._all))
        for number in range(len(rungs)):
            names = self._left(alive)
            if not names:
                break
            wanted = self._room() / (len(rungs) - number) / (len(names) + 1)
            rounds = int(max(1.0, min(wanted, float(_MOST_ROUNDS))))
            self._say(
                f"{fmt.count_of(len(names), 'setting')} against the default, "
                f"{fmt.count_of(rounds, 'round')}"
            )
            for _ in range(rounds):
                names = self._left(alive)
                # A first round is run as far as it goes: without one nothing is known.
                if not names or (self._round > 0 and self._room() < len(names) + 1):
                    break
                self._one_round(names)
            for group, ids in alive.items():
                ranked = self._ranked(group, ids)
                alive[group] = ranked[: math.ceil(len(ids) / 2)]
        return alive

    def _left(self, alive: Mapping[Group, Sequence[str]]) -> list[str]:
        wanted = {name for ids in alive.values() for name in ids} - self._faults.keys()
        return [s.id for s in self._all if s.id in wanted]

    def _one_round(self, names: Sequence[str]) -> None:
        order = [DEFAULT.id, *names]
        # The same order for two rounds, the second time backward: drift favors no side.
        random.Random(f"{self.terms.seed} {self._round // 2}").shuffle(order)
        for name in reversed(order) if self._round % 2 else order:
            setting = self._settings.get(name, DEFAULT)
            reading = self._trial("search", self._round, name, everywhere(setting))
            if reading.fault:
                self._faults[name] = reading.fault
            elif reading.values.keys().isdisjoint(self._groups):
                self._faults[name] = "it measures nothing that the default measures"
            else:
                self._seen.setdefault(name, {})[self._round] = reading.values
        self._round += 1

    def _pairs(self, group: Group, name: str) -> list[tuple[float, float]]:
        """The default and the setting in each round that has both."""
        default = self._seen.get(DEFAULT.id, {})
        return [
            (default[number][group], values[group])
            for number, values in self._seen.get(name, {}).items()
            if number in default and group in values and group in default[number]
        ]

    def _gain(self, group: Group, name: str) -> float | None:
        """Mean of the logarithms of its ratios to the default, round by round."""
        logs = [math.log(b / a) for a, b in self._pairs(group, name)]
        return fmean(logs) if logs else None

    def _ranked(self, group: Group, names: Iterable[str]) -> list[str]:
        gains = {
            name: gain
            for name in names
            if name not in self._faults and (gain := self._gain(group, name)) is not None
        }
        return sorted(gains, key=lambda name: -gains[name])

    # What is chosen, and whether it holds --------------------------------------------------------

    def _choose(self, alive: Mapping[Group, Sequence[str]]) -> None:
        """What holds for the job is one for all groups: that whose best settings gain most over
        all of them. The default's own deviation in the search is in every gain, so that the best is
        confirmed although it looked slower, unless that was more than chance."""
        jobs: list[Setting] = []
        for ids in alive.values():
            jobs += [j for name in ids[:1] if (j := self._settings[name].job) not in jobs]
        if not jobs:
            self._chosen = Setup()
            return

        def total(job: Setting) -> float:
            gains = [self._best(group, job)[0] for group in self._groups]
            return sum(max(gain, 0.0) if job == DEFAULT else gain for gain in gains)

        best = max(jobs, key=total)
        picks = {group: self._best(group, best) for group in self._groups}
        hopeless = {g for g, (_, pick) in picks.items() if self._is_slower(g, pick)}
        if best != DEFAULT and hopeless != {*picks}:
            hopeless = set()
        elif hopeless == {*picks}:
            best = DEFAULT
        hints = {g: s.hints for g, (_, s) in picks.items() if s.hints and g not in hopeless}
        self._chosen = Setup(best, hints)
        self._estimates = {g: math.exp(gain) for g, (gain, _) in picks.items() if gain > -math.inf}

    def _best(self, group: Group, job: Setting) -> tuple[float, Setting]:
        """The best of the settings that were measured longest with these of the job."""
        some = [s for s in self._all if s.job == job and s.id not in self._faults]
        most = max((len(self._seen.get(s.id, {})) for s in some), default=0)
        found = [
            (gain, setting)
            for setting in some
            if (gain := self._gain(group, setting.id)) is not None
            and len(self._seen[setting.id]) == most
        ]
        return max(found, key=lambda f: f[0], default=(-math.inf, DEFAULT))

    def _is_slower(self, group: Group, setting: Setting) -> bool:
        """Whether a setting is slower for sure, as far as the search can see."""
        pairs = self._pairs(group, setting.id)
        ratio = statistics.ratio([a for a, _ in pairs], [b for _, b in pairs], paired=True)
        return not pairs or (ratio is not None and ratio.high < 1)

    def _confirm(self, chosen: Setup) -> None:
        self._say(
            f"confirming: the default and what was found, interleaved, "
            f"{fmt.count_of(self.terms.confirmations, 'round')}"
        )
        for number in range(self.terms.confirmations):
            reported: dict[str, Mapping[Group, float]] = {}
            sides = [(DEFAULT.id, Setup()), ("tuned", chosen)]
            for name, setup in reversed(sides) if number % 2 else sides:
                reading = self._trial("confirm", number, name, setup)
                if reading.fault:
                    self._tuned_fault = reading.fault
                    return
                reported[name] = reading.values
            self._confirmation.append((reported[DEFAULT.id], reported["tuned"]))

    def _judged(self, chosen: Setup, whole: bool) -> list[Confirmed]:
        found = []
        for group in self._groups:
            pairs = [
                (a[group], b[group]) for a, b in self._confirmation if group in a and group in b
            ]
            before, after = [a for a, _ in pairs], [b for _, b in pairs]
            touched = chosen.job != DEFAULT or group in chosen.hints
            ratio = statistics.ratio(before, after, paired=True) if touched and whole else None
            found.append((group, ratio, before, after))
        tested = [ratio for _, ratio, _, _ in found if ratio is not None]
        adjusted = iter(holm([ratio.p for ratio in tested]))
        judged = []
        for group, ratio, before, after in found:
            p = next(adjusted) if ratio is not None else None
            hints = Setting(hints=chosen.hints.get(group, ()))
            seen = self._estimates.get(group)
            verdict = _verdict(ratio, p, self.terms.tolerance)
            judged.append(Confirmed(group, hints, seen, ratio, p, verdict, before, after))
        return judged

    def outcome(self, finished: bool = False) -> Outcome:
        chosen = self._chosen if self._chosen is not None else Setup()
        whole = finished and len(self._confirmation) == self.terms.confirmations
        groups = self._judged(chosen, whole)
        setup, state, why = _held(chosen, groups, self._tuned_fault)
        if self._all and self._faults.keys() >= {s.id for s in self._all}:
            why = "no setting could be compared with the default"
        if not finished:
            setup, state, why = Setup(), "interrupted", "stopped before anything was confirmed"
        return Outcome(
            state,
            why,
            setup,
            chosen,
            groups,
            [self._tried(setting) for setting in self._all],
            self._taken,
            self._spent,
            self._left_out,
            self._unit,
            tuple(self._notes),
        )

    def _tried(self, setting: Setting) -> Tried:
        gains = {
            g: math.exp(x) for g in self._groups if (x := self._gain(g, setting.id)) is not None
        }
        rounds = len(self._seen.get(setting.id, {}))
        return Tried(setting, rounds, gains, self._faults.get(setting.id, ""))


def _rungs(count: int) -> list[int]:
    """How many settings are left in each rung, at most: all, the better half, … two."""
    sizes = [count]
    while sizes[-1] > 2:
        sizes.append(math.ceil(sizes[-1] / 2))
    return sizes


def _verdict(ratio: Ratio | None, p: float | None, tolerance: float) -> Verdict:
    if ratio is None or p is None:
        return Verdict.UNDECIDED
    if p >= SIGNIFICANCE:
        return Verdict.SAME
    if ratio.value > 1 + tolerance:
        return Verdict.FASTER
    return Verdict.SLOWER if ratio.value < 1 / (1 + tolerance) else Verdict.SAME


def _held(chosen: Setup, groups: Sequence[Confirmed], fault: str) -> tuple[Setup, State, str]:
    """What of it is kept. Hints that did not hold in their group go; what holds for the whole job
    must harm no group."""
    if not chosen.changes:
        return Setup(), "nothing helps", "every setting was slower than the default in the search"
    if fault:
        return Setup(), "nothing helps", f"what was found failed when it was run again: {fault}"
    gained = [c.group for c in groups if c.verdict is Verdict.FASTER]
    lost = [c.group for c in groups if c.verdict is Verdict.SLOWER]
    if not gained:
        # A difference that chance can explain may still be there.
        shown = "was slower" if lost and len(lost) == len(groups) else "was not shown to be faster"
        return Setup(), "nothing helps", f"what looked best {shown} when it was run again"
    if lost and chosen.job != DEFAULT:
        titles = ", ".join(group.title for group in lost)
        return Setup(), "nothing helps", f"what holds for the whole job makes slower: {titles}"
    hints = {group: pairs for group, pairs in chosen.hints.items() if group in gained}
    return Setup(chosen.job, hints), "gain", ""
