# SPDX-License-Identifier: BSD-3-Clause
"""`effio query SQL`: all runs as tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import click

from effio import text as fmt
from effio.cli.kept import opened_index, shortener
from effio.cli.streams import say
from effio.cli.tables import table_format, write_tables
from effio.report.model import Cell, Column, RunNames, Table
from effio.report.texts import Form
from effio.store.query import ask, opened_database
from effio.store.table import finite


@click.command("query")
@click.argument("sql", metavar="SQL")
@click.option("--csv", "as_csv", is_flag=True, hidden=True, help="the same as --format csv")
@table_format()
@click.pass_context
def command(ctx: click.Context, sql: str, as_csv: bool, form: Form) -> None:
    """Answer SQL queries over all kept runs (with DuckDB).

    \b
    Tables: runs, measurements, figures; each has a column `run`.
      effio query "DESCRIBE measurements"
      effio query "SELECT run, value FROM figures WHERE figure = 'b_eff_io'"
      effio query "SELECT access, pattern, max(rate)/1e6 AS MBps
                   FROM measurements WHERE valid AND rate_unit = 'B/s'
                   GROUP BY ALL ORDER BY ALL"
    """
    index = opened_index(ctx)
    for fault in index.faults():
        say(f"left out: {fault}")
    with opened_database(index, sql) as database:
        names, rows = ask(database, sql)
    form = Form.CSV if as_csv else form
    if form is Form.JSON:
        for row in rows:
            values = dict(zip(names, map(_of_json, row), strict=True))
            click.echo(json.dumps(values, default=str, allow_nan=False))
        return
    write_tables([_table(names, rows)], form, shorten=shortener(index.store))


def _of_json(value: Any) -> Any:
    """Numbers as JSON has them, also in lists and structures."""
    if isinstance(value, list | tuple):
        return [_of_json(one) for one in value]
    if isinstance(value, dict):
        return {str(name): _of_json(one) for name, one in value.items()}
    return finite(float(value) if isinstance(value, Decimal) else value)


def _table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """Numbers exactly as SQL returned them."""
    numbers = [
        any(isinstance(row[i], (int, float)) for row in rows)
        and all(row[i] is None or isinstance(row[i], (int, float)) for row in rows)
        for i in range(len(names))
    ]
    columns = [
        Column(fmt.plain(name), exact=True, right=is_number, kept=i == 0, asked=True)
        for i, (name, is_number) in enumerate(zip(names, numbers, strict=True))
    ]
    return Table(columns, [[_cell(n, v) for n, v in zip(names, row, strict=True)] for row in rows])


def _cell(name: str, value: Any) -> Cell:
    if name == "run" and isinstance(value, str):
        return RunNames([value])
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
