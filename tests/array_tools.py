# SPDX-License-Identifier: BSD-3-Clause
"""What tests of array libraries share: whether an engine has one, and the libraries' own tools."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from engines import Engine


def missing(engine: Engine, backend: str, where: Path) -> str:
    """Why the engine does not have the backend of arrays; empty if it has."""
    described = json.loads(engine.alone(["describe", "backends"], where).stdout)
    row = next(b for b in described if b["name"] == backend and b["serves"] == "arrays")
    return row["missing"] or ""


def need(engine: Engine, backend: str, where: Path) -> None:
    if why := missing(engine, backend, where):
        pytest.skip(f"{backend}: {why}")


def tool(name: str, *words: object) -> str:
    if shutil.which(name) is None:
        pytest.skip(f"no {name} here")
    done = subprocess.run(
        [name, *map(str, words)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
