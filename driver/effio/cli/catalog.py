# SPDX-License-Identifier: BSD-3-Clause
"""`effio list`: what the engine can."""

from __future__ import annotations

import click
from rich.table import Table
from rich.text import Text

from effio import text as fmt
from effio.cli.terminal import Terminal
from effio.engine.discover import find_engine

_SERVED = {
    "bytes": "files as bytes",
    "names": "names: create, stat, remove",
    "arrays": "arrays and I/O libraries",
}


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
    console = Terminal()
    sections = [("Benchmarks", [(b.name, b.purpose) for b in found.info.benchmarks])]
    for serves in dict.fromkeys(b.serves for b in found.info.backends):
        backends = [b for b in found.info.backends if b.serves == serves]
        rows = [(b.name, b.purpose + (f" (not here: {b.missing})" if b.missing else ""))
                for b in backends]  # fmt: skip
        sections.append((f"Backends for {_SERVED.get(serves, serves)}", rows))
    for title, rows in sections:
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
        table.add_column(no_wrap=True, style="bold")
        table.add_column()
        for name, purpose in rows:
            table.add_row(Text(fmt.plain(name)), Text(fmt.plain(purpose)))
        console.print(Text(fmt.plain(title), style="bold"))
        console.print(table)
    console.print(Text("effio describe NAME shows the options of one; effio run NAME --help too."))
