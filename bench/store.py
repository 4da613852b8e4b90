# SPDX-License-Identifier: BSD-3-Clause
"""Ten thousand runs, generated: seconds until they are listed, and until a question is answered;
seconds until a run of 100,000 measurements is a page. Next to those of a Python that starts and
imports what the driver's command line needs."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from harness import ROOT, BenchError, Figures, Kit, Pair

RUNS = 10_000
# What a user waits for at most.
SECONDS = 2.0
# Of a write and a read each.
REPETITIONS = 50_000
SECONDS_OF_REPORT = 10.0
_QUESTION = (
    "SELECT axis_transfer, access, median(rate) FROM measurements WHERE valid GROUP BY ALL "
    "ORDER BY ALL"
)


def _spread(seconds: float) -> dict[str, float]:
    return {"min": seconds, "mean": seconds, "max": seconds}


def _run_line(started: str, transfer: int) -> dict[str, Any]:
    return {
        "schema": "effio-result/1.3", "kind": "run", "seq": 0, "benchmark": "ior",
        "started": started,
        "engine": {
            "program": "effio-mpi", "version": "0.1.0", "revision": "0", "compiler": "",
            "flags": "", "build_type": "Release", "mpi_built_with": "Open MPI v4.1.4",
        },
        "command": ["effio-mpi", "ior"], "options": {"transfer": transfer},
        "clock": {"virtual": False, "resolution_seconds": 1e-8},
        "system": {
            "ranks": 2, "nodes": 1, "ranks_per_node": {"min": 2, "max": 2},
            "node_names": ["node01"], "node_names_complete": True,
            "mpi": {"library": "Open MPI v4.1.4", "standard": "3.1", "environment": {}},
        },
        "file_system": {"path": "/data", "type": "ext4", "source": "/dev/a", "mount_point": "/"},
        "backend": {"name": "posix", "settings": {}},
    }  # fmt: skip


def _measurement(seq: int, access: str, repetition: int, rate: float) -> dict[str, Any]:
    seconds = {"open": _spread(0.001), "transfer": _spread(1.0), "close": _spread(0.001)}
    return {
        "schema": "effio-result/1.3", "kind": "measurement", "seq": seq, "benchmark": "ior",
        "pattern": "file per process", "access": access, "ranks": 2, "nodes": 1,
        "repetition": repetition, "bytes": int(rate), "operations": 256, "seconds": seconds,
        "total_seconds": 1.0, "rate": {"value": rate, "unit": "B/s", "better": "higher"},
        "valid": True, "where": {"transfer_bytes": 1 << 20}, "detail": {"tail_seconds": 0.01},
    }  # fmt: skip


def generate(root: Path, count: int) -> None:
    """Folders of runs of a sweep, as a campaign leaves them: four measurements each."""
    for number in range(count):
        minutes, second = divmod(number, 60)
        day, minute = divmod(minutes, 1440)
        stamp = f"202601{1 + day:02d}T{minute // 60:02d}{minute % 60:02d}{second:02d}Z"
        point, repetition = divmod(number, 10)
        transfer = 1 << (10 + point % 12)
        name = f"{stamp}-ior-sweep-bulk-{point:08x}-r{repetition}"
        folder = root / name
        folder.mkdir()
        lines = [_run_line("2026-01-01T00:00:00Z", transfer)]
        for seq in range(4):
            access = "read" if seq % 2 else "write"
            lines.append(_measurement(seq + 1, access, seq // 2, 1e6 * (number + 1)))
        end = {"status": "done", "exit_code": 0, "total_seconds": 4.0}
        lines.append({"schema": "effio-result/1.3", "kind": "end", "seq": 5, **end})
        texts = [json.dumps(line, separators=(",", ":")) for line in lines]  # as the engine does
        (folder / "result.jsonl").write_text("".join(f"{text}\n" for text in texts))
        record = {
            "schema": "effio-run/1", "id": name, "created": "2026-01-01T00:00:00Z",
            "benchmark": "ior", "arguments": [], "directory": "/", "command": [],
            "campaign": {
                "name": "sweep", "step": "bulk", "point": f"{point:08x}",
                "repetition": repetition, "axes": {"transfer": transfer}, "tags": ["nightly"],
            },
            "outcome": {"status": "done", "exit_code": 0},
        }  # fmt: skip
        (folder / "run.json").write_text(json.dumps(record))
        digest = hashlib.sha256((folder / "result.jsonl").read_bytes()).hexdigest()
        (folder / "SHA256SUMS").write_text(f"{digest}  result.jsonl\n")


def _seconds(words: list[str], environment: dict[str, str]) -> float:
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        raise BenchError(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return seconds


class _Runs:
    """Made when they are needed first, and indexed once before anything is timed."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._root = kit.memory / "store"
        self._large = kit.memory / "large.jsonl"
        self._environment = {
            "PYTHONPATH": str(ROOT / "driver"),
            "XDG_CACHE_HOME": str(kit.memory / "cache"),
            "COLUMNS": "120",
        }

    def call(self, figure: str, *words: str) -> Figures:
        command = ["-m", "effio", "--runs", str(self._root), *words]
        if not self._root.exists():
            self._root.mkdir()
            generate(self._root, RUNS)
            _seconds([*command[:4], "runs", "--last", "1"], self._environment)
        return {figure: _seconds(command, self._environment)}

    def report(self, figure: str) -> Figures:
        if not self._large.exists():
            sizes = ("--block=4KiB", "--transfer=4KiB", f"--repetitions={REPETITIONS}")
            asked = ("ior", "--backend=null", *sizes, "--result", self._large)
            self._kit.launch([self._kit.engine, *asked], ranks=1)
        page = self._kit.memory / "large.html"
        words = ["-m", "effio", "report", str(self._large), "-o", str(page)]
        return {figure: _seconds(words, self._environment)}

    def bare(self, figure: str, modules: str) -> Figures:
        return {figure: _seconds(["-c", f"import {modules}"], self._environment)}


def pairs(kit: Kit) -> list[Pair]:
    runs = _Runs(kit)
    return [
        Pair(
            "store list",
            f"What does it take to list {RUNS} runs?",
            partial(runs.call, "seconds", "runs"),
            partial(runs.bare, "seconds", "effio.cli.main, rich.console"),
            "s",
            at_most=SECONDS,
        ),
        Pair(
            "store query",
            f"What does a question to {RUNS} runs take?",
            partial(runs.call, "seconds", "query", _QUESTION, "--csv"),
            partial(runs.bare, "seconds", "effio.cli.main, duckdb"),
            "s",
            at_most=SECONDS,
        ),
        Pair(
            "store report",
            f"What does a page about {2 * REPETITIONS} measurements take?",
            partial(runs.report, "seconds"),
            partial(runs.bare, "seconds", "effio.cli.main"),
            "s",
            at_most=SECONDS_OF_REPORT,
            rounds=3,
        ),
    ]
