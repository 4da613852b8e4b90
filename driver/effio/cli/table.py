# SPDX-License-Identifier: BSD-3-Clause
"""`effio table`: what many runs say, a row for each point."""

from __future__ import annotations

import click

from effio.cli.complete import complete_sides
from effio.cli.kept import opened_index
from effio.cli.main import runs_directory
from effio.cli.streams import say
from effio.cli.tables import table_format, write_tables
from effio.errors import EffioError
from effio.report.indexed import Indexed
from effio.report.points import across as side_by_side
from effio.report.points import points_of, points_of_claims, table_of
from effio.report.texts import Form
from effio.store.all_runs import Store


@click.command("table")
@click.argument("runs", metavar="[RUN]...", nargs=-1, shell_complete=complete_sides)
@click.option(
    "--by", metavar="AXIS,...", default="",
    help="what distinguishes rows  [default: all that differs: axes of campaigns, options, ranks]",
)  # fmt: skip
@click.option("--across", metavar="AXIS", help="the values of this axis side by side, as medians")
@click.option(
    "--value", metavar="NAME", default="",
    help="a figure by its name, or an access (write, read) for its rate  [default: the number of "
    "the benchmark]",
)  # fmt: skip
@table_format(document=False)
@click.pass_context
def command(
    ctx: click.Context,
    runs: tuple[str, ...],
    by: str,
    across: str | None,
    value: str,
    form: Form,
) -> None:
    """Show one table of many runs: a row for each point, with median, lowest and highest value of
    its repetitions. Without RUN it covers all kept runs.

    RUN is a run, a campaign, tag:WORD, a folder with runs, or several of them joined by commas.
    """
    store = Store(runs_directory(ctx))
    axes = [name for name in by.split(",") if name]
    if across and axes and across not in axes:
        axes.append(across)
    indexed = Indexed(store, lambda: opened_index(ctx))
    claimed = indexed.everything(say) if not runs and not value and store.root.is_dir() else None
    if claimed is None:
        # The first call finds no store.
        words = list(runs) or ([str(store.root)] if store.folders() else [])
        if value:
            points = points_of(indexed.judged(words, say), axes, value)
        else:
            claimed = indexed.gathered(words, say)
    if claimed is not None:
        points = points_of_claims(claimed, axes)
    table = side_by_side(points, across) if across else table_of(points)
    if form is Form.TEXT and not table.rows:
        raise EffioError(f"there is no run in {store.root}", hint="effio run --help")
    write_tables([table], form)
