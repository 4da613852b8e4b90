# SPDX-License-Identifier: BSD-3-Clause
"""What drivers under Slurm are started with."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines import Engine


@pytest.fixture
def mpich(engines: dict[str, Engine], tmp_path: Path) -> dict[str, str]:
    """The environment for an engine that srun can start."""
    if "mpich" not in engines:
        pytest.skip("no engine of flavour mpich is built here")
    engine = engines["mpich"]
    return {
        "EFFIO_ENGINE": str(engine.program),
        **engine.settings(),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }
