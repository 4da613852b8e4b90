# SPDX-License-Identifier: BSD-3-Clause
"""A link of known latency between two network namespaces: it delays each packet by that.

python slow_link.py NAMESPACE ADDRESS NAMESPACE ADDRESS SECONDS

It says "ready" when packets pass, and ends with its standard input.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import select
import struct
import subprocess
import sys
import time
from collections import deque

_TUNSETIFF = 0x400454CA
_TUN_WITHOUT_HEADER = 0x0001 | 0x1000
_PR_SET_TIMERSLACK = 29
WATCHED = 3e-4


def _end(namespace: str, address: str) -> int:
    """A network device `eth0` in the namespace; what it sends is read here and the other way."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    made = fcntl.ioctl(fd, _TUNSETIFF, struct.pack("16sH22x", b"effio%d", _TUN_WITHOUT_HEADER))
    name = made[:16].rstrip(b"\0").decode()
    inside = ["ip", "-n", namespace]
    for command in (
        ["ip", "link", "set", name, "netns", namespace, "name", "eth0"],
        [*inside, "addr", "add", address, "dev", "eth0"],
        [*inside, "link", "set", "eth0", "up"],
    ):
        subprocess.run(command, check=True)
    return fd


def main() -> None:
    first, at_first, second, at_second, delay = sys.argv[1:]
    a, b = _end(first, at_first), _end(second, at_second)
    other = {a: b, b: a}
    # Before all others, and a sleep ends on time, not up to 50 us later.
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
    print("ready", flush=True)
    kept: deque[tuple[float, int, bytes]] = deque()
    while True:
        # Sleeps end late; the last of the way is watched.
        left = max(0.0, kept[0][0] - time.monotonic() - WATCHED) if kept else None
        readable, _, _ = select.select([a, b, sys.stdin], [], [], left)
        now = time.monotonic()
        if sys.stdin in readable:
            return
        for fd in (end for end in (a, b) if end in readable):
            kept.append((now + float(delay), other[fd], os.read(fd, 65536)))
        while kept and kept[0][0] <= now:
            _, to, packet = kept.popleft()
            os.write(to, packet)


if __name__ == "__main__":
    main()
