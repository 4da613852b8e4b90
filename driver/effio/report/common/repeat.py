# SPDX-License-Identifier: BSD-3-Clause
"""The line that does a run again when it is pasted into a shell."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import PurePath

from effio.store.reader import Result

# Options of the engine that belong to one run: where its result went and who listened.
_OF_THIS_RUN = frozenset({"--result", "-o", "--progress"})


def _again(words: Sequence[str]) -> list[str]:
    """Without those options, as `--name value` or `--name=value`."""
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in _OF_THIS_RUN:
            skip = True
        elif word.partition("=")[0] not in _OF_THIS_RUN:
            kept.append(word)
    return kept


def _with_directory(words: Sequence[str], directory: str) -> list[str]:
    """The data directory as an absolute path, where the words name one."""
    if not PurePath(directory).is_absolute():
        return list(words)
    out = list(words)
    for i, word in enumerate(out):
        if word.startswith("--dir="):
            out[i] = f"--dir={directory}"
        elif word == "--dir" and i + 1 < len(out):
            out[i + 1] = directory
    return out


def _placed(directory: str, words: Sequence[str]) -> str:
    """The directory from which the command was called, so that relative paths lead to the same
    places."""
    line = shlex.join(words)
    return f"cd {shlex.quote(directory)} && {line}" if directory else line


def _driver_words(result: Result) -> list[str] | None:
    """`effio run …`, if the driver started it, with the number of ranks that it had."""
    record = result.record
    if record is None:
        return None
    ranks = str(result.run.system.ranks)
    typed = record.driver.get("command")
    if isinstance(typed, list) and "run" in typed and all(isinstance(w, str) for w in typed):
        at = typed.index(record.benchmark) if record.benchmark in typed else -1
        if at > 0:
            own = typed[at + 1 :]
            given = any(w in ("-n", "--ranks") or w.startswith(("-n", "--ranks=")) for w in own)
            return [*typed[: at + 1], *([] if given else ["-n", ranks]), *own]
    return ["effio", "run", record.benchmark, "-n", ranks, "--", *record.arguments]


def repeat_lines(result: Result) -> list[tuple[str, str]]:
    """What to type, and with what: the driver's line if it started the run, else a launcher's."""
    run = result.run
    where = run.manifest.directory if run.manifest else ""
    words = _driver_words(result)
    if words is not None and result.record is not None:
        line = _placed(result.record.directory, _with_directory(words, where))
        return [("in a shell", line)]
    lines = []
    for what, command in (("in a shell", run.command), ("classic", run.classic_command or [])):
        if command:
            again = _with_directory(_again(command), where)
            lines.append((what, shlex.join(["mpiexec", "-n", str(run.system.ranks), *again])))
    return lines
