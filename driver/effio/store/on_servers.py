# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts on file systems of servers whose clients have no counters: from what the node's network
moved during a measurement, and what was done about the cache of the node.

The counters include other users of the node. They are an upper bound, so little traffic proves
that the bytes stayed in this node. Much traffic alone proves nothing of reads: it also takes a page
cache that had none of the files, or was bypassed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from effio import text as fmt
from effio.store.evidence import NEARLY, NETWORK, Place, is_absent, is_reading
from effio.store.reader import Result
from effio.store.records import Cache, FileSystem, Measurement
from effio.store.run_record import CellTraffic

# The clients of these move data over interfaces that the kernel counts. Others can bypass it.
_COUNTED = (
    "fuse.glusterfs",
    "fuse.mfs",
    "fuse.ceph",
    "fuse.ceph-fuse",
    "fuse.sshfs",
    "cifs",
    "smb3",
)
# Each leaves nothing of the files in the page cache of the node that reads.
_WITHOUT_CACHE = {"dropped", "direct"}
# Of the bytes: what has to have moved for sure within the measurement, not just before or after.
_WITHIN = 0.5
# On a busy node the driver may look too seldom: then traffic before or after counts as well.
_FAR_SECONDS = 0.12
# An interface counts frames: 1514 bytes for 1448 of data, where it does not join them.
_FRAMES = 1514 / 1448


def _is_counted(files: FileSystem | None) -> bool:
    if files is None:
        return False
    return files.type in _COUNTED or files.source.startswith("mfs#")


def copies_of(mount_point: Path) -> float:
    """How often a byte that is written leaves the node. Only GlusterFS' clients send it more than
    once, or in coded parts; its mount says so to every user who asks."""
    copies = 1.0
    for kind in mount_point.glob(".meta/graphs/active/*/type"):
        with contextlib.suppress(OSError, ValueError, ZeroDivisionError):
            name = kind.read_text().strip()
            servers = len([*(kind.parent / "subvolumes").iterdir()])
            if name == "cluster/replicate":
                copies = max(copies, servers)
            elif name == "cluster/disperse":
                lost = int((kind.parent / "options/redundancy").read_text())
                copies = max(copies, servers / (servers - lost))
    return copies


@dataclass(frozen=True)
class _Part:
    """What a measurement moved in one direction, and what the network moved: at least, at most.
    `copies`: how often each byte crosses it."""

    reading: bool
    bytes: float
    least: int
    most: int
    copies: float

    @property
    def enough(self) -> float:
        return (1 - NEARLY) * self.bytes * self.copies * _FRAMES


def _parts(m: Measurement, cell: CellTraffic) -> list[_Part]:
    least, most = cell.least, cell.most
    reads = (True, least.received_bytes, most.received_bytes, 1.0)
    # Little traffic is judged without copies: it is an upper bound.
    writes = (False, least.sent_bytes, most.sent_bytes, cell.copies)
    # What reads and writes the same bytes counts both.
    both = "modify" in m.access or m.access == "mixed"
    of = (reads, writes) if both else (reads,) if is_reading(m.access) else (writes,)
    return [_Part(r, m.bytes / len(of), low, high, copies) for r, low, high, copies in of]


def _is_alone(m: Measurement, cell: CellTraffic, all_of_them: Sequence[Measurement]) -> bool:
    """Whether no other measurement moved bytes in the same direction while `most` was counted."""
    directions = {part.reading for part in _parts(m, cell)}
    return not any(
        other is not m
        and other.bytes > 0
        and directions & {part.reading for part in _parts(other, cell)}
        and other.span is not None
        and other.span.end > cell.begin_seconds
        and other.span.begin < cell.end_seconds
        for other in all_of_them
    )


def _is_near(m: Measurement, cell: CellTraffic) -> bool:
    """Whether `most` was counted between looks just before and just after the measurement."""
    if m.span is None:
        return False
    far = max(m.span.begin - cell.begin_seconds, cell.end_seconds - m.span.end)
    return far <= _FAR_SECONDS


def _came_to_servers(m: Measurement, cell: CellTraffic, result: Result) -> bool:
    near = _is_near(m, cell) and _is_alone(m, cell, result.measurements)
    cold = bool(_WITHOUT_CACHE & {*m.cache.ways}) or is_absent(m) if m.cache else False
    for part in _parts(m, cell):
        if part.reading and not cold:
            return False
        # The kernel had nothing to answer these reads with, so just their traffic is in question.
        within = 0.0 if part.reading else _WITHIN
        few = part.least < within * part.bytes * part.copies
        if part.least < part.enough and (part.most < part.enough or few or not near):
            return False
    return True


def _cache(m: Measurement, cell: CellTraffic, result: Result) -> Cache | None:
    """The evidence with a verdict; None where the network allows none."""
    assert m.cache is not None
    parts = _parts(m, cell)
    crossed = " and ".join(
        f"{fmt.quantity(part.most, 'B')} crossed this node's network while"
        f" {fmt.quantity(part.bytes, 'B')} were {'read' if part.reading else 'written'}"
        for part in parts
    )
    share = sum(min(part.most, part.bytes) for part in parts) / m.bytes
    if share < 1 - NEARLY:
        # Of these nothing can have bypassed the counters.
        if not _is_counted(result.run.file_system):
            return None
        place = Place.CACHE if share <= NEARLY else Place.MIXED
        return _judged(m.cache, place, f"only {crossed}", share)
    if not _came_to_servers(m, cell, result):
        return None
    return _judged(m.cache, Place.SERVERS, crossed, None)


def _judged(cache: Cache, place: Place, reason: str, share: float | None) -> Cache:
    return cache.model_copy(
        update={
            "verdict": place.value,
            "storage_fraction": share,
            "reason": reason,
            "client": NETWORK,
        }
    )


def judged_by_network(result: Result) -> list[Measurement]:
    """The measurements; those without a verdict have one where the network of the node permits."""
    cells = (
        {cell.measurement: cell for cell in result.record.network_of_cells} if result.record else {}
    )
    judged = []
    for number, m in enumerate(result.measurements):
        cell = cells.get(number)
        if cell is not None and m.bytes > 0 and m.cache and Place.of(m) is Place.UNKNOWN:
            cache = _cache(m, cell, result)
            judged.append(m if cache is None else m.model_copy(update={"cache": cache}))
        else:
            judged.append(m)
    return judged
