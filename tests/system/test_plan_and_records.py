# SPDX-License-Identifier: BSD-3-Clause
"""What effio makes of a plan is what the run does: bytes written and read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from effio.campaign.planned import moved
from engines import Engine

MESSAGES = "message-latency=100us,message-rate=1GB/s"
# Small sizes; a benchmark that is not here runs with its defaults.
SMALL: dict[str, list[str]] = {
    "b-eff-io": ["--time=1s", "--memory-per-rank=1MiB", "--partitions=2"],
    "b-eff": ["--memory-per-rank=1MiB", f"--backend-options={MESSAGES}"],
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
    "overlap": ["--transfer=64KiB", "--repetitions=2", "--work-time=1ms", "--ways=blocking,thread"],
    "interference": [
        *("--rounds=1", "--group", "1: ior --block 64KiB --transfer 64KiB --dir {dir}"),
        *("--group", "1: mdtest --items 2 --write-bytes 4KiB --dir {dir}"),
    ],
    "probe": ["--size=64KiB", "--reads=4", "--names=3", "--time=1ms", "--repetitions=2"],
}
# In virtual time: their loops fill a time.
MODELLED = ("b-eff-io", "b-eff", "rings")


def recorded(measurements: list[dict[str, Any]]) -> dict[str, int]:
    sums = {"written": 0, "read": 0}
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
    if name in MODELLED:
        return [*words, "--backend=sim"]
    return words if name == "interference" else [*words, "--dir", str(data)]


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """The measurements of the result in this folder."""
    lines = [json.loads(x) for p in folder.glob("*.jsonl") for x in p.read_text().splitlines()]
    return [m for m in lines if m["kind"] == "measurement"]


def faults_of(engine: Engine, name: str, place: Path) -> list[str]:
    data = place / "data"
    data.mkdir(parents=True)
    words = command(name, data)
    rates = ["--plan-rate=100MB/s"] if name in MODELLED else []
    told = engine.alone([*words, "--plan-json", "--plan-ranks=2", *rates], place)
    assert told.code == 0, told
    given = dict(w[2:].split("=", 1) for w in words if w.startswith("--") and "=" in w)
    options = {"repetitions": int(given.get("repetitions", "1"))}
    written, read = moved(options, json.loads(told.stdout))
    run = engine.run([*words, "--quiet"], place)
    if run.code != 0:
        return [f"{name}: {run}"]
    if name in ("b-eff", "rings"):  # they move messages
        return [] if (written, read) == (None, None) else [f"{name}: {written}, {read}"]
    faults = []
    found = recorded(lines_of(place))
    for what, planned in (("written", written), ("read", read)):
        # Loops that fill a time depend on the rate; headers are not read in whole.
        factor = 2 if name in MODELLED else 1.01 if name == "flash-io" else 1
        if planned is None or not planned / factor <= found[what] <= planned * factor:
            faults.append(f"{name}: {found[what]} {what}, planned {planned}")
    return faults


def test_every_plan_states_what_the_run_does(any_engine: Engine, tmp_path: Path) -> None:
    names = any_engine.alone(["list"], tmp_path).stdout.split()
    assert len(names) >= len(SMALL)
    faults = [fault for name in names for fault in faults_of(any_engine, name, tmp_path / name)]
    assert not faults, "\n".join(faults)
