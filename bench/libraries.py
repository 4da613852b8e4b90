# SPDX-License-Identifier: BSD-3-Clause
"""Array libraries through the engine against bare loops of the same library calls, and FLASH I/O
against the original where EFFIO_FLASH_IO names it (built for block edge 8 and this MPI)."""

from __future__ import annotations

import json
import os
import re
from functools import partial
from pathlib import Path

from harness import AbsentError, BenchError, Figures, Kit, Pair

EDGE = 64
REPETITIONS = 8
BYTES = 9 * EDGE**3 * 8 * 2  # two processes


def _bare(kit: Kit, library: str) -> Path:
    """Not built where the engine's build has no such library either."""
    program = kit.build / "bench" / f"bare_{library}"
    if not program.exists():
        raise AbsentError(f"no {library} for the MPI of this build")
    return program


def of_engine(kit: Kit, library: str) -> Figures:
    _bare(kit, library)
    with kit.place() as place:
        result = place / "r.jsonl"
        words = ["libraries", "--libraries", library, "--hint-sets", "none", "--processes", "2"]
        words += ["--fsync", "off", "--call-times", "off", "--repetitions", str(REPETITIONS)]
        words += ["--edges", str(EDGE), "--quiet", "--dir", str(place), "-o", str(result)]
        kit.launch([kit.engine, *words])
        lines = [json.loads(line) for line in result.read_text().splitlines()]
    return {
        f["where"]["access"]: BYTES / f["detail"]["mean_seconds"] / 1e6
        for f in lines
        if f["kind"] == "figure" and f["name"] == "library_bandwidth"
    }


def of_bare(kit: Kit, library: str) -> Figures:
    program = _bare(kit, library)
    with kit.place() as place:
        text = kit.launch([program, place / "file", EDGE, REPETITIONS])
    return {name: BYTES / float(s) / 1e6 for name, s in (x.split() for x in text.splitlines())}


def flash_rate(kit: Kit, program: list[object], prefix: Path) -> Figures:
    text = kit.launch([*program, "-f", prefix])
    found = re.search(r"^ +\d+ +8 x +8 x +8 +[\d.]+ +([\d.]+)", text, re.MULTILINE)
    if found is None:
        raise BenchError(f"no bandwidth in the report of {program[0]}:\n{text}")
    return {"bandwidth": float(found[1])}


def _original() -> str:
    program = os.environ.get("EFFIO_FLASH_IO")
    if not program:
        raise AbsentError("EFFIO_FLASH_IO names no program of the PnetCDF port")
    return program


def flash_of_engine(kit: Kit) -> Figures:
    _original()  # a lone number would say nothing
    with kit.place() as place:
        return flash_rate(kit, [kit.engine, "classic", "flash_benchmark_io"], place / "it_")


def flash_of_original(kit: Kit) -> Figures:
    program = _original()
    with kit.place() as place:
        return flash_rate(kit, [program], place / "it_")


def pairs(kit: Kit) -> list[Pair]:
    found = [
        Pair(
            f"{library} calls",
            f"nine variables of {EDGE} x {EDGE} x {EDGE}, 2 ranks, tmpfs; what does the engine"
            " cost in addition to the library?",
            partial(of_engine, kit, library),
            partial(of_bare, kit, library),
            "MB/s",
            at_least=0.98,
        )
        for library in ("hdf5", "pnetcdf")
    ]
    found.append(
        Pair(
            "FLASH I/O",
            "the PnetCDF port against the classic face of the engine, 2 ranks, tmpfs",
            partial(flash_of_engine, kit),
            partial(flash_of_original, kit),
            "MiB/s",
            at_least=1.0,
        )
    )
    return found
