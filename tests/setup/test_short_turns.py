# SPDX-License-Identifier: BSD-3-Clause
"""Short turns at the processors reach the command and what it starts, and change nothing else."""

from __future__ import annotations

import os
import platform
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/short_turns.py"
NUMBERS = {"x86_64": (314, 315), "aarch64": (274, 275)}  # of sched_setattr and sched_getattr
ASK = """
import ctypes, os
attributes = ctypes.create_string_buffer(56)
ctypes.CDLL(None).syscall({number}, 0, attributes, 56, 0)
print(attributes.raw.hex(), os.nice(0))
"""


def may_be_set(number: int) -> bool:
    """Whether turns may be set to what they are; some containers refuse even that."""
    attributes = struct.pack("=IIQiIQQQ", 48, 0, 0, os.nice(0), 0, 0, 0, 0)
    ask = f"import ctypes; print(ctypes.CDLL(None).syscall({number}, 0, {attributes!r}, 0))"
    done = subprocess.run([sys.executable, "-c", ask], stdout=subprocess.PIPE, check=True)
    return done.stdout == b"0\n"


def test_a_grandchild_takes_them_and_is_as_nice_as_before() -> None:
    set_number, number = NUMBERS.get(platform.machine(), (0, 0))
    release = re.match(r"(\d+)\.(\d+)", platform.release())
    if sys.platform != "linux" or not number or not release:
        pytest.skip("not a system whose calls are known here")
    if (int(release[1]), int(release[2])) < (6, 12):
        pytest.skip("before Linux 6.12 ordinary processes have no turns")
    if not may_be_set(set_number):
        pytest.skip("how a process is scheduled may not be set here")
    take = ["nice", "-n", "3", sys.executable, str(SCRIPT)]
    shell = f'"{sys.executable}" -c "$0"; true'
    asked = subprocess.run(
        [*take, "sh", "-c", shell, ASK.format(number=number)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.split()
    _, policy, _, nice, _, turn = struct.unpack_from("=IIQiIQ", bytes.fromhex(asked[0]))
    assert (policy, turn) == (0, 100_000)
    assert nice == int(asked[1]) == min(os.nice(0) + 3, 19)


def test_exit_code_and_words_are_the_commands() -> None:
    command = [sys.executable, str(SCRIPT), "sh", "-c", 'echo "$0-$#"; exit 5', "a b", "c"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    assert (done.stdout, done.returncode) == ("a b-1\n", 5)
