# SPDX-License-Identifier: BSD-3-Clause
"""mdtest with faults: named, counted, cleaned up after, and reported by the exit code."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import Engine
from mdtest_runs import QUICK, left_in, operations


def test_out_of_inodes(any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]) -> None:
    place = mount("-t", "tmpfs", "-o", "size=16m,nr_inodes=100", "none")
    run = any_engine.run([*QUICK, "-n", "90", "--things", "files", "-d", place], tmp_path)
    assert run.code == 3, run
    assert "No space left on device" in run.stderr
    create = run.result.rows(access="create", pattern="file")[0]
    assert not create["valid"]
    # 100 inodes: the mount's root, the mark of the run, the test directory, its owner file, the
    # tree; the rest files.
    assert create["operations"] == 95
    assert create["operations"] + create["detail"]["failed_operations"] == 180
    assert create["error_count"] == create["detail"]["failed_operations"]
    assert create["errors"][0]["errno"] == 28
    assert run.result.rows(access="stat") == []
    assert left_in(place) == []


def test_out_of_inodes_on_a_disk_file_system(
    any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(16 << 20)
    made = subprocess.run(
        ["mkfs.ext4", "-q", "-N", "128", str(image)], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        pytest.skip(f"mkfs.ext4 does not work here: {made.stderr.strip()}")
    place = mount("-o", "loop", str(image))
    before = left_in(place)
    free = os.statvfs(place).f_ffree
    words = [*QUICK, "--things", "files", "-d", place]
    run = any_engine.run([*words, "-n", "100"], tmp_path)
    assert run.code == 3, run
    create = run.result.rows(access="create", pattern="file")[0]
    # The mark of the run, the test directory, its owner file and the tree take four.
    assert create["operations"] == free - 4
    assert create["errors"][0]["errno"] == 28
    assert left_in(place) == before
    # As many as there is room for are not a fault, and every phase does them all.
    fits = (free - 4) // 2
    run = any_engine.run([*words, "-n", fits, "--sync-phases", "--also", "list,chmod"], tmp_path)
    assert run.code == 0, run
    done = {m["where"]["phase"]: m["operations"] for m in run.results[-1].measurements}
    for phase in ("File creation", "File stat", "File read", "File chmod", "File removal"):
        assert done[phase] == 2 * fits, phase
    assert left_in(place) == before


def test_permission_denied_for_another_user(any_engine: Engine, elsewhere: Path) -> None:
    closed = elsewhere / "closed"
    closed.mkdir(mode=0o755)
    run = any_engine.as_nobody([*QUICK, "-n", "5", "-d", closed], elsewhere)
    assert run.code == 3, run
    assert "Permission denied" in run.stderr
    assert str(closed) in run.stderr


@pytest.mark.parametrize("vanishes", ["tree", "test directory", "base"])
def test_a_directory_that_vanishes(
    any_engine: Engine, tmp_path: Path, data: Path, vanishes: str
) -> None:
    """Somebody takes it away while the files are created in it."""
    test_directory = data / "test-dir.0-0"
    taken = {"base": data, "test directory": test_directory}.get(
        vanishes, test_directory / "mdtest_tree.0"
    )
    job = any_engine.start([*QUICK, "-n", "1000000", "--things", "files", "-d", data], tmp_path)
    job.wait_until("files", lambda: sum(1 for _ in data.rglob("file.mdtest.*")) > 100)
    taken.rename(tmp_path / "taken")
    run = job.finish()
    assert run.code == 3, run
    assert run.result.status == "io_error"
    create = run.result.rows(access="create", pattern="file")[0]
    assert not create["valid"]
    assert create["rate"]["value"] is None
    # A worker gives a phase up after 100 failures; what it had done before is counted as done.
    assert create["detail"]["failed_operations"] == create["error_count"] == 2 * 100
    found = sum(1 for p in (tmp_path / "taken").rglob("file.mdtest.*"))
    assert create["operations"] == found > 100
    error = create["errors"][0]
    assert (error["errno"], error["path"][: len(str(taken))]) == (2, str(taken))
    assert "No such file or directory" in run.stderr
    assert run.result.rows(access="stat") == []
    # What was taken away is no longer where the run made it, and is left alone.
    assert not data.exists() or left_in(data) == []


def test_files_of_one_rank_are_gone(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    words = [*QUICK, "-n", "8", "--things", "files", "-d", data, "--phases", "create", "--keep"]
    assert any_engine.run(words, tmp_path).code == 0
    for file in data.rglob("file.mdtest.1.*"):
        file.unlink()
    words = [*QUICK, "-n", "8", "--things", "files", "-d", data, "--phases", "stat,remove"]
    run = any_engine.run([*words, "--count", "off"], tmp_path)
    assert run.code == 3, run
    stat = run.result.rows(access="stat")[0]
    assert (stat["operations"], stat["detail"]["failed_operations"]) == (8, 8)
    assert not stat["valid"]
    assert "file.mdtest.1." in stat["errors"][0]["path"]
    assert stat["errors"][0]["rank"] == 1
    remove = run.result.rows(access="remove", pattern="file")[0]
    assert (remove["operations"], remove["detail"]["failed_operations"]) == (8, 8)
    assert left_in(data) == []


def test_files_that_an_ordinary_user_may_not_remove(
    any_engine: Engine, tmp_path: Path, elsewhere: Path
) -> None:
    common = [*QUICK, "-n", "5", "--things", "files", "-d", elsewhere]
    made = any_engine.run([*common, "--phases", "create", "--keep"], tmp_path)
    assert made.code == 0, made
    kept = left_in(elsewhere)
    run = any_engine.as_nobody([*common, "--phases", "stat,remove"], elsewhere)
    assert run.code == 3, run
    assert operations(run)["File stat"] == 10
    remove = run.result.rows(access="remove", pattern="file")[0]
    assert (remove["operations"], remove["detail"]["failed_operations"]) == (0, 10)
    assert remove["errors"][0]["errno"] == 13
    assert "Permission denied" in run.stderr
    assert set(kept) <= set(left_in(elsewhere))


def test_a_path_that_is_too_long(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    # 30 levels of directories with names of 100 letters and more would pass PATH_MAX.
    run = any_engine.run([*QUICK, "-I", "1", "-z", "300", "-d", data], tmp_path)
    assert run.code == 3, run
    assert "File name too long" in run.stderr
    tree = run.result.rows(pattern="tree")[0]
    assert not tree["valid"]
    assert tree["operations"] > 200
    assert left_in(data) == []


@pytest.mark.parametrize(
    ("words", "there"),
    [
        # While files are created in their own trees, and in a pause before the files of all.
        (["-n", "1000000", "-u", "--things", "files"], "file.mdtest.1.50"),
        (
            ["-n", "50", "--delay", "3min", "--things", "files", "-b", "2", "-z", "2"],
            "mdtest_tree.6",
        ),
    ],
)
def test_interrupted_it_cleans_up(
    any_engine: Engine, tmp_path: Path, data: Path, words: list[str], there: str
) -> None:
    others = ["mine", "test-dir.0-1"]  # one more of ours would be test-dir.1-0
    for name in others:
        (data / name).mkdir()
        (data / name / "precious").write_text("mine")
    job = any_engine.start([*QUICK, *words, "-d", data], tmp_path)
    job.wait_until(there, lambda: any(data.rglob(there)))
    for pid in job.ranks():
        os.kill(pid, signal.SIGUSR1)
    run = job.finish()
    assert run.code == 4, run
    assert run.result.status == "interrupted"
    created = run.result.rows(access="create", pattern="file")
    assert all(not m["valid"] and m["rate"]["value"] is None for m in created)
    assert left_in(data) == sorted([*others, *(f"{name}/precious" for name in others)])


def test_foreign_files_are_never_touched(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    (data / "test-dir.0-0").mkdir()
    (data / "test-dir.0-0" / "precious").write_text("mine")
    for more, why in (
        ([], "exists already; remove it, or give --overwrite"),
        (["--overwrite"], f"would not make: {data}/test-dir.0-0/precious"),
    ):
        run = any_engine.run([*QUICK, "-n", "5", "-d", data, *more], tmp_path)
        assert run.code == 2, run
        assert why in run.stderr
    assert left_in(data) == ["test-dir.0-0", "test-dir.0-0/precious"]


def test_what_was_written_is_verified(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    common = [*QUICK, "-n", "6", "--things", "files", "-w", "3901", "-d", data, "--verify"]
    first = any_engine.run([*common, "--phases", "create", "--keep"], tmp_path)
    assert first.code == 0, first
    create = first.result.rows(access="create", pattern="file")[0]
    assert create["verified_bytes"] == 12 * 3901
    assert create["detail"]["verification"] == {
        "checked": "every byte of a second read",
        "timed_read_bytes": 0,
        "second_read_bytes": 12 * 3901,
    }
    a, b = sorted(data.rglob("file.mdtest.0.*"))[:2]
    first_bytes = a.read_bytes()
    a.write_bytes(b.read_bytes())  # right bytes in the wrong file
    b.write_bytes(first_bytes)
    second = any_engine.run([*common, "--phases", "read,remove"], tmp_path)
    assert second.code == 1, second
    read = second.result.rows(access="read")[0]
    assert read["error_count"] == 2
    assert read["detail"]["verification"]["checked"] == "every byte of the timed reads"
    assert read["detail"]["verification"]["timed_read_bytes"] == read["verified_bytes"]
    assert "wrong byte" in read["errors"][0]["cause"]
    assert left_in(data) == []


def test_the_shortest_of_files_have_their_own_data(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    # More than the 64 places of a stamp in its page, and more than a period of 256 pages.
    words = [*QUICK, "-n", "300", "--things", "files", "-w", "8", "-d", data, "--keep"]
    assert any_engine.run([*words, "--phases", "create"], tmp_path).code == 0
    files = list(data.rglob("file.mdtest.*"))
    assert len(files) == 600
    assert len({file.read_bytes() for file in files}) == 600


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["-d", "."], "give the number of items"),
        (["-n", "5", "-z", "3", "-b", "3"], "too few for 40 directories"),
        (["-n", "5", "-e", "10"], "--read-bytes: more than"),
        (["-n", "5", "--create", "mknod", "-w", "1"], "opens no file"),
        (["-n", "5", "-S"], "--things=files"),
        (["-n", "5", "--threads", "6"], "--threads: 6 is more than the 5 items"),
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


def test_a_plan_that_does_not_fit_leaves_no_directory(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = ["--make-dir", "-d", data / "new", "-n", "100", "--write-bytes", "1MiB"]
    run = any_engine.run(["mdtest", "--quiet", *words, "--max-bytes", "1MiB"], tmp_path)
    assert run.code == 2, run
    assert "--max-bytes: 1MiB is too small: the files would take 200 MiB" in run.stderr
    assert list(data.iterdir()) == []


def test_files_are_opened_for_reading_only(any_engine: Engine, elsewhere: Path) -> None:
    """The original opens them for reading and writing, which another user may not."""
    common = [*QUICK, "-n", "3", "--things", "files", "-w", "10", "-d", elsewhere]
    made = any_engine.run([*common, "--phases", "create", "--keep"], elsewhere)
    assert made.code == 0, made
    for file in elsewhere.rglob("file.mdtest.*"):
        file.chmod(0o644)
    run = any_engine.as_nobody([*common, "--phases", "read"], elsewhere)
    assert run.code == 0, run
    assert operations(run) == {"File read": 6}


def test_names_of_the_greatest_length(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """255 bytes, for every name that a run makes: of links and of the spare ones of a rename."""
    words = [*QUICK, "-n", "4", "--also", "all", "--populate", "3", "-d", data]
    run = any_engine.run([*words, "--name-length", "255", "--phases", "create", "--keep"], tmp_path)
    assert run.code == 0, run
    names = [p.name for p in data.rglob("*") if ".mdtest." in p.name or ".populate." in p.name]
    assert len(names) == 4 * 2 * 2 + 3
    assert {len(name) for name in names} == {255}
    assert f"file.mdtest.1.{3:0241}" in names
    words += ["--name-length", "255", "--overwrite"]
    run = any_engine.run(words, tmp_path)
    assert run.code == 0, run
    assert all(m["valid"] for m in run.results[-1].measurements)
    assert left_in(data) == []


def test_names_that_are_too_long(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    run = any_engine.run([*QUICK, "-n", "4", "--name-length", "256", "-d", data], tmp_path)
    assert run.code == 3, run
    assert "File name too long" in run.stderr
    create = run.result.rows(access="create", pattern="directory")[0]
    assert (create["operations"], create["detail"]["failed_operations"]) == (0, 8)
    assert create["errors"][0]["errno"] == 36
    assert not create["valid"]
    assert left_in(data) == []


@pytest.mark.parametrize("put", ["ln -s", "mv"])
def test_a_tree_that_another_process_swaps(
    any_engine: Engine, tmp_path: Path, data: Path, put: str
) -> None:
    """For a link to a directory with files of the same names, or for that directory: none of them
    is changed or removed."""
    precious = tmp_path / "precious"
    precious.mkdir()
    names = [f"file.mdtest.{rank}.{item}" for rank in (0, 1) for item in range(4)]
    for name in names:
        (precious / name).write_text("precious")
    tree = data / "test-dir.0-0/mdtest_tree.0"
    swap = f"mv {tree} {tmp_path}/away; {put} {precious} {tree}"
    hook = f"test $EFFIO_RANK-$EFFIO_PHASE != 0-file-stat || {{ {swap}; }}"
    words = [*QUICK, "--items", "4", "--things", "files", f"--run-before-phase={hook}"]
    run = any_engine.run([*words, "-d", data], tmp_path)
    assert run.code == 3, run
    assert f"{tree}: this is not the directory that the run made" in run.stderr
    phases = [m["where"]["phase"] for m in run.result.measurements]
    assert phases == ["Tree creation", "File creation"]
    there = precious if put == "ln -s" else tree
    assert {path.name: path.read_text() for path in there.iterdir()} == dict.fromkeys(
        names, "precious"
    )
    assert run.result.end is not None
    assert put == "ln -s" or f"which stays: {tree}" in run.result.end["errors"][-1]["cause"]
    # The run's own files are still in the directory to which they were moved.
    assert sorted(path.name for path in (tmp_path / "away").iterdir()) == names
