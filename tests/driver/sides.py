# SPDX-License-Identifier: BSD-3-Clause
"""Runs and sides of a comparison, made from rates: a run for each rate, each in its own night."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from driver import made
from effio.judge.compare import Comparison
from effio.judge.samples import Judged, Side
from effio.judge.verdicts import Verdict
from effio.store.reader import Result
from effio.store.records import Measurement, Run

CHUNK = {"chunk_bytes": 1024}
START = "2026-11-20T12:00:00Z"


def cell(rate: float, repetition: int = 1, /, **more: Any) -> made.Line:
    place: dict[str, Any] = {"where": CHUNK, "repetition": repetition}
    return made.measurement("write", "shared", 1, rate, **(place | more))


def run(name: str, cells: Sequence[made.Line], started: str = START, **more: Any) -> Judged:
    head, *lines = made.checked([made.run_line(started=started, **more), *cells])
    result = Result(Path(name), Run.model_validate(head), msgspec.convert(lines, list[Measurement]))
    return Judged(name, Path(name), result)


def side(name: str, rates: Sequence[float], **more: Any) -> Side:
    """A run for each rate, each in its own night."""
    return Side(name, [
        run(f"{name}{i}", [cell(rate)], night(name, i), **more) for i, rate in enumerate(rates)
    ])  # fmt: skip


def night(name: str, number: int) -> str:
    """A night; no two nights of sides with different names are the same."""
    return (
        f"{2000 + sum(map(ord, name)) % 100}-{1 + number // 28:02}-{1 + number % 28:02}T20:00:00Z"
    )


FAST, SLOW = (110.0, 111.0, 109.0), (100.0, 101.0, 99.0)


def only(comparison: Comparison) -> Verdict:
    (line,) = comparison.lines
    return line.verdict
