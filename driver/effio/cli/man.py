# SPDX-License-Identifier: BSD-3-Clause
"""`effio man DIR`: manual pages, from the tables that the commands and the engine have anyway."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

import effio
from effio import text as fmt
from effio.cli.options import GroupedOption, help_text, value_name
from effio.cli.places import PlacePath
from effio.cli.streams import print_line
from effio.engine.description import BenchmarkInfo, OptionInfo
from effio.engine.discover import find_engine
from effio.errors import EffioError, ExitCode
from effio.store import safe_files

_SECTION = "1"


def _escaped(text: str) -> str:
    """The text as troff shows it: no escapes, no requests, hyphens that can be copied."""
    plain = fmt.plain(text, 10_000).replace("\\", "\\e").replace("-", "\\-")
    spelled = re.sub(r"[^\x00-\x7f]", lambda sign: f"\\[u{ord(sign[0]):04X}]", plain)
    return re.sub(r"^([.'])", r"\\&\1", spelled)


def _head(name: str, purpose: str) -> list[str]:
    page = name.upper()
    return [
        f'.TH "{page}" {_SECTION} "" "effio {effio.__version__}" "User Commands"',
        ".SH NAME",
        f"{_escaped(name)} \\- {_escaped(purpose)}",
    ]


def _paragraphs(text: str) -> Iterator[str]:
    """`\\b` begins a paragraph whose lines stay as they are, as for click."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        lines = paragraph.splitlines()
        if number:
            yield ".PP"
        if lines and lines[0].strip() == "\b":
            yield from (".nf", *map(_escaped, lines[1:]), ".fi")
        else:
            yield _escaped(" ".join(line.strip() for line in lines))


def _options(options: Sequence[click.Parameter]) -> Iterator[str]:
    """Under the headings of the help."""
    context = click.Context(click.Command("effio"), info_name="effio")
    group = ""
    for option in options:
        if not isinstance(option, click.Option) or option.hidden:
            continue
        own = option.group if isinstance(option, GroupedOption) else ""
        record = option.get_help_record(context)
        if record is None:
            continue
        if own and own != group:
            group = own
            yield f".SS {_escaped(own)}"
        yield from (".TP", f".B {_escaped(record[0])}", _escaped(record[1]))


def _command(name: str, purpose: str, command: click.Command) -> str:
    context = click.Context(command, info_name=name)
    arguments = [p.make_metavar(context) for p in command.params if isinstance(p, click.Argument)]
    metavar = getattr(command, "subcommand_metavar", None)
    words = ["[OPTIONS]", *([metavar] if metavar else arguments)]
    lines = [
        *_head(name.replace(" ", "-"), purpose),
        ".SH SYNOPSIS",
        f".B {_escaped(name)}",
        _escaped(" ".join(words)),
        ".SH DESCRIPTION",
        *_paragraphs(command.help or purpose),
    ]
    if any(isinstance(p, click.Option) for p in command.params):
        lines += [".SH OPTIONS", *_options(command.params)]
    for title, options in getattr(command, "of_targets", dict)().items():
        lines += [f".SH {_escaped(title.upper())}", *_options(options)]
    # Of what is run the engine decides; its pages are their own.
    if isinstance(command, click.Group) and not hasattr(command, "of_targets"):
        lines.append(".SH COMMANDS")
        for word, part in sorted(command.commands.items()):
            summary = (part.help or "").strip().split("\n\n")[0]
            lines += [f".SS {_escaped(word)}", *_paragraphs(summary), *_options(part.params)]
    if command.epilog:
        lines += [".SH NOTES", *_paragraphs(command.epilog)]
    lines += [".SH SEE ALSO", _see_also()]
    return "\n".join(lines) + "\n"


def _see_also() -> str:
    return ".BR effio (1)"


def _overview() -> str:
    from effio.cli.main import COMMANDS, cli

    lines = [
        *_head("effio", "what parallel I/O and communication really deliver"),
        ".SH SYNOPSIS",
        ".B effio",
        "[OPTIONS] COMMAND [ARGS]...",
        ".SH OPTIONS",
        *_options(cli.params),
        ".SH COMMANDS",
    ]
    for name, _, purpose in COMMANDS:
        lines += [".TP", f".BR effio\\-{_escaped(name)} (1)", _escaped(purpose)]
    lines += [".SH NOTES", *_paragraphs(cli.epilog or "")]
    return "\n".join(lines) + "\n"


def _engine_option(option: OptionInfo) -> Iterator[str]:
    names = f"-{option.letter}, --{option.name}" if option.letter else f"--{option.name}"
    value = value_name(option) or "VALUE"
    yield from (".TP", f".B {_escaped(names if option.is_flag else f'{names} {value}')}")
    yield _escaped(help_text(option))


def _benchmark(info: BenchmarkInfo) -> str:
    lines = [
        *_head(f"effio-mpi-{info.name}", info.purpose),
        ".SH SYNOPSIS",
        f".B mpiexec \\-n N effio\\-mpi {_escaped(info.name)}",
        "[OPTIONS]",
        ".PP",
        f".B effio run {_escaped(info.name)}",
        "[OPTIONS]",
        ".SH OPTIONS",
    ]
    group = ""
    for option in info.options:
        if option.group != group:
            group = option.group
            lines.append(f".SS {_escaped(group)}")
        lines += _engine_option(option)
    if info.examples:
        lines += [".SH EXAMPLES", ".nf", *map(_escaped, info.examples.splitlines()), ".fi"]
    lines += [".SH SEE ALSO", _see_also()]
    return "\n".join(lines) + "\n"


def command_pages() -> Mapping[str, str]:
    """Pages of the driver's commands, by the name of the file."""
    from effio.cli.main import COMMANDS

    pages = {"effio.1": _overview()}
    for name, module, purpose in COMMANDS:
        found = importlib.import_module(f"effio.cli.{module}").command
        pages[f"effio-{name}.1"] = _command(f"effio {name}", purpose, found)
    return pages


@click.command("man")
@click.argument("directory", metavar="DIR", type=PlacePath(file_okay=False))
@click.option("--commands-only", is_flag=True, help="not those of the engine's benchmarks")
@click.option("--engine", metavar="ENGINE", help="program, or name of a built engine")
def command(directory: str, commands_only: bool, engine: str | None) -> None:
    """Write manual pages to DIR: of every command, and of every benchmark of the engine.

    DIR is created if it is missing; pages of the same name are replaced. man -l DIR/effio.1
    shows one; a DIR that is called man1 can be a part of MANPATH.
    """
    pages = dict(command_pages())
    if not commands_only:
        benchmarks = find_engine(engine).info.benchmarks
        pages |= {f"effio-mpi-{info.name}.1": _benchmark(info) for info in benchmarks}
    place = Path(directory)
    try:
        with safe_files.making(place):
            for name, text in pages.items():
                safe_files.write_atomically(place / name, text, durable=False)
    except OSError as error:
        where = error.filename or place
        raise EffioError(
            f"cannot write {where}: {error.strerror or error}", ExitCode.IO_ERROR
        ) from None
    print_line(f"{place}: {fmt.count_of(len(pages), 'page')}")
