# SPDX-License-Identifier: BSD-3-Clause
"""What a rate counts, in the words that stand beside it: a number without them gets quoted for what
it is not."""

from __future__ import annotations

from collections.abc import Sequence

from effio.report.common.caches import is_reading
from effio.store.reader import Result
from effio.store.records import Measurement

# Of the bytes; the rest is an open, a header, a last page.
_NEARLY_ALL = 0.9
_WRITES = {
    "device": "writes until on storage",
    "cache": "writes into memory",
    "mixed": "writes, in part still in memory",
    "unknown": "writes, in memory or on storage: not known",
}
_READS = {
    "device": "reads from storage",
    "cache": "reads from memory",
    "mixed": "reads, in part from memory",
    "unknown": "reads, from memory or storage: not known",
}


def _read_ahead(measurements: Sequence[Measurement]) -> bool:
    """Reads one after the other of files that were dropped before: what one of them had read ahead
    is what the next one finds in memory, and all of it came from storage."""
    fetched: dict[str, int] = {}
    moved: dict[str, int] = {}
    for m in measurements:
        known = m.cache.process_read_bytes if m.cache and "dropped" in m.cache.ways else None
        if known is None or not is_reading(m.access):
            return False
        fetched[m.pattern] = fetched.get(m.pattern, 0) + known
        moved[m.pattern] = moved.get(m.pattern, 0) + m.bytes
    from_storage = sum(min(fetched[pattern], moved[pattern]) for pattern in moved)
    return from_storage >= _NEARLY_ALL * sum(moved.values())


def place_of_most(measurements: Sequence[Measurement]) -> str:
    """Where most of the bytes came from or went to."""
    if measurements and _read_ahead(measurements):
        return "device"
    amounts: dict[str, int] = {}
    for m in measurements:
        verdict = m.cache.verdict if m.cache else "unknown"
        amounts[verdict] = amounts.get(verdict, 0) + m.bytes
    total = sum(amounts.values())
    if not total:
        return "unknown"
    main = max(amounts, key=lambda verdict: amounts[verdict])
    if main == "unknown" or amounts[main] >= _NEARLY_ALL * total:
        return main if main in _WRITES else "unknown"
    return "mixed"


def what_counts(result: Result, measurements: Sequence[Measurement]) -> str:
    """Of these measurements of files: "writes until on storage, reads from memory"."""
    reads = [m for m in measurements if is_reading(m.access) and m.bytes]
    writes = [m for m in measurements if not is_reading(m.access) and m.bytes]
    if result.run.clock.virtual:
        told = [name for name, some in (("writes", writes), ("reads", reads)) if some]
        return " and ".join(f"simulated {name}" for name in told)
    words = []
    if writes:
        words.append(_WRITES[place_of_most(writes)])
    if reads:
        words.append(_READS[place_of_most(reads)])
    return "; ".join(words)
