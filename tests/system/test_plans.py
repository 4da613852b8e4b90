# SPDX-License-Identifier: BSD-3-Clause
"""`effio-mpi plans`: the plans of many command lines from one start of the program."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engines import Engine
from patience import SECONDS


def asked(engine: Engine, text: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [engine.program, "plans"],
        input=text,
        cwd=cwd,
        env=engine.environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def answers(engine: Engine, lines: list[list[str]], cwd: Path) -> list[dict[str, Any]]:
    done = asked(engine, "".join(json.dumps(line) + "\n" for line in lines), cwd)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_line_is_answered_as_a_start_for_it_alone(any_engine: Engine, tmp_path: Path) -> None:
    """Every benchmark, twice: nothing of a line counts for the next one."""
    names = any_engine.alone(["list"], tmp_path).stdout.split()
    memory = ["--plan-memory=8GiB", "--plan-free=1TiB"]
    lines = [[name, "--plan-ranks=4", *memory] for name in names]
    lines += [[name, "--plan-ranks=8", *memory, "--plan-rate=2GB/s"] for name in names]
    found = answers(any_engine, lines, tmp_path)
    assert len(found) == len(lines)
    for line, answer in zip(lines, found, strict=True):
        alone = any_engine.alone([*line, "--plan-json"], tmp_path)
        assert answer["code"] == alone.code, line
        if alone.code == 0:
            assert answer["plan"] == json.loads(alone.stdout), line
        else:
            assert answer["error"] in alone.stderr, line
    assert sum(answer["code"] == 0 for answer in found) > len(names)


def test_a_line_that_is_refused_does_not_stop_the_next(any_engine: Engine, tmp_path: Path) -> None:
    lines = [["ior", "--blok=1MiB"], ["nix"], [], ["ior", "--block=3MiB"]]
    wrong, unknown, empty, right = answers(any_engine, lines, tmp_path)
    assert wrong == {"code": 2, "error": "unknown option --blok; did you mean --block?"}
    assert unknown == {"code": 2, "error": "no benchmark 'nix'"}
    assert empty == {"code": 2, "error": "no benchmark ''"}
    assert right["code"] == 0
    # One rank, one segment of one block.
    assert right["plan"]["estimate"]["bytes_on_storage"] == 3 << 20


@pytest.mark.parametrize("text", ['{"a": 1}', "[1]", '["ior"', '["\\ud800"]', "null", "[[]]", ""])
def test_a_line_of_something_else_ends_it(any_engine: Engine, text: str, tmp_path: Path) -> None:
    done = asked(any_engine, f'["ior"]\n{text}\n["ior"]\n', tmp_path)
    assert done.returncode == 2
    assert done.stderr == "effio-mpi plans: line 2 of stdin is not a JSON list of words\n"
    assert len(done.stdout.splitlines()) == 1


def test_at_a_terminal_it_says_what_it_reads(any_engine: Engine, tmp_path: Path) -> None:
    """It waited without a word."""
    leader, follower = pty.openpty()
    try:
        process = subprocess.Popen(
            [any_engine.program, "plans"],
            stdin=follower,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=any_engine.environment(),
            text=True,
        )
        os.write(leader, b'["ior"]\n\x04')  # Ctrl-D
        out, err = process.communicate(timeout=SECONDS)
    finally:
        os.close(leader)
        os.close(follower)
    assert process.returncode == 0
    assert err == any_engine.alone(["plans", "--help"], tmp_path).stdout
    assert [json.loads(line)["code"] for line in out.splitlines()] == [0]


def test_it_takes_no_words(any_engine: Engine, tmp_path: Path) -> None:
    assert "JSON list of words" in any_engine.alone(["plans", "--help"], tmp_path).stdout
    assert any_engine.alone(["plans", "ior"], tmp_path).code == 2
