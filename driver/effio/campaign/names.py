# SPDX-License-Identifier: BSD-3-Clause
"""Names that expressions of a campaign can refer to, and their values at a point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from effio.campaign.expression import (
    ExpressionError,
    Known,
    NotYetKnownError,
    Value,
    identifier,
    template,
)
from effio.campaign.file import Campaign, Step
from effio.engine.description import BenchmarkInfo
from effio.launch.launchers import Ranks

# Axes that are the launch's, as `effio run` has them, and not the engine's.
LAUNCH_AXES = ("ranks", "nodes", "ranks-per-node", "engine")


@dataclass(frozen=True)
class Settings:
    """What is the same for all points. `bytes` and `seconds` are the budget; `scale` shrinks
    shipped campaigns."""

    ranks: Ranks
    directory: str
    bytes: int | None = None
    seconds: float | None = None
    scale: float = 1.0

    def names(self) -> dict[str, Known]:
        known: dict[str, Known | None] = {
            "dir": self.directory,
            "bytes": self.bytes,
            "seconds": self.seconds,
            "scale": self.scale,
        }
        return {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True, eq=False)
class NamesOfStep:
    """What all points of a step can refer to."""

    campaign: Campaign
    step: Step
    settings: Settings
    info: BenchmarkInfo | None
    # Of options that many points have: how identities spell them (points.py).
    forms: dict[tuple[str, type, Value], str | None] = field(default_factory=dict)

    @cached_property
    def written(self) -> dict[str, Value]:
        """The names as the file has them. Names of the launch are never those of options that are
        called the same."""
        step = self.step
        launch = {"ranks": step.ranks, "nodes": step.nodes, "ranks_per_node": step.ranks_per_node}
        options = {n: v for n, v in step.options.items() if n not in LAUNCH_AXES}
        merged: dict[str, Value | None] = {
            **self.campaign.values,
            **step.values,
            **options,
            **launch,
        }
        return {identifier(k): v for k, v in merged.items() if v is not None}

    @cached_property
    def outside(self) -> dict[str, Known]:
        """What the campaign was called with."""
        given = self.settings.ranks
        launch = {"ranks": given.total, "nodes": given.nodes, "ranks_per_node": given.per_node}
        known = {name: value for name, value in launch.items() if value is not None}
        return {
            **defaults(self.info),
            **self.settings.names(),
            **known,
            "tags": (*self.campaign.tags, *self.step.tags),
        }


@dataclass(frozen=True, eq=False)
class Names(Mapping[str, Known]):
    """What expressions of a point can refer to; values are found when they are needed, in any
    order."""

    of_step: NamesOfStep
    chosen: Mapping[str, Value]
    late: Mapping[str, Value] = field(default_factory=dict)
    _asked: list[str] = field(default_factory=list, compare=False)

    @cached_property
    def _written(self) -> dict[str, Value]:
        """The names as the file has them; a name nearer to the point hides a farther one."""
        return {**self.of_step.written, **{identifier(k): v for k, v in self.chosen.items()}}

    @property
    def _outside(self) -> Mapping[str, Known]:
        return self.of_step.outside

    @property
    def campaign(self) -> Campaign:
        return self.of_step.campaign

    @property
    def step(self) -> Step:
        return self.of_step.step

    @property
    def settings(self) -> Settings:
        return self.of_step.settings

    @property
    def info(self) -> BenchmarkInfo | None:
        return self.of_step.info

    def __getitem__(self, name: str) -> Known:
        if name in self.late:
            return self.late[name]
        if name in self.step.earlier:
            raise NotYetKnownError(name)
        # In its own definition a name is that of outside: ranks = "{min(ranks, 2)}".
        if name in self._written and not (self._asked[-1:] == [name] and name in self._outside):
            return self.found(name)
        return self._outside[name]

    def found(self, name: str) -> Known:
        """The value of a name that the file defines."""
        written = self._written[name]
        if not isinstance(written, str) or not ("{" in written or "}" in written):
            return written
        if name in self._asked:
            way = " -> ".join([*self._asked[self._asked.index(name) :], name])
            raise ExpressionError(f"'{name}' refers to itself: {way}")
        self._asked.append(name)
        try:
            return template(written).value(self)
        finally:
            self._asked.pop()

    def option(self, name: str) -> Known:
        """The value of an engine option that has the name of a launch setting."""
        written = self.step.options[name]
        return template(written).value(self) if isinstance(written, str) else written

    def text(self, written: str) -> str:
        return template(written).text(self)

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*self._written, *self._outside, *self.step.earlier))

    def __len__(self) -> int:
        return len(list(iter(self)))


def defaults(info: BenchmarkInfo | None) -> dict[str, Known]:
    """What the engine takes for options that are not given, as far as it is known before a run."""
    options = info.options if info is not None else ()
    return {
        identifier(o.name): o.default
        for o in options
        if o.default and not o.automatic and o.name not in LAUNCH_AXES
    }
