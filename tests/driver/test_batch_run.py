# SPDX-License-Identifier: BSD-3-Clause
"""What came of a job, from its folder and the batch system's word for its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from driver import made
from effio.launch import batch_run
from effio.store.all_runs import Store
from effio.store.folder import RunFolder
from effio.store.run_record import RunRecord

CUT = made.b_eff_io()[:9]
STOPPED = [*CUT, made.end("interrupted", 4, "asked to stop")]
IN_SLURM = {"system": "slurm", "script": "job.sh", "job_id": "7"}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made_one = Store(tmp_path / "runs").create("b-eff-io")
    made_one.write_record(
        RunRecord.model_validate(
            {
                "id": made_one.id,
                "created": "2026-11-20T12:00:00Z",
                "benchmark": "b-eff-io",
                "arguments": [],
                "directory": "/",
                "command": ["srun"],
                "batch": IN_SLURM,
            }
        )
    )
    return made_one


@pytest.mark.parametrize(
    ("lines", "ended", "status", "code", "reason"),
    [
        (made.b_eff_io(), "COMPLETED", "done", 0, ""),
        (
            CUT, "TIMEOUT", "died", 6,
            "the engine died in the middle of the run (the job ended as TIMEOUT: it reached its "
            "time limit; --minutes gives more); complete measurements are kept",
        ),
        (
            CUT, "NODE_FAIL", "died", 6,
            "the engine died in the middle of the run (the job ended as NODE_FAIL: a node was "
            "lost); complete measurements are kept",
        ),
        (
            CUT[:1], "NODE_FAIL", "died", 6,
            "the engine died in the middle of the run (the job ended as NODE_FAIL: a node was "
            "lost); no measurement was complete",
        ),
        (
            None, "CANCELLED", "not started", 6,
            "the launcher ended before the engine started (the job ended as CANCELLED)",
        ),
        (
            STOPPED, "FAILED", "interrupted", 4,
            "asked to stop; the batch system asked it to stop, as it does shortly before the time "
            "limit (--minutes gives more)",
        ),
        (
            STOPPED, "CANCELLED", "interrupted", 4,
            "asked to stop; the job ended as CANCELLED",
        ),
    ],
)  # fmt: skip
def test_how_a_job_ended(
    lines: list[made.Line] | None,
    ended: str,
    status: str,
    code: int,
    reason: str,
    folder: RunFolder,
) -> None:
    if lines is not None:
        made.write(folder.result_path, lines)
    finished = batch_run.taken_over(folder, ended)
    assert (int(finished.code), finished.reason) == (code, reason)
    record = folder.record()
    assert record is not None
    assert record.outcome is not None
    assert (record.outcome.status, record.outcome.exit_code) == (status, code)
    assert folder.is_sealed
    assert folder.changed_since_sealed() == []


def test_our_own_stop_is_not_a_time_limit(folder: RunFolder) -> None:
    made.write(folder.result_path, STOPPED)
    assert batch_run.taken_over(folder, "FAILED", interrupted=True).reason == "asked to stop"


def test_what_the_job_said_explains_why_nothing_began(folder: RunFolder) -> None:
    (folder.path / "stderr.log").write_text("srun: warning\nsrun: error: no such option\n\n")
    finished = batch_run.taken_over(folder, "FAILED")
    said = "srun: warning: srun: error: no such option"
    assert finished.reason.endswith(f"(the job ended as FAILED): {said}")


def test_what_was_never_submitted_is_reported(folder: RunFolder) -> None:
    record = folder.record()
    assert record is not None
    record.batch = {"system": "slurm", "script": "job.sh"}
    folder.write_record(record)
    finished = batch_run.taken_over(folder, "")
    assert int(finished.code) == 4
    assert finished.reason == "the driver was killed before it had submitted the job"
