# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of mdtest share: quiet runs, what they say by phase, what they leave."""

from __future__ import annotations

from pathlib import Path

from engines import Run

QUICK = ("mdtest", "--quiet", "--progress", "none")


def rates(run: Run) -> dict[str, float]:
    """Operations a second by phase, of a run with one iteration."""
    return {m["where"]["phase"]: m["rate"]["value"] for m in run.result.measurements}


def operations(run: Run) -> dict[str, int]:
    return {m["where"]["phase"]: m["operations"] for m in run.result.measurements}


def left_in(directory: Path) -> list[str]:
    return sorted(str(p.relative_to(directory)) for p in directory.rglob("*"))
