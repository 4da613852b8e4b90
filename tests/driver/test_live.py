# SPDX-License-Identifier: BSD-3-Clause
"""The live view: what it says, on a terminal and in a log, with and without a word."""

from __future__ import annotations

import errno
import fcntl
import io
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from dataclasses import replace
from pathlib import Path

import pytest

from driver.conftest import Effio
from effio.launch.live import LiveView, Status, describe, parse_status
from patience import SECONDS

WORD = (
    '{"effio_progress":{"title":"write shared 32 KiB","call":"MPI_File_write_shared",'
    '"step_seconds":0.5,"step_scheduled_seconds":2,"step_bytes":64000000,'
    '"plan_done_fraction":0.25,"plan_seconds_left":90}}'
)


def test_a_progress_line_is_understood() -> None:
    assert parse_status(WORD) == Status(
        "write shared 32 KiB", "MPI_File_write_shared", 0.5, 2.0, 64e6, 0.25, 90.0
    )


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[ 12 %] write",
        '{"effio_progress":',
        '{"effio_progress":[1]}',
        '{"effio_progress":' + "[" * 60_000,
        '{"effio_progress":{}}' + " " * 70_000,
    ],
)
def test_other_lines_are_not_progress(line: str) -> None:
    assert parse_status(line) is None


def test_faulty_members_count_as_absent() -> None:
    status = parse_status(
        '{"effio_progress":{"title":"\\u001b[31mx","step_bytes":"many","step_seconds":true,'
        '"plan_done_fraction":7,"plan_seconds_left":1e400}}'
    )
    assert status == Status("x", "", 0, 0, 0, 1.0, 0)


def test_what_is_done_now_in_words() -> None:
    status = parse_status(WORD)
    assert status is not None
    # 64 MB in 0.5 s; the clock continues while the engine is silent, the rate does not.
    assert describe(status, since=1.0) == (
        "write shared 32 KiB · 128.0 MB/s now · 1.50 s of 2.00 s scheduled · in "
        "MPI_File_write_shared"
    )
    assert describe(Status("read"), since=3.0) == "read · for 3.00 s"


def test_a_step_with_known_bytes_says_how_long_it_will_take() -> None:
    """1 GiB of 4 GiB in 2 s: 6 s more, less the silence since; or what is left of its time."""
    status = Status("read", "pread", 2, 0, 1 << 30, step_planned_bytes=4 << 30)
    assert describe(status, since=1.0) == (
        "read · 536.9 MB/s now · 1 GiB of 4 GiB · 5 s left in it · for 3.00 s · in pread"
    )
    walled = replace(status, step_scheduled_seconds=6)
    assert "3 s left in it · 3.00 s of 6.00 s scheduled" in describe(walled, since=1.0)
    # The other ranks are counted as the first one.
    over = replace(status, step_bytes=5 << 30)
    assert "4 GiB of 4 GiB · for 2.00 s" in describe(over, since=0)


class Gone(io.StringIO):
    """A stream whose reader has gone away, or that is full."""

    def __init__(self, code: int) -> None:
        super().__init__()
        self._code = code

    def write(self, _text: str) -> int:
        raise OSError(self._code, os.strerror(self._code))


@pytest.mark.parametrize(
    ("code", "gone"), [(errno.EPIPE, True), (errno.EIO, True), (errno.ENOSPC, False)]
)
def test_a_view_without_a_reader_does_not_end_the_run(code: int, gone: bool) -> None:
    with LiveView("ior", terminal=True, stderr=Gone(code)) as view:
        view.status(Status("write"))
        view.message("a word")
    assert view.reader_gone is gone


def test_a_log_gets_lines_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("effio.launch.live.time.monotonic", lambda: now[0])
    log = io.StringIO()
    status = parse_status(WORD)
    assert status is not None
    with LiveView("b-eff-io", terminal=False, stderr=log) as view:
        for _ in range(25):
            now[0] += 1
            view.status(status)
        view.message("a\x1b[31m message")
    assert log.getvalue().splitlines() == [
        "[ 25 %] write shared 32 KiB · 128.0 MB/s now · 500 ms of 2.00 s scheduled · in "
        "MPI_File_write_shared · about 90 s to go",
    ] * 2 + ["a message"]


def test_a_quiet_view_passes_on_messages_only(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("effio.launch.live.time.monotonic", lambda: now[0])
    log = io.StringIO()
    with LiveView("b-eff-io", stderr=log, quiet=True) as view:
        view.status(Status("write"))
        now[0] += 60
        view.tick()
        view.message("hung")
    assert log.getvalue() == "hung\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_reported_when_the_engine_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    now = [1000.0]
    monkeypatch.setattr("effio.launch.live.time.monotonic", lambda: now[0])
    screen = Terminal()
    status = parse_status(WORD)
    assert status is not None
    with LiveView("b-eff-io on 2 ranks", terminal=True, stderr=screen) as view:
        view.status(status)
        now[0] += 7
        view.tick()
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    assert "b-eff-io on 2 ranks" in plain
    assert " 25 % " in plain
    assert "7 s gone · about 82 s to go" in plain
    assert "for 7.50 s, scheduled were 2.00 s" in plain
    assert "no word for 7 s" in plain


def test_a_narrow_terminal_gets_two_lines_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is too long loses its end; wrapped it would leave half of itself behind."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    screen = Terminal()
    with LiveView("b-eff on 2 ranks", terminal=True, stderr=screen) as view:
        view.status(Status("repetition 1 of 3, messages of 256 B", "MPI_Irecv, " * 9, 1, 9, 1e9))
        drawn = screen.getvalue()
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn).splitlines()
    assert max(map(len, plain)) <= 80
    assert plain[-1].startswith("  repetition 1 of 3, messages of 256 B · 1.000 GB/s now")
    assert plain[-1].endswith("…")


def test_on_a_real_terminal(with_engine: Effio, data: Path) -> None:
    """`effio run` under a pseudo-terminal: the view shows what is done, rate and time left. The
    rate is limited, so that the run lasts five seconds on any machine."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 110, 0, 0))
    process = subprocess.Popen(
        [
            sys.executable, "-m", "effio", "run", "ior", "-n", "2", "--phases", "write",
            "--block", "10MiB", "--transfer", "256KiB", "--rate-limit", "4MB/s", "--no-report",
            "--dir", str(data),
        ],
        cwd=with_engine.cwd,
        env={**with_engine.environment, "TERM": "xterm"},
        stdin=follower, stdout=follower, stderr=follower,
    )  # fmt: skip
    os.close(follower)
    seen = b""
    deadline = time.monotonic() + SECONDS
    try:
        while time.monotonic() < deadline:
            if select.select([leader], [], [], 0.5)[0]:
                try:
                    chunk = os.read(leader, 65536)
                except OSError:  # the other end is closed
                    break
                if not chunk:
                    break
                seen += chunk
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
        os.close(leader)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    assert "ior on 2 ranks" in plain
    assert re.search(r"write [^·]* · [345]\.\d+ MB/s now · ", plain), plain
    assert re.search(r"\d+ % \d s gone", plain)
    assert re.search(r" of 20 MiB · \d s left in it · ", plain)
    # The engine's own table stands above it, undamaged.
    assert re.search(r"write +256 KiB +[34]\.\d +", plain)
