# SPDX-License-Identifier: BSD-3-Clause
"""What a plan states is what a run does: bytes written and read, files, and bytes on storage. Its
members are those that the engine describes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema

from engines import Engine
from fields import FIELDS, from_text, plan_schema

MESSAGES = "message-latency=100us,message-rate=1GB/s"
# Small sizes; a benchmark that is not here runs with its defaults.
SMALL: dict[str, list[str]] = {
    "b-eff-io": ["--time=2s", "--memory-per-rank=128MiB", "--partitions=2", "--max-bytes=80MiB"],
    "b-eff": [
        *("--memory-per-rank=1MiB", "--loop-time=1ms", f"--backend-options={MESSAGES}"),
    ],
    "rings": ["--latency-time=1ms", f"--backend-options={MESSAGES}"],
    "ior": ["--block=256KiB", "--transfer=64KiB", "--repetitions=2", "--files=per-process"],
    "flash-io": ["--cells=8", "--blocks=2", "--repetitions=2", "--read=all", "--dumps=2"],
    "mdtest": ["--items=6", "--write-bytes=4KiB"],
    "libraries": ["--edges=8", "--libraries=posix,posix-fpp", "--hint-sets=none"],
    "io-bench": ["--size=256KiB", "--block=64KiB", "--copies=1,2", "--peak=measured"],
    "spiobench": ["--size=512KiB", "--block=64KiB", "--peak=measured"],
    "ssca3": ["--grid=2", "--depth=2", "--sequences=2", "--raw-size=8KiB", "--image-size=8KiB"],
    "tile-io": ["--sz-tile-x=64", "--sz-tile-y=64"],
    "pio": ["--size=64KiB", "--buffer=16KiB", "--repetitions=2"],
    "partest": ["--size=256KiB", "--call=64KiB", "--double-write"],
    "saturation": ["--size=64KiB", "--transfer=16KiB"],
    "overlap": [
        *("--transfer=64KiB", "--repetitions=2", "--work-time=1ms", "--methods=blocking,thread")
    ],
    "interference": [
        *("--rounds=1", "--group", "1: ior --block 64KiB --transfer 64KiB --dir {dir}"),
        *("--group", "1: mdtest --items 2 --write-bytes 4KiB --dir {dir}"),
    ],
    "probe": ["--size=64KiB", "--reads=4", "--names=3", "--time=1ms", "--repetitions=2"],
}
# In virtual time: their loops fill a time.
MODELED = ("b-eff-io", "b-eff", "rings")
# They keep no files.
REMOVING = (*MODELED, "interference", "probe", "mdtest")


def moved(measurements: list[dict[str, Any]]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for m in measurements:
        # The operation alone, which the record compares with the one next to a computation.
        bytes_ = m["bytes"] * (2 if m["benchmark"] == "overlap" else 1)
        if "modify" in m["access"]:
            sums["written"] += bytes_ // 2
            sums["read"] += bytes_ // 2
        else:
            sums["read" if "read" in m["access"] else "written"] += bytes_
    return sums


def command(name: str, data: Path) -> list[str]:
    words = [name, *(w.replace("{dir}", str(data)) for w in SMALL.get(name, []))]
    if name in MODELED:
        return [*words, "--backend=sim"]
    if name not in REMOVING:
        words.append("--keep")
    return words if name == "interference" else [*words, "--dir", str(data)]


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """The measurements of the result in this folder."""
    lines = [json.loads(x) for p in folder.glob("*.jsonl") for x in p.read_text().splitlines()]
    return [m for m in lines if m["kind"] == "measurement"]


def faults_of(engine: Engine, name: str, place: Path) -> list[str]:
    data = place / "data"
    data.mkdir(parents=True)
    words = command(name, data)
    rates = ["--plan-rate=100MB/s"] if name in MODELED else []
    reported = engine.alone([*words, "--plan-json", "--plan-ranks=2", *rates], place)
    assert reported.code == 0, reported
    whole = json.loads(reported.stdout)
    schema = plan_schema(from_text(FIELDS.read_text())[name])
    faults = [
        f"{name}: {fault.json_path}: {fault.message}"
        for fault in jsonschema.Draft202012Validator(schema).iter_errors(whole)
    ]
    plan = whole["estimate"]
    run = engine.run([*words, "--quiet"], place)
    assert run.code == 0, run
    measured = [] if name in ("b-eff", "rings") else lines_of(place)
    for what, found in (("written", 0), ("read", 0), *moved(measured).items()):
        if (what, found) == (what, 0) and what in moved(measured):
            continue
        warm_up = plan[f"warm_up_bytes_{what}"]
        least, most = (plan[f"bytes_{what}"][n] - warm_up for n in ("least", "most"))
        if name == "flash-io" and what == "read":
            least *= 0.99  # headers are not read in whole
        if not least <= found <= most:
            faults.append(f"{name}: {found} {what}, planned {least} to {most}")
    if name not in REMOVING:
        kept = [p for p in data.rglob("*") if p.is_file()]
        size = sum(p.stat().st_size for p in kept)
        if len(kept) != plan["files"]:
            faults.append(f"{name}: {len(kept)} files, planned {plan['files']}")
        # Containers and libraries have their own headers.
        if not 0.99 * plan["bytes_on_storage"] <= size <= plan["bytes_on_storage"] + (64 << 10):
            faults.append(f"{name}: {size} on storage, planned {plan['bytes_on_storage']}")
    seconds = plan["seconds"]
    if not 0 < seconds["least"] <= seconds["expected"] <= seconds["most"] or not plan["assumes"]:
        faults.append(f"{name}: {seconds}, if {plan['assumes']}")
    return faults


def test_every_plan_states_what_the_run_does(any_engine: Engine, tmp_path: Path) -> None:
    names = any_engine.alone(["list"], tmp_path).stdout.split()
    assert len(names) >= len(SMALL)
    faults = [fault for name in names for fault in faults_of(any_engine, name, tmp_path / name)]
    assert not faults, "\n".join(faults)
