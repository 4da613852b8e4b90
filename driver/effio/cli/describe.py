# SPDX-License-Identifier: BSD-3-Clause
"""`effio describe NAME`: the options of a benchmark, from the engine's own tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import click
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from effio import text as fmt
from effio.cli.complete import complete_benchmark
from effio.cli.options import help_text
from effio.cli.terminal import Terminal
from effio.engine.description import OptionInfo
from effio.engine.discover import find_engine
from effio.errors import EffioError


def _options(console: Console, options: Sequence[OptionInfo], settings: bool = False) -> None:
    """Prints options by group. `settings` are a backend's, which are written as key=value."""
    for group, members in groupby(options, key=lambda o: o.group):
        if not settings:
            console.print(Text(f"\n{fmt.plain(group)}", style="bold"))
        for option in members:
            names = f"-{option.letter}, --{option.name}" if option.letter else f"--{option.name}"
            kind = "flag" if option.is_flag else " | ".join(option.choices) or option.type
            kind += ", list" if option.list else ""
            rare = " (rare)" if option.expert else ""
            # The name alone in its line, so that no width can cut it.
            head = Text(f"{option.name}=" if settings else names)
            head.append(f"  {fmt.plain(kind)}", style="dim")
            console.print(Padding(head, (0, 0, 0, 2)))
            console.print(Padding(Text(fmt.plain(help_text(option)) + rare), (0, 0, 0, 8)))


@click.command("describe")
@click.argument("name", metavar="NAME", shell_complete=complete_benchmark)
@click.option("--json", "as_json", is_flag=True, help="the engine's own description")
@click.option("--engine", metavar="ENGINE", help="program, or name of a built engine")
def command(name: str, as_json: bool, engine: str | None) -> None:
    """Show every option of a benchmark or backend: type, range, default, meaning."""
    found = find_engine(engine)
    benchmark = found.info.benchmark(name)
    backends = [b for b in found.info.backends if b.name == name]
    things = [benchmark] if benchmark is not None else backends
    if not things:
        names = [b.name for b in found.info.benchmarks] + [b.name for b in found.info.backends]
        known = dict.fromkeys(names)
        meant = fmt.closest(name.replace("_", "-"), known)
        raise EffioError(
            f"no benchmark or backend '{fmt.plain(name, 100)}'"
            + (f"; did you mean {meant}?" if meant else ""),
            hint="effio list names them" if meant else f"there are: {', '.join(known)}",
        )
    if as_json:
        for thing in things:
            click.echo(thing.model_dump_json(indent=2))
        return
    console = Terminal()
    for backend in backends if benchmark is None else []:
        console.print(Text(f"For {fmt.plain(backend.serves)}: {fmt.plain(backend.purpose)}"))
        if backend.settings:
            console.print(Text("Settings, for --backend-options key=value,…:", style="dim"))
        _options(console, backend.settings, settings=True)
        console.print()
    if benchmark is None:
        return
    console.print(Text(fmt.plain(benchmark.purpose)))
    _options(console, benchmark.options)
    if benchmark.examples:
        console.print(Text("\n" + "\n".join(map(fmt.plain, benchmark.examples.splitlines()))))
