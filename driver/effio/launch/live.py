# SPDX-License-Identifier: BSD-3-Clause
"""The live view of a running engine: two lines that change on a terminal, lines in a log.

The engine's sentinel sends a line of JSON each second even while rank 0 is blocked in a call; the
view counts time on its own in between.
"""

from __future__ import annotations

import contextlib
import errno
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from effio import text as fmt
from effio.cli.terminal import Terminal
from effio.store import safe_files
from effio.store.values import as_number

_LOG_EVERY_SECONDS = 10.0
_STALE_SECONDS = 4.0
_PREFIX = '{"effio_progress":'
_MAX_LINE = 1 << 16


@dataclass(frozen=True)
class Status:
    """One progress line of the engine. Seconds, bytes, fractions."""

    title: str = ""
    call: str = ""
    step_seconds: float = 0
    step_scheduled_seconds: float = 0
    step_bytes: float = 0
    plan_done_fraction: float = 0
    plan_seconds_left: float = 0
    step_planned_bytes: float = 0


def parse_status(line: str) -> Status | None:
    """None if the line is not a progress line; faulty members count as absent."""
    if not line.startswith(_PREFIX) or len(line) > _MAX_LINE:
        return None
    try:
        body = safe_files.json_of(line)["effio_progress"]
    except (ValueError, RecursionError, KeyError):
        return None
    if not isinstance(body, dict):
        return None

    def number(name: str) -> float:
        value = as_number(body.get(name))
        return 0.0 if value is None or abs(value) > 1e300 else value

    return Status(
        fmt.plain(body.get("title", ""), 200),
        fmt.plain(body.get("call", ""), 100),
        number("step_seconds"),
        number("step_scheduled_seconds"),
        number("step_bytes"),
        min(1.0, max(0.0, number("plan_done_fraction"))),
        number("plan_seconds_left"),
        number("step_planned_bytes"),
    )


def describe(status: Status, since: float) -> str:
    """What is done now, in words; `since` is the time since the engine said so."""
    in_step = status.step_seconds + since
    parts = [status.title or "starting"]
    if status.step_bytes > 0 and status.step_seconds > 0:
        parts.append(f"{fmt.rate(status.step_bytes / status.step_seconds)} now")
        parts += _of_the_step(status, since)
    scheduled = status.step_scheduled_seconds
    if 0 < scheduled < in_step:
        # A first call, or a sync: 7 s of 2 s make no sense.
        parts.append(f"for {fmt.duration(in_step)}, scheduled were {fmt.duration(scheduled)}")
    elif scheduled > 0:
        parts.append(f"{fmt.duration(in_step)} of {fmt.duration(scheduled)} scheduled")
    else:
        parts.append(f"for {fmt.duration(in_step)}")
    if status.call:
        parts.append(f"in {status.call}")
    return " · ".join(parts)


def _of_the_step(status: Status, since: float) -> list[str]:
    """How much of the step's bytes, and how long for the rest; it ends earlier if its scheduled
    time does."""
    if status.step_planned_bytes <= 0:
        return []
    # Other ranks are counted as the first one: all may be a little more than planned.
    done = min(status.step_bytes, status.step_planned_bytes)
    left = (status.step_planned_bytes - done) * status.step_seconds / status.step_bytes - since
    if status.step_scheduled_seconds > 0:
        left = min(left, status.step_scheduled_seconds - status.step_seconds - since)
    parts = [f"{fmt.size(done)} of {fmt.size(status.step_planned_bytes)}"]
    if left >= 1:
        parts.append(f"{fmt.elapsed(left)} left in it")
    return parts


class LiveView:
    """Where a run's output goes while it runs. `terminal` decides the form; None: find out.
    A quiet one passes on messages only."""

    def __init__(
        self,
        title: str,
        terminal: bool | None = None,
        stderr: TextIO | None = None,
        quiet: bool = False,
        above: str = "",
    ) -> None:
        # Whether whoever read what we say has gone away: `effio run … | head`, a closed terminal.
        self.reader_gone = False
        self._console = Terminal(file=stderr or sys.stderr, highlight=False, markup=False)
        self._title = title
        self._above = above  # a line about the whole that the run is a part of
        self._started = time.monotonic()
        self._status: Status | None = None
        self._heard = self._started
        self._logged = self._started
        self._quiet = quiet
        show = not quiet and (self._console.is_terminal if terminal is None else terminal)
        # Output and view share a terminal, unless standard output goes elsewhere.
        self._shared = show and sys.stdout.isatty()
        self._live = (
            Live(
                self._render(),
                console=self._console,
                transient=True,
                auto_refresh=False,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            if show
            else None
        )

    def __enter__(self) -> LiveView:
        if self._live is not None:
            with self._survived():
                self._live.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._live is not None:
            with self._survived():
                self._live.stop()

    @contextlib.contextmanager
    def _survived(self) -> Iterator[None]:
        """A run outlives the loss of its terminal: it has data to remove and an end to write."""
        try:
            yield
        except OSError as error:
            if isinstance(error, BrokenPipeError) or error.errno == errno.EIO:
                self.reader_gone = True

    def status(self, status: Status) -> None:
        self._status = status
        self._heard = time.monotonic()
        self.tick()

    def tick(self) -> None:
        """Called now and then; draws, or logs a line when it is time for one."""
        now = time.monotonic()
        if self._live is not None:
            with self._survived():
                self._live.update(self._render(), refresh=True)
        elif (
            not self._quiet
            and self._status is not None
            and now - self._logged >= _LOG_EVERY_SECONDS
        ):
            self._logged = now
            done = fmt.percent(self._status.plan_done_fraction)
            whole = f"{self._above} · " if self._above else ""
            self._print(
                f"{whole}[{done:>5}] {describe(self._status, now - self._heard)}{self._left(now)}"
            )

    def output(self, line: str) -> None:
        """A line of the engine's tables, to standard output."""
        if self._shared:
            self._print(fmt.plain(line, 10_000))
            return
        with self._survived():
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    def message(self, line: str) -> None:
        """A line for people, to standard error."""
        self._print(fmt.plain(line, 10_000))

    def _print(self, line: str) -> None:
        with self._survived():
            self._console.print(Text(line), soft_wrap=True)

    def _left(self, now: float) -> str:
        if self._status is None or self._status.plan_seconds_left <= 0:
            return ""
        left = self._status.plan_seconds_left - self._status.step_seconds - (now - self._heard)
        return f" · about {fmt.elapsed(left)} to go" if left >= 1 else " · nearly done"

    def _render(self) -> Group:
        now = time.monotonic()
        status = self._status
        bar = Table.grid(padding=(0, 1))
        fraction = status.plan_done_fraction if status else 0.0
        bar.add_row(
            Text(self._title, style="bold"),
            ProgressBar(total=1.0, completed=fraction, width=30),
            Text(f"{fmt.percent(fraction):>5}"),
            Text(f"{fmt.elapsed(now - self._started)} gone{self._left(now)}"),
        )
        if status is None:
            line = Text("starting", style="dim")
        else:
            silent = now - self._heard
            # Two lines at any width: what stands last is the first to go.
            line = Text("  ", no_wrap=True, overflow="ellipsis")
            if silent > _STALE_SECONDS:
                line.append(f"no word for {fmt.elapsed(silent)} · ", style="yellow")
            line.append(describe(status, silent), style="dim")
        if self._above:
            return Group(Text(self._above, no_wrap=True, overflow="ellipsis"), bar, line)
        return Group(bar, line)
