# SPDX-License-Identifier: BSD-3-Clause
"""Where bytes were: one function judges them, and headline, tick, card and list say the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.report.build import load, tell
from effio.report.listing import line_of
from effio.report.model import Report
from effio.store.evidence import Place, evidence_of
from effio.store.folder import RunFolder
from effio.store.reader import read_result

MB = 1_000_000


def _measured(access: str, verdict: str, share: float | None, **more: Any) -> made.Line:
    cache = {"verdict": verdict, "storage_fraction": share, "reason": "why"}
    return made.measurement(
        access, "stream", 1, 100 * MB, benchmark="tile-io", bytes=100 * MB, where={"tile": 1},
        cache=cache, **more,
    )  # fmt: skip


def _figures(access: str) -> list[made.Line]:
    place = {"tile": 1, "pattern": "stream", "access": access}
    samples = {"count": 1, "low95": None, "high95": None}
    return [
        made.figure("bandwidth", 100.0 * MB, where=place, samples=samples),
        made.figure("tile_io", 100.0 * MB, where={}, detail={"place": place}),
    ]


def _report(tmp_path: Path, cells: list[made.Line], access: str) -> Report:
    lines = [made.run_line(benchmark="tile-io"), *cells, *_figures(access), made.end()]
    return tell(*load(made.write(tmp_path / "result.jsonl", made.numbered(lines))))


@pytest.mark.parametrize(
    ("verdict", "share", "level", "words", "mark"),
    [
        ("device", 0.97, "good", "writes until on storage", ""),
        ("mixed", 0.94, "warn", "writes, 94 % on storage", " (mixed)"),
        ("mixed", 0.5, "warn", "writes, 50 % on storage", " (mixed)"),
        ("cache", 0.0, "warn", "writes into memory", " (memory)"),
        (
            "unknown",
            None,
            "warn",
            "writes, in memory or on storage: not known",
            " (unknown)",
        ),
    ],
)
def test_the_tick_is_that_of_the_headlines_own_cell(
    tmp_path: Path, verdict: str, share: float | None, level: str, words: str, mark: str
) -> None:
    """Reads that all came from the device say nothing of a write that is the headline."""
    cells = [_measured("write", verdict, share), _measured("read", "device", 1.0)]
    report = _report(tmp_path, cells, "write")
    assert report.headline.basis() == f"{words}; one repetition: no interval"
    tick = next(f for f in report.findings if f.card == "cache")
    assert tick.level == level
    assert "read came from" not in tick.text
    row = line_of(RunFolder(tmp_path), read_result(tmp_path / "result.jsonl"))
    assert row["figure"] == f"highest rate = 100.0 MB/s{mark}"


def test_shares_are_by_bytes_and_unknown_is_not_nothing(tmp_path: Path) -> None:
    lines = [
        made.run_line(benchmark="tile-io"),
        _measured("write", "device", 1.0),
        _measured("write", "mixed", 0.5, repetition=1),
        _measured("read", "unknown", None),
        made.end(),
    ]
    result = read_result(made.write(tmp_path / "r.jsonl", made.numbered(lines)))
    written, read = evidence_of(result.measurements)
    assert (written.place, written.on_storage) == (Place.MIXED, 0.75)
    assert written.sentence() == (
        "75 % of the bytes written were on storage when the clock stopped, the rest in memory"
    )
    assert (read.place, read.on_storage) == (Place.UNKNOWN, None)
    assert read.sentence() == "whether the bytes read came from storage is not known (why)"


@pytest.mark.parametrize(
    ("verdict", "share", "why"),
    [("device", 1.0, "the peak is too low"), ("cache", 0.0, "a cache took part")],
)
def test_a_cache_is_blamed_for_what_is_above_the_peak_only_with_evidence(
    tmp_path: Path, verdict: str, share: float, why: str
) -> None:
    place = {"tile": 1, "pattern": "stream", "access": "write"}
    lines = [
        made.run_line(benchmark="tile-io"),
        _measured("write", verdict, share),
        *_figures("write"),
        made.figure("share_of_peak", 1.8, "1", where=place),
        made.end(),
    ]
    report = tell(*load(made.write(tmp_path / "result.jsonl", made.numbered(lines))))
    above = next(f.text for f in report.findings if "exceed the peak" in f.text)
    assert above.endswith(f"with 180 % of it: {why}.")
