# SPDX-License-Identifier: BSD-3-Clause
"""What runs report of devices whose rate is known: the table of docs/accuracy.md. They wait for the
device and leave the processors to the tests of another file (scripts/run_tests.py)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .conftest import Device, Runs, only, rate
from .truths import DISK, DISK_BYTES, MIB, SYNCED_BYTES, Book

Throttle = Callable[[int], list[str]]


@pytest.mark.truths("disk-write", "disk-read")
def test_a_device_of_known_rate(runs: Runs, device: Device, throttle: Throttle, book: Book) -> None:
    words: list[object] = ["--dir", device.place, "--backend=direct", "--transfer=1MiB"]
    words += [f"--block={DISK_BYTES // MIB}MiB"]
    prefix = throttle(DISK)

    def measure() -> dict[str, float]:
        run = runs("ior", *words, ranks=1, prefix=prefix)
        return {"disk-write": rate(only(run, "write")), "disk-read": rate(only(run, "read"))}

    book.judge(["disk-write", "disk-read"], measure)


@pytest.mark.truths("disk-synced")
def test_a_cache_before_a_device_of_known_rate(
    runs: Runs, device: Device, throttle: Throttle, book: Book
) -> None:
    words: list[object] = [
        "--dir",
        device.place,
        "--backend=posix",
        "--transfer=1MiB",
        "--phases=write",
    ]
    words += [f"--block={SYNCED_BYTES // MIB}MiB"]
    prefix = throttle(DISK)

    def measure() -> dict[str, float]:
        return {"disk-synced": rate(only(runs("ior", *words, ranks=1, prefix=prefix), "write"))}

    book.judge(["disk-synced"], measure)


@pytest.mark.truths("study-read")
def test_a_study_on_a_device_of_known_rate(
    runs: Runs, device: Device, throttle: Throttle, book: Book
) -> None:
    words: list[object] = [
        "--dir",
        device.place,
        "--backend=direct",
        "--block=1MiB",
        "--size=24MiB",
    ]
    prefix = throttle(DISK)

    def measure() -> dict[str, float]:
        run = runs("spiobench", *words, "--tasks=1", ranks=1, prefix=prefix)
        return {"study-read": rate(only(run, "read"))}

    book.judge(["study-read"], measure)


@pytest.mark.truths("b-eff-io-write", "b-eff-io-read")
def test_b_eff_io_on_a_device_of_known_rate(
    runs: Runs, device: Device, throttle: Throttle, book: Book
) -> None:
    words = ["--memory-per-rank", "1GiB", "--partitions", "1", "--time", "0s", "--backend=direct"]
    words += ["--backend-options", "unaligned=buffered", "--dir", str(device.place)]
    prefix = throttle(DISK)

    def measure() -> dict[str, float]:
        result = runs("b-eff-io", *words, ranks=1, prefix=prefix).result
        reported = {}
        for access in ("write", "read"):
            rows = result.rows(access=access, is_lmax=True)
            assert [m["bytes"] for m in rows] == [8 * MIB] * 5  # 1/128 of the memory
            seconds = sum(m["seconds"]["total"]["max"] for m in rows)
            reported[f"b-eff-io-{access}"] = sum(m["bytes"] for m in rows) / seconds
        return reported

    book.judge(["b-eff-io-write", "b-eff-io-read"], measure)
