# SPDX-License-Identifier: BSD-3-Clause
"""Array libraries on storage that goes wrong: reads that fail on one rank, disks that run full."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import Engine, Run

from .conftest import Faulty

LIBRARIES = ("pnetcdf", "hdf5", "netcdf4", "mpiio", "posix", "posix-fpp", "fortran-fpp")
QUICK = ("--quiet", "--agree-deadline", "3s", "--watchdog", "15s")
EIO = 5


def need(engine: Engine, library: str, tmp_path: Path) -> None:
    described = json.loads(engine.alone(["describe", "backends"], tmp_path).stdout)
    row = next(b for b in described if b["name"] == library and b["serves"] == "arrays")
    if row["missing"]:
        pytest.skip(f"{library}: {row['missing']}")


def check_ended(run: Run, data: Path, file: str) -> None:
    """Ended by itself with an error that names who, where and why; cleaned up; no number."""
    assert run.code == 3, run
    assert run.seconds < 40, run
    result = run.result
    assert result.status == "io_error", run
    assert result.end is not None
    (error, *_) = result.end["errors"]
    assert error["rank"] in (0, 1)
    assert error["host"]
    assert error["cause"]
    assert Path(error["path"]).name.startswith(file)
    assert error["path"] in run.stderr
    # A rank that ends the others leaves no time for the row.
    for row in result.measurements:
        assert (row["rate"]["value"] is None) == (not row["valid"])
    assert list(data.iterdir()) == [], run


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_read_fails_on_one_rank(faulty: Faulty, library: str) -> None:
    need(faulty.engine, library, faulty.place)
    words = ["libraries", "--libraries", library, "--processes", "2", "--edges", "16", *QUICK]
    own = library.endswith("-fpp")
    file = f"libraries_{library}_none" + (".001" if own else "")
    run = faulty.launch(
        f"read,error={EIO},file={file},rank=1",
        [*words, "--hint-sets", "none", "--dir", faulty.data],
    )
    if not faulty.strikes:
        pytest.skip(f"{faulty.engine.name}: rank 1 reads nothing itself")
    check_ended(run, faulty.data, file)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("benchmark", ["flash-io", "libraries"])
def test_a_disk_runs_full(
    engine: Engine, mount: Callable[..., Path], tmp_path: Path, benchmark: str, library: str
) -> None:
    """1 MiB where 1.9 MiB (libraries, on two processes) or 1.6 MiB (flash-io) want to go."""
    need(engine, library, tmp_path)
    place = mount("-t", "tmpfs", "-o", "size=1m", "none")
    words: list[object] = {
        "flash-io": ["flash-io", "--blocks", "8", "--read", "all", "--backend", library],
        "libraries": ["libraries", "--edges", "24", "--libraries", library, "--hint-sets", "none"],
    }[benchmark]
    run = engine.run([*words, *QUICK, "--dir", place, "--max-bytes", "1GiB"], tmp_path, timeout=90)
    check_ended(run, place, "flash_io_" if benchmark == "flash-io" else "libraries_")
