# SPDX-License-Identifier: BSD-3-Clause
"""What whole runs take for the exit code where the launcher makes its own (docs/exit-codes.md)."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from engines import Engine, Job

RUN = "b-eff-io --backend sim --time 0s --memory-per-rank 256MiB --quiet"


@pytest.mark.parametrize(
    ("flavour", "words", "left", "code"),
    [
        # Hydra killed the others and reports one of them, or lost sight of one: the end line knows.
        ("mpich", RUN, 9, 0),
        ("mpich", RUN, 1, 0),
        # Any other code is the run's own, and so is one that left no end line.
        ("mpich", RUN, 3, 3),
        ("mpich", "--version", 1, 1),
        ("mpich", "--version", 9, 9),
        ("openmpi-ompio", RUN, 9, 9),
        ("openmpi-ompio", RUN, 1, 0),
        ("openmpi-ompio", RUN + "; echo '  Exit code:    1' >&2", 1, 1),
        ("openmpi-ompio", "--version", 1, 1),
    ],
)
def test_a_launcher_has_its_own_codes(
    any_engine: Engine, tmp_path: Path, flavour: str, words: str, left: int, code: int
) -> None:
    engine = dataclasses.replace(any_engine, name=flavour)
    command = ["sh", "-c", f"{any_engine.program} {words}; exit {left}"]
    run = Job(engine, command, tmp_path, engine.environment()).finish()
    assert run.code == code, run
    assert len(run.results) == (RUN in words)
