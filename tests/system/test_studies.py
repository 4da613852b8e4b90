# SPDX-License-Identifier: BSD-3-Clause
"""io-bench, spiobench and ssca3 from the outside. What holds for every study, whatever its
addresses, is in tests/engine/frame/study."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engines import Engine

MIB = 1 << 20
SIX = [(p, a) for p in ("sequential", "backward", "random") for a in ("write", "read")]


def test_io_bench_in_virtual_time_is_the_closed_formula(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """16 calls of 64 KiB at 100 MB/s with 1 ms each; open 10 ms, sync 20 ms, close 5 ms."""
    model = "rank-rate=100MB/s,latency=1ms,open=10ms,sync=20ms,close=5ms"
    words = ["io-bench", "--quiet", "--backend", "sim", "--backend-options", model]
    run = any_engine.run(
        [*words, "--size", "1MiB", "--block", "64KiB", "--peak", "50MB/s", "--dir", data],
        tmp_path,
        ranks=1,
    )
    assert run.code == 0, run
    calls = 16 * 1e-3 + MIB / 100e6
    found = [(m["pattern"], m["access"]) for m in run.result.measurements]
    assert found == SIX
    for m in run.result.measurements:
        seconds = 0.015 + calls + (0.020 if m["access"] == "write" else 0)
        assert m["seconds"]["total"]["max"] == pytest.approx(seconds)
        assert m["rate"]["value"] == pytest.approx(MIB / seconds)
        assert m["detail"]["transfer_rate_bytes_per_second"] == pytest.approx(MIB / calls)
        assert (m["bytes"], m["operations"]) == (MIB, 16)
        assert m["verified_bytes"] == (MIB if m["access"] == "read" else 0)
        share = run.result.figure("share_of_peak", pattern=m["pattern"], access=m["access"])
        assert share["metric"]["value"] == pytest.approx(MIB / seconds / 50e6)
    best = run.result.figure("io_bench")
    assert best["metric"]["value"] == pytest.approx(MIB / (0.035 + calls))
    assert [place["access"] for place in best["detail"]["others"]] == ["read"]
    assert run.result.run["study"]["headline"] == "by access"


def test_a_long_pass_of_a_study_knows_its_own_interval(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """1000 calls of 64 KiB with 1 ms each, in virtual time: slices of 1/64 s hold about 9 calls, so
    most of them are joined by two or more. Their mean is the rate of the calls, nearly without an
    interval. 16 calls are too few, and the library's own calls are not seen one by one."""
    words = ["io-bench", "--backend", "sim", "--block", "64KiB", "--dir", data]
    model = ["--backend-options", "rank-rate=100MB/s,latency=1ms"]
    run = any_engine.run([*words, *model, "--size", "62.5MiB"], tmp_path, ranks=2)
    assert run.code == 0, run
    for m in run.result.measurements:
        sure = m["detail"]["batch_means"]
        assert sure["method"] == "batch means"
        assert sure["mean"] == pytest.approx(
            m["detail"]["transfer_rate_bytes_per_second"], rel=0.02
        )
        assert 20 <= sure["slices"] <= 100
        assert (sure["high95"] - sure["low95"]) / 2 < 0.03 * sure["mean"]
    assert re.search(r"calls ± [0-9.]+ % \(95 %, [0-9]+ slices\)", run.stdout)
    run = any_engine.run([*words, *model, "--size", "1MiB"], tmp_path, ranks=1)
    for m in run.result.measurements:
        assert m["detail"]["batch_means"]["method"] is None
        assert m["detail"]["batch_means"]["none"].startswith("it takes 20 slices")


def test_io_bench_measures_its_peak_and_marks_what_exceeds_it(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """The stream is one call of 1 MiB; with 1 ms a call its rate is above those of 16 calls. The
    cache of a rank takes what is written, so that writes without a flush exceed a given peak."""
    words = ["io-bench", "--backend", "sim", "--size", "1MiB", "--block", "64KiB", "--dir", data]
    run = any_engine.run(
        [*words, "--peak", "measured", "--backend-options", "rank-rate=100MB/s,latency=1ms",
         "--repetitions", "2"],
        tmp_path,
        ranks=1,
    )  # fmt: skip
    assert run.code == 0, run
    peak = MIB / (1e-3 + MIB / 100e6)
    rate = MIB / (16e-3 + MIB / 100e6)
    assert run.result.figure("peak", access="read")["metric"]["value"] == pytest.approx(peak)
    share = run.result.figure("share_of_peak", pattern="random", access="read")
    assert share["metric"]["value"] == pytest.approx(rate / peak)
    assert share["reasons"] == []
    assert share["detail"]["peak_bytes_per_second"] == pytest.approx(peak)
    # Two repetitions have no interval.
    assert share["detail"]["peak_low95_bytes_per_second"] is None
    assert "Peak of reads: " in run.stdout
    assert {m["pattern"] for m in run.result.measurements if "stream" in m["pattern"]} == {"stream"}
    cached = "rank-rate=100MB/s,cache=8MiB,cache-rate=1GB/s"
    run = any_engine.run(
        [*words, "--peak", "100MB/s", "--fsync", "off", "--backend-options", cached],
        tmp_path,
        ranks=1,
    )
    share = run.result.figure("share_of_peak", pattern="backward", access="write")
    assert share["metric"]["value"] == pytest.approx(10)
    # There is no evidence of a cache, so none is named.
    assert share["valid"] is None
    assert share["reasons"] == ["above the given peak: the peak is too low"]
    assert "(1000* %)" in run.stdout
    assert "1000 % of the peak; above the given peak: the peak is too low" in run.stdout


def test_a_measured_peak_is_the_best_of_several_streams(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """Streams of one and of two tasks: with an empty cache and the flush inside regardless of the
    options, by O_DIRECT, and with several calls in flight."""
    words = ["spiobench", "--size", "2MiB", "--tasks", "2", "--peak", "measured", "--fsync", "off"]
    run = any_engine.run([*words, "--drop-cache", "off", "--dir", data], tmp_path)
    assert run.code == 0, run
    cells = {
        (m["pattern"], m["access"], m["where"]["tasks"]): m
        for m in run.result.measurements
        if "stream" in m["pattern"]
    }
    assert {tasks for _, _, tasks in cells} == {1, 2}
    assert cells["stream", "write", 2]["detail"]["backend"] == "posix"
    assert "sync" in cells["stream", "write", 1]["seconds"]
    past = cells["stream past the cache", "read", 2]
    assert past["detail"]["backend"] == "direct"
    assert past["verified_bytes"] == 2 * MIB
    for depth in (8, 32):
        queue = f"stream, {depth} in flight"
        if (queue, "read", 1) not in cells:  # the kernel does not allow io_uring
            continue
        many = cells[queue, "read", 1]
        assert many["detail"]["backend"] == "uring"
        assert (many["operations"], many["bytes"]) == (4 * depth, 2 * MIB)
        assert many["call_times"]["count"] == 4 * depth
        assert many["verified_bytes"] == 2 * MIB
        assert many["error_count"] == 0
    for access in ("write", "read"):
        highest = max(m["rate"]["value"] for (_, a, _), m in cells.items() if a == access)
        own = run.result.figure("bandwidth", access=access)["metric"]["value"]
        share = run.result.figure("share_of_peak", access=access)["metric"]["value"]
        assert share == pytest.approx(own / highest)
    assert list(data.iterdir()) == []


def test_spiobench_in_virtual_time_is_the_closed_formula(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """8 MiB in calls of 1 MiB: a task has 100 MB/s, all have 150 MB/s together, which two share.
    1 ms a call, open 10 ms, sync 20 ms, close 5 ms."""
    model = "rank-rate=100MB/s,shared-rate=150MB/s,latency=1ms,open=10ms,sync=20ms,close=5ms"
    words = ["spiobench", "--backend", "sim", "--backend-options", model, "--size", "8MiB"]
    words += ["--repetitions", "2"]
    run = any_engine.run([*words, "--peak", "160MB/s", "--dir", data], tmp_path)
    assert run.code == 0, run
    seconds = {
        1: 0.015 + 8 * (1e-3 + MIB / 100e6),
        2: 0.015 + 4 * (1e-3 + MIB / 75e6),
    }
    for access in ("write", "read"):
        sync = 0.020 if access == "write" else 0
        rates = {tasks: 8 * MIB / (s + sync) for tasks, s in seconds.items()}
        for tasks, rate in rates.items():
            m, _ = run.result.rows(tasks=tasks, access=access)
            assert m["rate"]["value"] == pytest.approx(rate)
            assert (m["bytes"], m["operations"], m["ranks"]) == (8 * MIB, 8, tasks)
            assert m["verified_bytes"] == (8 * MIB if access == "read" else 0)
            calls = seconds[tasks] - 0.015
            of_task = m["detail"]["rank_rates_bytes_per_second"]
            assert of_task["min"] == pytest.approx(8 * MIB / tasks / calls)
            assert m["detail"]["slowest_rank"]["seconds"] == pytest.approx(calls)
            place = {"tasks": tasks, "access": access}
            share = run.result.figure("share_of_peak", **place)["metric"]["value"]
            assert share == pytest.approx(rate / 160e6)
            speed_up = run.result.figure("speed_up", **place)["metric"]["value"]
            assert speed_up == pytest.approx(rate / rates[1])
            efficiency = run.result.figure("efficiency", **place)["metric"]["value"]
            assert efficiency == pytest.approx(rate / rates[1] / tasks)
    assert "Scaling, against the fewest ranks" in run.stdout


def test_spiobench_shows_of_each_task(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    saved = tmp_path / "ranks.csv"
    words = ["spiobench", "--task-size", "128KiB", "--block", "64KiB,128KiB", "--dir", data]
    run = any_engine.run([*words, "--save-ranks", saved], tmp_path)
    assert run.code == 0, run
    host = run.result.run["system"]["node_names"][0]
    assert len(run.result.measurements) == 2 * 2 * 2
    for m in run.result.measurements:
        assert m["bytes"] == m["ranks"] * 128 * 1024
        assert m["detail"]["fastest_rank"]["seconds"] <= m["detail"]["slowest_rank"]["seconds"]
        assert m["detail"]["slowest_rank"]["host"] == host
    header, *lines = saved.read_text().splitlines()
    assert header.split(",")[:7] == [
        *("pattern", "access", "repetition", "tasks", "block_bytes", "rank", "host")
    ]
    found = [tuple(line.split(",")[1:8]) for line in lines]
    expected = [
        (access, "1", str(tasks), str(block), str(rank), host, str(128 * 1024))
        for tasks in (1, 2)
        for block in (64 * 1024, 128 * 1024)
        for access in ("write", "read")
        for rank in range(tasks)
    ]
    assert found == expected
    assert list(data.iterdir()) == []


def test_io_bench_next_to_each_other(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    run = any_engine.run(
        ["io-bench", "--size", "1MiB", "--block", "256KiB,1MiB", "--copies", "1,2", "--dir", data],
        tmp_path,
    )
    assert run.code == 0, run
    for copies in (1, 2):
        rows = run.result.rows(copies=copies, block_bytes=256 << 10)
        assert [(m["pattern"], m["access"]) for m in rows] == SIX
        assert {m["bytes"] for m in rows} == {copies * MIB}
        assert {m["ranks"] for m in rows} == {copies}
        assert {m["verified_bytes"] for m in rows if m["access"] == "read"} == {copies * MIB}
        assert {m["error_count"] for m in rows} == {0}
    assert len(run.result.measurements) == 2 * 2 * 6
    assert re.search(r"block +copies +sequential write", run.stdout), run
    assert list(data.iterdir()) == []


SMALL_CHAIN = [
    *("--grid", "2", "--depth", "2", "--sequences", "3", "--detections", "2", "--templates", "2"),
    *("--raw-size", "10000B", "--image-size", "8000B", "--template-size", "500B"),
]
# Pattern, access: files, bytes of each.
STEPS = {
    ("templates", "write"): (2, 500),
    ("raw", "write"): (8, 10000),
    ("templates", "read"): (2, 500),
    ("raw", "read"): (8, 10000),
    ("images", "write"): (8, 8000),
    ("images", "read"): (6, 8000),
    ("detections", "write"): (6, 500),
}


def test_ssca3_in_virtual_time_is_the_closed_formula(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """One rank; 1 ms a call at 10 MB/s, open 10 ms, sync 20 ms, close 5 ms for each file."""
    model = "rank-rate=10MB/s,latency=1ms,open=10ms,sync=20ms,close=5ms"
    words = ["ssca3", "--backend", "sim", "--backend-options", model, *SMALL_CHAIN, "--dir", data]
    run = any_engine.run([*words, "--request", "4000B,10000B"], tmp_path, ranks=1)
    assert run.code == 0, run
    for request in (4000, 10000):
        seconds = {}
        for (pattern, access), (files, size) in STEPS.items():
            (m,) = run.result.rows(request_bytes=request, pattern=pattern, access=access)
            calls = -(-size // request)
            parts = {
                "open": files * 0.010,
                "transfer": files * (calls * 1e-3 + size / 10e6),
                "close": files * 0.005,
            } | ({"sync": files * 0.020} if access == "write" else {})
            for part, value in parts.items():
                assert m["seconds"][part]["max"] == pytest.approx(value)
            assert ("sync" in m["seconds"]) == (access == "write")
            seconds[pattern, access] = sum(parts.values())
            assert m["seconds"]["total"]["max"] == pytest.approx(seconds[pattern, access])
            assert (m["bytes"], m["operations"]) == (files * size, files * calls)
            assert m["detail"]["files"] == files
            # Not all images are read, and no detections: what was written is read back.
            compared = access == "read" or pattern in ("images", "detections")
            assert m["verified_bytes"] == (files * size if compared else 0)
            figure = run.result.figure(
                "files_per_second", pattern=pattern, access=access, request_bytes=request
            )
            assert figure["metric"]["value"] == pytest.approx(files / seconds[pattern, access])
        one = seconds["templates", "read"] + seconds["raw", "read"] + seconds["images", "write"]
        two = seconds["images", "read"] + seconds["detections", "write"]
        moved = 8 * 10000 + 2 * 500 + 6 * 8000 + 8 * 8000 + 6 * 500
        for name, value in (
            ("images_per_second", 8 / one),
            ("sequences_per_second", 3 / two),
            ("chain_bandwidth", moved / (one + two)),
        ):
            figure = run.result.figure(name, request_bytes=request)
            assert figure["metric"]["value"] == pytest.approx(value)
        if request == 4000:
            assert run.result.figure("ssca3_images_per_second")["metric"] == {
                "value": pytest.approx(8 / one),
                "unit": "images/s",
                "better": "higher",
            }
    assert run.result.run["study"]["headline"] == "throughputs"
    assert "Files per second" in run.stdout
    assert "Stage 2, sequences per second" in run.stdout


@pytest.mark.parametrize("pipelines", ["shared", "private"])
def test_ssca3_writes_and_finds_its_files(
    any_engine: Engine, pipelines: str, tmp_path: Path, data: Path
) -> None:
    chains = 2 if pipelines == "private" else 1
    words = ["ssca3", *SMALL_CHAIN, "--pipelines", pipelines, "--dir", data, "--keep"]
    run = any_engine.run([*words, "--reader", "shifted", "--request", "4B"], tmp_path)
    assert run.code == 0, run
    found = [(m["pattern"], m["access"]) for m in run.result.measurements]
    assert found == list(STEPS)
    for m in run.result.measurements:
        files, size = STEPS[m["pattern"], m["access"]]
        assert (m["bytes"], m["detail"]["files"]) == (chains * files * size, chains * files)
        assert m["operations"] == chains * files * size // 4
        assert m["verified_bytes"] == (m["bytes"] if m["access"] == "read" else 0)
        assert m["error_count"] == 0
    sizes = {"templates": 500, "raw": 10000, "images": 8000, "detections": 500}
    count = {"templates": 2, "raw": 8, "images": 8, "detections": 6}
    expected = {
        f"ssca3_4_{kind}.{i:06d}": size
        for kind, size in sizes.items()
        for i in range(chains * count[kind])
    }
    assert {f.name: f.stat().st_size for f in data.iterdir()} == expected
    # No two of them hold the same.
    assert len({f.read_bytes() for f in data.iterdir()}) == len(expected)
    assert run.result.run["study"]["files"] == 24
    assert run.result.run["study"]["calibrated"] is False


@pytest.mark.parametrize("name", ["io-bench", "spiobench", "ssca3", "tile-io", "pio"])
def test_a_million_ranks_are_planned(any_engine: Engine, tmp_path: Path, name: str) -> None:
    words = ["--copies", "1000000"] if name == "io-bench" else []
    run = any_engine.run(
        [name, "--plan-json", "--plan-ranks", "1000000", *words], tmp_path, ranks=1
    )
    assert run.code == 0, run
    plan = json.loads(run.stdout)
    most = max(cell["bytes"] for cell in plan["cells"])
    of_rank = {"io-bench": 64 * MIB, "spiobench": MIB, "tile-io": 1024 * 1024 * 3}
    if name == "ssca3":  # a chain is shared out, however many ranks there are
        assert most == 48 * 4116480
    elif name == "pio":  # FLASH's 4, 5, 6, 4, … blocks of 1 MiB, read and written
        assert most == 2 * (4 * 10**6 + 3 * 333333) * MIB
    else:
        assert most == 10**6 * of_rank[name]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["io-bench", "--size", "1MiB", "--block", "300KiB"], "not a multiple of the block"),
        (["io-bench", "--block", "6000B"], "not a multiple of 4KiB"),
        (["io-bench", "--size", "100KiB"], "give --block"),
        (["io-bench", "--copies", "3"], "3 are more than the 2 ranks"),
        (["io-bench", "--peak", "fast"], "--peak"),
        (["ssca3", "--fsync", "separate"], "inside or off"),
        (["pio", "--fsync", "beside"], "--fsync: 'beside' is not one of inside, separate, off"),
        (["ssca3", "--prefix", "a/b"], "--prefix"),
        (["spiobench", "--block", "6000B"], "not a multiple of 4KiB"),
        (["spiobench", "--task-size", "1MiB", "--block", "300KiB"], "not a multiple of the block"),
        (["spiobench", "--tasks", "3"], "3 are more than the 2 ranks"),
        (["spiobench", "--prefix", "a/b"], "--prefix"),
        (["tile-io", "--nr-tiles-x", "3"], "3 tiles need as many ranks"),
        (["tile-io", "--overlap-x", "1024"], "--overlap-x"),
        (["tile-io", "--nr-files", "2", "--nr-tiles-x", "2"], "not a divisor"),
        (["tile-io", "--backend", "posix", "--sz-coll-buf", "1MiB"], "hints of --backend mpiio"),
        (["tile-io", "--file", "a/b"], "--file"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    any_engine: Engine, tmp_path: Path, data: Path, words: list[str], said: str
) -> None:
    run = any_engine.run([*words, "--dir", data], tmp_path)
    assert run.code == 2, run
    assert said in run.stderr
    assert list(data.iterdir()) == []
