# SPDX-License-Identifier: BSD-3-Clause
"""Job scripts from templates, so that a site can have its own: text with @words@ in it.

A line whose word has no value here is left out, one whose word has several is repeated for each;
`@@` is an @. The directives of effio's own are in templates/.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from effio.errors import EffioError
from effio.store import safe_files
from effio.text import closest
from effio.text import lines as lines_of

SHIPPED = Path(__file__).with_name("templates")

# What a template may ask for, and what it gets.
WORDS: Mapping[str, str] = {
    "name": "what the job is called",
    "short_name": "its first 15 letters",
    "ranks": "all ranks",
    "nodes": "nodes, if requested",
    "ranks_per_node": "ranks of a node, if requested",
    "some_nodes": "nodes; 1 if none were requested",
    "some_per_node": "ranks of a node, by @some_nodes@ if none were requested",
    "minutes": "how long it may take",
    "clock": "the same as HH:MM:SS",
    "short_clock": "the same as H:MM",
    "log": "the file for what the script itself says",
    "log_pattern": "the same where % has a meaning, as in Slurm",
    "directive": "each directive of the site and of --batch-option, without its prefix",
    "run": "the lines that change the directory, set up, start the ranks and seal the run",
}
# Without it nothing would be measured.
_NEEDED = "run"
_MOST_BYTES = 1 << 20
_WORD = re.compile(r"@(@|[A-Za-z_]\w*@)")

Values = Mapping[str, str | Sequence[str] | None]


@dataclass(frozen=True)
class Template:
    text: str

    def filled(self, values: Values) -> str:
        """`values` has each of WORDS."""
        return "".join(
            line + "\n" for pattern in lines_of(self.text) for line in _lines(pattern, values)
        )


def _lines(pattern: str, values: Values) -> list[str]:
    asked = _words(pattern)
    if any(values[word] is None for word in asked):
        return []
    for word in asked:
        several = values[word]
        if several is not None and not isinstance(several, str):
            return [_put(pattern, {**values, word: one}) for one in several]
    return [_put(pattern, values)]


def _put(pattern: str, values: Values) -> str:
    return _WORD.sub(lambda m: "@" if m[1] == "@" else str(values[m[1][:-1]]), pattern)


def _words(line: str) -> list[str]:
    return [word[:-1] for word in _WORD.findall(line) if word != "@"]


def shipped(system: str) -> Template:
    return read(SHIPPED / f"{system}.sh")


def read(path: Path) -> Template:
    """Raises with every fault of the file, each with its line."""
    try:
        # Named by the user: a link to it is followed.
        text = safe_files.read_text(Path(os.path.realpath(path)), _MOST_BYTES)
    except OSError as error:
        raise EffioError(f"{path}: {error.strerror or error}") from None
    except ValueError:
        raise EffioError(f"{path}: not UTF-8") from None
    faults = []
    lines = lines_of(text)
    for number, line in enumerate(lines, 1):
        words = _words(line)
        for word in words:
            if word not in WORDS:
                near = closest(word, WORDS)
                hint = f"; did you mean @{near}@?" if near else f"; there are {_all_words()}"
                faults.append(f"{path}:{number}: unknown word @{word}@{hint}")
        if len([word for word in words if word in ("directive", "run")]) > 1:
            faults.append(f"{path}:{number}: one line cannot be repeated for two words")
    if not text.startswith("#!"):
        faults.insert(0, f"{path}:1: a job script begins with #! and its shell, a bash")
    if not faults and sum(line.strip() == f"@{_NEEDED}@" for line in lines) != 1:
        faults.append(f"{path}: no line @{_NEEDED}@, or several; it starts the measurement")
    if faults:
        raise EffioError("\n".join(faults))
    return Template(text)


def _all_words() -> str:
    return ", ".join(f"@{word}@" for word in WORDS)
