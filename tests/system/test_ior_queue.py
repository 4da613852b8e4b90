# SPDX-License-Identifier: BSD-3-Clause
"""ior with many transfers of a rank under way: all data arrive, failures are named, limits hold."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import Engine
from ior_runs import KIB, LIMITED, MIB, ior, left

# Runs a command under which io_uring_setup, 425 on every architecture, fails with EPERM, as the
# profiles of containers have it: load the number; if it is 425 return ERRNO|EPERM; else allow.
FORBIDDEN = """
import ctypes, os, struct, sys
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 425), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
words = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in code))
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
program = Program(len(code), ctypes.addressof(words))
libc = ctypes.CDLL(None, use_errno=True)
long = ctypes.c_ulong
assert libc.prctl(38, long(1), long(0), long(0), long(0)) == 0
assert libc.prctl(22, long(2), ctypes.byref(program)) == 0, os.strerror(ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
"""


WAYS = ("uring", "mpiio")


@pytest.fixture(autouse=True)
def _present(any_engine: Engine, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    (tmp_path / "data").mkdir(exist_ok=True)
    if getattr(request.node, "callspec", None) is not None and "mpiio" in request.node.name:
        return
    told = any_engine.alone(["describe", "backends"], tmp_path)
    rows = json.loads(told.stdout)
    rows = rows["backends"] if isinstance(rows, dict) else rows
    (row,) = [r for r in rows if r["name"] == "uring" and r["serves"] == "bytes"]
    if row["missing"]:
        pytest.skip(row["missing"])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("depth", "ranks"), [(1, 2), (2, 1), (7, 3), (128, 2)])
def test_all_data_arrive(
    any_engine: Engine, tmp_path: Path, way: str, depth: int, ranks: int
) -> None:
    """100 calls of 4 KiB a rank, also where there are fewer than the queue could hold."""
    any_engine.needs_ranks(ranks)
    words = [f"--backend={way}", f"--queue-depth={depth}", "--block=400KiB", "--transfer=4KiB"]
    words += ["--order=shuffled", "--verify=write,read,inside"]
    run = ior(any_engine, tmp_path, *words, ranks=ranks)
    write, read = run.result.measurements
    total = ranks * 400 * KIB
    for phase in (write, read):
        assert phase["valid"]
        assert phase["bytes"] == total
        assert phase["operations"] == ranks * 100
        assert phase["call_times"]["count"] == ranks * 100
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
    """4 MiB at 20 MB/s take 0.2 s at least; the wait is no part of a call's time: with all 32 calls
    of a worker posted at once and waited for in turn they would take 0.1 s on the average."""
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


def test_a_full_disk_is_told_with_the_place(
    any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    place = mount("-t", "tmpfs", "-o", "size=1m", "none")
    words = ["--backend=uring", "--queue-depth=8", "--block=1MiB", "--transfer=4KiB"]
    run = any_engine.run(["ior", "--quiet", "--dir", place, *words, "--max-bytes=1GiB"], tmp_path)
    assert run.code == 3, run
    (write,) = run.result.measurements
    assert write["valid"] is False
    (error,) = write["errors"]
    assert error["operation"] == "io_uring write"
    assert "No space left" in error["cause"]
    assert 0 <= error["offset_bytes"] < 2 * MIB
    assert list(place.iterdir()) == []


def test_a_failure_at_the_completion_is_told_with_its_place(
    any_engine: Engine, tmp_path: Path
) -> None:
    """Files of 40 MiB at most; what was under way when the first failed may fail, too."""
    words = ["ior", "--quiet", "--dir", tmp_path / "data", "--backend=uring", "--queue-depth=8"]
    words += ["--block=64MiB", "--transfer=1MiB", "--phases=write"]
    run = any_engine.run(words, tmp_path, ranks=1, prefix=["sh", "-c", LIMITED, "limited"])
    assert run.code == 3, run
    (write,) = run.result.measurements
    (error,) = write["errors"]
    assert error["operation"] == "io_uring write"
    assert os.strerror(errno.EFBIG) in error["cause"]
    assert error["offset_bytes"] in range(40 * MIB, 56 * MIB, MIB)
    assert left(tmp_path / "data") == []


def test_a_full_disk_is_told_by_mpiio_with_the_place(
    engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    """Open MPI's OMPIO says that nothing was moved, its ROMIO that there is an I/O error. MPICH's
    never says that the transfer is over: the watchdog ends the run."""
    place = mount("-t", "tmpfs", "-o", "size=1m", "none")
    words = ["--backend=mpiio", "--queue-depth=8", "--block=1MiB", "--transfer=4KiB"]
    words += ["--max-bytes=1GiB", f"--watchdog={30 if engine.is_openmpi else 3}s"]
    run = engine.run(["ior", "--quiet", "--dir", place, *words], tmp_path)
    if not engine.is_openmpi:
        assert run.code == 5, run
        assert "MPI_File_iwrite_at" in run.stderr, run
        return
    assert run.code == 3, run
    (write,) = run.result.measurements
    assert write["valid"] is False
    (error,) = write["errors"]
    assert error["operation"] == "MPI_File_iwrite_at"
    assert 0 <= error["offset_bytes"] < 2 * MIB
    assert error["offset_bytes"] % (4 * KIB) == 0
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sign", [signal.SIGUSR1, signal.SIGTERM])
def test_a_signal_leaves_nothing_under_way(
    any_engine: Engine, tmp_path: Path, way: str, sign: signal.Signals
) -> None:
    """The run ends as interrupted when all that was posted was waited for, and removes its files:
    nothing can write to them any more. 1 GiB at 20 MB/s would take most of a minute."""
    words = [f"--backend={way}", "--queue-depth=16", "--block=512MiB", "--transfer=64KiB"]
    words += ["--rate-limit=20MB/s", "--phases=write", "--max-bytes=3GiB"]
    data = tmp_path / "data"
    job = any_engine.start(["ior", "--quiet", "--dir", data, *words], tmp_path)
    job.wait_until(
        "data are written", lambda: (data / "ior").exists() and (data / "ior").stat().st_size > MIB
    )
    for pid in job.ranks():
        os.kill(pid, sign)
    run = job.finish()
    assert run.code == 4, run
    assert run.result.status == "interrupted"
    (write,) = run.result.measurements
    assert write["valid"] is False
    assert write["operations"] * 64 * KIB == write["bytes"]
    assert left(data) == []


def test_a_kernel_that_forbids_io_uring(any_engine: Engine, tmp_path: Path) -> None:
    words = [str(any_engine.program), "ior", "--quiet", f"--dir={tmp_path / 'data'}"]
    words += ["--backend=uring"]
    run = subprocess.run(
        [sys.executable, "-c", FORBIDDEN, *words, "--queue-depth=4", "--transfer=4KiB"],
        cwd=tmp_path,
        env=any_engine.environment(),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert run.returncode == 6, run
    assert "io_uring_queue_init" in run.stderr
    assert "does not allow io_uring; take --backend posix or direct" in run.stderr
    assert left(tmp_path / "data") == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--queue-depth=4"], "backend posix lacks what this run needs: transfers that are queued"),
        (["--backend=mmap", "--queue-depth=4"], "backend mmap lacks what this run needs"),
        (["--backend=mpiio", "--queue-depth=4", "--collective"], "--collective"),
        (["--backend=uring", "--queue-depth=0"], "--queue-depth"),
        (["--backend=uring", "--queue-depth=5000"], "--queue-depth"),
        (["--backend=uring", "--queue-depth=2", "--sync=each"], "not with --sync each"),
        (["--backend=uring", "--queue-depth=2", "--placement=view"], "--placement view"),
        (["--backend=uring", "--backend-options=direct=maybe"], "direct"),
    ],
)
def test_what_is_refused(any_engine: Engine, tmp_path: Path, words: list[str], told: str) -> None:
    run = ior(any_engine, tmp_path, *words, "--transfer=64KiB", "--block=64KiB", code=2)
    assert told in run.stderr
