# SPDX-License-Identifier: BSD-3-Clause
"""What is known beforehand, and what runs report of it: the rows of docs/accuracy.md.

Runs go before other work where the tests are root's, but that does not keep all of it off. Noise
of other processes makes things slower, never faster. So each test measures in rounds: a round
that is better than the truth by more than the bound is a failure, whatever the machine does; the
first round within the bound on both sides is the one that counts. Rounds that are worse count
against effio only where the processors were idle just before and just after; two such are a
failure. Where they were busy for 25 s, the test is skipped.

EFFIO_ACCURACY_PAGE=docs/accuracy.md, in the environment of the tests, writes the page's table.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

MIB = 1 << 20
RANKS = 2

FAILURES = 2
PATIENCE = 25.0  # seconds after which no round begins on a busy machine
# Share of the processors that others may use in what counts as idle.
IDLE = 0.1

# Files of `null`: seconds of each call.
CALL, OPEN, SYNC, CLOSE = 0.1, 0.15, 0.2, 0.05
CALLS = 5
# Seconds of a call whose times are reported one by one.
SINGLE = 0.03
# Names of `null`.
CREATE, ITEMS = 0.05, 10

# Of the device, in bytes per second. The kernel counts in slices of 0.1 s: a request that is larger
# than what one of them lets through waits for exactly as long as its bytes take.
DISK = 8 * MIB
DISK_BYTES = 40 * MIB
# Of which the file system's own blocks, some 0.4 MB, are little.
SYNCED_BYTES = 64 * MIB

# Of the link in bits per second, as tbf counts: frames without checksum and gap.
LINK = 80_000_000
# Long next to what an idle link lets through at once.
MESSAGE = 2 * MIB
# A full segment: 1500 bytes less IP, TCP and its time stamps; and the frame that carries it.
SEGMENT, FRAME = 1500 - 20 - 32, 1500 + 14
# Of the other link, in seconds each way.
DELAY = 0.01
# Of the link of each node of a GlusterFS, in bits per second.
NODE_LINK = 40_000_000
# Takes seconds, of which opening and closing are little.
LINK_BYTES = 16 * MIB
# Of one node's clock.
AHEAD = 1000

Unit = Literal["B/s", "op/s", "s"]


@dataclass(frozen=True)
class Truth:
    """`value` in `unit`; what is reported has to lie within the share `bound` of it."""

    name: str
    what: str
    against: str
    value: float
    unit: Unit
    bound: float

    def off(self, reported: float) -> float:
        return reported / self.value - 1

    def better(self, reported: float) -> float:
        """The share by which more than the truth is claimed: negative where it is less."""
        return -self.off(reported) if self.unit == "s" else self.off(reported)


_FILES = f"files that take exactly the given time (`null`), {RANKS} ranks"
_CALLS = f"{CALLS} calls of {CALL * 1e3:g} ms each"
_DISK = "a block device that a control group holds to 8 MiB/s"
_TCP = f"`tbf` at {LINK / 1e6:g} Mbit/s, of which TCP leaves {SEGMENT} of {FRAME} bytes"
_NODE = f"`tbf` at {NODE_LINK / 1e6:g} Mbit/s, of which TCP leaves {SEGMENT} of {FRAME} bytes"

TRUTHS = [
    Truth(
        "ior-transfer",
        "`ior`: rate of writing",
        f"{_FILES}: {_CALLS}",
        RANKS * MIB / CALL,
        "B/s",
        0.02,
    ),
    Truth(
        "ior-whole",
        "`ior`: rate of writing with open, sync and close",
        f"{_FILES}: {_CALLS}, {OPEN * 1e3:g} + {SYNC * 1e3:g} + {CLOSE * 1e3:g} ms around them",
        RANKS * CALLS * MIB / (OPEN + CALLS * CALL + SYNC + CLOSE),
        "B/s",
        0.02,
    ),
    Truth(
        "ior-median",
        "`ior`: median time of a call",
        f"{_FILES}: {SINGLE * 1e3:g} ms each",
        SINGLE,
        "s",
        0.05,
    ),
    Truth(
        "ior-p99",
        "`ior`: 99th percentile of it",
        f"{_FILES}: {SINGLE * 1e3:g} ms each",
        SINGLE,
        "s",
        0.05,
    ),
    Truth(
        "mdtest-create",
        "`mdtest`: files created",
        f"names that take exactly the given time (`null`), {RANKS} ranks: "
        f"{ITEMS} files of {CREATE * 1e3:g} ms each",
        RANKS / CREATE,
        "op/s",
        0.02,
    ),
    Truth(
        "study-write",
        "`spiobench`: bandwidth of writing",
        f"{_FILES}: {_CALLS}",
        RANKS * MIB / CALL,
        "B/s",
        0.02,
    ),
    Truth("disk-write", "`ior`, past the cache: rate of writing", _DISK, float(DISK), "B/s", 0.02),
    Truth("disk-read", "`ior`, past the cache: rate of reading", _DISK, float(DISK), "B/s", 0.02),
    Truth(
        "disk-synced",
        "`ior`, through the cache, with the sync: rate of writing",
        _DISK,
        float(DISK),
        "B/s",
        0.02,
    ),
    Truth(
        "b-eff-io-write",
        "`b-eff-io`, past the cache: its five rows of 8 MiB, written",
        _DISK,
        float(DISK),
        "B/s",
        0.02,
    ),
    Truth(
        "b-eff-io-read",
        "the same rows, read",
        _DISK,
        float(DISK),
        "B/s",
        0.02,
    ),
    Truth(
        "study-read",
        "`spiobench`, past the cache: bandwidth of reading",
        _DISK,
        float(DISK),
        "B/s",
        0.02,
    ),
    Truth(
        "link-bandwidth",
        "`b-eff --pairs all`: bandwidth of a pair of ranks on two nodes",
        _TCP,
        LINK / 8 * SEGMENT / FRAME,
        "B/s",
        0.02,
    ),
    Truth(
        "link-latency",
        "`b-eff --pairs all`: latency of a pair of ranks on two nodes",
        f"a program between them that keeps each packet for {DELAY * 1e3:g} ms",
        DELAY,
        "s",
        0.05,
    ),
    Truth(
        "gluster-write",
        "`ior`: rate of writing a file of a GlusterFS, with the sync",
        f"the client's link, {_NODE}",
        NODE_LINK / 8 * SEGMENT / FRAME,
        "B/s",
        0.05,
    ),
    Truth(
        "gluster-read",
        "`ior`: rate of reading it, dropped from the cache before",
        f"the servers' links, {_NODE}",
        NODE_LINK / 8 * SEGMENT / FRAME,
        "B/s",
        0.05,
    ),
    Truth(
        "clock-skew",
        "any benchmark: how far the clocks of two nodes are apart",
        f"a time namespace in which one of them is {AHEAD} s ahead",
        float(AHEAD),
        "s",
        0.001,
    ),
]


def truth(name: str) -> Truth:
    (found,) = [t for t in TRUTHS if t.name == name]
    return found


# The kernel weighs sessions against each other, and processes only within them.
_BEFORE = '(echo -15 > /proc/self/autogroup) 2>/dev/null; exec nice -n -15 "$0" "$@"'


def before_others() -> list[str]:
    """What lets a program have the processors when it wants them, where that is permitted."""
    return ["sh", "-c", _BEFORE] if os.geteuid() == 0 else []


def _ticks() -> tuple[int, int]:
    """The ticks of all processors since the start of the machine: all, and those with nothing to
    do."""
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    numbers = [int(word) for word in words]
    return sum(numbers[:8]), numbers[3] + numbers[4]


def idle(seconds: float = 0.25) -> bool:
    """Whether the processors have hardly anything to do for this long."""
    all_before, idle_before = _ticks()
    time.sleep(seconds)
    all_now, idle_now = _ticks()
    return idle_now - idle_before >= (1 - IDLE) * (all_now - all_before)


@dataclass
class Book:
    """What the tests of this session found, by the name of the truth."""

    reported: dict[str, float] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def judge(self, names: Iterable[str], measure: Callable[[], dict[str, float]]) -> None:
        """`measure` runs a round, which reports something of each name."""
        waiting = {name: truth(name) for name in names}
        failures: dict[str, list[float]] = {name: [] for name in waiting}
        begin = time.monotonic()
        while True:
            quiet = idle()
            found = measure()
            quiet = quiet and idle()
            for name, known in list(waiting.items()):
                assert known.better(found[name]) <= known.bound, (
                    f"{name}: {found[name]} is better than the truth, {known.value}"
                )
                if abs(known.off(found[name])) <= known.bound:
                    self.reported[name] = found[name]
                    del waiting[name]
                elif quiet:
                    failures[name].append(found[name])
            if not waiting:
                return
            for name, known in waiting.items():
                assert len(failures[name]) < FAILURES, (
                    f"{name}: {failures[name]} on an idle machine, of {known.value}"
                )
            if not quiet and time.monotonic() - begin > PATIENCE:
                break
        busy = "the processors are busy with other work: no round was within the bound"
        self.skipped |= dict.fromkeys(waiting, busy)
        pytest.skip(f"{', '.join(waiting)}: {busy}")


def shown(value: float, unit: Unit) -> str:
    if unit == "B/s":
        return f"{value / 1e6:.4g} MB/s"
    if unit == "op/s":
        return f"{value:.4g} /s"
    return f"{value:.7g} s" if value >= 1 else f"{value * 1e3:.4g} ms"


def fixed_part(known: Truth) -> str:
    """A row as far as it is known without a run."""
    return f"| {known.what} | {known.against} | {shown(known.value, known.unit)} |"


def row(known: Truth, book: Book) -> str:
    bound = f"{known.bound * 100:.2g} %"
    if (reported := book.reported.get(known.name)) is not None:
        off = f"{known.off(reported) * 100:+.2f} %"
        return f"{fixed_part(known)} {shown(reported, known.unit)} | {off} | {bound} |"
    reason = book.skipped.get(known.name, "not run")
    return f"{fixed_part(known)} skipped: {reason} | | {bound} |"


_TABLE = re.compile(r"(?<=<!-- truths -->\n).*?(?=<!-- end of truths -->\n)", re.S)
_HEAD = """| what is reported | of what is known | truth | reported | off by | at most |
|---|---|---|---|---|---|
"""


def write_page(page: Path, book: Book) -> None:
    """A row that these tests did not look for stays as it is."""
    rows = rows_of(page)
    old = {fixed_part(t): line for t in TRUTHS for line in rows if line.startswith(fixed_part(t))}
    table = _HEAD
    for known in TRUTHS:
        sought = known.name in book.reported or known.name in book.skipped
        line = row(known, book)
        table += (line if sought else old.get(fixed_part(known), line)) + "\n"
    text, count = _TABLE.subn(lambda _: table, page.read_text())
    assert count == 1, f"{page} has no place for the table"
    page.write_text(text)


def rows_of(page: Path) -> list[str]:
    found = _TABLE.search(page.read_text())
    assert found is not None, f"{page} has no table"
    return found[0].splitlines()[2:]
