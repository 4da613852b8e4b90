# SPDX-License-Identifier: BSD-3-Clause
"""The states of many jobs of a batch system at once, and not more often than it takes."""

from __future__ import annotations

import getpass
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from effio.launch.batch import BatchSystem

_SHORTEST_WAIT = 2.0
_LONGEST_WAIT = 60.0


def waits() -> Iterator[float]:
    """Seconds between two questions to the batch system, which serves others too."""
    seconds = _SHORTEST_WAIT
    while True:
        yield seconds
        seconds = min(1.5 * seconds, _LONGEST_WAIT)


@dataclass(frozen=True)
class Queued:
    """A job as the batch system describes it, in its own words."""

    job_id: str
    state: str
    reason: str = ""  # why it waits
    script: str = ""
    over: bool = False

    @property
    def waits(self) -> bool:
        return self.state in ("PENDING", "PEND", "PD")


def _user() -> str:
    """The name, or the number of a user that has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.geteuid())


def jobs_in(system: BatchSystem) -> list[Queued] | None:
    """The jobs of this user that the batch system knows, those that ended a while ago perhaps
    not among them; None if it does not answer now. One question for all."""
    command = [_user() if word == "@user@" else word for word in system.queue_command]
    reported = _reported(command)
    return None if reported is None else _read(reported, system)


def ends_of(system: BatchSystem, ids: Sequence[str]) -> dict[str, str]:
    """How jobs ended that the queue knows no more, as far as the accounting shows."""
    if not ids or not system.past_command:
        return {}
    reported = _reported((*system.past_command, ",".join(ids)))
    return {job.job_id: job.state for job in _read(reported or "", system)}


def _reported(command: Sequence[str]) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _read(text: str, system: BatchSystem) -> list[Queued]:
    found = []
    for line in text.splitlines():
        job_id, *rest = line.strip().split("|", 3)
        # "CANCELLED by 1000" in the accounts.
        state = rest[0].split()[0] if rest and rest[0].strip() else ""
        # A line without the states of the system is not one of a job.
        if not job_id or (system.over and not state):
            continue
        reason, script = (*rest[1:], "", "")[:2]
        reason = "" if reason == "None" else reason
        found.append(Queued(job_id, state, reason, script, state in system.over))
    return found
