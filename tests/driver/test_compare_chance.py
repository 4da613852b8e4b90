# SPDX-License-Identifier: BSD-3-Clause
"""How often comparisons are wrong, with the noise of measured runs: false alarms, missed losses."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import effio.judge.compare as compare_module
from driver.sides import cell, night, run
from effio.judge.compare import compare
from effio.judge.samples import Judged, Side

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def _pool(scale: float, factor: float) -> list[Judged]:
    """Runs of a system whose noise is `scale` times that which was measured."""
    text = (Path(__file__).parent / "measured_noise.toml").read_text()
    return [
        run(
            f"run{number}",
            [
                cell(factor * 1e6 * 2.718281828 ** (scale * noise), where={"chunk_bytes": column})
                for column, noise in enumerate(row)
            ],
        )
        for number, row in enumerate(tomllib.loads(text)["runs"])
    ]


def _drawn(name: str, pool: Sequence[Judged], count: int, chance: random.Random) -> Side:
    """Runs on different nights."""
    some = [chance.choice(pool).result for _ in range(count)]
    runs = []
    for i, result in enumerate(some):
        at = result.run.model_copy(update={"started": night(name, i)})
        runs.append(Judged(f"{name}{i}", result.path, replace(result, run=at)))
    return Side(name, runs)


@pytest.fixture
def without_remarks(monkeypatch: pytest.MonkeyPatch) -> None:
    """No remarks and spreads next to the verdicts, which do not depend on them: they take half of
    the time of thousands of comparisons."""
    monkeypatch.setattr(compare_module, "_with_statements", lambda line, a, b: line)


@pytest.mark.usefixtures("without_remarks")
def test_equal_systems_hardly_ever_alarm() -> None:
    chance, pool = random.Random(18), _pool(1.0, 1.0)
    alarms = sum(
        bool(compare(_drawn("a", pool, n, chance), _drawn("b", pool, n, chance)).losses)
        for n in (5, 10)
        for _ in range(500)
    )
    assert alarms <= 50  # of 1,000


@pytest.mark.usefixtures("without_remarks")
@pytest.mark.parametrize(("scale", "runs"), [(1.0, 45), (0.2, 5)])
def test_a_loss_of_a_tenth_is_found(scale: float, runs: int) -> None:
    chance, before, after = random.Random(18), _pool(scale, 1.0), _pool(scale, 0.9)
    found = sum(
        bool(compare(_drawn("a", before, runs, chance), _drawn("b", after, runs, chance)).losses)
        for _ in range(100)
    )
    assert found >= 95
