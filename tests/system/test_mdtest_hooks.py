# SPDX-License-Identifier: BSD-3-Clause
"""Commands around the phases of mdtest, and the file of the ranks' rates."""

from __future__ import annotations

import csv
import signal
from pathlib import Path

import pytest

from engines import Engine, Run
from mdtest_runs import QUICK, left_in, operations

NULL = ("--backend", "null", "--things", "files", "-n", "3")
PHASES = ["tree-create", "file-create", "file-stat", "file-read", "file-remove", "tree-remove"]
HEADER = [
    *("thing", "operation", "repetition", "ranks", "tree", "rank", "operations", "failed"),
    *("work(s)", "total(s)", "work-rate(op/s)", "rate(op/s)"),
]


def reason_of(run: Run) -> str:
    assert run.result.end is not None, run
    return str(run.result.end["reason"])


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as stream:
        rows = list(csv.DictReader(stream))
    assert all(list(row) == HEADER for row in rows)
    return rows


def test_each_rank_runs_the_commands_around_each_phase(any_engine: Engine, tmp_path: Path) -> None:
    note = "echo {} $EFFIO_PHASE $EFFIO_ITERATION >> log.$EFFIO_RANK"
    hooks = (
        f"--run-before-phase={note.format('before')}",
        f"--run-after-phase={note.format('after')}",
    )
    run = any_engine.run([*QUICK, *NULL, "-i", "2", *hooks], tmp_path)
    assert run.code == 0, run
    for rank in (0, 1):
        assert (tmp_path / f"log.{rank}").read_text().splitlines() == [
            f"{when} {phase} {iteration}"
            for iteration in (0, 1)
            for phase in PHASES
            for when in ("before", "after")
        ]


def test_only_the_command_after_a_phase_is_in_its_time(any_engine: Engine, tmp_path: Path) -> None:
    # Only rank 1 sleeps, for longer than anything else takes.
    words = [*QUICK, *NULL, "--phases", "create", "--keep"]
    command = "test $EFFIO_RANK = 0 || sleep 1"
    before = any_engine.run([*words, f"--run-before-phase={command}"], tmp_path)
    assert before.code == 0, before
    assert len(before.result.measurements) == 2
    for m in before.result.measurements:
        assert "hook" not in m["seconds"]
        assert m["seconds"]["total"]["max"] < 1
    after = any_engine.run([*words, f"--run-after-phase={command}"], tmp_path)
    assert after.code == 0, after
    assert len(after.result.measurements) == 2
    for m in after.result.measurements:
        seconds = m["seconds"]
        assert seconds["hook"]["max"] >= 1 > seconds["hook"]["min"]
        assert seconds["work"]["max"] < 1 <= seconds["total"]["max"]
        # Rank 0 waits for rank 1 in the barrier.
        assert seconds["total"]["min"] >= 0.9
        assert seconds["barrier"]["max"] + seconds["hook"]["min"] >= 0.9
        parts = ("late", "work", "sync", "hook", "barrier")
        whole = sum(seconds[part]["mean"] for part in parts)
        assert whole == pytest.approx(seconds["total"]["mean"])
        assert m["rate"]["value"] == pytest.approx(m["operations"] / seconds["total"]["max"])
        assert m["rate"]["value"] <= m["operations"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_command_that_fails_on_one_rank_ends_the_run(
    mpi: Engine, tmp_path: Path, data: Path, when: str
) -> None:
    command = 'test "$EFFIO_RANK-$EFFIO_PHASE" != 1-file-stat || exit 7'
    words = [*QUICK, "--things", "files", "-n", "3", f"--run-{when}-phase={command}", "-d", data]
    run = mpi.run(words, tmp_path)
    assert run.code == 3, run
    reason = reason_of(run)
    assert f"run the command: '{command}' ended with exit code 7 (rank 1 on " in reason
    assert reason.startswith("1 error, ")
    done = {"Tree creation": 1, "File creation": 6}
    if when == "after":
        done["File stat"] = 6
        stat = run.result.rows(access="stat")[0]
        assert not stat["valid"]
        assert stat["rate"]["value"] is None
        assert stat["invalid_reason"].startswith("run the command: ")
        assert (stat["errors"][0]["rank"], stat["error_count"]) == (1, 1)
    assert operations(run) == done
    assert left_in(data) == []


def test_a_killed_command_is_reported_by_its_signal(any_engine: Engine, tmp_path: Path) -> None:
    run = any_engine.run([*QUICK, *NULL, "--run-before-phase", "kill -9 $$"], tmp_path)
    assert run.code == 3, run
    assert "'kill -9 $$' was killed by signal 9 (Killed) (rank 0 on " in reason_of(run)
    assert run.result.measurements == []


def test_a_signal_ends_a_run_inside_a_command(mpi: Engine, tmp_path: Path, data: Path) -> None:
    command = "touch started.$EFFIO_RANK; sleep 600; true"
    words = [*QUICK, "-n", "3", "--run-after-phase", command, "-d", data]
    job = mpi.start(words, tmp_path)
    job.wait_until("the commands", lambda: len(list(tmp_path.glob("started.*"))) == 2)
    job.process.send_signal(signal.SIGTERM if mpi.is_openmpi else signal.SIGINT)
    run = job.finish()
    assert left_in(data) == [], run
    assert run.result.status == "interrupted"


def test_the_rates_of_the_ranks_as_csv(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    (tmp_path / "ranks.csv").write_text("of an earlier run\n")
    words = [*QUICK, "--things", "files", "-n", "3", "-i", "2", "-d", data, "--compare-trees"]
    csv_file = "--save-rank-details=ranks.csv"
    run = any_engine.run([*words, csv_file, "--run-after-phase", "sleep 0.1"], tmp_path)
    assert run.code == 0, run
    rows = rows_of(tmp_path / "ranks.csv")
    keys = ("tree", "repetition", "thing", "operation", "ranks", "rank")
    assert [tuple(r[k] for k in keys) for r in rows] == [
        (tree, str(iteration + 1), *phase.split("-"), "2", str(rank))
        for tree in ("shared", "unique")
        for iteration in (0, 1)
        for phase in PHASES
        for rank in (0, 1)
    ]
    for i, row in enumerate(rows):
        # The root alone makes and removes the tree of all.
        idle = row["thing"] == "tree" and row["tree"] == "shared" and row["rank"] == "1"
        count = 1 if row["thing"] == "tree" else 3
        assert (row["operations"], row["failed"]) == ("0" if idle else str(count), "0")
        assert float(row["total(s)"]) >= float(row["work(s)"]) + 0.1
        for seconds, rate in (("work(s)", "work-rate(op/s)"), ("total(s)", "rate(op/s)")):
            per_second = int(row["operations"]) / float(row[seconds])
            assert float(row[rate]) == pytest.approx(per_second, rel=0.01, abs=0.001)
        measured = run.result.measurements[i // 2]
        assert len(measured["detail"]["rank_details"]) == 2
        detail = measured["detail"]["rank_details"][i % 2]
        assert detail["total_seconds"] == pytest.approx(float(row["total(s)"]), abs=1e-9)
        assert detail["work_seconds"] == pytest.approx(float(row["work(s)"]), abs=1e-9)
        assert detail["operations"] == int(row["operations"])
    slowest = [max(float(r["total(s)"]) for r in rows[i : i + 2]) for i in range(0, len(rows), 2)]
    assert slowest == pytest.approx(
        [m["seconds"]["total"]["max"] for m in run.result.measurements], abs=1e-9
    )


def test_a_phase_without_a_rate_has_none_in_the_csv(any_engine: Engine, tmp_path: Path) -> None:
    command = 'test "$EFFIO_RANK-$EFFIO_PHASE" != 1-file-create'
    words = [*QUICK, *NULL, "--save-rank-details=ranks.csv", "--run-after-phase", command]
    run = any_engine.run(words, tmp_path)
    assert run.code == 3, run
    rows = rows_of(tmp_path / "ranks.csv")
    assert [(r["operation"], r["operations"], r["rate(op/s)"] == "") for r in rows] == [
        *(("create", "1", False), ("create", "0", False)),
        *(("create", "3", True), ("create", "3", True)),
    ]


BAD = (
    (["--run-before-phase="], "--run-before-phase: no command"),
    (["--run-after-phase", " "], "--run-after-phase: no command"),
    (["--save-rank-details="], "--save-rank-details: no file"),
    (["--run-after-phase=true", "--unique", "--no-barriers"], "--no-barriers: not with --run"),
    (["--run-after-phase=true", "--backend=sim"], "real time, which sim does not see"),
    (["--save-rank-details=nowhere/ranks.csv"], "nowhere/ranks.csv: No such file or directory"),
    (["--save-rank-details=."], "write the file of the ranks' rates .: it is a directory"),
)


@pytest.mark.parametrize(("words", "complaint"), BAD, ids=lambda w: w if isinstance(w, str) else "")
def test_faults_are_reported_before_anything_is_measured(
    any_engine: Engine, tmp_path: Path, data: Path, words: list[str], complaint: str
) -> None:
    run = any_engine.run([*QUICK, "-n", "3", "-d", data / "new", "--make-dir", *words], tmp_path)
    assert run.code == 2, run
    assert complaint in run.stderr
    assert all(r.measurements == [] for r in run.results)
    assert left_in(data) == []


def test_a_csv_on_a_full_disk_ends_the_run(any_engine: Engine, tmp_path: Path) -> None:
    run = any_engine.run([*QUICK, *NULL, "--save-rank-details=/dev/full"], tmp_path)
    assert run.code == 2, run
    assert "/dev/full: No space left on device" in run.stderr
