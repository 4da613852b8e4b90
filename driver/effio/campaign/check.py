# SPDX-License-Identifier: BSD-3-Clause
"""A campaign against the engine's own description: every name and value, each fault with its place
in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from effio.campaign.expression import (
    ExpressionError,
    as_number,
    identifier,
    parse,
    spelled,
    template,
)
from effio.campaign.file import Campaign, Command, Step, Value
from effio.campaign.interleave import Sides
from effio.campaign.names import LAUNCH_AXES, Settings, defaults
from effio.campaign.points import in_order
from effio.config.toml_file import TomlFile, nearest
from effio.engine.description import BenchmarkInfo, OptionInfo
from effio.engine.program import Engine
from effio.errors import EffioError
from effio.launch import layouts

# The driver gives these itself.
_OWNED = frozenset(
    {"result", "progress", "quiet", "plan", "plan-json", "plan-ranks", "plan-ranks-per-node"}
)
_NUMBERS = {"integer": "whole number", "size": "size", "duration": "time", "real": "number"}

Fault = tuple[tuple[str | int, ...], str]


def check(
    campaign: Campaign,
    file: TomlFile,
    engine: Engine,
    settings: Settings,
    sides: Sides | None = None,
) -> None:
    """Raises with every fault at once. A wrong value of `sides` is a fault of the command line."""
    faults = list(_faults(campaign, engine, settings))
    if faults:
        reported = dict.fromkeys(_fault(campaign, file, sides, *fault) for fault in faults)
        raise EffioError("\n".join(reported))
    try:
        in_order(campaign)
    except EffioError as error:
        raise EffioError(file.fault(("step",), error.message)) from None


def _fault(
    campaign: Campaign, file: TomlFile, sides: Sides | None, loc: tuple[str | int, ...], what: str
) -> str:
    if sides is not None and loc[0] == "step" and loc[2:] == ("sweep", sides.name):
        return f"--interleave: step '{campaign.step[int(loc[1])].name}': {what}"
    return file.fault(loc, what)


def _faults(campaign: Campaign, engine: Engine, settings: Settings) -> Iterator[Fault]:
    yield from _commands(campaign.setup, ("setup",), {*settings.names()})
    yield from _commands(campaign.cleanup, ("cleanup",), {*settings.names()})
    yield from _figures(campaign)
    yield from _charts(campaign)
    for index, step in enumerate(campaign.step):
        loc = ("step", index)
        info = engine.info.benchmark(step.benchmark)
        if info is None:
            names = [b.name for b in engine.info.benchmarks]
            what = (
                f"this engine has no benchmark '{step.benchmark}'{nearest(step.benchmark, names)}"
            )
            yield (*loc, "benchmark"), what
            continue
        for (*inside, last), what in _of_step(campaign, step, info, settings):
            yield (*loc, *inside, last), what


def _figures(campaign: Campaign) -> Iterator[Fault]:
    steps = [step.name for step in campaign.step]
    before: set[str] = set()
    for index, figure in enumerate(campaign.figure):
        loc: tuple[str | int, ...] = ("figure", index)
        for name, earlier in figure.earlier.items():
            if earlier.step not in steps:
                what = f"'{earlier.step}' is not a step{nearest(earlier.step, steps)}"
                yield (*loc, "earlier", name), what
            if earlier.match:
                yield (*loc, "earlier", name), "a figure has no axes that `match` could name"
        for inside, what in _judged(("value",), figure.value, True, before | {*figure.earlier}):
            yield (*loc, *inside), what
        before.add(figure.name)


# What a measurement has besides the axes of its campaign.
_COORDINATES = ("benchmark", "step", "access", "pattern", "ranks")


def _charts(campaign: Campaign) -> Iterator[Fault]:
    steps = {step.name: step for step in campaign.step}
    for index, chart in enumerate(campaign.chart):
        loc: tuple[str | int, ...] = ("chart", index)
        for name in chart.steps:
            if name not in steps:
                yield (*loc, "steps"), f"'{name}' is not a step{nearest(name, list(steps))}"
        axes = [axis for name in chart.steps if name in steps for axis in steps[name].sweep]
        known = list(dict.fromkeys((*axes, *_COORDINATES)))
        for key, names in chart.coordinates().items():
            for name in names:
                if name not in known and not name.startswith("where."):
                    what = f"'{name}' is neither an axis of its steps nor one of {', '.join(known)}"
                    yield (*loc, key), what + nearest(name, known)


def _of_step(
    campaign: Campaign, step: Step, info: BenchmarkInfo, settings: Settings
) -> Iterator[Fault]:
    axes = list(step.sweep)
    for name, value in {**step.options}.items():
        yield from _option(info, name, [value], ("options", name))
    for name, value in step.otherwise.items():
        yield from _option(info, name, [value], ("otherwise", name))
    for name, values in step.sweep.items():
        if name in step.values:
            continue
        if name in LAUNCH_AXES:
            if name != "engine":
                yield from _processes(name, values)
            continue
        if name == layouts.AXIS and name not in info.by_name:
            yield from _layouts(info, values)
            continue
        others = (*LAUNCH_AXES, layouts.AXIS, *step.values)
        yield from _option(info, name, values, ("sweep", name), others)
    for group in step.zip:
        unknown = [name for name in group if name not in axes]
        if unknown:
            yield ("zip",), f"'{unknown[0]}' is not an axis of the sweep{nearest(unknown[0], axes)}"
            continue
        lengths = [len(step.sweep[name]) for name in group]
        if len(set(lengths)) > 1:
            yield ("zip",), f"axes that go together differ in length: {_reported(group, lengths)}"
    for key, rules in (("include", step.include), ("exclude", step.exclude)):
        for name in [n for rule in rules if not isinstance(rule, str) for n in rule]:
            if name not in axes:
                yield (key,), f"'{name}' is not an axis of the sweep{nearest(name, axes)}"
    steps = [s.name for s in campaign.step if s is not step]
    for name in step.waits_for():
        if name not in steps:
            where = ("needs",) if name in step.needs else ("earlier",)
            yield where, f"'{name}' is not another step{nearest(name, steps)}"
    for name, earlier in step.earlier.items():
        for axis in earlier.match:
            theirs = next((s.sweep for s in campaign.step if s.name == earlier.step), {})
            if axis not in axes or axis not in theirs:
                yield ("earlier", name, "match"), f"'{axis}' is not an axis of both steps"
    yield from _expressions(campaign, step, info, settings)


def _processes(name: str, values: Sequence[Value]) -> Iterator[Fault]:
    for value in values:
        if isinstance(value, str) and "{" in value:
            continue
        number = None if isinstance(value, bool) else as_number(spelled(value))
        if number is None or number != int(number) or number < 1:
            yield ("sweep", name), f"{name}: '{spelled(value)}' is not a whole number from 1 on"


def _layouts(info: BenchmarkInfo, values: Sequence[Value]) -> Iterator[Fault]:
    if "dir" not in info.by_name:
        yield ("sweep", layouts.AXIS), f"{info.name} has no files that a layout could be of"
    for value in values:
        if isinstance(value, str) and "{" in value:
            continue
        try:
            layouts.parsed(str(value))
        except layouts.LayoutError as error:
            yield ("sweep", layouts.AXIS), error.message


def _reported(names: Sequence[str], lengths: Sequence[int]) -> str:
    return ", ".join(f"{name} has {n}" for name, n in zip(names, lengths, strict=True))


def _option(
    info: BenchmarkInfo,
    name: str,
    values: Sequence[Value],
    loc: tuple[str, ...],
    also: Sequence[str] = (),
) -> Iterator[Fault]:
    option = info.by_name.get(name)
    if name in _OWNED:
        yield loc, f"'{name}' is given by effio itself"
        return
    if option is None:
        known = [*also, *(o.name for o in info.options if o.name not in _OWNED)]
        yield loc, f"{info.name} has no option '{name}'{nearest(name.replace('_', '-'), known)}"
        return
    for value in values:
        what = _value(option, value)
        if what:
            yield loc, f"{name}: {what}"


def _value(option: OptionInfo, value: Value) -> str:
    """What is wrong with it; the engine judges the rest when it plans."""
    if option.is_flag:
        return "" if isinstance(value, bool) else f"a flag is true or false, not {value!r}"
    if isinstance(value, bool):
        return "" if option.is_on_off else f"takes a value, not {str(value).lower()}"
    if isinstance(value, str) and "{" in value:
        return ""
    if option.choices:
        parts = str(value).split(",") if option.list else [str(value)]
        wrong = next((p.strip() for p in parts if p.strip() not in option.choices), None)
        return "" if wrong is None else f"no choice '{wrong}'{nearest(wrong, option.choices)}"
    if option.type in _NUMBERS and not option.list and not option.automatic:
        whole = option.type == "integer"
        number = value if not isinstance(value, str) else as_number(value)
        if number is None and value != option.default:
            return f"'{value}' is not a {_NUMBERS[option.type]}"
        if whole and number is not None and number != int(number):
            return f"'{value}' is not a {_NUMBERS[option.type]}"
    return ""


def _expressions(
    campaign: Campaign, step: Step, info: BenchmarkInfo, settings: Settings
) -> Iterator[Fault]:
    names = {
        *defaults(info),
        *settings.names(), "ranks", "nodes", "ranks_per_node", "tags", *step.earlier,
        *map(identifier, (*campaign.values, *step.values, *step.options, *step.sweep)),
    }  # fmt: skip
    for rule in step.exclude:
        if isinstance(rule, str):
            yield from _judged(("exclude",), rule, True, names)
    tables: dict[str, Mapping[str, Value]] = {
        "options": step.options, "values": step.values, "environment": step.environment,
    }  # fmt: skip
    for key, table in tables.items():
        for name, value in table.items():
            yield from _text((key, name), value, names)
    for name, values in step.sweep.items():
        for value in values:
            yield from _text(("sweep", name), value, names)
    for key, launch in (
        ("ranks", step.ranks), ("nodes", step.nodes), ("ranks_per_node", step.ranks_per_node)
    ):  # fmt: skip
        yield from _text((key,), launch, names)
    yield from _commands(step.setup, ("setup",), names)
    yield from _commands(step.cleanup, ("cleanup",), names)


def _commands(
    commands: Sequence[Command], loc: tuple[str, ...], names: set[str]
) -> Iterator[Fault]:
    for command in commands:
        for word in command:
            yield from _text(loc, word, names)


def _text(loc: tuple[str, ...], value: object, names: set[str]) -> Iterator[Fault]:
    if isinstance(value, str):
        yield from _judged(loc, value, False, names)


def _judged(loc: tuple[str, ...], text: str, whole: bool, names: set[str]) -> Iterator[Fault]:
    """An expression, if it is that as a `whole`, or text with expressions in braces."""
    try:
        expressions = [parse(text)] if whole else list(template(text).expressions)
    except ExpressionError as error:
        yield loc, str(error)
        return
    for expression in expressions:
        for name in sorted(expression.names - names):
            missing = "; the campaign has no budget of it" if name in ("bytes", "seconds") else ""
            known = nearest(name, sorted(names))
            yield loc, f"'{expression.text}': no name '{name}' here{missing or known}"
