# SPDX-License-Identifier: BSD-3-Clause
"""The live view of a running engine: two lines that change on a terminal, lines in a log.

The engine's sentinel sends a line of JSON each second even while rank 0 is blocked in a call; the
view counts time on its own in between.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from typing import Any, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from effio import text as fmt
from effio.store.records import as_number

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


def parse_status(line: str) -> Status | None:
    """None if the line is no progress line; faulty members count as absent."""
    if not line.startswith(_PREFIX) or len(line) > _MAX_LINE:
        return None
    try:
        body = json.loads(line)["effio_progress"]
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
    )


def describe(status: Status, since: float) -> str:
    """What is done now, in words; `since` is the time since the engine said so."""
    in_step = status.step_seconds + since
    parts = [status.title or "starting"]
    if status.step_bytes > 0 and status.step_seconds > 0:
        parts.append(f"{fmt.rate(status.step_bytes / status.step_seconds)} now")
    if status.step_scheduled_seconds > 0:
        parts.append(
            f"{fmt.duration(in_step)} of {fmt.duration(status.step_scheduled_seconds)} scheduled"
        )
    else:
        parts.append(f"for {fmt.duration(in_step)}")
    if status.call:
        parts.append(f"in {status.call}")
    return " · ".join(parts)


class LiveView:
    """Where a run's output goes while it runs. `terminal` decides the form; None: find out.
    A quiet one passes on messages only."""

    def __init__(
        self,
        title: str,
        terminal: bool | None = None,
        stderr: TextIO | None = None,
        quiet: bool = False,
    ) -> None:
        self._console = Console(file=stderr or sys.stderr, highlight=False, markup=False)
        self._title = title
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
            self._live.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._live is not None:
            self._live.stop()

    def status(self, status: Status) -> None:
        self._status = status
        self._heard = time.monotonic()
        self.tick()

    def tick(self) -> None:
        """To be called now and then; draws, or logs a line when it is time for one."""
        now = time.monotonic()
        if self._live is not None:
            self._live.update(self._render(), refresh=True)
        elif (
            not self._quiet
            and self._status is not None
            and now - self._logged >= _LOG_EVERY_SECONDS
        ):
            self._logged = now
            done = fmt.percent(self._status.plan_done_fraction)
            self._print(f"[{done:>5}] {describe(self._status, now - self._heard)}{self._left(now)}")

    def output(self, line: str) -> None:
        """A line of the engine's tables, to standard output."""
        if self._shared:
            self._print(fmt.plain(line, 10_000))
        else:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    def message(self, line: str) -> None:
        """A line for people, to standard error."""
        self._print(fmt.plain(line, 10_000))

    def _print(self, line: str) -> None:
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
        return Group(bar, line)
