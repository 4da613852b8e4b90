# SPDX-License-Identifier: BSD-3-Clause
"""`effio runs`: what is kept."""

from __future__ import annotations

import json

import click
from rich.table import Table
from rich.text import Text

from effio import text as fmt
from effio.cli.main import runs_directory
from effio.cli.terminal import Terminal
from effio.report.registry import teller_of
from effio.store.folder import RunFolder, Store
from effio.store.reader import ResultError

_COLOURS = {"done": "green", "running": "cyan", "planned": "dim", "submitted": "dim"}


def _row(folder: RunFolder) -> dict[str, str]:
    record = folder.record()
    row = {"run": folder.id, "state": folder.state(), "ranks": "", "figure": "", "valid": ""}
    row["benchmark"] = record.benchmark if record else ""
    row["where"] = ""
    try:
        result = folder.result()
    except ResultError:
        return row
    row["benchmark"] = result.benchmark
    row["ranks"] = str(result.run.system.ranks)
    fs = result.run.file_system
    row["where"] = f"{fs.type or '?'} {fs.mount_point}" if fs else ""
    headline = teller_of(result.benchmark).headline(result)
    if headline.value is not None:
        row["figure"] = f"{headline.name} = {headline.shown()}"
    if headline.valid is not None:
        row["valid"] = "yes" if headline.valid else "no"
    return row


@click.command("runs")
@click.option("--json", "as_json", is_flag=True, help="as JSON, one run a line")
@click.option("-n", "--last", type=click.IntRange(1), metavar="N", help="only the last N")
@click.pass_context
def command(ctx: click.Context, as_json: bool, last: int | None) -> None:
    """List the runs that are kept, the newest last.

    A run's name, or an unambiguous part of it, can be given to show, report and the others.
    """
    store = Store(runs_directory(ctx))
    folders = store.folders()
    rows = [_row(folder) for folder in (folders[-last:] if last else folders)]
    if as_json:
        for row in rows:
            click.echo(json.dumps(row))
        return
    if not rows:
        click.echo(f"no runs in {store.root}; start one: effio run b-eff-io", err=True)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    names = ("run", "state", "ranks", "figure", "valid", "where")
    for name in names:
        table.add_column(name, no_wrap=name not in ("figure", "where"), overflow="fold")
    for row in rows:
        cells = [Text(fmt.plain(row[name])) for name in names]
        cells[1].stylize(_COLOURS.get(row["state"], "red"))
        table.add_row(*cells)
    Terminal().print(table)
