# SPDX-License-Identifier: BSD-3-Clause
"""b_eff_io from the outside: whole runs with each MPI, and what they leave."""

from __future__ import annotations

from pathlib import Path

from engines import Engine

# One call of every row: the smallest complete run.
QUICK = ("b-eff-io", "--time", "0s", "--memory-per-rank", "256MiB", "--quiet")


def test_smallest_run_is_complete(engine: Engine, tmp_path: Path, data: Path) -> None:
    run = engine.run([*QUICK, "--partitions", "2", "--dir", data], tmp_path)
    assert run.code == 0, run
    # Without --rewrite: 43 rows written, the 9 scatter rows rewritten, 43 read (spec A3).
    assert len(run.result.measurements) == 43 + 9 + 43
    assert run.result.status == "done"
    assert list(data.iterdir()) == []
