# SPDX-License-Identifier: BSD-3-Clause
"""`effio list`: what the engine can."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from effio import text as fmt
from effio.engine.discover import find_engine


@click.command("list")
@click.option("--engine", metavar="ENGINE", help="program, or name of a built engine")
@click.option("--names", is_flag=True, help="only the names of the benchmarks, one a line")
def command(engine: str | None, names: bool) -> None:
    """List the benchmarks and the ways to reach storage."""
    found = find_engine(engine)
    if names:
        for benchmark in found.info.benchmarks:
            click.echo(benchmark.name)
        return
    console = Console()
    for title, rows in (
        ("Benchmarks", [(b.name, b.purpose) for b in found.info.benchmarks]),
        ("Backends", [(b.name, b.purpose) for b in found.info.backends]),
    ):
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
        table.add_column(no_wrap=True, style="bold")
        table.add_column()
        for name, purpose in rows:
            table.add_row(Text(fmt.plain(name)), Text(fmt.plain(purpose)))
        console.print(Text(title))
        console.print(table)
    console.print(Text("effio describe NAME shows the options of one; effio run NAME --help too."))
