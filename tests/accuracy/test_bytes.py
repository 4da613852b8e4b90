# SPDX-License-Identifier: BSD-3-Clause
"""What b_eff_io says it moved, held against what the kernel counted on its own device."""

from __future__ import annotations

import os
from pathlib import Path

from engines import Engine

from .conftest import Device
from .truths import MIB


def test_written_bytes_reach_the_device(engine: Engine, tmp_path: Path, device: Device) -> None:
    """Each row ends with a sync, so the device has counted all of it when the run is over; next to
    the data there are only the file system's own blocks. Reads come from memory, and say so."""
    words = ["b-eff-io", "--memory-per-rank", "256MiB", "--partitions", "2", "--time", "0s"]
    os.sync()
    read, written = device.counted()
    run = engine.run([*words, "--quiet", "--dir", device.place], tmp_path)
    assert run.code == 0, run
    read, written = (
        now - then for now, then in zip(device.counted(), (read, written), strict=True)
    )
    result = run.result
    sent = [m for m in result.measurements if m["access"] != "read"]
    data = sum(m["bytes"] for m in sent)
    assert data > 80 * MIB
    # Rows of a few KiB dirty whole blocks again that rows before them have written.
    assert data <= written <= 1.15 * data + 8 * MIB
    reported = sum(m["cache"]["device_written_bytes"] for m in sent)
    assert data <= reported <= written
    fetched = result.rows(access="read")
    assert sum(m["cache"]["device_read_bytes"] for m in fetched) <= read <= 2 * MIB
    large = [m for m in fetched if m["bytes"] >= MIB]
    # Blocks of the file system itself may have to be fetched again next to a short row, which is
    # mixed then: from a twentieth of its bytes on.
    others = [m for m in large if m["cache"]["verdict"] != "cache"]
    assert {m["cache"]["verdict"] for m in others} <= {"mixed"}
    assert sum(m["bytes"] for m in others) <= 20 * read
    assert len(others) < len(large)
    # A kernel may take pages back that were not used for some seconds: what was absent was fetched.
    absent = {
        (m["pattern"], m["where"]["row"]): (1 - m["cache"]["resident_before_fraction"]) * m["bytes"]
        for m in large
    }
    assert sum(absent.values()) <= 1.01 * read + MIB / 4, (read, absent)


def test_bytes_that_bypass_the_cache_come_from_the_device(
    any_engine: Engine, tmp_path: Path, device: Device
) -> None:
    """Lengths that fit no block are transferred through the cache; those that fit are not."""
    words = ["b-eff-io", "--memory-per-rank", "256MiB", "--partitions", "2", "--time", "0s"]
    words += ["--backend", "direct", "--backend-options", "unaligned=buffered", "--quiet"]
    read, _ = device.counted()
    run = any_engine.run([*words, "--dir", device.place], tmp_path)
    assert run.code == 0, run
    read = device.counted()[0] - read
    large = [m for m in run.result.rows(access="read") if m["where"]["chunk_bytes"] == 2 * MIB]
    assert len(large) == 5
    for m in large:
        assert m["cache"]["verdict"] == "device", m
        assert m["bytes"] <= m["cache"]["device_read_bytes"] <= 1.1 * m["bytes"] + MIB
    assert sum(m["bytes"] for m in large) <= read


def test_memory_of_a_rank_is_that_of_the_node_over_its_ranks(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """Four ranks share the node, of which one measures: the largest chunk follows from that."""
    words = ["b-eff-io", "--time", "0s", "--quiet", "--partitions", "1", "--dir", data]
    ranks = min(4, any_engine.max_ranks)
    run = any_engine.run(words, tmp_path, ranks)
    assert run.code == 0, run
    total = int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    found = run.result.run["b-eff-io"]
    assert found["total_memory_mib"] == total // MIB
    assert found["memory_per_rank_mib"] == total // ranks // MIB
    # 1/128 of the memory, from 2 MiB to 1 GiB.
    per_rank = max(256, min(total // ranks // MIB, 131072))
    assert found["lmax_bytes"] == 8192 * per_rank
    (row,) = run.result.rows(access="write", row=1)
    assert row["where"]["chunk_bytes"] == 8192 * per_rank
