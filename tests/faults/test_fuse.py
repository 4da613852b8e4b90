# SPDX-License-Identifier: BSD-3-Clause
"""Errors of a real file system that is not that of a disk: a FUSE server returns EIO, and a silent
fault in it is found by backends that make no system call for a transfer."""

from __future__ import annotations

import errno
import random
from pathlib import Path

import pytest

from engines import Engine

from .fuse_files import Fault, mounted, why_not
from .silent import Setting
from .silent_rows import BY_FILE_SYSTEM, FAULTS

IOR = ("ior", "--quiet", "--block", "64KiB", "--transfer", "16KiB", "--verify", "inside")


@pytest.fixture(autouse=True)
def needs_fuse(tmp_path: Path) -> None:
    reason = why_not()
    if reason is None:
        (tmp_path / "tried").mkdir()
        try:
            with mounted(tmp_path, tmp_path / "tried"):
                pass
        except OSError as error:
            reason = f"the kernel does not mount it: {error.strerror}"
    if reason is not None:
        pytest.skip(f"no FUSE file system here: {reason}")


@pytest.mark.parametrize(
    ("call", "backend"),
    [
        ("create", "posix"),
        ("write", "posix"),
        ("write", "mpiio"),
        ("sync", "mmap"),
        ("read", "direct"),
        ("read", "uring"),
        ("read", "mmap"),
    ],
)
def test_a_fuse_file_system_returns_eio(
    any_engine: Engine, tmp_path: Path, call: str, backend: str
) -> None:
    for name in ("files", "there"):
        (tmp_path / name).mkdir()
    place = tmp_path / "there"
    with mounted(tmp_path / "files", place) as server:
        server.set(Fault(call, "error", error=errno.EIO))
        run = any_engine.run([*IOR, "--backend", backend, "--dir", place], tmp_path)
        assert server.strikes, run
        assert run.code == 3, run
        result = run.result
        assert result.status == "io_error"
        assert result.end is not None
        assert result.end["errors"]
        assert {e["path"] for e in result.end["errors"]} <= {s.path for s in server.strikes}
        for m in result.measurements:
            assert (m["rate"]["value"] is None) == (not m["valid"])
        assert list(place.iterdir()) == []


@pytest.mark.parametrize("backend", BY_FILE_SYSTEM)
def test_a_silent_fault_is_found(any_engine: Engine, tmp_path: Path, backend: str) -> None:
    setting = Setting(any_engine, backend, tmp_path)
    for name in ("half a write", "bit in a read"):
        fault = FAULTS[name]
        calls = setting.calls("tile_io", fault.call)
        assert setting.found("tile_io", fault, calls, random.Random(backend)), name
