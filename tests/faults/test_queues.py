# SPDX-License-Identifier: BSD-3-Clause
"""Transfers that are under way and fail: the one that did is told, with its place."""

from __future__ import annotations

from pathlib import Path

from engines import Engine

from .conftest import Faulty

KIB = 1024


def test_the_tenth_write_fails_at_its_completion(
    engine: Engine, faulty: Faulty, data: Path
) -> None:
    """Rank 0's transfers follow each other from byte 0. OMPIO and MPICH move them by POSIX
    asynchronous I/O; Open MPI's ROMIO does at the post. MPICH never says that it is over."""
    call = "write" if engine.name == "openmpi-romio" else "awrite"
    words = ["ior", "--quiet", "--dir", data, "--backend=mpiio", "--queue-depth=4"]
    words += ["--block=400KiB", "--transfer=4KiB", "--phases=write"]
    words += [f"--watchdog={30 if engine.is_openmpi else 3}s"]
    run = faulty.launch(f"{call},error=5,file=ior,rank=0,nth=10", words)
    assert faulty.strikes == [f"{call} rank 0"], run
    if not engine.is_openmpi:
        assert run.code == 5, run
        assert "MPI_File_iwrite_at" in run.stderr, run
        return
    assert run.code == 3, run
    (write,) = run.result.measurements
    assert write["valid"] is False
    (error,) = write["errors"]
    assert error["operation"] == "MPI_File_iwrite_at"
    assert error["rank"] == 0
    assert error["offset_bytes"] == 9 * 4 * KIB
    assert list(data.iterdir()) == []


def test_the_tenth_read_fails_at_its_completion(engine: Engine, faulty: Faulty, data: Path) -> None:
    call = "read" if engine.name == "openmpi-romio" else "aread"
    words = ["ior", "--quiet", "--dir", data, "--backend=mpiio", "--queue-depth=4"]
    words += ["--block=400KiB", "--transfer=4KiB", "--read-from=same"]
    words += [f"--watchdog={30 if engine.is_openmpi else 3}s"]
    run = faulty.launch(f"{call},error=5,file=ior,rank=1,nth=10", words)
    assert faulty.strikes == [f"{call} rank 1"], run
    if not engine.is_openmpi:
        assert run.code == 5, run
        return
    assert run.code == 3, run
    write, read = run.result.measurements
    assert write["valid"] is True
    assert read["valid"] is False
    (error,) = read["errors"]
    assert error["operation"] == "MPI_File_iread_at"
    assert error["rank"] == 1
    assert error["offset_bytes"] == 400 * KIB + 9 * 4 * KIB
