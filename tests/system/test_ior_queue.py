# SPDX-License-Identifier: BSD-3-Clause
"""ior with many transfers of a rank under way: all data arrive, failures are named, limits hold."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from engines import Engine
from ior_runs import KIB, MIB, ior, left
from queue_runs import needs_uring

WAYS = ("uring", "mpiio")


@pytest.fixture(autouse=True)
def _present(any_engine: Engine, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    (tmp_path / "data").mkdir(exist_ok=True)
    if "mpiio" not in request.node.name and "collective" not in request.node.name:
        needs_uring(any_engine)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("depth", "ranks", "calls"), [(1, 2, 100), (2, 1, 100), (7, 3, 100), (24, 2, 20)]
)
def test_all_data_arrive(
    any_engine: Engine, tmp_path: Path, way: str, depth: int, ranks: int, calls: int
) -> None:
    """Calls of 4 KiB of each rank, also where there are fewer than the queue could hold."""
    any_engine.needs_ranks(ranks)
    words = [f"--backend={way}", f"--queue-depth={depth}", "--transfer=4KiB"]
    words.append(f"--block={4 * calls}KiB")
    words += ["--order=shuffled", "--verify=write,read,inside"]
    run = ior(any_engine, tmp_path, *words, ranks=ranks)
    write, read = run.result.measurements
    total = ranks * calls * 4 * KIB
    for phase in (write, read):
        assert phase["valid"]
        assert phase["bytes"] == total
        assert phase["operations"] == ranks * calls
        assert phase["call_times"]["count"] == ranks * calls
    assert left(tmp_path / "data") == []


@pytest.mark.parametrize("ranks", [1, 2])
def test_all_data_arrive_by_mpiio_of_each_library(
    engine: Engine, tmp_path: Path, ranks: int
) -> None:
    """Reads, writes and both together, compared with what must be there."""
    words = ["--backend=mpiio", "--queue-depth=16", "--block=400KiB", "--transfer=4KiB"]
    words += ["--order=shuffled", "--mix-read=50", "--verify=write,read,mixed,inside"]
    run = ior(engine, tmp_path, *words, ranks=ranks)
    for phase in run.result.measurements:
        assert phase["valid"]
        assert phase["operations"] == ranks * 100
        assert phase["call_times"]["count"] == ranks * 100
    assert left(tmp_path / "data") == []


@pytest.mark.parametrize("way", WAYS)
def test_reads_and_writes_under_way_together(any_engine: Engine, tmp_path: Path, way: str) -> None:
    """400 calls of a worker, of which 30 % read (at most 20 % of all off, 5.2 sigma)."""
    words = [f"--backend={way}", "--queue-depth=16", "--block=1600KiB", "--transfer=4KiB"]
    words += ["--order=shuffled", "--mix-read=30", "--verify=inside,mixed"]
    run = ior(any_engine, tmp_path, *words)
    mixed = run.result.measurements[1]
    mix = mixed["detail"]["mix"]
    assert mixed["valid"]
    assert mix["read_operations"] + mix["write_operations"] == 800
    assert 0.18 < mix["read_operations"] / 800 < 0.42
    assert mix["read_call_times"]["count"] == mix["read_operations"]
    assert mix["write_call_times"]["count"] == mix["write_operations"]
    assert mixed["verified_bytes"] == mix["read_bytes"] + mixed["bytes"]


@pytest.mark.parametrize("depth", [2, 64])
def test_a_rate_is_held_also_with_many_under_way(
    any_engine: Engine, tmp_path: Path, depth: int
) -> None:
    """4 MiB at 20 MB/s take 0.2 s at least; the wait is not part of a call's time. With all 32
    calls of a worker posted at once and waited for singly they would take 0.1 s on average."""
    words = ["--backend=uring", f"--queue-depth={depth}", "--block=2MiB", "--transfer=64KiB"]
    run = ior(any_engine, tmp_path, *words, "--rate-limit=20MB/s")
    for m in run.result.measurements:
        assert m["operations"] == 64
        assert m["detail"]["span_seconds"]["transfer"] >= 4 * MIB / 20e6
        assert m["call_times"]["count"] == 64
        assert m["call_times"]["p50"] < 0.1


@pytest.mark.parametrize("way", WAYS)
def test_a_stonewall_waits_for_what_is_under_way(
    any_engine: Engine, tmp_path: Path, way: str
) -> None:
    """What was begun is counted: one worker's file in order is as long as what it moved, and a
    reader, who takes the count, finds all of it."""
    words = [f"--backend={way}", "--queue-depth=16", "--block=4GiB", "--transfer=4KiB"]
    words += ["--stonewall=100ms", "--sync=none", "--max-bytes=16GiB", "--seed=1"]
    run = ior(any_engine, tmp_path, *words, "--phases=write", "--keep", ranks=1)
    (write,) = run.result.measurements
    assert write["valid"]
    assert 0 < write["bytes"] < 4 * 1024 * MIB
    assert write["bytes"] == write["operations"] * 4 * KIB
    assert (tmp_path / "data" / "ior").stat().st_size == write["bytes"]
    run = ior(any_engine, tmp_path, *words, "--verify=inside", "--use-existing")
    assert all(m["valid"] for m in run.result.measurements)


COLLECTIVE = ("--backend=mpiio", "--collective", "--transfer=4KiB", "--watchdog=30s")


def tried(engine: Engine, where: Path) -> str | None:
    """The word of a trial of collective calls under way: 4 rounds of 4 on each of 2 ranks. Open
    MPI's ROMIO crashes in it, and names nothing."""
    words = [*COLLECTIVE, "--queue-depth=4", "--block=400KiB", "--trial"]
    run = engine.run(["ior", "--dir", where / "data", *words, "-o", where / "trial.jsonl"], where)
    if engine.name == "openmpi-romio":
        assert run.code != 0
        assert "--tried" not in run.stdout
        assert run.result.end is None
        (where / "data/ior.trial").unlink()
        return None
    assert run.code == 0, run
    assert left(where / "data") == []
    for phase in run.result.measurements:
        assert phase["valid"]
        assert phase["operations"] == 2 * 16
        assert phase["verified_bytes"] == 2 * 16 * 4 * KIB
    assert run.result.end is not None
    word = run.result.end["detail"]["tried"]
    assert f"work here: --tried {word}\n" in run.stdout
    return str(word)


def test_collective_calls_that_a_trial_has_shown_to_work(engine: Engine, tmp_path: Path) -> None:
    word = tried(engine, tmp_path)
    if word is None:
        return
    for depth, calls in ((2, 100), (7, 100), (24, 20)):
        words = [*COLLECTIVE, f"--queue-depth={depth}", f"--tried={word}"]
        words.append(f"--block={4 * calls}KiB")
        words += ["--order=shuffled", "--mix-read=30", "--verify=write,mixed,read,inside"]
        run = ior(engine, tmp_path, *words, "-o", tmp_path / f"{depth}.jsonl")
        for phase in run.results[-1].measurements:
            assert phase["valid"]
            assert phase["operations"] == 2 * calls
            assert phase["call_times"]["count"] == 2 * calls
    # All ranks stop after the same call.
    words = [*COLLECTIVE, "--queue-depth=8", "--block=1GiB", f"--tried={word}", "--phases=write"]
    words += [
        "--stonewall=100ms",
        "--sync=none",
        "--max-bytes=4GiB",
        f"--result={tmp_path}/s.jsonl",
    ]
    run = ior(engine, tmp_path, *words)
    (write,) = run.results[-1].measurements
    assert write["valid"]
    assert 0 < write["bytes"] < 2 * 1024 * MIB
    assert write["detail"]["rank_bytes"]["min"] == write["detail"]["rank_bytes"]["max"]
    assert left(tmp_path / "data") == []


def test_a_signal_to_one_rank_ends_collective_calls_on_all(engine: Engine, tmp_path: Path) -> None:
    word = tried(engine, tmp_path)
    if word is None:
        return
    words = [*COLLECTIVE, "--queue-depth=8", "--block=1MiB", f"--tried={word}", "--phases=write"]
    data = tmp_path / "data"
    job = engine.start(["ior", "--quiet", "--dir", data, *words, "--min-time=10min"], tmp_path)
    job.wait_until("data are written", lambda: (data / "ior").exists())
    os.kill(job.ranks()[-1], signal.SIGINT)
    run = job.finish()
    assert run.code == 4, run
    assert run.result.status == "interrupted"
    assert left(data) == []


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (
            ["--queue-depth=4"],
            "backend posix cannot do what this run needs: transfers that are queued",
        ),
        (["--backend=mmap", "--queue-depth=4"], "backend mmap cannot do what this run needs"),
        (["--backend=mpiio", "--queue-depth=4", "--collective"], "run the same with --trial"),
        (["--backend=mpiio", "--trial"], "--trial and --tried are of calls that are both"),
        (["--backend=mpiio", "--collective", "--tried=x"], "--trial and --tried are of calls"),
        (
            ["--backend=mpiio", "--queue-depth=2", "--collective", "--trial", "--tried=x"],
            "a --trial is to find that out",
        ),
        (
            [
                "--backend=mpiio",
                "--queue-depth=2",
                "--collective",
                "--tried=x",
                "--rate-limit=1MB/s",
            ],
            "--rate-limit: collective calls that are queued",
        ),
        (
            ["--backend=uring", "--queue-depth=2", "--collective", "--tried=x"],
            "cannot do what this run needs: collective calls that are queued",
        ),
        (
            ["--backend=mpiio", "--queue-depth=2", "--collective", "--tried=lam-7.1-own"],
            "--tried lam-7.1-own: here the nonblocking collective calls are those of",
        ),
        (["--backend=uring", "--queue-depth=0"], "--queue-depth"),
        (["--backend=uring", "--queue-depth=5000"], "--queue-depth"),
        (
            ["--backend=uring", "--queue-depth=2", "--sync=each"],
            "cannot be combined with --sync each",
        ),
        (["--backend=uring", "--queue-depth=2", "--placement=view"], "--placement view"),
        (["--backend=uring", "--backend-options=direct=maybe"], "direct"),
    ],
)
def test_what_is_refused(
    any_engine: Engine, tmp_path: Path, words: list[str], reported: str
) -> None:
    run = ior(any_engine, tmp_path, *words, "--transfer=64KiB", "--block=64KiB", code=2)
    assert reported in run.stderr
