# SPDX-License-Identifier: BSD-3-Clause
"""Do two builds of the engine write the same? For changes that should move code and no number.

    PYTHONPATH=tests python tests/differential/same_results.py BEFORE AFTER [BENCHMARK…]

BEFORE and AFTER are programs `effio-mpi` of the same MPI library. Every benchmark runs with each of
them, in virtual time where it has it, with a fixed seed, and with options that fill the members of
results that are rarely there. Compared are all lines of the result files as bytes and the text on
the console. BEFORE runs twice: what differs between its own two runs, and what the operating
system counts or the clock shows, is masked, and the number of such values is shown. The exit code
is 1 if anything else differs."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engines import Engine, find_engines

SIM = "--backend sim --backend-options latency=0.3ms,rank-rate=0.7GB/s"
MESSAGES = "--backend sim --backend-options message-latency=100us,message-rate=1GB/s"
LINES = {
    "ior": [
        f"{SIM} --block 64KiB --transfer 16KiB --repetitions 2 --verify write,read --rank-details",
        f"{SIM} --block 1MiB --transfer 64KiB --repetitions 5 --stonewall 5ms --wear-out --slowest",
        f"{SIM} --block 1MiB --transfer 4KiB,64KiB --mix-read 50 --files per-process --segments 2"
        " --order random --rate-limit 1MiB/s",
        f"{SIM} --block 4MiB --transfer 64KiB --steady --steady-slice 10ms",
        f"{SIM} --block 256KiB --transfer 64KiB --until-ci 5% --until-ci-limit 2s --collective",
    ],
    "mdtest": [
        "--backend sim --backend-options metadata=1ms --items 4 --iterations 5 --verify"
        " --write-bytes 4KiB --rank-details",
        "--backend sim --items 400 --stonewall 20ms --rank-shift 1",
        "--backend sim --items 20 --also list,find --unique --until-ci 5% --until-ci-limit 1s",
    ],
    "flash-io": [
        f"{SIM} --cells 8 --blocks 2 --repetitions 2 --read all --dumps 2",
        f"{SIM} --cells 4 --blocks 1 --access independent --dumps 3",
    ],
    "b-eff-io": [
        "--backend sim --backend-options rank-rate=1GB/s --time 2s --memory-per-rank 128MiB"
        " --partitions 1,2 --max-bytes 400MiB",
        "--backend sim --backend-options rank-rate=1GB/s --time 1s --memory-per-rank 1MiB"
        " --partitions 2 --rounds 2 --rewrite --verify full --fill random",
    ],
    "b-eff": [
        f"{MESSAGES} --seed 1 --memory-per-rank 1MiB --quick --rounds 2 --call-times",
        f"{MESSAGES} --seed 1 --memory-per-rank 1MiB --quick --pairs all --verify all",
    ],
    "rings": [
        f"{MESSAGES} --seed 1 --latency-time 10ms --bandwidth-time 10ms --rmax 100 --rounds 2",
        f"{MESSAGES} --seed 1 --latency-time 10ms --bandwidth-time 10ms --verify all",
    ],
    "libraries": [
        "--libraries null --edges 8 --read off --repetitions 5",
    ],
    "io-bench": [
        f"{SIM} --size 256KiB --block 64KiB --copies 1,2 --peak measured --repetitions 5",
        f"{SIM} --size 256KiB --block 64KiB --copies 1,2 --peak 1GB/s --until-ci 5%",
    ],
    "spiobench": [f"{SIM} --task-size 512KiB --block 64KiB --peak measured --repetitions 2"],
    "ssca3": [
        f"{SIM} --grid 2 --depth 2 --sequences 2 --raw-size 8KiB --image-size 8KiB"
        " --template-size 4KiB --detections 1 --templates 1 --repetitions 2",
    ],
    "tile-io": [f"{SIM} --sz-tile-x 64 --sz-tile-y 64 --repetitions 2"],
    "pio": [f"{SIM} --size 64KiB --buffer 16KiB --repetitions 2"],
    "partest": [
        f"{SIM} --size 256KiB --call 64KiB --double-write --repetitions 2"
        " --methods task-local,shared",
        f"{SIM} --size 64KiB --call 16KiB --random-size 0.5 --methods sion",
    ],
    "saturation": [f"{SIM} --size 256KiB --transfer 16KiB --processes 1,2"],
    "overlap": [
        f"{SIM} --transfer 64KiB --repetitions 5 --work-time 1ms",
        f"{SIM} --transfer 64KiB --repetitions 1 --work-time 1ms --phases write --poll 4",
    ],
    "interference": [
        "--rounds 2 --group '1: ior --backend sim --block 64KiB --transfer 16KiB'"
        " --group '1: mdtest --backend sim --backend-options metadata=1ms --items 4'",
    ],
    "probe": [f"{SIM} --size 256KiB --reads 8 --names 4 --memory 64KiB --time 1ms"],
}
# Of the machine and not of the run.
MASKED = (
    *("started", "finished", "process_written_bytes", "process_read_bytes"),
    *("revision", "resolution_seconds", "call_timing_seconds", "offset_seconds", "drift"),
)
WITHOUT_FILES = ("b-eff", "rings", "interference")


def written(engine: Engine, program: Path, words: list[str], place: Path) -> list[str]:
    """All lines of the result files, then those of the console."""
    shutil.rmtree(place, ignore_errors=True)
    (place / "data").mkdir(parents=True)
    done = subprocess.run(
        engine.command(words, program=program),
        cwd=place,
        env=engine.environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    results = sorted(place.rglob("*.jsonl"))
    lines = [line for path in results for line in path.read_text().splitlines()]
    text = done.stdout + done.stderr
    for number, path in enumerate(results):
        text = text.replace(path.name, f"result-{number}")
    return [*lines, f"exit code {done.returncode}", *text.splitlines()]


def values_of(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from values_of(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from values_of(inner, f"{path}[{number}]")
    else:
        yield path, value


def parsed(line: str) -> list[tuple[str, Any]]:
    if line.startswith("{"):
        return list(values_of(json.loads(line)))
    return [(str(number), word) for number, word in enumerate(line.split())]


def differences(once: list[str], twice: list[str], after: list[str]) -> tuple[list[str], int]:
    """What differs between `once` and `after`, and how many values were masked because they differ
    between `once` and `twice`."""
    if len(once) != len(after) or len(once) != len(twice):
        return [f"{len(once)}, again {len(twice)}, then {len(after)} lines"], 0
    found, masked = [], 0
    for a, b, c in zip(once, twice, after, strict=True):
        if a == b == c:
            continue
        was, again, now = parsed(a), parsed(b), parsed(c)
        if [path for path, _ in was] != [path for path, _ in now]:
            found += [f"- {a[:2000]}", f"+ {c[:2000]}"]
            continue
        if len(was) != len(again):
            masked += len(was)
            continue
        for (path, x), (_, y), (_, z) in zip(was, again, now, strict=True):
            machine = path.rpartition(".")[2] in MASKED
            masked += x != y or machine
            if x == y != z and not machine:
                found.append(f"{path}: {x} became {z}")
    return found, masked


def main() -> int:
    before, after = (Path(word).resolve() for word in sys.argv[1:3])
    engine = find_engines()["openmpi-ompio"]
    failed = 0
    place = Path(tempfile.mkdtemp()) / "run"
    for benchmark in sys.argv[3:] or LINES:
        for line in LINES[benchmark]:
            words = [benchmark, *shlex.split(line), "--progress", "none"]
            if benchmark not in WITHOUT_FILES:
                words += ["--dir", "data"]
            runs = [written(engine, p, words, place) for p in (before, before, after)]
            found, masked = differences(*runs)
            code = next(text for text in runs[0] if text.startswith("exit code"))
            print(f"{benchmark}: {len(runs[0])} lines, {masked} masked, {code}: {line}", flush=True)
            if code != "exit code 0":
                print("\n".join(text for text in runs[0] if "effio-mpi" in text))
                found.append("a run that does not end in order compares nothing")
            print("".join(f"  {text}\n" for text in found[:20]), end="")
            failed += bool(found)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
