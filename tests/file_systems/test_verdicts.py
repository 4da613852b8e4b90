# SPDX-License-Identifier: BSD-3-Clause
"""Each verdict on where bytes were, on one client node of each file system, against what the
servers' processes and block devices did meanwhile. None may be wrong, and few unknown."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from effio.store.all_runs import Store
from effio.store.evidence import NEARLY, Place, is_reading
from effio.store.records import Measurement
from engines import Engine

from .conftest import ALL, KINDS, effio_on, mounted
from .served import Servers, Truth

pytestmark = [
    pytest.mark.timeout(2400),
    pytest.mark.skipif(not ALL, reason="takes minutes: make test-file-systems"),
]

_IOR = "ior --files per-process --block 16MiB --transfer 1MiB --repetitions 2 --read-from same"
# Of sizes that take a tenth of a second and more: the truth is sampled from outside. Without
# mdtest, whose files are written without a verdict.
RUNS = (
    *(f"{_IOR} --backend {backend}" for backend in ("posix", "direct", "mmap")),
    f"{_IOR} --drop-cache off",
    f"{_IOR} --sync none --drop-cache off",
    "io-bench --size 32MiB --block 1MiB --copies 1,2",
    "spiobench --task-size 32MiB --block 1MiB --tasks 1,2",
    "saturation --size 32MiB --transfer 1MiB --processes 1,2 --repetitions 1",
    "partest --size 16MiB --call 1MiB --tasks 2",
    "tile-io --sz-tile-x 2048 --sz-tile-y 2048 --sz-element 8B --calls collective --repetitions 2",
    "ior --files shared --block 16MiB --transfer 1MiB --repetitions 2 --backend mpiio --collective",
    "libraries --edges 96 --processes 2 --hint-sets none",
    "pio --size 32MiB --buffer 1MiB",
    "overlap --transfer 16MiB --repetitions 2 --work-time 10ms",
    "ssca3 --grid 2 --depth 2 --sequences 8 --detections 2 --templates 2 --raw-size 8MiB"
    " --image-size 8MiB --template-size 1MiB",
    "flash-io --backend mpiio --cells 16 --blocks 10 --files checkpoint --read all",
    "b-eff-io --backend posix --time 15s --memory-per-rank 8MiB --partitions 2",
)
# Only some of them: EFFIO_TEST_ONLY="libraries|pio" make test-file-systems
ONLY = re.compile(os.environ.get("EFFIO_TEST_ONLY", ""))
# How often a byte that is written comes to the processes that are asked.
COPIES = {"distributed": 1.0, "dispersed": 1.5, "moosefs": 1.0}


@dataclass
class Tally:
    right: Counter[Place] = field(default_factory=Counter)
    unknown: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def _fault(m: Measurement, truth: Truth, copies: float) -> str:
    """Why the verdict is wrong; empty if it is right or unknown."""
    reading = is_reading(m.access)
    factor = 1.0 if reading else copies
    if "modify" in m.access:  # in both directions; a dispersed volume reads before it writes
        factor = 0.5 + copies / 2
    least, most = (count / factor for count in (truth.read if reading else truth.written))
    place = Place.of(m)
    assert m.cache is not None
    if place is Place.SERVERS and most < (1 - NEARLY) * m.bytes:
        return f"at most {most:.0f} of {m.bytes} bytes came through the servers"
    bound = m.cache.storage_fraction or 0.0
    if place in (Place.CACHE, Place.MIXED) and least > (bound + NEARLY) * m.bytes:
        return f"at least {least:.0f} of {m.bytes} bytes came through the servers, not {bound:.2f}"
    devices = truth.read_from_devices if reading else truth.written_to_devices
    if place is Place.DEVICE and devices[1] < (1 - NEARLY) * m.bytes:
        return f"at most {devices[1]} of {m.bytes} bytes came to the servers' devices"
    return ""


def _add(tally: Tally, words: str, m: Measurement, truth: Truth | None, copies: float) -> None:
    name = f"{words}: {m.access} {m.pattern} {m.rate.value or 0:.3g} {m.total_seconds:.3f} s"
    if truth is None or Place.of(m) is Place.UNKNOWN:
        tally.unknown.append(f"{name}: {m.cache.reason if m.cache else ''} {truth}")
    elif fault := _fault(m, truth, copies):
        tally.wrong.append(f"{name}: {Place.of(m).value}, but {fault}")
    else:
        tally.right[Place.of(m)] += 1


@pytest.mark.parametrize("kind", KINDS)
def test_no_verdict_is_wrong(
    kind: str,
    openmpi: Engine,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    of_benchmarks: dict[str, Tally] = {}
    with mounted(kind, tmp_path_factory.mktemp("verdicts"), device=True) as file_system:
        for number, words in enumerate(words for words in RUNS if ONLY.search(words)):
            cwd = tmp_path / str(number)
            cwd.mkdir()
            with Servers(file_system.cluster, cwd / "effio-runs") as servers:
                done = effio_on(
                    file_system.cluster.clients[0], openmpi, cwd, "run", *words.split(),
                    "--ranks", "2", "--no-report", "--quiet", "--watchdog", "120s",
                    "--dir", file_system.places[0],
                    timeout=500,
                )  # fmt: skip
            file_system.empty()
            assert done.returncode == 0, done.stderr
            (folder,) = Store(cwd / "effio-runs").folders()
            result = folder.reported()
            truths = servers.truths(result)
            tally = of_benchmarks.setdefault(words.split()[0], Tally())
            for place, m in enumerate(result.measurements):
                if m.bytes > 0 and m.valid:
                    _add(tally, words, m, truths.get(place), COPIES[kind])
            if path := os.environ.get("EFFIO_TEST_TABLE"):
                Path(f"{path}-{kind}").write_text(_table(of_benchmarks) + "\n")
    table = _table(of_benchmarks)
    assert [fault for tally in of_benchmarks.values() for fault in tally.wrong] == []
    unknown = sum(len(tally.unknown) for tally in of_benchmarks.values())
    cells = unknown + sum(sum(tally.right.values()) for tally in of_benchmarks.values())
    assert unknown <= 0.1 * cells, table


def _table(of_benchmarks: dict[str, Tally]) -> str:
    lines = [
        f"{name}: servers {tally.right[Place.SERVERS]}, memory {tally.right[Place.CACHE]},"
        f" both {tally.right[Place.MIXED]}, wrong"
        f" {len(tally.wrong)}, unknown {len(tally.unknown)}"
        for name, tally in of_benchmarks.items()
    ]
    more = [f"  unknown: {text}" for tally in of_benchmarks.values() for text in tally.unknown]
    more += [f"  wrong: {text}" for tally in of_benchmarks.values() for text in tally.wrong]
    return "\n".join([*lines, *more])
