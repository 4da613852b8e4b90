# SPDX-License-Identifier: BSD-3-Clause
"""`effio import FILE...`: results of other programs as runs of the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from effio import text as fmt
from effio.cli.complete import complete_tag
from effio.cli.main import runs_directory
from effio.cli.note import checked_tags
from effio.cli.places import PlacePath
from effio.cli.streams import say
from effio.errors import EffioError, ExitCode
from effio.imports import formats
from effio.imports.keep import import_file
from effio.imports.model import Imported
from effio.store.all_runs import Store


@click.command("import")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=PlacePath())
@click.option(
    "--tag", "tags", multiple=True, metavar="WORD", shell_complete=complete_tag,
    help="give all of them this tag, for instance the system's name; may be repeated",
)  # fmt: skip
@click.option("--plan", is_flag=True, help="show what would be imported, and keep nothing")
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...], tags: tuple[str, ...], plan: bool) -> None:
    """Import results of IOR, mdtest, IO500, fio, elbencho, h5bench or b_eff_io as runs.

    FILE is what the program printed or wrote: IOR (text, JSON, CSV), mdtest (text), IO500
    (result_summary.txt, result.txt), fio (--output-format=json), elbencho (--csvfile, --jsonfile),
    h5bench (text, CSV_FILE), b_eff_io (PREFIX.sum). The format is recognized by its content. Each
    run keeps the numbers and units of its file, the tag 'imported' and the statement that effio did
    not judge it. Then 'effio table', 'compare', 'trend', 'accept', 'export' and 'query' work on it.
    A file is never imported twice.
    """
    store = Store(runs_directory(ctx))
    checked = checked_tags(tags)
    failed: list[EffioError] = []
    for name in files:
        try:
            if plan:
                form, runs = formats.read(Path(name))
                click.echo(fmt.plain(f"{name}: {form.name}: {formats.summary(runs)}"))
                _say_doubts(name, runs)
                continue
            kept = import_file(Path(name), store, checked)
        except EffioError as error:
            if len(files) == 1:
                raise
            failed.append(error)
            say(f"not imported: {error}")
            continue
        there = f"; here already: {len(kept.there)}" if kept.there else ""
        click.echo(fmt.plain(f"{name}: {kept.format}: {formats.summary(kept.runs)}{there}"))
        _say_doubts(name, kept.runs)
        for folder in kept.new:
            click.echo(f"  {folder.path}")
    if failed:
        # The files may be right and the disk full: keep the code if it is the same for all.
        codes = {error.code for error in failed}
        raise EffioError(
            f"{fmt.count_of(len(failed), 'file')} of {len(files)} not imported",
            failed[0].code if len(codes) == 1 else ExitCode.USAGE,
        )


def _say_doubts(name: str, runs: Sequence[Imported]) -> None:
    for doubt in formats.doubts_of(runs):
        say(fmt.plain(f"{name}: {doubt}"))
