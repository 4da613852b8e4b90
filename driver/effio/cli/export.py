# SPDX-License-Identifier: BSD-3-Clause
"""`effio export RUN...`: numbers for other programs."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from effio.cli.complete import complete_sides
from effio.cli.main import runs_directory
from effio.cli.streams import say
from effio.errors import EffioError, ExitCode
from effio.judge import gather
from effio.store import safe_files
from effio.store.folder import Store
from effio.store.table import TABLES, Row, rows_of, write_csv, write_markdown, write_parquet

_FORMATS = ("csv", "markdown", "parquet")
_BY_NAME = {".md": "markdown", ".parquet": "parquet"}


def _write(rows: Sequence[Row], form: str, output: str) -> None:
    path = Path(output)
    try:
        with safe_files.replacing(path, keep_existing=True) as stream:
            if form == "parquet":
                write_parquet(rows, stream)
            else:
                stream.write(_text(rows, form).encode())
    except OSError as error:
        raise EffioError(f"cannot write {output}: {error.strerror}", ExitCode.IO_ERROR) from None


def _text(rows: Sequence[Row], form: str) -> str:
    stream = io.StringIO(newline="")
    (write_markdown if form == "markdown" else write_csv)(rows, stream)
    return stream.getvalue()


@click.command("export")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, shell_complete=complete_sides)
@click.option(
    "--what",
    type=click.Choice(TABLES),
    default="measurements",
    show_default=True,
    help="which lines of the results",
)
@click.option(
    "--format", "form", type=click.Choice(_FORMATS),
    help="[default: by the name of the file, else csv]",
)  # fmt: skip
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="a file that does not exist yet  [default: standard output]",
)
@click.pass_context
def command(
    ctx: click.Context, runs: tuple[str, ...], what: str, form: str | None, output: str | None
) -> None:
    """Write measurements, figures or runs as CSV, Parquet or Markdown, one a row.

    RUN is a run, a campaign, tag:WORD or a folder with runs. Base units throughout: bytes, seconds,
    bytes per second, and full precision.
    """
    store = Store(runs_directory(ctx))
    rows = [
        row
        for run in gather.judged(list(runs), store, say)
        for row in rows_of(what, run.name, run.result)
    ]
    chosen = form or _BY_NAME.get(Path(output or "").suffix, "csv")
    if output is not None:
        _write(rows, chosen, output)
        click.echo(output)
    elif chosen == "parquet":
        raise EffioError("Parquet is no text: name a file with --output FILE")
    else:
        sys.stdout.write(_text(rows, chosen))
