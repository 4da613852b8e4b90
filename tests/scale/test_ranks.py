# SPDX-License-Identifier: BSD-3-Clause
"""What grows with the number of ranks: counted on small numbers, where a thing that grows shows as
a difference, however long it takes (docs/scale.md)."""

from __future__ import annotations

import json

import pytest

from engines import Engine

from .counted import NAMES, Counted, count

FEW, MANY = 4, 8
# Bytes that a rank may need for each rank there is, by design; and what texts of numbers, which
# have more or fewer digits, differ by.
PER_RANK = 64
DIGITS = 2048
# How often these do what they do follows from the clock: their loops grow until they are long
# enough to be timed.
TIMED = ("b-eff", "rings", "probe")


@pytest.fixture(scope="module", params=NAMES)
def pair(
    request: pytest.FixtureRequest,
    any_engine: Engine,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[str, Counted, Counted]:
    any_engine.needs_ranks(MANY)
    place = tmp_path_factory.mktemp("counted")
    few, many = (count(any_engine, request.param, n, place / str(n)) for n in (FEW, MANY))
    return request.param, few, many


def test_memory_of_a_rank_grows_by_64_bytes_at_most(pair: tuple[str, Counted, Counted]) -> None:
    _, few, many = pair
    # The root's lists too: it writes results and speaks.
    grown = many.most("lists") - few.most("lists")
    assert grown <= PER_RANK * (MANY - FEW) + DIGITS


def test_nothing_is_gathered_but_a_number_of_each_rank(
    pair: tuple[str, Counted, Counted],
) -> None:
    """Names of nodes, of which there is one here. Who asks for each rank's numbers gets them."""
    benchmark, _, many = pair
    # A world of groups learns of each rank how it ended.
    assert many.most("gathered") <= (MANY if benchmark == "interference" else 1)


def test_the_steps_together_do_not_grow(pair: tuple[str, Counted, Counted]) -> None:
    """What MPI makes of a step grows like the logarithm; how many there are does not."""
    benchmark, few, many = pair
    if benchmark in TIMED:
        # Half as many again would be more than the one doubling of the ranks.
        assert many.most("calls") <= 1.5 * few.most("calls")
    else:
        assert many.most("calls") == few.most("calls")


def test_the_result_file_grows_by_digits_only(pair: tuple[str, Counted, Counted]) -> None:
    benchmark, few, many = pair
    if benchmark not in TIMED:
        assert many.result_lines == few.result_lines
    assert many.result_bytes <= 1.25 * few.result_bytes
    # The same members in every line.
    members = [
        [sorted(json.loads(line)) for line in c.run.result.path.read_text().splitlines()]
        for c in (few, many)
    ]
    if benchmark not in TIMED:
        assert members[0] == members[1]
