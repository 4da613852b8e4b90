# SPDX-License-Identifier: BSD-3-Clause
"""ior through mapped files: all data arrive, and what a mapping cannot have is reported."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import Engine
from ior_runs import KIB, LIMITED, MIB, ior, left


@pytest.fixture(autouse=True)
def _place(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()


@pytest.mark.parametrize("order", ["sequential", "shuffled"])
@pytest.mark.parametrize("files", ["shared", "per-process"])
def test_all_data_arrive(any_engine: Engine, tmp_path: Path, files: str, order: str) -> None:
    words = ["--backend=mmap", f"--files={files}", "--block=404000", "--transfer=4040"]
    run = ior(any_engine, tmp_path, *words, f"--order={order}", "--verify=write,read,inside")
    write, read = run.result.measurements
    for phase in (write, read):
        assert phase["valid"]
        assert phase["bytes"] == 2 * 404000
        assert phase["call_times"]["count"] == 2 * 100
    assert write["seconds"]["sync"]["max"] > 0
    assert left(tmp_path / "data") == []


def test_the_file_is_as_long_as_what_was_written(any_engine: Engine, tmp_path: Path) -> None:
    words = ["--backend=mmap", "--block=400000", "--transfer=4000", "--segments=3"]
    ior(any_engine, tmp_path, *words, "--phases=write", "--keep", "--seed=1")
    assert (tmp_path / "data" / "ior").stat().st_size == 2 * 3 * 400000
    # What the mapping wrote is there for all.
    again = ["--backend=posix", *words[1:], "--phases=read", "--verify=inside", "--seed=1"]
    run = ior(any_engine, tmp_path, *again, "--use-existing")
    assert run.result.measurements[0]["verified_bytes"] == 2 * 3 * 400000


@pytest.mark.parametrize("order", ["sequential", "shuffled"])
def test_a_full_disk_is_reported_with_the_place(
    any_engine: Engine, tmp_path: Path, mount: Callable[..., Path], order: str
) -> None:
    """The disk fills at the end of the file and in its holes, where the kernel sends a signal."""
    place = mount("-t", "tmpfs", "-o", "size=1m", "none")
    words = ["--backend=mmap", "--block=1MiB", "--transfer=4KiB", f"--order={order}"]
    run = any_engine.run(["ior", "--quiet", "--dir", place, *words, "--max-bytes=1GiB"], tmp_path)
    assert run.code == 3, run
    (write,) = run.result.measurements
    assert write["valid"] is False
    (error,) = write["errors"]
    assert error["operation"] == "fallocate"
    assert "No space left" in error["cause"]
    assert error["offset_bytes"] % (4 * KIB) == 0
    assert 0 <= error["offset_bytes"] < 2 * MIB
    assert list(place.iterdir()) == []


def test_a_limit_of_the_file_is_reported(any_engine: Engine, tmp_path: Path) -> None:
    """Files of 40 MiB at most; transfers of 1 MiB one after the other."""
    words = ["ior", "--quiet", "--dir", tmp_path / "data", "--backend=mmap", "--block=64MiB"]
    shell = ["sh", "-c", LIMITED, "limited"]
    words += ["--transfer=1MiB", "--phases=write"]
    run = any_engine.run(words, tmp_path, ranks=1, prefix=shell)
    assert run.code == 3, run
    (error,) = run.result.measurements[0]["errors"]
    assert error["operation"] == "fallocate"
    assert os.strerror(errno.EFBIG) in error["cause"]
    assert error["offset_bytes"] == 40 * MIB
