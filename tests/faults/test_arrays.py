# SPDX-License-Identifier: BSD-3-Clause
"""Array libraries on storage that goes wrong: reads that fail on one rank, disks that run full."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from array_tools import BY_MPI_IO, WITHOUT_MPI_IO, io_error_of, need
from engines import Engine, Run

from .conftest import Faulty

QUICK = ("--quiet", "--agree-deadline", "3s", "--watchdog", "15s")
EIO = 5
MPI_ERR_INTERN = 17  # Open MPI exits with the class of the error that ended it


def check_ended(run: Run, data: Path, file: str) -> None:
    """Ended by itself with an error that names who, where and why; cleaned up; no number."""
    error = io_error_of(run)
    assert Path(error["path"]).name.startswith(file)
    assert error["path"] in run.stderr
    # A rank that ends the others leaves no time for the row.
    for row in run.result.measurements:
        assert (row["rate"]["value"] is None) == (not row["valid"])
    assert list(data.iterdir()) == [], run


# Where the libraries lose the error of one rank inside their collective calls. It is found all the
# same, and never a good number.
LOST = {
    # OMPIO reports nothing; the check of the values finds it.
    ("openmpi-ompio", "pnetcdf"): {1},
    # The ranks continue to different calls of MPI, which ends the job, or the watchdog does.
    ("openmpi-ompio", "netcdf4"): {MPI_ERR_INTERN, 5},
}


def check_found(run: Run, codes: set[int]) -> None:
    assert run.code in codes, run
    for row in run.result.measurements:
        if row["access"] == "read":
            assert row["error_count"] > 0 or not row["valid"]


@pytest.mark.parametrize("library", BY_MPI_IO)
def test_a_read_fails_on_one_rank(faulty: Faulty, library: str) -> None:
    check_failed_read(faulty, library)


@pytest.mark.parametrize("library", WITHOUT_MPI_IO)
def test_a_read_without_mpi_io_fails_on_one_rank(any_faulty: Faulty, library: str) -> None:
    check_failed_read(any_faulty, library)


def check_failed_read(faulty: Faulty, library: str) -> None:
    need(faulty.engine, library)
    words = ["libraries", "--libraries", library, "--processes", "2", "--edges", "16", *QUICK]
    own = library.endswith("-fpp")
    file = f"libraries_{library}_none" + (".001" if own else "")
    run = faulty.launch(
        f"read,error={EIO},file={file},rank=1",
        [*words, "--hint-sets", "none", "--dir", faulty.data],
    )
    if not faulty.strikes:
        pytest.skip(f"{faulty.engine.name}: rank 1 reads nothing itself")
    if codes := LOST.get((faulty.engine.name, library)):
        check_found(run, codes)
    else:
        check_ended(run, faulty.data, file)


def check_hung(run: Run, data: Path) -> None:
    """Which rank meets the full disk first decides whether HDF5 comes back from where it makes the
    variables: on a busy machine its ranks often wait in different calls. The watchdog then says
    what the library lost."""
    result = run.result
    assert result.status == "hung", run
    assert result.end is not None
    (error,) = result.end["errors"]
    assert error["operation"] == "nc_enddef"
    assert error["path"] in run.stderr
    assert " are left on its file system" in error["cause"]
    for row in result.measurements:
        assert (row["rate"]["value"] is None) == (not row["valid"])
    assert list(data.iterdir()) == [], run


@pytest.mark.parametrize("library", BY_MPI_IO)
@pytest.mark.parametrize("benchmark", ["flash-io", "libraries"])
def test_a_disk_runs_full(
    engine: Engine, mount: Callable[..., Path], tmp_path: Path, benchmark: str, library: str
) -> None:
    place = mount("-t", "tmpfs", "-o", "size=1m", "none")
    check_full_disk(engine, place, tmp_path, benchmark, library)


@pytest.mark.parametrize("library", WITHOUT_MPI_IO)
@pytest.mark.parametrize("benchmark", ["flash-io", "libraries"])
def test_a_disk_runs_full_without_mpi_io(
    any_engine: Engine, mount: Callable[..., Path], tmp_path: Path, benchmark: str, library: str
) -> None:
    place = mount("-t", "tmpfs", "-o", "size=1m", "none")
    check_full_disk(any_engine, place, tmp_path, benchmark, library)


def check_full_disk(
    engine: Engine, place: Path, tmp_path: Path, benchmark: str, library: str
) -> None:
    """1 MiB where 1.9 MiB (libraries, on two processes) or 1.6 MiB (flash-io) want to go."""
    need(engine, library)
    words: list[str] = {
        "flash-io": ["flash-io", "--blocks", "8", "--read", "all", "--backend", library],
        "libraries": ["libraries", "--edges", "24", "--libraries", library, "--hint-sets", "none"],
    }[benchmark]
    run = engine.run([*words, *QUICK, "--dir", place, "--max-bytes", "1GiB"], tmp_path)
    if run.code == 5 and (engine.name, library) == ("openmpi-romio", "netcdf4"):
        check_hung(run, place)
    else:
        check_ended(run, place, "flash_io_" if benchmark == "flash-io" else "libraries_")


def test_hdf5_on_a_full_disk_is_not_closed_at_the_end(
    engine: Engine, mount: Callable[..., Path], tmp_path: Path
) -> None:
    """HDF5 closes in MPI_Finalize what was left open: one rank with blocks of 12^3 cells died there
    by a signal, two ranks waited for each other where no watchdog was left."""
    need(engine, "hdf5")
    place = mount("-t", "tmpfs", "-o", "size=1m", "none")
    words = ["flash-io", "--cells", "12", "--blocks", "8", "--backend", "hdf5", *QUICK]
    for ranks in (1, 2):
        out = tmp_path / str(ranks)
        out.mkdir()
        run = engine.run([*words, "--dir", place, "--max-bytes", "1GiB"], out, ranks=ranks)
        check_ended(run, place, "flash_io_")


def test_a_hang_at_the_very_end_leaves_the_outcome(faulty: Faulty) -> None:
    """MPI_Finalize does not return: the sentinel still stands, and the run is what it was.

    It is not given the minute that the watchdog gives to a call of the run: nothing is measured.
    """
    words = ["libraries", "--libraries", "posix", "--edges", "4", "--quiet", "--hint-sets", "none"]
    run = faulty.launch("finalize,hang", [*words, "--dir", faulty.data])
    assert run.seconds < 40, run
    assert run.result.status == "done"
    assert "the run was complete" in run.stderr
    assert "MPI_Finalize" in run.stderr
