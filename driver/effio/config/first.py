# SPDX-License-Identifier: BSD-3-Clause
"""The first two files of a user: what is true of this machine, and a campaign that fits it, with
what is detected here. Both are for people to continue with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from effio import text as fmt

_LARGEST_BLOCK = 256 << 20
_MOST_BYTES = 4 << 30
# Of the free space that a quick check may write.
_PART = 0.02
_NO_ENGINE = '# engine = "NAME"  # of effio engine list'
_NO_BATCH = '# system = "slurm"  # or pbs, lsf, flux'


@dataclass(frozen=True)
class Found:
    """What is here; None where it is not. `ranks` is how many processes a quick check takes."""

    cores: int
    ranks: int
    engine: str | None  # by a name that finds it again
    mpi: str | None
    launcher: str | None
    batch: str | None
    modules: Sequence[str]


def _text(value: str) -> str:
    """JSON's texts are TOML's."""
    return json.dumps(value, ensure_ascii=False)


def site_text(found: Found) -> str:
    """Settings that say what effio would find anyway are comments."""
    what = [
        fmt.count_of(found.cores, "core"),
        found.mpi or "no engine",
        found.batch or "no batch system",
    ]
    modules = ", ".join(map(_text, (f"module load {name}" for name in found.modules)))
    lines = [
        "# What is true of this machine for every run. Everything here is optional; remove what is",
        "# wrong. effio looks for effio-site.toml in the directory that it is called in, then for",
        "# ~/.config/effio/site.toml.",
        f"# Found by effio init: {fmt.plain(', '.join(what))}.",
        "",
        "[launch]",
        f"engine = {_text(found.engine)}" if found.engine else _NO_ENGINE,
        f"# launcher = {_text(found.launcher or 'srun')}  # taken anyway, if it fits the engine",
        "options = []  # more words for the launcher",
        "",
        "[batch]",
        f"system = {_text(found.batch)}" if found.batch else _NO_BATCH,
        'directives = []  # as "--account=abc"',
        f"setup = [{modules}]  # shell lines before the launch",
        '# template = "job.sh"  # your own job script for this system, next to this file',
        "",
        "[results]",
        '# runs = "/scratch/me/effio-runs"  # where results are kept',
        "",
    ]  # fmt: skip
    return "\n".join(lines)


def campaign_text(found: Found, directory: Path) -> str:
    """Writes and reads over transfer sizes and numbers of processes, as large as a small part of
    what is free."""
    free = min(_MOST_BYTES, int(shutil.disk_usage(directory).free * _PART))
    counts = [2**n for n in range(found.ranks.bit_length()) if 2**n <= found.ranks]
    runs = 3 * 3 * len(counts)
    block = max(4 << 20, min(_LARGEST_BLOCK, free // runs // found.ranks) >> 22 << 22)
    budget = 3 * 3 * sum(counts) * block
    lines = [
        "# A study to begin with. effio check and effio plan say what it is, effio run does what",
        "# is not done yet. docs/campaigns.md explains every key, effio describe ior every option.",
        'title = "First study"',
        'purpose = "bulk rates over transfer sizes and numbers of processes"',
        "repetitions = 3  # interleaved, so that drift favors no configuration",
        f"bytes = {_text(f'{budget >> 20}MiB')}  # it is refused to write more",
        'tags = ["first"]',
        "",
        "[[step]]",
        'name = "bulk"',
        'benchmark = "ior"',
        "",
        "[step.options]",
        'files = "per-process"',
        f"block = {_text(f'{block >> 20}MiB')}",
        "drop-cache = true  # reads are to come from storage",
        "",
        "[step.sweep]",
        'transfer = ["64KiB", "1MiB", "4MiB"]',
        f"ranks = {counts}",
        "",
    ]
    return "\n".join(lines)
