# SPDX-License-Identifier: BSD-3-Clause
"""Where the bytes came from or went to: a cache, or a device."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from effio.report.common.names import unique
from effio.report.model import Cell, Column, Finding, Headline, Level, Section, Table
from effio.store.evidence import Place, evidence_of, methods_of, place_of
from effio.store.reader import Result
from effio.store.records import Measurement


@dataclass(frozen=True)
class CacheShare:
    """For the bytes of one access: what fraction came from, or went to, where."""

    access: str
    bytes: int
    of: Mapping[Place, float]
    cells: Sequence[Measurement] = ()


def cache_shares(result: Result) -> list[CacheShare]:
    amounts: dict[str, dict[Place, int]] = defaultdict(lambda: defaultdict(int))
    cells: dict[str, list[Measurement]] = defaultdict(list)
    for m in result.measurements:
        if m.bytes > 0:
            amounts[m.access][Place.of(m)] += m.bytes
            cells[m.access].append(m)
    shares = []
    for access, by_verdict in amounts.items():
        total = sum(by_verdict.values())
        of = {verdict: count / total for verdict, count in by_verdict.items()}
        shares.append(CacheShare(access, total, of, cells[access]))
    return shares


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


def _evidence(shares: Sequence[CacheShare]) -> Table:
    """Sums and means over the measurements; the reason is that of the one that moved most."""

    def mean(values: Sequence[float | None]) -> float | None:
        known = [v for v in values if v is not None]
        return sum(known) / len(known) if known else None

    def total(values: Sequence[int | None]) -> int | None:
        known = [v for v in values if v is not None]
        return sum(known) if known else None

    rows: list[list[Cell]] = []
    for s in shares:
        known = [m.cache for m in s.cells if m.cache]
        most = max(s.cells, key=lambda m: m.bytes, default=None)
        rows.append(
            [
                s.access,
                ", ".join(methods_of(s.cells)) or "none",
                mean([c.resident_before_fraction for c in known]),
                mean([c.resident_after_fraction for c in known]),
                total([c.unwritten_bytes for c in known]),
                total([c.others_bytes for c in known]),
                most.cache.reason if most is not None and most.cache else "",
            ]
        )
    return Table(
        [
            Column("access"),
            Column("done against caches"),
            Column("in memory before", "1", "%", 3),
            Column("in memory after", "1", "%", 3),
            Column("sync need not write", "B"),
            Column("others at the device", "B"),
            Column("why (largest measurement)"),
        ],
        rows,
        "What was done about caches, and what was seen",
        "Done against caches: what was effective in every measurement of an access. In memory: the"
        " share of the files in the page cache of the node, the mean over the measurements. Sync"
        " need not write: bytes written minus those that had reached the device after the sync."
        " Others: what the device moved in addition, for other users or the file system.",
    )


def cache_section(result: Result) -> Section | None:
    """None where no bytes were moved, as by operations on names."""
    rows: list[list[Cell]] = []
    shares = cache_shares(result)
    if not shares:
        return None
    for s in shares:
        order = (Place.DEVICE, Place.SERVERS, Place.MIXED, Place.CACHE, Place.UNKNOWN)
        reported = [s.of.get(place, 0.0) for place in order]
        rows.append([s.access, s.bytes, *reported])
    table = Table(
        [
            Column("access"),
            Column("data", "B"),
            Column("device", "1", "%", 3),
            Column("servers", "1", "%", 3),
            Column("mixed", "1", "%", 3),
            Column("cache", "1", "%", 3),
            Column("unknown", "1", "%", 3),
        ],
        rows,
        "Where the bytes came from or went to",
        "Share of the bytes by what the counters of processes and block devices saw during each "
        "measurement. Writes count as device when they had reached it before the clock stopped. "
        "Servers: the bytes crossed this node's network; what the servers' own caches did is not "
        "known.",
    )
    seen = [_evidence(shares)] if any(m.cache for s in shares for m in s.cells) else []
    return Section("caches", "Cache or device", [table, *seen])
