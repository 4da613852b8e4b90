# SPDX-License-Identifier: BSD-3-Clause
"""effio-arrays.so: what calls HDF5, PnetCDF and NetCDF, loaded when a run chooses one of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from array_tools import need
from engines import Engine, Job, Run

MODULE = "effio-arrays.so"
FLASH = ("flash-io", "--blocks", "1", "--cells", "2", "--backend", "hdf5", "--memory", "in-place")


def loaded(engine: Engine, words: list[str], cwd: Path) -> str:
    """What the loader says that it loads, for one rank."""
    cwd.mkdir()
    log = cwd / "loader"
    run = engine.run(
        words, cwd, ranks=1, prefix=["env", "LD_DEBUG=files", f"LD_DEBUG_OUTPUT={log}"]
    )
    assert run.code == 0, run
    return "".join(file.read_text(errors="replace") for file in cwd.glob("loader.*"))


def test_only_a_run_that_chooses_an_array_library_loads_it(
    engine: Engine, data: Path, tmp_path: Path
) -> None:
    need(engine, "hdf5")
    plain = loaded(engine, ["ior", "--backend", "posix", "--dir", str(data)], tmp_path / "plain")
    assert "libmpi" in plain
    assert MODULE not in plain
    assert "libhdf5" not in plain
    assert "libnetcdf" not in plain
    assert "libcurl" not in plain
    arrays = loaded(engine, [*FLASH, "--dir", str(data)], tmp_path / "arrays")
    assert MODULE in arrays
    assert "libhdf5" in arrays


def test_a_program_without_its_module_says_what_to_copy(
    engine: Engine, data: Path, tmp_path: Path
) -> None:
    need(engine, "hdf5")
    program = tmp_path / "bin" / "effio-mpi"
    program.parent.mkdir()
    shutil.copy2(engine.program, program)
    words = [*FLASH, "--dir", str(data)]
    run = engine.run(words, tmp_path, ranks=1, program=program)
    assert run.code == 6
    assert (
        f"array libraries: {MODULE} is not in {tmp_path}/bin, where the program is, nor in "
        f"{tmp_path}/lib/effio: copy both (rank 0 on {os.uname().nodename})" in run.stderr
    )
    (tmp_path / "lib/effio").mkdir(parents=True)
    there = tmp_path / "lib/effio" / MODULE
    there.write_text("no library")
    run = engine.run(words, tmp_path, ranks=1, program=program)
    assert run.code == 6
    assert f"{there}: file too short" in run.stderr.replace("/bin/..", "")
    shutil.copy2(engine.program.with_name(MODULE), there)
    assert engine.run(words, tmp_path, ranks=1, program=program).code == 0


GROUP = ["together", "--group", f"2: {' '.join(FLASH)}"]


@pytest.mark.parametrize("words", [FLASH, GROUP], ids=["alone", "in a group"])
def test_a_rank_that_cannot_load_it_says_so_and_ends_the_job(
    mpi: Engine, words: list[str], data: Path, tmp_path: Path
) -> None:
    need(mpi, "hdf5")
    program = tmp_path / "effio-mpi"
    shutil.copy2(mpi.program, program)
    command = [*mpi.command(words, 1), ":", "-n", "1", str(program), *words]
    run: Run = Job(mpi, command, tmp_path, mpi.environment()).finish()
    assert run.code == 6
    assert run.stderr.count(f"(rank 1 on {os.uname().nodename})") == 1
    assert "hung" not in run.stderr
    assert "--watchdog" not in run.stderr
    assert run.results == []


@pytest.mark.parametrize("backend", ["hdf5", "pnetcdf"])
def test_classic_ior_needs_it_too(engine: Engine, backend: str, data: Path, tmp_path: Path) -> None:
    need(engine, backend)
    program = tmp_path / "ior"
    shutil.copy2(engine.program, program)
    api = {"hdf5": "HDF5", "pnetcdf": "NCMPI"}[backend]
    run = engine.run(["-a", api, "-o", data / "f"], tmp_path, ranks=1, program=program)
    assert run.code == 6
    assert f"{MODULE} is not in {tmp_path}" in run.stdout
