# SPDX-License-Identifier: BSD-3-Clause
"""Acceptance rules as data: TOML files (docs/accept.md), checked whole before they judge."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from effio import text as fmt
from effio.config.toml_file import file_hint, nearest, validated
from effio.config.toml_file import read as read_toml
from effio.errors import EffioError

_SHIPPED = Path(__file__).resolve().parent / "shipped"
_PLAIN = (
    "step", "benchmark", "pattern", "access", "ranks", "nodes", "backend", "file_system",
    "ranks_per_node", "ranks_per_core", "stripe_count", "in_memory",
)  # fmt: skip
# What pydantic puts before the messages of our checks.
_PREFIXES = ("where.", "options.", "label.")
_OPERATIONS = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([kMG]?)op/s\s*$")

M = TypeVar("M", bound=BaseModel)


class _Table(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, str_max_length=10_000, allow_inf_nan=False, defer_build=True
    )


def quantity(text: str) -> tuple[float, str]:
    """A value with its unit in base units: "1TB/s", "25000 op/s", "5min"; a ValueError if none."""
    if (rate := fmt.parse_rate(text)) is not None:
        return rate, "B/s"
    if (found := _OPERATIONS.match(text)) is not None:
        return float(found[1]) * 1000.0 ** " kMG".index(found[2] or " "), "op/s"
    # A number alone would be seconds to the engine; here it must say what it is.
    if not text.strip().replace(".", "").isdigit() and (s := fmt.parse_duration(text)) is not None:
        return s, "s"
    raise ValueError(f"'{text}' is not a rate or time; write it as 1TB/s, 25000 op/s or 5min")


def _quantity(text: str) -> str:
    quantity(text)
    return text


def _coordinate(name: str) -> str:
    if name in _PLAIN or any(name.startswith(p) and name != p for p in _PREFIXES):
        return name
    known = ", ".join([*_PLAIN, *(f"{p}NAME" for p in _PREFIXES)])
    meant = nearest(name, [*_PLAIN, *_PREFIXES])
    raise ValueError(f"'{name}' is not a member of a measurement ({known}){meant}")


QuantityText = Annotated[str, AfterValidator(_quantity)]
Coordinate = Annotated[str, AfterValidator(_coordinate)]
Part = Annotated[float, Field(gt=0, le=1)]


class Bounds(_Table):
    """Numbers or sizes ("1GiB")."""

    at_least: float | str | None = None
    at_most: float | str | None = None


Scalar = str | int | float | bool
Selection = dict[Coordinate, Scalar | list[Scalar] | Bounds]


class _Rule(_Table):
    """`select`: which measurements; `figure`: figures of this name instead; `across`: axes in which
    they may differ. `evidence`: the cache verdicts that count; `from_storage` is short for
    "device".
    `at_largest`: only those at the largest value of this axis; a run without it counts as such.
    `risk`: largest probability of a wrong ruling; 0.5 compares the value alone."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")
    title: str = ""
    source: str = ""
    select: Selection = Field(default_factory=dict)
    figure: str = Field(default="", max_length=200)
    repetitions: int = Field(default=1, ge=1)
    cov: Part | None = None
    across: list[Coordinate] = Field(default_factory=list)
    from_storage: bool = False
    evidence: list[str] = Field(default_factory=list)
    risk: float = Field(default=0.05, gt=0, le=0.5)
    at_largest: Coordinate | None = None
    statistic: Literal["mean", "median", "min", "max"] = "mean"

    @property
    def wanted_evidence(self) -> list[str]:
        return self.evidence or (["device"] if self.from_storage else [])


class Threshold(_Rule):
    kind: Literal["threshold"]
    at_least: QuantityText | None = None
    above: QuantityText | None = None
    at_most: QuantityText | None = None
    below: QuantityText | None = None

    @model_validator(mode="after")
    def _one_bound(self) -> Threshold:
        if sum(b is not None for b in (self.at_least, self.above, self.at_most, self.below)) != 1:
            raise ValueError("one of at_least, above, at_most and below is needed")
        return self

    def bound(self) -> tuple[str, float, str]:
        """Sign, value and unit."""
        for sign, text in (
            ("≥", self.at_least), (">", self.above), ("≤", self.at_most), ("<", self.below),
        ):  # fmt: skip
            if text is not None:
                return (sign, *quantity(text))
        raise AssertionError("checked on reading")

    def met(self, value: float) -> bool:
        sign, limit, _ = self.bound()
        return {"≥": value >= limit, ">": value > limit, "≤": value <= limit, "<": value < limit}[
            sign
        ]


class _OverSteps(_Rule):
    """`steps`: parts of the largest value of the axis that have to be there; a step may be off by a
    twentieth, because servers come whole."""

    axis: Coordinate
    steps: list[Part] = Field(default_factory=list)


class Linearity(_OverSteps):
    """At each step at least 1 - `tolerance` of what the smallest step promises."""

    kind: Literal["linearity"]
    tolerance: Part


class Floor(_OverSteps):
    """At each step at least `share` of the best step, or of `optimum`."""

    kind: Literal["floor"]
    share: Part
    optimum: QuantityText | None = None


class Steady(_Rule):
    """The rate became steady, within `within`."""

    kind: Literal["steady"]
    within: QuantityText | None = None


class Valid(_Rule):
    """Runs that ended well, with valid measurements and no error."""

    kind: Literal["valid"]


class Limit(_Rule):
    """No value above what physics allows: one that is was measured wrongly, or in a cache."""

    kind: Literal["limit"]
    at_most: QuantityText


class Condition(_Rule):
    """Everything selected was measured under the conditions of `demand`. `applies_to`: of that only
    what has these values, as `{ file_system = "lustre" }`; where nothing has, the rule is met."""

    kind: Literal["condition"]
    demand: Annotated[Selection, Field(min_length=1)]
    applies_to: Selection = Field(default_factory=dict)


Rule = Annotated[
    Threshold | Linearity | Floor | Steady | Valid | Limit | Condition,
    Field(discriminator="kind"),
]


class ResultRow(_Rule):
    """A test of the instructions: its row in the table of results of a bundle. `group` is the
    table's part. With `axis` there is a row for each of its values: the smallest and thirds of
    the largest by name where `of` is the noun ("servers"). `projected`: the rule whose projection
    belongs to it."""

    group: str
    axis: Coordinate | None = None
    of: str = ""
    projected: str = ""


class RuleFile(_Table):
    schema_name: Literal["effio-rules/1"] = Field(alias="schema")
    title: str
    purpose: str = ""
    source: str = ""
    rule: list[Rule] = Field(min_length=1, max_length=10_000)
    result: list[ResultRow] = Field(default_factory=list, max_length=10_000)

    @model_validator(mode="after")
    def _distinct(self) -> RuleFile:
        names = Counter(rule.id for rule in self.rule)
        double = sorted(name for name, count in names.items() if count > 1)
        if double:
            raise ValueError(f"more than one rule is called {', '.join(double)}")
        return self


class Projection(_Table):
    """A value that was not measured: for which rule, how it was found, from which runs."""

    rule: str
    value: QuantityText
    method: str = Field(min_length=1)
    base: str = Field(min_length=1)
    system: str = ""


class SystemRow(_Table):
    """A row of the system description; empty members are taken from the runs."""

    letter: str = Field(pattern=r"^[A-Z]{1,2}$")
    name: str = ""
    processor: str = ""
    clock_mhz: float | None = Field(default=None, gt=0)
    interconnect: str = ""
    cores: int | None = Field(default=None, ge=1)


class Submission(_Table):
    """What runs do not contain."""

    title: str = ""
    submitter: str = ""
    notes: str = ""
    audit: list[str] = Field(default_factory=list)
    system: list[SystemRow] = Field(default_factory=list)
    projection: list[Projection] = Field(default_factory=list)


def shipped() -> list[str]:
    return sorted(path.stem for path in _SHIPPED.glob("*.toml"))


def path_of(name: str) -> Path:
    """A file, or the name of rules that come with effio."""
    path = Path(name)
    if not os.path.isfile(path) and name in shipped():  # noqa: PTH113 (a name may be too long)
        return _SHIPPED / f"{name}.toml"
    if not os.path.exists(path):  # noqa: PTH110
        known = ", ".join(shipped())
        raise EffioError(
            f"no rules '{fmt.plain(name, 200)}': neither a file nor one of {known}",
            hint=file_hint(name),
        )
    return path


def load_rules(name: str) -> RuleFile:
    return validated(RuleFile, read_toml(path_of(name)))


def load_submission(path: Path) -> Submission:
    return validated(Submission, read_toml(path))


def as_number(value: object) -> float | None:
    """A number, or a size as text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value) if math.isfinite(value) else None
    size = fmt.parse_size(value) if isinstance(value, str) else None
    return None if size is None else float(size)
