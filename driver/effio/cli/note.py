# SPDX-License-Identifier: BSD-3-Clause
"""`effio note RUN TEXT`: what people say of a run."""

from __future__ import annotations

from collections.abc import Sequence

import click
from pydantic import ValidationError

from effio import text as fmt
from effio.cli.complete import complete_run, complete_tag
from effio.cli.kept import opened_index
from effio.cli.main import runs_directory
from effio.cli.streams import print_line
from effio.errors import EffioError
from effio.judge.gather import files_of
from effio.report.indexed import Indexed
from effio.store.all_runs import Store
from effio.store.folder import RESULT, RunFolder, now_utc
from effio.store.notes import Note, Notes, tags_of


def _folders(word: str, indexed: Indexed) -> list[RunFolder]:
    try:
        found = indexed.store.find(word)
    except EffioError:
        files = files_of(word, indexed.store, indexed.attempts)  # of a campaign, or of a tag
        if not files:
            raise
        return [RunFolder(file.parent) for file in files if file.name == RESULT]
    if not isinstance(found, RunFolder):
        raise EffioError(f"{found} is a file, not the folder of a run: there is no place for notes")
    return [found]


def checked_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """The tags without doubles. Raises EffioError if one has a character that tags do not have."""
    try:
        return Notes.model_validate({"tags": list(dict.fromkeys(tags))}).tags
    except ValidationError:
        raise EffioError(
            "a tag has letters, digits, '-', '_' and '.', 64 of them at most"
        ) from None


def _with(said: Notes, text: str | None, tags: tuple[str, ...], gone: tuple[str, ...]) -> Notes:
    kept = [tag for tag in checked_tags((*said.tags, *tags)) if tag not in gone]
    new = [{"time": now_utc(), "text": fmt.encodable(text)}] if text else []
    try:
        return Notes.model_validate(
            {"tags": kept, "notes": [*(note.model_dump() for note in said.notes), *new]}
        )
    except ValidationError:
        raise EffioError("a note has 10,000 characters at most") from None


def changed(
    folder: RunFolder, text: str | None, tags: tuple[str, ...], untag: tuple[str, ...]
) -> Notes:
    """The run's notes, with what is to be added and removed, also in its folder."""
    with folder.noting():
        said = folder.notes(to_change=True)
        missing = [tag for tag in untag if tag not in said.tags]
        if missing:
            raise EffioError(f"{folder.id} was not given the tag '{fmt.plain(missing[0])}'")
        said = _with(said, text, tags, untag)
        folder.write_notes(said)
    return said


def _line(note: Note) -> str:
    return f"{note.time}  {note.text}"


@click.command("note")
@click.argument("run", metavar="RUN", shell_complete=complete_run)
@click.argument("text", metavar="[TEXT]", required=False)
@click.option(
    "--tag", "tags", multiple=True, metavar="WORD", shell_complete=complete_tag,
    help="give it this tag; may be given more than once",
)  # fmt: skip
@click.option(
    "--untag", multiple=True, metavar="WORD", help="remove this tag, if it was given in this way"
)
@click.pass_context
def command(
    ctx: click.Context, run: str, text: str | None, tags: tuple[str, ...], untag: tuple[str, ...]
) -> None:
    """Add a note or tags to a run; without a text or tags, show those that it has.

    RUN may also be a campaign or tag:WORD: all of its runs. Notes are stored next to the results,
    in notes.json, and change none of them. effio runs --tag WORD lists the runs of a tag.
    """
    indexed = Indexed(Store(runs_directory(ctx)), lambda: opened_index(ctx))
    if text is not None and not text.strip():
        raise EffioError("the note is empty")
    for folder in _folders(run, indexed):
        said = changed(folder, text, tags, untag) if text or tags or untag else folder.notes()
        all_tags = tags_of(folder.record(), said)
        print_line(fmt.plain(folder.id + (f"  tags: {', '.join(all_tags)}" if all_tags else "")))
        for note in said.notes:
            print_line(f"  {fmt.plain(_line(note), 11_000)}")
