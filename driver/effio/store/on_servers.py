# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts on file systems of servers whose clients do not count data: from what the engine saw
cross the network during a measurement, and what was done about the cache of the node.

The interfaces of a node also have other users. Their counters are an upper bound, so little traffic
proves that the bytes stayed in this node. Much traffic alone proves nothing of reads: it also takes
a page cache that had none of the files, or was bypassed. The messages of the file system's own
client (GlusterFS) prove both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from effio import text as fmt
from effio.store.evidence import NEARLY, NETWORK, Place, is_absent, is_reading
from effio.store.reader import Result
from effio.store.records import Cache, FileSystem, Measurement, Network

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
# An interface counts frames: 1514 bytes for 1448 of data, where it does not join them.
_FRAMES = 1514 / 1448


def _is_counted(files: FileSystem | None) -> bool:
    if files is None:
        return False
    return files.type in _COUNTED or files.source.startswith("mfs#")


@dataclass(frozen=True)
class _Part:
    """What a measurement moved in one direction, and what crossed the network."""

    reading: bool
    bytes: float
    crossed: int
    enough: float  # to be all of the bytes


def _parts(m: Measurement, network: Network) -> list[_Part]:
    counted = network.client or network.interfaces
    if counted is None:
        return []
    headers = 1.0 if network.client else _FRAMES
    reads = (True, counted.received_bytes, headers)
    writes = (False, counted.sent_bytes, headers * network.copies)
    # What reads and writes the same bytes counts both.
    both = "modify" in m.access or m.access == "mixed"
    of = (reads, writes) if both else (reads,) if is_reading(m.access) else (writes,)
    moved = m.bytes / len(of)
    return [_Part(r, moved, crossed, (1 - NEARLY) * moved * times) for r, crossed, times in of]


def _came_to_servers(m: Measurement, network: Network, parts: Sequence[_Part]) -> bool:
    if any(part.crossed < part.enough for part in parts):
        return False
    if network.client:
        return True
    # Ranks of several nodes also send each other messages.
    if any(not part.reading for part in parts) and m.nodes > 1:
        return False
    cold = bool(_WITHOUT_CACHE & {*m.cache.methods}) or is_absent(m) if m.cache else False
    return cold or not any(part.reading for part in parts)


def _cache(m: Measurement, cache: Cache, files: FileSystem | None) -> Cache:
    """The evidence; with a verdict where the network allows one."""
    network = cache.network
    parts = _parts(m, network) if network else []
    if network is None or not parts:
        return cache
    crossed = " and ".join(
        f"{fmt.quantity(part.crossed, 'B')} crossed the network while"
        f" {fmt.quantity(part.bytes, 'B')} were {'read' if part.reading else 'written'}"
        for part in parts
    )
    share = sum(min(part.crossed, part.bytes) for part in parts) / m.bytes
    if share < 1 - NEARLY:
        # Of these nothing can have bypassed the counters.
        if not (network.client or _is_counted(files)):
            return cache
        place = Place.CACHE if share <= NEARLY else Place.MIXED
        return _judged(cache, place, f"only {crossed}", share)
    if not _came_to_servers(m, network, parts):
        return cache
    return _judged(cache, Place.SERVERS, crossed, None)


def _judged(cache: Cache, place: Place, reason: str, share: float | None) -> Cache:
    return replace(
        cache, verdict=place.value, storage_fraction=share, reason=reason, client=NETWORK
    )


def judged_by_network(result: Result) -> list[Measurement]:
    """The measurements; those without a verdict have one where the network of the nodes permits."""
    judged = []
    for m in result.measurements:
        if m.bytes > 0 and m.cache and Place.of(m) is Place.UNKNOWN:
            cache = _cache(m, m.cache, result.run.file_system)
            judged.append(m if cache is m.cache else replace(m, cache=cache))
        else:
            judged.append(m)
    return judged
