# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C at any moment of a command: it ends with 4 and prints no traceback."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from driver.conftest import Effio

ROOT = Path(__file__).parents[2]
_INTERRUPT = "os.kill(os.getpid(), signal.SIGINT)"
# Ctrl-C comes when the module is looked for.
_AT_IMPORT = f"""
class Finder:
    @staticmethod
    def find_spec(name, *_):
        if name == moment:
            {_INTERRUPT}
sys.meta_path.insert(0, Finder)
"""
# The main thread has ended for Python when it joins the others.
_AT_THE_END = f"""
import threading
def other():
    threading.main_thread().join()
    # Again and again, as a user does: a signal that comes just before the main thread begins to
    # wait does not end the wait.
    while True:
        {_INTERRUPT}
        threading.Event().wait(0.1)
threading.Thread(target=other).start()
"""
_AT_EXIT = f"""
import atexit
atexit.register(lambda: {_INTERRUPT})
"""


def _interrupted(
    effio: Effio, how: str, *words: str, moment: str = "", ignored: bool = False
) -> subprocess.CompletedProcess[str]:
    handler = signal.SIG_IGN if ignored else signal.default_int_handler
    script = f"import os, signal, sys; moment = {moment!r}\n{how}\nfrom effio.start import main\n"
    return effio.script(
        f"{script}main()", *words, start=lambda: signal.signal(signal.SIGINT, handler)
    )


@pytest.mark.parametrize(
    "moment",
    [
        "effio.cli.main",  # before the command is known
        "click",
        "effio.errors",
        "effio.cli.runs",  # within it
        "effio.store.index",
        "effio.report.listing",
    ],
)
def test_while_modules_are_imported(kept: Effio, moment: str) -> None:
    done = _interrupted(kept, _AT_IMPORT, "runs", moment=moment)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (4, "", "")


@pytest.mark.parametrize("how", [_AT_THE_END, _AT_EXIT])
def test_when_all_is_done(kept: Effio, how: str) -> None:
    done = _interrupted(kept, how, "runs", "--format", "csv")
    assert (done.returncode, done.stderr) == (4, "")
    assert len(done.stdout.splitlines()) == 4


def test_one_that_is_ignored_stays_so(kept: Effio) -> None:
    """As by `nohup`, or by a shell in a job in the background."""
    done = _interrupted(
        kept, _AT_IMPORT, "runs", "--format", "csv", moment="effio.cli.main", ignored=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 4


def test_the_program_starts_there() -> None:
    assert '\neffio = "effio.start:main"\n' in (ROOT / "pyproject.toml").read_text()
