# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that the system lets start late: the time of a phase runs from the first rank's start to
the last one's end, whatever each rank took by itself."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from engines import Engine, apart
from ior_runs import KIB, MIB, ior
from results import Line

from .conftest import Faulty

# Rank 1 leaves each barrier this much later; a call takes this long.
LATE, CALL = 0.3, 0.2
# In seconds: what a sleep may be short of.
GRAIN = 0.001


def total(measurement: Line) -> float:
    seconds = measurement["seconds"]["total"]["max"]
    assert isinstance(seconds, float)
    return seconds


def lateness(measurement: Line) -> float:
    """The lateness of the rank that started last: LATE of rank 1, less where the system held rank 0
    back too."""
    late = measurement["seconds"]["late"]
    assert late["min"] == 0, "the common start is the first rank's"
    assert late["max"] > 0
    return float(late["max"])


@pytest.mark.parametrize("files", ["shared", "per-process"])
def test_ior_counts_from_the_first_start_to_the_last_end(faulty: Faulty, files: str) -> None:
    run = faulty.launch(
        f"barrier,late={LATE},rank=1",
        [
            *("ior", "--quiet", "--dir", faulty.data, "--phases=write", f"--files={files}"),
            *("--backend=null", f"--backend-options=transfer={CALL}s"),
            *("--transfer=1MiB", "--block=1MiB"),
        ],
    )
    assert run.code == 0, run
    (write,) = run.result.measurements
    assert total(write) >= lateness(write) + CALL - GRAIN
    assert write["rate"]["value"] == pytest.approx(2 * MIB / total(write))
    # The parts of a rank add up to its total with what is between them.
    spans = write["detail"]["span_seconds"]
    assert spans["transfer"] >= CALL - GRAIN


def test_classic_ior_counts_likewise(faulty: Faulty) -> None:
    run = faulty.launch(
        f"barrier,late={LATE},rank=1",
        ["classic", "ior", "-wa", "DUMMY", "-t1m", "-b1m", "-O", "dummy.delay-xfer=200000"],
    )
    assert run.code == 0, run
    row = re.search(r"^write\s+([\d.]+)(?:\s+\S+){7}\s+([\d.]+)\s+0\s*$", run.stdout, re.M)
    assert row, run
    (write,) = run.result.measurements
    assert float(row[2]) == pytest.approx(total(write), abs=1e-5)
    assert float(row[2]) >= lateness(write) + CALL - GRAIN
    assert float(row[1]) == pytest.approx(2 / float(row[2]), abs=0.01)


def test_mdtest_counts_likewise(faulty: Faulty) -> None:
    run = faulty.launch(
        f"barrier,late={LATE},rank=1",
        [
            *("mdtest", "--quiet", "--dir", faulty.data, "--backend=null", "--items=1"),
            *("--things=files", "--phases=create", f"--backend-options=create={CALL}s"),
        ],
    )
    assert run.code == 0, run
    create = next(m for m in run.result.measurements if m["where"]["phase"] == "File creation")
    # To after the closing barrier, which rank 1 leaves late as well.
    assert total(create) >= lateness(create) + CALL + LATE - GRAIN
    assert create["rate"]["value"] == pytest.approx(2 / total(create))


@pytest.mark.parametrize("benchmark", ["libraries", "flash-io"])
def test_array_files_count_likewise(faulty: Faulty, benchmark: str) -> None:
    options = ["--backend-options", f"close={CALL}s"]
    words = {
        "libraries": ["--libraries=null", "--edges=4", "--read=off", *options],
        "flash-io": ["--backend=null", "--blocks=1", "--files=checkpoint", *options],
    }[benchmark]
    run = faulty.launch(
        f"barrier,late={LATE},rank=1", [benchmark, "--quiet", "--dir", faulty.data, *words]
    )
    assert run.code == 0, run
    of_both = [m for m in run.result.measurements if m["ranks"] == 2]
    assert of_both
    for measurement in of_both:
        assert total(measurement) >= lateness(measurement) + CALL - GRAIN


def sixteen_on_a_core(engine: Engine) -> Engine:
    if not engine.is_openmpi:
        pytest.skip("MPICH spins: sixteen ranks on a core take minutes for a few barriers")
    return replace(engine, max_ranks=16)


def one_core() -> list[str]:
    return ["taskset", "-c", str(min(os.sched_getaffinity(0)))]


def test_sixteen_ranks_on_a_core_with_known_calls(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    calls, delay = 8, 0.004
    run = ior(
        sixteen_on_a_core(any_engine),
        tmp_path,
        *("--phases=write", "--files=per-process", "--repetitions=5"),
        *("--backend=null", f"--backend-options=transfer={delay}s"),
        *(f"--transfer={4 * KIB}", f"--block={calls * 4 * KIB}"),
        ranks=16,
        prefix=one_core(),
    )
    for write in run.result.measurements:
        assert write["rate"]["value"] <= 16 * 4 * KIB / delay
        assert total(write) >= calls * delay
        assert write["seconds"]["late"]["min"] == 0


@pytest.fixture
def in_memory() -> Iterator[Path]:
    place = Path("/dev/shm")
    if not os.access(place, os.W_OK):
        pytest.skip("no /dev/shm to write to")
    with tempfile.TemporaryDirectory(prefix="effio-test-", dir=place) as name:
        (Path(name) / "data").mkdir()
        yield Path(name)


def test_sixteen_ranks_read_no_faster_than_their_core(any_engine: Engine, in_memory: Path) -> None:
    # By their own clocks ranks that follow each other on one core are sixteen times as fast. No
    # core copies 100 GB/s through system calls.
    run = ior(
        sixteen_on_a_core(any_engine),
        in_memory,
        *("--backend=posix", "--files=per-process", "--repetitions=5"),
        *("--sync=none", "--transfer=1MiB", "--block=4MiB"),
        ranks=16,
        prefix=one_core(),
    )
    reads = [m for m in run.result.measurements if m["access"] == "read"]
    assert len(reads) == 5
    for read in reads:
        assert read["rate"]["value"] < 100e9, read["seconds"]


AHEAD = 1000  # seconds, of the clock of node b
# Of a reading as a binary number, after months.
ROUNDING = 1e-6


def test_nodes_whose_clocks_differ(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """Two nodes with clocks a quarter of an hour apart, in their own time namespaces: the result
    says so, and the rates are those of one clock."""
    any_engine.needs_ranks(4)
    words: list[object] = ["ior", "--quiet", "--dir", data, "--phases=write", "--repetitions=3"]
    words += ["--backend=null", f"--backend-options=transfer={CALL}s"]
    words += ["--transfer=1MiB", "--block=1MiB", "--files=per-process"]
    run = apart(any_engine, words, tmp_path, AHEAD)
    assert run.code == 0, run
    for write in run.result.measurements:
        assert write["nodes"] == 2
        # A comparison of clocks is wrong by half a round trip, which is never a minute.
        assert CALL - GRAIN <= total(write) < 60
        assert 0 <= write["seconds"]["late"]["max"] < 60
    clock = run.result.run["clock"]
    assert clock["source"] in ("TSC", "CLOCK_MONOTONIC")
    assert run.result.end is not None
    begin, end = clock["skew"], run.result.end["detail"]["clock_skew"]
    for skew in (begin, end):
        assert skew["nodes_compared"] == 2
        (b,) = skew["nodes"]
        assert (b["node"], b["name"]) == (1, "b")
        # What was requested of the system, within half of the round trip that the result states.
        assert 0 < b["within_seconds"] < 30
        assert abs(b["ahead_seconds"] - AHEAD) <= b["within_seconds"] + ROUNDING
        assert skew["within_seconds"] == b["within_seconds"]
        assert skew["apart_seconds"] == b["ahead_seconds"]
    # Both are one clock of the machine: nothing changes but by what the comparisons err.
    assert end["changed_within_seconds"] == pytest.approx(
        begin["within_seconds"] + end["within_seconds"]
    )
    assert abs(end["changed_seconds"]) <= end["changed_within_seconds"] + ROUNDING
    assert end["after_seconds"] >= 3 * CALL


@pytest.mark.parametrize("hour", [3600, -3600])
def test_a_time_of_day_that_is_set_during_a_run(
    any_engine: Engine, tmp_path: Path, data: Path, hour: int
) -> None:
    """The time of day jumps by an hour on all ranks half a second after their start: no time that
    is measured knows of it, no limit ends the run; only `finished` does."""
    shim = any_engine.build / "tests" / "faults" / "effio_stepped_clock.so"
    assert shim.exists(), f"{shim} is not built"
    prefix = ["env", any_engine.loaded_before(shim), f"EFFIO_STEP={hour}", "EFFIO_STEP_AFTER=0.5"]
    calls, begun = 8, time.time()
    run = ior(
        any_engine,
        tmp_path,
        *("--phases=write", "--files=per-process", "--watchdog=60s", "--time-limit=30min"),
        *("--backend=null", f"--backend-options=transfer={CALL}s"),
        *("--transfer=1MiB", f"--block={calls}MiB"),
        prefix=prefix,
    )
    assert run.code == 0, run
    (write,) = run.result.measurements
    assert calls * CALL <= total(write) < 600
    assert write["stopped_by"] == "count"
    assert write["rate"]["value"] == pytest.approx(2 * calls * MIB / total(write))
    assert calls * CALL < run.seconds < 600
    # The shim was effective.
    assert run.result.end is not None
    finished = datetime.fromisoformat(run.result.end["detail"]["finished"].replace("Z", "+00:00"))
    ended = finished.timestamp() - begun
    assert abs(ended - hour) < 600, ended
