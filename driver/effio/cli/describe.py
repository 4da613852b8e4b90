# SPDX-License-Identifier: BSD-3-Clause
"""`effio describe NAME`: the options of a benchmark, from the engine's own tables."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from effio import text as fmt
from effio.cli.complete import complete_benchmark
from effio.cli.options import help_text
from effio.engine.description import OptionInfo
from effio.engine.discover import find_engine
from effio.errors import EffioError


def _options(console: Console, options: tuple[OptionInfo, ...]) -> None:
    title = ""
    table = Table.grid()
    for option in options:
        if option.group != title:
            if table.row_count:
                console.print(table)
            title = option.group
            console.print(Text(f"\n{fmt.plain(title)}", style="bold"))
            table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
            table.add_column(no_wrap=True)
            table.add_column(style="dim", no_wrap=True)
            table.add_column()
        names = f"-{option.letter}, --{option.name}" if option.letter else f"--{option.name}"
        kind = "flag" if option.is_flag else "|".join(option.choices) or option.type
        kind += ", list" if option.list else ""
        rare = " (rare)" if option.expert else ""
        table.add_row(names, fmt.plain(kind), Text(fmt.plain(help_text(option)) + rare))
    if table.row_count:
        console.print(table)


@click.command("describe")
@click.argument("name", metavar="NAME", shell_complete=complete_benchmark)
@click.option("--json", "as_json", is_flag=True, help="the engine's own description")
@click.option("--engine", metavar="ENGINE", help="program, or name of a built engine")
def command(name: str, as_json: bool, engine: str | None) -> None:
    """Show every option of a benchmark or backend: type, range, default, meaning."""
    found = find_engine(engine)
    benchmark = found.info.benchmark(name)
    backend = next((b for b in found.info.backends if b.name == name), None)
    thing = benchmark or backend
    if thing is None:
        known = [b.name for b in found.info.benchmarks] + [b.name for b in found.info.backends]
        raise EffioError(f"'{name}' is no benchmark or backend; there are: {', '.join(known)}")
    if as_json:
        click.echo(thing.model_dump_json(indent=2))
        return
    console = Console()
    console.print(Text(fmt.plain(thing.purpose)))
    options = benchmark.options if benchmark else backend.settings if backend else ()
    _options(console, options)
    if benchmark is not None and benchmark.examples:
        console.print(Text("\n" + "\n".join(map(fmt.plain, benchmark.examples.splitlines()))))
