# SPDX-License-Identifier: BSD-3-Clause
"""Handwritten result files, so that what the driver says of them is known beforehand.

`b_eff_io()` is one partition of 2 ranks: every cell takes one second; the rate of a cell is
RATES[access][type] × (1, 0.5, 4, 2, 8, 4, 8)[position - 1]: sizes with 8 bytes more run at half the
rate, 1 KiB at an eighth of the largest.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from driver.as_written import completed as completed
from driver.as_written import fresh, kept
from fields import FIELDS, from_text
from results import fault_of_line, is_valid_line

Line = dict[str, Any]

TYPES = ("scatter", "shared", "separated", "segmented", "seg_coll")
CHUNKS = (1024, 1032, 32768, 32776, 1048576, 1048584, 2097152)
BY_POSITION = (1.0, 0.5, 4.0, 2.0, 8.0, 4.0, 8.0)
MB = 1_000_000
# Bytes per second of the smallest chunk.
RATES = {
    "write": dict(zip(TYPES, (20 * MB, 5 * MB, 40 * MB, 30 * MB, 25 * MB), strict=True)),
    "rewrite": {"scatter": 20 * MB},
    "read": dict(zip(TYPES, (200 * MB, 50 * MB, 400 * MB, 300 * MB, 250 * MB), strict=True)),
}
SCHEMA = "effio-result/1.3"
# Members of a run line that may be null; another one that a test gives as None is left out.
MAYBE_NULL = ("classic_command", "file_system")
ALL = from_text(FIELDS.read_text())


def run_line(**more: Any) -> Line:
    line: Line = {
        "schema": SCHEMA,
        "kind": "run",
        "seq": 0,
        "benchmark": "b-eff-io",
        "started": "2026-11-20T12:00:00Z",
        "engine": {
            "program": "effio-mpi",
            "version": "0.1.0",
            "revision": "abc1234",
            "compiler": "GNU 12.2.0",
            "flags": "-O3",
            "build_type": "Release",
            "mpi_built_with": "Open MPI v4.1.4",
        },
        "command": ["effio-mpi", "b-eff-io", "--time", "12s"],
        "classic_command": None,
        "options": {"time": 12.0, "rewrite": False, "partitions": [2]},
        "clock": {
            "virtual": False,
            "source": "CLOCK_MONOTONIC",
            "kernel_sources": ["tsc"],
            "resolution_seconds": 2e-8,
            "skew": None,
        },
        "system": {
            "ranks": 2,
            "nodes": 1,
            "ranks_per_node": {"min": 2, "max": 2},
            "node_names": ["node01"],
            "node_names_complete": True,
            "cpu": {"model": "A CPU", "sockets": 1, "logical_cpus": 2, "usable_by_root_rank": 2},
            "memory": {"node_total_bytes": 8 << 30, "node_available_bytes": 6 << 30},
            "kernel": {
                "system": "Linux",
                "node": "node01",
                "release": "6.1.0",
                "version": "#1 SMP",
                "machine": "x86_64",
                "distribution": "Debian GNU/Linux 12 (bookworm)",
                "clock_source": "tsc",
                "vm": {"dirty_ratio": 20},
            },
            "mpi": {
                "library": "Open MPI v4.1.4, package",
                "name": "Open MPI",
                "version": "4.1.4",
                "standard": "3.1",
                "environment": {},
            },
            "batch": {},
            "user_is_root": False,
        },
        "watchdog_seconds": 60.0,
        "backend": {"name": "mpiio", "settings": {}},
        "file_system": {
            "path": "/data",
            "type": "ext4",
            "source": "/dev/vda",
            "mount_point": "/",
            "options": "rw;rw",
            "memory_backed": False,
            "block_bytes": 4096,
            "total_bytes": 1 << 40,
            "free_bytes": 1 << 39,
            "total_inodes": 1000,
            "free_inodes": 900,
            "quota_free_bytes": None,
            "device": "254:0",
            "striping": None,
        },
        "manifest": {
            "directory": "/data",
            "host": "n1",
            "keep": False,
            "existing": 0,
            "real": True,
            "files": [],
        },
    }
    line |= more
    line = {name: value for name, value in line.items() if value is not None or name in MAYBE_NULL}
    for own in ALL[line["benchmark"]]["run"] if line["benchmark"] in ALL else []:
        cap = {"cap_bytes": 536870912, "cap_reason": "given by --max-bytes"}
        line.setdefault(own["name"], cap if own["name"] == "b-eff-io" else {})
    return completed(line)


def call_times(count: int = 1000, p50: float = 1e-3) -> Line:
    return {
        "unit": "s",
        "count": count,
        "min": p50 / 2,
        "mean": p50,
        "p50": p50,
        "p90": p50 * 2,
        "p99": p50 * 4,
        "p99.9": p50 * 8,
        "p99.99": p50 * 8,
        "max": p50 * 10,
        "buckets_begin_ns_count": [[int(p50 * 1e9), count]],
    }


def spread(value: float) -> Line:
    return {"min": value, "mean": value, "max": value}


def measurement(
    access: str, pattern: str, position: int, rate: float, /, row: int = 1, **more: Any
) -> Line:
    """One second: 0.5 s of data calls, 0.3 s of sync (reading: waiting), 0.2 s of waiting. Of
    another benchmark it has that one's members in `where` and `detail`."""
    chunk = CHUNKS[position - 1]
    is_b_eff_io = more.get("benchmark", "b-eff-io") == "b-eff-io"
    reading = access == "read"
    moved = int(rate)
    line: Line = {
        "schema": SCHEMA,
        "kind": "measurement",
        "benchmark": "b-eff-io",
        "pattern": pattern,
        "access": access,
        "where": {
            "partition": 0,
            "ranks": 2,
            "row": row,
            "position": position,
            "chunk_bytes": chunk,
            "memory_chunk_bytes": max(chunk, 1 << 20) if pattern == "scatter" else chunk,
            "is_lmax": position == 7,
            "is_fill_up": False,
            "time_units": 2,
        }
        if is_b_eff_io
        else {},
        "ranks": 2,
        "nodes": 1,
        "repetition": 1,
        "bytes": moved,
        "operations": max(1, moved // (max(chunk, 1 << 20) if pattern == "scatter" else chunk)),
        "seconds": {
            "total": spread(1.0),
            "calls": spread(0.5),
            "sync": spread(0.0 if reading else 0.3),
            "barrier": spread(0.5 if reading else 0.2),
            "last_call": spread(0.1),
        },
        "rate": {"value": rate, "unit": "B/s", "better": "higher"},
        "valid": True,
        "stopped_by": "time" if access == "write" else "count",
        "call_times": call_times(),
        "hints_asked": {},
        "hints_granted": {},
        "hints_echoed": None,
        "verified_bytes": 0,
        "error_count": 0,
        "errors": [],
        "cache": {
            "verdict": "cache" if reading else "device",
            "resident_before_fraction": None,
            "process_read_bytes": 0,
            "process_written_bytes": 0 if reading else moved,
            "device_read_bytes": 0,
            "device_written_bytes": 0 if reading else moved,
        },
        "detail": {"file": "i00_002_0", "calls_per_rank": 1} if is_b_eff_io else {},
    }
    return completed(line | more)


def invalid(reason: str, unit: str = "B/s") -> Line:
    """What a measurement has instead of its rate if it is not valid."""
    rate = {"value": None, "unit": unit, "better": "higher", "reason": reason}
    return {"valid": False, "invalid_reason": reason, "rate": rate}


def figure(name: str, value: float | None, unit: str = "B/s", **more: Any) -> Line:
    metric: Line = {"value": value, "unit": unit, "better": "lower" if unit == "s" else "higher"}
    if value is None:
        metric["reason"] = "not measured"
    line: Line = {
        "schema": SCHEMA,
        "kind": "figure",
        "benchmark": "b-eff-io",
        "name": name,
        "where": {"partition": 0, "ranks": 2} if "benchmark" not in more else {},
        "metric": metric,
        "valid": None,
        "reasons": [],
        "detail": {},
    }
    return completed(line | more)


def end(status: str = "done", code: int = 0, reason: str = "") -> Line:
    return {
        "schema": SCHEMA,
        "kind": "end",
        "status": status,
        "exit_code": code,
        "reason": reason or ("" if status == "done" else "an error"),
        "errors": [],
        "detail": {"finished": "2026-11-20T12:01:00Z"},
    }


CRITERIA = [
    {"text": "scheduled for at least 30 min (this run: 0.2 min)", "reached": False},
    {"text": "no errors (this run: 0)", "reached": True},
]


def b_eff_io() -> list[Line]:
    return list(fresh(_b_eff_io()))


@cache
def _b_eff_io() -> bytes:
    lines = [run_line()]
    for access, rates in RATES.items():
        for pattern, rate in rates.items():
            lines += [
                measurement(access, pattern, position, rate * BY_POSITION[position - 1])
                for position in range(1, 8)
            ]
            where = {"partition": 0, "ranks": 2, "access": access, "pattern": pattern}
            detail = {"open_seconds": 0.25, "close_seconds": 0.25}
            lines.append(figure("type_bandwidth", rate * 4.0, where=where, detail=detail))
        where = {"partition": 0, "ranks": 2, "access": access}
        lines.append(figure("access_bandwidth", 100.0 * MB, where=where))
    judged: Line = {
        "valid": False,
        "reasons": ["not reached: scheduled for at least 30 min (this run: 0.2 min)"],
        "detail": {"criteria": [dict(c) for c in CRITERIA]},
    }
    lines.append(figure("write_average", 90.0 * MB, **judged))
    lines.append(figure("b_eff_io_partition", 300.0 * MB, **judged))
    lines.append(figure("b_eff_io", 300.0 * MB, **judged))
    lines.append(figure("balance_time", 28.6, "s"))
    lines.append(end())
    return kept(numbered(lines))


def two_partitions() -> list[Line]:
    """The same with a second partition of 4 ranks, whose cells have half the rate."""
    return list(fresh(_two_partitions()))


@cache
def _two_partitions() -> bytes:
    lines = b_eff_io()
    added: list[Line] = []
    for line in lines:
        if line.get("where", {}).get("partition") == 0 and line.get("name") != "b_eff_io":
            second = fresh(kept(line))
            second["where"] |= {"partition": 1, "ranks": 4}
            if second["kind"] == "measurement":
                second["ranks"] = 4
                second["rate"]["value"] /= 2
            elif second["metric"]["unit"] == "B/s":
                second["metric"]["value"] /= 2
            added.append(second)
    first_figure = next(i for i, line in enumerate(lines) if line.get("name") == "b_eff_io")
    return kept(numbered([*lines[:first_figure], *added, *lines[first_figure:]]))


HOSTILE = (
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=2</script>",
    '"><img src=x onerror=window.hacked=3>',
    "'-alert(1)-'",
    "<b onmouseover=window.hacked=4>bold</b>",
    "{{ 7 * 7 }} ${7*7} <%= 7 %>",
    "javascript:window.hacked=5",
    "&lt;i&gt; &amp;",
    "\u2028\u2029\u202etxt.exe",
    "\x1b[31mred\x1b]0;title\x07",
    '=HYPERLINK("http://x")',
    "$x_1$ \\frac{1}{2}",
    "%s %n {0} {}",
)


def hostile(text: str) -> list[Line]:
    """A result with a foreign text wherever texts of a result go."""
    lines = b_eff_io()
    run = lines[0]
    run["started"] = text
    run["command"] = ["effio-mpi", text]
    run["options"] = {text: text, "dir": text}
    run["system"]["node_names"] = [text]
    run["system"]["mpi"] = {
        "library": text,
        "name": text,
        "version": text,
        "standard": text,
        "environment": {text: text},
    }
    run["system"]["cpu"]["model"] = text
    run["system"]["kernel"]["distribution"] = text
    run["engine"] |= {"version": text, "revision": text, "compiler": text}
    run["backend"] = {"name": text, "settings": {text: text}}
    run["file_system"] |= {"path": text, "type": text, "source": text, "options": text}
    run["b-eff-io"] = {"cap_reason": text}
    for line in lines[1:]:
        if line["kind"] == "measurement":
            line |= {"hints_asked": {text: text}, "hints_granted": {text: text, "x": text}}
            line["stopped_by"] = "cap"
            line["cache"]["verdict"] = text
    failure = {"status": text, "operation": text, "cause": text, "path": text, "host": text}
    bad: Line = {"valid": False, "invalid_reason": text, "errors": [failure], "error_count": 1}
    lines.insert(1, measurement(text, text, 1, 1e6, **bad))
    lines[2] |= bad
    for line in lines:
        if line["kind"] == "figure":
            line["reasons"] = [text]
            line["detail"] = line["detail"] | {"criteria": [{"text": text, "reached": False}]}
    lines[-1] |= {"status": "io_error", "exit_code": 3, "reason": text, "errors": [failure]}
    return numbered(lines)


def numbered(lines: list[Line]) -> list[Line]:
    """Complete, with numbers, and no part of a line in another: a test may change one alone."""
    return [completed(line) | {"seq": i} for i, line in enumerate(lines)]


@lru_cache(20_000)
def _is_valid(text: str) -> bool:
    """Many tests write the same lines."""
    return is_valid_line(json.loads(text))


def _text(line: Line) -> str:
    # Without spaces, as the engine writes them: only such lines are read by the quick parser.
    return json.dumps(line, separators=(",", ":"))


def _complete(lines: list[Line], foreign: bool) -> list[Line]:
    whole = lines if foreign else [completed(line) for line in lines]
    return [{**line, "seq": line.get("seq", i)} for i, line in enumerate(whole)]


def _texts(whole: list[Line], foreign: bool) -> list[str]:
    """The lines as text. Those that no engine of this version writes are refused: a test of them
    would check what never happens. `foreign`: the test is about the lines of another writer."""
    texts = [_text(line) for line in whole]
    refused = [text for text in texts if not _is_valid(text)]
    assert bool(refused) == foreign, (
        f"the engine writes no such line: {fault_of_line(json.loads(refused[0]))} (and"
        f" {len(refused) - 1} more). Mend the line; a test of another writer's results says"
        " foreign=True"
        if refused
        else "marked as foreign, but each of the lines is as the engine writes it"
    )
    return texts


def checked(lines: list[Line], foreign: bool = False) -> list[Line]:
    """The lines, complete and numbered, of which the engine could write each. `foreign` lines stay
    as they are."""
    whole = _complete(lines, foreign)
    _texts(whole, foreign)
    return whole


def write(path: Path, lines: list[Line], foreign: bool = False) -> Path:
    """A result file of lines that pass `checked`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = _texts(_complete(lines, foreign), foreign)
    path.write_text("".join(f"{text}\n" for text in texts))
    return path


def mark(manifest: dict[str, Any]) -> None:
    """The mark of a run, in each of its data directories that is there; it keeps its birth."""
    sets = [*manifest["files"], *manifest.get("trees", [])]
    places = {one.get("directory", manifest["directory"]) for one in sets}
    for place in {manifest["directory"], *places}:
        path = Path(place) / f".effio-run-{manifest['token'][:16]}"
        if path.parent.is_dir():
            path.touch(0o600)
            path.write_text(json.dumps(manifest))
