# SPDX-License-Identifier: BSD-3-Clause
"""`effio export RUN...`: numbers for other programs."""

from __future__ import annotations

import io
import json
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
from effio.store.table import TABLES, Row, rows_of, write_columns, write_csv, write_markdown

_FORMATS = ("csv", "tsv", "json", "markdown", "parquet", "feather")
_BY_NAME = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".md": "markdown",
    ".parquet": "parquet",
    ".feather": "feather",
}
_BINARY = frozenset({"parquet", "feather"})


def _chosen(form: str | None, output: str | None) -> str:
    """By --format, else by what the name of the file says; a name that says something else is
    refused, for the file would not be what it is called."""
    if form is not None or output is None:
        return form or "csv"
    suffix = Path(output).suffix
    if suffix not in _BY_NAME:
        raise EffioError(
            f"{output}: the suffix '{suffix}' names no known format",
            hint=f"use one of {', '.join(_BY_NAME)}, or --format {'|'.join(_FORMATS)}",
        )
    return _BY_NAME[suffix]


def _write(rows: Sequence[Row], form: str, output: str) -> None:
    path = Path(output)
    try:
        with safe_files.replacing(path, keep_existing=True) as stream:
            if form in _BINARY:
                write_columns(rows, form, stream)
            else:
                stream.write(_text(rows, form).encode())
    except OSError as error:
        raise EffioError(f"cannot write {output}: {error.strerror}", ExitCode.IO_ERROR) from None


def _text(rows: Sequence[Row], form: str) -> str:
    stream = io.StringIO(newline="")
    if form == "json":
        json.dump(rows, stream, indent=1)
        stream.write("\n")
    elif form == "markdown":
        write_markdown(rows, stream)
    else:
        write_csv(rows, stream, "\t" if form == "tsv" else ",")
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
    """Write measurements, figures or runs, one a row. The suffix of FILE says the format: csv, tsv,
    json, md, parquet or feather.

    RUN is a run, a campaign, tag:WORD or a folder with runs. Base units throughout: bytes, seconds,
    bytes per second, and full precision.
    """
    chosen = _chosen(form, output)
    store = Store(runs_directory(ctx))
    rows = [
        row
        for run in gather.judged(list(runs), store, say)
        for row in rows_of(what, run.name, run.result)
    ]
    if output is not None:
        _write(rows, chosen, output)
        click.echo(output)
    elif chosen in _BINARY:
        raise EffioError(f"{chosen} is not a text format: name a file with --output FILE")
    else:
        sys.stdout.write(_text(rows, chosen))
