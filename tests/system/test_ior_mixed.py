# SPDX-License-Identifier: BSD-3-Clause
"""ior reading and writing in one phase, and held to a rate."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from engines import Engine
from ior_runs import KIB, MIB, ior, left


@pytest.fixture(autouse=True)
def _data(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()


@pytest.mark.parametrize(
    ("words", "ranks"),
    [
        (["--backend=posix", "--order=shuffled", "--threads=2"], 3),
        (["--backend=posix", "--sync=each", "--files=per-process"], 2),
        (["--backend=mpiio", "--collective"], 3),
        (["--backend=mpiio", "--placement=view"], 2),
        (["--backend=hdf5"], 2),
        (["--backend=posix", "--data=timestamp"], 1),
    ],
)
def test_both_sides_are_counted_and_verified(
    any_engine: Engine, tmp_path: Path, words: list[str], ranks: int
) -> None:
    """400 calls of 4 KiB a worker; of a binomial draw with p = 0.3 at most 20 % off, 5.2 sigma."""
    sizes = ["--block=1600KiB", "--transfer=4KiB"]
    more = ["--mix-read=30", "--verify=inside,mixed"]
    run = ior(any_engine, tmp_path, *words, *sizes, *more, ranks=ranks)
    workers = ranks * (2 if "--threads=2" in words else 1)
    write, mixed, read = run.result.measurements
    assert [m["access"] for m in (write, mixed, read)] == ["write", "mixed", "read"]
    assert write["detail"]["mix"] is None
    assert mixed["valid"]
    assert mixed["bytes"] == workers * 1600 * KIB
    assert mixed["operations"] == workers * 400
    mix = mixed["detail"]["mix"]
    assert mix["asked_read_percent"] == 30
    assert mix["read_operations"] + mix["write_operations"] == workers * 400
    assert 0.18 < mix["read_operations"] / (workers * 400) < 0.42
    assert mix["read_bytes"] == mix["read_operations"] * 4 * KIB
    assert mix["write_bytes"] == mix["write_operations"] * 4 * KIB
    assert mix["read_call_times"]["count"] == mix["read_operations"]
    assert mix["write_call_times"]["count"] == mix["write_operations"]
    assert mixed["call_times"]["count"] == workers * 400
    # What was read in the phase, and all after it.
    assert mixed["verified_bytes"] == mix["read_bytes"] + mixed["bytes"]
    assert "sync" in mixed["seconds"]
    assert "sync" not in read["seconds"]
    assert run.result.figure("mixed_bandwidth")["metric"]["value"] > 0
    assert left(tmp_path / "data") == []


@pytest.mark.parametrize(("percent", "reads"), [("0", 0), ("100", 200)])
def test_all_of_one_side(any_engine: Engine, tmp_path: Path, percent: str, reads: int) -> None:
    words = ["--phases=write,mixed", f"--mix-read={percent}", "--block=400KiB", "--transfer=4KiB"]
    run = ior(any_engine, tmp_path, *words)
    _, mixed = run.result.measurements
    assert mixed["detail"]["mix"]["read_operations"] == reads
    assert mixed["detail"]["mix"]["write_operations"] == 200 - reads


def test_the_draw_is_the_same_in_every_run_with_a_seed(any_engine: Engine, tmp_path: Path) -> None:
    counts = []
    for seed in ("1", "1", "2", "3"):
        words = ["--phases=write,mixed", "--block=4MiB", "--transfer=4KiB", f"--order-seed={seed}"]
        run = ior(any_engine, tmp_path, *words)
        counts.append(run.result.measurements[1]["detail"]["mix"]["read_operations"])
    assert counts[0] == counts[1]
    assert len(set(counts)) > 1, counts


def test_a_byte_that_changed_is_found_while_it_mixes(any_engine: Engine, tmp_path: Path) -> None:
    words = ["--block=64KiB", "--transfer=4KiB", "--seed=7"]
    ior(any_engine, tmp_path, *words, "--phases=write", "--keep", ranks=1)
    file = tmp_path / "data" / "ior"
    data = bytearray(file.read_bytes())
    data[5000] ^= 1
    file.write_bytes(data)
    more = ["--phases=mixed", "--use-existing", "--mix-read=100", "--verify=inside"]
    run = ior(any_engine, tmp_path, *words, *more, ranks=1, code=1)
    (mixed,) = run.result.measurements
    (error,) = mixed["errors"]
    assert error["offset_bytes"] == 5000
    assert file.exists()


@pytest.mark.parametrize(
    ("fault", "percent", "verify", "where"),
    [
        # The third of four writes of the phase, after four of the write phase and four others that
        # are not timed; the file has its bytes already.
        ("write,stale,nth=11", "0", "inside", "read"),
        ("write,stale,nth=11", "0", "mixed", "mixed"),
        ("read,stale,nth=3", "100", "mixed", "mixed"),
    ],
)
def test_a_lost_write_or_a_stale_read_of_the_phase_is_found(
    any_engine: Engine, tmp_path: Path, fault: str, percent: str, verify: str, where: str
) -> None:
    shim = any_engine.build / "tests" / "faults" / "effio_faulty_calls.so"
    data = tmp_path / "data"
    words = ["--block=64KiB", "--transfer=16KiB", f"--mix-read={percent}", f"--verify={verify}"]
    prefix = ["env", any_engine.loaded_before(shim), f"EFFIO_FAULT={fault},in={data}/"]
    run = ior(any_engine, tmp_path, *words, ranks=1, prefix=prefix, code=1)
    errors = {m["access"]: m["error_count"] for m in run.result.measurements}
    assert errors.pop(where) == 1
    assert set(errors.values()) == {0}


def test_what_a_stonewall_cuts_off_has_its_data_again(any_engine: Engine, tmp_path: Path) -> None:
    """The offsets of the phase contain other bytes until it has written them or has ended."""
    words = ["--block=4MiB", "--transfer=4KiB", "--seed=7"]
    ior(any_engine, tmp_path, *words, "--phases=write", "--keep")
    more = ["--phases=mixed,read", "--use-existing", "--mix-read=30", "--verify=mixed,inside"]
    run = ior(any_engine, tmp_path, *words, *more, "--think-time=2ms", "--stonewall=0.2s")
    mixed, read = run.result.measurements
    assert mixed["stopped_by"] == "time"
    assert mixed["bytes"] < 8 * MIB
    assert mixed["error_count"] == read["error_count"] == 0
    ior(any_engine, tmp_path, *words, "--phases=read", "--use-existing", "--verify=read")


# Two ranks move 10 MB each in calls of 1 MB.
DISK = ("--backend=sim", "--phases=write,read", "--transfer=1MB", "--block=10MB")


def test_a_rate_that_is_held(any_engine: Engine, tmp_path: Path) -> None:
    """Calls of 10 ms (100 MB/s). Both together at 10 MB/s: each call has 200 ms, ten take 2 s, of
    which the storage works 0.1 s."""
    words = [*DISK, "--backend-options=rank-rate=100MB/s", "--rate-limit=10MB/s"]
    for m in ior(any_engine, tmp_path, *words).result.measurements:
        assert m["rate"]["value"] == pytest.approx(10e6)
        assert m["detail"]["span_seconds"]["transfer"] == pytest.approx(2.0)
        assert m["seconds"]["held"]["max"] == pytest.approx(1.9)
        assert m["seconds"]["transfer"]["max"] == pytest.approx(0.1)
        assert m["call_times"]["mean"] == pytest.approx(0.01, rel=0.02)
        remark = m["detail"]["remark"]
        assert remark.startswith("held to --rate-limit 10 MB/s: 10 MB/s reached (100 %); response ")
        # Each call starts on time.
        assert m["response_times"]["count"] == 20
        assert m["response_times"]["max"] == pytest.approx(0.01, rel=0.02)


def test_a_rate_that_storage_does_not_reach(any_engine: Engine, tmp_path: Path) -> None:
    words = [*DISK, "--backend-options=rank-rate=2MB/s", "--rate-limit=10MB/s"]
    write = ior(any_engine, tmp_path, *words).result.measurements[0]
    assert write["rate"]["value"] == pytest.approx(4e6)
    assert write["seconds"]["held"]["max"] == pytest.approx(0.0, abs=1e-6)
    remark = write["detail"]["remark"]
    assert remark.startswith("slower than --rate-limit 10 MB/s: 4 MB/s reached (40 %); response ")
    # A call takes 0.5 s and is due 0.2 s after the one before: call n (from 0) ends 0.5 + 0.3 n s
    # after it was due. The call time does not include the waiting.
    times, responses = write["call_times"], write["response_times"]
    assert times["max"] == pytest.approx(0.5, rel=0.02)
    assert responses["min"] == pytest.approx(0.5, rel=0.02)
    assert responses["p50"] == pytest.approx(0.5 + 0.3 * 4, rel=0.02)
    assert responses["max"] == pytest.approx(0.5 + 0.3 * 9, rel=0.02)


def test_a_stonewall_falls_while_calls_are_held(any_engine: Engine, tmp_path: Path) -> None:
    """At 100 kB/s each call has 20 s; after 30 s the second one is over and nothing waits on."""
    words = [*DISK, "--backend-options=rank-rate=100MB/s", "--rate-limit=100kB/s"]
    run = ior(any_engine, tmp_path, *words, "--stonewall=30s")
    write = run.result.measurements[0]
    assert write["operations"] == 4
    assert write["detail"]["span_seconds"]["transfer"] == pytest.approx(30.0)
    assert write["stopped_by"] == "time"


@pytest.mark.parametrize("words", [[], ["--collective", "--backend=mpiio"], ["--threads=2"]])
def test_real_files_are_never_faster_than_requested(
    any_engine: Engine, tmp_path: Path, words: list[str]
) -> None:
    """4 MiB at 20 MB/s take 0.2 s at least, however fast the storage is."""
    sizes = ["--block=2MiB", "--transfer=128KiB", "--rate-limit=20MB/s"]
    if "--threads=2" in words:
        sizes[0] = "--block=1MiB"
    run = ior(any_engine, tmp_path, *words, *sizes, "--mix-read=50")
    for m in run.result.measurements:
        assert m["bytes"] == 4 * MIB
        assert m["detail"]["span_seconds"]["transfer"] >= 4 * MIB / 20e6


def test_a_signal_ends_a_call_that_is_held(any_engine: Engine, tmp_path: Path) -> None:
    """Its next call would begin after 35 minutes."""
    words = ["ior", "--quiet", "--dir", tmp_path / "data", "--block=2MiB", "--rate-limit=1kB/s"]
    job = any_engine.start([*words], tmp_path)
    job.wait_until("the file", lambda: (tmp_path / "data" / "ior").exists())
    for rank in job.ranks():
        os.kill(rank, signal.SIGUSR1)
    run = job.finish()
    assert run.code == 4, run
    assert run.result.status == "interrupted"
    assert left(tmp_path / "data") == []


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["--mix-read=101"], "--mix-read"),
        (["--mix-read=half"], "--mix-read"),
        (["--phases=mixed"], "--use-existing"),
        (["--phases=mixed,mixed", "--use-existing"], "named twice"),
        (["--mix-read=30", "--segments=0"], "hold nothing to be read"),
        (["--mix-read=30", "--placement=strided", "--backend=mpiio"], "--placement strided"),
        (["--rate-limit=0"], "--rate-limit"),
        (["--rate-limit=fast"], "--rate-limit"),
        (["--rate-limit=10MB/s", "--segments=0"], "nothing that has a rate"),
    ],
)
def test_what_is_refused(
    any_engine: Engine, tmp_path: Path, words: list[str], reported: str
) -> None:
    run = ior(any_engine, tmp_path, *words, "--transfer=64KiB", "--block=64KiB", code=2)
    assert reported in run.stderr
    assert left(tmp_path / "data") == []
