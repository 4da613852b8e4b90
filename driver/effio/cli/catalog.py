# SPDX-License-Identifier: BSD-3-Clause
"""`effio list`: what the engine can."""

from __future__ import annotations

import click

from effio.cli.tables import table_format, write_tables
from effio.engine.discover import find_engine
from effio.report.model import Cell, Column, Table
from effio.report.texts import Form

_SERVED = {
    "bytes": "files as bytes",
    "names": "names: create, stat, remove",
    "arrays": "arrays and I/O libraries",
}


@click.command("list")
@click.option("--engine", metavar="ENGINE", help="program, or name of a built engine")
@click.option("--names", is_flag=True, help="only the names of the benchmarks, one a line")
@table_format(document=False)
def command(engine: str | None, names: bool, form: Form) -> None:
    """List the benchmarks and the storage backends."""
    found = find_engine(engine)
    if names:
        for benchmark in found.info.benchmarks:
            click.echo(benchmark.name)
        return
    rows: list[list[Cell]] = [["benchmarks", b.name, b.purpose, ""] for b in found.info.benchmarks]
    for serves in dict.fromkeys(b.serves for b in found.info.backends):
        kind = f"backends for {_SERVED.get(serves, serves)}"
        some = [b for b in found.info.backends if b.serves == serves]
        rows += [[kind, b.name, b.purpose, b.missing] for b in some]
    columns = [
        Column("kind", group="{}"),
        Column("name", kept=True),
        Column("purpose", kept=True),
        Column("not here because", kept=True, below=True),
    ]
    write_tables([Table(columns, rows)], form)
    if form is Form.TEXT:
        click.echo("For the options of one: effio describe NAME or effio run NAME --help.")
