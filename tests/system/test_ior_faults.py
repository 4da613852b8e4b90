# SPDX-License-Identifier: BSD-3-Clause
"""ior with faults: named with their place, cleaned up after, reported by the exit code."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import Engine
from ior_runs import KIB, MIB, ior

BACKENDS = ("posix", "mpiio")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_file_that_is_too_short(
    any_engine: Engine, tmp_path: Path, data: Path, backend: str
) -> None:
    (data / "ior").write_bytes(bytes(100_000))
    words = [f"--backend={backend}", "--block=64KiB", "--transfer=16KiB", "--phases=read"]
    run = ior(any_engine, tmp_path, *words, code=3)
    assert run.result.status == "io_error"
    # Rank 1 reads from 65536 to 131072.
    assert f"{data}/ior" in run.stderr
    assert "the file holds 97.66 KiB (100000 B), this phase reads up to 128 KiB" in run.stderr
    assert (data / "ior").stat().st_size == 100_000  # not ours to remove


def test_a_file_that_is_cut_while_it_is_read(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """This is unknown before: the call that gets too little reports it."""
    words = ["--block=1MiB", "--transfer=4KiB", "--seed=1"]
    ior(any_engine, tmp_path, *words, "--phases=write", "--keep")
    slow = ["--phases=read", "--think-time=20ms", "--files=shared"]
    job = any_engine.start(["ior", "--quiet", "--dir", data, *words, *slow], tmp_path)

    def reading() -> bool:
        return any(_reads(pid, data / "ior") for pid in job.ranks())

    job.wait_until("the file to be open", reading)
    os.truncate(data / "ior", 8 * KIB)
    run = job.finish()
    assert run.code == 3, run
    (read,) = run.results[-1].measurements
    assert read["valid"] is False
    assert read["rate"]["value"] is None
    (error,) = read["errors"]
    assert error["path"] == str(data / "ior")
    assert 8 * KIB <= error["offset_bytes"] <= 2 * MIB
    assert error["host"]


def _reads(pid: int, path: Path) -> bool:
    try:
        descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
        return any(fd.readlink() == path for fd in descriptors)
    except OSError:
        return False


@pytest.mark.parametrize("files", ["shared", "per-process"])
def test_interrupted_it_cleans_up(
    any_engine: Engine, tmp_path: Path, data: Path, files: str
) -> None:
    (data / "ior.mine").write_text("mine")
    words = ["--block=1GiB", "--transfer=4KiB", f"--files={files}", "--think-time=5ms"]
    job = any_engine.start(["ior", "--quiet", "--dir", data, *words, "--max-bytes=3GiB"], tmp_path)
    # The run's mark exists before anything is measured.
    job.wait_until("a file", lambda: {p.name for p in data.glob("ior*")} > {"ior.mine"})
    for pid in job.ranks():
        os.kill(pid, signal.SIGUSR1)
    run = job.finish()
    assert run.code == 4, run
    assert run.result.status == "interrupted"
    (write,) = run.result.measurements
    assert write["stopped_by"] == "interrupted"
    assert (write["valid"], write["invalid_reason"]) == (False, "stopped by a signal")
    assert write["rate"]["value"] is None
    assert [p.name for p in data.iterdir()] == ["ior.mine"]


def test_a_directory_that_is_missing(any_engine: Engine, tmp_path: Path) -> None:
    run = ior(any_engine, tmp_path, code=3)
    assert f"{tmp_path}/data: No such file or directory" in run.stderr
    assert run.result.measurements == []


@pytest.mark.parametrize("files", ["shared", "per-process"])
def test_no_space(engine: Engine, tmp_path: Path, mount: Callable[..., Path], files: str) -> None:
    full = mount("-t", "tmpfs", "-o", "size=4m", "none")
    words = ["--block=32MiB", "--transfer=1MiB", f"--files={files}", "--max-bytes=1GiB"]
    run = engine.run(["ior", "--quiet", "--dir", full, *words], tmp_path)
    assert run.code == 3, run
    assert "No space left on device" in run.stderr
    (write,) = run.result.measurements
    assert (write["valid"], write["rate"]["value"]) == (False, None)
    (error,) = write["errors"]
    assert error["errno"] == 28
    assert error["path"].startswith(f"{full}/ior")
    assert 0 <= error["offset_bytes"] < 64 * MIB
    # What found no space is not counted: 4 MiB are all there is.
    assert write["bytes"] == write["operations"] * MIB <= 4 * MIB
    assert list(full.iterdir()) == []


@pytest.mark.parametrize("backend", BACKENDS)
def test_swapped_blocks_are_found_in_every_pass(
    any_engine: Engine, tmp_path: Path, data: Path, backend: str
) -> None:
    words = [f"--backend={backend}", "--transfer=4KiB", "--block=64KiB", "--seed=5"]
    ior(any_engine, tmp_path, *words, "--phases=write", "--keep")
    content = bytearray((data / "ior").read_bytes())
    # The third transfer of rank 0 and the second of rank 1.
    a, b = 2 * 4096, 17 * 4096
    content[a : a + 4096], content[b : b + 4096] = content[b : b + 4096], content[a : a + 4096]
    (data / "ior").write_bytes(content)
    for when in ("read", "inside"):
        run = ior(any_engine, tmp_path, *words, "--phases=read", f"--verify={when}", code=1)
        (read,) = run.results[-1].measurements
        assert read["error_count"] == 2
        assert read["errors"][0]["offset_bytes"] in (a, b)
        assert run.results[-1].status == "data_errors"


def test_permission_denied(any_engine: Engine, elsewhere: Path, tmp_path: Path) -> None:
    (elsewhere / "ior").write_bytes(bytes(2 * MIB))
    (elsewhere / "ior").chmod(0o600)
    words = ["ior", "--quiet", "--dir", elsewhere, "--block=1MiB", "--phases=read"]
    run = any_engine.as_nobody(words, elsewhere)
    assert run.code == 3, run
    assert "Permission denied" in run.stderr
    assert f"{elsewhere}/ior" in run.stderr
