# SPDX-License-Identifier: BSD-3-Clause
"""`effio archive`: runs as one file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from effio import text as fmt
from effio.cli.complete import complete_sides
from effio.cli.kept import folders_besides
from effio.cli.main import runs_directory
from effio.cli.places import PlacePath
from effio.errors import EffioError
from effio.judge.gather import campaign_word, files_of, is_place
from effio.store import archive, safe_files
from effio.store.all_runs import Store
from effio.store.folder import RESULT, RunFolder


def _all_of(word: str, store: Store) -> list[RunFolder]:
    """All runs that are meant; for a campaign also the attempts that failed, which are part of its
    history."""
    name = campaign_word(word)
    of_campaign = [
        folder
        for folder in (folders_besides(store) if is_place(word) else store.folders())
        if (record := folder.record()) is not None
        and record.campaign is not None
        and record.campaign.name == name
    ]
    if of_campaign:
        return of_campaign
    try:
        found = store.find(word)
        if isinstance(found, RunFolder):
            return [found]
    except EffioError:
        pass
    files = files_of(word, store)
    bare = next((file for file in files if file.name != RESULT), None)
    if bare is not None:
        raise EffioError(f"{bare} is a file, not the folder of a run")
    return [RunFolder(file.parent) for file in files]


@click.command("archive")
@click.argument("runs", metavar="[RUN]...", nargs=-1, shell_complete=complete_sides)
@click.option(
    "-o", "--output", required=True, metavar="FILE", type=PlacePath(dir_okay=False),
    help="a file that does not exist yet, as study.tar.gz",
)  # fmt: skip
@click.pass_context
def command(ctx: click.Context, runs: tuple[str, ...], output: str) -> None:
    """Put runs into one file, with what is kept of their campaigns; all runs without RUN.

    RUN is a run, a campaign, tag:WORD or a folder with runs. effio restore brings them back; tar
    knows the format too. The runs stay where they are.
    """
    store = Store(runs_directory(ctx))
    found = [f for word in runs for f in _all_of(word, store)] if runs else store.folders()
    folders = list({safe_files.real(folder.path): folder for folder in found}.values())
    if not folders:
        raise EffioError(f"there is no run in {store.root}")
    names = [folder.id for folder in folders]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise EffioError(f"two of the runs are called {twice}")
    going = next((folder for folder in folders if folder.state() == "running"), None)
    if going is not None:
        raise EffioError(f"{going.id} is still running", hint="wait for its end, or leave it out")
    campaigns = {
        folder.path.parent / archive.CAMPAIGNS / record.campaign.name
        for folder in folders
        if (record := folder.record()) is not None and record.campaign is not None
    }
    there = sorted(place for place in campaigns if place.is_dir())
    files = archive.write(Path(output), folders, there)
    reported = f", {fmt.count_of(len(there), 'campaign')}" if there else ""
    click.echo(
        f"{output}: {fmt.count_of(len(folders), 'run')}{reported}, {fmt.count_of(files, 'file')}, "
        f"{fmt.size(Path(output).stat().st_size)}"
    )
