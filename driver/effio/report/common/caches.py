# SPDX-License-Identifier: BSD-3-Clause
"""Where the bytes came from or went to: a cache, or a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from effio.report.common.names import grouped, unique
from effio.report.model import Cell, Column, Finding, Headline, Level, Section, Table, table_of
from effio.store.evidence import Place, evidence_of, methods_of, place_of
from effio.store.reader import Result
from effio.store.records import Measurement


@dataclass(frozen=True)
class _Access:
    """The measurements of one access that moved bytes."""

    name: str
    cells: Sequence[Measurement]

    @cached_property
    def bytes(self) -> Mapping[Place, int]:
        """Where they came from, or went to."""
        found: dict[Place, int] = dict.fromkeys(Place, 0)
        for m in self.cells:
            found[Place.of(m)] += m.bytes
        return found

    @property
    def total(self) -> int:
        return sum(self.bytes.values())

    def known(self, member: str) -> list[Any]:
        """What is known of a member of their `cache`."""
        values = [getattr(m.cache, member) for m in self.cells if m.cache]
        return [value for value in values if value is not None]

    @property
    def reason(self) -> str:
        """Of the measurement that moved most."""
        most = max(self.cells, key=lambda m: m.bytes)
        return most.cache.reason if most.cache else ""


_TITLES: Mapping[Place, str] = {
    Place.DEVICE: "From the device",
    Place.SERVERS: "From the servers",
    Place.MIXED: "Mixed",
    Place.CACHE: "Cached",
    Place.UNKNOWN: "Unknown",
}
_HINTS = {
    False: "A rate until the data are on storage includes the flush.",
    True: "--drop-cache, more data than the nodes have memory, or readers on other nodes than the"
    " writers, measure storage.",
}


def cache_findings(result: Result, headline: Headline) -> list[Finding]:
    """Where the bytes of the headline's own cell were; of all measurements where the headline is no
    number of bytes. Only what was on storage gets a tick."""
    if result.run.simulated:
        why = "time is virtual and no storage was touched"
        if not result.run.clock.virtual:
            why = "the backend null keeps nothing and no storage was touched"
            if "interference" in result.run.extra:  # the other groups may have storage
                why = "a group has the backend null, which touches no storage"
        text = f"Simulated: {why}."
        return [Finding(text, "caches", "info", "cache")]
    if result.run.file_system is None:
        return []  # messages only: nothing to cache
    of_all = evidence_of(result.measurements)
    evidence = headline.evidence or of_all
    if not evidence:
        return []
    if result.run.in_memory:  # no flush, no --drop-cache leaves memory
        kind = result.run.file_system.type or "a file system of this kind"
        text = f"In memory: {kind} keeps all data there. Another --dir measures storage."
        return [Finding(text, "caches", "warn", "cache")]
    place = place_of(evidence)
    sentences = "; ".join(unique(one.sentence() for one in evidence))
    title = _TITLES[place]
    if not any(one.reading for one in evidence):
        title = {Place.DEVICE: "On storage", Place.SERVERS: "At the servers"}.get(place, title)
    text = f"{title}: {sentences}."
    if place is not Place.DEVICE:
        # What memory answered is not a rate of storage.
        kinds = (one.reading for one in evidence if one.place in (Place.CACHE, Place.MIXED))
        text += "".join(f" {_HINTS[reading]}" for reading in dict.fromkeys(kinds))
    if not {one.sentence() for one in evidence} <= {one.sentence() for one in of_all}:
        text += f" This holds for {headline.name or 'this number'}; other measurements differ."
    levels: dict[Place, Level] = {Place.DEVICE: "good", Place.SERVERS: "info"}
    return [Finding(text, "caches", levels.get(place, "warn"), "cache")]


def _evidence(accesses: Sequence[_Access]) -> Table:
    """Sums and means over the measurements."""

    def mean(member: str) -> Callable[[_Access], Cell]:
        return lambda access: sum(known) / len(known) if (known := access.known(member)) else None

    def total(member: str) -> Callable[[_Access], Cell]:
        return lambda access: sum(known) if (known := access.known(member)) else None

    return table_of(
        accesses,
        [
            (Column("access"), lambda access: access.name),
            (
                Column("done against caches"),
                lambda access: ", ".join(methods_of(access.cells)) or "none",
            ),
            (Column("in memory before", "1", "%", 3), mean("resident_before_fraction")),
            (Column("in memory after", "1", "%", 3), mean("resident_after_fraction")),
            (Column("sync need not write", "B"), total("unwritten_bytes")),
            (Column("others at the device", "B"), total("others_bytes")),
            (Column("why (largest measurement)"), lambda access: access.reason),
        ],
        "What was done about caches, and what was seen",
        "Done against caches: what was effective in every measurement of an access. In memory: the"
        " share of the files in the page cache of the node, the mean over the measurements. Sync"
        " need not write: bytes written minus those that had reached the device after the sync."
        " Others: what the device moved in addition, for other users or the file system.",
    )


def _places(accesses: Sequence[_Access]) -> Table:
    def share(place: Place) -> Callable[[_Access], Cell]:
        return lambda access: access.bytes[place] / access.total

    return table_of(
        accesses,
        [
            (Column("access"), lambda access: access.name),
            (Column("data", "B"), lambda access: access.total),
            *((Column(place.value, "1", "%", 3), share(place)) for place in Place),
        ],
        "Where the bytes came from or went to",
        "Share of the bytes by what the counters of processes and block devices saw during each "
        "measurement. Writes count as device when they had reached it before the clock stopped. "
        "Servers: the bytes crossed this node's network; what the servers' own caches did is not "
        "known.",
    )


def cache_section(result: Result) -> Section | None:
    """None where no bytes were moved, as by operations on names."""
    moved = [m for m in result.measurements if m.bytes > 0]
    accesses = [_Access(*one) for one in grouped(moved, lambda m: m.access).items()]
    if not accesses:
        return None
    seen = [_evidence(accesses)] if any(m.cache for m in moved) else []
    return Section("caches", "Cache or device", [_places(accesses), *seen])
