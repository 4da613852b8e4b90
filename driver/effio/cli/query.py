# SPDX-License-Identifier: BSD-3-Clause
"""`effio query SQL`: all runs as tables."""

from __future__ import annotations

import json
import sys

import click
from rich.table import Table
from rich.text import Text

from effio import text as fmt
from effio.cli.kept import opened_index
from effio.cli.streams import say
from effio.cli.terminal import Terminal
from effio.store.query import ask, open_database
from effio.store.table import write_csv


@click.command("query")
@click.argument("sql", metavar="SQL")
@click.option("--csv", "as_csv", is_flag=True, help="as CSV")
@click.option("--json", "as_json", is_flag=True, help="as JSON, one row a line")
@click.pass_context
def command(ctx: click.Context, sql: str, as_csv: bool, as_json: bool) -> None:
    """Ask all kept runs with SQL (DuckDB).

    \b
    Tables: runs, measurements, figures; each has a column `run`.
      effio query "DESCRIBE measurements"
      effio query "SELECT run, value FROM figures WHERE figure = 'b_eff_io'"
      effio query "SELECT access, pattern, max(rate)/1e6 AS MBps
                   FROM measurements WHERE valid AND rate_unit = 'B/s'
                   GROUP BY ALL ORDER BY ALL"
    """
    index = opened_index(ctx)
    for entry in index.entries():
        if entry.fault:
            say(f"left out: {entry.fault}")
    names, rows = ask(open_database(index, sql), sql)
    if as_csv:
        write_csv([dict(zip(names, row, strict=True)) for row in rows], sys.stdout)
        return
    if as_json:
        for row in rows:
            click.echo(json.dumps(dict(zip(names, row, strict=True)), default=str))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(Text(fmt.plain(name)), overflow="fold")
    for row in rows:
        table.add_row(*(Text("–" if v is None else fmt.plain(v)) for v in row))
    Terminal().print(table)
