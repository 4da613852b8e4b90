# SPDX-License-Identifier: BSD-3-Clause
"""`effio export RUN...`: numbers for other programs."""

from __future__ import annotations

import sys

import click

from effio.cli.complete import run_argument
from effio.cli.main import runs_directory
from effio.errors import EffioError, ExitCode
from effio.report.build import load
from effio.store.folder import RunFolder, Store
from effio.store.table import TABLES, rows_of, write_csv


@click.command("export")
@run_argument("runs", many=True)
@click.option(
    "--what",
    type=click.Choice(TABLES),
    default="measurements",
    show_default=True,
    help="which lines of the results",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="a file that does not exist yet  [default: standard output]",
)
@click.pass_context
def command(ctx: click.Context, runs: tuple[str, ...], what: str, output: str | None) -> None:
    """Write measurements, figures or runs as CSV, one a row.

    Base units throughout: bytes, seconds, bytes per second, and full precision.
    """
    store = Store(runs_directory(ctx))
    rows = []
    for run in runs:
        found = store.find(run)
        name, result, _ = load(found.path if isinstance(found, RunFolder) else found)
        rows += list(rows_of(what, name, result))
    if output is None:
        write_csv(rows, sys.stdout)
        return
    try:
        with open(output, "x", encoding="utf-8", newline="") as stream:  # noqa: PTH123  "x"
            write_csv(rows, stream)
    except OSError as error:
        raise EffioError(f"cannot write {output}: {error.strerror}", ExitCode.IO_ERROR) from None
    click.echo(output)
