# SPDX-License-Identifier: BSD-3-Clause
"""mdtest from the outside: what it reports against what is known, and what it leaves on disk."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from engines import Engine, Job, Run

QUICK = ("mdtest", "--quiet", "--progress", "none")


def rates(run: Run) -> dict[str, float]:
    """Operations a second by phase, of a run with one iteration."""
    return {m["where"]["phase"]: m["rate"]["value"] for m in run.result.measurements}


def operations(run: Run) -> dict[str, int]:
    return {m["where"]["phase"]: m["operations"] for m in run.result.measurements}


def left_in(directory: Path) -> list[str]:
    return sorted(str(p.relative_to(directory)) for p in directory.rglob("*"))


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A directory that every user may use; pytest's own are for the one who runs it."""
    with tempfile.TemporaryDirectory(prefix="effio-mdtest-") as name:
        place = Path(name)
        place.chmod(0o777)
        yield place


def as_nobody(
    engine: Engine, words: Sequence[object], cwd: Path, program: Path | None = None
) -> Run:
    """The whole launch as an ordinary user."""
    if os.geteuid() != 0:
        pytest.skip("becoming another user needs root")
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    reachable = subprocess.run([*nobody, "test", "-x", engine.program], check=False)
    if reachable.returncode != 0:
        pytest.skip(f"another user cannot reach {engine.program}")
    command = [*nobody, *engine.command(words, program=program)]
    environment = {**engine.environment(), "HOME": str(cwd), "TMPDIR": str(cwd)}
    return Job(engine, command, cwd, environment).finish()


def test_all_phases_of_mdtest_on_files_and_directories(
    engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = engine.run([*QUICK, "-n", "20", "-b", "2", "-z", "1", "-d", data], tmp_path)
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
        expected += [f"test-dir.{i}-0", f"test-dir.{i}-0/.effio-owner"]
        for r in range(2):
            root = f"test-dir.{i}-0/mdtest_tree.{r}.0"
            expected.append(root)
            for leaf in (1, 2):
                expected.append(f"{root}/mdtest_tree.{r}.{leaf}")
                for item in (2 * (leaf - 1), 2 * (leaf - 1) + 1):
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
    wrong = phases("--phases", "stat")
    assert wrong.code == 1, wrong  # 100 files lie there, not 80
    assert "100 file names where 80" in wrong.stderr
    (tmp_path / "status").write_text("50\n")
    third = phases("--phases", "remove")
    assert third.code == 0, third
    assert left_in(data) == []


def test_out_of_inodes(engine: Engine, tmp_path: Path, mount: Callable[..., Path]) -> None:
    place = mount("-t", "tmpfs", "-o", "size=16m,nr_inodes=100", "none")
    run = engine.run([*QUICK, "-n", "90", "--things", "files", "-d", place], tmp_path)
    assert run.code == 3, run
    assert "No space left on device" in run.stderr
    create = run.result.rows(access="create", pattern="file")[0]
    assert not create["valid"]
    # 100 inodes: the mount's root, the test directory, its owner file, the tree; the rest files.
    assert create["operations"] == 96
    assert create["operations"] + create["detail"]["failed_operations"] == 180
    assert create["error_count"] == create["detail"]["failed_operations"]
    assert create["errors"][0]["errno"] == 28
    assert run.result.rows(access="stat") == []
    assert left_in(place) == []


def test_permission_denied_for_another_user(any_engine: Engine, elsewhere: Path) -> None:
    closed = elsewhere / "closed"
    closed.mkdir(mode=0o755)
    run = as_nobody(any_engine, [*QUICK, "-n", "5", "-d", closed], elsewhere)
    assert run.code == 3, run
    assert "Permission denied" in run.stderr
    assert str(closed) in run.stderr


def test_a_directory_that_vanishes(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    words = [*QUICK, "-n", "8", "--things", "files", "-d", data, "--phases", "create", "--keep"]
    assert any_engine.run(words, tmp_path).code == 0
    for file in data.rglob("file.mdtest.1.*"):
        file.unlink()
    words = [*QUICK, "-n", "8", "--things", "files", "-d", data, "--phases", "stat,remove"]
    run = any_engine.run(words, tmp_path)
    assert run.code == 3, run
    stat = run.result.rows(access="stat")[0]
    assert (stat["operations"], stat["detail"]["failed_operations"]) == (8, 8)
    assert not stat["valid"]
    assert "file.mdtest.1." in stat["errors"][0]["path"]
    assert stat["errors"][0]["rank"] == 1
    remove = run.result.rows(access="remove", pattern="file")[0]
    assert (remove["operations"], remove["detail"]["failed_operations"]) == (8, 8)
    assert left_in(data) == []


def test_a_path_that_is_too_long(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    # 30 levels of directories with names of 100 letters and more would pass PATH_MAX.
    run = any_engine.run([*QUICK, "-I", "1", "-z", "300", "-d", data], tmp_path)
    assert run.code == 3, run
    assert "File name too long" in run.stderr
    tree = run.result.rows(pattern="tree")[0]
    assert not tree["valid"]
    assert tree["operations"] > 200
    assert left_in(data) == []


def test_interrupted_it_cleans_up(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    job = any_engine.start(
        [*QUICK, "-n", "1000000", "-u", "--things", "files", "-d", data], tmp_path
    )
    job.wait_until("files", lambda: sum(1 for _ in data.rglob("file.mdtest.*")) > 100)
    for pid in job.ranks():
        os.kill(pid, 10)  # SIGUSR1
    run = job.finish()
    assert run.code == 4, run
    assert run.result.status == "interrupted"
    assert not run.result.rows(access="create", pattern="file")[0]["valid"]
    assert left_in(data) == []


def test_foreign_files_are_never_touched(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    (data / "test-dir.0-0").mkdir()
    (data / "test-dir.0-0" / "precious").write_text("mine")
    for more in ([], ["--overwrite"]):
        run = any_engine.run([*QUICK, "-n", "5", "-d", data, *more], tmp_path)
        assert run.code == 2, run
        assert "effio did not make it" in run.stderr
    assert left_in(data) == ["test-dir.0-0", "test-dir.0-0/precious"]


def test_what_was_written_is_verified(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    common = [*QUICK, "-n", "6", "--things", "files", "-w", "3901", "-d", data, "--verify"]
    first = any_engine.run([*common, "--phases", "create", "--keep"], tmp_path)
    assert first.code == 0, first
    assert first.result.rows(access="create", pattern="file")[0]["verified_bytes"] == 12 * 3901
    a, b = sorted(data.rglob("file.mdtest.0.*"))[:2]
    first_bytes = a.read_bytes()
    a.write_bytes(b.read_bytes())  # right bytes in the wrong file
    b.write_bytes(first_bytes)
    second = any_engine.run([*common, "--phases", "read,remove"], tmp_path)
    assert second.code == 1, second
    read = second.result.rows(access="read")[0]
    assert read["error_count"] == 2
    assert "wrong byte" in read["errors"][0]["cause"]
    assert left_in(data) == []


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
    assert figure["detail"]["iterations"] == 3
    assert left_in(data) == []


def test_several_numbers_of_ranks(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    run = any_engine.run([*QUICK, "-n", "4", "--ranks", "1,2", "-u", "-d", data], tmp_path)
    assert run.code == 0, run
    creations = run.result.rows(phase="File creation")
    assert [(m["ranks"], m["operations"]) for m in creations] == [(1, 4), (2, 8)]
    assert left_in(data) == []


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["-d", "."], "give the number of items"),
        (["-n", "5", "-z", "3", "-b", "3"], "leave nothing for 40 directories"),
        (["-n", "5", "-e", "10"], "--read-bytes: more than"),
        (["-n", "5", "--create", "mknod", "-w", "1"], "opens no file"),
        (["-n", "5", "-S"], "--things=files"),
        (["-n", "5", "--threads", "6"], "not enough"),
        (["-n", "5", "--no-barriers", "-N", "1"], "--no-barriers"),
        (["-n", "5", "-W", "3", "-b", "2"], "--stonewall"),
        (["-n", "5", "--phases", "fly"], "--phases"),
        (["-n", "-5"], "--items"),
        (["-n", "5", "--verify"], "no bytes to compare"),
        (["-n", "5", "--also-dir", "/"], "--unique"),
    ],
)
def test_what_makes_no_sense_is_refused(
    any_engine: Engine, tmp_path: Path, words: list[str], complaint: str
) -> None:
    run = any_engine.alone(["mdtest", *words], tmp_path)
    assert run.code == 2, run
    assert complaint in run.stderr


def test_plan_counts_what_a_run_does(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    words = ["-n", "20", "-b", "2", "-z", "1", "--also", "all", "--populate", "9", "-d", data]
    plan = any_engine.alone(["mdtest", *words, "--plan-json", "--plan-ranks", "2"], tmp_path)
    assert plan.code == 0, plan
    planned = {p["phase"]: p["operations"] for p in json.loads(plan.stdout)["phases"]}
    run = any_engine.run([*QUICK, *words], tmp_path)
    assert run.code == 0, run
    assert operations(run) == planned


def classic(engine: Engine, words: Sequence[object], cwd: Path) -> Run:
    """Under the original's name, as bin/mdtest is linked."""
    link = cwd / "mdtest"
    if not link.exists():
        link.symlink_to(engine.program)
    return engine.run(words, cwd, program=link)


def table_of(run: Run, title: str = "SUMMARY rate") -> dict[str, list[float]]:
    """The rows of a classic table as parsers read them."""
    rows = {}
    lines = run.stdout.split(title, 1)[1].splitlines()[3:]
    for line in lines:
        words = line.split()
        if len(words) < 5:
            break
        rows[" ".join(words[:2])] = [float(w) for w in words[2:6]]
    return rows


# The lines of the Blue Waters benchmarks (NCSA, 2017), with fewer items.
BLUE_WATERS = (
    ("-b", "3", "-v", "-z", "3", "-u", "-I", "2", "-k", "-i", "4"),
    ("-i", "20", "-v", "-u", "-n", "11"),
)


@pytest.mark.parametrize("line", BLUE_WATERS)
def test_blue_waters_lines_as_root(any_engine: Engine, tmp_path: Path, line: Sequence[str]) -> None:
    run = classic(any_engine, [*line, "-d", tmp_path / "out"], tmp_path)
    assert run.code == 0, run
    table = table_of(run)
    assert list(table) == [
        "Directory creation",
        "Directory stat",
        "Directory rename",
        "Directory removal",
        "File creation",
        "File stat",
        "File read",
        "File removal",
        "Tree creation",
        "Tree removal",
    ]
    for highest, lowest, mean, deviation in table.values():
        assert highest >= mean >= lowest > 0
        assert deviation > 0  # of 4 and of 20 iterations
    if "-k" in line:
        assert "--as-of-2017" in run.stderr
        # 40 directories in each tree, 2 files in each, 2 tasks.
        assert operations(run)["File creation"] == 2 * 40 * 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("line", BLUE_WATERS)
def test_blue_waters_lines_as_another_user(
    any_engine: Engine, elsewhere: Path, line: Sequence[str]
) -> None:
    link = elsewhere / "mdtest"
    link.symlink_to(any_engine.program)
    run = as_nobody(any_engine, [*line, "-d", elsewhere / "out"], elsewhere, program=link)
    assert run.code == 0, run
    assert table_of(run)["File read"][2] > 0
    assert not (elsewhere / "out").exists()


def test_classic_phases_over_several_runs(any_engine: Engine, tmp_path: Path) -> None:
    words = ["-n", "20", "-F", "-x", "status", "-N", "1", "-d", tmp_path / "out"]
    created = classic(any_engine, [*words, "-C", "-W", "60"], tmp_path)
    assert created.code == 0, created
    assert (tmp_path / "status").read_text() == "20\n"
    assert len(list((tmp_path / "out").rglob("file.mdtest.*"))) == 40
    found = classic(any_engine, [*words, "-T", "-E"], tmp_path)
    assert found.code == 0, found
    table = table_of(found)
    assert table["File stat"][0] > 0
    assert table["File creation"] == [0, 0, 0, 0]  # skipped
    assert classic(any_engine, [*words, "-r"], tmp_path).code == 0
    assert left_in(tmp_path / "out") == []


def test_times_of_the_classic_table_are_milliseconds(any_engine: Engine, tmp_path: Path) -> None:
    words = ["-n", "5", "-F", "-y", "-P", "-d", tmp_path / "out"]
    run = classic(any_engine, words, tmp_path)
    assert run.code == 0, run
    rate = table_of(run)["File creation"][2]
    milliseconds = table_of(run, "SUMMARY time (in ms/op)")["File creation"][2]
    # Each of 2 tasks did half of the operations; the table has three digits.
    assert milliseconds == pytest.approx(2 * 1000 / rate, rel=1e-3, abs=1e-3)


def test_files_are_opened_for_reading_only(any_engine: Engine, elsewhere: Path) -> None:
    """The original opens them for reading and writing, which somebody else may not."""
    common = [*QUICK, "-n", "3", "--things", "files", "-w", "10", "-d", elsewhere]
    made = any_engine.run([*common, "--phases", "create", "--keep"], elsewhere)
    assert made.code == 0, made
    for file in elsewhere.rglob("file.mdtest.*"):
        file.chmod(0o644)
    run = as_nobody(any_engine, [*common, "--phases", "read"], elsewhere)
    assert run.code == 0, run
    assert operations(run) == {"File read": 6}


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
        assert figure["detail"]["iterations"] == 2
    assert left_in(data) == []
