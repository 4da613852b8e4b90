# SPDX-License-Identifier: BSD-3-Clause
"""The parallel search through the trees of mdtest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engines import Engine, Run
from mdtest_runs import QUICK, left_in, rates

WORDS = (*QUICK, "--things", "files", "--also", "find", "-w", "39", "--find-bytes", "39")


def _search(run: Run) -> dict[str, Any]:
    (row,) = run.result.rows(phase="File search")
    found: dict[str, Any] = row["detail"] | {"operations": row["operations"]}
    return found


@pytest.mark.parametrize("tree", [[], ["--unique"]])
def test_what_was_made_is_found(
    any_engine: Engine, tmp_path: Path, data: Path, tree: list[str]
) -> None:
    """Numbers of six digits: of 0 to 119 "01" is in that of 1, of 10 to 19 and of 100 to 119. The
    files that are there before have other numbers and no bytes."""
    words = [*WORDS, "-n", "120", "--name-length", "20", "--populate", "30", "-d", data]
    run = any_engine.run([*words, *tree], tmp_path, ranks=2)
    assert run.code == 0, run
    search = _search(run)
    assert (search["found"], search["expected"]) == (62, 62)
    assert search["operations"] == 240 + (60 if tree else 30)
    assert left_in(data) == []


def test_every_file_is_searched_for_without_a_size(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """The populated ones too, in the first directory of three, whose two lower ones are looked up
    as well; by three threads."""
    words = [*QUICK, "--things", "files", "--also", "find", "--find-name", "file.*", "-n", "30"]
    words += ["-b", "2", "-z", "1", "--populate", "5", "--threads", "3", "-d", str(data)]
    run = any_engine.run(words, tmp_path, ranks=2)
    assert run.code == 0, run
    search = _search(run)
    assert (search["found"], search["expected"], search["operations"]) == (65, 65, 67)


def test_a_file_that_is_lost_is_an_error_of_data(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    lose = "[ $EFFIO_PHASE$EFFIO_RANK != file-find0 ] || rm $(find . -name file.mdtest.0.101)"
    words = [*WORDS, "-n", "120", "-d", ".", "--run-before-phase", lose, "--phases", "create"]
    run = any_engine.run(words, data, ranks=2)
    assert run.code == 1, run
    search = _search(run)
    assert (search["found"], search["expected"]) == (1, 2)
    assert 'files found that are like "*01*", where 2 were made' in run.stderr


def test_the_rate_of_a_search_in_virtual_time(any_engine: Engine, tmp_path: Path) -> None:
    """Run with --unique: each rank reads a directory and looks 30 names up, 2 ms each."""
    slow = ["--backend", "sim", "--backend-options", "metadata=2ms"]
    run = any_engine.run([*WORDS, "-n", "30", "--unique", *slow], tmp_path, ranks=2)
    assert run.code == 0, run
    assert rates(run)["File search"] == pytest.approx(2 * 30 / (0.002 * 31))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--also", "find", "--find-name", ""], "--find-name: no pattern is given"),
        (["--also", "find", "--find-bytes", "-1"], "--find-bytes"),
        (["--also", "find", "--no-barriers", "--phases", "create,stat"], "--no-barriers"),
    ],
)
def test_searches_that_cannot_be_are_refused(
    any_engine: Engine, tmp_path: Path, words: list[str], why: str
) -> None:
    run = any_engine.alone(["mdtest", "-n", "4", *words], tmp_path)
    assert run.code == 2, run
    assert why in run.stderr
