# SPDX-License-Identifier: BSD-3-Clause
"""Results of every benchmark in virtual time, where differences of times are smallest: all values
are within the bounds of the driver's reader, and no time is negative."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from effio.store.reader import read_result
from engines import Engine
from scale.counted import RUNS

# On modeled storage where the benchmark has it; the model's numbers are not powers of two, so that
# sums of them are rounded.
MODEL = "sim --backend-options latency=0.3ms,rank-rate=0.7GB/s"
# These have their own model in RUNS, or none.
AS_IT_IS = {"b-eff-io", "b-eff", "rings", "overlap", "interference", "libraries", "mdtest"}


def words_of(benchmark: str) -> list[str]:
    words = RUNS[benchmark].format(P=2, half=1)
    if benchmark not in AS_IT_IS:
        words = words.replace("--backend null", f"--backend {MODEL}")
    return shlex.split(words)


def times_of(value: Any, name: str = "", of_times: bool = False) -> Iterator[tuple[str, float]]:
    """Every number in a record that is a time, by its own name or that of its parent."""
    of_times = of_times or name.endswith("seconds")
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from times_of(inner, f"{name}.{key}", of_times or str(key).endswith("seconds"))
    elif isinstance(value, list):
        for inner in value:
            yield from times_of(inner, name, of_times)
    elif of_times and isinstance(value, int | float) and not isinstance(value, bool):
        yield name, value


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
        times = [t for line in path.read_text().splitlines() for t in times_of(json.loads(line))]
        assert times
        assert [(name, seconds) for name, seconds in times if seconds < 0] == []
