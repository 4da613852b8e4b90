# SPDX-License-Identifier: BSD-3-Clause
"""A machine that lacks something, or whose clock jumps."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engines import Engine

from .conftest import Faulty

SMALL = ("ior", "--quiet", "--backend", "posix", "--block", "1MiB", "--transfer", "64KiB")
HOUR = 3600


def test_no_file_descriptor_is_left(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """Rank 1 has none left when it opens its file of the second repetition."""
    faulty = Faulty(any_engine, tmp_path, data)
    words = [*SMALL, "--files", "per-process", "--file-each-repetition", "--repetitions", "2"]
    run = faulty.launch(
        f"create,error={errno.EMFILE},in={data}/,rank=1,nth=2", [*words, "--dir", data]
    )
    assert faulty.strikes == ["create rank 1"]
    assert run.code == 3, run
    result = run.result
    assert result.status == "io_error"
    assert [m["valid"] for m in result.measurements] == [True, True, False]
    assert result.end is not None
    (error,) = result.end["errors"]
    assert (error["errno"], error["rank"]) == (errno.EMFILE, 1)
    assert "Too many open files" in run.stderr
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("rank", [0, 1])
def test_the_limit_of_descriptors_falls_in_mid_run(
    any_engine: Engine, tmp_path: Path, data: Path, rank: int
) -> None:
    """A rank keeps what is open and can open nothing more. If it is the one that removes the files,
    they stay, with the mark that `effio clean` needs."""
    limit = "prlimit --pid $PPID --nofile=3:"
    words = [
        *("mdtest", "--items", "4", "--things", "files", "--quiet", "--dir", data),
        f"--run-before-phase=test $EFFIO_RANK-$EFFIO_PHASE != {rank}-file-create || {limit}",
    ]
    run = any_engine.run(words, tmp_path)
    assert run.code == 3, run
    result = run.result
    assert result.status == "io_error"
    assert [m["valid"] for m in result.measurements] == [True, False]
    error = result.measurements[1]["errors"][0]
    assert (error["errno"], error["rank"]) == (errno.EMFILE, rank)
    assert str(data) in error["path"]
    left = sorted(path.name for path in data.iterdir())
    assert [name[:11] for name in left] == ([".effio-run-", "test-dir.0-"] if rank == 0 else [])


def test_no_memory_is_left(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """The run needs 1 TiB: more than an address space of 64 GiB has."""
    words = [*SMALL[:4], "--block", "1TiB", "--transfer", "1TiB", "--max-bytes", "1PiB"]
    run = any_engine.run([*words, "--dir", data], tmp_path, prefix=["prlimit", f"--as={64 << 30}"])
    assert run.code == 6, run
    result = run.result
    assert result.status == "environment"
    assert result.end is not None
    assert "not enough memory for the buffers of this run" in result.end["reason"]
    assert "not enough memory" in run.stderr
    assert result.measurements == []
    assert list(data.iterdir()) == []


@pytest.fixture
def small_memory() -> Iterator[Path]:
    """A control group with 96 MiB of memory for all its processes."""
    group = Path(f"/sys/fs/cgroup/memory/effio-{os.getpid()}")
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text("96M")
    except OSError as error:
        pytest.skip(f"no control group of memory here: {error}")
    yield group
    for _ in range(100):
        try:
            group.rmdir()
            break
        except OSError:
            time.sleep(0.05)  # killed processes leave the group after a moment


def test_a_rank_that_the_kernel_kills_for_memory(
    any_engine: Engine, tmp_path: Path, data: Path, small_memory: Path
) -> None:
    """Its buffers are allocated, but exceed the memory of the group when they are filled."""
    words = [*SMALL[:4], "--block", "256MiB", "--transfer", "256MiB", "--dir", data]
    enter = ["sh", "-c", f'echo $$ > {small_memory}/cgroup.procs; exec "$@"', "sh"]
    run = any_engine.run(words, tmp_path, prefix=enter)
    assert run.code in (9, 137), run
    assert run.result.end is None
    assert run.result.measurements == []
    # `effio clean` needs this mark.
    assert [path.name[:11] for path in data.iterdir() if path.name != "ior"] == [".effio-run-"]


FIBMAP = 1  # the ioctl that returns the device block of a file's block


def test_a_device_that_cannot_be_read(
    any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    """A real file system returns EIO, because its device ends where the data start."""
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(32 << 20)
    made = subprocess.run(
        ["mkfs.ext4", "-q", "-b", "4096", "-O", "^has_journal", str(image)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if made.returncode != 0:
        pytest.skip(f"mkfs.ext4 does not work here: {made.stderr.strip()}")
    place = mount("-o", "loop", str(image))
    words = [*SMALL, "--dir", place, "--name", "data"]
    run = any_engine.run([*words, "--phases", "write", "--keep"], tmp_path)
    assert run.code == 0, run
    with (place / "data").open("rb") as file:
        os.fsync(file.fileno())
        (block,) = struct.unpack("i", fcntl.ioctl(file, FIBMAP, struct.pack("i", 0)))
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    assert block > 0
    os.truncate(image, block * 4096)
    run = any_engine.run([*words, "--phases", "read"], tmp_path)
    assert run.code == 3, run
    result = run.results[-1]
    assert result.status == "io_error"
    (m,) = result.measurements
    assert (m["valid"], m["rate"]["value"]) == (False, None)
    assert {(e["errno"], e["path"]) for e in m["errors"]} == {(errno.EIO, str(place / "data"))}


@pytest.mark.parametrize("jump", [HOUR, -HOUR])
def test_the_time_of_day_jumps(any_engine: Engine, tmp_path: Path, data: Path, jump: int) -> None:
    """As when a clock is set in the middle of a run. Times are differences of a clock that nothing
    sets."""
    faulty = Faulty(any_engine, tmp_path, data)
    run = faulty.launch(f"clock,step={jump},from=3", [*SMALL, "--dir", data])
    assert faulty.strikes, "the time of day was not read"
    assert run.code == 0, run
    for m in run.result.measurements:
        assert m["valid"]
        assert all(0 <= part["min"] <= part["max"] < HOUR for part in m["seconds"].values())
    assert list(data.iterdir()) == []
