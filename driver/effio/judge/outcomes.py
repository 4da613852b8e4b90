# SPDX-License-Identifier: BSD-3-Clause
"""What became of acceptance rules: of each rule and its steps, and of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from effio.judge.guard import StepGuard
from effio.judge.rules import Projection, Rule, RuleFile
from effio.judge.samples import Judged
from effio.judge.statistics import Summary
from effio.judge.verdicts import Ruling

REHEARSAL = "REHEARSAL, NOT A RULING"


@dataclass(frozen=True)
class Step:
    """A step of a rule over steps: value of the axis, what was measured, and what it had to be.
    `share`: of what the reference promises, with its interval; None at the reference."""

    at: float
    sample: Summary
    value: float
    needed: float | None
    met: bool | None
    share: StepGuard | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a rule. `limit` is what was requested, in words; values in base units. `wrong`
    is the probability of a wrong ruling, `decides` the repetitions that would decide."""

    rule: Rule
    ruling: Ruling
    limit: str
    reason: str = ""
    value: float | None = None
    unit: str = ""
    sample: Summary | None = None
    steps: Sequence[Step] = ()
    runs: Sequence[Judged] = ()
    projection: Projection | None = None
    base: float | None = None  # what was measured where `value` is projected
    wrong: float | None = None
    decides: int | None = None


@dataclass(frozen=True)
class Acceptance:
    """`rehearsal`: simulated results were accepted as input, so this is not a ruling."""

    rules: RuleFile
    outcomes: Sequence[Outcome]
    rehearsal: bool = False

    def count(self, ruling: Ruling) -> int:
        return sum(o.ruling is ruling for o in self.outcomes)

    @property
    def failed(self) -> bool:
        return self.count(Ruling.FAIL) > 0

    @property
    def accepted(self) -> bool:
        return all(o.ruling is Ruling.PASS for o in self.outcomes)

    @property
    def verdict(self) -> str:
        """The verdict, with the stamp of a rehearsal, which every output must have."""
        ruling = "NOT ACCEPTED" if self.failed else "ACCEPTED" if self.accepted else "NOT DECIDED"
        return f"{REHEARSAL}: would be {ruling}" if self.rehearsal else ruling
