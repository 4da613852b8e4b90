# SPDX-License-Identifier: BSD-3-Clause
"""Machines and files that are larger than any here: plans and reports of a million ranks, sizes of
TiB, offsets beyond 8 TiB in a file that is really there (docs/scale.md)."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from driver import made
from driver.corpus import CORPUS
from effio.campaign.planned import moved
from effio.report.html import render
from effio.store.reader import read_result
from engines import Engine
from fuzz.telling import tell_everything

MILLION = 1_000_000
TIB = 1 << 40
# Plans are arithmetic: a hundredth of a second. So much that no busy machine needs it, and far less
# than anything that walks over a million ranks cell by cell.
SECONDS = 30
HALVES = ["--group", "500000: ior", "--group", "500000: mdtest --items 1000"]
NEEDED = {"mdtest": ["--items", "1000"], "interference": HALVES}
NAMES = (
    *("b-eff-io", "b-eff", "rings", "ior", "flash-io", "mdtest", "libraries", "io-bench"),
    *("spiobench", "ssca3", "tile-io", "pio", "partest", "saturation", "probe"),
    *("overlap", "interference"),
)


@pytest.mark.parametrize("benchmark", NAMES)
def test_a_plan_for_a_million_ranks(any_engine: Engine, tmp_path: Path, benchmark: str) -> None:
    words = [benchmark, *NEEDED.get(benchmark, []), "--plan-json", "--plan-ranks", MILLION]
    run = any_engine.alone(words, tmp_path, timeout=SECONDS)
    assert run.code == 0, run
    assert isinstance(json.loads(run.stdout), dict)


def test_every_benchmark_is_planned(any_engine: Engine, tmp_path: Path) -> None:
    assert sorted(any_engine.alone(["list"], tmp_path).stdout.split()) == sorted(NAMES)


def plan(engine: Engine, place: Path, *words: object) -> dict[str, object]:
    run = engine.alone([*words, "--plan-json"], place)
    assert run.code == 0, run
    planned: dict[str, object] = json.loads(run.stdout)
    return planned


def numbers_of(planned: object) -> set[int]:
    """All whole numbers in it."""
    if isinstance(planned, dict):
        return {n for value in planned.values() for n in numbers_of(value)}
    if isinstance(planned, list):
        return {n for value in planned for n in numbers_of(value)}
    if isinstance(planned, float) and planned.is_integer():
        return {int(planned)}
    return {planned} if isinstance(planned, int) else set()


def test_twenty_tib_are_planned_to_the_byte(any_engine: Engine, tmp_path: Path) -> None:
    """20 TiB and a byte of each of three ranks, in calls of one byte more than 1 MiB."""
    block = 20 * (TIB + (1 << 20))
    call = (1 << 20) + 1
    words = ["ior", "--block", f"{block}B", "--transfer", f"{call}B"]
    assert block % call == 0
    found = numbers_of(plan(any_engine, tmp_path, *words, "--plan-ranks", 3))
    assert 3 * block in found
    assert 3 * (block // call) in found
    # More calls than 32 bits count: a million ranks with 20 MiB in calls of 4 KiB.
    words = ["ior", "--block", "20MiB", "--transfer", "4KiB"]
    found = numbers_of(plan(any_engine, tmp_path, *words, "--plan-ranks", MILLION))
    assert MILLION * 5120 in found
    assert MILLION * 20 * (1 << 20) in found


def test_plans_add_up(any_engine: Engine, tmp_path: Path) -> None:
    """Passes, repetitions, a stonewall and the streams of a measured peak, with two ranks."""

    def bytes_of(*words: object, **options: object) -> tuple[float | None, float | None]:
        return moved(options, plan(any_engine, tmp_path, *words, "--plan-ranks", 2))

    mib = 1 << 20
    # 2 MiB in calls of two sizes, three times: written twice, read, and modified.
    words = ["pio", "--spatial", "segmented", "--size", "1MiB", "--buffer", "64KiB,256KiB"]
    passes = ["--temporal", "write,re-write,read,read-modify-write", "--repetitions", 3]
    assert bytes_of(*words, *passes) == (3 * 2 * 3 * 2 * mib, 3 * 2 * 2 * 2 * mib)
    # 2 TB, of which 10 s at 1 GB/s come to be written.
    words = ["ior", "--block", "1TB", "--transfer", "1MB", "--phases", "write"]
    assert bytes_of(*words, "--stonewall", "10s") == (10e9, 0)
    assert bytes_of(*words) == (2e12, 0)
    # Streams of one and of two processes, with at least three ways to the peak.
    words = ["spiobench", "--size", "16MiB"]
    assert bytes_of(*words) == (32 * mib, 32 * mib)
    peak, _ = bytes_of(*words, "--peak", "measured")
    assert peak is not None
    assert peak >= 4 * 32 * mib
    assert peak % (32 * mib) == 0


@pytest.mark.parametrize("benchmark", CORPUS)
def test_a_report_of_a_million_ranks(tmp_path: Path, benchmark: str) -> None:
    """A result of a million ranks on ten thousand nodes has the size of one of two ranks, and so
    has what is told of it."""
    lines = copy.deepcopy(list(CORPUS[benchmark]()))
    system = lines[0]["system"]
    system["ranks"], system["nodes"] = MILLION, 10_000
    system["node_names_complete"] = False
    for line in lines[1:]:
        if "ranks" in line:
            line["ranks"] = MILLION
        if "nodes" in line:
            line["nodes"] = 10_000
    path = made.write(tmp_path / "large.jsonl", lines)
    report = tell_everything(read_result(path))
    page = render([report], ["large"])
    assert "1,000,000" in page or "1000000" in page


def test_nine_tib_into_a_file(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """Two pieces of 4 KiB of each of two ranks 9 TiB apart in one sparse file, written, read back
    and compared, call by call and in one call through a view."""
    with (data / "probe").open("wb") as file:
        try:
            file.truncate(9 * TIB + 16384)
        except OSError as error:
            pytest.skip(f"no file of 9 TiB here: {error}")
    (data / "probe").unlink()
    for backend, by in (("posix", "list"), ("mpiio", "list"), ("mpiio", "type")):
        place = tmp_path / f"{backend}-{by}"
        place.mkdir()
        run = any_engine.run(
            ["pio", "--levels", "4KiB*2/9TiB", "--size", "8KiB", "--buffer", "4KiB", "--quiet",
             "--temporal", "write,read", "--backend", backend, "--by", by, "--keep",
             "--max-bytes", "16TiB", "--overwrite", "--dir", data],
            place,
        )  # fmt: skip
        assert run.code == 0, run
        read = run.result.rows(access="read")[0]
        assert read["verified_bytes"] == 4 * 4096
        (file_,) = data.iterdir()
        assert file_.stat().st_size == 9 * TIB + 2 * 4096
        assert file_.stat().st_blocks * 512 < 1 << 20
