# SPDX-License-Identifier: BSD-3-Clause
"""The words of a judgement: the one table of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

Level = Literal["good", "warn", "bad", "info"]


@dataclass(frozen=True)
class Word:
    text: str
    level: Level
    means: str
    counted: str = ""  # text with the number of measurements, if the number does not precede it


class Verdict(Enum):
    """The verdict of a comparison of two samples."""

    FASTER = Word("faster", "good", "better by the metric's own direction, and not by chance")
    SLOWER = Word("slower", "bad", "worse by the metric's own direction, and not by chance")
    TONIGHT = Word(
        "different tonight", "warn", "more than chance in these runs, but of too few nights:"
        " repeat on another night",
    )  # fmt: skip
    ALARM = Word(
        "below the baseline", "bad", "a loss beyond the control limits of the baseline's nights,"
        " in one new night: repeat it",
    )  # fmt: skip
    SAME = Word(
        "no difference found", "info", "chance explains the difference; the loss that would have"
        " been found is shown next to it", "no difference found in {}",
    )  # fmt: skip
    UNDECIDED = Word("undecided", "warn", "no basis for a judgment; the reason is next to it")

    @property
    def text(self) -> str:
        return self.value.text

    @property
    def level(self) -> Level:
        return self.value.level

    def counted(self, number: int) -> str:
        """The verdict with the number of its measurements: "2 faster"."""
        return (self.value.counted or f"{{}} {self.text}").format(number)


class NoVerdict(Enum):
    """Why there is no verdict."""

    TOO_FEW = "too few"
    INVALID = "invalid"
    WORKLOAD = "other workload"
    PLACE = "other place of the bytes"
    CLOCK = "simulated against measured"
    UNIT = "other unit"
    VALUE = "no value above 0"
    ORDER = "one side ran first on every night"


class Ruling(Enum):
    """The ruling of an acceptance rule."""

    PASS = Word("pass", "good", "the rule is met by what was measured")
    FAIL = Word("FAIL", "bad", "the rule is not met")
    CLOSE = Word(
        "too close to call", "warn", "chance could turn the ruling; how many repetitions would"
        " decide is next to it",
    )  # fmt: skip
    OPEN = Word("not evaluable", "warn", "no basis for a ruling; the reason is next to it")

    @property
    def text(self) -> str:
        return self.value.text

    @property
    def level(self) -> Level:
        return self.value.level
