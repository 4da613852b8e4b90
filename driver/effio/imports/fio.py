# SPDX-License-Identifier: BSD-3-Clause
"""JSON of fio (`--output-format=json`): a measurement per job, or group, and direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from effio.imports.model import Cell, Imported, ImportFormatError, Times, Value, fault_of
from effio.imports.numbers import size
from effio.store import safe_files

_SHARES = ("50.000000", "90.000000", "99.000000", "99.900000", "99.990000")
_DIRECTIONS = ("read", "write", "trim")


def is_json(text: str) -> bool:
    return '"fio version"' in text[:20000]


def _times(side: Mapping[str, Any]) -> Times | None:
    """Completion times in seconds, if fio kept its percentiles."""
    reported = side.get("clat_ns") or {}
    shares = reported.get("percentile") or {}
    if not all(share in shares for share in _SHARES) or not side.get("total_ios"):
        return None
    return Times(
        int(side["total_ios"]),
        float(reported["min"]) / 1e9,
        float(reported["mean"]) / 1e9,
        float(reported["max"]) / 1e9,
        [float(shares[share]) / 1e9 for share in _SHARES],
    )


def _cell(job: Mapping[str, Any], given: Mapping[str, Any], direction: str) -> Cell | None:
    side = job[direction]
    moved, seconds = int(side["io_bytes"]), float(side["runtime"]) / 1000
    if not moved or not seconds:
        return None
    jobs = int(given.get("numjobs", 1))
    block = str(given.get("bs", given.get("blocksize", "4k"))).split(",")[0]
    return Cell(
        pattern=str(given.get("rw", given.get("readwrite", "read"))).split(":")[0],
        access=direction,
        where={
            "job": str(job["jobname"]),
            "block_bytes": size(block.split("-")[0]),
            "io_depth": int(given.get("iodepth", 1)),
            "jobs": jobs,
            "engine": str(given.get("ioengine", "psync")),
            "direct": str(given.get("direct", "0")) not in ("0", "false"),
        },
        ranks=jobs,
        bytes=moved,
        operations=int(side["total_ios"]),
        seconds=seconds,
        rate=float(side.get("bw_bytes") or moved / seconds),
        errors=1 if job.get("error") else 0,
        times=_times(side),
    )


def _waits(given: Mapping[str, Any]) -> bool:
    """Whether a job starts after the jobs before it: fio names the option without a value, too."""
    values = [given.get(name, "0") for name in ("stonewall", "wait_for_previous", "wait_for")]
    return any(str(value) not in ("0", "false", "False") for value in values)


def _values(stages: Mapping[int, Sequence[Cell]]) -> list[Value]:
    """The sum of the rates by direction of jobs that run at the same time: those of a stage, which
    ends where a job waits for the others (stonewall)."""
    return [
        Value(
            f"{direction}_bandwidth",
            sum(rates),
            "B/s",
            {"access": direction, **({"stage": stage} if len(stages) > 1 else {})},
        )
        for stage, cells in stages.items()
        for direction in ("trim", "read", "write")  # the last one is the headline
        if (rates := [c.rate for c in cells if c.access == direction and c.rate is not None])
    ]


def read_json(text: str) -> list[Imported]:
    """Lines before the object, which fio prints for warnings, are skipped."""
    try:
        reported = safe_files.json_of(text[text.index("{") :])
        common = dict(reported.get("global options") or {})
        cells: list[Cell] = []
        stages: dict[int, list[Cell]] = {}
        stage, earlier = 1, None
        for job in reported["jobs"]:
            given = {**common, **(job.get("job options") or {})}
            # The copies of a job (numjobs) run together.
            stage += earlier not in (None, job["jobname"]) and _waits(given)
            earlier = job["jobname"]
            for direction in _DIRECTIONS:
                cell = _cell(job, given, direction) if direction in job else None
                if cell is None:
                    continue
                same = sum(c.where == cell.where and c.access == cell.access for c in cells)
                cells.append(cell if not same else _again(cell, same + 1))
                stages.setdefault(stage, []).append(cells[-1])
        started = reported.get("timestamp")
        return [
            Imported(
                benchmark="fio",
                program="fio",
                version=str(reported["fio version"]).removeprefix("fio-"),
                started=datetime.fromtimestamp(started, timezone.utc) if started else None,
                cells=cells,
                values=_values(stages),
                ranks=max((cell.ranks for cell in cells), default=1),
                options={k: str(v) for k, v in common.items()},
                path=str(common.get("directory") or common.get("filename") or ""),
                host=str(reported["jobs"][0].get("hostname", "")) if reported["jobs"] else "",
                notes=("without fsync options, writes may still be in the page cache",),
            )
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
        raise ImportFormatError(f"JSON of fio that cannot be read: {fault_of(error)}") from None


def _again(cell: Cell, repetition: int) -> Cell:
    """Jobs of the same name without group reporting: each is one more process, not a repetition;
    their number distinguishes them."""
    return Cell(**{**cell.__dict__, "where": {**cell.where, "process": repetition}, "ranks": 1})
