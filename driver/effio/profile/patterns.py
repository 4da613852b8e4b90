# SPDX-License-Identifier: BSD-3-Clause
"""From what Darshan counted to a profile: files that are used alike are one activity.

What an application requested is in the highest layer (MPI-IO, else POSIX or STDIO); order and
alignment are counted by POSIX alone. Counters are sums over the processes of a record.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from pydantic import ValidationError

from effio import text as fmt
from effio.errors import EffioError
from effio.profile.darshan import ALL_RANKS, Log, Record, Traced
from effio.profile.model import Activity, Files, Layout, Library, Names, Phase, Profile

Access = Literal["write", "read"]
ACCESSES: tuple[Access, Access] = ("write", "read")
# Intervals of a run that are closer than this part of it are one phase.
GAP = 0.01
# Files of one process below this are small, larger ones if they are moved in few calls: however
# their sizes differ, they are one activity.
SMALL_FILE = 64 << 10
LARGER_FILE = 1 << 20
FEW_CALLS = 4
# Activities beyond are the less important ones.
MOST_ACTIVITIES = 20
_STREAMS = ("<STDIN>", "<STDOUT>", "<STDERR>")
# Upper bounds of Darshan's histogram, included; the last has none.
_BUCKETS = (
    ("0_100", 100), ("100_1K", 1 << 10), ("1K_10K", 10 << 10), ("10K_100K", 100 << 10),
    ("100K_1M", 1 << 20), ("1M_4M", 4 << 20), ("4M_10M", 10 << 20), ("10M_100M", 100 << 20),
    ("100M_1G", 1 << 30), ("1G_PLUS", 1 << 62),
)  # fmt: skip


@dataclass
class _Use:
    """How a file is written, or read. `calls` are those of the typical size, `transfer`; `pieces`
    are rows of them, each directly behind the one before."""

    access: Access
    file: int
    library: Library
    ranks: frozenset[int]
    rank_count: int
    bytes: int
    all_calls: int
    calls: int
    transfer: int
    pieces: int
    sequential: float | None
    collective: float | None
    not_aligned: int
    aligned_of: int
    flushes: int
    seconds: float  # sum over processes
    times: list[tuple[float, float, int]]  # begin, end, bytes
    variables: int = 1

    @property
    def is_shared(self) -> bool:
        return self.rank_count > 1


@dataclass
class _Counted:
    """Sums over the records of a file in one module."""

    counters: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    begins: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    records: list[Record] = field(default_factory=list)

    def add(self, record: Record) -> None:
        self.records.append(record)
        for name, value in record.counters.items():
            if name.endswith("_TIMESTAMP"):
                self.begins[name].append(value)
            elif not name.startswith("ACCESS") and name != "FILE_ALIGNMENT":
                # Seconds; all others are whole numbers, in the sum as in each record.
                self.counters[name] += value if name.startswith("F_") else record.count(name)

    def count(self, name: str) -> int:
        return int(self.counters[name])


def _by_file(records: Iterable[Record]) -> dict[int, _Counted]:
    found: dict[int, _Counted] = defaultdict(_Counted)
    for record in records:
        found[record.file].add(record)
    return found


def _bucket(size: int) -> str:
    return next(name for name, most in _BUCKETS if size <= most)


def _typical(counted: _Counted, access: Access, total: int, calls: int) -> tuple[int, int]:
    """Size and number of the calls that move most. The sizes that Darshan keeps are of writes and
    reads together: the histogram shows which of them it can be."""
    histogram = {
        name: counted.count(f"SIZE_{access.upper()}_{name}")
        or counted.count(f"SIZE_{access.upper()}_AGG_{name}")
        for name, _ in _BUCKETS
    }
    sizes: Counter[int] = Counter()
    for record in counted.records:
        for i in "1234":
            sizes[record.count(f"ACCESS{i}_ACCESS")] += record.count(f"ACCESS{i}_COUNT")
    known = [
        (size, min(count, histogram[_bucket(size)])) for size, count in sizes.items() if size > 0
    ]
    if known:
        size, count = max(known, key=lambda one: one[0] * one[1])
        if 0 < size * count <= total:
            return size, count
    return max(1, total // max(1, calls)), calls


def _calls_of(counted: _Counted, access: Access) -> tuple[int, int | None]:
    """Calls, and how many of them are collective."""
    kind = f"{access.upper()}S"
    together = counted.count(f"COLL_{kind}")
    alone = counted.count(f"INDEP_{kind}") + counted.count(f"NB_{kind}")
    split = counted.count(f"SPLIT_{kind}")
    if together + alone + split:
        calls = together + alone + split
        return calls, together + split
    return counted.count(kind), None


def _traced_pieces(traced: Sequence[Traced], access: Access, transfer: int) -> int | None:
    """The exact number, from a trace; None where there is none of these calls."""
    pieces = 0
    for one in traced:
        behind = -1
        for call in sorted(one.calls, key=lambda c: c.begin):
            if call.access == access and 2 * call.length >= transfer:
                pieces += call.offset != behind
                behind = call.offset + call.length
    return pieces or None


def _interval(counted: _Counted, access: Access, total: int) -> Iterator[tuple[float, float, int]]:
    begins = counted.begins[f"F_{access.upper()}_START_TIMESTAMP"]
    ends = counted.begins[f"F_{access.upper()}_END_TIMESTAMP"]
    if begins and ends:
        yield min(begins), max(ends), total


class _Reader:
    """All that is needed of a log to say how each file is used."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.posix = _by_file(log.of("POSIX"))
        self.mpiio = _by_file(log.of("MPI-IO"))
        streams = {i for i, name in log.names.items() if name in _STREAMS}
        self.stdio = _by_file(r for r in log.of("STDIO") if r.file not in streams)
        self.traced: dict[int, list[Traced]] = defaultdict(list)
        for one in log.traces:
            self.traced[one.file].append(one)
        self.hdf5 = {r.file for r in log.of("H5F")}
        self.pnetcdf = {r.file for r in log.of("PNETCDF_FILE")}
        self.arrays: dict[str, set[int]] = defaultdict(set)
        for r in (*log.of("H5D"), *log.of("PNETCDF_VAR")):
            # The name of an array is that of its file and its own.
            self.arrays[log.names.get(r.file, "").partition(":")[0]].add(r.file)

    def uses(self) -> Iterator[_Use]:
        for layer in (self.mpiio, self.posix, self.stdio):
            for file, counted in layer.items():
                if layer is self.posix and file in self.mpiio:
                    continue
                for access in ACCESSES:
                    total = counted.count("BYTES_WRITTEN" if access == "write" else "BYTES_READ")
                    if total:
                        yield self._use(file, counted, access, total)

    def _library(self, file: int) -> Library:
        if file in self.hdf5:
            return "hdf5"
        if file in self.pnetcdf:
            return "pnetcdf"
        if file in self.mpiio:
            return "mpi-io"
        return "posix" if file in self.posix and self.posix[file].count("OPENS") else "stdio"

    def _ranks(self, counted: _Counted, access: Access) -> tuple[frozenset[int], int]:
        name = "BYTES_WRITTEN" if access == "write" else "BYTES_READ"
        ranks = frozenset(r.rank for r in counted.records if r.count(name))
        return (ranks, self.log.ranks) if ALL_RANKS in ranks else (ranks, len(ranks))

    def _use(self, file: int, counted: _Counted, access: Access, total: int) -> _Use:
        calls, collective = _calls_of(counted, access)
        transfer, typical = _typical(counted, access, total, calls)
        ranks, rank_count = self._ranks(counted, access)
        below = self.posix.get(file, _Counted())
        kind = f"{access.upper()}S"
        consecutive = min(below.count(f"CONSEC_{kind}"), typical)
        pieces = _traced_pieces(self.traced[file], access, transfer)
        if pieces is None:
            pieces = max(rank_count, typical - consecutive)
        if counted is self.stdio.get(file):
            pieces = rank_count  # it counts no order; streams go forward
        below_calls = below.count(kind)
        times = list(_interval(counted, access, total))
        if self.traced[file] and not self.log.cut:
            calls_of = [c for one in self.traced[file] for c in one.calls if c.access == access]
            times = [(c.begin, c.end, c.length) for c in calls_of] or times
        return _Use(
            access=access,
            file=file,
            library=self._library(file),
            ranks=ranks,
            rank_count=rank_count,
            bytes=total,
            all_calls=calls,
            calls=typical,
            transfer=transfer,
            pieces=pieces,
            sequential=below.count(f"SEQ_{kind}") / below_calls if below_calls else None,
            # Libraries write their heads alone: it is the calls that move the data that count.
            collective=None if collective is None else min(1.0, collective / typical),
            not_aligned=below.count("FILE_NOT_ALIGNED"),
            aligned_of=below.count("READS") + below.count("WRITES"),
            flushes=below.count("FSYNCS") + below.count("FDSYNCS") + counted.count("SYNCS"),
            seconds=counted.counters[f"F_{access.upper()}_TIME"],
            times=times,
            variables=max(1, len(self.arrays.get(self.log.names.get(file, "-"), ()))),
        )

    def names(self) -> Names:
        written = {
            file
            for layer in (self.posix, self.stdio)
            for file, counted in layer.items()
            if counted.count("BYTES_WRITTEN")
        }
        layers = [*self.posix.values(), *self.stdio.values()]
        return Names(
            creates=len(written),
            opens=sum(c.count("OPENS") for c in layers),
            stats=sum(c.count("STATS") for c in layers),
            seconds=sum(c.counters["F_META_TIME"] for c in layers) / self.log.ranks,
        )


def _is_small(use: _Use) -> bool:
    most = LARGER_FILE if use.all_calls <= FEW_CALLS else SMALL_FILE
    return not use.is_shared and use.bytes < most


def _grouped(uses: Iterable[_Use]) -> list[list[_Use]]:
    """Files that are used alike, those that move most first. The size of the calls of a small file
    is mostly that of the file."""
    found: dict[tuple[object, ...], list[_Use]] = defaultdict(list)
    for use in uses:
        together = use.collective is not None and use.collective >= 0.5
        key = (
            use.access, use.library, use.is_shared, use.rank_count if use.is_shared else 1,
            together, "small" if _is_small(use) else use.transfer.bit_length(),
        )  # fmt: skip
        found[key].append(use)
    return sorted(found.values(), key=lambda some: -sum(use.bytes for use in some))


def _mean(some: Sequence[_Use], value: str, weight: str) -> float | None:
    pairs = [(getattr(u, value), getattr(u, weight)) for u in some]
    known = [(v, w) for v, w in pairs if v is not None and w > 0]
    total = sum(w for _, w in known)
    return round(sum(v * w for v, w in known) / total, 4) if total else None


def _layout(some: Sequence[_Use], per_rank_calls: float) -> Layout:
    sequential = _mean(some, "sequential", "all_calls")
    collective = _mean(some, "collective", "calls") or 0
    if sequential is not None and sequential < 0.5 and per_rank_calls >= 8 and collective < 0.5:
        return "random"
    pieces = sum(use.pieces for use in some)
    at_least = sum(use.rank_count for use in some)
    return "strided" if pieces > at_least and some[0].is_shared else "consecutive"


def _activity(some: Sequence[_Use], log: Log, taken: Mapping[str, object]) -> Activity:
    first = max(some, key=lambda use: use.bytes)
    writers = frozenset[int]().union(*(use.ranks for use in some))
    ranks = first.rank_count if first.is_shared else len(writers)
    files: Files = "shared" if first.is_shared else "per-process"
    if ranks == 1:
        files = "one-process"
    # Files of a process are used one after the other, as shared ones are.
    times = max(1, round(len(some) / (ranks if files == "per-process" else 1)))
    total = sum(use.bytes for use in some)
    calls = sum(use.calls for use in some)
    moved = sum(use.calls * use.transfer for use in some)
    transfer = Counter({u.transfer: 0 for u in some})
    for use in some:
        transfer[use.transfer] += use.calls
    typical = max(transfer, key=lambda size: size * transfer[size])
    layout = _layout(some, calls / ranks / times)
    pieces = sum(use.pieces for use in some)
    piece = max(1, moved // pieces) if layout == "strided" and pieces else None
    name = f"{first.access}-{files}-{first.library}"
    number = sum(one == name or one.startswith(f"{name}-") for one in taken)
    of = sum(use.aligned_of for use in some)
    each = max(1, total // times)
    every = max(1, round(sum(use.all_calls for use in some) / times))
    alike = sum(use.calls for use in some if use.transfer == typical)
    sizes = sorted(use.bytes for use in some)
    # Small files have calls of all sizes: their mean represents them, with the sizes of the files.
    small = _is_small(first) and len({use.transfer for use in some}) > 1
    return Activity(
        name=f"{name}-{number + 1}" if number else name,
        access=first.access,
        library=first.library,
        files=files,
        bytes=each,
        times=times,
        ranks=ranks if 1 < ranks < log.ranks else None,
        transfer=max(1, each // every) if small else min(typical, each),
        layout=layout,
        piece=min(piece, each) if piece else None,
        collective=_mean(some, "collective", "calls"),
        variables=first.variables,
        flush=any(use.flushes for use in some) if first.access == "write" else None,
        aligned=round(1 - sum(use.not_aligned for use in some) / of, 4) if of else None,
        seconds=sum(use.seconds for use in some) / log.ranks,
        transfer_share=None if small else round(min(1.0, alike * typical / total), 4),
        calls=every,
        typical_calls=None if small else min(every, round(alike / times)),
        file_count=len(some),
        file_sizes=(
            (sizes[0], sizes[len(sizes) // 2], sizes[-1])
            if len(sizes) > 1 and not first.is_shared
            else None
        ),
        example=fmt.plain(PurePosixPath(log.names.get(first.file, "")).name, 200),
    )


def phases_of(
    times: Mapping[Access, Sequence[tuple[float, float, int]]], seconds: float
) -> list[Phase]:
    """Intervals that follow each other closely are one."""
    found: list[Phase] = []
    for access, intervals in times.items():
        begin, end, moved = None, 0.0, 0
        for first, last, count in sorted(intervals):
            if begin is not None and first > end + GAP * seconds:
                found.append(Phase(access=access, begin=begin, end=end, bytes=moved))
                begin, moved = None, 0
            begin = first if begin is None else begin
            end = max(end, last)
            moved += count
        if begin is not None:
            found.append(Phase(access=access, begin=begin, end=end, bytes=moved))
    return sorted(found, key=lambda phase: (phase.begin, phase.access))


def _unknown(log: Log, reader: _Reader, left_out: int) -> Iterator[str]:
    for module in log.incomplete:
        yield f"Darshan had no room for all records of {module}: what is missing is not in here"
    for module in log.cut:
        yield f"{module}: the log holds more than is read; the rest is left out"
    if left_out:
        what = fmt.count_of(left_out, "kind", "kinds")
        yield f"{what} of I/O that moved less than the {MOST_ACTIVITIES} listed"
    if reader.stdio:
        yield "sizes of the calls through STDIO: their mean is taken"
    if any(c.count("MMAPS") for c in reader.posix.values()):
        yield "what was read and written through memory mappings (mmap)"
    if not log.traces and any(c.count("COLL_WRITES") + c.count("COLL_READS")
                              for c in reader.mpiio.values()):  # fmt: skip
        yield "the positions of collective transfers in the files: the log has no trace (DXT)"
    yield "files that were removed"


def profile_of(log: Log) -> Profile:
    """Raises where the log has nothing of files, or numbers that no run has."""
    try:
        return _profile_of(log)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        what = f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
        raise EffioError(f"not a complete Darshan log: {fmt.plain(what, 300)}") from None


def _profile_of(log: Log) -> Profile:
    reader = _Reader(log)
    uses = list(reader.uses())
    groups = _grouped(uses)
    activities: dict[str, Activity] = {}
    for some in groups[:MOST_ACTIVITIES]:
        one = _activity(some, log, activities)
        activities[one.name] = one
    names = reader.names()
    if not activities and not names.count:
        raise EffioError(
            f"the log contains no file (its modules: {', '.join(log.modules) or 'none'})"
        )
    seconds = max(log.seconds, 1e-3)
    spent = sum(use.seconds for use in uses) / log.ranks + (names.seconds or 0)
    times: dict[Access, list[tuple[float, float, int]]] = {a: [] for a in ACCESSES}
    for use in uses:
        times[use.access] += use.times
    return Profile(
        application=log.program,
        ranks=log.ranks,
        seconds=seconds,
        io_share=round(min(1.0, spent / seconds), 4),
        source="darshan",
        activity=tuple(activities.values()),
        names=names,
        phase=tuple(phases_of(times, seconds)[:1000]),
        unknown=tuple(_unknown(log, reader, max(0, len(groups) - MOST_ACTIVITIES))),
    )
