# SPDX-License-Identifier: BSD-3-Clause
"""What benches read is what the engine writes: a name that changed left `make bench` without a
number for weeks."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest

import b_eff
import b_eff_io
import mdtest
from engines import ROOT, Engine
from harness import BenchError, Figures, Kit, Outcome, Pair, measure


@pytest.fixture
def kit(any_engine: Engine, tmp_path: Path) -> Kit:
    return Kit(any_engine.build, any_engine.mpiexec, tmp_path, dict(any_engine.environment()))


def test_b_eff_pairs(kit: Kit) -> None:
    here = b_eff.placements()
    latencies = b_eff.pairs_of_engine(kit, 1)
    assert list(latencies) == [f"latency, processors {a} {b}" for a, b in here]
    assert all(0 < value < 1e6 for value in latencies.values())


def test_b_eff_io_set_up(kit: Kit) -> None:
    (value,) = b_eff_io.setup_of_engine(kit).values()
    assert value > 0


def test_mdtest_phases(kit: Kit) -> None:
    rates = mdtest.of_engine(kit, "tmpfs", 1, 10)
    assert sorted(rates) == ["create", "remove", "stat"]
    assert all(rates.values())


def test_every_figure_that_a_bench_names_is_described() -> None:
    """Also where reading it takes a program that tests do not build, or long."""
    description = json.loads((ROOT / "schemas/fields-1.json").read_text())
    figures = [b["figures"] for b in description["benchmarks"].values()]
    tables = [description["tables"][f] if isinstance(f, str) else f for f in figures]
    described = {figure["name"] for table in tables for figure in table}
    named: set[str] = set()
    for path in (ROOT / "bench").glob("*.py"):
        text = path.read_text()
        named |= set(re.findall(r'figure\([^"]*"[^"]*"\), "(\w+)"', text))
        named |= set(re.findall(r'\["name"\] == "(\w+)"', text)) - {"uring"}
        named |= set(re.findall(r'"(ping_pong_\w+)"', text))
    assert len(named) >= 4
    assert named <= described


def test_a_result_that_has_not_what_a_bench_reads_leaves_the_other_pairs(kit: Kit) -> None:
    with pytest.raises(BenchError, match="no figure pairs, but b_eff"):
        b_eff.figure([{"kind": "figure", "name": "b_eff"}], "pairs")

    record: dict[str, float] = {}

    def broken() -> Figures:
        return {"rate": record["detail"]}

    def fine(value: float) -> Figures:
        return {"rate": value}

    pairs = [
        Pair("first", "?", broken, broken, "MB/s"),
        Pair("second", "?", partial(fine, 2.0), partial(fine, 1.0), "MB/s"),
    ]
    outcome: Outcome = measure(lambda _: pairs, (), kit)
    assert outcome.failed == {"first": "KeyError: 'detail'"}
    assert [verdict.pair.name for verdict in outcome.verdicts] == ["second"]
