# SPDX-License-Identifier: BSD-3-Clause
"""What differs between two sides besides their rates, and what of it is another workload."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from driver.sides import FAST, SLOW, only, side
from effio.judge.compare import compare
from effio.judge.differences import _NO_WORKLOAD
from effio.judge.verdicts import Verdict
from engines import Engine


def test_what_differs_likely_reasons_first() -> None:
    stripes = {"path": "/data", "type": "lustre", "striping": {"count": 4}}
    other = side("b", SLOW, file_system=stripes, options={"time": 24.0, "hints": "x"})
    found = compare(side("a", FAST), other).differences
    named = [(d.kind, d.name, d.first, d.second) for d in found]
    assert named[0] == ("storage", "file system", "ext4", "lustre")
    assert ("option", "hints", "–", "x") in named
    assert ("option", "time", "12 s", "24 s") in named
    assert named.index(("option", "hints", "–", "x")) > 2
    assert not any(d.name == "processor" for d in found)


def test_options_of_two_benchmarks_are_not_compared() -> None:
    """Under "likely reasons first" was every option of both, but not that the benchmarks differ."""
    other = side("b", SLOW, benchmark="ior", options={"transfer": [1024], "time": 3.0}, ior={})
    found = compare(side("a", FAST), other).differences
    assert [(d.kind, d.name, d.first, d.second) for d in found] == [
        ("run", "benchmark", "b-eff-io", "ior")
    ]
    again = side("b", SLOW, options={"time": 13.0})
    kinds = {d.kind for d in compare(side("a", FAST), again).differences}
    assert kinds == {"option"}


def test_lists_of_options_are_workload() -> None:
    checked, not_ = ({"time": 12.0, "verify": v} for v in (["inside"], []))
    found = compare(side("a", FAST, options=checked), side("b", SLOW, options=not_))
    assert found.lines[0].reason == "other workload: --verify inside / –"
    # A sweep: the chunk is an axis, and what the other side has more of does not matter.
    some, more = ({"time": 12.0, "chunks": v} for v in ([1024], [1024, 2048]))
    found = compare(side("a", FAST, options=some), side("b", SLOW, options=more))
    assert only(found) is Verdict.SLOWER


@pytest.mark.parametrize(
    ("option", "first", "second"),
    [
        ("until-ci-least", 10.0, 30.0),
        ("clock", "automatic", "monotonic"),
        # `effio run` adds it, with a word for the MPI library.
        ("tried", "openmpi-4.1", "mpich-4.0"),
        ("stripe-count", 1, 4),
    ],
)
def test_how_it_is_measured_and_where_is_not_a_workload(
    option: str, first: object, second: object
) -> None:
    one, other = ({"time": 12.0, option: value} for value in (first, second))
    found = compare(side("a", FAST, options=one), side("b", SLOW, options=other))
    assert only(found) is Verdict.SLOWER


# Options of most benchmarks that are part of the workload. A new shared option is either one of
# these, or one that may differ between the sides of `effio compare`.
SHARED_WORKLOAD = {
    "compressible", "drop-cache", "duplicate", "fsync", "memory-hog", "node-local", "reader",
    "verify",
}  # fmt: skip


def test_each_shared_option_is_workload_or_not(any_engine: Engine, tmp_path: Path) -> None:
    described = json.loads(any_engine.alone(["describe"], tmp_path).stdout)
    names = Counter(o["name"] for b in described["benchmarks"] for o in b["options"])
    shared = {name for name, count in names.items() if count >= 9}
    assert shared - _NO_WORKLOAD == SHARED_WORKLOAD
    # Every name in the list is an option of the engine.
    assert set(names) >= _NO_WORKLOAD - {"manifest"}  # of older results
