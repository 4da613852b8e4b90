# SPDX-License-Identifier: BSD-3-Clause
"""Counts the bytes that this node's network moves during each measurement of a run: the
evidence for file systems of servers whose clients have no counters (store/on_servers.py).

A result has the time of each measurement, relative to the start of the benchmark. That start
follows from the times at which lines reach the result file: the engine writes each line as soon as
its measurement has ended.
"""

from __future__ import annotations

import bisect
import contextlib
import itertools
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from effio.store import abilities, traffic
from effio.store.reader import Result
from effio.store.run_record import CellTraffic, NetworkPart

_STEP_SECONDS = 0.01
# With more samples every other one is dropped: a long run has long cells.
_MAX_SAMPLES = 100_000
# Half a step of the clock that stamps files, and what the engine takes to write a line.
_MARGIN_SECONDS = 0.006
# A measurement is taken to end when it is recorded. The engine looks at caches before that.
_LATE_SECONDS = 0.05

_B = TypeVar("_B", bound="Background")
_MEASUREMENT = re.compile(rb'"kind":\s?"measurement"')


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


def directory_of(arguments: Sequence[str]) -> Path:
    """Where the engine is to put its files."""
    found = "."
    for number, word in enumerate(arguments):
        if word.startswith("--dir="):
            found = word.removeprefix("--dir=")
        elif word == "--dir" and number + 1 < len(arguments):
            found = arguments[number + 1]
    return Path(found)


class Background:
    """Runs in a thread while it is entered. `wanted`: else it does nothing. `patience`: seconds to
    wait for the thread at the end, without a limit if there is none."""

    def __init__(self, wanted: bool, patience: float | None = None) -> None:
        self._patience = patience
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True) if wanted else None

    def __enter__(self: _B) -> _B:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join(self._patience)

    def _run(self) -> None:
        """Returns soon after `_end` is set."""
        raise NotImplementedError


class Meter(Background):
    """Samples until the run has ended, and once more."""

    def __init__(
        self,
        result: Path,
        wanted: bool,
        counters: Callable[[], NetworkPart | None] = traffic.counters_of_all,
    ) -> None:
        super().__init__(wanted)
        self.log = Log()
        self._result = result
        self._counters = counters
        self._step = _STEP_SECONDS

    def _run(self) -> None:
        while not self._end.wait(self._step):
            self._look()
        self._look()

    def _look(self) -> None:
        sample_into(self.log, self._counters, self._result)
        if len(self.log.samples) >= _MAX_SAMPLES:
            del self.log.samples[1::2]
            self._step *= 2


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


def is_wanted(arguments: Sequence[str]) -> bool:
    """Whether the run's files are on a file system of servers."""
    try:
        return abilities.is_of_servers(directory_of(arguments))
    except OSError:
        return False


def _sizes(result: Path) -> list[int]:
    """What size the file has with each measurement's line."""
    sizes = []
    size = 0
    with result.open("rb") as file:
        for line in file:
            size += len(line)
            if _MEASUREMENT.search(line):
                sizes.append(size)
    return sizes


def _origin(log: Log, result: Result) -> float | None:
    """When the benchmark began to measure. A line is late by what the engine takes to write it, so
    the earliest says most."""
    seen = [size for size, _ in log.lines]
    found = []
    for m, size in zip(result.measurements, _sizes(result.path), strict=False):
        at = bisect.bisect_left(seen, size)
        if m.span is not None and at < len(seen):
            found.append(log.lines[at][1] - m.span.end)
    return min(found, default=None)


def cells_of(log: Log, result: Result, copies: float = 1.0) -> list[CellTraffic]:
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
        first = bisect.bisect_right(times, m.span.begin - _LATE_SECONDS - _MARGIN_SECONDS) - 1
        last = bisect.bisect_left(times, m.span.end + _MARGIN_SECONDS)
        if first < 0 or last >= len(times):
            continue
        inner = (
            bisect.bisect_left(times, m.span.begin + _MARGIN_SECONDS),
            bisect.bisect_right(times, m.span.end - _MARGIN_SECONDS) - 1,
        )
        cells.append(
            CellTraffic(
                measurement=number,
                least=_between(log.samples, *inner),
                most=_between(log.samples, first, last),
                begin_seconds=times[first],
                end_seconds=times[last],
                copies=copies,
            )
        )
    return cells


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
