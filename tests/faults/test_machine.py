# SPDX-License-Identifier: BSD-3-Clause
"""A machine that lacks something, or whose clock jumps."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from engines import Engine

from .conftest import Faulty

SMALL = ("ior", "--quiet", "--backend", "posix", "--block", "1MiB", "--transfer", "64KiB")
HOUR = 3600


def test_no_file_descriptor_is_left(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """On rank 1, when it opens its file of the second repetition."""
    faulty = Faulty(any_engine, tmp_path, data)
    words = [*SMALL, "--files", "per-process", "--file-each-repetition", "--repetitions", "2"]
    run = faulty.launch(
        f"create,error={errno.EMFILE},in={data}/,rank=1,nth=2", [*words, "--dir", data]
    )
    assert faulty.strikes == ["create rank 1"]
    assert run.code == 3, run
    result = run.result
    assert result.status == "io_error"
    assert [m["valid"] for m in result.measurements] == [True, True, False]
    assert result.end is not None
    (error,) = result.end["errors"]
    assert (error["errno"], error["rank"]) == (errno.EMFILE, 1)
    assert "Too many open files" in run.stderr
    assert list(data.iterdir()) == []


def test_no_memory_is_left(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """Of 1 TiB: more than an address space of 64 GiB has."""
    words = [*SMALL[:4], "--block", "1TiB", "--transfer", "1TiB", "--max-bytes", "1PiB"]
    run = any_engine.run([*words, "--dir", data], tmp_path, prefix=["prlimit", f"--as={64 << 30}"])
    assert run.code == 6, run
    result = run.result
    assert result.status == "environment"
    assert result.end is not None
    assert "not enough memory for the buffers of this run" in result.end["reason"]
    assert "not enough memory" in run.stderr
    assert result.measurements == []
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("jump", [HOUR, -HOUR])
def test_the_time_of_day_jumps(any_engine: Engine, tmp_path: Path, data: Path, jump: int) -> None:
    """As when a clock is set in the midst of a run. Times are differences of a clock that nobody
    sets."""
    faulty = Faulty(any_engine, tmp_path, data)
    run = faulty.launch(f"clock,step={jump},from=3", [*SMALL, "--dir", data])
    assert faulty.strikes, "nobody asked for the time of day"
    assert run.code == 0, run
    for m in run.result.measurements:
        assert m["valid"]
        assert all(0 <= part["min"] <= part["max"] < HOUR for part in m["seconds"].values())
    assert list(data.iterdir()) == []
