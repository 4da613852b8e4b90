# SPDX-License-Identifier: BSD-3-Clause
"""`effio run quick` keeps its time on a GlusterFS that creates some 100 files a second."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from effio.store.all_runs import Store
from engines import Engine

from .conftest import ALL, effio_on
from .gluster import gluster
from .nodes import NotHereError

pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.skipif(not ALL, reason="takes minutes: make test-file-systems"),
]

DELAY_SECONDS = 0.003
RANKS = 2
# Of the campaign, and what starting it and writing its report add on a busy machine.
LIMIT_SECONDS = 60
AROUND_SECONDS = 25


def test_the_device_card_takes_a_minute_on_a_slow_file_system(
    openmpi: Engine, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    delay = round(1e6 * DELAY_SECONDS)
    place = tmp_path_factory.mktemp("slow-names")
    words = ["run", "quick", "--ranks", RANKS, "--no-report", "--dir"]
    try:
        with gluster(place, "distributed", clients=1, delay_microseconds=delay) as cluster:
            (client,) = cluster.clients
            start = time.monotonic()
            done = effio_on(client, openmpi, tmp_path, *words, client.mount_point)
            seconds = time.monotonic() - start
            left = list(client.mount_point.iterdir())
    except NotHereError as reason:
        pytest.skip(f"no GlusterFS here: {reason}")
    assert done.returncode == 0, done.stderr
    assert left == []
    assert seconds < LIMIT_SECONDS + AROUND_SECONDS, done.stdout
    results = [folder.result() for folder in Store(tmp_path / "effio-runs").folders()]
    (names,) = [result for result in results if result.benchmark == "mdtest"]
    assert names.status == "done", done.stdout
    created = [m for m in names.measurements if m.where["phase"] == "File creation"]
    # By the stonewall: all 500 files of a rank would take three seconds or more each time.
    assert [m.stopped_by for m in created] == ["time"] * 3
    for m in created:
        # A file is looked up and made: two delays, one after the other.
        assert m.rate.value is not None
        assert m.rate.value < RANKS / (2 * DELAY_SECONDS)
