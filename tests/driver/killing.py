# SPDX-License-Identifier: BSD-3-Clause
"""Drivers that are killed at a moment that a test names."""

from __future__ import annotations

import contextlib
import select
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import IO

from driver.conftest import Effio

# Imports once, then forks a driver for each number that it reads, which kills itself when it does
# its so many-th step on the runs: makes a folder, opens or renames a file, starts a program, looks
# for what is left of it. Of a driver that has jobs, only what it writes and asks the batch system
# is a step, and it does not sleep.
_FORKS = textwrap.dedent(
    """
    import os, signal, sys
    import effio.campaign.jobs, effio.cli.campaign, effio.cli.run
    from effio.cli.main import main

    jobs = "--jobs" in sys.argv
    effio.campaign.jobs.sleep = lambda _: None

    def is_step(event, args):
        if event == "subprocess.Popen":
            return not jobs or os.path.basename(args[0]) in ("sbatch", "squeue")
        if event == "os.listdir":
            return not jobs
        if event == "open" and jobs and args[2] & os.O_ACCMODE == os.O_RDONLY:
            return False
        changes = ("open", "os.rename", "os.mkdir", "os.remove", "os.chmod")
        # A bare name is opened, or renamed, below the descriptor of a folder of the runs.
        name = str(args[0])
        return event in changes and ("effio-runs" in name or "/" not in name)

    def drive(moment):
        seen = 0
        def step(event, args):
            nonlocal seen
            ours = is_step(event, args)
            seen += ours
            if ours and seen == moment:
                os.kill(os.getpid(), signal.SIGKILL)
        if moment:
            sys.addaudithook(step)
        main()

    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            drive(int(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    """
)


@contextlib.contextmanager
def drivers(effio: Effio, *words: object) -> Iterator[Callable[[int], int]]:
    """drive(n) calls effio with these words until its n-th step, or with 0 to its end, and returns
    the exit code. What it says is in the file log."""
    with (effio.cwd / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", _FORKS, *map(str, words)],
            cwd=effio.cwd, env=effio.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        streams: tuple[IO[str], IO[str]] = (process.stdin, process.stdout)

        def drive(moment: int) -> int:
            streams[0].write(f"{moment}\n")
            streams[0].flush()
            while True:
                ready, _, _ = select.select([streams[1]], [], [], 100)
                assert ready, "the driver does not end"
                line = streams[1].readline().strip()
                assert line or process.poll() is None, "no driver can be made; see log"
                if line.lstrip("-").isdigit():
                    return int(line)

        yield drive
        process.stdin.close()
        process.wait(100)
