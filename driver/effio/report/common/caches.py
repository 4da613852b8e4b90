# SPDX-License-Identifier: BSD-3-Clause
"""Where the bytes came from or went to: a cache, or a device."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from effio import text as fmt
from effio.report.model import Cell, Column, Finding, Section, Table
from effio.store.reader import Result


@dataclass(frozen=True)
class CacheShare:
    """Of the bytes of one access: what fraction came from, or went to, where."""

    access: str
    bytes: int
    of: Mapping[str, float]  # verdict -> fraction

    @property
    def main(self) -> str:
        return max(self.of, key=lambda verdict: self.of[verdict]) if self.of else "unknown"


def is_reading(access: str) -> bool:
    return "read" in access.lower() and "readdir" not in access.lower()


def cache_shares(result: Result) -> list[CacheShare]:
    amounts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for m in result.measurements:
        if m.bytes > 0:
            amounts[m.access][m.cache.verdict if m.cache else "unknown"] += m.bytes
    shares = []
    for access, by_verdict in amounts.items():
        total = sum(by_verdict.values())
        of = {verdict: count / total for verdict, count in by_verdict.items()}
        shares.append(CacheShare(access, total, of))
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
            "The read rates tell of the page cache, not of storage; more data than the nodes have "
            "memory, or readers on other nodes than the writers, would tell of storage."
        )
        return [Finding(text, "caches", "warn", "cache")]
    if of["device"] >= 0.5:
        text = f"From the device: {fmt.percent(of['device'])} of the bytes read came from storage."
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


def cache_section(result: Result) -> Section:
    rows: list[list[Cell]] = []
    for s in cache_shares(result):
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
    return Section("caches", "Cache or device", [table])
