# SPDX-License-Identifier: BSD-3-Clause
"""Machines and files that are larger than any here: plans and reports of a million ranks, sizes of
TiB, offsets beyond 8 TiB in a file that is really there (docs/scale.md)."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from driver import made
from driver.corpus import CORPUS
from effio.report.html import render
from effio.store.reader import read_result
from engines import Engine
from fields import FIELDS, from_text
from fuzz.reporting import report_everything

MILLION = 1_000_000
TIB = 1 << 40
# Plans are arithmetic: a hundredth of a second. So much that no busy machine needs it, and far less
# than anything that walks over a million ranks cell by cell.
SECONDS = 30
HALVES = ["--group", "500000: ior", "--group", "500000: mdtest --items 1000"]
NEEDED = {"mdtest": ["--items", "1000"], "interference": HALVES}
NAMES = list(from_text(FIELDS.read_text()))


@pytest.mark.parametrize("benchmark", NAMES)
def test_a_plan_for_a_million_ranks(any_engine: Engine, tmp_path: Path, benchmark: str) -> None:
    words = [benchmark, *NEEDED.get(benchmark, []), "--plan-json", "--plan-ranks", MILLION]
    run = any_engine.alone(words, tmp_path, timeout=SECONDS)
    assert run.code == 0, run
    assert isinstance(json.loads(run.stdout), dict)


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


def estimate(engine: Engine, place: Path, *words: object) -> dict[str, Any]:
    reported: Any = plan(engine, place, *words)["estimate"]
    return dict(reported)


def test_a_stonewall_limits_what_is_planned(any_engine: Engine, tmp_path: Path) -> None:
    """Two ranks with 1 TB each: 10 s at 500 MB/s, 1 GB/s and 2 GB/s."""
    words = ["ior", "--block", "1TB", "--transfer", "1MB", "--phases", "write", "--plan-ranks", 2]
    reported = estimate(any_engine, tmp_path, *words, "--stonewall", "10s")
    assert reported["bytes_written"] == {"least": 5e9, "expected": 10e9, "most": 20e9}
    assert reported["bytes_on_storage"] == 20e9
    assert reported["seconds"] == {"least": 10, "expected": 10, "most": 10}
    assert reported["assumes"] == "storage delivers 500 MB/s to 2 GB/s in all"
    everything = estimate(any_engine, tmp_path, *words)
    assert everything["bytes_written"]["most"] == 2e12
    # At half and at twice the rate.
    assert everything["seconds"]["most"] == 4 * everything["seconds"]["least"] == 4e12 / 1e9


def test_passes_and_repetitions_add_up(any_engine: Engine, tmp_path: Path) -> None:
    """A pattern of two ranks with 1 MiB each, in calls of two sizes, three times: written, written
    again, read, and modified."""
    reported = estimate(
        any_engine, tmp_path, "pio", "--spatial", "segmented", "--size", "1MiB", "--buffer",
        "64KiB,256KiB", "--temporal", "write,re-write,read,read-modify-write",
        "--repetitions", 3, "--plan-ranks", 2,
    )  # fmt: skip
    assert reported["bytes_written"]["expected"] == 3 * 2 * 3 * (2 << 20)
    assert reported["bytes_read"]["expected"] == 3 * 2 * 2 * (2 << 20)
    assert (reported["bytes_on_storage"], reported["files"]) == (2 << 20, 1)


def test_a_measured_peak_is_planned(any_engine: Engine, tmp_path: Path) -> None:
    """Streams of 1 and of 2 processes that share 16 MiB: through the cache, past it, and with 8 and
    32 calls in flight. Not every file system has the last three."""
    words = ["spiobench", "--size", "16MiB", "--plan-ranks", 2]
    without = estimate(any_engine, tmp_path, *words)
    reported = estimate(any_engine, tmp_path, *words, "--peak", "measured")
    for what in ("bytes_written", "bytes_read"):
        assert without[what] == {"least": 32 << 20, "expected": 32 << 20, "most": 32 << 20}
        assert reported[what]["expected"] == reported[what]["most"] == (1 + 4) * (32 << 20)
        assert reported[what]["least"] == 2 * (32 << 20)


def test_the_other_machine(any_engine: Engine, tmp_path: Path) -> None:
    """Memory and free bytes are those that the options state."""
    there = ["--plan-ranks", 22600, "--plan-ranks-per-node", 16, "--plan-memory", "64GiB"]
    planned = plan(any_engine, tmp_path, "b-eff-io", *there, "--plan-free", "10PB")
    assert planned["cap"] == {"bytes": 8 * 10**15, "why": "80 % of the 8.882 PiB of --plan-free"}
    # MPART: the largest of 2 MiB and 1/128 of the memory of a rank.
    assert planned["lmax_bytes"] == (64 << 30) // 16 // 128
    few = ["ior", "--block", "1GiB", "--plan-ranks", 4]
    assert estimate(any_engine, tmp_path, *few, "--plan-free", "4GiB")["fits"] is True
    assert estimate(any_engine, tmp_path, *few, "--plan-free", "3GiB")["fits"] is False
    assert estimate(any_engine, tmp_path, *few)["fits"] is None
    text = any_engine.alone([*few, "--plan", "--plan-free", "3GiB"], tmp_path).stdout
    assert "--plan-free: 4 GiB on storage are more than the 3 GiB that are free" in text


def test_messages_of_many_ranks_travel_at_the_same_time(any_engine: Engine, tmp_path: Path) -> None:
    """b_eff with a thousand ranks takes about as long as with ten: the network's rate is that of a
    rank."""
    one_a_node = ["--plan-ranks-per-node", 1, "--plan-memory", "8GiB"]
    seconds = [
        estimate(any_engine, tmp_path, "b-eff", "--plan-ranks", n, *one_a_node)["seconds"]
        for n in (10, 1000)
    ]
    assert seconds[1]["expected"] < 1.2 * seconds[0]["expected"]
    assert seconds[1]["most"] < 3600


@pytest.mark.parametrize("benchmark", CORPUS)
def test_a_report_of_a_million_ranks(tmp_path: Path, benchmark: str) -> None:
    """A result of a million ranks on ten thousand nodes has the size of one of two ranks, and so
    has what is reported of it."""
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
    report = report_everything(read_result(path))
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
