# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI's launcher ends with 1 and says "exiting improperly" of a rank that left without MPI's
end, and once in thousands of runs of ranks that ended well; it names no rank's code then
(docs/exit-codes.md). What such a run left shows whether it is complete.

python launcher.py MPIEXEC WORD... starts a launcher in this way, for scripts that end at the first
command that fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from types import FrameType


def ended_well(code: int, said: str) -> bool:
    """Whether ranks may have ended well. `said`: the launcher's standard error."""
    if code == 1:
        return "exiting improperly" in said and "xit code" not in said
    return code == 0


def launch(words: Sequence[str]) -> int:
    """Runs the launcher with the streams of this process, and passes signals on to it. Its exit
    code; 0 where ranks may have ended well."""
    with subprocess.Popen(words, stderr=subprocess.PIPE) as process:

        def pass_on(number: int, _: FrameType | None) -> None:
            process.send_signal(number)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            signal.signal(number, pass_on)
        assert process.stderr is not None
        said = b""
        # As it comes: the lines of progress are among it.
        while block := os.read(process.stderr.fileno(), 65536):
            os.write(2, block)
            said += block
        code = process.wait()
    if ended_well(code, said.decode(errors="replace")):
        return 0
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(launch(sys.argv[1:]))
