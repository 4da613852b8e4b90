# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of several benchmarks in one job share: runs, and what each group leaves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engines import Engine, Job, Run


def start(
    engine: Engine,
    where: Path,
    *lines: str,
    ranks: int = 2,
    words: Sequence[object] = (),
    **more: Any,
) -> Job:
    """A job with a group for each line; results go to `where`/both."""
    of_groups = [word for line in lines for word in ("--group", line)]
    job = engine.start(
        ["together", *of_groups, "--result", where / "both", *words], where, ranks, **more
    )
    # Both groups' results, held against the schema; the last one's code is the run's where a
    # launcher makes its own.
    job.run_folders = where / "both"
    return job


def together(engine: Engine, where: Path, *lines: str, **more: Any) -> Run:
    return start(engine, where, *lines, **more).finish()


def log_of(where: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (where / "both/together.log").read_text().splitlines()]


def groups(where: Path) -> dict[str, bytes]:
    return {str(p.parent.name): p.read_bytes() for p in (where / "both").rglob("result.jsonl")}
