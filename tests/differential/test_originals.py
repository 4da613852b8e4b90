# SPDX-License-Identifier: BSD-3-Clause
"""The classic ior and mdtest against the originals: random command lines, whatever they show.

    EFFIO_PEER_IOR=<path> EFFIO_PEER_MDTEST=<path> pytest tests/differential

EFFIO_PEER_LINES is the number of lines of each program, EFFIO_PEER_SEED chooses them."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from differential.differences import load, unexplained
from differential.lines import lines
from differential.peers import Peers, original_of
from engines import Engine

COUNT = int(os.environ.get("EFFIO_PEER_LINES", "12"))
SEED = int(os.environ.get("EFFIO_PEER_SEED", str(random.SystemRandom().randint(1, 10**6))))


@pytest.mark.timeout(120 + 20 * COUNT)
@pytest.mark.parametrize("program", ["ior", "mdtest"])
def test_random_lines_show_the_same(program: str, any_engine: Engine, tmp_path: Path) -> None:
    peers = Peers(original_of(program), any_engine)
    table = load()
    print(f"EFFIO_PEER_SEED={SEED} EFFIO_PEER_LINES={COUNT}")
    report = []
    drawn = lines(program, SEED, COUNT, peers.apis() if program == "ior" else ())
    for number, line in enumerate(drawn):
        place = tmp_path / str(number)
        place.mkdir()
        for one in unexplained(peers.compare(line, place), table):
            report.append(f"{place.name}: {one.line}\n  {one}")
    assert not report, "\n".join([f"EFFIO_PEER_SEED={SEED}", *report])
