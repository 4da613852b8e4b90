# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command whose processes take short turns at the processors.

Ranks that share a processor yield while they wait for each other. A rank that yields gives up what
is left of its turn, which Linux reckons as used: next to a process that computes it then gets a
turn in hundreds, and a test of half a second takes minutes. With a turn of 0.1 ms, which children
inherit, little is given up, and ranks get about their share. Where the system knows no turns for
ordinary processes (before Linux 6.12) nothing changes.

    python scripts/short_turns.py COMMAND ...
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

TURN = 100_000  # ns, the shortest there is
SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}  # number of the system call, which glibc lacks


def take_short_turns() -> None:
    """Sets short turns for this process and those it starts; of the same niceness."""
    number = SCHED_SETATTR.get(platform.machine())
    if number is None or sys.platform != "linux":
        return
    # struct sched_attr: size, policy (ordinary), flags, nice, priority, runtime, deadline, period.
    attributes = struct.pack("=IIQiIQQQ", 48, 0, 0, os.nice(0), 0, TURN, 0, 0)
    # Refused is as good as unknown: turns are as long as before.
    ctypes.CDLL(None).syscall(number, 0, attributes, 0)


if __name__ == "__main__":
    take_short_turns()
    os.execvp(sys.argv[1], sys.argv[1:])
