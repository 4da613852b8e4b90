# SPDX-License-Identifier: BSD-3-Clause
"""What the words of a launcher that started nothing say."""

from __future__ import annotations

import re
from collections.abc import Sequence

from effio import text as fmt

# Sites put a script in the place of mpiexec on login nodes, each with its own words.
_WANTS_A_JOB = re.compile(
    r"\b(not (allowed|permitted|authorized|available here)|forbidden|prohibited|disallowed"
    r"|login[ -]?nodes?|front[ -]?end|compute nodes?|batch|sbatch|salloc|srun|qsub|bsub"
    r"|(outside|inside|within|without|no) an? (job|allocation)|no active allocation)\b",
    re.IGNORECASE,
)
_LONGEST = 300


def wants_a_job(words: Sequence[str]) -> bool:
    """Whether a launcher says that ranks are started in batch jobs only."""
    return _WANTS_A_JOB.search(" ".join(words)) is not None


def first_of(words: Sequence[str]) -> str:
    """The first line that says anything; launchers draw rules around their messages."""
    said = (line.strip() for line in words)
    return fmt.plain(next((line for line in said if re.search(r"\w", line)), ""), _LONGEST)
