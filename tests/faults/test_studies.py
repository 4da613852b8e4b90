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

from array_tools import io_error_of
from engines import Engine

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
    """The other ranks are ended by their launcher; what was measured before stands in the result,
    and `effio clean` finds the files, also those that the MPI library was just making beside them
    (OMPIO, in an open)."""
    words = ["tile-io", *QUICK, "--sz-tile-x", "64", "--sz-tile-y", "64", "--dir", data]
    job = any_engine.start([*words, "--repetitions", "1000000"], tmp_path)
    job.wait_for_measurements(5)
    os.kill(job.ranks()[1], signal.SIGKILL)
    run = job.finish(60)
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
        timeout=60,
        check=False,
    )
    assert cleaned.returncode == 0, cleaned.stderr
    assert list(data.iterdir()) == []
