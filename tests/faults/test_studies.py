# SPDX-License-Identifier: BSD-3-Clause
"""The frame for studies where storage or processes go wrong: once for all studies."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from array_tools import io_error_of
from engines import Engine
from patience import SECONDS

from .conftest import with_fault

QUICK = ("--quiet", "--agree-deadline", "3s", "--watchdog", "15s")


def test_a_disk_runs_full(engine: Engine, tmp_path: Path, mount: Callable[..., Path]) -> None:
    """Tiles of 12 MiB each on 16 MiB; OMPIO says success in its collective writes."""
    place = mount("-t", "tmpfs", "-o", "size=16m", "none")
    words = ["tile-io", "--nr-tiles-x", "2", "--sz-tile-x", "2048", "--sz-tile-y", "2048"]
    run = engine.run(
        [*words, "--calls", "collective", "--max-bytes", "1GiB", *QUICK, "--dir", place], tmp_path
    )
    io_error_of(run)
    for m in run.result.measurements:
        assert (m["rate"]["value"] is None) == (not m["valid"])
    assert run.result.figures == [] or run.result.figure("tile_io")["metric"]["value"] is None
    assert list(place.iterdir()) == [], run


def test_what_does_not_fit_is_refused(
    any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    place = mount("-t", "tmpfs", "-o", "size=16m", "none")
    run = any_engine.run(["io-bench", *QUICK, "--size", "16MiB", "--dir", place], tmp_path)
    assert run.code == 3, run
    assert "the files need 16 MiB" in run.stderr.replace("16.0", "16")
    assert run.result.measurements == []
    assert list(place.iterdir()) == []


def test_a_directory_that_cannot_be_written(any_engine: Engine, tmp_path: Path) -> None:
    run = any_engine.run(["io-bench", *QUICK, "--dir", "/proc"], tmp_path)
    assert run.code == 3, run
    assert "/proc" in run.stderr
    assert run.result.measurements == []


def test_a_rank_is_killed(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """The other ranks are ended by their launcher; what was measured before is in the result,
    and `effio clean` finds the files, also those that the MPI library was just making next to them
    (OMPIO, in an open)."""
    words = ["tile-io", *QUICK, "--sz-tile-x", "64", "--sz-tile-y", "64", "--dir", data]
    job = any_engine.start([*words, "--repetitions", "1000000"], tmp_path)
    job.wait_for_measurements(5)
    os.kill(job.ranks()[1], signal.SIGKILL)
    run = job.finish()
    assert run.code != 0
    result = run.result
    assert len(result.measurements) >= 5
    assert all(m["valid"] for m in result.measurements[:5])
    names = {entry["name"] for entry in result.run["manifest"]["files"]}
    left = [f.name for f in data.iterdir() if not f.name.startswith(".effio-run-")]
    assert {re.sub(r"\.locktest\.\d+$", "", name) for name in left} <= names
    cleaned = subprocess.run(
        [sys.executable, "-m", "effio", "clean", "--yes", result.path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert cleaned.returncode == 0, cleaned.stderr
    assert list(data.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        "pio --size 16MiB --buffer 4KiB --spatial simple-strided",
        "io-bench --size 16MiB --block 4KiB --copies 1",
        "partest --methods task-local --size 16MiB --call 4KiB",
    ],
)
def test_a_signal_within_a_pass_is_not_a_wrong_datum(
    any_engine: Engine, tmp_path: Path, data: Path, words: str
) -> None:
    """What a write had not written yet, or a read not read, is not compared: neither "wrong data"
    nor "the file is too short". The signal comes with the third call on a data file
    of thousands: the clock is read, and a signal noticed, once in a millisecond or in a thousand
    calls."""
    for call in ("write", "read"):
        name = words.partition(" ")[0].replace("-", "_")
        prefix = with_fault(any_engine, f"{call},interrupt,in={data}/{name},nth=3")
        log = tmp_path / f"{call}.log"
        run = any_engine.run(
            [*words.split(), *QUICK, "--dir", data, "-o", f"{call}.jsonl"],
            tmp_path,
            ranks=1,
            prefix=[*prefix, f"EFFIO_FAULT_LOG={log}"],
        )
        assert log.read_text().startswith(f"{call} rank 0"), run
        assert run.code == 4, run
        assert run.result.end is not None
        assert run.result.end["errors"] == []
        assert run.result.end["status"] == "interrupted"
        assert [error for m in run.result.measurements for error in m["errors"]] == []
        assert all(m["error_count"] == 0 for m in run.result.measurements)
        assert list(data.iterdir()) == []
        # What pio is about to write again it reads back first, untimed: that is what stops, and the
        # write before it counts.
        last = run.result.measurements[-1]
        assert last["valid"] == (name == "pio" and call == "read")
        assert last["valid"] or last["invalid_reason"] == "stopped by a signal"
