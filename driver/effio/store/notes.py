# SPDX-License-Identifier: BSD-3-Clause
"""notes.json: what people say of a run afterwards. It is next to the sealed files and changes none
of them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from effio.store.run_record import RunRecord

NOTES_SCHEMA = "effio-notes/1"
MAX_BYTES = 1 << 20

# As in a campaign's file.
Tag = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$", max_length=64)]


class Note(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)
    time: str = Field(max_length=40)
    text: str = Field(max_length=10_000)


class Notes(BaseModel):
    """Empty without notes and tags. `tags` are those that people gave; a campaign's are in
    the run's record."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)
    schema_name: str = Field(
        default=NOTES_SCHEMA, alias="schema", pattern=r"^effio-notes/1(\.\d+)?$"
    )
    tags: tuple[Tag, ...] = ()
    notes: tuple[Note, ...] = ()


# Of most runs; made without the validators of the model.
NO_NOTES = Notes.model_construct()


def tags_of(record: RunRecord | None, said: Notes) -> list[str]:
    """The tags of the run's campaign, and those that people gave."""
    part = record.campaign if record is not None else None
    return list(dict.fromkeys([*(part.tags if part is not None else ()), *said.tags]))
