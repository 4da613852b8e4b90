# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of ior share: runs in both styles, what they leave, the original's data."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

from engines import Engine, Run

KIB, MIB = 1024, 1024 * 1024

# Files of what sh runs end at 40 MiB (ulimit counts 512 bytes), which is more than the MPI
# libraries' own files need.
LIMITED = 'trap "" XFSZ; ulimit -f 81920; exec "$@"'


def ior(
    engine: Engine, where: Path, *words: object, ranks: int = 2, code: int = 0, **more: Any
) -> Run:
    """A quiet run with its data in `where`/data; a text may be of several options."""
    split = [option for word in words for option in re.split(" (?=--)", str(word))]
    run = engine.run(
        ["ior", "--quiet", "--dir", where / "data", *split], where, ranks=ranks, **more
    )
    assert run.code == code, run
    return run


def classic(
    engine: Engine, where: Path, line: str, ranks: int = 2, code: int = 0, **more: Any
) -> Run:
    run = engine.run(["classic", "ior", *line.split()], where, ranks=ranks, **more)
    assert run.code == code, run
    return run


def left(where: Path) -> list[str]:
    """Names in a directory, result files apart."""
    return sorted(p.name for p in where.iterdir() if p.suffix != ".jsonl")


def timestamp(rank: int, signature: int, transfer: int) -> bytes:
    """A transfer of IOR's timestamp data (docs/definitions/ior.md, Which data)."""
    return b"".join(struct.pack("<Q", rank << 32 | signature + i) for i in range(transfer // 8))
