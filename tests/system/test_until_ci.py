# SPDX-License-Identifier: BSD-3-Clause
"""--until-ci: as many repetitions, or rounds of the whole, as it takes, or a limit and words."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from engines import Engine, Run

# Programmed rates are equal in all repetitions: intervals without width.
IOR = ("ior", "--block", "1MiB", "--backend", "sim", "--backend-options", "rank-rate=100MB/s")
MDTEST = ("mdtest", "-n", "10", "--backend", "sim", "--backend-options", "metadata=2ms")
TILES = ("tile-io", "--backend", "sim", "--backend-options", "rank-rate=100MB/s")
# Real storage, and a width that no three measurements have.
REAL_IOR = ("ior", "--block", "64KiB", "--transfer", "64KiB", "--until-ci", "0.0001%")
REAL_MDTEST = ("mdtest", "-n", "10", "--things", "files", "--until-ci", "0.0001%")
REAL_TILES = ("tile-io", "--until-ci", "0.0001%")
# Written and read back, so that all three bandwidths count.
FLASH = ("flash-io", "--cells", "4", "--blocks", "2", "--backend", "sim",
         "--backend-options", "rank-rate=100MB/s")  # fmt: skip
REAL_FLASH = ("flash-io", "--cells", "2", "--dimensions", "2", "--blocks", "1", "--fill", "index",
              "--read", "checkpoint", "--until-ci", "0.0001%")  # fmt: skip

MEAN = {
    "ior": "_bandwidth",
    "mdtest": "rate",
    "flash-io": ("flash_io", "flash_io_synced", "flash_io_restart"),
    "tile-io": "bandwidth",
    "saturation": "bandwidth",
}
REPETITIONS = {
    "ior": "--repetitions",
    "mdtest": "--iterations",
    "flash-io": "--repetitions",
    "tile-io": "--repetitions",
}


# Models take no time, so slow changes cannot show.
AT_ONCE = ("--until-ci-least", "0s")


def done(engine: Engine, where: Path, *words: object, ranks: int = 2) -> Run:
    run = engine.run([*words, *AT_ONCE, "--dir", where / "data"], where, ranks=ranks)
    assert run.code == 0, run
    return run


def means(run: Run) -> list[dict[str, Any]]:
    end = MEAN[run.result.run["benchmark"]]
    return [f for f in run.result.figures if f["name"].endswith(end)]


def check_figures(reported: dict[str, Any], run: Run) -> None:
    """What until_ci says of each figure is what the figure says of itself."""
    found = reported["detail"]["figures"]
    by_place = {
        (f["name"], json.dumps(f["where"], sort_keys=True)): f
        for f in means(run)
        if f["metric"]["value"] is not None
    }
    assert len(found) == len(by_place) > 0
    for one in found:
        mean = by_place[one["figure"], json.dumps(one["where"], sort_keys=True)]
        assert one["count"] == mean["samples"]["count"]
        assert one["mean"] == pytest.approx(mean["metric"]["value"])
        # An interval that is checked after each repetition is wider than one for a fixed number.
        if mean["samples"]["low95"] is not None:
            half = (mean["samples"]["high95"] - mean["samples"]["low95"]) / 2
            assert one["half_width"] >= half * 0.999 - 1e-3
        assert one["half_width_share"] == pytest.approx(one["half_width"] / one["mean"])
        enough = one["count"] >= 10 and one["half_width_share"] <= reported["detail"]["asked_share"]
        assert one["within"] == enough


@pytest.mark.parametrize("words", [IOR, MDTEST, FLASH, TILES], ids=lambda words: words[0])
def test_equal_rates_are_precise_after_ten(
    any_engine: Engine, tmp_path: Path, data: Path, words: tuple[str, ...]
) -> None:
    run = done(any_engine, tmp_path, *words, "--until-ci", "5%")
    reported = run.result.figure("until_ci")
    assert reported["valid"] is True
    assert reported["reasons"] == []
    assert reported["metric"]["value"] == pytest.approx(0, abs=1e-9)
    detail = reported["detail"]
    assert (detail["stopped_by"], detail["repetitions"]) == ("precise", 10)
    assert (detail["asked_share"], detail["most_repetitions"]) == (0.05, 100)
    assert detail["limit_seconds"] == 600
    check_figures(reported, run)
    assert {m["repetition"] for m in run.result.measurements} == set(range(1, 11))
    assert "--until-ci 5 %: kept after 10 repetitions" in run.stdout
    assert run.result.run["options"]["until-ci"] == 0.05
    assert run.result.run["options"][REPETITIONS[words[0]].removeprefix("--")] == 100
    assert list(data.iterdir()) == []


@pytest.mark.parametrize(
    "words", [REAL_IOR, REAL_MDTEST, REAL_FLASH, REAL_TILES], ids=lambda words: words[0]
)
def test_stopped_by_the_most_repetitions(
    any_engine: Engine, tmp_path: Path, data: Path, words: tuple[str, ...]
) -> None:
    run = done(any_engine, tmp_path, *words, REPETITIONS[words[0]], "11")
    reported = run.result.figure("until_ci")
    assert reported["valid"] is False
    assert reported["detail"]["stopped_by"] == "repetitions"
    assert reported["detail"]["repetitions"] == reported["detail"]["most_repetitions"] == 11
    assert reported["reasons"][0].startswith("there may be no more than 11 repetitions before")
    check_figures(reported, run)
    widest = max(f["half_width_share"] for f in reported["detail"]["figures"])
    assert reported["metric"]["value"] == pytest.approx(widest)
    assert "--until-ci 0.0001 %: NOT KEPT after 11 repetitions" in run.stdout
    assert run.stdout.count("(of 11 values)") == min(8, len(reported["detail"]["figures"]))
    assert list(data.iterdir()) == []


NOISY_WRITES = "rank-rate=100MB/s,noise=0.2,noise-of=writes"


@pytest.mark.parametrize(
    "words",
    [
        ("ior", "--block", "1MiB", "--repetitions", "12"),
        ("saturation", "--size", "64KiB", "--transfer", "64KiB", "--processes", "2",
         "--repetitions", "12"),
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_only_what_is_wide_is_measured_again(
    any_engine: Engine, tmp_path: Path, data: Path, words: tuple[str, ...]
) -> None:
    """Writes have noise of 20 %, reads none: ten reads are enough."""
    sim = ("--backend", "sim", "--backend-options", NOISY_WRITES)
    run = done(any_engine, tmp_path, *words, *sim, "--until-ci", "1%")
    reported = run.result.figure("until_ci")
    assert (reported["detail"]["stopped_by"], reported["detail"]["repetitions"]) == (
        "repetitions",
        12,
    )
    check_figures(reported, run)
    assert {f["where"]["access"]: f["count"] for f in reported["detail"]["figures"]} == {
        "write": 12,
        "read": 10,
    }
    assert len(run.result.rows(access="write")) == 12
    assert len(run.result.rows(access="read")) == 10
    (writing,) = [f for f in means(run) if f["where"]["access"] == "write"]
    assert writing["detail"]["interval"]["rounds"] == 12
    assert run.result.run["options"]["backend-options"] == NOISY_WRITES


def test_phases_that_only_look_are_left_out_when_they_are_known(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """A stat takes 2 ms, a creation or removal 50 % more or less."""
    model = "metadata=2ms,noise=0.5,noise-of=writes"
    words = (
        "mdtest",
        "--items",
        "1",
        "--things",
        "files",
        "--iterations",
        "12",
        "--backend",
        "sim",
    )
    run = done(any_engine, tmp_path, *words, "--backend-options", model, "--until-ci", "1%")
    counts = {
        phase: len(run.result.rows(phase=f"File {phase}"))
        for phase in ("creation", "stat", "removal")
    }
    assert counts == {"creation": 12, "stat": 10, "removal": 12}


def test_stopped_by_the_time_limit(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """1 MiB is written and read in 10.5 ms each: the second repetition ends after 42 ms."""
    run = done(any_engine, tmp_path, *IOR, "--until-ci", "5%", "--until-ci-limit", "30ms")
    detail = run.result.figure("until_ci")["detail"]
    assert (detail["stopped_by"], detail["repetitions"]) == ("time", 2)
    assert detail["seconds"] == pytest.approx(4 * 2**20 / 100e6)
    assert [f["within"] for f in detail["figures"]] == [False, False]  # two are too few
    assert "NOT KEPT after 2 repetitions: --until-ci-limit (30 ms) was over" in run.stdout
    assert len(run.result.measurements) == 4


def test_each_number_of_ranks_has_its_repetitions(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = done(any_engine, tmp_path, *MDTEST, "--ranks", "1,2", "--until-ci", "5%")
    for ranks in (1, 2):
        reported = run.result.figure("until_ci", ranks=ranks, unique=False)
        assert reported["detail"]["repetitions"] == 10
        assert {f["where"]["ranks"] for f in reported["detail"]["figures"]} == {ranks}


def test_ranks_that_do_not_take_part_are_reported(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = done(any_engine, tmp_path, *IOR, "--ranks", "1", "--until-ci", "5%")
    assert run.result.figure("until_ci")["detail"]["repetitions"] == 10


def test_with_a_stonewall_and_several_sizes(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """5 ms of 100 MB/s: the stonewall cuts off every phase at the same call."""
    words = ["--stonewall", "5ms", "--transfer", "64KiB,256KiB", "--until-ci", "1%"]
    run = done(any_engine, tmp_path, *IOR, *words)
    reported = run.result.figure("until_ci")
    assert (reported["detail"]["stopped_by"], reported["detail"]["repetitions"]) == ("precise", 10)
    sizes = {f["where"]["transfer_bytes"] for f in reported["detail"]["figures"]}
    assert sizes == {65536, 262144}
    assert run.result.rows(access="write")[0]["stopped_by"] == "time"


def test_a_signal_ends_it(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """The first signal; what is not kept is reported as such, and nothing is left."""
    endless = ["--until-ci-limit", "0", "--repetitions", "1000000"]
    job = any_engine.start([*REAL_IOR, *endless, "--dir", data], tmp_path)
    job.wait_for_measurements(4)
    for pid in job.ranks():
        os.kill(pid, signal.SIGUSR1)
    run = job.finish()
    assert run.code == 4, run
    assert run.result.status == "interrupted"
    reported = run.result.figure("until_ci")
    assert reported["valid"] is False
    assert reported["detail"]["stopped_by"] == "ended"
    assert reported["detail"]["repetitions"] >= 1
    assert list(data.iterdir()) == []


def test_the_cap_counts_the_most_repetitions(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """Files that are kept for each repetition: 2 MiB each."""
    words = ["ior", "--block", "1MiB", "--file-each-repetition", "--keep", "--until-ci", "5%"]
    cap = ["--max-bytes", "20MiB", "--dir", data]
    run = any_engine.run([*words, *cap], tmp_path)
    assert run.code == 2, run
    assert "--max-bytes: 20MiB is too small: the files need 200 MiB; raise it" in run.stderr, run
    assert list(tmp_path.glob("*.jsonl")) == []
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("name", ["ior", "mdtest", "tile-io"])
def test_the_plan_shows_the_least_and_the_most(
    any_engine: Engine, tmp_path: Path, name: str
) -> None:
    def plan(*words: str) -> Run:
        few = ["-n", "10"] if name == "mdtest" else []
        run = any_engine.alone([name, *few, *words], tmp_path)
        assert run.code == 0, run
        return run

    one = json.loads(plan("--plan-json").stdout)
    warm_up = one["estimate"]["warm_up_seconds"]
    once = one["expected_seconds"] - warm_up
    assert "until_ci" not in json.loads(plan("--plan-json").stdout)
    many = json.loads(
        plan(
            "--until-ci", "5%", REPETITIONS[name], "17", "--until-ci-least", "0s", "--plan-json"
        ).stdout
    )
    assert many["expected_seconds"] == pytest.approx(17 * once + warm_up)
    assert many["until_ci"]["least_seconds"] == pytest.approx(10 * once)
    assert many["until_ci"]["most_repetitions"] == 17
    text = plan("--until-ci", "5%", "--plan").stdout
    noun = "iterations" if name == "mdtest" else "repetitions"
    assert f"at least 10 and at most 100 {noun}" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("ior --until-ci 0%", "--until-ci: '0%' is not above 0 and below 100 %"),
        ("ior --until-ci 100%", "--until-ci: '100%' is not above 0 and below 100 %"),
        ("ior --until-ci 5", "--until-ci: '5' is 500 %; did you mean 5%?"),
        ("tile-io --until-ci few", "--until-ci: 'few' is not a number"),
        ("mdtest --until-ci=-5%", "--until-ci: '-5%' is negative"),
        ("mdtest --until-ci 5%%", "--until-ci: '5%%' has the unknown unit '%%'"),
        (
            "ior --until-ci 5% --repetitions 2",
            "--repetitions 2: with --until-ci this is the maximum",
        ),
        ("ior --until-ci 5% --repetitions 1", "and must be at least 10"),
        ("tile-io --until-ci 5% -r 1", "--repetitions 1: with --until-ci"),
        ("mdtest --until-ci 5% -i 2", "--iterations 2: with --until-ci"),
        ("ior --until-ci-limit 3s", "--until-ci-limit needs --until-ci"),
        ("ior --until-ci-least 3s", "--until-ci-least needs --until-ci"),
        ("ior --until-ci 5% --until-ci-limit soon", "--until-ci-limit: 'soon' is not a number"),
        ("ior --until-ci 5% --segments 0", "files of --segments 0 hold nothing that has a rate"),
        ("mdtest -n 5 --until-ci 5% --phases create --keep", "needs create and remove in --phases"),
    ],
)
def test_what_is_refused(any_engine: Engine, tmp_path: Path, words: str, message: str) -> None:
    run = any_engine.alone([*words.split(), "--plan"], tmp_path)
    assert run.code == 2, run
    assert message in run.stderr, run


def test_repetitions_of_a_pio_configuration_are_the_most(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    for count, code in ((9, 2), (11, 0)):
        config = tmp_path / f"{count}.conf"
        config.write_text(
            f"ModuleReps {count}\n<ap_module>\nModuleName Segmented\n"
            "DataSize 64KiB\nBufferSize 16KiB\n</ap_module>\n"
        )
        words = ["pio", "--config", config, "--until-ci", "5%", "--plan"]
        run = any_engine.alone(words, tmp_path)
        assert run.code == code, run
        if code == 2:
            assert "ModuleReps 9: with --until-ci this is the maximum" in run.stderr, run
        else:
            assert "at most 11 repetitions" in run.stdout, run


# Benchmarks that are measured as a whole, in rounds. Virtual times are equal in each.
EFF_IO = ("b-eff-io", "--partitions", "2", "--memory-per-rank", "1MiB", "--time", "0s",
          "--backend", "sim", "--backend-options", "rank-rate=100MB/s,latency=1ms")  # fmt: skip
NETWORK = ("--backend", "sim", "--backend-options", "message-latency=1us,message-rate=1GB/s")
EFF = ("b-eff", "--memory-per-rank", "128MiB", "--loop-time", "1us", "--repetitions", "1",
       "--random-patterns", "1", "--patterns", "counting", "--seed", "1", *NETWORK)  # fmt: skip
# Of the 30 random rings of a round one is enough.
RINGS = ("rings", "--seed", "1", "--ring-time", "1us", *NETWORK)
OF_ROUNDS = {"b-eff-io": "b_eff_io", "b-eff": "b_eff", "rings": "RandomlyOrderedRingBandwidth"}


def test_random_rings_have_a_time(any_engine: Engine, tmp_path: Path) -> None:
    run = any_engine.run(RINGS, tmp_path, ranks=2)
    assert run.code == 0, run
    mean = run.result.figure("RandomlyOrderedRingLatency")
    assert mean["metric"]["value"] > 0
    assert mean["reasons"] == ["1 of 30 random rings: --ring-time was over"]
    assert run.result.figure("NaturallyOrderedRingLatency")["reasons"] == []


def rounds_of(engine: Engine, where: Path, *words: str) -> Run:
    more = [] if words[0] != "b-eff-io" else ["--dir", where / "data"]
    run = engine.run([*words, *more], where, ranks=2)  # ten rounds of rings
    assert run.code == 0, run
    return run


@pytest.mark.parametrize("words", [EFF_IO, EFF, RINGS], ids=lambda words: words[0])
def test_rounds_that_are_equal(
    any_engine: Engine, tmp_path: Path, data: Path, words: tuple[str, ...]
) -> None:
    run = rounds_of(any_engine, tmp_path, *words, "--until-ci", "5%", *AT_ONCE)
    reported = run.result.figure("until_ci")
    assert reported["valid"] is True, reported
    assert (reported["detail"]["stopped_by"], reported["detail"]["repetitions"]) == ("precise", 10)
    assert "--until-ci 5 %: kept after 10 repetitions" in run.stdout
    whole = run.result.figure(OF_ROUNDS[words[0]])
    assert whole["samples"]["count"] == 10
    assert whole["samples"]["low95"] == pytest.approx(whole["metric"]["value"], rel=1e-6)
    assert whole["detail"]["interval"]["rounds"] == 10
    assert whole["detail"]["interval"]["unreliable"] is False
    assert {m["repetition"] for m in run.result.measurements} == set(range(1, 11))
    if words[0] != "rings":
        assert whole["valid"] is False
        assert any("round" in reason for reason in whole["reasons"])
        assert whole["detail"]["official_time_share"] > 0
    else:  # half of 1 us and 2,000,000 B at 1 GB/s
        assert whole["metric"]["value"] == pytest.approx(2e6 / 1.0005e-3)
    # Whatever is a rate of the whole has an interval, or says why it has none.
    for figure in run.result.figures:
        if figure["name"] not in ("until_ci", "shared_file_pointer", "balance_time"):
            assert figure["detail"]["interval"]["rounds"] == 10, figure
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("words", [EFF_IO, EFF], ids=lambda words: words[0])
def test_one_round_has_no_interval_and_says_why(
    any_engine: Engine, tmp_path: Path, data: Path, words: tuple[str, ...]
) -> None:
    once = rounds_of(any_engine, tmp_path, *words)
    twice = rounds_of(any_engine, tmp_path, *words, "--rounds", "2")
    one, two = (run.result.figure(OF_ROUNDS[words[0]]) for run in (once, twice))
    assert two["metric"]["value"] == pytest.approx(one["metric"]["value"], rel=1e-6)
    assert two["samples"]["count"] == 2
    assert "samples" not in one
    assert "--rounds or --until-ci" in one["detail"]["interval"]["none"]


def test_a_signal_in_a_later_round_leaves_the_value_of_those_before(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """95 rows a round: after 200 there are two complete ones."""
    endless = ["--until-ci", "0.0001%", "--until-ci-limit", "0", "--rounds", "10000"]
    job = any_engine.start([*EFF_IO[:7], *endless, "--dir", data], tmp_path)
    job.wait_for_measurements(200)
    for pid in job.ranks():
        os.kill(pid, signal.SIGUSR1)
    run = job.finish()
    assert run.code == 4, run
    whole = run.result.figure("b_eff_io")
    assert whole["metric"]["value"] > 0
    assert whole["valid"] is False
    assert whole["samples"]["count"] >= 2
    assert run.result.figure("until_ci")["detail"]["stopped_by"] == "ended"
    assert list(data.iterdir()) == []


def test_rounds_of_several_partitions(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    run = rounds_of(any_engine, tmp_path, *EFF_IO, "--partitions", "1", "--rounds", "2")
    for partition, ranks in enumerate((2, 1)):
        figure = run.result.figure("b_eff_io_partition", partition=partition, ranks=ranks)
        assert figure["samples"]["count"] == 2
    rows = run.result.rows(access="write", pattern="scatter")
    assert {m["repetition"] for m in rows} == {1, 2}
    assert "until_ci" not in {f["name"] for f in run.result.figures}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("b-eff-io --until-ci 5% --rounds 2", "--rounds 2: with --until-ci this is the maximum"),
        ("b-eff --until-ci 5% --rounds 1", "and must be at least 10"),
        ("rings --rounds 0", "--rounds: 0 is"),
        ("rings --until-ci-limit 3s", "--until-ci-limit needs --until-ci"),
        ("b-eff-io --adapt --rounds 2", "--adapt: not with several --rounds"),
    ],
)
def test_rounds_that_are_refused(
    any_engine: Engine, tmp_path: Path, words: str, message: str
) -> None:
    run = any_engine.alone([*words.split(), "--plan", "--plan-ranks", "2"], tmp_path)
    assert run.code == 2, run
    assert message in run.stderr


@pytest.mark.parametrize("name", ["b-eff-io", "b-eff", "rings"])
def test_the_plan_of_rounds(any_engine: Engine, tmp_path: Path, name: str) -> None:
    def plan(*words: str) -> dict[str, Any]:
        run = any_engine.alone([name, "--plan-json", "--plan-ranks", "2", *words], tmp_path)
        assert run.code == 0, run
        reported: dict[str, Any] = json.loads(run.stdout)
        return reported

    until = plan("--until-ci", "5%", "--until-ci-limit", "0")
    most = 30 if name == "b-eff-io" else 100
    assert until["rounds"] == until["until_ci"]["most_repetitions"] == most
    if name != "b-eff-io":  # there the time is divided among the rounds
        assert until["expected_seconds"] == pytest.approx(100 * plan()["expected_seconds"])
    else:
        assert plan("--rounds", "3")["scheduled_seconds"] == plan()["scheduled_seconds"]
