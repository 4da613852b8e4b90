# SPDX-License-Identifier: BSD-3-Clause
"""A profile: what an application's I/O is like in a typical production run. It is also the form of
the questionnaire: the description of a member is the question that asks for it.

Bytes and seconds. Counts of bytes are those of all processes together.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from effio.campaign.file import Size, Time, Word

MOST_ACTIVITIES = 100

Library = Literal[
    "posix", "stdio", "mpi-io", "hdf5", "netcdf", "pnetcdf", "sionlib", "adios", "other"
]
Files = Literal["shared", "per-process", "one-process"]
Layout = Literal["consecutive", "strided", "tiles", "random"]
# A machine has no more: products of such numbers stay numbers.
_MOST_BYTES = 2**60
_MOST_RANKS = 2**31
_MOST = 10**12


class _Table(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, str_max_length=10_000, allow_inf_nan=False, defer_build=True
    )


def _share(question: str) -> Any:
    return Field(default=None, ge=0, le=1, description=question)


class Activity(_Table):
    """One kind of I/O that a run does, once or again and again: an input, a checkpoint."""

    name: Word = Field(description="a word for it, as checkpoint or input")
    access: Literal["write", "read"] = Field(description="what it does")
    library: Library = Field(description="the library that the application calls for it")
    files: Files = Field(
        description="one file for all processes, one for each, or all data through one process"
    )
    bytes: Size = Field(le=_MOST_BYTES, description="bytes of all processes each time, as 64GiB")
    times: StrictInt = Field(default=1, ge=1, le=_MOST, description="how often in a run")
    ranks: StrictInt | None = Field(
        default=None, ge=1, le=_MOST_RANKS, description="how many processes do it, if not all"
    )
    transfer: Size | None = Field(
        default=None, le=_MOST_BYTES, description="bytes of a typical call, as 1MiB"
    )
    layout: Layout = Field(
        default="consecutive",
        description="layout of the data of a process in the file: in one piece, in many pieces"
        " between those of others, as a tile of an array, or anywhere",
    )
    piece: Size | None = Field(
        default=None,
        le=_MOST_BYTES,
        description="bytes of one piece, or of a row of a tile, as 64KiB",
    )
    collective: StrictFloat | None = _share(
        "which share of the calls all processes make together (collective), 0 to 1"
    )
    variables: StrictInt = Field(
        default=1, ge=1, le=_MOST, description="how many arrays (variables, datasets) in a file"
    )
    flush: StrictBool | None = Field(
        default=None,
        description="does it wait until the data are on storage (fsync), true or false",
    )
    aligned: StrictFloat | None = _share(
        "which share of the calls begins at a block of the file system, 0 to 1"
    )
    # A log contains these; they are not questions.
    seconds: StrictFloat | None = Field(default=None, ge=0)  # mean of the processes
    transfer_share: StrictFloat | None = Field(default=None, ge=0, le=1)
    calls: StrictInt | None = Field(default=None, ge=1)  # of all processes, each time
    typical_calls: StrictInt | None = Field(default=None, ge=0)  # those of `transfer`
    file_count: StrictInt | None = Field(default=None, ge=1)
    # Smallest, median and largest of several files that one process each uses.
    file_sizes: tuple[StrictInt, StrictInt, StrictInt] | None = None
    example: StrictStr = ""  # one of the files

    @model_validator(mode="after")
    def _fits(self) -> Activity:
        if self.transfer is not None and self.transfer > self.bytes:
            raise ValueError("transfer: a call moves more than all that is moved")
        if self.piece is not None and self.piece > self.bytes:
            raise ValueError("piece: a piece is more than all that is moved")
        if self.files == "one-process" and (self.ranks or 1) > 1:
            raise ValueError("ranks: all data go through one process")
        return self


class Names(_Table):
    """Operations on names, of all processes in a whole run."""

    creates: StrictInt = Field(default=0, ge=0, le=_MOST, description="files that a run makes")
    opens: StrictInt = Field(default=0, ge=0, le=_MOST, description="files that it opens")
    stats: StrictInt = Field(default=0, ge=0, le=_MOST, description="files that it looks up (stat)")
    removes: StrictInt = Field(default=0, ge=0, le=_MOST, description="files that it removes")
    own_directories: StrictBool = Field(
        default=False, description="has each process its own directory, true or false"
    )
    seconds: StrictFloat | None = Field(default=None, ge=0)  # mean of the processes

    @property
    def count(self) -> int:
        return self.creates + self.opens + self.stats + self.removes


class Phase(_Table):
    """A time of a run, seconds from its start, in which it wrote or read."""

    access: Literal["write", "read"]
    begin: StrictFloat = Field(ge=0)
    end: StrictFloat = Field(ge=0)
    bytes: StrictInt = Field(ge=0)


class Profile(_Table):
    schema_name: Literal["effio-profile/1"] = Field(default="effio-profile/1", alias="schema")
    application: StrictStr = Field(min_length=1, description="the name of the application")
    ranks: StrictInt = Field(ge=1, le=_MOST_RANKS, description="processes of a typical run")
    seconds: Time = Field(le=1e12, description="how long such a run takes, as 2h")
    io_share: StrictFloat | None = _share(
        "which share of that time goes to I/O now, 0 to 1, if it is known"
    )
    source: Literal["questionnaire", "darshan"] = "questionnaire"
    activity: tuple[Activity, ...] = Field(default=(), max_length=MOST_ACTIVITIES)
    names: Names = Names()
    phase: tuple[Phase, ...] = Field(default=(), max_length=10_000)
    # What the source does not contain.
    unknown: tuple[StrictStr, ...] = Field(default=(), max_length=1000)

    @model_validator(mode="after")
    def _fits(self) -> Profile:
        if not self.activity and not self.names.count:
            raise ValueError("there is no [[activity]] and nothing in [names]: no I/O to imitate")
        known = [a.name for a in self.activity]
        twice = next((name for name in known if known.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two activities have the name '{twice}'")
        for one in self.activity:
            if (one.ranks or 1) > self.ranks:
                raise ValueError(f"{one.name}: {one.ranks} processes of {self.ranks}")
        return self

    def ranks_of(self, activity: Activity) -> int:
        """Processes that do it."""
        if activity.files == "one-process":
            return 1
        return activity.ranks or self.ranks

    @property
    def bytes_of_a_run(self) -> int:
        return sum(a.bytes * a.times for a in self.activity)
