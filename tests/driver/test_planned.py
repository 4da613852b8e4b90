# SPDX-License-Identifier: BSD-3-Clause
"""The points of a campaign are planned by few starts of the engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driver.campaigns import NULL, STEP, write_campaign
from driver.conftest import Effio
from effio.engine.program import Command, Engine
from effio.errors import EffioError, ExitCode

# 40 sizes of a block times 30 numbers of segments, of which two starts plan a thousand each.
BLOCKS = [f"{n}MiB" for n in range(2, 82, 2)]
SWEEP = f"[step.sweep]\nsegments = {list(range(1, 31))}\nblock = {json.dumps(BLOCKS)}\n"


def _program(path: Path, lines: str) -> Path:
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def counted(with_engine: Effio) -> Path:
    """A log of what the engine was started with."""
    engine, log = with_engine.environment["EFFIO_ENGINE"], with_engine.cwd / "starts"
    program = _program(with_engine.cwd / "effio-mpi", f'echo "$1" >> {log}\nexec {engine} "$@"')
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


def test_an_engine_that_knows_no_plans_is_to_be_built_again(tmp_path: Path) -> None:
    old = _program(tmp_path / "effio-mpi", "echo 'no benchmark or command plans' >&2; exit 2")
    with pytest.raises(EffioError, match=r"after 0 of 1 plan: no benchmark or command") as refused:
        Engine(old, "old").check_all([Command(["ior"], 2)])
    assert refused.value.code == ExitCode.ENVIRONMENT
    assert "effio engine build" in str(refused.value.hint)


@pytest.mark.parametrize("answer", ["[1", '{"code": 0, "plan": {}}\\n{"code": 0, "plan": {}}', ""])
def test_other_answers_are_refused(answer: str, tmp_path: Path) -> None:
    odd = _program(tmp_path / "effio-mpi", f"cat > /dev/null; printf '%s\\n' '{answer}'")
    with pytest.raises(EffioError):
        Engine(odd, "odd").check_all([Command(["ior"], 2)])
