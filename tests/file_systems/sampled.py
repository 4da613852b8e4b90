# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of what a counter grew by during each measurement of a run, from samples taken outside of
it. A result has the time of each measurement, relative to the start of the benchmark: the engine
begins to measure as soon as it has written the first line of the result file.
"""

from __future__ import annotations

import bisect
import contextlib
import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from effio.store.reader import Result
from effio.store.records import Measurement
from effio.store.run_record import NetworkPart

# A step of the clock that stamps files, and what the engine takes to begin.
_MARGIN_SECONDS = 0.01
# On a busy machine ranks may begin and end at different times than the root.
_LATE_SECONDS = 0.05


@dataclass
class CellTraffic:
    """Bounds of what a counter grew by during a measurement."""

    measurement: int  # its place among those of the result, from 0
    least: NetworkPart
    most: NetworkPart


@dataclass(frozen=True)
class Sample:
    at: float  # seconds since the epoch
    received: int
    sent: int


@dataclass
class Log:
    """`lines`: sizes that the result file had, and when it got them."""

    samples: list[Sample] = field(default_factory=list)
    lines: list[tuple[int, float]] = field(default_factory=list)


def sample_into(log: Log, counters: Callable[[], NetworkPart | None], result: Path) -> None:
    before = time.time()
    moved = counters()
    if moved is not None:
        at = (before + time.time()) / 2
        log.samples.append(Sample(at, moved.received_bytes, moved.sent_bytes))
    with contextlib.suppress(OSError):
        state = result.stat()
        if not log.lines or log.lines[-1][0] != state.st_size:
            log.lines.append((state.st_size, state.st_mtime))


def _origin(log: Log, result: Result) -> float | None:
    """When the benchmark began to measure: at once after the first line was written."""
    with result.path.open("rb") as file:
        size = len(file.readline())
    return next((at for seen, at in log.lines if seen == size), None)


def cells_of(log: Log, result: Result) -> list[CellTraffic]:
    """What the network moved during each measurement: at least, between samples within it; at most,
    between samples around it."""
    origin = _origin(log, result)
    if origin is None or _was_reset(log.samples):
        return []
    times = [sample.at - origin for sample in log.samples]
    cells = []
    for number, m in enumerate(result.measurements):
        if m.span is None or m.bytes <= 0:
            continue
        earliest, latest = _ends_of_counted(m)
        first = bisect.bisect_right(times, m.span.begin - _LATE_SECONDS - _MARGIN_SECONDS) - 1
        last = bisect.bisect_left(times, latest + _LATE_SECONDS + _MARGIN_SECONDS)
        if first < 0 or last >= len(times):
            continue
        inner = (
            bisect.bisect_left(times, m.span.begin + _MARGIN_SECONDS),
            bisect.bisect_right(times, earliest - _MARGIN_SECONDS) - 1,
        )
        cells.append(
            CellTraffic(
                measurement=number,
                least=_between(log.samples, *inner),
                most=_between(log.samples, first, last),
            )
        )
    return cells


def _ends_of_counted(m: Measurement) -> tuple[float, float]:
    """Bounds of when the part ended that the verdict is about: before a flush that the rate does
    not count, and the close that follows it."""
    assert m.span is not None
    flush = m.seconds.get("sync")
    if flush is None or "by_definition_seconds" not in m.detail:
        return m.span.end, m.span.end
    after = [flush, *(part for name, part in m.seconds.items() if name == "close")]
    longest, shortest = (sum(getattr(p, which) for p in after) for which in ("max", "min"))
    return m.span.end - longest, m.span.end - shortest


def _was_reset(samples: Sequence[Sample]) -> bool:
    pairs = itertools.pairwise(samples)
    return any(b.received < a.received or b.sent < a.sent for a, b in pairs)


def _between(samples: Sequence[Sample], first: int, last: int) -> NetworkPart:
    if first >= last:
        return NetworkPart(received_bytes=0, sent_bytes=0)
    return NetworkPart(
        received_bytes=samples[last].received - samples[first].received,
        sent_bytes=samples[last].sent - samples[first].sent,
    )
