# SPDX-License-Identifier: BSD-3-Clause
"""`effio runs`: what is kept."""

from __future__ import annotations

import json

import click
from rich.text import Text

from effio import text as fmt
from effio.cli.complete import complete_known_campaign, complete_tag
from effio.cli.grid import Field, grid, long_lines
from effio.cli.kept import opened_index
from effio.cli.terminal import Terminal

_COLUMNS = ("run", "state", "figure", "valid", "took", "ranks", "where", "tags", "note")
_KEPT = frozenset({"run", "state", "figure"})
_SAID = frozenset({"tags", "note"})
_LONG = 500
_COLOURS = {"done": "green", "running": "cyan", "planned": "dim", "submitted": "dim"}


@click.command("runs")
@click.option("--json", "as_json", is_flag=True, help="as JSON, one run a line")
@click.option(
    "--campaign", metavar="NAME", shell_complete=complete_known_campaign,
    help="only those of this campaign",
)  # fmt: skip
@click.option("--tag", metavar="WORD", shell_complete=complete_tag, help="only those with this tag")
@click.option("-n", "--last", type=click.IntRange(1), metavar="N", help="only the last N")
@click.pass_context
def command(
    ctx: click.Context, as_json: bool, campaign: str | None, tag: str | None, last: int | None
) -> None:
    """List the runs that are kept, the newest last.

    A run's name, or an unambiguous part of it, can be given to show, report and the others.
    """
    index = opened_index(ctx)
    rows = [entry.line for entry in index.entries()]
    if campaign is not None:
        rows = [row for row in rows if row["campaign"] == campaign]
    if tag is not None:
        rows = [row for row in rows if tag in row["tags"].split(",")]
    rows = rows[-last:] if last else rows
    if as_json:
        for row in rows:
            click.echo(json.dumps(row))
        return
    if not rows:
        click.echo(f"no runs in {index.store.root}; start one: effio run b-eff-io", err=True)
        return
    # What nobody has said is no column.
    names = [name for name in _COLUMNS if name not in _SAID or any(row[name] for row in rows)]
    columns = [(name, [fmt.plain(row[name]) for row in rows], name in _KEPT) for name in names]
    console = Terminal()
    if len(rows) > _LONG:
        lines, left_out = long_lines(columns, console.width)
        click.echo("\n".join(lines))
    else:
        fields = [Field(name, list(map(Text, cells)), kept=kept) for name, cells, kept in columns]
        for cell in fields[1].cells:
            cell.stylize(_COLOURS.get(cell.plain, "red"))
        table, left_out = grid(fields, console.width)
        console.print(table)
    if left_out:
        console.print(Text(f"no room for: {', '.join(left_out)}", style="dim"))
