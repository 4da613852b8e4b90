# SPDX-License-Identifier: BSD-3-Clause
"""Where the bytes of measurements were, and the only words for it: headline, tick, card, list of
runs and tables all show what `Evidence` says of the very measurements that they speak of.

The engine's counterpart is `CacheEvidence` (engine/core/evidence.hpp); docs/reading.md explains it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from effio import text as fmt
from effio.store.records import Cache, Measurement, Run
from effio.store.traffic import Traffic


class Place(str, Enum):
    """The verdict on some bytes, as results name it."""

    DEVICE = "device"
    SERVERS = "servers"  # of a file system; what their own caches did is not known
    MIXED = "mixed"
    CACHE = "cache"
    UNKNOWN = "unknown"

    @classmethod
    def of(cls, m: Measurement) -> Place:
        return _PLACES.get(m.cache.verdict, cls.UNKNOWN) if m.cache else cls.UNKNOWN


_PLACES: Mapping[str, Place] = {place.value: place for place in Place}


# Bytes count as being on storage, or in memory, if all but this share of them are.
NEARLY = 0.05
# What each method for cold reads did to the cache of the reading node (engine, cold.hpp).
_DONE = {
    "dropped": "client cache dropped",
    "direct": "client cache bypassed (O_DIRECT)",
    "other nodes": "written by another node",
    "memory hog": "client cache crowded out",
    "more than memory": "more than the client's memory",
}
# Only a cache of the kernel answers a call within this time, no device and no server.
_FASTER_THAN_STORAGE = 5e-6
_MAKING_NAMES = ("create", "remove", "rename", "link", "symlink", "chmod", "xattr", "truncate")
MESSAGES = "messages"
# In `Cache.client` where the verdict comes from the node's network (on_servers.py).
NETWORK = "network"


def is_reading(access: str) -> bool:
    """Whether it only reads: the verdict on a read-modify-write is that of its writes."""
    words = access.lower()
    return "read" in words and "readdir" not in words and "write" not in words


@dataclass(frozen=True)
class Evidence:
    """The evidence of the bytes that some measurements moved in one direction. `on_storage` is the
    share that came from storage, or had reached it when the clock stopped; None where that is not
    known."""

    reading: bool
    bytes: int
    on_storage: float | None
    # Share of the bytes by the verdict on their measurement.
    of: Mapping[Place, float] = field(default_factory=dict)
    methods: Sequence[str] = ()
    reason: str = ""  # of the measurement that moved most
    simulated: bool = False
    # For reads: none of the bytes were in this node's page cache before, according to the kernel.
    absent_before: bool = False
    holes: float = 0.0  # share of the bytes read that was never written
    # `on_storage` comes from the node's network: it is an upper bound, and ends at the servers.
    by_network: bool = False

    @property
    def place(self) -> Place:
        if self.holes > NEARLY:
            return Place.CACHE  # the kernel fills holes with zeros, without storage
        if self.on_storage is None:
            # Results that only say "mixed".
            mixed = self.of and self.of.get(Place.UNKNOWN, 0.0) <= NEARLY
            return Place.MIXED if mixed else Place.UNKNOWN
        if self.on_storage >= 1 - NEARLY:
            return Place.SERVERS if self.by_network else Place.DEVICE
        return Place.CACHE if self.on_storage <= NEARLY else Place.MIXED

    @property
    def _storage(self) -> str:
        """What is known of where bytes outside this node's memory were."""
        return "the servers" if self.by_network else "storage"

    def share(self) -> str:
        """ "43 %"; never "100 %" or "0 %" of what is partly elsewhere."""
        if self.on_storage is None:
            return "a part"
        share = self.on_storage
        if self.place is not Place.MIXED:
            return fmt.percent(share)
        limit = "at most " if self.by_network else ""
        return limit + fmt.percent(min(max(share, 0.01), 0.99))

    def words(self) -> str:
        """What a rate counts, next to the rate: "writes until on storage"."""
        if self.simulated:
            return f"simulated {'reads' if self.reading else 'writes'}"
        return self._words() + (f", {self._holes()}" if self.holes else "")

    def _words(self) -> str:
        return {
            (True, Place.DEVICE): "reads from storage",
            (True, Place.SERVERS): "reads from the servers",
            (True, Place.CACHE): "reads from memory",
            (True, Place.MIXED): f"reads, {self.share()} from {self._storage}",
            (True, Place.UNKNOWN): "reads, from memory or storage: not known",
            (False, Place.DEVICE): "writes until on storage",
            (False, Place.SERVERS): "writes until at the servers",
            (False, Place.CACHE): "writes into memory",
            (False, Place.MIXED): f"writes, {self.share()} on {self._storage}",
            (False, Place.UNKNOWN): "writes, in memory or on storage: not known",
        }[self.reading, self.place]

    def short(self) -> str:
        """The place for the cell of a table: "from storage"."""
        if self.simulated:
            return "simulated"
        return {
            (True, Place.DEVICE): "from storage",
            (True, Place.SERVERS): "from the servers; server cache unknown",
            (True, Place.CACHE): "from memory",
            (True, Place.MIXED): f"{self.share()} from {self._storage}",
            (True, Place.UNKNOWN): self._weaker(),
            (False, Place.DEVICE): "on storage",
            (False, Place.SERVERS): "at the servers; server and device caches unknown",
            (False, Place.CACHE): "in memory",
            (False, Place.MIXED): f"{self.share()} on {self._storage}",
            (False, Place.UNKNOWN): self._weaker(),
        }[self.reading, self.place]

    def _holes(self) -> str:
        share = min(max(self.holes, 0.01), 1.0 if self.holes == 1 else 0.99)
        return f"{fmt.percent(share)} of them from holes that were never written"

    def sentence(self) -> str:
        """Without its full stop: "100 % of the bytes read came from storage"."""
        return self._sentence() + (f"; {self._holes()}" if self.holes else "")

    def _sentence(self) -> str:
        if self.place is Place.UNKNOWN:
            what = "came from storage" if self.reading else "reached storage"
            why = f" ({self.reason})" if self.reason else ""
            done = self._done()
            return f"whether the bytes {self._moved} {what} is not known{why}{done}"
        if self.place is Place.SERVERS:
            what = "came from" if self.reading else "had reached"
            return (
                f"the bytes {self._moved} {what} the servers ({self.reason}); whether their caches"
                f" {'had them' if self.reading else 'still held them'} is not known"
            )
        if self.place is Place.DEVICE:
            what = "came from storage" if self.reading else "were on storage when the clock stopped"
            methods = f" (out of the cache: {', '.join(self.methods)})" if self.methods else ""
            return f"{self.share()} of the bytes {self._moved} {what}{methods}"
        if self.place is Place.CACHE:
            if self.reading:
                memory = fmt.percent(1 - (self.on_storage or 0))
                return f"{memory} of the bytes read came out of memory"
            return f"{self.share()} of the bytes written were on storage when the clock stopped"
        what = f"{'came from' if self.reading else 'were on'} {self._storage}"
        when = "" if self.reading else " when the clock stopped"
        return f"{self.share()} of the bytes {self._moved} {what}{when}, the rest in memory"

    def why_not_storage(self) -> str:
        """Why this is not a number of storage; empty if it is one."""
        if self.place in (Place.DEVICE, Place.SERVERS):
            return ""
        if self.place is Place.UNKNOWN:
            return f"where the bytes were is not known{f' ({self.reason})' if self.reason else ''}"
        if self.place is Place.CACHE:
            return "the bytes came out of memory" if self.reading else "the bytes were in memory"
        return f"only {self.share()} of the bytes {self._where}"

    @property
    def _moved(self) -> str:
        return "read" if self.reading else "written"

    @property
    def _where(self) -> str:
        return f"{'came from' if self.reading else 'were on'} {self._storage}"

    def _weaker(self) -> str:
        """What is known about bytes without a verdict, for a table cell."""
        done = [_DONE[method] for method in self.methods if method in _DONE]
        if not done and self.absent_before:
            done = ["not in this node's cache before"]
        return f"{', '.join(done)}; server cache unknown" if done else "not known"

    def _done(self) -> str:
        """What was done about caches where nothing could be observed."""
        if not self.methods:
            return ""
        return (
            f"; this node's cache was left out ({', '.join(self.methods)}), a server's may not be"
        )


def _seen(m: Measurement, cache: Cache, after_sync: bool) -> float | None:
    """The share of a measurement's bytes that evidence places on storage."""
    if after_sync and not is_reading(m.access) and cache.unwritten_bytes is not None and m.bytes:
        return min(max(1.0 - cache.unwritten_bytes / m.bytes, 0.0), 1.0)
    if cache.storage_fraction is not None:
        return min(max(cache.storage_fraction, 0.0), 1.0)
    place = Place.of(m)
    if place in (Place.DEVICE, Place.SERVERS):
        return 1.0
    if place is Place.CACHE:
        return 0.0
    if place is Place.UNKNOWN or not m.bytes:
        return None
    # Results before 1.2 have the counters alone.
    reading = is_reading(m.access)
    counted = (
        (cache.process_read_bytes, cache.device_read_bytes, cache.client_read_bytes)
        if reading
        else (cache.device_written_bytes, cache.client_written_bytes)
    )
    known = [c for c in counted if c is not None]
    # What is written twice before it is sent is charged once. File systems that charge no process
    # give no evidence by it.
    if not reading and cache.process_written_bytes:
        known.append(cache.process_written_bytes)
    return min(max(min(known) / m.bytes, 0.0), 1.0) if known else None


def _read_ahead(measurements: Sequence[Measurement]) -> float | None:
    """Reads one after the other of files that were dropped before: what one of them had read ahead
    is what the next one finds in memory, and all of it came from storage."""
    fetched: dict[str, int] = {}
    moved: dict[str, int] = {}
    for m in measurements:
        known = m.cache.process_read_bytes if m.cache and "dropped" in m.cache.methods else None
        if known is None:
            return None
        fetched[m.pattern] = fetched.get(m.pattern, 0) + known
        moved[m.pattern] = moved.get(m.pattern, 0) + m.bytes
    total = sum(moved.values())
    return sum(min(fetched[p], moved[p]) for p in moved) / total if total else None


def is_absent(m: Measurement) -> bool:
    before = m.cache.resident_before_fraction if m.cache else None
    return before is not None and before <= NEARLY


def methods_of(cells: Sequence[Measurement]) -> list[str]:
    """The methods against the cache that were effective for all of them."""
    each = [{*m.cache.methods} if m.cache else set() for m in cells]
    return sorted(set.intersection(*each)) if each else []


def _of_one_direction(
    some: Sequence[Measurement], reading: bool, simulated: bool, after_sync: bool
) -> Evidence | None:
    total = sum(m.bytes for m in some)
    if not total:
        return None
    of: dict[Place, float] = {}
    seen = unknown = 0.0
    for m in some:
        place = Place.of(m)
        of[place] = of.get(place, 0.0) + m.bytes / total
        share = _seen(m, m.cache, after_sync) if m.cache else None
        if share is None:
            unknown += m.bytes / total
        else:
            seen += share * m.bytes / total
    on_storage = None if unknown > NEARLY else min(seen, 1.0)
    if reading and on_storage is not None and (ahead := _read_ahead(some)) is not None:
        on_storage = max(on_storage, ahead)
    most = max(some, key=lambda m: m.bytes)
    return Evidence(
        reading,
        total,
        on_storage,
        of,
        methods_of(some),
        most.cache.reason if most.cache else "",
        simulated,
        reading and all(is_absent(m) for m in some),
        sum((m.cache.hole_fraction or 0.0) * m.bytes for m in some if m.cache) / total,
        any(m.cache.client == NETWORK for m in some if m.cache),
    )


def evidence_of(
    measurements: Sequence[Measurement], virtual: bool = False, after_sync: bool = False
) -> list[Evidence]:
    """The evidence of what these wrote, and of what they read; without those that moved nothing.
    `after_sync`: of a rate that includes the sync although that of the measurements does not."""
    moved = [m for m in measurements if m.bytes > 0]
    found = []
    for reading in (False, True):
        some = [m for m in moved if is_reading(m.access) is reading]
        if (one := _of_one_direction(some, reading, virtual, after_sync)) is not None:
            found.append(one)
    return found


def words_of(evidence: Sequence[Evidence]) -> str:
    """The words for both directions: "writes until on storage; reads from memory"."""
    if evidence and all(one.simulated for one in evidence):
        return "simulated " + " and ".join("reads" if e.reading else "writes" for e in evidence)
    return "; ".join(one.words() for one in evidence)


def short_of(evidence: Sequence[Evidence], run: Run | None = None) -> str:
    """The place for the cell of a table: "on storage". What does not count bytes has one only by
    its `run`: simulated, or in a directory in memory."""
    if run is not None and run.simulated:
        return "simulated"
    if run is not None and run.in_memory and not evidence:
        return "in memory"
    return "; ".join(dict.fromkeys(one.short() for one in evidence))


def mark_of(evidence: Sequence[Evidence], run: Run) -> str:
    """The mark in lists of a number that is not one of storage or servers alone: "memory"; else
    empty."""
    if run.simulated:
        return "simulated"
    if run.in_memory and not evidence:
        return "memory"
    places = {one.place for one in evidence}
    if not evidence or places <= {Place.DEVICE, Place.SERVERS}:
        return ""
    if places == {Place.CACHE}:
        return "memory"
    return "mixed" if places & {Place.CACHE, Place.MIXED} else "unknown"


def place_of(evidence: Sequence[Evidence]) -> Place:
    """The place of all bytes together: the worst that is said of a part."""
    places = [one.place for one in evidence]
    if not places:
        return Place.UNKNOWN
    for worst in (Place.CACHE, Place.UNKNOWN, Place.MIXED, Place.SERVERS):
        if worst in places:
            return worst
    return Place.DEVICE


def source_of(cells: Sequence[Measurement], run: Run, traffic: Traffic | None = None) -> str:
    """Where the bytes of these measurements were (or the names, if no bytes were moved), for the
    line of a card. All are of one run; `traffic` is that of this node's network during the run."""
    evidence = evidence_of(cells, run.simulated)
    if not evidence:
        return _source_of_names(cells, run)
    reported = []
    for one in evidence:
        words = one.short()
        if one.place is Place.UNKNOWN and not one.simulated:
            if not one.reading and run.options.get("sync") in ("end", "each"):
                words = "flushed within its time; server and device caches unknown"
            if traffic is not None and not _is_on_local_device(run):
                words += _over_network(one, traffic)
        reported.append(words)
    return "; ".join(reported)


def _is_on_local_device(run: Run) -> bool:
    """Whether the bytes do not cross the network whose traffic is counted."""
    return run.file_system is not None and run.file_system.source.startswith("/dev/")


def _over_network(one: Evidence, traffic: Traffic) -> str:
    """The counters include other traffic, so they are an upper bound for bytes from or to a
    server."""
    moved, of_run = (
        (traffic.received_bytes, traffic.bytes_read)
        if one.reading
        else (traffic.sent_bytes, traffic.bytes_written)
    )
    if not of_run:
        return ""
    if moved >= (1 - NEARLY) * of_run:
        return "; as many bytes crossed this node's network"
    if not moved:
        return "; none of the bytes crossed this node's network"
    # Rounded up: a bound of 0 % would be wrong.
    most = fmt.percent(math.ceil(100 * moved / of_run) / 100)
    return f"; at most {most} of the bytes crossed this node's network"


def _source_of_names(cells: Sequence[Measurement], run: Run) -> str:
    if not cells:
        return ""
    if run.simulated:
        return "simulated"
    if run.in_memory:
        return "in memory"
    if all(m.access in _MAKING_NAMES for m in cells):
        synced = run.options.get("sync-phases") in (True, "on")
        return "synced within its time" if synced else "in memory or on storage: not known"
    median = max((m.call_times.p50 for m in cells if m.call_times), default=None)
    if median is not None and median <= _FASTER_THAN_STORAGE:
        return f"from memory: half of the calls took less than {fmt.duration(median)}"
    if run.options.get("drop-cache") in (True, "on"):
        return f"{_DONE['dropped']}; server cache unknown"
    return "from this node's cache or beyond: not known"
