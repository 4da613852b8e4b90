# SPDX-License-Identifier: BSD-3-Clause
"""Runs of every benchmark with as little to do for each rank as there can be, and what each rank
needs for it: steps that all take together, messages, memory (counted_calls.c).

PYTHONPATH=tests python tests/scale/counted.py BUILD RANKS[,…] [BENCHMARK,…] prints the rows of the
table in docs/scale.md: a value for each number of ranks, or one if all are the same."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from engines import Engine, Run, find_engines
from fields import FIELDS, from_text
from patience import SECONDS

NAMES = list(from_text(FIELDS.read_text()))
# Of a benchmark that is not among them, the least that is not real I/O.
OTHERS = "--backend null"
# {P} means the number of ranks, {half} for half of it: where it is an axis, it has this one
# value. What takes real time has virtual time here, or none.
RUNS = {
    "b-eff-io": "--backend sim --backend-options rank-rate=1GB/s --time 0s --memory-per-rank 1MiB"
    " --partitions {P}",
    "b-eff": "--backend sim --backend-options message-latency=1us,message-rate=1GB/s --seed 1"
    " --memory-per-rank 1MiB --repetitions 1 --random-patterns 1 --loop-time 1us"
    " --patterns counting --methods sendrecv",
    "rings": "--backend sim --backend-options message-latency=10ms,message-rate=100MB/s --seed 1"
    " --ring-time 1us",
    "ior": "--backend null --block 64KiB --transfer 16KiB --repetitions 2",
    "flash-io": "--backend null --cells 4 --blocks 1",
    "mdtest": "--backend sim --items 4",
    "libraries": "--libraries null --edges 4 --processes {P} --hint-sets none --read off",
    "io-bench": "--backend null --size 64KiB --block 16KiB --copies {P}",
    "spiobench": "--backend null --task-size 64KiB --block 16KiB --tasks {P}",
    "ssca3": "--backend null --pipelines private --grid 2 --depth 2 --sequences 1 --detections 1"
    " --templates 1 --raw-size 4KiB --image-size 4KiB --template-size 4KiB",
    "tile-io": "--backend null --sz-tile-x 16 --sz-tile-y 16",
    "pio": "--backend null --size 64KiB --buffer 16KiB --spatial segmented,simple-strided"
    " --temporal write,read",
    "partest": "--backend null --methods task-local --size 64KiB --call 16KiB --tasks {P}",
    "saturation": "--backend null --size 64KiB --transfer 16KiB --processes {P} --repetitions 1",
    "overlap": "--backend sim --backend-options latency=10ms,rank-rate=0 --transfer 16KiB"
    " --work-time 20ms --phases write --repetitions 2",
    "interference": "--rounds 2 --group '{half}: ior --backend sim --block 64KiB --transfer 16KiB'"
    " --group '{half}: ior --backend sim --block 32KiB --transfer 16KiB'",
    "probe": "--backend null --size 64KiB --reads 4 --names 2 --memory 64KiB --time 1ms",
}


@dataclass(frozen=True)
class Rank:
    """What one rank needed; counted_calls.c says what the numbers are."""

    calls: int
    sent: int
    gathered: int
    heap: int
    lists: int
    resident: int


@dataclass(frozen=True)
class Counted:
    """A run and what its ranks needed."""

    run: Run
    ranks: list[Rank]

    @property
    def result_bytes(self) -> int:
        return self.run.result.path.stat().st_size

    @property
    def result_lines(self) -> int:
        return self.run.result.path.read_bytes().count(b"\n")

    def most(self, name: str) -> int:
        return max(int(getattr(rank, name)) for rank in self.ranks)


def _rank(path: Path) -> Rank:
    numbers = {"calls": 0}
    for line in path.read_text().splitlines():
        *words, number = line.split()
        if words[0] == "call":
            numbers["calls"] += int(number)
        else:
            numbers[words[0]] = int(number)
    return Rank(**numbers)


def count(
    engine: Engine, benchmark: str, ranks: int, place: Path, timeout: float = SECONDS
) -> Counted:
    shim = engine.build / "tests" / "scale" / "effio_counted_calls.so"
    assert shim.exists(), f"{shim} is not built"
    place.mkdir()
    words = shlex.split(RUNS.get(benchmark, OTHERS).format(P=ranks, half=ranks // 2))
    run = engine.run(
        [benchmark, *words, "--quiet", "--watchdog", "0s"],
        place,
        ranks=ranks,
        timeout=timeout,
        prefix=["env", f"LD_PRELOAD={shim}", f"EFFIO_COUNTS={place}/counts"],
    )
    assert run.code == 0, run
    return Counted(run, [_rank(place / f"counts.{rank}") for rank in range(ranks)])


def main() -> None:
    os.environ["EFFIO_TEST_ENGINES"] = f"openmpi={Path(sys.argv[1]).resolve()}"
    found = find_engines()["openmpi-ompio"]
    engine = Engine(found.name, found.build, found.mpiexec, found.flags, max_ranks=1 << 20)
    for benchmark in sys.argv[3].split(",") if len(sys.argv) > 3 else NAMES:
        rows = []
        for ranks in map(int, sys.argv[2].split(",")):
            with tempfile.TemporaryDirectory() as place:
                c = count(engine, benchmark, ranks, Path(place) / "run", timeout=3600)
            rows.append(
                (
                    f"{c.most('calls'):,}",
                    f"{c.most('lists') / 1000:.1f}",
                    f"{c.most('resident') / 1024:.1f}",
                    f"{c.result_bytes / 1000:.1f}",
                )
            )
        cells = (one[0] if len({*one}) == 1 else "; ".join(one) for one in zip(*rows, strict=True))
        print(f"| {benchmark} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
