# SPDX-License-Identifier: BSD-3-Clause
"""What tests of array libraries share: whether an engine has one, the libraries' own tools, and how
a run ends that they fail."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engines import Engine, Run
from patience import SECONDS

# Backends of array files that go through MPI-IO, and those that make system calls themselves.
BY_MPI_IO = ("pnetcdf", "hdf5", "netcdf4", "mpiio")
WITHOUT_MPI_IO = ("posix", "posix-fpp", "fortran-fpp", "sion")
BACKENDS = (*BY_MPI_IO, *WITHOUT_MPI_IO)


def missing(engine: Engine, backend: str) -> str:
    """Why the engine does not have the backend of arrays; empty if it has."""
    return engine.missing(backend, "arrays")


def need(engine: Engine, backend: str) -> None:
    if why := missing(engine, backend):
        pytest.skip(f"{backend}: {why}")


def tool(name: str, *words: object) -> str:
    if shutil.which(name) is None:
        pytest.skip(f"no {name} here")
    done = subprocess.run(
        [name, *map(str, words)], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def io_error_of(run: Run) -> dict[str, Any]:
    """The first error of a run that had to end by itself with an I/O error (a hang has its own
    status). It names rank, place and cause, in the result and on the terminal."""
    assert run.code == 3, run
    result = run.result
    assert result.status == "io_error", run
    assert result.end is not None
    error: dict[str, Any] = result.end["errors"][0]
    assert error["rank"] in (0, 1)
    assert error["host"]
    assert error["cause"]
    assert Path(error["path"]).name in run.stderr
    return error
