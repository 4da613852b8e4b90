# SPDX-License-Identifier: BSD-3-Clause
"""Removes what a run left behind, by its manifest, without asking: what the driver does with runs
of its own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from effio import text as fmt
from effio.errors import EffioError
from effio.store import clean
from effio.store.folder import RunFolder
from effio.store.shared_probes import probes_of

_MOST_LISTED = 10


def tidy(folder: RunFolder, say: Callable[[str], None]) -> None:
    """Removes what a killed run left, by its manifest, and says so; what it does not remove is
    listed with the reason."""
    for path, why in _removed(folder, say, also_kept=False).items():
        say(f"left alone: {fmt.plain(path)}: {why}")


def tidy_kept(folders: Iterable[RunFolder], say: Callable[[str], None]) -> None:
    """Removes what runs that are done kept for others. Several may have kept the same file: it is
    the last one's, so a file is called left alone only if none of them removed it."""
    left: dict[Path, str] = {}
    for folder in folders:
        left |= _removed(folder, say, also_kept=True)
    for path, why in left.items():
        if os.path.lexists(path):
            say(f"left alone: {fmt.plain(path)}: {why}")


def _removed(folder: RunFolder, say: Callable[[str], None], also_kept: bool) -> dict[Path, str]:
    """Returns what was not removed, with the reasons."""
    files, kept = ([], []) if also_kept else probes_of(folder)
    try:
        listed, others = _listed(folder, also_kept)
        files, kept = [*files, *listed], [*kept, *others]
    except EffioError as error:
        if folder.has_result:
            say(f"{folder.id}: {error.message}")
    failed = clean.remove(files)
    not_gone = {item.path for item in failed}
    gone = [file for file in files if file.path not in not_gone and not file.is_mark]
    if gone:
        total = sum(file.bytes for file in gone)
        say(f"removed {fmt.count_of(len(gone), 'file')} of {folder.id} ({fmt.size(total)}):")
    for file in gone[:_MOST_LISTED]:
        say(f"  {fmt.plain(file.path)}")
    if len(gone) > _MOST_LISTED:
        say(f"  and {len(gone) - _MOST_LISTED} more")
    return {item.path: item.why for item in [*kept, *failed]}


def _listed(folder: RunFolder, also_kept: bool) -> tuple[list[clean.Leftover], list[clean.Kept]]:
    """What the manifest accounts for."""
    result = folder.result()
    manifest = result.run.manifest
    if manifest is None or (manifest.keep or result.status == "done") != also_kept:
        return [], []
    directory = clean.directory_of(result, folder)
    return clean.leftovers(result, directory, also_kept, folder)


def tidy_within(seconds: float, folder: RunFolder, say: Callable[[str], None]) -> bool:
    """The same where storage may not answer. False if it did not within this time; the removal goes
    on for as long as the driver lives."""
    at_work = threading.Thread(target=tidy, args=(folder, say), daemon=True)
    at_work.start()
    at_work.join(seconds)
    return not at_work.is_alive()
