# SPDX-License-Identifier: BSD-3-Clause
"""Why a launcher started nothing: by its words, and by what it needs."""

from __future__ import annotations

import itertools
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from effio import text as fmt
from effio.store.answering import fault_of

# Sites put a script in the place of mpiexec on login nodes, each with its own words.
_WANTS_A_JOB = re.compile(
    r"\b((?<!operation )not (allowed|permitted|authorized|available here)|forbidden|prohibited"
    r"|disallowed|login[ -]?nodes?|front[ -]?end|compute nodes?|batch|sbatch|salloc|srun|qsub|bsub"
    r"|(outside|inside|within|without|no) an? (job|allocation)|no active allocation)\b",
    re.IGNORECASE,
)
_LONGEST = 300
# In the order in which Open MPI looks at them. MPI libraries write some MiB there.
_TEMPORARY = ("TMPDIR", "TEMP", "TMP")
_LEAST_BYTES = 1 << 20
ANOTHER_TEMPORARY = "name another directory: export TMPDIR=DIR"


def wants_a_job(words: Sequence[str]) -> bool:
    """Whether a launcher says that ranks are started in batch jobs only."""
    return _WANTS_A_JOB.search(" ".join(words)) is not None


def first_of(words: Sequence[str]) -> str:
    """The first line that says anything; launchers draw rules around their messages. If it only
    announces others ("… the directory:"), these too, up to the next empty line or rule."""
    said = itertools.dropwhile(_says_nothing, (line.strip() for line in words))
    lines = [next(said, "")]
    if lines[0].endswith(":"):
        rest = itertools.dropwhile(_says_nothing, said)
        lines += itertools.takewhile(lambda line: not _says_nothing(line), rest)
    return fmt.plain(" ".join(" ".join(lines).split()), _LONGEST)


def _says_nothing(line: str) -> bool:
    return re.search(r"\w", line) is None


def temporary_fault(environment: Mapping[str, str]) -> str:
    """What is wrong with the directory of temporary files, which MPI libraries need to start.
    Empty if files can be written there."""
    named = ((name, environment.get(name)) for name in _TEMPORARY)
    name, place = next(((n, p) for n, p in named if p), ("", "/tmp"))
    fault = fault_of(Path(place))
    try:
        if not fault:
            with tempfile.TemporaryFile(dir=place, buffering=0) as file:
                os.posix_fallocate(file.fileno(), 0, _LEAST_BYTES)
    except OSError as error:
        fault = f"{place}: {error.strerror}"
    named_by = f" ({name})" if name else ""
    return f"no temporary files can be written{named_by}: {fmt.plain(fault)}" if fault else ""
