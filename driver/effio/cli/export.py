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
from effio.cli.kept import opened_index
from effio.cli.main import runs_directory
from effio.cli.places import PlacePath
from effio.cli.streams import say
from effio.errors import EffioError, ExitCode
from effio.report.indexed import Indexed
from effio.store import safe_files
from effio.store.all_runs import Store
from effio.store.binary_tables import write_columns, write_workbook
from effio.store.table import TABLES, Row, rows_of, write_csv, write_markdown

# The format for each suffix of a file name.
_BY_NAME = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".md": "markdown",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".feather": "feather",
}
_FORMATS = tuple(_BY_NAME.values())
_BINARY = frozenset({"xlsx", "parquet", "feather"})
_CHOICES = f"use one of {', '.join(_BY_NAME)}"


def _chosen(form: str | None, output: str | None) -> str:
    """The suffix of the file's name determines the format; --format chooses it for standard output.
    Raises EffioError if the suffix is unknown or contradicts --format."""
    if output is None:
        return form or "csv"
    suffix = Path(output).suffix
    by_name = _BY_NAME.get(suffix.lower())
    if by_name is None:
        raise EffioError(f"{output}: the suffix '{suffix}' names no known format", hint=_CHOICES)
    if form not in (None, by_name):
        wanted = next(suffix for suffix, name in _BY_NAME.items() if name == form)
        raise EffioError(
            f"{output}: the suffix says {by_name}, --format says {form}",
            hint=f"--format {form} writes a file whose name ends in {wanted}; {_CHOICES}",
        )
    return by_name


def _write(rows: Sequence[Row], form: str, output: str, what: str) -> None:
    path = Path(output)
    try:
        with safe_files.replacing(path, keep_existing=True) as stream:
            if form == "xlsx":
                write_workbook(rows, what, stream)
            elif form in _BINARY:
                write_columns(rows, form, stream)
            else:
                stream.write(_text(rows, form).encode())
    except FileExistsError:
        raise EffioError(f"{output} exists", hint=safe_files.TAKEN) from None
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
    help="which lines of the results to write",
)
@click.option(
    "--format", "form", type=click.Choice(_FORMATS),
    help="format of the standard output; a FILE has that of its suffix  [default: csv]",
)  # fmt: skip
@click.option(
    "-o",
    "--output",
    type=PlacePath(dir_okay=False),
    metavar="FILE",
    help="a file that does not exist yet  [default: standard output]",
)
@click.pass_context
def command(
    ctx: click.Context, runs: tuple[str, ...], what: str, form: str | None, output: str | None
) -> None:
    """Write measurements, figures or runs, one per row. The suffix of FILE sets the format: .csv,
    .tsv, .json, .md, .xlsx, .parquet or .feather.

    RUN is a run, a campaign, tag:WORD or a folder with runs. Base units throughout: bytes, seconds,
    bytes per second, and full precision.
    """
    chosen = _chosen(form, output)
    indexed = Indexed(Store(runs_directory(ctx)), lambda: opened_index(ctx))
    rows = [row for run in indexed.judged(runs, say) for row in rows_of(what, run.name, run.result)]
    if output is not None:
        _write(rows, chosen, output, what)
        click.echo(output)
    elif chosen in _BINARY:
        raise EffioError(f"{chosen} is not a text format: name a file with --output FILE")
    else:
        sys.stdout.write(_text(rows, chosen))
