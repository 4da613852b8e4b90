# SPDX-License-Identifier: BSD-3-Clause
"""What runs report of storage, links and clocks of which all is known: the table of
docs/accuracy.md. truths.py says by which rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from engines import Engine, Run, apart
from results import Line

from .conftest import Device
from .links import TwoNodes, link_of_latency, link_of_rate
from .truths import (
    AHEAD,
    CALL,
    CALLS,
    CLOSE,
    CREATE,
    DELAY,
    DISK,
    DISK_BYTES,
    ITEMS,
    LINK,
    MESSAGE,
    MIB,
    OPEN,
    RANKS,
    SINGLE,
    SYNC,
    SYNCED_BYTES,
    Book,
    before_others,
)


class Runs:
    """Runs of one engine, each in its own directory."""

    def __init__(self, engine: Engine, place: Path) -> None:
        self.engine = engine
        self._place = place
        self._count = 0

    def place(self) -> Path:
        self._count += 1
        place = self._place / f"run{self._count}"
        place.mkdir()
        return place

    def __call__(
        self, name: str, *words: object, ranks: int = RANKS, prefix: Sequence[str] = ()
    ) -> Run:
        first = [*before_others(), *prefix]
        run = self.engine.run([name, "--quiet", *words], self.place(), ranks, prefix=first)
        assert run.code == 0, run
        return run


@pytest.fixture
def runs(any_engine: Engine, tmp_path: Path) -> Runs:
    return Runs(any_engine, tmp_path)


def rate(measurement: Line) -> float:
    assert measurement["valid"], measurement
    return float(measurement["rate"]["value"])


def only(run: Run, access: str) -> Line:
    (found,) = run.result.rows(access=access)
    return found


@pytest.mark.truths("ior-transfer", "ior-whole")
def test_files_that_take_as_long_as_reported(runs: Runs, data: Path, book: Book) -> None:
    words = ["--dir", data, "--backend=null", "--phases=write", "--transfer=1MiB"]
    words += [f"--block={CALLS}MiB"]

    def measure() -> dict[str, float]:
        transfer = f"transfer={CALL}s"
        around = f"open={OPEN}s,{transfer},sync={SYNC}s,close={CLOSE}s"
        alone = runs("ior", *words, f"--backend-options={transfer}")
        whole = runs("ior", *words, f"--backend-options={around}")
        return {"ior-transfer": rate(only(alone, "write")), "ior-whole": rate(only(whole, "write"))}

    book.judge(["ior-transfer", "ior-whole"], measure)


@pytest.mark.truths("ior-median", "ior-p99")
def test_times_of_single_calls(runs: Runs, data: Path, book: Book) -> None:
    words = ["--dir", data, "--backend=null", "--phases=write", "--transfer=1MiB", "--block=20MiB"]

    def measure() -> dict[str, float]:
        run = runs("ior", *words, f"--backend-options=transfer={SINGLE}s")
        times = only(run, "write")["call_times"]
        assert times["count"] == 20 * RANKS
        return {"ior-median": times["p50"], "ior-p99": times["p99"]}

    book.judge(["ior-median", "ior-p99"], measure)


@pytest.mark.truths("mdtest-create")
def test_names_that_take_as_long_as_reported(runs: Runs, data: Path, book: Book) -> None:
    words = ["--dir", data, "--backend=null", "--things=files", f"--items={ITEMS}"]
    words += ["--phases=create", f"--backend-options=create={CREATE}s"]

    def measure() -> dict[str, float]:
        (made,) = runs("mdtest", *words).result.rows(phase="File creation")
        return {"mdtest-create": rate(made)}

    book.judge(["mdtest-create"], measure)


@pytest.mark.truths("study-write")
def test_a_study_of_such_files(runs: Runs, data: Path, book: Book) -> None:
    words = ["--dir", data, "--backend=null", f"--tasks={RANKS}", "--phases=write"]
    words += [f"--task-size={CALLS}MiB", "--block=1MiB", f"--backend-options=transfer={CALL}s"]

    def measure() -> dict[str, float]:
        return {"study-write": rate(only(runs("spiobench", *words), "write"))}

    book.judge(["study-write"], measure)


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


# As little as b_eff does before it comes to pairs.
PAIRS = (
    *("b-eff", "--quiet", "--memory-per-rank=128MiB", "--methods=sendrecv", "--patterns=counting"),
    *("--random-patterns=1", "--repetitions=1", "--loop-time=1us", "--pairs=all"),
)


def pair(nodes: TwoNodes, engine: Engine, size: int) -> Line:
    """Latency and bandwidth of the only pair there is, which is one between nodes."""
    run = nodes.run(engine, [*PAIRS, f"--pairs-size={size}B"])
    assert run.code == 0, run
    between = run.result.figure("slow_pairs")["detail"]["between_nodes"]
    assert between["pairs"] == 1
    assert isinstance(between, dict)
    return between


@pytest.mark.truths("link-bandwidth")
def test_a_link_of_known_rate(runs: Runs, book: Book) -> None:
    def measure() -> dict[str, float]:
        with link_of_rate(runs.place(), LINK) as nodes:
            between = pair(nodes, runs.engine, MESSAGE)
        return {"link-bandwidth": between["bytes_per_second"]["median"]}

    book.judge(["link-bandwidth"], measure)


@pytest.mark.truths("link-latency")
def test_a_link_of_known_latency(runs: Runs, book: Book) -> None:
    def measure() -> dict[str, float]:
        with link_of_latency(runs.place(), DELAY) as nodes:
            between = pair(nodes, runs.engine, 1024)
        return {"link-latency": between["latency_seconds"]["median"]}

    book.judge(["link-latency"], measure)


@pytest.mark.truths("clock-skew")
def test_clocks_known_to_be_apart(runs: Runs, data: Path, book: Book) -> None:
    runs.engine.needs_ranks(4)
    words = ["ior", "--quiet", "--dir", data, "--backend=null", "--phases=write"]

    def measure() -> dict[str, float]:
        run = apart(runs.engine, words, runs.place(), AHEAD)
        assert run.code == 0, run
        return {"clock-skew": run.result.run["clock"]["skew"]["apart_seconds"]}

    book.judge(["clock-skew"], measure)
