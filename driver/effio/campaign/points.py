# SPDX-License-Identifier: BSD-3-Clause
"""From a campaign to its points: sweeps are counted, then expanded; expressions get their values;
every point has an id that follows from its parameters alone, so that a point that stays in the file
keeps its results."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from effio import text as fmt
from effio.campaign.expression import (
    ExpressionError,
    Known,
    NotYetKnownError,
    Value,
    as_number,
    identifier,
    meaning,
    parse,
    spelled,
)
from effio.campaign.file import Campaign, Command, Step
from effio.campaign.names import LAUNCH_AXES, Names, NamesOfStep, Settings
from effio.config.toml_file import nearest
from effio.engine.description import BenchmarkInfo
from effio.engine.program import Engine
from effio.errors import EffioError
from effio.launch import layouts
from effio.launch.launchers import Ranks, ranks_of

LATE = "from an earlier step"
_ID_DIGITS = 16
OLD_ID_DIGITS = 8
_IDENTITY = json.JSONEncoder(sort_keys=True, default=str)


@dataclass(frozen=True)
class Point:
    """One set of parameters. Of `late` options the value follows from results of earlier steps."""

    step: Step
    chosen: Mapping[str, Value]
    ranks: Ranks
    engine: str | None
    options: Mapping[str, Value]
    names: Names = field(compare=False, repr=False)
    late: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    laid: layouts.Laying = field(default_factory=layouts.Laying, compare=False)
    # Of a layout: the directory in which that of the layout is made.
    above: str = ""

    @cached_property
    def identity(self) -> str:
        """All that is measured: options that say what the engine does anyway do not count."""
        what = {
            "step": self.step.name,
            "benchmark": self.step.benchmark,
            "options": sorted(
                (name, form)
                for name, value in self.options.items()
                if (form := _form_of(name, value, self.names.of_step)) is not None
            ),
            "late": sorted(self.late.items()),
            "earlier": {k: e.model_dump() for k, e in sorted(self.step.earlier.items())},
            "otherwise": sorted((k, spelled(v)) for k, v in self.step.otherwise.items()),
            "ranks": [self.ranks.total, self.ranks.nodes, self.ranks.per_node],
            "engine": self.engine,
            "environment": sorted(self.environment.items()),
            "setup": self.commands(self.step.setup) if self.step.setup else [],
        }
        return _IDENTITY.encode(what)

    @cached_property
    def id(self) -> str:
        return hashlib.sha256(self.identity.encode()).hexdigest()[:_ID_DIGITS]

    @property
    def short_id(self) -> str:
        """The id in names of runs that effio 0.1 kept; two points may share it."""
        return self.id[:OLD_ID_DIGITS]

    @cached_property
    def axes(self) -> dict[str, Value]:
        """What was chosen, with the values of its expressions."""
        found: dict[str, Value] = {}
        for name, value in self.chosen.items():
            try:
                known = self.names.found(identifier(name))
            except (NotYetKnownError, ExpressionError):
                known = value
            found[name] = spelled(known) if isinstance(known, tuple) else known
        return found

    @cached_property
    def title(self) -> str:
        axes = [f"{name}={spelled(value)}" for name, value in self.axes.items()]
        return " ".join([self.step.name, *axes])

    @cached_property
    def environment(self) -> dict[str, str]:
        merged = {**self.names.campaign.environment, **self.step.environment}
        return {name: self.names.text(value) for name, value in merged.items()}

    def commands(self, commands: Sequence[Command]) -> list[list[str]]:
        return [[self.names.text(word) for word in command] for command in commands]

    def words(self, more: Mapping[str, Value] | None = None, plan: bool = False) -> tuple[str, ...]:
        """The engine's arguments, without the benchmark's name. For a `plan` nothing is made: the
        directory of a layout need not be there."""
        assert not self.late, f"{', '.join(self.late)}: {LATE}"
        merged = {**self.options, **(more or {})}
        if plan and self.above:
            merged["dir"] = self.above
        return tuple(word for name, value in merged.items() for word in _word(name, value))

    def left_out(self) -> str:
        """Why the step cannot run with the options of this call; empty if it can."""
        least, given = self.step.bytes_at_least, self.names.settings.bytes
        if self.step.ranks_at_least > self.ranks.total:
            return f"it needs {fmt.count_of(self.step.ranks_at_least, 'rank')}"
        if least is not None and given is not None and given < least:
            return f"it needs a --max-bytes of at least {fmt.size(least)}"
        return ""

    def known(self) -> dict[str, Known]:
        """Names for --only and --skip."""
        return {
            **{identifier(n): v for n, v in self.options.items()},
            **{identifier(n): v for n, v in self.axes.items()},
            "step": self.step.name,
            "benchmark": self.step.benchmark,
            "ranks": self.ranks.total,
            "nodes": self.ranks.nodes or 1,
            "tags": self.tags,
            "id": self.id,
        }

    def with_values(self, values: Mapping[str, Value]) -> Point:
        """Now that results of earlier steps are there. The id stays."""
        made = _point(replace(self.names, late={**values}))
        made.__dict__["identity"] = self.identity
        return made


def _word(name: str, value: Value) -> list[str]:
    if isinstance(value, bool):
        return [f"--{name}"] if value else []
    return [f"--{name}={spelled(value)}"]


def _form_of(name: str, value: Value, of: NamesOfStep) -> str | None:
    key = name, type(value), value
    if key not in of.forms or value == 0:  # 0.0 is equal to -0.0
        of.forms[key] = _normal(name, value, of.info)
    return of.forms[key]


def _normal(name: str, value: Value, info: BenchmarkInfo | None) -> str | None:
    """One spelling for each value; None where it is the default."""
    option = info.by_name.get(name) if info else None
    if isinstance(value, bool) and option is not None and option.is_flag:
        return "on" if value else None
    if option is None:
        return _form(spelled(value))
    is_text = option.type in ("text", "choice", "flag")
    own = spelled(value) if is_text else _form(spelled(value))
    return None if own == (option.default if is_text else _form(option.default)) else own


@lru_cache(4096)
def _form(text: str) -> str:
    number = as_number(text)
    return text if number is None else spelled(number)


def _whole(names: Names, name: str) -> int | None:
    try:
        value = meaning(names[name])
    except KeyError:
        return None
    if not isinstance(value, (int, float)) or value != int(value) or value < 1:
        raise ExpressionError(f"{name} is {spelled(value)}: no number of processes")
    return int(value)


def _ranks(names: Names) -> Ranks:
    """The ranks as the step says, else as the campaign was called."""
    step, given = names.step, names.settings.ranks
    launch = {"ranks": step.ranks, "nodes": step.nodes, "ranks_per_node": step.ranks_per_node}
    own = {name for name, value in launch.items() if value is not None}
    own |= {identifier(name) for name in names.chosen if name in LAUNCH_AXES[:3]}
    if not own:
        return given
    total, nodes, per_node = (_whole(names, n) if n in own else None for n in launch)
    if own == {"ranks"} and total == given.total:
        return given
    if total is None:
        nodes, per_node = nodes or given.nodes, per_node or given.per_node
    if total is None and (nodes is None or per_node is None):
        raise ExpressionError("give ranks, or both nodes and ranks_per_node")
    return ranks_of(total, nodes, per_node)


def _point(names: Names) -> Point:
    step, info = names.step, names.info
    known = info.by_name if info else {}
    options: dict[str, Value] = {}
    late: dict[str, str] = {}
    written = {**step.options, **{n: v for n, v in names.chosen.items() if n in known}}
    for name, text in written.items():
        if name in LAUNCH_AXES and name in names.chosen and name not in step.options:
            continue
        try:
            found = names.option(name) if name in LAUNCH_AXES else names.found(identifier(name))
            assert not isinstance(found, tuple)
            switch = isinstance(found, bool) and name in known and known[name].is_on_off
            options[name] = ("on" if found else "off") if switch else found
        except NotYetKnownError:
            late[name] = str(text)
    if "dir" in known and "dir" not in written:
        options["dir"] = names.settings.directory
    laid, above = layouts.Laying(), ""
    if layouts.AXIS in names.chosen and layouts.AXIS not in {*step.values, *known}:
        layout, above = names.text(str(names.chosen[layouts.AXIS])), spelled(options["dir"])
        laid = layouts.laying(layout, above)
        options["dir"] = layouts.directory_of(layout, above)
        above = above if laid.setup else ""
    engine = names.chosen.get("engine", step.engine)
    return Point(
        step,
        names.chosen,
        _ranks(names),
        None if engine is None else str(engine),
        options,
        names,
        late,
        (*names.campaign.tags, *step.tags),
        laid,
        above,
    )


# Sweeps ------------------------------------------------------------------------------------------


def _groups(step: Step) -> list[tuple[str, ...]]:
    """Axes that go together, in the order of the file."""
    together = {name: group for group in step.zip for name in group}
    return list(dict.fromkeys(together.get(name, (name,)) for name in step.sweep))


def count(step: Step) -> int:
    """Points before anything is excluded, by arithmetic alone."""
    number = 1
    for group in _groups(step):
        number *= len(step.sweep[group[0]])
    return number + len(step.include)


def expand(step: Step) -> Iterator[tuple[dict[str, Value], bool]]:
    """Each with whether it is of the cross, of which points can be excluded."""
    groups = _groups(step)
    columns = [list(zip(*(step.sweep[name] for name in group), strict=True)) for group in groups]
    for row in itertools.product(*columns):
        chosen = {
            name: value
            for group, values in zip(groups, row, strict=True)
            for name, value in zip(group, values, strict=True)
        }
        yield chosen, True
    for extra in step.include:
        yield dict(extra), False


def _excluded(names: Names) -> bool:
    for rule in names.step.exclude:
        if isinstance(rule, str):
            if parse(rule).holds(names):
                return True
        elif all(
            name in names.chosen and meaning(names.chosen[name]) == meaning(value)
            for name, value in rule.items()
        ):
            return True
    return False


def check_count(campaign: Campaign) -> int:
    """Runs at most, repetitions included. Raises before anything is expanded that is too much."""
    total = 0
    for step in campaign.step:
        points = count(step)
        if points > campaign.points_at_most:
            sides = " × ".join(str(len(step.sweep[group[0]])) for group in _groups(step))
            raise EffioError(
                f"step '{step.name}' has {points:,} points ({sides}), more than "
                f"{campaign.points_at_most:,}",
                hint="sweep less, `zip` axes that belong together, or set points_at_most",
            )
        total += points * campaign.repetitions_of(step)
    return total


def points_of(campaign: Campaign, engine: Engine, settings: Settings) -> list[Point]:
    """All points, step by step in an order in which each comes after those that it waits for."""
    check_count(campaign)
    found: list[Point] = []
    for step in in_order(campaign):
        of_step = NamesOfStep(campaign, step, settings, engine.info.benchmark(step.benchmark))
        for chosen, crossed in expand(step):
            names = Names(of_step, chosen)
            try:
                if not (crossed and _excluded(names)):
                    found.append(_point(names))
            except ExpressionError as error:
                where = Point(step, chosen, settings.ranks, None, {}, names).title
                raise EffioError(f"{where}: {error}") from None
    unique: dict[str, Point] = {}
    for point in found:
        unique.setdefault(point.identity, point)
    names_of: dict[str, Point] = {}
    for point in unique.values():
        other = names_of.setdefault(point.id, point)
        if other is not point:
            raise EffioError(
                f"{point.title} and {other.title} have the same id, {point.id}",
                hint="change a value of one of them; any other option gives it another id",
            )
    return list(unique.values())


def in_order(campaign: Campaign) -> list[Step]:
    """Steps after those that they wait for, else as in the file. Raises at a circle."""
    done: dict[str, Step] = {}

    def visit(step: Step, way: tuple[str, ...]) -> None:
        if step.name in done:
            return
        if step.name in way:
            circle = " -> ".join([*way[way.index(step.name) :], step.name])
            raise EffioError(f"the steps wait for each other: {circle}")
        for name in step.waits_for():
            if not any(s.name == name for s in campaign.step):
                names = [s.name for s in campaign.step if s is not step]
                raise EffioError(
                    f"step '{step.name}' waits for '{name}', which is not a step"
                    f"{nearest(name, names)}"
                )
            visit(campaign.named(name), (*way, step.name))
        done[step.name] = step

    for step in campaign.step:
        visit(step, ())
    return list(done.values())


@dataclass(frozen=True)
class Unit:
    """A point in one of its repetitions, counted from 0."""

    point: Point
    repetition: int

    @cached_property
    def label(self) -> str:
        """The end of its run's name."""
        return f"{self.point.step.name}-{self.point.id}-r{self.repetition}"

    @property
    def old_label(self) -> str:
        """The same with the short id."""
        return f"{self.point.step.name}-{self.point.short_id}-r{self.repetition}"


def units_of(campaign: Campaign, points: Sequence[Point]) -> list[Unit]:
    """Repetitions interleaved: all points once, then all again, every second time backward within a
    step, so that drift favors no configuration."""
    rounds = max((campaign.repetitions_of(p.step) for p in points), default=0)
    units = []
    for repetition in range(rounds):
        for _, group in itertools.groupby(points, key=lambda p: p.step.name):
            those = [p for p in group if repetition < campaign.repetitions_of(p.step)]
            units += [Unit(p, repetition) for p in (reversed(those) if repetition % 2 else those)]
    return units
