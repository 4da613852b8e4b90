# SPDX-License-Identifier: BSD-3-Clause
"""The points of a campaign are planned by few starts of the engine."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from driver.campaigns import NULL, STEP, write_campaign
from driver.conftest import Effio
from effio.engine.program import Command, Engine
from effio.errors import EffioError, ExitCode
from engines import Engine as Built

# 40 sizes of a block times 30 numbers of segments: a start plans 1,000 of them, another one 200.
BLOCKS = [f"{n}MiB" for n in range(2, 82, 2)]
SWEEP = f"[step.sweep]\nsegments = {list(range(1, 31))}\nblock = {json.dumps(BLOCKS)}\n"


def _program(path: Path, lines: str) -> Path:
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def counted(with_engine: Effio) -> Path:
    """A log of what the engine was started with; with a file `old` it knows no `plans`."""
    engine, log = with_engine.environment["EFFIO_ENGINE"], with_engine.cwd / "starts"
    program = _program(
        with_engine.cwd / "effio-mpi",
        f'echo "$1" >> {log}\n'
        f'if [ "$1" = plans ] && [ -e {with_engine.cwd}/old ]; then\n'
        "    echo \"effio-mpi: no benchmark or command 'plans'; see effio-mpi --help\" >&2\n"
        f'    exit 2\nfi\nexec {engine} "$@"',
    )
    with_engine.environment["EFFIO_ENGINE"] = str(program)
    return log


def test_twelve_hundred_points_take_two_starts(with_engine: Effio, counted: Path) -> None:
    write_campaign(with_engine, STEP + NULL.replace('block = "2MiB"\n', "") + SWEEP)
    done = with_engine.call("plan", "s.toml", "--format", "csv")
    assert done.returncode == 0, done.stderr
    assert sorted(counted.read_text().split()) == ["describe", "plans", "plans"]
    _, *rows = done.stdout.splitlines()
    assert len(rows) == 1200
    # In the order of the file: segments x block, written once and read once.
    written = [int(float(row.split(",")[3])) >> 20 for row in rows]
    assert written == [n * block for n in range(1, 31) for block in range(2, 82, 2)]


def test_the_first_point_that_is_refused_is_named(with_engine: Effio, counted: Path) -> None:
    sweep = '[step.sweep]\nblock = ["2MiB", "3MiB", "5000B", "7000B"]\n'
    write_campaign(with_engine, STEP + NULL.replace('block = "2MiB"\n', "") + sweep)
    done = with_engine.call("plan", "s.toml")
    assert done.returncode == 2
    assert "a block=5000B: " in done.stderr
    assert "7000B" not in done.stderr
    assert counted.read_text().split().count("plans") == 1


def test_an_engine_that_is_too_old_is_started_for_each(with_engine: Effio, counted: Path) -> None:
    blocks = ["2MiB", "3MiB", "5MiB"]
    text = STEP + NULL.replace('block = "2MiB"\n', "")
    write_campaign(with_engine, f"{text}[step.sweep]\nblock = {json.dumps(blocks)}\n")
    new = with_engine.call("plan", "s.toml")
    assert new.returncode == 0, new.stderr
    counted.unlink()
    (with_engine.cwd / "old").touch()
    assert with_engine.call("plan", "s.toml").stdout == new.stdout
    assert counted.read_text().split() == ["describe", "plans", "ior", "ior", "ior"]
    write_campaign(with_engine, f"{text}[step.sweep]\nblock = {json.dumps([*blocks, '5000B'])}\n")
    assert "a block=5000B: " in with_engine.call("plan", "s.toml").stderr


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        (b"line\xe2\x80\xa8separator", ["plans"]),
        (b"next\xc2\x85line", ["plans"]),
        (b'"quoted" \\u0041', ["plans"]),
        (b"two\nlines", ["plans"]),
        (b"not UTF-8 \xff", ["plans", "ior"]),
    ],
)
def test_any_directory_can_be_planned_for(
    name: bytes, starts: list[str], with_engine: Effio, counted: Path
) -> None:
    directory = with_engine.cwd / os.fsdecode(name)
    directory.mkdir()
    write_campaign(with_engine, STEP + '[step.options]\nblock = "2MiB"\n')
    done = with_engine.call("plan", "s.toml", "--dir", directory)
    assert done.returncode == 0, done.stderr
    assert "1 point, 1 run: 2 MiB written, 2 MiB read" in done.stdout
    assert counted.read_text().split() == ["describe", *starts]


def test_a_word_with_nul_is_refused_with_its_command(any_engine: Built) -> None:
    engine = Engine(any_engine.program, "test")
    commands = [Command(["ior", f"--name={name}"], 1) for name in ("a", "b\0c", "d")]
    right, wrong, last = engine.check_all(commands)
    assert isinstance(wrong, EffioError)
    assert wrong.message == "an argument of the engine contains a NUL character"
    assert isinstance(right, dict)
    assert right == last


@pytest.mark.parametrize(
    "answer",
    [
        "[1",
        '{"code": 0, "plan": {}}\\n{"code": 0, "plan": {}}',
        "",
        "[]",
        "{}",
        '{"code": 0}',
        '{"code": "2", "plan": {}}',
    ],
)
def test_other_answers_are_refused(answer: str, tmp_path: Path) -> None:
    odd = _program(tmp_path / "effio-mpi", f"cat > /dev/null; printf '%b\\n' '{answer}'")
    with pytest.raises(EffioError) as refused:
        Engine(odd, "odd").check_all([Command(["ior"], 2)])
    assert refused.value.code == ExitCode.ENVIRONMENT
