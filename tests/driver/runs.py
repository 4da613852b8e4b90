# SPDX-License-Identifier: BSD-3-Clause
"""Runs of `effio run` that tests start: how long, where they are, and how far."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from driver.conftest import Effio
from engines import Engine
from patience import SECONDS

# One call of every row: the smallest complete run.
SHORT = ("--time", "0s", "--memory-per-rank", "256MiB", "--partitions", "2", "-n", "2")
# Long enough to be stopped in the middle, after the first of its rows: the cap ends a round after a
# few seconds.
LONG = (
    "--time", "60s", "--memory-per-rank", "256MiB", "--max-bytes", "2GiB", "-n", "2",
    "--partitions", "2", "--rounds", "50",
)  # fmt: skip

Alive = Callable[["subprocess.Popen[str]"], "subprocess.Popen[str]"]


def folder_of(effio: Effio) -> Path:
    folders = list((effio.cwd / "effio-runs").iterdir())
    assert len(folders) == 1, folders
    return folders[0]


def record_of(effio: Effio) -> dict[str, object]:
    record = json.loads((folder_of(effio) / "run.json").read_text())
    assert isinstance(record, dict)
    return record


def engines_in(folder: Path) -> list[int]:
    """Ranks whose command names this folder's result file."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            program = (entry / "exe").readlink().name if words else ""
        except OSError:
            continue
        if program == "effio-mpi" and str(folder).encode() in words:
            found.append(int(entry.name))
    return found


def wait_for(what: str, true: Callable[[], object], seconds: float = SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"waited {seconds} s for: {what}"
        time.sleep(0.02)


def measuring(effio: Effio, process: subprocess.Popen[str]) -> Path:
    """Waits until a row has been measured; returns the run's folder."""
    root = effio.cwd / "effio-runs"

    def measured() -> bool:
        assert process.poll() is None, process.communicate()
        files = list(root.glob("*/result.jsonl"))
        return bool(files) and b'"kind":"measurement"' in files[0].read_bytes()

    wait_for("a measurement", measured)
    return folder_of(effio)


def with_flavour(effio: Effio, engine: Engine) -> Effio:
    effio.environment["EFFIO_ENGINE"] = str(engine.program)
    effio.environment["EFFIO_MPIEXEC"] = engine.mpiexec
    effio.environment |= engine.resting()
    return effio


def with_one_rank(effio: Effio, engines: Mapping[str, Engine]) -> Effio:
    """For runs of one rank, which MPICH starts in half of the time that Open MPI takes."""
    found = engines.get("mpich") or next(iter(engines.values()), None)
    if found is None:
        pytest.skip("no engine is built here (EFFIO_TEST_ENGINES, build/test-*)")
    return with_flavour(effio, found)
