# SPDX-License-Identifier: BSD-3-Clause
"""mdtest from the outside: what it reports against what is known, and what it leaves on disk."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engines import Engine, Run
from mdtest_runs import QUICK, left_in, operations, rates


def test_all_phases_of_mdtest_on_files_and_directories(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = any_engine.run([*QUICK, "-n", "20", "-b", "2", "-z", "1", "-d", data], tmp_path)
    assert run.code == 0, run
    # 3 directories; 18 of the 20 items fit evenly; 2 ranks; a ring has one rename more for each
    # directory and rank.
    assert operations(run) == {
        "Tree creation": 3,
        "Directory creation": 36,
        "Directory stat": 36,
        "Directory rename": 36 + 6,
        "Directory removal": 36,
        "File creation": 36,
        "File stat": 36,
        "File read": 36,
        "File removal": 36,
        "Tree removal": 3,
    }
    assert all(m["valid"] and m["call_times"]["count"] > 0 for m in run.result.measurements)
    assert left_in(data) == []


def test_names_counts_and_contents_on_disk(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    run = any_engine.run(
        [
            *QUICK,
            "-I",
            "2",
            "-b",
            "2",
            "-z",
            "1",
            "-u",
            "-L",
            "-i",
            "2",
            "-w",
            "10",
            "--keep",
            "--phases",
            "create",
            "-d",
            data,
        ],
        tmp_path,
    )
    assert run.code == 0, run
    expected = []
    for i in range(2):
        expected.append(f"test-dir.{i}-0")
        for r in range(2):
            root = f"test-dir.{i}-0/mdtest_tree.{r}.0"
            expected.append(root)
            for leaf in (1, 2):
                expected.append(f"{root}/mdtest_tree.{r}.{leaf}")
                # Numbers go through the directories without items, too.
                for item in (2 * leaf, 2 * leaf + 1):
                    expected.append(f"{root}/mdtest_tree.{r}.{leaf}/file.mdtest.{r}.{item}")
                    expected.append(f"{root}/mdtest_tree.{r}.{leaf}/dir.mdtest.{r}.{item}")
    assert left_in(data) == sorted(expected)
    contents = [p.read_bytes() for p in data.rglob("file.mdtest.*")]
    assert {len(c) for c in contents} == {10}
    assert len(set(contents)) == len(contents) == 16


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_rates_in_virtual_time_are_those_of_the_model(
    any_engine: Engine, tmp_path: Path, ranks: int
) -> None:
    any_engine.needs_ranks(ranks)
    run = any_engine.run(
        [
            *QUICK,
            "-n",
            "30",
            "--backend",
            "sim",
            "--backend-options",
            "metadata=2ms",
            "--also",
            "list,move-files",
            "--populate",
            "12",
        ],
        tmp_path,
        ranks,
    )
    assert run.code == 0, run
    found = rates(run)
    # Every call costs 2 ms on its rank: all ranks together make ranks / 2 ms.
    for phase in ("File creation", "File stat", "File read", "File removal", "File move"):
        assert found[phase] == pytest.approx(ranks / 0.002)
    assert found["Directory rename"] == pytest.approx(ranks / 0.002)
    assert found["Directory listing"] == pytest.approx(ranks / 0.002)
    assert found["Pre-populating"] == pytest.approx(12 / (0.002 * -(-12 // ranks)))
    # One rank makes the shared tree while the others wait.
    assert found["Tree creation"] == pytest.approx(1 / 0.002)
    times = run.result.rows(access="stat", pattern="file")[0]["call_times"]
    assert times["p50"] == pytest.approx(0.002, rel=0.02)


def test_the_slowest_rank_sets_the_rate_and_is_named(any_engine: Engine, tmp_path: Path) -> None:
    run = any_engine.run(
        [
            *QUICK,
            "-n",
            "10",
            "--things",
            "files",
            "--backend",
            "null",
            "--backend-options",
            "stat=20ms,only-rank=1",
        ],
        tmp_path,
    )
    assert run.code == 0, run
    stat = run.result.rows(access="stat")[0]
    # Rank 1 sleeps 10 x 20 ms; a busy machine can only add to it.
    assert stat["seconds"]["total"]["max"] >= 0.2
    assert stat["rate"]["value"] == pytest.approx(20 / stat["seconds"]["total"]["max"])
    assert stat["detail"]["slowest_ranks"][0]["rank"] == 1
    assert stat["detail"]["slowest_ranks"][0]["work_seconds"] >= 0.2


def test_a_stonewall_brings_all_ranks_to_the_same_count(any_engine: Engine, tmp_path: Path) -> None:
    status = tmp_path / "status"
    run = any_engine.run(
        [
            *QUICK,
            "-n",
            "1000",
            "--things",
            "files",
            "-W",
            "95ms",
            "--stonewall-file",
            status,
            "--backend",
            "sim",
            "--backend-options",
            "metadata=10ms",
        ],
        tmp_path,
    )
    assert run.code == 0, run
    create = run.result.rows(access="create", pattern="file")[0]
    # The tenth creation ends past 95 ms, on each rank.
    assert create["operations"] == 20
    assert create["stopped_by"] == "time"
    assert create["detail"]["stonewall"]["max_items"] == 10
    assert operations(run)["File stat"] == 20
    assert operations(run)["File removal"] == 20
    assert status.read_text().split() == ["10"]


def test_phases_of_several_runs_share_a_kept_tree(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    common = [*QUICK, "-n", "50", "--things", "files", "-d", data, "--stonewall-file", "status"]

    def phases(*words: str) -> Run:
        return any_engine.run([*common, *words], tmp_path)

    missing = phases("--phases", "stat")
    assert missing.code == 2, missing
    first = phases("--phases", "create", "--keep", "-W", "60")
    assert first.code == 0, first
    assert (tmp_path / "status").read_text().split() == ["50"]
    refused = phases("--phases", "create")
    assert refused.code == 2, refused
    assert "exists already" in refused.stderr
    (tmp_path / "status").write_text("40\n")  # as if the wall had come earlier
    second = phases("--phases", "stat,read", "--rank-shift", "1", "--count", "off")
    assert second.code == 0, second
    assert operations(second) == {"File stat": 80, "File read": 80}
    part = phases("--phases", "stat")
    assert part.code == 0, part  # 100 files are there: at least 80
    (tmp_path / "status").write_text("50\n")
    assert second.result.rows(access="read")[0]["cache"] is None  # nothing is read of empty files
    third = phases("--phases", "remove")
    assert third.code == 0, third
    assert left_in(data) == []


def test_holes_in_files_of_an_earlier_run_are_said(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """Two ranks with two files of 64 KiB each; one of the four is a hole, and then it is short."""
    words = [*QUICK, "-n", "2", "--things", "files", "-d", data, "-w", "64KiB", "--sync-phases"]
    assert any_engine.run([*words, "--phases", "create", "--keep"], tmp_path).code == 0
    file = next(p for p in sorted(data.rglob("*")) if p.is_file())
    os.truncate(file, 0)
    os.truncate(file, 65536)
    read = any_engine.run([*words, "--phases", "read"], tmp_path)
    assert read.code == 0, read
    cache = read.result.rows(access="read")[0]["cache"]
    if "hole_fraction" in cache:  # the file system reports holes
        assert cache["hole_fraction"] == 0.25
    os.truncate(file, 4096)
    short = any_engine.run([*words, "--phases", "read"], tmp_path)
    assert short.code != 0, short


def test_threads_share_the_items_of_a_rank(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    run = any_engine.run(
        [
            *QUICK,
            "-n",
            "101",
            "--threads",
            "3",
            "--also",
            "rename-files,move-files,link",
            "-R",
            "-w",
            "100",
            "--verify",
            "--populate",
            "20",
            "-N",
            "1",
            "-d",
            data,
        ],
        tmp_path,
    )
    assert run.code == 0, run
    done = operations(run)
    assert done["File creation"] == done["File stat"] == done["File removal"] == 202
    assert done["File rename"] == 202 + 2 * 3  # a ring for each thread
    assert done["File move"] == 404
    assert done["Pre-populating"] == 20
    assert left_in(data) == []


def test_iterations_do_not_change_the_amount_of_work(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = any_engine.run(
        [*QUICK, "-n", "12", "-I", "4", "-b", "2", "-z", "1", "-i", "3", "-d", data], tmp_path
    )
    assert run.code == 0, run
    # 12 / 4 test directories, each with a tree of 3 directories of 4 items, for 2 ranks.
    for phase in ("File creation", "File stat", "File removal", "Directory creation"):
        assert [m["operations"] for m in run.result.rows(phase=phase)] == [72, 72, 72]
    figure = run.result.figure("rate", phase="File creation")
    assert figure["samples"]["count"] == 3
    assert left_in(data) == []


def test_several_numbers_of_ranks(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    run = any_engine.run([*QUICK, "-n", "4", "--ranks", "1,2", "-u", "-d", data], tmp_path)
    assert run.code == 0, run
    creations = run.result.rows(phase="File creation")
    assert [(m["ranks"], m["operations"]) for m in creations] == [(1, 4), (2, 8)]
    assert left_in(data) == []


def test_plan_counts_what_a_run_does(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    words = ["-n", "20", "-b", "2", "-z", "1", "--also", "all", "--populate", "9", "-d", data]
    plan = any_engine.alone(["mdtest", *words, "--plan-json", "--plan-ranks", "2"], tmp_path)
    assert plan.code == 0, plan
    planned = {p["phase"]: p["operations"] for p in json.loads(plan.stdout)["phases"]}
    run = any_engine.run([*QUICK, *words], tmp_path)
    assert run.code == 0, run
    assert operations(run) == planned


def test_one_run_compares_a_shared_tree_with_own_trees(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = any_engine.run(
        [*QUICK, "-n", "6", "-b", "2", "-z", "1", "--compare-trees", "-i", "2", "-d", data],
        tmp_path,
    )
    assert run.code == 0, run
    made = run.result.rows(pattern="tree", access="create")
    # 3 directories for all, then 3 for each of 2 ranks; twice each.
    found = [(m["where"]["unique"], m["operations"]) for m in made]
    assert found == [(False, 3)] * 2 + [(True, 6)] * 2
    for unique in (False, True):
        figure = run.result.figure("rate", phase="File stat", unique=unique)
        assert figure["samples"]["count"] == 2
    assert left_in(data) == []


def test_the_rate_over_time_holds_every_operation(any_engine: Engine, tmp_path: Path) -> None:
    slow = ["--backend", "sim", "--backend-options", "metadata=10ms"]
    run = any_engine.run([*QUICK, "-n", "500", "--things", "files", *slow], tmp_path)
    assert run.code == 0, run
    for phase in ("File creation", "File stat", "File read", "File removal"):
        (m,) = run.result.rows(phase=phase)
        course = m["detail"]["rate_over_time"]
        assert sum(course["operations"]) == pytest.approx(1000)
        # 5 s of 200 operations a second.
        width = course["slice_seconds"]
        whole = course["operations"][: int(5 / width) - 1]
        assert whole == pytest.approx([200 * width] * len(whole), rel=0.02)
        assert len(whole) >= 2


def test_the_whole_file_system_is_synced_at_the_end_of_each_phase(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """Also where one rank alone makes and removes the tree that all share."""
    run = any_engine.run([*QUICK, "-n", "5", "-i", "3", "--sync-phases", "-d", data], tmp_path)
    assert run.code == 0, run
    for m in run.result.measurements:
        assert m["valid"]
        assert m["seconds"]["sync"]["max"] > 0
        assert m["seconds"]["total"]["max"] >= m["seconds"]["sync"]["max"]
    assert left_in(data) == []


def test_a_phase_without_a_rate_says_why(any_engine: Engine, tmp_path: Path) -> None:
    """Operations on names cost nothing on this model, so that no time passes."""
    words = ["mdtest", "--backend=sim", "--items=4", "--things=files", "--iterations=2", "--quiet"]
    run = any_engine.run(words, tmp_path, ranks=1)
    assert run.code == 0, run
    rates = [f for f in run.result.figures if f["name"] == "rate"]
    why = "no iteration has a rate: no time passed"
    assert {(f["valid"], *f["reasons"], f["metric"]["reason"]) for f in rates} == {
        (False, why, why)
    }
    measured = [m["rate"] for m in run.result.measurements]
    assert {(rate["value"], rate["reason"]) for rate in measured} == {(None, "no time passed")}


def test_a_phase_of_no_operation_has_no_rate(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = any_engine.run(["mdtest", "--items=0", f"--dir={data}"], tmp_path, ranks=1)
    assert run.code == 0, run
    (nothing,) = {
        (m["rate"]["value"], m["rate"]["reason"])
        for m in run.result.measurements
        if m["operations"] == 0
    }
    assert nothing == (None, "no operation was done")
    rows = [line.split() for line in run.stdout.splitlines() if line.startswith("  File ")]
    assert len(rows) == 4
    # After name, repetition, operations and time: the rate, and times of calls.
    assert {tuple(row[3:4] + row[6:]) for row in rows} == {("0", "-", "-", "-", "-")}


def test_a_phase_is_over_before_its_data_are_verified(any_engine: Engine, tmp_path: Path) -> None:
    """Four files of 64 KiB at 1 MiB a second take a quarter of a second to write, to read, and to
    read again for the comparison."""
    words = ["mdtest", "--backend=sim", "--backend-options=rank-rate=1MiB/s,shared-rate=0"]
    words += ["--items=4", "--write-bytes=64KiB", "--verify", "--verify-memory=0B"]
    words += ["--things=files", "--phases=create,read,remove", "--quiet"]
    run = any_engine.run(words, tmp_path, ranks=1)
    assert run.code == 0, run
    spans = {m["access"]: m["span"] for m in run.result.measurements if m["pattern"] == "file"}
    assert spans["create"] == pytest.approx({"begin_seconds": 0, "end_seconds": 0.25})
    assert spans["read"] == pytest.approx({"begin_seconds": 0.25, "end_seconds": 0.5})
    assert spans["remove"]["begin_seconds"] == pytest.approx(0.75)
