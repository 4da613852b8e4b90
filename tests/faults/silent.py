# SPDX-License-Identifier: BSD-3-Clause
"""Which benchmarks find data that storage changes without an error: one call of a rank, drawn at
random, goes wrong, and the run has to notice. As a program it tries all of it and writes the counts
(silent.json), which docs/safety.md shows:

    PYTHONPATH=tests python tests/faults/silent.py FLAVOR BACKEND [TRIES [BENCHMARK ...]]
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from engines import Engine, Run, find_engines

COUNTS = Path(__file__).with_name("silent.json")


class Fault(NamedTuple):
    """What goes wrong in one call."""

    what: str
    call: str
    kind: str


FAULTS = {
    "bit in a write": Fault("a bit flips on the way to the file", "write", "bit={byte}"),
    "swapped writes": Fault("two writes land in each other's place", "write", "swap"),
    "dropped write": Fault("a write is dropped", "write", "stale"),
    "half a write": Fault("half of a write is dropped", "write", "lost"),
    "bit in a read": Fault("a bit flips on the way from the file", "read", "bit={byte}"),
    "stale read": Fault("a read leaves the memory as it was", "read", "stale"),
    "half a read": Fault("half of a read leaves the memory as it was", "read", "lost"),
}

# Small runs with all verification on; 2 ranks.
BENCHMARKS = {
    "b-eff-io": "--time 0s --memory-per-rank 1MiB --partitions 2 --verify full --fill random",
    "ior": "--block 64KiB --transfer 16KiB --repetitions 2 --verify inside",
    "io-bench": "--size 256KiB --block 64KiB --copies 2",
    "spiobench": "--task-size 256KiB --block 64KiB --tasks 2",
    "ssca3": "--grid 2 --depth 2 --sequences 4 --detections 2 --templates 2 --raw-size 16KiB "
    "--image-size 8KiB --template-size 4KiB",
    "saturation": "--size 256KiB --transfer 64KiB --processes 2 --repetitions 1",
    "pio": "--size 64KiB --buffer 16KiB --spatial simple-strided,tiled",
    "tile-io": "--sz-tile-x 64 --sz-tile-y 64 --by row --repetitions 2",
    "partest": "--ways task-local,shared --size 64KiB --call 16KiB",
    "overlap": "--transfer 64KiB --ways blocking --repetitions 2 --work-time 1ms",
}


@dataclass(frozen=True)
class Setting:
    """Where the runs are made."""

    engine: Engine
    backend: str
    place: Path

    def run(self, benchmark: str, fault: str, *more: str) -> Run:
        """With `fault` as faulty_calls.c takes it, on rank 1 and the files of data alone."""
        data = Path(tempfile.mkdtemp(dir=self.place, prefix="data-"))
        shim = self.engine.build / "tests" / "faults" / "effio_faulty_calls.so"
        assert shim.exists(), f"{shim} is not built"
        log = self.place / "strikes"
        log.unlink(missing_ok=True)
        prefix = [
            *("env", f"LD_PRELOAD={shim}", f"EFFIO_FAULT={fault},rank=1,in={data}/"),
            f"EFFIO_FAULT_LOG={log}",
        ]
        words = [benchmark, *BENCHMARKS[benchmark].split(), *self.backend_words(benchmark)]
        words += ["--quiet", "--dir", str(data), "-o", str(data.with_suffix(".jsonl")), *more]
        return self.engine.run(words, self.place, prefix=prefix)

    def backend_words(self, benchmark: str) -> list[str]:
        return [] if benchmark == "overlap" else ["--backend", self.backend]

    def strikes(self) -> int:
        log = self.place / "strikes"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def calls(self, benchmark: str, call: str) -> int:
        """How many such calls rank 1 makes where nothing goes wrong; the run has to find nothing:
        the positive control of everything else."""
        run = self.run(benchmark, f"{call},count")
        assert run.code == 0, run
        return self.strikes()

    def found(self, benchmark: str, fault: Fault, calls: int, draw: random.Random) -> bool:
        """Whether a fault in a call drawn at random was found."""
        nth = draw.randrange(calls) + 1
        kind = fault.kind.format(byte=draw.randrange(1 << 30))
        run = self.run(benchmark, f"{fault.call},{kind},nth={nth}")
        assert self.strikes() > 0, f"the fault never came to pass\n{run}"
        if run.code == 0 and os.environ.get("EFFIO_SILENT_VERBOSE"):
            print(f"missed: {benchmark}: {fault.call},{kind},nth={nth}", flush=True)
        return run.code in (1, 3)


def table(counts: dict[str, dict[str, dict[str, list[int]]]]) -> str:
    """The counts as docs/safety.md shows them: found of tried."""
    lines = []
    for setting, rows in counts.items():
        lines += [
            f"| {setting} | {' | '.join(FAULTS)} |",
            f"|---|{'--:|' * len(FAULTS)}",
        ]
        for benchmark, row in rows.items():
            cells = (f"{row[f][0]} of {row[f][1]}" if f in row else "–" for f in FAULTS)
            lines.append(f"| {benchmark.replace('-', '_')} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def measure(setting: Setting, benchmark: str, tries: int) -> dict[str, list[int]]:
    row = {}
    calls = {call: setting.calls(benchmark, call) for call in ("write", "read")}
    for name, fault in FAULTS.items():
        if calls[fault.call] == 0:
            continue
        draw = random.Random(f"{benchmark}: {name}")
        some = [setting.found(benchmark, fault, calls[fault.call], draw) for _ in range(tries)]
        row[name] = [sum(some), tries]
    return row


def main(flavor: str, backend: str, tries: int, *benchmarks: str) -> None:
    counts = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    rows = counts.setdefault(f"{flavor}, {backend}", {})
    for benchmark in benchmarks or BENCHMARKS:
        with tempfile.TemporaryDirectory() as place:
            rows[benchmark] = measure(
                Setting(find_engines()[flavor], backend, Path(place)), benchmark, tries
            )
        print(benchmark, rows[benchmark], flush=True)
        COUNTS.write_text(json.dumps(counts, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3] if len(sys.argv) > 3 else 10), *sys.argv[4:])
