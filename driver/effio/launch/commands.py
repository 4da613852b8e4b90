# SPDX-License-Identifier: BSD-3-Clause
"""Commands of a site around a run: a directory that has to be striped, a cache that has to be
warmed. Each is a list of words that goes to its program as it is; no shell sees it."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from effio import text as fmt
from effio.launch.watch import interrupts_wait
from effio.store import safe_files
from effio.store.folder import COMMANDS
from effio.store.masking import masked_text, masked_words

_SECONDS = 600.0
_KEPT_CHARACTERS = 4000
_SHOWN_CHARACTERS = 500
# Of the end of the output, before secrets are masked in it.
_MOST_BYTES = 1 << 16
# What a command printed before it ended has arrived by then. A process that it left behind (a FUSE
# program) may keep the pipe open.
_REST_SECONDS = 1.0


@dataclass(frozen=True)
class _Done:
    code: int | None
    said: str
    why: str


def _run(command: Sequence[str], environment: Mapping[str, str], seconds: float) -> _Done:
    """Keeps the end of the output only. After `seconds` the command is killed, with the processes
    that it started in its session; processes that an ended command left behind live on."""
    process = None
    end = bytearray()
    why = ""

    def read(pipe: int) -> None:
        with contextlib.suppress(OSError):
            while piece := os.read(pipe, _MOST_BYTES):
                end.extend(piece)
                del end[:-_MOST_BYTES]

    try:
        with interrupts_wait():
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        assert process.stdout is not None
        reader = threading.Thread(target=read, args=(process.stdout.fileno(),), daemon=True)
        reader.start()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            why = f"no end within {seconds:.0f} s"
            _kill(process)
            process.wait()
    except (OSError, ValueError) as error:
        return _Done(None, "", str(getattr(error, "strerror", None) or error))
    except BaseException:  # Ctrl-C
        if process is not None:
            _kill(process)
        raise
    reader.join(_REST_SECONDS)
    said = bytes(end).decode(errors="replace")
    if not reader.is_alive():
        process.stdout.close()
    if why:
        return _Done(None, said, why)
    code = process.returncode
    return _Done(code, said, f"exit code {code}" if code > 0 else f"signal {-code}")


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def carry_out(
    commands: Sequence[Sequence[str]],
    folder: Path,
    what: str,
    environment: Mapping[str, str],
    seconds: float = _SECONDS,
) -> str:
    """Runs them one after the other until one fails, and returns what failed, or nothing. Their
    output goes to commands.jsonl in the folder."""
    for command in commands:
        started = time.monotonic()
        done = _run(command, environment, seconds)
        said = masked_text(done.said)
        _note(
            folder,
            {
                "what": what,
                "command": masked_words(command),
                "exit_code": done.code,
                "seconds": round(time.monotonic() - started, 3),
                "said": said[-_KEPT_CHARACTERS:],
            },
        )
        if done.code != 0:
            last = (said.strip().splitlines() or [""])[-1]
            named = fmt.plain(shlex.join(masked_words(command)), _SHOWN_CHARACTERS)
            return f"the {what} command {named} failed ({done.why})" + (
                f": {fmt.plain(last, _SHOWN_CHARACTERS)}" if last else ""
            )
    return ""


def _note(folder: Path, entry: Mapping[str, object]) -> None:
    try:
        with safe_files.updating(folder / COMMANDS, append=True) as stream:
            stream.write((safe_files.json_text(entry) + "\n").encode())
    except OSError:
        return  # the folder is sealed afterwards, which says what it lacks
