# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that hang, and results that grow: what the tests of faults do to a job."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from engines import Job

# mdtest for some hours.
ENDLESS = "--items 100 --iterations 50000"


def _holds(file: Path, count: int) -> bool:
    return file.exists() and file.read_bytes().count(b'"kind":"measurement"') >= count


def wait_for_measurements(job: Job, *files: Path) -> None:
    """Until each of these results holds two."""
    for file in files:
        job.wait_until(f"measurements in {file}", partial(_holds, file, 2))


@contextlib.contextmanager
def standing(job: Job, *ranks: int) -> Iterator[None]:
    """These processes of the job are frozen; those that are left of them at the end are killed."""
    for rank in ranks:
        os.kill(rank, signal.SIGSTOP)
    try:
        yield
    finally:
        for rank in ranks:
            if rank in job.members():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rank, signal.SIGKILL)
