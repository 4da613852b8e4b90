# SPDX-License-Identifier: BSD-3-Clause
"""Commands of a site around a run: a directory that has to be striped, a cache that has to be
warmed. Each is a list of words that goes to its program as it is; no shell sees it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from effio.store import safe_files
from effio.store.folder import COMMANDS
from effio.store.masking import masked_text, masked_words

_SECONDS = 600.0
_KEPT_CHARACTERS = 4000


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
        code: int | None = None
        try:
            done = subprocess.run(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                timeout=seconds,
                check=False,
            )
            code, said = done.returncode, done.stdout.decode(errors="replace")
            why = f"exit code {code}" if code > 0 else f"signal {-code}"
        except subprocess.TimeoutExpired:
            said, why = "", f"no end within {seconds:.0f} s"
        except (OSError, ValueError) as error:
            said, why = "", str(getattr(error, "strerror", None) or error)
        _note(
            folder,
            {
                "what": what,
                "command": masked_words(command),
                "exit_code": code,
                "seconds": round(time.monotonic() - started, 3),
                "said": masked_text(said)[-_KEPT_CHARACTERS:],
            },
        )
        if code != 0:
            last = (masked_text(said).strip().splitlines() or [""])[-1]
            return f"the {what} command {shlex.join(masked_words(command))} failed ({why})" + (
                f": {last}" if last else ""
            )
    return ""


def _note(folder: Path, entry: Mapping[str, object]) -> None:
    try:
        with safe_files.updating(folder / COMMANDS, append=True) as stream:
            stream.write((json.dumps(entry) + "\n").encode())
    except OSError:
        return  # the folder is sealed afterwards, which says what it lacks
