# SPDX-License-Identifier: BSD-3-Clause
"""What stays when something of a run is killed at a moment by chance, and that `effio clean` takes
it away.

EFFIO_KILLS (1) is how often each fault is tried; EFFIO_KILLS_SEED chooses the moments."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from driver.conftest import Effio
from engines import ROOT, Engine, Run

from .kills import FAULTS, KilledRun, as_markdown, expected, kill

ROUNDS = int(os.environ.get("EFFIO_KILLS", "1"))
SEED = int(os.environ.get("EFFIO_KILLS_SEED", str(random.SystemRandom().randint(1, 10**6))))


def check_what_was_measured(run: Run) -> None:
    """results.load has held every line against the schema; a last line may be torn."""
    rows = [m["where"]["row"] for m in run.result.measurements]
    assert rows == list(range(len(rows)))
    assert 1 <= len(rows) < 43
    valid = [m["valid"] for m in run.result.measurements]
    # The one at work when the run was interrupted is complete, but short.
    assert all(valid if run.result.status is None else valid[:-1]), run


def clean(killed: KilledRun, run: Run, place: Path) -> str:
    """Cleans as a user does, from another directory: by the run folder, or by the result file."""
    words = [] if killed.runs.exists() else [str(run.result.path)]
    done = Effio(place.parent, dict(os.environ)).call(
        "--runs", killed.runs, "clean", "--yes", *words
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(120 + 180 * ROUNDS)
@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_kill_leaves(engine: Engine, fault: str, tmp_path: Path) -> None:
    draw = random.Random(f"{SEED} {fault} {engine.name}")
    print(f"EFFIO_KILLS_SEED={SEED} EFFIO_KILLS={ROUNDS}")
    for number in range(ROUNDS):
        place = tmp_path / str(number)
        place.mkdir()
        killed, run, files = kill(engine, fault, place, draw)
        expected(fault, engine).check(run, files)
        check_what_was_measured(run)
        (killed.data / "mine").write_text("x")
        said = clean(killed, run, place)
        assert all(name in said for name in files), said
        assert [path.name for path in killed.data.iterdir()] == ["mine"], said
        shutil.rmtree(place)


def test_the_page_shows_the_table() -> None:
    page = (ROOT / "docs" / "faults.md").read_text()
    assert as_markdown() in page, "PYTHONPATH=tests python tests/faults/kills.py prints it"
