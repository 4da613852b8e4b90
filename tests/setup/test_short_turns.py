# SPDX-License-Identifier: BSD-3-Clause
"""Short turns at the processors reach the command and what it starts, and change nothing else."""

from __future__ import annotations

import os
import platform
import struct
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/short_turns.py"
ASK = """
import ctypes, os
attributes = ctypes.create_string_buffer(56)
ctypes.CDLL(None).syscall({number}, 0, attributes, 56, 0)
print(attributes.raw.hex(), os.nice(0))
"""


def test_a_grandchild_takes_them_and_is_as_nice_as_before() -> None:
    number = {"x86_64": 315, "aarch64": 275}.get(platform.machine())
    release = tuple(int(part) for part in platform.release().split(".")[:2])
    if sys.platform != "linux" or number is None or release < (6, 12):
        pytest.skip("this system knows no turns for ordinary processes")
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
