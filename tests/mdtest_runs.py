# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of mdtest share: quiet runs, what they say by phase, what they leave."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
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
