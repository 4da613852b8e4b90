# SPDX-License-Identifier: BSD-3-Clause
"""`effio clean`: what a killed run left behind."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import click

from effio import text as fmt
from effio.cli.complete import complete_run
from effio.cli.main import runs_directory
from effio.errors import EffioError, ExitCode
from effio.store import clean
from effio.store.folder import RESULT, RunFolder, Store, files_of_turns
from effio.store.reader import Result, ResultError, read_result


def _busy_directories(store: Store) -> dict[Path, str]:
    """Where other runs are at work now: files of our names there may be theirs."""
    busy = {}
    for folder in store.folders():
        if folder.state() != "running":
            continue
        try:
            result = folder.result()
            if result.run.manifest is not None:
                busy[clean.directory_of(result, folder).resolve()] = folder.id
        except EffioError:
            continue
    return busy


# A result that lists files, and where they are.
_Part = tuple[Result, Path]


def _listing(path: Path) -> list[Result]:
    """The run's own result and those of its turns, as far as they list files."""
    results = [read_result(path)]
    for turn in files_of_turns(path):
        # What lists no files has none to be removed.
        with contextlib.suppress(ResultError):
            if turn.name == RESULT:
                results.append(read_result(turn))
    return [result for result in results if result.run.manifest is not None]


def _clean(
    name: str, parts: Sequence[_Part], kept_too: bool, dry: bool, quiet: bool
) -> tuple[int, int]:
    found: dict[Path, clean.Leftover] = {}
    alone: dict[Path, clean.Kept] = {}
    for result, directory in parts:
        ours, untouched = clean.leftovers(result, directory, kept_too)
        found |= {item.path: item for item in ours}
        alone |= {item.path: item for item in untouched}
    files = list(found.values())
    # A turn's file may be older than the next turn, which uses its name again.
    for item in [item for path, item in alone.items() if path not in found]:
        click.echo(f"left alone: {fmt.plain(item.path)}: {item.why}", err=True)
    for file in files:
        click.echo(f"{'would remove' if dry else 'remove'} {fmt.plain(file.path)} "
                   f"({fmt.size(file.bytes)})")  # fmt: skip
    failed = [] if dry else clean.remove(files)
    for item in failed:
        click.echo(f"could not remove {fmt.plain(item.path)}: {item.why}", err=True)
    if not files and not quiet:
        places = ", ".join(dict.fromkeys(fmt.plain(directory) for _, directory in parts))
        click.echo(f"{fmt.plain(name)}: nothing is left in {places}")
    return len(files), len(failed)


@click.command("clean")
@click.argument("run", required=False, metavar="[RUN]", shell_complete=complete_run)
@click.option("--dry-run", is_flag=True, help="only say what would be removed")
@click.option("--kept", is_flag=True, help="also data files that the run was asked to keep")
@click.option(
    "--dir",
    "directory",
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="where the data are, if the result does not say it in full",
)
@click.pass_context
def command(
    ctx: click.Context, run: str | None, dry_run: bool, kept: bool, directory: str | None
) -> None:
    """Remove the data files that a killed run left behind.

    Without RUN: those of all kept runs that did not end in order. Only names that the run's
    result file lists, or one of a turn of interference, are looked at, only in its directory;
    anything older than the run stays.
    """
    store = Store(runs_directory(ctx))
    busy = _busy_directories(store)
    failed = 0
    if run is None:
        total = 0
        for folder in store.folders():
            if folder.state() in ("running", "planned", "submitted", "done"):
                continue
            try:
                listing = _listing(folder.result_path)
            except ResultError:
                continue
            parts = []
            for result in listing:
                if result.run.manifest is not None and result.run.manifest.keep:
                    continue
                try:
                    where = clean.directory_of(result, folder)
                except EffioError as error:
                    click.echo(f"left alone: {folder.id}: {error}", err=True)
                    continue
                if where.resolve() in busy:
                    click.echo(f"left alone: {where}: {busy[where.resolve()]} is at work there",
                               err=True)  # fmt: skip
                    continue
                parts.append((result, where))
            count, bad = _clean(folder.id, parts, False, dry_run, True)
            total, failed = total + count, failed + bad
        if total == 0:
            click.echo("nothing is left of any run")
    else:
        found = store.find(run)
        if isinstance(found, RunFolder) and found.state() == "running":
            raise EffioError(f"{found.id} is still running")
        listing = _listing(found.result_path if isinstance(found, RunFolder) else found)
        name = found.id if isinstance(found, RunFolder) else str(found)
        if not listing:
            raise EffioError(f"{name} lists no files: it never got as far as creating any")
        folder_or_none = found if isinstance(found, RunFolder) else None
        if directory and len(listing) > 1:
            raise EffioError(
                f"--dir names one place, and {name} has {len(listing)} results that list files",
                hint="name one of them: effio clean FILE --dir DIR",
            )
        parts = []
        for result in listing:
            where = Path(directory) if directory else clean.directory_of(result, folder_or_none)
            if where.resolve() in busy:
                raise EffioError(f"{busy[where.resolve()]} is at work in {where}; wait for its end")
            parts.append((result, where))
        _, failed = _clean(name, parts, kept, dry_run, False)
    if failed:
        raise click.exceptions.Exit(ExitCode.IO_ERROR)
