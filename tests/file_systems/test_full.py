# SPDX-License-Identifier: BSD-3-Clause
"""A MooseFS whose chunk servers have no space: calls would hang in fsync for a minute each."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from engines import Engine

from .conftest import ALL, effio_on
from .moosefs import moosefs
from .nodes import NotHereError

pytestmark = pytest.mark.skipif(not ALL, reason="takes minutes: make test-file-systems")


def test_a_full_file_system_is_refused_and_the_card_stops(
    openmpi: Engine, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    try:
        # As by default, each server leaves more free than its disk has.
        making = moosefs(tmp_path_factory.mktemp("full"), clients=1, leave="4GiB")
        with making as cluster:
            client = cluster.clients[0]
            start = time.monotonic()
            words = ["run", "quick", "--ranks", "2", "--no-report", "--dir", client.mount_point]
            done = effio_on(client, openmpi, tmp_path, *words, timeout=100)
            seconds = time.monotonic() - start
            left = list(client.mount_point.iterdir())
    except NotHereError as reason:
        pytest.skip(f"no MooseFS here: {reason}")
    assert done.returncode == 3, done.stderr
    assert "the file system is full: 0 bytes are available" in done.stderr
    assert "b_eff_io: not run: stream could not continue" in done.stderr
    assert left == []
    assert seconds < 60
