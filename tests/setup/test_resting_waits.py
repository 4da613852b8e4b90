# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that wait for long sleep (tests/faults/resting_waits.c): otherwise tests of hangs and of
late ranks take the processors from all others."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines import Engine

LATE = 5  # s


def test_who_waits_for_a_late_rank_sleeps(mpi: Engine, tmp_path: Path) -> None:
    tests = mpi.build / "tests" / "faults"
    if not (tests / "effio_resting_waits.so").exists():
        pytest.skip("this build is older than resting_waits.c")
    prefix = [
        *("env", mpi.loaded_before(tests / "effio_faulty_calls.so")),
        *(f"EFFIO_FAULT=barrier,late={LATE},rank=1,nth=1", f"EFFIO_FAULT_LOG={tmp_path / 'log'}"),
    ]
    words = ["ior", "--backend", "null", "--block", "64KiB", "--transfer", "64KiB", "--quiet"]
    job = mpi.start(words, tmp_path, prefix=prefix)
    try:
        job.wait_until("rank 1 is late", (tmp_path / "log").exists)
        here = Path(f"/proc/{job.ranks()[0]}/wchan")

        def sleeps() -> bool:
            try:
                return "nanosleep" in here.read_text()
            except OSError:
                return False  # about to end, which wait_until will see

        if here.read_text() == "":
            pytest.skip("this system does not say where a process waits")
        job.wait_until("rank 0 sleeps", sleeps)
        assert job.finish().code == 0
    finally:
        job.kill()
