# SPDX-License-Identifier: BSD-3-Clause
"""The lines of a result file, typed (docs/results.md, schemas/result-1.json).

Members that a newer minor version adds are kept where a benchmark owns the object (`where`,
`detail`, …) and ignored elsewhere. Seconds, bytes, bytes per second. The first line (`run`) is a
pydantic model. Of the others there may be millions: they are structures of msgspec, which reads
them in a fifth of the time.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field
from pydantic import BaseModel, ConfigDict, Field

from effio import text as fmt
from effio.store.masking import Words
from effio.store.values import (
    MAX_NUMBER,
    MAX_TEXT,
    Count,
    Moment,
    Number,
    Objects,
    Seconds,
    Text,
    Texts,
    Whole,
    as_number,
)


class Record(BaseModel):
    # Built at the first use: a command that reads no results starts without.
    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        allow_inf_nan=False,
        str_max_length=MAX_TEXT,
        defer_build=True,
    )


# They cannot refer to themselves, so the garbage collector need not look at them.
class Part(Struct, frozen=True, gc=False):
    """A part of a line that msgspec reads."""


class Metric(Part, frozen=True):
    value: Number | None
    unit: Text
    better: Literal["higher", "lower"]
    reason: Text = ""

    @property
    def fault(self) -> str:
        """Why a result cannot hold it: quotients with it would not be finite."""
        near = self.value and abs(self.value) * MAX_NUMBER < 1
        return f"{self.value:g} is nearer to 0 than any number of a result" if near else ""


class Spread(Part, frozen=True):
    min: Seconds
    mean: Seconds
    max: Seconds


class Span(Part, frozen=True):
    begin: Seconds = field(name="begin_seconds")
    end: Seconds = field(name="end_seconds")


class CallTimes(Part, frozen=True):
    """Seconds; buckets as [begin in ns, count]."""

    count: Count
    min: Seconds
    mean: Seconds
    max: Seconds
    p50: Seconds
    p90: Seconds
    p99: Seconds
    p999: Seconds = field(name="p99.9")
    p9999: Seconds = field(name="p99.99")
    buckets: Annotated[list[tuple[Count, Count]], Meta(max_length=100_000)] = field(
        name="buckets_begin_ns_count"
    )


class NetworkBytes(Part, frozen=True):
    received_bytes: Count
    sent_bytes: Count


class Network(Part, frozen=True):
    """What crossed the network of the nodes during a measurement, with headers."""

    interfaces: NetworkBytes | None = None  # of the nodes, all users
    client: NetworkBytes | None = None  # of the file system's clients
    copies: Number = 1.0  # how often a byte that is written leaves the node


class Cache(Part, frozen=True):
    verdict: Text = "unknown"
    reason: Text = ""
    methods: Annotated[list[Text], Meta(max_length=20)] = []
    resident_before_fraction: Number | None = None
    resident_after_fraction: Number | None = None
    process_read_bytes: Whole | None = None
    process_written_bytes: Whole | None = None
    device_read_bytes: Whole | None = None
    device_written_bytes: Whole | None = None
    client: Text | None = None
    client_read_bytes: Whole | None = None
    client_written_bytes: Whole | None = None
    # Of the bytes: the share that came from storage, or had reached it when the clock stopped.
    storage_fraction: Number | None = None
    # Share of the bytes, read from files that the run did not write, that were never written.
    hole_fraction: Number | None = None
    unwritten_bytes: Whole | None = None
    others_bytes: Whole | None = None
    # On file systems of servers.
    network: Network | None = None


class Failure(Part, frozen=True):
    status: Text = "io_error"
    operation: Text = ""
    cause: Text = ""
    path: Text | None = None
    offset_bytes: Whole | None = None
    rank: Whole | None = None
    host: Text | None = None

    def text(self) -> str:
        parts = [self.operation or "failed"]
        if self.path:
            parts.append(f"on {self.path}")
        if self.offset_bytes is not None:
            parts.append(f"at byte {self.offset_bytes}")
        where = f" (rank {self.rank} on {self.host or 'unknown host'})" if self.rank else ""
        return f"{' '.join(parts)}: {self.cause}{where}"


class FileSet(Record):
    """Files of a run: one, or as many as the count, whose names hold an index in place of each
    conversion (%d, %03d): first, first + step, ..."""

    name: str = Field(min_length=1, max_length=4096)
    count: Count = 1
    first: Count = 0
    step: Annotated[int, Field(ge=1, le=2**53)] = 1
    directory: str = Field(default="", max_length=4096)
    keep: bool = False


class NameSet(Record):
    """Entries that a run makes anywhere in a tree: %d replaces numbers below the counts."""

    kind: Literal["file", "directory", "link"]
    name: str = Field(min_length=1, max_length=255)
    counts: list[Count] = Field(max_length=16)


class TreeSet(Record):
    """Directories that a run makes, and what it makes in them: %d replaces indexes."""

    directory: str = Field(min_length=1, max_length=4096)
    name: str = Field(min_length=1, max_length=255)
    counts: list[Count] = Field(max_length=16)
    names: list[NameSet] = Field(default_factory=list, max_length=1000)


class Place(Record):
    """A data directory."""

    directory: str = Field(max_length=4096)
    inode: Annotated[int, Field(ge=0, lt=2**64)]


class Manifest(Record):
    """What a run says that it creates. It is a claim, which store/proof.py checks."""

    directory: str
    host: str = ""
    keep: bool = False
    real: bool = True
    files: list[FileSet] = Field(max_length=100_000)
    trees: list[TreeSet] = Field(default_factory=list, max_length=10_000)
    # In the name of the run's mark in each data directory (.effio-run-…), and what the file
    # .effio-owner in each tree of the run holds.
    token: str = Field(default="", pattern="^([0-9a-f]{32})?$")
    places: list[Place] = Field(default_factory=list, max_length=100_000)


class EngineRecord(Record):
    program: str = "effio-mpi"
    version: str = ""
    revision: str = ""
    compiler: str = ""
    flags: str = ""
    build_type: str = ""
    mpi_built_with: str = ""


class MpiRecord(Record):
    library: str = ""
    name: str = ""  # "Open MPI"; empty in results before 1.2
    version: str = ""
    standard: str = ""
    environment: Texts = Field(default_factory=dict)


class System(Record):
    ranks: Count = 1
    nodes: Count = 1
    ranks_per_node: dict[str, Count] = Field(default_factory=dict)  # min, max
    node_names: list[str] = Field(default_factory=list, max_length=10_000)
    node_names_complete: bool = True
    cpu: Objects = Field(default_factory=dict)
    memory: Objects = Field(default_factory=dict)
    kernel: Objects = Field(default_factory=dict)
    mpi: MpiRecord = Field(default_factory=MpiRecord)
    batch: Texts = Field(default_factory=dict)
    user_is_root: bool = False

    @property
    def least_ranks_per_node(self) -> int | None:
        return self.ranks_per_node.get("min") or None


class FileSystem(Record):
    path: str = ""
    type: str | None = None
    source: str = ""
    mount_point: str = ""
    options: str = ""
    memory_backed: bool = False
    total_bytes: int | None = None
    free_bytes: int | None = None
    striping: dict[str, Any] | None = None
    # A node reads what another one wrote and closed before; None: not tried, as on one node.
    close_to_open: bool | None = None

    @property
    def title(self) -> str:
        """ "ext4 on /dev/sda1"; "ext4" where its source is not known."""
        kind = self.type or "unknown file system"
        return f"{kind} on {self.source}" if self.source else kind


class Backend(Record):
    name: str
    settings: Objects = Field(default_factory=dict)


class NodeClock(Record):
    """A node's clock, seen from the root's."""

    name: str = ""
    ahead_seconds: Number = 0.0
    within_seconds: Seconds = 0.0


class ClockSkew(Record):
    """How far apart the clocks of nodes are; from `after_seconds` on, at the end of a run."""

    nodes_compared: Count = 0
    apart_seconds: Seconds = 0.0
    within_seconds: Seconds = 0.0
    nodes: list[NodeClock] = Field(default_factory=list, max_length=10_000)
    after_seconds: Seconds = 0.0
    changed_seconds: Number = 0.0
    changed_within_seconds: Seconds = 0.0


class Clock(Record):
    virtual: bool = False
    source: str = ""
    kernel_sources: list[str] = Field(default_factory=list, max_length=1000)
    resolution_seconds: Number = 0.0
    call_timing_seconds: Number = 0.0
    skew: ClockSkew | None = None


# In the command line of a group of interference.
_OF_NULL = re.compile(r"--(backend|libraries)[ =]null( |$)")


class Run(BaseModel):
    """The first line. `extra` holds what the benchmark adds under its own name."""

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
        allow_inf_nan=False,
        str_max_length=MAX_TEXT,
        defer_build=True,
    )
    benchmark: str = Field(pattern=r"^[a-z0-9-]{1,64}$")
    started: Moment = ""
    engine: EngineRecord
    command: Words = Field(default_factory=list, max_length=10_000)
    classic_command: Words | None = None
    options: Objects = Field(default_factory=dict)
    clock: Clock = Field(default_factory=Clock)
    system: System
    watchdog_seconds: Number = 60.0
    setup_seconds: Number | None = None
    backend: Backend | None = None
    file_system: FileSystem | None = None
    manifest: Manifest | None = None

    @property
    def simulated(self) -> bool:
        """No storage was touched: the times are a model's, or the backend keeps nothing, of the run
        or of a group of interference."""
        name = self.backend.name if self.backend else self.options.get("backend")
        null = name == "null" or self.options.get("libraries") == ["null"]
        return self.clock.virtual or null or any(map(_OF_NULL.search, self._groups))

    @property
    def _groups(self) -> list[str]:
        """The command lines of the groups of interference."""
        own = self.extra.get("interference")
        groups = own.get("groups") if isinstance(own, dict) else None
        some = [g for g in groups if isinstance(g, dict)] if isinstance(groups, list) else []
        return [" ".join(map(str, c)) for g in some if isinstance(c := g.get("command"), list)]

    @property
    def in_memory(self) -> bool:
        """The directory of the data is in a node's memory (tmpfs)."""
        return self.file_system is not None and self.file_system.memory_backed

    @property
    def extra(self) -> dict[str, Any]:
        return self.model_extra or {}


class Measurement(Part, frozen=True, tag_field="kind", tag="measurement"):
    benchmark: Text
    access: Text
    ranks: Count
    nodes: Count
    bytes: Count
    operations: Count
    seconds: dict[str, Spread]
    rate: Metric
    valid: bool
    pattern: Text = ""
    where: dict[str, Any] = {}
    repetition: Count = 1  # from 1
    invalid_reason: Text = ""
    stopped_by: Text = ""
    call_times: CallTimes | None = None
    response_times: CallTimes | None = None  # since the time at which a call was due
    hints_asked: dict[str, Text] = {}
    hints_granted: dict[str, Text] = {}
    hints_echoed: bool | None = None
    verified_bytes: Count = 0
    error_count: Count = 0
    errors: Annotated[list[Failure], Meta(max_length=10_000)] = []
    cache: Cache | None = None
    span: Span | None = None  # when it was, since the benchmark began to measure
    detail: dict[str, Any] = {}

    @property
    def total_seconds(self) -> float:
        """Wall time: the slowest rank's."""
        total = self.seconds.get("total")
        return total.max if total else 0.0

    @property
    def fault(self) -> str:
        return self.rate.fault

    @property
    def did_nothing(self) -> bool:
        """Whether its rate of 0 is that of no operation. 0 of some operations is a rate."""
        return not self.operations and not self.bytes and self.rate.value == 0

    @property
    def has_errors(self) -> bool:
        """A signal ends a measurement without a failed call; older engines counted an error
        there."""
        return self.error_count > 0 and (bool(self.errors) or self.stopped_by != "interrupted")

    @property
    def first_error(self) -> str:
        return self.errors[0].text() if self.errors else fmt.count_of(self.error_count, "error")

    def place(self, name: str) -> Any:
        """A benchmark's own coordinate, or None."""
        return self.where.get(name)

    def number(self, name: str, default: float = 0.0) -> float:
        """A coordinate as a number, whatever the file says."""
        value = as_number(self.where.get(name))
        return default if value is None else value


NOTHING_DONE = "no operation was done"

# Of values that are equal, means and the ends of their interval differ by this part.
_ROUNDING = 1e-14


class Samples(Part, frozen=True):
    """What a mean is based on, in the unit of its figure."""

    count: Count
    min: Number | None = None
    max: Number | None = None
    deviation: Number | None = None
    low95: Number | None = None
    high95: Number | None = None

    @property
    def half95(self) -> float | None:
        """Half the width of the 95 % confidence interval; 0 if only rounding makes its ends
        differ."""
        if self.low95 is None or self.high95 is None:
            return None
        rounding = _ROUNDING * max(abs(self.low95), abs(self.high95))
        half = (self.high95 - self.low95) / 2
        return half if abs(half) > rounding else 0.0


class Figure(Part, frozen=True, tag_field="kind", tag="figure"):
    benchmark: Text
    name: Text
    metric: Metric
    where: dict[str, Any] = {}
    valid: bool | None = None
    reasons: Annotated[list[Text], Meta(max_length=1000)] = []
    samples: Samples | None = None
    detail: dict[str, Any] = {}

    @property
    def fault(self) -> str:
        return self.metric.fault

    def may_count(self, m: Measurement, by_place: bool = True) -> bool:
        """Whether nothing says that a measurement is of another access or, `by_place`, place."""
        accesses = [self.where["access"]] if "access" in self.where else []
        accesses += [word for word in ("read", "write") if word in self.name.lower().split("_")]
        if accesses and m.access not in accesses:
            return False
        return not by_place or all(
            m.where[name] == value for name, value in self.where.items() if name in m.where
        )


class StuckCall(Part, frozen=True):
    """The ranks of a run that hung in the same call."""

    call: Text
    ranks: Annotated[list[Count], Meta(max_length=10_000)]
    step: Text = ""
    waits: bool = False  # for other ranks only
    hosts: Annotated[list[Text], Meta(max_length=10_000)] = []
    silent_seconds: Number = 0.0


class End(Part, frozen=True, tag_field="kind", tag="end"):
    status: Text
    exit_code: Count
    reason: Text = ""
    errors: Annotated[list[Failure], Meta(max_length=10_000)] = []
    detail: dict[str, Any] = {}
