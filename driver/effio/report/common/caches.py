# SPDX-License-Identifier: BSD-3-Clause
"""Where the bytes came from or went to: a cache, or a device."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from effio import text as fmt
from effio.report.model import Cell, Column, Finding, Section, Table
from effio.store.reader import Result
from effio.store.records import Measurement


@dataclass(frozen=True)
class CacheShare:
    """Of the bytes of one access: what fraction came from, or went to, where."""

    access: str
    bytes: int
    of: Mapping[str, float]  # verdict -> fraction
    cells: Sequence[Measurement] = ()

    @property
    def main(self) -> str:
        return max(self.of, key=lambda verdict: self.of[verdict]) if self.of else "unknown"


def is_reading(access: str) -> bool:
    return "read" in access.lower() and "readdir" not in access.lower()


def cache_shares(result: Result) -> list[CacheShare]:
    amounts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    cells: dict[str, list[Measurement]] = defaultdict(list)
    for m in result.measurements:
        if m.bytes > 0:
            amounts[m.access][m.cache.verdict if m.cache else "unknown"] += m.bytes
            cells[m.access].append(m)
    shares = []
    for access, by_verdict in amounts.items():
        total = sum(by_verdict.values())
        of = {verdict: count / total for verdict, count in by_verdict.items()}
        shares.append(CacheShare(access, total, of, cells[access]))
    return shares


def cache_findings(result: Result) -> list[Finding]:
    if result.run.file_system is None and not result.run.clock.virtual:
        return []  # messages only: nothing to cache
    shares = cache_shares(result)
    if result.run.clock.virtual:
        return [
            Finding(
                "Simulated: time is virtual and no storage was touched.", "caches", "info", "cache"
            )
        ]
    reads = [s for s in shares if is_reading(s.access)]
    if not reads:
        if not shares:
            return []
        return [Finding("Nothing was read back in this run.", "caches", "info", "cache")]
    total = sum(s.bytes for s in reads)
    of = {
        verdict: sum(s.of.get(verdict, 0) * s.bytes for s in reads) / total
        for verdict in ("cache", "device", "mixed", "unknown")
    }
    if of["cache"] >= 0.5:
        text = (
            f"Cached: {fmt.percent(of['cache'])} of the bytes read came out of memory. "
            "The read rates tell of the page cache, not of storage; --drop-cache, more data than "
            "the nodes have memory, or readers on other nodes than the writers, would tell of "
            "storage."
        )
        return [Finding(text, "caches", "warn", "cache")]
    if of["device"] >= 0.5:
        text = f"From the device: {fmt.percent(of['device'])} of the bytes read came from storage"
        ways = sorted({way for s in reads for way in ways_of(s.cells)})
        text += f" (out of the cache: {', '.join(ways)})." if ways else "."
        return [Finding(text, "caches", "good", "cache")]
    if of["unknown"] >= 0.5:
        text = (
            "Unknown: whether reads came from a cache or from storage could not be observed on "
            "this file system."
        )
        return [Finding(text, "caches", "warn", "cache")]
    text = (
        f"Mixed: {fmt.percent(of['cache'])} of the bytes read came out of memory, "
        f"{fmt.percent(of['device'])} from the device, the rest partly from either."
    )
    return [Finding(text, "caches", "warn", "cache")]


def ways_of(cells: Sequence[Measurement]) -> list[str]:
    """The ways out of the cache that were in force for all of them."""
    each = [{*m.cache.ways} if m.cache else set() for m in cells]
    return sorted(set.intersection(*each)) if each else []


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
                ", ".join(ways_of(s.cells)) or "none",
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
            Column("ways out of the cache"),
            Column("in memory before", "1", "%", 3),
            Column("in memory after", "1", "%", 3),
            Column("sync need not write", "B"),
            Column("others at the device", "B"),
            Column("why (largest measurement)"),
        ],
        rows,
        "What was done about caches, and what was seen",
        "Ways that were in force for each measurement of an access. In memory: the share of the "
        "files in the page cache of the node, the mean over the measurements. Sync need not write: "
        "bytes written less those that the device had got after the sync. Others: what the device "
        "moved beside, for other users or the file system.",
    )


def cache_section(result: Result) -> Section:
    rows: list[list[Cell]] = []
    shares = cache_shares(result)
    for s in shares:
        told = [s.of.get(v, 0.0) for v in ("device", "mixed", "cache", "unknown")]
        rows.append([s.access, s.bytes, *told])
    table = Table(
        [
            Column("access"),
            Column("data", "B"),
            Column("device", "1", "%", 3),
            Column("mixed", "1", "%", 3),
            Column("cache", "1", "%", 3),
            Column("unknown", "1", "%", 3),
        ],
        rows,
        "Where the bytes came from or went to",
        "Share of the bytes by what the counters of processes and block devices saw during each "
        "measurement. Writes count as device when they had reached it before the clock stopped.",
    )
    seen = [_evidence(shares)] if any(m.cache for s in shares for m in s.cells) else []
    return Section("caches", "Cache or device", [table, *seen])
