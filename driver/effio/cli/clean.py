# SPDX-License-Identifier: BSD-3-Clause
"""`effio clean`: what a killed run left behind."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from effio import text as fmt
from effio.cli.complete import complete_run
from effio.cli.kept import folders_besides
from effio.cli.main import runs_directory
from effio.cli.places import PlacePath
from effio.errors import EffioError, ExitCode
from effio.store import clean, looks, safe_files
from effio.store.all_runs import Store
from effio.store.folder import RECORD, RESULT, RunFolder, files_of_turns
from effio.store.reader import Result, ResultError, read_result
from effio.store.shared_probes import probes_of


def _busy_directories(folders: Sequence[RunFolder]) -> dict[Path, str]:
    """Where other runs are at work now: files of our names there may be theirs."""
    busy = {}
    for folder in folders:
        if folder.state() != "running":
            continue
        try:
            result = folder.result()
            if result.run.manifest is not None:
                busy[safe_files.real(clean.directory_of(result, folder))] = folder.id
        except EffioError:
            continue
    return busy


# A result that lists files, where they are, and the run's folder.
_Part = tuple[Result, Path, RunFolder | None]


def _listing(path: Path) -> list[Result]:
    """The run's own result and those of its turns, as far as they list files."""
    results = [read_result(path)]
    for turn in files_of_turns(path):
        # What lists no files has none to be removed.
        with contextlib.suppress(ResultError):
            if turn.name == RESULT:
                results.append(read_result(turn))
    return [result for result in results if result.run.manifest is not None]


def _seen(parts: Sequence[_Part], kept_too: bool, folder: RunFolder | None) -> list[clean.Leftover]:
    """What would be removed; what is refused is listed with its reason."""
    probes, others = probes_of(folder) if folder is not None else ([], [])
    found = {item.path: item for item in probes}
    alone = {item.path: item for item in others}
    for result, directory, its_folder in parts:
        ours, untouched = clean.leftovers(result, directory, kept_too, its_folder)
        found |= {item.path: item for item in ours}
        alone |= {item.path: item for item in untouched}
    # A turn's file may be older than the next turn, which uses its name again.
    for item in [item for path, item in alone.items() if path not in found]:
        click.echo(f"left alone: {fmt.plain(item.path)}: {item.why}", err=True)
    return sorted(found.values(), key=lambda item: item.is_mark)


def _remove(files: Sequence[clean.Leftover], dry: bool, yes: bool) -> int:
    """Lists them all, asks, and removes them. Returns how many could not be removed."""
    total = fmt.size(sum(file.bytes for file in files))
    for file in files:
        click.echo(f"{'would remove' if dry else 'remove'} {fmt.plain(file.path)} "
                   f"({fmt.size(file.bytes)})")  # fmt: skip
    if dry or not files:
        return 0
    if not yes:
        if not sys.stdin.isatty():
            raise EffioError(
                "nothing is removed: there is no terminal to ask at", hint="--yes removes it"
            )
        if not click.confirm(f"Remove {fmt.count_of(len(files), 'file')} ({total})?"):
            raise EffioError("nothing is removed")
    failed = clean.remove(list(files))
    for item in failed:
        click.echo(f"could not remove {fmt.plain(item.path)}: {item.why}", err=True)
    return len(failed)


@click.command("clean")
@click.argument("run", required=False, metavar="[RUN]", shell_complete=complete_run)
@click.option("--dry-run", is_flag=True, help="only say what would be removed")
@click.option("--yes", is_flag=True, help="remove without asking")
@click.option("--kept", is_flag=True, help="also data files that the run was asked to keep")
@click.option(
    "--dir",
    "directory",
    type=PlacePath(exists=True, file_okay=False),
    metavar="DIR",
    help="where the data are, if the result does not say it in full",
)
@click.pass_context
def command(
    ctx: click.Context,
    run: str | None,
    dry_run: bool,
    yes: bool,
    kept: bool,
    directory: str | None,
) -> None:
    """Remove the data files that a killed run left behind.

    Without RUN: those of all kept runs that did not end in order. Lists what it would remove and
    asks. A file is removed only if it is proven to be the run's: the run was made here by you, the
    data directory holds the run's mark, and the file was made after it. The rest is listed with the
    reason. Directories of a killed `effio doctor --dir DIR` are found in the runs' data
    directories, or with --dir DIR.
    """
    store = Store(runs_directory(ctx))
    folders = store.folders() if run is None else folders_besides(store)
    busy = _busy_directories(folders)
    if run is None:
        every = [file for folder in folders for file in _of_folder(folder, busy)]
        every += _looks(directory)
        files = list({file.path: file for file in every}.values())
        failed = _remove(files, dry_run, yes)
        if not files:
            click.echo("nothing to remove")  # files that are left alone are listed
    else:
        name, parts, folder = _named(store, run, directory, busy)
        files = _seen(parts, kept, folder)
        if not parts and not files:
            raise EffioError(f"{name} lists no files: it never got as far as creating any")
        failed = _remove(files, dry_run, yes)
        if not files:
            places = ", ".join(dict.fromkeys(fmt.plain(directory) for _, directory, _ in parts))
            click.echo(f"{fmt.plain(name)}: nothing to remove in {places}")
    if failed:
        raise click.exceptions.Exit(ExitCode.IO_ERROR)


def _looks(directory: str | None) -> list[clean.Leftover]:
    """What a killed `effio doctor --dir` left in a directory."""
    found, kept = looks.left_in(Path(directory)) if directory else ([], [])
    for item in kept:
        click.echo(f"left alone: {fmt.plain(item.path)}: {item.why}", err=True)
    return found


def _of_folder(folder: RunFolder, busy: Mapping[Path, str]) -> list[clean.Leftover]:
    """What is left of a run that did not end in order."""
    if folder.state() in ("running", "planned", "submitted", "done"):
        return []
    parts: list[_Part] = []
    try:
        for result in _listing_of(folder):
            if result.run.manifest is not None and result.run.manifest.keep:
                continue
            where = clean.directory_of(result, folder)
            if safe_files.real(where) in busy:
                at_work = busy[safe_files.real(where)]
                click.echo(f"left alone: {fmt.plain(where)}: {at_work} is at work there", err=True)
                continue
            parts.append((result, where, _as_folder(folder)))
        return _seen(parts, False, folder)
    except clean.RefusedRunError as error:
        click.echo(f"left alone: {error}", err=True)  # it names the run
        return []
    except EffioError as error:
        click.echo(f"left alone: {fmt.plain(folder.id)}: {error}", err=True)
        return []


def _listing_of(folder: RunFolder) -> list[Result]:
    """Nothing of a run that was killed before it had a result."""
    try:
        return _listing(folder.result_path)
    except ResultError:
        return []


def _as_folder(folder: RunFolder) -> RunFolder | None:
    """A result without run.json next to it was not started by the driver; its mark must do."""
    return folder if os.path.lexists(folder.path / RECORD) else None


def _named(
    store: Store, run: str, directory: str | None, busy: Mapping[Path, str]
) -> tuple[str, list[_Part], RunFolder | None]:
    found = store.find(run)
    if isinstance(found, RunFolder) and found.state() == "running":
        raise EffioError(f"{found.id} is still running")
    without = isinstance(found, RunFolder) and not found.has_result
    path = found.result_path if isinstance(found, RunFolder) else found
    listing = [] if without else _listing(path)
    name = found.id if isinstance(found, RunFolder) else str(found)
    folder = _as_folder(found) if isinstance(found, RunFolder) else None
    if directory and len(listing) > 1:
        raise EffioError(
            f"--dir names one place, and {name} has {len(listing)} results that list files",
            hint="name one of them: effio clean FILE --dir DIR",
        )
    parts: list[_Part] = []
    for result in listing:
        where = Path(directory) if directory else clean.directory_of(result, folder)
        if safe_files.real(where) in busy:
            raise EffioError(
                f"{busy[safe_files.real(where)]} is at work in {where}; wait for its end"
            )
        parts.append((result, where, folder))
    return name, parts, folder
