# SPDX-License-Identifier: BSD-3-Clause
"""Storage that runs full: at a write, or unseen until a sync."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engines import Engine

from .conftest import QUICK, check_failed


def test_a_write_finds_no_space(engine: Engine, tmp_path: Path, mount: Callable[..., Path]) -> None:
    """16 MiB, where the scatter file alone takes 22 MiB: Open MPI's OMPIO says success in its
    collective writes, ROMIO says that it is an I/O error."""
    place = mount("-t", "tmpfs", "-o", "size=16m", "none")
    run = engine.run([*QUICK, "--max-bytes", "1GiB", "--dir", place], tmp_path)
    check_failed(run, place)
    last = run.result.measurements[-1]
    assert (last["access"], last["pattern"], last["valid"]) == ("write", "scatter", False)


def test_only_the_sync_finds_no_space(
    engine: Engine, tmp_path: Path, delayed_failure: Path
) -> None:
    """All writes succeed. OMPIO's ranks other than the one that syncs never return from
    MPI_File_sync; the rank that knows the error ends the job after its deadline."""
    place = delayed_failure / "data"
    place.mkdir()
    run = engine.run([*QUICK, "--max-bytes", "1GiB", "--dir", place], tmp_path)
    assert run.code == 3, run
    result = run.result
    assert result.status == "io_error", run
    assert result.end is not None
    assert "sync" in result.end["errors"][0]["operation"].lower()
    assert all(f["name"] != "b_eff_io" or f["metric"]["value"] is None for f in result.figures)
    assert all(m["rate"]["value"] is None for m in result.measurements if not m["valid"])
    assert list(place.iterdir()) == []


def test_a_run_that_cannot_fit_is_refused(
    any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    """Before anything is written: the cap is 80 % of the free space, and one call of every row
    needs more."""
    place = mount("-t", "tmpfs", "-o", "size=16m", "none")
    run = any_engine.run([*QUICK, "--dir", place], tmp_path)
    assert run.code == 3, run
    assert "one call of every row needs" in run.stderr
    assert "80 % of the 16 MiB free" in run.stderr
    assert run.result.measurements == []
    assert list(place.iterdir()) == []


def test_no_inode_is_left(any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]) -> None:
    """The directory takes two files besides itself: the third open fails."""
    place = mount("-t", "tmpfs", "-o", "size=512m,nr_inodes=3", "none")
    run = any_engine.run([*QUICK, "--max-bytes", "300MiB", "--dir", place], tmp_path)
    check_failed(run, place)
    assert "MPI_File_open" in run.stderr
