# SPDX-License-Identifier: BSD-3-Clause
"""What a store of many runs costs, in files that are read: real results on the model, copied
(stores.py). The seconds are in bench/store.py."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from driver.conftest import Effio
from effio.store import safe_files
from engines import Engine
from scale import stores

RUNS = 100


@pytest.fixture(scope="module")
def made(any_engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("stores")
    stores.write_all(any_engine.program, place, RUNS)
    return place


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many files of each name were opened."""
    counted: Counter[str] = Counter()
    real = safe_files._opened

    def count(path: Path, *rest: object, **more: object) -> int:
        counted[path.name] += 1
        return real(path, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(safe_files, "_opened", count)
    return counted


def test_a_table_of_all_runs_reads_none_of_them(
    effio: Effio, made: Path, opened: Counter[str]
) -> None:
    """After they were indexed; and it is the table of the same runs, read one by one."""
    words = ["--runs", made / "runs", "table", "--format", "csv"]
    assert effio.call(*words).returncode == 0
    assert opened["result.jsonl"] == RUNS
    opened.clear()
    stored = effio.call(*words)
    assert opened.total() == 0
    read = effio.call(*words, made / "runs")
    assert opened["result.jsonl"] == RUNS
    assert stored.stdout == read.stdout
    assert len(stored.stdout.splitlines()) == 1 + RUNS
    # A copy of a run's folder is not another repetition.
    first = min((made / "runs").glob("2026*"))
    copy = first.with_name(first.name + "-copied")
    shutil.copytree(first, copy)
    try:
        again = effio.call(*words)
        assert again.stdout == stored.stdout
        assert f"{copy} is a copy of {first}" in again.stderr
        # What the index does not have is read.
        (made / "runs" / "effio-one.jsonl").write_bytes((first / "result.jsonl").read_bytes())
        assert effio.call(*words).stdout == effio.call(*words, made / "runs").stdout
    finally:
        shutil.rmtree(copy)
        (made / "runs" / "effio-one.jsonl").unlink(missing_ok=True)
