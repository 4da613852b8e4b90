# SPDX-License-Identifier: BSD-3-Clause
"""What the driver reads of every benchmark in virtual time, where differences of times are the
smallest: all that the engine writes is within the bounds of the reader."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from effio.store.reader import read_result
from engines import Engine
from scale.counted import RUNS

# On modelled storage where the benchmark has it; the model's numbers are no powers of two, so that
# sums of them are rounded.
MODEL = "sim --backend-options latency=0.3ms,rank-rate=0.7GB/s"
# These have a model of their own in RUNS, or none.
AS_IT_IS = {"b-eff-io", "b-eff", "rings", "overlap", "interference", "libraries", "mdtest"}


def words_of(benchmark: str) -> list[str]:
    words = RUNS[benchmark].format(P=2, half=1)
    if benchmark not in AS_IT_IS:
        words = words.replace("--backend null", f"--backend {MODEL}")
    return shlex.split(words)


@pytest.mark.parametrize("benchmark", RUNS)
def test_the_driver_reads_what_the_engine_wrote(
    benchmark: str, any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = [benchmark, *words_of(benchmark), "--quiet"]
    if benchmark != "interference":
        words += ["-o", "result.jsonl"]
    if benchmark not in ("b-eff", "rings", "interference"):
        words += ["--dir", str(data)]
    run = any_engine.run(words, tmp_path)
    assert run.code == 0, run
    for path in tmp_path.glob("*.jsonl"):
        result = read_result(path)
        assert result.status == "done"
        assert result.remarks == []
        times = [s for m in result.measurements for s in m.seconds.values()]
        assert all(spread.min >= 0 for spread in times if spread is not None)
