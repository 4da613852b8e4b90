# SPDX-License-Identifier: BSD-3-Clause
"""Transfers under way that fail, or that a signal finds there: the one that failed is reported
with its place, and nothing is in flight when a run has ended."""

from __future__ import annotations

import errno
import os
import re
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from engines import Engine, Job
from ior_runs import LIMITED, MIB
from queue_runs import needs_uring, without_io_uring

from .conftest import Faulty
from .standing import standing

KIB = 1024
PIECES = ("--block=400KiB", "--transfer=4KiB")


def words_of(way: str, data: Path, *more: object) -> list[object]:
    return ["ior", "--quiet", "--dir", data, f"--backend={way}", *more]


def patience(engine: Engine) -> str:
    """MPICH never says that a transfer is over that failed: the watchdog ends the run."""
    return f"--watchdog={30 if engine.is_openmpi else 3}s"


@pytest.mark.parametrize("access", ["write", "read"])
def test_the_tenth_transfer_fails_at_its_completion(
    engine: Engine, faulty: Faulty, data: Path, access: str
) -> None:
    """Rank 1's transfers follow each other from byte 400 Ki. OMPIO and MPICH move them by POSIX
    asynchronous I/O; Open MPI's ROMIO does at the post."""
    call = access if engine.name == "openmpi-romio" else f"a{access}"
    words = words_of("mpiio", data, "--queue-depth=4", *PIECES, "--read-from=same")
    words += [patience(engine), "--phases=write" + (",read" if access == "read" else "")]
    run = faulty.launch(f"{call},error=5,file=ior,rank=1,nth=10", words)
    assert faulty.strikes == [f"{call} rank 1"], run
    if not engine.is_openmpi:
        # The one whose transfer never ends has the word, not the one that waits for it to agree.
        assert run.code == 5, run
        assert f"no progress for 5 s in '{access} shared 4 KiB" in run.stderr, run
        end = run.result.end
        assert end is not None
        (error,) = end["errors"]
        assert error["rank"] == 1
        assert error["operation"] != "agree"
        return
    assert run.code == 3, run
    failed = run.result.measurements[-1]
    assert failed["access"] == access
    assert failed["valid"] is False
    assert all(m["valid"] for m in run.result.measurements[:-1])
    (error,) = failed["errors"]
    assert error["operation"] == f"MPI_File_i{access}_at"
    assert error["rank"] == 1
    assert error["offset_bytes"] == 400 * KIB + 9 * 4 * KIB
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("way", ["uring", "mpiio"])
def test_a_full_disk_is_reported_with_the_place(
    engine: Engine, tmp_path: Path, mount: Callable[..., Path], way: str
) -> None:
    """OMPIO says that nothing was moved, Open MPI's ROMIO that there is an I/O error."""
    if way == "uring":
        needs_uring(engine)
    place = mount("-t", "tmpfs", "-o", "size=1m", "none")
    words = words_of(way, place, "--queue-depth=8", "--block=1MiB", "--transfer=4KiB")
    run = engine.run([*words, "--max-bytes=1GiB", patience(engine)], tmp_path)
    if way == "mpiio" and not engine.is_openmpi:
        # One whose transfer never ends has the word, not one that had written everything before
        # the disk was full and waits for it to agree.
        assert run.code == 5, run
        # After 3 s plus the time of the reports on rank 0; 2 s later if only the other rank hangs.
        assert re.search(r"no progress for [3-6] s in 'write shared 4 KiB", run.stderr), run
        assert "agree" not in run.stderr, run
        assert " are left on its file system" in run.stderr, run
        return
    assert run.code == 3, run
    (write,) = run.result.measurements
    assert write["valid"] is False
    (error,) = write["errors"]
    if way == "uring":
        assert error["operation"] == "io_uring write"
        assert "No space left" in error["cause"]
    else:
        assert error["operation"] == "MPI_File_iwrite_at"
    assert 0 <= error["offset_bytes"] < 2 * MIB
    assert error["offset_bytes"] % (4 * KIB) == 0
    assert list(place.iterdir()) == []


def test_a_file_that_may_not_grow_is_reported_with_the_place(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """Files of 40 MiB at most; what was under way when the first failed may fail, too."""
    needs_uring(any_engine)
    words = words_of("uring", data, "--queue-depth=8", "--block=64MiB", "--transfer=1MiB")
    run = any_engine.run(words, tmp_path, ranks=1, prefix=["sh", "-c", LIMITED, "limited"])
    assert run.code == 3, run
    (write,) = run.result.measurements
    (error,) = write["errors"]
    assert error["operation"] == "io_uring write"
    assert os.strerror(errno.EFBIG) in error["cause"]
    assert error["offset_bytes"] in range(40 * MIB, 56 * MIB, MIB)
    assert list(data.iterdir()) == []


def test_memory_that_may_not_be_locked_is_reported_and_done_without(
    any_engine: Engine, elsewhere: Path
) -> None:
    """16 slots of 64 KiB to read into, and 16 of 1 MiB more to write from: past 64 KiB."""
    needs_uring(any_engine)
    data = elsewhere / "data"
    data.mkdir(mode=0o777)
    data.chmod(0o777)
    program = elsewhere / "limited"
    program.write_text(f'#!/bin/sh\nulimit -l 64; exec {any_engine.program} "$@"\n')
    program.chmod(0o755)
    words = words_of("uring", data, "--queue-depth=16", "--block=1MiB", "--transfer=64KiB")
    run = any_engine.as_nobody([*words, "--verify=write,read"], elsewhere, program)
    assert run.code == 0, run
    for m in run.result.measurements:
        assert m["valid"]
        library = m["detail"]["library"]
        assert library["registered_bytes"] == 0
        needed = "17 MiB" if m["access"] == "write" else "1 MiB"
        assert library["remark"] == (
            f"buffers not registered: {os.strerror(errno.ENOMEM)} ({needed} are needed, "
            "ulimit -l allows 64 KiB)"
        )
        assert m["detail"]["remark"].startswith("buffers not registered: ")
    assert list(data.iterdir()) == []


def test_a_kernel_that_forbids_io_uring(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    needs_uring(any_engine)
    run = without_io_uring(
        any_engine, words_of("uring", data, "--queue-depth=4", "--transfer=4KiB"), tmp_path
    )
    assert run.returncode == 6, run
    assert "io_uring_queue_init" in run.stderr
    assert "does not allow io_uring; take --backend posix or direct" in run.stderr
    assert list(data.iterdir()) == []


def paced(engine: Engine, way: str, tmp_path: Path, data: Path, *more: str) -> Job:
    """A run of some minutes that has begun to write: 1 GiB at 20 MB/s."""
    if way == "uring":
        needs_uring(engine)
    words = words_of(way, data, "--queue-depth=16", "--block=512MiB", "--transfer=64KiB", *more)
    words += ["--rate-limit=20MB/s", "--phases=write", "--max-bytes=3GiB"]
    job = engine.start(words, tmp_path)
    file = data / "ior"
    job.wait_until("data are written", lambda: file.exists() and file.stat().st_size > MIB)
    return job


@pytest.mark.parametrize(
    ("way", "sign"),
    [
        ("uring", signal.SIGINT),
        ("uring", signal.SIGUSR1),
        ("mpiio", signal.SIGINT),
        ("mpiio", signal.SIGTERM),
    ],
)
def test_a_signal_leaves_nothing_under_way(
    mpi: Engine, tmp_path: Path, data: Path, way: str, sign: signal.Signals
) -> None:
    """The run ends as interrupted when all that was posted was waited for, and removes its files:
    nothing can write to them any more."""
    job = paced(mpi, way, tmp_path, data)
    for pid in job.ranks():
        os.kill(pid, sign)
    run = job.finish()
    assert run.code == 4, run
    assert run.result.status == "interrupted"
    (write,) = run.result.measurements
    assert write["valid"] is False
    assert write["operations"] * 64 * KIB == write["bytes"]
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("way", ["uring", "mpiio"])
def test_a_second_signal_ends_what_is_under_way_at_once(
    mpi: Engine, tmp_path: Path, data: Path, way: str
) -> None:
    """Rank 1 hangs with its transfers, so that rank 0 cannot stop in order. The launcher
    ends the one that stands; what it had under way ends with it."""
    job = paced(mpi, way, tmp_path, data, "--watchdog=0s")
    asked, frozen = job.ranks()

    with standing(job, frozen):
        job.wait_for_end_of(asked, partial(os.kill, asked, signal.SIGINT))
        run = job.finish()
    assert run.result.status == "interrupted", run
    assert run.result.end is not None
    assert "stopped at once by a second signal" in run.result.end["reason"]
    assert run.result.end["exit_code"] == 4
    assert list(data.iterdir()) == [], run
