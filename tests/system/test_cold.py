# SPDX-License-Identifier: BSD-3-Clause
"""The methods to read without the page cache, and what a run says of them. Everything is judged by
what the processes themselves were charged for, so that other users of the disk do not matter."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engines import Engine, Run
from ior_runs import MIB, classic, ior
from results import Result


@pytest.fixture
def disk(data: Path) -> Path:
    """The directory for data, if a block device is below it."""
    at = data.stat().st_dev
    if not Path(f"/sys/dev/block/{os.major(at)}:{os.minor(at)}/stat").exists():
        pytest.skip("no block device below the directory for data")
    return data


def caches(result: Result, access: str) -> list[dict[str, Any]]:
    return [m["cache"] for m in result.measurements if m["access"] == access]


def reported(cache: dict[str, Any]) -> None:
    """What one piece of evidence has to say of another."""
    before = cache["resident_before_fraction"]
    if before is not None:
        assert ("dropped" in cache["methods"]) <= (before <= 0.05)
    assert cache["reason"]


@pytest.mark.parametrize("backend", ["posix", "mpiio"])
def test_reads_are_cold_by_default(
    any_engine: Engine, tmp_path: Path, disk: Path, backend: str
) -> None:
    words = ("--block=4MiB", "--backend", backend, "--repetitions=3")
    result = ior(any_engine, tmp_path, *words).result
    reads = caches(result, "read")
    for read in reads:
        reported(read)
        assert read["verdict"] == "device", read
        assert read["methods"] == ["dropped"]
        assert read["process_read_bytes"] >= 0.95 * 8 * MIB
        assert "came from the device" in read["reason"]
    # The best of three: the system takes pages away when other tests need memory.
    assert max(read["resident_after_fraction"] for read in reads) > 0.9
    for write in caches(result, "write"):
        assert write["methods"] == []
        assert write["resident_before_fraction"] is None
        # The device has got them all, and maybe more for others.
        assert write["unwritten_bytes"] <= 0.05 * 8 * MIB
    assert result.run["options"]["drop-cache"] == "on"


def test_what_is_not_dropped_comes_from_memory(
    any_engine: Engine, tmp_path: Path, disk: Path
) -> None:
    run = ior(any_engine, tmp_path, "--block=4MiB", "--drop-cache=off", "--repetitions=3")
    reads = caches(run.result, "read")
    for read in reads:
        reported(read)
        assert read["methods"] == []
    # At least one of three: the system takes pages away when other tests need memory.
    whole = [
        read["verdict"]
        for read in reads
        if read["resident_before_fraction"] == read["resident_after_fraction"] == 1
    ]
    assert set(whole) == {"cache"}, reads
    assert run.result.run["options"]["drop-cache"] == "off"


def test_as_much_as_a_part_of_the_memory(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """What is planned is what is moved, and more segments only where it takes them."""
    words = ["--block=64KiB", "--transfer=64KiB", "--times-memory=0.001"]
    planned = ["ior", "--dir", data, *words, "--plan-json", "--plan-ranks", 2]
    plan = json.loads(any_engine.alone(planned, tmp_path).stdout)
    wanted = 0.001 * plan["against_memory"]["memory_bytes"]
    assert wanted <= plan["bytes"] < wanted + 2 * 65536
    (write,) = ior(any_engine, tmp_path, *words).result.rows(access="write")
    assert write["bytes"] == plan["bytes"]


def test_a_classic_line_leaves_the_caches_alone(
    any_engine: Engine, tmp_path: Path, disk: Path
) -> None:
    result = classic(any_engine, tmp_path, f"-o {disk}/f -b 1m -t 1m -e").result
    assert result.run["options"]["drop-cache"] == "off"
    assert [c["methods"] for c in caches(result, "read")] == [[]]
    run = any_engine.run(["classic", "mdtest", "-n", "4", "-w", "4096", "-e", "4096"], tmp_path)
    assert run.code == 0, run
    assert run.results[-1].run["options"]["drop-cache"] == "off"


def test_direct_reads_are_their_own_method(any_engine: Engine, tmp_path: Path, disk: Path) -> None:
    words = ["--block=1MiB", "--backend=direct", "--drop-cache=off"]
    run = any_engine.run(["ior", "--quiet", "--dir", disk, *words], tmp_path)
    if run.code != 0:
        pytest.skip("no O_DIRECT here")
    (read,) = caches(run.result, "read")
    assert read["methods"] == ["direct"]
    assert read["verdict"] == "device"
    # The file system accepted O_DIRECT for the writes as well.
    (write,) = caches(run.result, "write")
    assert write["methods"] == ["direct"]


def test_of_memory_nothing_can_be_dropped(any_engine: Engine, tmp_path: Path) -> None:
    place = Path("/dev/shm")
    mounts = Path("/proc/mounts").read_text().splitlines()
    if not any(line.split()[1:3] == [str(place), "tmpfs"] for line in mounts):
        pytest.skip("no tmpfs at /dev/shm")
    if not os.access(place, os.W_OK):
        pytest.skip("nothing may be written to /dev/shm")
    with tempfile.TemporaryDirectory(dir=place, prefix="effio-test-") as name:
        run = any_engine.run(["ior", "--quiet", "--dir", name, "--block=1MiB"], tmp_path)
    assert run.code == 0, run
    (read,) = caches(run.result, "read")
    assert read["methods"] == []
    assert read["verdict"] == "cache"
    assert read["reason"] == "memory is the storage (tmpfs): nothing of it can be dropped"


@pytest.mark.parametrize(
    ("words", "access"),
    [
        (["spiobench", "--size", "2MiB", "--tasks", "2"], "read"),
        (["tile-io"], "read"),
    ],
)
def test_studies_are_cold_too(
    any_engine: Engine, tmp_path: Path, disk: Path, words: list[str], access: str
) -> None:
    run = any_engine.run([*words, "--quiet", "--dir", disk], tmp_path)
    assert run.code == 0, run
    reads = caches(run.result, access)
    assert reads
    for cache in reads:
        reported(cache)
        assert cache["methods"] == ["dropped"]
        assert cache["verdict"] == "device", cache
    off = any_engine.run([*words, "--quiet", "--dir", disk, "--drop-cache=off"], tmp_path)
    assert {tuple(c["methods"]) for c in caches(off.results[-1], access)} == {()}


def test_small_files_are_read_cold(any_engine: Engine, tmp_path: Path, disk: Path) -> None:
    words = ["mdtest", "--quiet", "--dir", disk, "--things", "files", "--items", "20"]
    words += ["--write-bytes", "64KiB"]
    run = any_engine.run([*words, "--verify"], tmp_path)
    assert run.code == 0, run
    (read,) = caches(run.result, "read")
    reported(read)
    assert read["verdict"] == "device", read
    assert read["methods"] == ["dropped"]
    assert all(m["cache"] is None for m in run.result.measurements if m["access"] != "read")
    kept = any_engine.run([*words, "--drop-cache=off"], tmp_path)
    (read,) = caches(kept.results[-1], "read")
    assert read["methods"] == []
    assert read["verdict"] == "cache", read
    alone = any_engine.run([*words, "--no-barriers", "--unique"], tmp_path)
    assert alone.code == 0, alone
    assert caches(alone.results[-1], "read") == [None]


def test_without_a_time_b_eff_io_is_a_quick_check_from_storage(
    any_engine: Engine, tmp_path: Path
) -> None:
    words = ["b-eff-io", "--backend", "sim", "--backend-options", "rank-rate=5MB/s"]
    words += ["--memory-per-rank", "256MiB", "--partitions", "1"]
    quick = any_engine.run(words, tmp_path, ranks=1)
    assert quick.code == 0, quick
    assert "A quick check of a minute" in quick.stdout
    assert quick.result.run["b-eff-io"]["quick_look"] is True
    assert quick.result.run["options"]["time"] == 60
    assert quick.result.run["options"]["drop-cache"] == "on"
    reasons = quick.result.figure("b_eff_io")["reasons"]
    assert "not reached: caches are left as the definition finds them (no --drop-cache)" in reasons
    official = any_engine.run([*words, "--time", "60s"], tmp_path, ranks=1)
    assert "quick check" not in official.stdout
    result = official.results[-1]
    assert result.run["b-eff-io"]["quick_look"] is False
    assert result.run["options"]["drop-cache"] == "off"
    assert not [r for r in result.figure("b_eff_io")["reasons"] if "caches" in r]
    left_alone = any_engine.run([*words, "--drop-cache", "off"], tmp_path, ranks=1)
    assert left_alone.results[-1].run["options"]["drop-cache"] == "off"


def test_a_plan_says_how_much_would_not_fit_into_memory(any_engine: Engine, tmp_path: Path) -> None:
    words = ["ior", "--block=1MiB", "--plan-ranks=4", "--plan-ranks-per-node=2"]
    reported = json.loads(any_engine.alone([*words, "--plan-json"], tmp_path).stdout)[
        "against_memory"
    ]
    assert reported["node_bytes"] == 2 * MIB
    assert reported["more_than_memory_from_bytes"] == 1.5 * reported["memory_bytes"]
    assert "it would take" in any_engine.alone([*words, "--plan"], tmp_path).stdout


@pytest.mark.parametrize(
    ("words", "node_bytes"),
    [
        # Two of four ranks on a node, each 64 KiB by the pass that moves most.
        (["spiobench", "--tasks=4", "--task-size=64KiB", "--block=16KiB"], 128 << 10),
        (["mdtest", "--items=3", "--write-bytes=1KiB"], 6 << 10),
        (["b-eff-io", "--memory-per-rank=1MiB", "--partitions=4", "--time=0s"], None),
    ],
)
def test_every_plan_says_so(
    any_engine: Engine, tmp_path: Path, words: list[str], node_bytes: int | None
) -> None:
    plan = [*words, "--plan-ranks=4", "--plan-ranks-per-node=2"]
    data = json.loads(any_engine.alone([*plan, "--plan-json"], tmp_path).stdout)
    reported = data["against_memory"]
    if node_bytes is None:
        node_bytes = data["partitions"][0]["bytes_on_storage"] / 2
    assert reported["node_bytes"] == node_bytes
    assert "a node moves" in any_engine.alone([*plan, "--plan"], tmp_path).stdout


# A memory hog ----------------------------------------------------------------------------------


def hog(engine: Engine, where: Path, left: str, *words: str, **more: Any) -> Run:
    options = ["ior", "--quiet", "--dir", where / "data", f"--memory-hog={left}", *words]
    return engine.run(options, where, **more)


def test_a_hog_that_would_leave_more_than_there_is_is_refused(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = hog(any_engine, tmp_path, "4TiB", "--block=1MiB")
    assert run.code == 6, run
    assert "4 TiB are to be left, and no more than" in run.stderr
    assert list(data.iterdir()) == []
    little = any_engine.alone(["ior", "--memory-hog=1MiB", "--plan"], tmp_path)
    assert little.code == 2
    assert "--memory-hog" in little.stderr
    both = any_engine.alone(["ior", "--memory-hog=1GiB", "--hold-memory=1GiB", "--plan"], tmp_path)
    assert both.code == 2
    assert "give one of them" in both.stderr


@pytest.fixture
def limited() -> Iterator[Path]:
    """The file that takes processes into a control group that has 448 MiB of memory."""
    root = Path("/sys/fs/cgroup/memory")
    if not (root / "memory.limit_in_bytes").exists():
        pytest.skip("no control groups of version 1 that limit memory here")
    group = root / f"effio-cold-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"control groups cannot be made here: {error}")
    (group / "memory.limit_in_bytes").write_text(str(448 * MIB))
    yield group / "cgroup.procs"
    deadline = time.monotonic() + 10
    while (group / "cgroup.procs").read_text() and time.monotonic() < deadline:
        time.sleep(0.1)
    group.rmdir()


def test_a_hog_keeps_the_cache_small(
    any_engine: Engine, tmp_path: Path, disk: Path, limited: Path
) -> None:
    """The hog leaves 96 of 448 MiB; 192 MiB that were just written cannot all be read from
    there."""
    enter = ["sh", "-c", f'echo $$ > {limited} && exec "$@"', "sh"]
    words = ["--files=per-process", "--block=96MiB", "--transfer=1MiB", "--drop-cache=off"]
    run = hog(any_engine, tmp_path, "96MiB", *words, prefix=enter)
    assert run.code == 0, run
    (read,) = caches(run.result, "read")
    assert read["methods"] == ["memory hog"]
    assert (
        read["resident_before_fraction"] <= 0.75
    )  # 96 of 192 MiB, and a step of the hog of each rank
    assert read["verdict"] in ("device", "mixed"), read
    assert run.result.run["system"]["memory"]["node_total_bytes"] == 448 * MIB
    assert list(disk.iterdir()) == []
