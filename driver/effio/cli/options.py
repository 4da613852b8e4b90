# SPDX-License-Identifier: BSD-3-Clause
"""A benchmark's options as the engine describes them, on effio's command line.

Names, help, choices and completion are the engine's; so is the judgement of values: effio passes
the text on, and has the engine plan the command before anything is launched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from effio.cli.places import PlacePath

if TYPE_CHECKING:
    from effio.engine.description import BenchmarkInfo, OptionInfo

# The driver gives these itself.
OWNED_BY_DRIVER = frozenset({"result", "progress", "quiet", "plan-ranks", "plan-ranks-per-node"})


class GroupedOption(click.Option):
    """An option that is listed under a heading in the help text."""

    def __init__(self, *args: Any, group: str = "Options", expert: bool = False, **kw: Any) -> None:
        super().__init__(*args, **kw)
        self.group = group
        self.expert = expert

    def get_help_extra(self, ctx: click.Context) -> Any:
        """The words of the help say what range is meant; click would add "[x>=1]"."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


class WholeNumber(click.IntRange):
    """A number of something. A value that is not one is refused in effio's words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        least = int(self.min or 0)
        try:
            number = int(str(value))
        except ValueError:
            number = least - 1
        if number < least or (self.max is not None and number > self.max):
            end = f"from {least} to {int(self.max)}" if self.max is not None else f"from {least} on"
            self.fail(f"'{value}' is not a whole number {end}", param, ctx)
        return number


class GroupedCommand(click.Command):
    """Help by headings; rare options with --help-all only."""

    closing = ""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option is not None:
            rare = any(isinstance(p, GroupedOption) and p.expert for p in self.params)
            more = "; --help-all also shows rare options" if rare else ""
            option.help = f"this text{more}"
        return option

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        everything = bool(ctx.meta.get("effio.help_all"))
        sections: dict[str, list[tuple[str, str]]] = {}
        hidden = 0
        for parameter in self.get_params(ctx):
            if isinstance(parameter, GroupedOption) and parameter.expert and not everything:
                hidden += 1
                continue
            # Arguments are in the usage line.
            row = None if isinstance(parameter, click.Argument) else parameter.get_help_record(ctx)
            if row is not None:
                group = parameter.group if isinstance(parameter, GroupedOption) else "Other"
                sections.setdefault(group, []).append(row)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows, col_max=28)
        if hidden:
            formatter.write_paragraph()
            formatter.write_text(f"{hidden} more options, for special cases: --help-all")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.closing:
            formatter.write_paragraph()
            for line in self.closing.splitlines():
                formatter.write(line + "\n")


class Choices(click.Choice[str]):
    """One or several of the choices, separated by commas."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return ",".join(
            super(Choices, self).convert(part.strip(), param, ctx) for part in str(value).split(",")
        )


def _type_of(option: OptionInfo) -> click.ParamType[Any]:
    if option.choices:
        return (Choices if option.list else click.Choice)(option.choices)
    if option.metavar == "DIR":
        return PlacePath(file_okay=False)
    if option.metavar in ("FILE", "PATH"):
        return PlacePath()
    return click.STRING


def _bound(value: float, option: OptionInfo) -> str:
    from effio import text as fmt

    if option.unit == "B" and value < 1e18:
        return fmt.exact_size(int(value))
    return f"{value:g}{' ' + option.unit if option.unit else ''}"


def value_name(option: OptionInfo) -> str:
    """What the help calls the value; of a list of choices as the engine's own help does."""
    name = option.metavar or "|".join(option.choices)
    return f"{name}[,…]" if option.choices and option.list else name


def help_text(option: OptionInfo) -> str:
    """Help, range and default in one line."""
    text = option.help
    if option.min is not None and option.max is not None and option.max < 1e9:
        text += f" ({_bound(option.min, option)} to {_bound(option.max, option)})"
    elif option.min is not None:
        text += f" (at least {_bound(option.min, option)})"
    if not option.is_flag and option.default:
        text += f"  [default: {option.default}]"
    return text


def parameter_name(option: OptionInfo) -> str:
    return "engine_" + option.name.replace("-", "_")


def as_click(option: OptionInfo, taken: frozenset[str]) -> GroupedOption:
    """`taken` are letters that effio uses itself."""
    flags = [f"--{option.name}"]
    if option.letter and option.letter not in taken:
        flags.insert(0, f"-{option.letter}")
    group = option.group if option.group != "Run" else "Watching"
    if option.is_flag:
        return GroupedOption(
            [*flags, parameter_name(option)],
            is_flag=True,
            help=help_text(option),
            group=group,
            expert=option.expert,
        )
    alone: dict[str, Any] = {"is_flag": False, "flag_value": "on"} if option.is_on_off else {}
    return GroupedOption(
        [*flags, parameter_name(option)],
        **alone,
        type=_type_of(option),
        metavar=value_name(option) or None,
        multiple=True,
        help=help_text(option),
        group=group,
        expert=option.expert,
    )


def engine_options(
    benchmark: BenchmarkInfo, taken_names: frozenset[str], taken_letters: frozenset[str]
) -> list[click.Option]:
    """The options that effio does not use itself; the rest can be given after `--`."""
    return [
        as_click(option, taken_letters)
        for option in benchmark.options
        if option.name not in OWNED_BY_DRIVER and option.name not in taken_names
    ]


def engine_words(benchmark: BenchmarkInfo, values: Mapping[str, Any]) -> list[str]:
    """The engine's command line from what click has parsed."""
    words: list[str] = []
    for option in benchmark.options:
        value = values.get(parameter_name(option))
        if value is True:
            words.append(f"--{option.name}")
        elif isinstance(value, tuple):
            words += [f"--{option.name}={text}" for text in value]
    return words
