# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of interference share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engines import Engine, Job, Run
from results import Result, load


def start(
    engine: Engine,
    where: Path,
    *lines: str,
    ranks: int = 2,
    rounds: int = 1,
    words: Sequence[object] = (),
    **more: Any,
) -> Job:
    """A job with a group for each line; results go to `where`/all.jsonl and all.turns."""
    of_groups = [word for line in lines for word in ("--group", line)]
    return engine.start(
        ["interference", *of_groups, "--rounds", rounds, "--result", where / "all.jsonl", *words],
        where,
        ranks,
        **more,
    )


def interfere(engine: Engine, where: Path, *lines: str, **more: Any) -> Run:
    return start(engine, where, *lines, **more).finish()


def of_turn(where: Path, turn: str, group: int) -> Result:
    """Held against the schema."""
    return load(where / "all.turns" / turn / f"group-{group}/result.jsonl")


def turns(where: Path) -> list[str]:
    return sorted(p.name for p in (where / "all.turns").iterdir())
