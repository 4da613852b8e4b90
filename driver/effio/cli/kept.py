# SPDX-License-Identifier: BSD-3-Clause
"""The runs that a command is about, by the index of the store."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from effio.cli.main import runs_directory
from effio.cli.streams import say
from effio.errors import EffioError
from effio.store.all_runs import Store
from effio.store.folder import RunFolder
from effio.store.index import Index
from effio.store.short_ids import ShortIds

if TYPE_CHECKING:
    from effio.cli.tables import Shorten  # with rich, which not every command needs
    from effio.report.indexed import Known
    from effio.store.known import Line
    from effio.store.reader import Result, ResultError

# Reading this many takes long enough for a message.
_MANY = 1000
# This many done runs of a campaign are read in a second. For fewer the index is not opened: it is
# in the user's home directory, which a job may have on a file server.
_WORTH_ASKING = 500


def _line_of(folder: RunFolder, result: Result | ResultError) -> Line:
    from effio.report.listing import line_of  # not where all runs are known already

    return line_of(folder, result)


def opened_index(ctx: click.Context) -> Index:
    def reading(count: int) -> None:
        if count >= _MANY:
            quicker = "; the next time is quicker" if index.is_kept else ""
            say(f"reading {count} runs that are new or have changed{quicker}")

    index = Index(Store(runs_directory(ctx)), _line_of, reading, say)
    return index


def known_runs(ctx: click.Context, folders: Iterable[RunFolder]) -> dict[str, Known]:
    """What the index has of those runs that are sealed, by their ids; others can still change.
    Nothing where they are few."""
    names = [folder.id for folder in folders if folder.is_sealed]
    if len(names) < _WORTH_ASKING:
        return {}
    index = opened_index(ctx)
    entries = index.entries(with_sealed=True, names=names)
    index.close()
    from effio.report.indexed import Known

    return {one.id: Known(one, one.attempt()) for one in entries}


def folders_besides(store: Store) -> list[RunFolder]:
    """The runs of the store, for a command that was given others. A store that cannot be read is
    reported; the command does without it."""
    try:
        return store.folders()
    except EffioError as error:
        say(f"left out: the runs in {error.message}")
        return []


def shortener(store: Store) -> Shorten:
    """Returns a function that gives the short id of a stored run and leaves other names unchanged,
    all names if the store cannot be read. It is read at the first call."""
    found: list[ShortIds] = []

    def shorten(name: str) -> str:
        if not found:
            names: list[str] = []
            with contextlib.suppress(EffioError):
                names = [folder.id for folder in store.folders()]
            found.append(ShortIds(names))
        return found[0].of(name) or name

    return shorten
