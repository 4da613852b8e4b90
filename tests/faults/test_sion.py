# SPDX-License-Identifier: BSD-3-Clause
"""Containers whose writers fail: whose failure it is, and what `check` then says."""

from __future__ import annotations

import time
from errno import EIO, ENOSPC
from pathlib import Path

import pytest

from engines import Engine
from patience import SECONDS

from .conftest import Faulty

# A call for each block; a call for each head before, and two for the tail after them.
IOR = ("ior", "--quiet", "--backend", "sion", "--phases", "write", "--block", "64KiB", "--keep")
CALLS = ("--transfer", "64KiB", "--agree-deadline", "10s")


@pytest.fixture
def faulty(any_engine: Engine, tmp_path: Path, data: Path) -> Faulty:
    """No MPI-IO takes part."""
    return Faulty(any_engine, tmp_path, data)


def check(faulty: Faulty, path: Path) -> str:
    run = faulty.engine.alone(["sion", "check", path], faulty.place)
    assert run.code == 1, run
    return run.stdout


def test_a_full_disk_at_one_files_tail_leaves_the_streams_of_the_others(faulty: Faulty) -> None:
    run = faulty.launch(
        f"write,error={ENOSPC},file=.000001,rank=1,nth=2",
        [*IOR, *CALLS, "--name", "c", "--dir", faulty.data, "--backend-options", "files=2"],
    )
    assert faulty.strikes == ["write rank 1"]
    assert run.code == 3, run
    assert run.result.end is not None
    (error,) = run.result.end["errors"]
    assert error["rank"] == 1
    assert error["path"].endswith("c.000001")
    found = check(faulty, faulty.data / "c")
    assert f"{faulty.data / 'c'}: complete" in found
    assert f"{faulty.data / 'c'}.000001: not closed" in found
    assert "complete streams: ranks 0" in found


def test_a_full_disk_in_the_data_leaves_no_stream_that_is_known_to_be_whole(
    faulty: Faulty,
) -> None:
    run = faulty.launch(
        f"write,error={ENOSPC},file=.000001,rank=1,nth=1",
        [*IOR, *CALLS, "--name", "c", "--dir", faulty.data, "--backend-options", "files=2"],
    )
    assert run.code == 3, run
    found = check(faulty, faulty.data / "c")
    assert found.count("not closed") == 2
    assert "complete streams: none" in found


def test_a_collectors_failure_is_of_the_rank_whose_data_it_was(faulty: Faulty) -> None:
    # The root writes a head, its own block and that of rank 1, which follows without a gap.
    words = [*IOR, *CALLS, "--collective", "--name", "c", "--dir", faulty.data]
    run = faulty.launch(
        f"write,error={EIO},file=/c,rank=0,nth=3",
        [*words, "--backend-options", "collector-tasks=2,block=4096"],
    )
    assert faulty.strikes == ["write rank 0"]
    assert run.code == 3, run
    assert run.result.end is not None
    (error,) = run.result.end["errors"]
    assert error["rank"] == 1
    assert error["operation"] == "pwrite"
    assert "on rank 0, the collector" in error["cause"]
    # Chunks begin behind the head, at 4096.
    assert error["offset_bytes"] == 4096 + 65536


def test_killed_writers_leave_no_stream_that_is_known_to_be_whole(
    any_engine: Engine, faulty: Faulty
) -> None:
    """Both have written half of what they want, and wait."""
    words = [*IOR, "--name", "c", "--dir", faulty.data, "--backend-options", "files=2,block=4096"]
    job = any_engine.start([*words, "--transfer", "32KiB", "--think-time", "600s"], faulty.place)
    files = [faulty.data / "c", faulty.data / "c.000001"]
    deadline = time.monotonic() + SECONDS
    while not all(file.exists() and file.stat().st_size == 4096 + 32768 for file in files):
        assert time.monotonic() < deadline, list(faulty.data.iterdir())
        time.sleep(0.05)
    job.kill()
    job.wait_for_all()
    job.finish()
    found = check(faulty, files[0])
    assert found.count("not closed") == 2
    assert "complete streams: none" in found
