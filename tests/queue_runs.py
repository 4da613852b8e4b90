# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of transfers that are under way share: ways that are there, and a kernel that
forbids one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from engines import Engine
from patience import SECONDS

# Runs a command under which io_uring_setup, 425 on every architecture, fails with EPERM, as the
# profiles of containers have it: load the number; if it is 425 return ERRNO|EPERM; else allow.
_FORBIDDEN = """
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


def needs_uring(engine: Engine) -> None:
    """Skips the test where this program has no io_uring."""
    if why := engine.missing("uring", "bytes"):
        pytest.skip(why)


def without_io_uring(
    engine: Engine, words: Sequence[object], where: Path
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _FORBIDDEN, str(engine.program), *map(str, words)],
        cwd=where,
        env=engine.environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
