# SPDX-License-Identifier: BSD-3-Clause
"""overlap from the outside: known answers in virtual time, and what no machine can be faster than;
all data of every method, faults, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import Engine
from queue_runs import needs_uring, without_io_uring

KIB, MIB = 1 << 10, 1 << 20
FIGURES = ("hidden_share", "work_slowdown", "io_seconds", "work_seconds", "both_seconds")
SMALL = ("--transfer", "64KiB,100000B", "--repetitions", "2", "--work-time", "1ms")


@pytest.mark.parametrize(("ranks", "size"), [(1, MIB), (2, MIB), (3, 4 * KIB)])
def test_what_hides_in_virtual_time(
    any_engine: Engine, tmp_path: Path, ranks: int, size: int
) -> None:
    """An operation of 10 ms whatever its size; the computation unless given is twice as long."""
    any_engine.needs_ranks(ranks)
    words = ["overlap", "--backend=sim", "--backend-options=latency=10ms,rank-rate=0"]
    words += [f"--transfer={size}", "--repetitions=4", "--work=compute,memory"]
    run = any_engine.run(words, tmp_path, ranks=ranks)
    assert run.code == 0, run
    result = run.result
    assert len(result.measurements) == 4 * 2 * 2 * 2
    for m in result.measurements:
        asynchronous = m["where"]["method"] == "thread"
        assert m["pattern"] == m["where"]["method"]
        assert m["bytes"] == m["verified_bytes"] / 2 == ranks * size
        assert m["operations"] == ranks
        both = 0.02 if asynchronous else 0.03
        assert m["seconds"]["total"]["max"] == pytest.approx(both)
        assert m["rate"]["value"] == pytest.approx(ranks * size / both)
        assert m["seconds"]["compute"]["mean"] == pytest.approx(0.02)
        assert m["seconds"]["post"]["mean"] == pytest.approx(0 if asynchronous else 0.01)
        assert m["seconds"]["wait"]["mean"] == pytest.approx(0, abs=1e-12)
        detail = m["detail"]
        assert detail["io_seconds"] == pytest.approx(0.01)
        assert detail["work_seconds"] == pytest.approx(0.02)
        assert detail["asked_work_seconds"] == pytest.approx(0.02)
        assert detail["hidden_share"] == pytest.approx(1 if asynchronous else 0, abs=1e-9)
        assert detail["work_slowdown"] == pytest.approx(1)
        assert detail["polls"] == 0
    for method, share, limit in (("blocking", 0, "post"), ("thread", 1, "none")):
        for access in ("write", "read"):
            for work in ("compute", "memory"):
                place = {"method": method, "access": access, "work": work, "transfer_bytes": size}
                hidden = result.figure("hidden_share", **place)
                assert hidden["metric"]["value"] == pytest.approx(share, abs=1e-9)
                assert hidden["metric"]["unit"] == "1"
                assert hidden["metric"]["better"] == "higher"
                assert hidden["samples"]["count"] == 4
                assert hidden["detail"]["limit"] == limit
                assert hidden["detail"]["possible_share"] == pytest.approx(1)
                slower = result.figure("work_slowdown", **place)
                assert slower["metric"]["value"] == pytest.approx(1)
                assert slower["metric"]["better"] == "lower"
                assert result.figure("io_seconds", **place)["metric"]["value"] == pytest.approx(
                    0.01
                )
                both = result.figure("both_seconds", **place)["metric"]["value"]
                assert both == pytest.approx(0.02 if share else 0.03)
    best = result.figure("overlap")
    assert best["metric"]["value"] == pytest.approx(1)
    assert best["detail"]["best"]["method"] == "thread"
    assert "the computation hides it" in run.stdout


def test_sizes_and_what_a_rank_asks_in_virtual_time(any_engine: Engine, tmp_path: Path) -> None:
    """0.875 and 2 MiB at 1 MiB a second alongside 1.5 s. Of 2 s half a second is left for the wait.
    Asked after 0.25, 0.5, 0.75, 1 and 1.25 s, the first is over at the fourth time."""
    model = "rank-rate=1MiB/s,shared-rate=0"
    words = ["overlap", "--backend=sim", f"--backend-options={model}", "--methods=thread"]
    words += ["--transfer=896KiB,2MiB", "--work-time=1.5s", "--poll=5", "--phases=write"]
    run = any_engine.run([*words, "--repetitions=2"], tmp_path, ranks=2)
    assert run.code == 0, run
    small, large, *_ = run.result.measurements
    assert small["detail"]["both_seconds"] == pytest.approx(1.5)
    assert small["detail"]["hidden_share"] == pytest.approx(1)
    assert small["detail"]["polls"] == 2 * 4
    assert large["detail"]["both_seconds"] == pytest.approx(2)
    assert large["seconds"]["wait"]["max"] == pytest.approx(0.5)
    assert large["detail"]["hidden_share"] == pytest.approx(0.75)
    assert large["detail"]["polls"] == 2 * 5
    hidden = run.result.figure("hidden_share", transfer_bytes=2 * MIB)
    assert hidden["detail"]["limit"] == "length"
    assert hidden["detail"]["possible_share"] == pytest.approx(0.75)
    assert hidden["samples"]["count"] == 2
    run = any_engine.run([*words, "--repetitions=1"], tmp_path, ranks=2)
    once = run.result.figure("hidden_share", transfer_bytes=2 * MIB)
    assert once["metric"]["value"] is None
    assert once["metric"]["reason"] == "the share needs at least two repetitions"
    assert once["detail"]["limit"] is None
    assert run.result.figure("overlap")["metric"]["value"] is None
    assert "not known" in run.stdout
    assert "hides (" not in run.stdout


def test_a_measurement_says_when_both_were_done_together(
    any_engine: Engine, tmp_path: Path
) -> None:
    """2 MiB at 1 MiB a second, and a computation of 1.5 s. After two warm-up writes: the operation,
    the computation, both; then both, the computation, the operation."""
    words = ["overlap", "--backend=sim", "--backend-options=rank-rate=1MiB/s,shared-rate=0"]
    words += ["--methods=thread", "--transfer=2MiB", "--work-time=1.5s", "--phases=write"]
    run = any_engine.run([*words, "--verify=off", "--repetitions=2"], tmp_path, ranks=1)
    assert run.code == 0, run
    spans = [m["span"] for m in run.result.measurements]
    assert spans[0] == pytest.approx({"begin_seconds": 7.5, "end_seconds": 9.5})
    assert spans[1] == pytest.approx({"begin_seconds": 9.5, "end_seconds": 11.5})


def test_an_operation_that_takes_no_time_has_no_share(any_engine: Engine, tmp_path: Path) -> None:
    words = ["overlap", "--backend=sim", "--backend-options=rank-rate=0", "--repetitions=1"]
    run = any_engine.run([*words, "--transfer=4KiB", "--work-time=1ms"], tmp_path, ranks=1)
    assert run.code == 0, run
    for m in run.result.measurements:
        assert m["detail"]["hidden_share"] is None
    for figure in run.result.figures:
        if figure["name"] == "hidden_share":
            assert figure["metric"]["value"] is None
            assert figure["metric"]["reason"] == "the operation takes no time"
    assert run.result.figure("overlap")["metric"]["value"] is None


def test_the_least_that_delays_take(any_engine: Engine, tmp_path: Path) -> None:
    """In real time nothing is faster than the delays: a blocking call of 10 ms, which the rank
    sits through, and a wait for the thread's."""
    words = ["overlap", "--backend=null", "--backend-options=transfer=10ms", "--transfer=4KiB"]
    words += ["--work-time=2ms", "--repetitions=2", "--phases=read", "--work=compute,memory"]
    run = any_engine.run([*words, "--work-memory=1MiB"], tmp_path, ranks=2)
    assert run.code == 0, run
    assert len(run.result.measurements) == 2 * 2 * 2
    for m in run.result.measurements:
        detail = m["detail"]
        assert detail["io_seconds"] >= 0.01
        assert detail["both_seconds"] >= 0.01
        assert detail["work_during_io_seconds"] > 0
        assert detail["work_alone_seconds"] > 0
        assert m["verified_bytes"] == 0  # null keeps nothing
        if m["pattern"] == "blocking":
            assert m["seconds"]["post"]["min"] >= 0.01
            assert detail["both_seconds"] >= 0.01 + m["seconds"]["compute"]["max"] - 1e-9
        share = (detail["io_seconds"] + detail["work_seconds"] - detail["both_seconds"]) / detail[
            "io_seconds"
        ]
        assert detail["hidden_share"] == pytest.approx(share, abs=1e-9)  # rounded


@pytest.mark.parametrize("words", [(), ("--direct", "--transfer", "4KiB,64KiB"), ("--poll", "3")])
def test_all_data_of_every_method(
    any_engine: Engine, tmp_path: Path, data: Path, words: tuple[str, ...]
) -> None:
    sizes = (4 * KIB, 64 * KIB) if "--direct" in words else (64 * KIB, 100000)
    small = [w for w in SMALL if "--direct" not in words or w not in ("--transfer", SMALL[1])]
    run = any_engine.run(["overlap", *small, *words, "--dir", data], tmp_path, ranks=2)
    assert run.code == 0, run
    methods = [row["method"] for row in run.result.run["overlap"]["methods"]]
    assert {"blocking", "thread"} <= set(methods)
    done = {m["pattern"] for m in run.result.measurements}
    # What only the run found missing (io_uring that the kernel forbids) is reported.
    left_out = run.result.figure("overlap")["detail"]["left_out"]
    assert done == set(methods) - {why.partition(":")[0] for why in left_out}
    assert len(run.result.measurements) == len(done) * 2 * 2 * 2
    for m in run.result.measurements:
        assert m["valid"]
        assert m["error_count"] == 0
        assert m["where"]["transfer_bytes"] in sizes
        assert m["bytes"] == 2 * m["where"]["transfer_bytes"]
        assert m["verified_bytes"] == 2 * m["bytes"]
        assert m["detail"]["both_seconds"] > 0
    for name in FIGURES:
        figures = [f for f in run.result.figures if f["name"] == name]
        assert len(figures) == len(done) * 2 * 2
        # A share outside 0 to 1 beyond its interval is not stated.
        assert all(f["samples"]["count"] == 2 for f in figures if f["metric"]["value"] is not None)
        assert name == "hidden_share" or all(f["metric"]["value"] is not None for f in figures)
    assert list(data.iterdir()) == []


def test_files_that_are_kept_hold_each_size_at_its_place(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = ["overlap", *SMALL, "--methods", "blocking,thread", "--dir", data, "--keep"]
    run = any_engine.run(words, tmp_path, ranks=2)
    assert run.code == 0, run
    assert sorted(f.name for f in data.iterdir()) == ["overlap_blocking", "overlap_thread"]
    for file in data.iterdir():
        assert file.stat().st_size == 2 * (64 * KIB + 100000)
    run = any_engine.run(words, tmp_path, ranks=2)
    assert run.code != 0
    assert "overlap_" in run.stderr
    run = any_engine.run([*words, "--overwrite"], tmp_path, ranks=2)
    assert run.code == 0, run


def test_until_the_times_are_known(any_engine: Engine, tmp_path: Path) -> None:
    words = ["overlap", "--backend=sim", "--backend-options=rank-rate=1GB/s", "--until-ci=5%"]
    words += ["--until-ci-least=0s"]
    run = any_engine.run([*words, "--transfer=1MiB"], tmp_path, ranks=2)
    assert run.code == 0, run
    assert len(run.result.measurements) == 10 * 2 * 2
    figure = run.result.figure("until_ci")
    assert figure["valid"] is True
    rows = figure["detail"]["figures"]
    assert {(row["figure"], row["unit"]) for row in rows} == {
        ("io_seconds", "s"),
        ("both_seconds", "s"),
    }
    assert len(rows) == 2 * 2 * 2
    assert "--until-ci 5 %: kept after 10 repetitions" in run.stdout


def test_a_full_disk_is_reported_with_the_method_and_the_place(
    any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    place = mount("-t", "tmpfs", "-o", "size=1m", "none")
    words = ["overlap", "--methods=thread", "--transfer=2MiB", "--dir", place, "--max-bytes=1GiB"]
    run = any_engine.run([*words, "--repetitions=1"], tmp_path, ranks=1)
    assert run.code == 3, run
    assert "No space left" in run.stderr + run.stdout
    assert run.result.status == "io_error"
    assert list(place.iterdir()) == []


def test_a_signal_waits_for_what_is_under_way(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = [
        "overlap",
        "--transfer=64KiB",
        "--repetitions=100000",
        "--work-time=5ms",
        "--dir",
        data,
    ]
    job = any_engine.start(words, tmp_path, ranks=2)
    job.wait_for_measurements(5)
    for pid in job.ranks():
        os.kill(pid, signal.SIGUSR1)
    run = job.finish()
    assert run.code == 4, run
    assert run.result.status == "interrupted"
    assert all(m["valid"] for m in run.result.measurements)
    assert len(run.result.figures) > 0
    assert list(data.iterdir()) == []


def test_a_kernel_that_forbids_io_uring(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    needs_uring(any_engine)

    def without(*words: str) -> subprocess.CompletedProcess[str]:
        command = ["overlap", "--transfer=4KiB", "--repetitions=1", "--work-time=1ms"]
        return without_io_uring(any_engine, [*command, f"--dir={data}", *words], tmp_path)

    run = without("-o", "left.jsonl")
    assert run.returncode == 0, run
    assert "left out: uring: " in run.stdout
    lines = [json.loads(text) for text in (tmp_path / "left.jsonl").read_text().splitlines()]
    methods = {line["pattern"] for line in lines if line["kind"] == "measurement"}
    assert "uring" not in methods
    assert {"blocking", "thread"} <= methods
    run = without("--methods=uring,thread")
    assert run.returncode == 6, run
    assert "does not allow io_uring" in run.stderr
    assert list(data.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--methods", "telepathy"], "--methods"),
        (["--ways", "thread"], "unknown option --ways; did you mean --methods?"),
        (["--methods", "thread,thread"], "nothing is measured twice"),
        (["--transfer", "0"], "--transfer"),
        (["--transfer", "1MiB,1048576"], "nothing is measured twice"),
        (["--direct", "--transfer", "5000B"], "5kB is not a multiple of 4KiB"),
        (["--direct", "--backend", "null"], "backend null knows no page cache"),
        (
            ["--backend", "sim", "--methods", "uring"],
            "--methods uring: backend sim models all methods",
        ),
        (["--work-time", "0s"], "--work-time"),
        (["--poll", "-1"], "--poll"),
        (["--repetitions", "0"], "--repetitions"),
        (["--until-ci", "5%", "--repetitions", "2"], "and must be at least 10"),
        (["--backend-options", "speed=1"], "unknown option --speed"),
        (["--transfer", "1TiB", "--repetitions", "1000000"], "larger than 8 EiB"),
    ],
)
def test_what_is_refused(
    any_engine: Engine, words: list[str], message: str, tmp_path: Path, data: Path
) -> None:
    plan = ["--plan", "--plan-ranks", "2"]
    run = any_engine.alone(["overlap", *words, *plan, "--dir", data], tmp_path)
    assert run.code == 2, run
    assert message in run.stderr, run


def test_a_method_that_a_backend_lacks(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    words = ["overlap", "--backend=posix", "--dir", data, "--transfer=4KiB", "--repetitions=1"]
    run = any_engine.run([*words, "--methods=nonblocking"], tmp_path, ranks=1)
    assert run.code == 2, run
    assert "backend posix has no transfers that continue by themselves" in run.stderr
    run = any_engine.run([*words, "--work-time=1ms"], tmp_path, ranks=1)
    assert run.code == 0, run
    (why,) = [w for w in run.result.run["overlap"]["left_out"] if w.startswith("nonblocking")]
    assert "backend posix" in why
    assert "left out: nonblocking" in run.stdout


def test_the_plan(any_engine: Engine, tmp_path: Path) -> None:
    """Two methods, 2 x 1 MiB at 1 MB/s: I/O alone 2.097 s, computation alone 1 s, both 3.097 s."""
    words = ["overlap", "--backend=null", "--transfer=1MiB", "--work-time=1s", "--repetitions=5"]
    words += ["--plan-ranks=2", "--plan-rate=1MB/s", "--phases=write", "--plan-json"]
    run = any_engine.alone(words, tmp_path)
    assert run.code == 0, run
    plan = json.loads(run.stdout)
    io = 2 * MIB / 1e6
    assert plan["methods"] == ["blocking", "nonblocking", "thread"]
    assert plan["bytes_on_storage"] == 3 * 2 * MIB
    (cell,) = plan["cells"]
    assert cell["io_seconds"] == pytest.approx(io)
    assert cell["work_seconds"] == 1
    # Before it each method writes everything twice.
    warm_up = 3 * 2 * io
    assert plan["expected_seconds"] == pytest.approx(5 * 3 * 2 * (io + 1) + warm_up)
    assert plan["estimate"]["bytes_written"]["expected"] == (5 * 2 + 2) * 3 * 2 * MIB
    assert plan["estimate"]["bytes_read"]["most"] == 0
