# SPDX-License-Identifier: BSD-3-Clause
"""Large stores made from a few real results on the model `sim`: ten thousand runs of a campaign, a
result of a hundred thousand measurements, a campaign of ten thousand points (docs/scale.md).

PYTHONPATH=driver:tests python tests/scale/stores.py ENGINE PLACE [RUNS] writes PLACE/runs,
PLACE/wide.jsonl and PLACE/sweep.toml."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from effio.campaign.order import Asked, Study, study_of
from effio.campaign.points import Unit
from effio.campaign.state import CampaignFolder
from effio.engine.program import Engine
from effio.launch.launchers import Ranks
from effio.store.all_runs import Store
from effio.store.folder import ENVIRONMENT, RECORD, RESULT, SUMS
from effio.store.run_record import CampaignPart, Outcome, RunRecord
from patience import SECONDS

CAMPAIGN = "sweep"
_FIRST = datetime(2026, 1, 1, tzinfo=timezone.utc)
_STEPS = {"bulk": ("ior", 9), "names": ("mdtest", 1)}  # name: benchmark, parts of ten of the points
_OPTIONS = {
    "ior": {"backend": "sim", "block": "1MiB", "repetitions": 2},
    "mdtest": {"backend": "sim", "items": 4},
}


def campaign_text(points: int) -> str:
    """A campaign with this many points in two steps; `points` is a multiple of 100."""
    assert points % 100 == 0
    lines = [
        f'title = "Sweep of {points} points"',
        'purpose = "a large campaign on the model"',
        f"points_at_most = {points}",
    ]
    for name, (benchmark, parts) in _STEPS.items():
        axis = "order-seed" if benchmark == "ior" else "seed"
        lines += ["", "[[step]]", f'name = "{name}"', f'benchmark = "{benchmark}"']
        lines += ["[step.options]"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in _OPTIONS[benchmark].items()]
        many = points * parts // 10 // 10
        lines += ["[step.sweep]", f"{axis} = {list(range(1, many + 1))}"]
        if benchmark == "ior":
            lines += [f"segments = {list(range(1, 11))}"]
        else:
            lines += [f"iterations = {list(range(1, 11))}"]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Source:
    """A real result and what the engine printed."""

    lines: Sequence[dict[str, Any]]
    output: str


def _line(values: dict[str, Any]) -> str:
    return json.dumps(values, separators=(",", ":")) + "\n"


def measured(engine: Path, benchmark: str, place: Path) -> Source:
    """One rank, without a launcher, in the virtual time of `sim`."""
    place.mkdir(parents=True, exist_ok=True)
    result = place / f"{benchmark}.jsonl"
    options = [f"--{name}={value}" for name, value in _OPTIONS[benchmark].items()]
    done = subprocess.run(
        [engine, benchmark, *options, f"--dir={place}", "--result", result],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Source([json.loads(line) for line in result.open()], done.stdout)


def study(file: Path, engine: Path) -> Study:
    return study_of(file, Asked(ranks=1), Engine(engine, "of the test"), lambda: Ranks(1))


def _texts(source: Source, unit: Unit, name: str, started: datetime) -> Iterator[tuple[str, str]]:
    stamp = started.strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = [{**source.lines[0], "started": stamp}, *source.lines[1:]]
    yield RESULT, "".join(map(_line, lines))
    point = unit.point
    record = RunRecord(
        schema="effio-run/1",
        id=name,
        created=stamp,
        benchmark=point.step.benchmark,
        arguments=list(point.words()),
        directory="/",
        command=["mpiexec", "-n", "1", "effio-mpi", point.step.benchmark, *point.words()],
        campaign=CampaignPart(
            name=CAMPAIGN,
            step=point.step.name,
            point=point.id,
            repetition=unit.repetition,
            axes=point.axes,
        ),
        outcome=Outcome(status="done", exit_code=0, finished=stamp, seconds=1.0),
    )
    yield RECORD, json.dumps(record.model_dump(by_alias=True), indent=2) + "\n"
    yield ENVIRONMENT, '{\n  "LANG": "C.UTF-8"\n}\n'
    yield "stdout.log", source.output
    yield "stderr.log", ""


def write_runs(root: Path, of: Study, engine: Path, sources: Mapping[str, Source]) -> None:
    """A sealed folder for each run of the campaign, a second apart, and what the campaign was
    called with."""
    root.mkdir(parents=True)
    folder = CampaignFolder(Store(root), CAMPAIGN)
    folder.keep(of.called(Engine(engine, "of the test")), of.file.text)
    for number, unit in enumerate(of.units):
        benchmark = unit.point.step.benchmark
        started = _FIRST + timedelta(seconds=number)
        name = f"{started:%Y%m%dT%H%M%SZ}-{benchmark}-{folder.label(unit)}"
        run = root / name
        run.mkdir()
        sums = ""
        for file, text in _texts(sources[benchmark], unit, name, started):
            (run / file).write_text(text)
            sums += f"{hashlib.sha256(text.encode()).hexdigest()}  {file}\n"
        (run / SUMS).write_text(sums)


def write_wide(path: Path, source: Source, measurements: int) -> None:
    """One result: those of `source` again and again, each time with another block size."""
    repeated = [line for line in source.lines if line["kind"] == "measurement"]
    first, last = source.lines[0], source.lines[-1]
    with path.open("w") as file:
        file.write(_line(first))
        for number in range(measurements):
            turn, which = divmod(number, len(repeated))
            line = dict(repeated[which])
            line["seq"] = number + 1
            line["where"] = {**line["where"], "block_bytes": 1 << 20 + turn % 20}
            line["repetition"] = 1 + turn // 20
            line["rate"] = {**line["rate"], "value": 1e8 + number}
            file.write(_line(line))
        file.write(_line({**last, "seq": measurements + 1}))


def write_all(engine: Path, place: Path, count: int) -> None:
    place.mkdir(parents=True, exist_ok=True)
    file = place / f"{CAMPAIGN}.toml"
    file.write_text(campaign_text(count))
    sources = {name: measured(engine, name, place / "sources") for name in _OPTIONS}
    write_runs(place / "runs", study(file, engine), engine, sources)
    write_wide(place / "wide.jsonl", sources["ior"], 10 * count)


def main() -> None:
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
    write_all(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), count)


if __name__ == "__main__":
    main()
