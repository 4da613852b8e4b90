# SPDX-License-Identifier: BSD-3-Clause
"""`effio restore FILE`: archived runs back into the store."""

from __future__ import annotations

from pathlib import Path

import click

from effio import text as fmt
from effio.cli.main import runs_directory
from effio.cli.places import PlacePath
from effio.store import archive
from effio.store.all_runs import Store


@click.command("restore")
@click.argument("file", metavar="FILE", type=PlacePath(dir_okay=False))
@click.pass_context
def command(ctx: click.Context, file: str) -> None:
    """Bring the runs of an archive back. Nothing that exists is overwritten.

    An archive that holds anything but the plain files of runs (a link, a path that leads
    elsewhere), or a run that is here and differs, is refused as a whole.
    """
    store = Store(runs_directory(ctx))
    done = archive.restore(Path(file), store)
    there = f"; here already: {len(done.there)}" if done.there else ""
    click.echo(f"restored: {fmt.count_of(len(done.runs), 'run')} to {store.root}{there}")
