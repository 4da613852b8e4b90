# SPDX-License-Identifier: BSD-3-Clause
"""Whether one of the servers of a file system is slow: by the rates of ranks that each have a file,
and the servers that have these files (launch/placer.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from effio import text as fmt
from effio.report.model import Finding
from effio.store.clean import names_of
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Measurement

# Files of a slow server are that much slower than any other.
_SLOW = 1.5
_LEAST_REPETITIONS = 2


@dataclass(frozen=True)
class _Slow:
    server: str
    access: str
    files: int
    of: int
    share: float  # their mean rate, of that of the others


def _rates(measurements: Sequence[Measurement], names: Sequence[str]) -> Mapping[str, float]:
    """The rate of each file, the mean over the repetitions: rank n has the file n."""
    rates: dict[str, list[float]] = {}
    for m in measurements:
        ranks = members_of(m).rank_details
        if len(ranks) != len(names):
            return {}
        for name, rank in zip(names, ranks, strict=True):
            if (rank.bytes or 0) <= 0 or (rank.total_seconds or 0) <= 0:
                return {}
            rates.setdefault(name, []).append(rank.bytes / rank.total_seconds)
    return {name: mean(values) for name, values in rates.items()}


def _slow(
    access: str, rates: Mapping[str, float], servers: Mapping[str, list[str]]
) -> _Slow | None:
    """The server whose files are all slower than all others, and by much."""
    for server in sorted({one for those in servers.values() for one in those}):
        on = [rate for name, rate in rates.items() if server in servers.get(name, [])]
        off = [rate for name, rate in rates.items() if server not in servers.get(name, [])]
        if on and off and _SLOW * max(on) < min(off):
            return _Slow(server, access, len(on), len(rates), mean(on) / mean(off))
    return None


def _stay(result: Result) -> bool:
    """Whether files are on the same servers in all repetitions. GlusterFS places them by their
    names, others anew each time that a file is created."""
    phases = result.run.options.get("phases")
    only_read = isinstance(phases, list) and "write" not in phases
    files = result.run.file_system
    return only_read or (files is not None and files.type == "fuse.glusterfs")


def slow_server_finding(result: Result) -> Finding | None:
    record, options = result.record, result.run.options
    if record is None or not record.servers_of_files or result.run.manifest is None:
        return None
    if options.get("files") != "per-process" or options.get("threads") not in (None, 1):
        return None
    if not _stay(result):
        return None
    names = [name for _, name in names_of(result.run.manifest.files)]
    found = []
    for access in ("write", "read"):
        # Elsewhere ranks read the files of others.
        if access == "read" and options.get("read-from") != "same":
            continue
        some = [m for m in result.measurements if m.access == access and m.valid]
        if len(some) < _LEAST_REPETITIONS:
            continue
        if slow := _slow(access, _rates(some, names), record.servers_of_files):
            found.append(slow)
    if not found:
        return None
    text = "; ".join(
        f"{access_of(one)} {one.files} of {one.of} files ran at {fmt.percent(one.share)} of the"
        f" rate of the others: they are on {fmt.plain(one.server, 200)}"
        for one in found
    )
    return Finding(f"One of the servers is slow: {text}.", "results", "warn")


def access_of(one: _Slow) -> str:
    return "reads of" if one.access == "read" else "writes of"
