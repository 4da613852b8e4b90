# SPDX-License-Identifier: BSD-3-Clause
"""Files of others stay, whatever their names; and where the original continues, so does effio."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import Engine
from mdtest_runs import QUICK, left_in

SMALL = ["-w", "-b", "4k", "-t", "4k"]


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    """A node of /dev/null."""
    if os.geteuid() != 0:
        pytest.skip("making a device needs root")
    os.mknod(path, 0o020666, os.makedev(1, 3))


def _link(path: Path) -> None:
    path.with_name("precious").write_text("x")
    path.symlink_to("precious")


@pytest.mark.parametrize(
    ("make", "kind"),
    [(_fifo, "a FIFO"), (_device, "a character device"), (_link, "a symbolic link")],
)
def test_ior_neither_replaces_nor_removes_what_is_not_a_regular_file(
    any_engine: Engine, tmp_path: Path, data: Path, make: Callable[[Path], None], kind: str
) -> None:
    make(data / "x")
    before = left_in(data)
    run = any_engine.run(["classic", "ior", *SMALL, "-o", data / "x"], tmp_path, ranks=1)
    assert run.code == 2, run
    assert f"is {kind}: only regular files are replaced and removed" in run.stderr
    assert left_in(data) == before
    if kind == "a symbolic link":
        assert (data / "precious").read_text() == "x"


def test_a_device_that_is_to_be_written_into_stays(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """-E: into what is there. IOR without -k then deletes it; we never do."""
    _device(data / "null")
    run = any_engine.run(["classic", "ior", *SMALL, "-E", "-o", data / "null"], tmp_path, ranks=1)
    assert (data / "null").is_char_device(), run


@pytest.mark.parametrize(("words", "fate"), [([], "deleted"), (["-E"], "overwritten")])
def test_a_file_that_was_there_is_reported_as_by_the_original(
    any_engine: Engine, tmp_path: Path, data: Path, words: list[str], fate: str
) -> None:
    (data / "x").write_bytes(bytes(4096))
    run = any_engine.run(["classic", "ior", *SMALL, *words, "-o", data / "x"], tmp_path)
    assert run.code == 0, run
    lines = run.stdout.splitlines()
    at = lines.index("Results: ")
    assert lines[at + 1 : at + 3] == [
        f'WARNING: The file "{data}/x" exists already and will be {fate}',
        "",
    ]
    assert (data / "x").exists() == (fate == "overwritten")


def test_mdtest_removes_from_a_tree_what_it_made_and_nothing_else(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    tree = ["mdtest", "-F", "-d", data]
    assert any_engine.run(["classic", *tree, "-n", "10", "-C"], tmp_path).code == 0
    leaf = data / "test-dir.0-0/mdtest_tree.0"
    (leaf / "precious").write_text("x")
    (leaf / "file.mdtest.0.x").write_text("x")
    run = any_engine.run(["classic", *tree, "-n", "5", "-r"], tmp_path)
    assert run.code == 0, run  # as the original, which warns
    # The items of numbers 5 to 9 are of another command line.
    stays = {f"file.mdtest.{rank}.{i}" for rank in (0, 1) for i in range(5, 10)}
    stays |= {"precious", "file.mdtest.0.x"}
    assert {p.name for p in leaf.iterdir()} == stays
    assert run.result.end is not None
    assert run.result.end["errors"] == []
    (warning,) = [line for line in run.stderr.splitlines() if "which stays" in line]
    assert warning.startswith("effio: warning: ")
    assert str(leaf.parent) in warning
    assert all(f"{leaf}/{name}" in warning for name in stays)


def test_what_appears_in_our_tree_stays_and_is_listed(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """Also at an end that is not orderly."""
    leaf = data / "test-dir.0-0/mdtest_tree.0"
    words = [*QUICK, "-n", "3", "--things", "files", "-d", data]
    hook = f'[ "$EFFIO_PHASE" != file-stat ] || touch {leaf}/precious'
    run = any_engine.run([*words, "--run-before-phase", hook], tmp_path)
    assert run.code == 3, run
    assert f"which stays: {leaf}/precious" in run.stderr
    assert left_in(leaf) == ["precious"]


def test_the_run_line_says_where_the_data_are(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = any_engine.run(
        ["ior", "--quiet", "--block", "4KiB", "--transfer", "4KiB", "--dir", "data/../data"],
        tmp_path,
    )
    assert run.code == 0, run
    manifest = run.result.run["manifest"]
    assert manifest["directory"] == str(data)
    assert {f["directory"] for f in manifest["files"]} == {str(data)}
    assert manifest["host"] == os.uname().nodename


def test_an_unwritable_working_directory_is_not_a_hindrance(mpi: Engine, elsewhere: Path) -> None:
    """The result goes to TMPDIR, which `as_nobody` sets to the directory it is given."""
    cwd = elsewhere / "readonly"
    cwd.mkdir()
    words = ["classic", "ior", *SMALL, "-o", elsewhere / "x"]
    run = mpi.as_nobody(words, elsewhere, program=_in_directory(elsewhere, mpi, cwd))
    assert run.code == 0, run
    assert f"effio-mpi: the result file is {elsewhere}/effio-ior-" in run.stderr


def _in_directory(where: Path, engine: Engine, cwd: Path) -> Path:
    script = where / "there"
    script.write_text(f'#!/bin/sh\ncd {cwd} && exec {engine.program} "$@"\n')
    script.chmod(0o755)
    return script


def test_options_of_ours_on_a_classic_command_line(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = ["classic", "ior", *SMALL, "-o", data / "x"]
    for more, env in (
        (["-O", "effio.max-bytes=1KiB"], {}),
        ([], {"EFFIO_MAX_BYTES": "1KiB"}),
    ):
        run = any_engine.run([*words, *more], tmp_path, env=env)
        assert run.code == 2, run
        assert "EFFIO_MAX_BYTES: 1KiB is too small: the files need " in run.stderr
        assert "raise it, or use a smaller -b or -D" in run.stderr
    run = any_engine.run([*words, "-O", "effio.watchdog=77s"], tmp_path)
    assert run.code == 0, run
    assert run.result.run["watchdog_seconds"] == 77
    result = tmp_path / "here.jsonl"
    run = any_engine.run(
        words, tmp_path, env={"EFFIO_WATCHDOG": "78s", "EFFIO_RESULT": str(result)}
    )
    assert result.exists(), run
    assert '"watchdog_seconds":78' in result.read_text()
    run = any_engine.run(words, tmp_path)
    assert run.result.run["watchdog_seconds"] == 600
    run = any_engine.run(words, tmp_path, env={"EFFIO_WATCHDOG": "soon"})
    assert run.code == 2, run
    assert "EFFIO_WATCHDOG" in run.stderr
    for name in ("ior", "mdtest", "b_eff"):
        word = "-help" if name == "b_eff" else "-h"
        reported = any_engine.alone(["classic", name, word], tmp_path).stdout
        assert (
            "EFFIO_WATCHDOG   aborts a run after this long without progress (0: never) [10min]"
            in reported
        )
        assert ("EFFIO_MAX_BYTES" in reported) == (name != "b_eff")


def test_ranks_that_never_come_end_the_job(mpi: Engine, tmp_path: Path) -> None:
    """What is before the first line of a result has its watchdog too."""
    words = ["rings", "--watchdog", "2s", "--quiet"]
    command = [*mpi.command(words, 1), ":", "-n", "1", "sleep", "50"]
    run = subprocess.run(
        command, cwd=tmp_path, env=mpi.environment(), timeout=45, capture_output=True, text=True
    )
    assert run.returncode != 0
    assert "no progress for" in run.stderr
    assert "MPI_Init" in run.stderr


def test_a_command_may_take_longer_than_the_watchdog(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    hook = '[ "$EFFIO_RANK$EFFIO_PHASE" != 1file-create ] || sleep 4'
    words = [*QUICK, "-n", "2", "--things", "files", "-d", data, "--watchdog", "1s"]
    for option in ("--run-before-phase", "--run-after-phase"):
        run = any_engine.run([*words, option, hook], tmp_path)
        assert run.code == 0, run


@pytest.mark.parametrize(
    "words",
    [
        ["-d", "4"],
        ["-O", "interIODelay=4000000"],
        ["-a", "DUMMY", "--dummy.delay-xfer=4000000", "--dummy.delay-only-rank0"],
    ],
)
def test_requested_waiting_is_progress(
    any_engine: Engine, tmp_path: Path, data: Path, words: list[str]
) -> None:
    job = ["classic", "ior", *SMALL, "-o", data / "x", "-O", "effio.watchdog=1s", *words]
    run = any_engine.run(job, tmp_path)
    assert run.code == 0, run


def test_a_directory_whose_name_is_not_utf_8(any_engine: Engine, tmp_path: Path) -> None:
    """The mark of a run in its data directory holds the directory's name: the job aborted."""
    there = tmp_path / os.fsdecode(b"gr\xf6sse")
    there.mkdir()
    words = ["ior", "--backend", "posix", "--dir", there, "--block", "64KiB", "--transfer", "64KiB"]
    run = any_engine.run([*words, "--result", tmp_path / "r.jsonl"], tmp_path, ranks=1)
    assert run.code == 0, run
    assert list(there.iterdir()) == []
