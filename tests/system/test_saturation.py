# SPDX-License-Identifier: BSD-3-Clause
"""saturation from the outside: known answers in virtual time, and which ranks take part."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines import Engine, Job, two_nodes

AXES = ("pattern", "access", "placing", "processes")
SMALL = ("--size", "256KiB", "--transfer", "64KiB")


@pytest.mark.parametrize(
    ("all_together", "enough", "shape"),
    [(1000e6, None, "linear"), (250e6, None, "growing"), (205e6, 2, "level"), (100e6, 1, "flat")],
)
def test_the_answer_of_a_storage_that_is_shared(
    any_engine: Engine,
    tmp_path: Path,
    data: Path,
    all_together: float,
    enough: int | None,
    shape: str,
) -> None:
    """A rank reaches at most 100 MB/s, all together the rate of the parameter. If the rate still
    grows with all ranks, no number is enough."""
    model = f"rank-rate=100MB/s,shared-rate={all_together:.0f}B/s"
    words = ["saturation", "--backend", "sim", "--backend-options", model, *SMALL]
    run = any_engine.run([*words, "--dir", data], tmp_path, ranks=4)
    assert run.code == 0, run
    for access in ("write", "read"):
        for processes in (1, 2, 4):
            rate = min(processes * 100e6, all_together)
            found = run.result.figure("bandwidth", access=access, processes=processes)
            assert found["metric"]["value"] == pytest.approx(rate)
        answer = run.result.figure("enough_ranks", access=access)
        assert answer["metric"]["value"] == enough
        assert answer["samples"]["count"] == 3
        low, high = answer["samples"]["low95"], answer["samples"]["high95"]
        assert (low, high) == (enough or 4, enough or 4)
        detail = answer["detail"]
        assert (detail["of_ranks"], detail["shape"]) == (4, shape)
        assert detail["fewest_rate_bytes_per_second"] == pytest.approx(100e6)
        said = f"use {enough} of 4" if enough else "highest rate "
        assert f"{access}, transfer 64 KiB, placing spread: {said}" in run.stdout
    growing = "the rate still grows with all 4 processes: more may be needed"
    assert (growing in run.stdout) == (enough is None)
    whole = run.result.figure("saturation")["metric"]
    assert (whole["value"], whole.get("reason")) == (enough, None if enough else growing)


def test_ranks_are_spread_over_the_nodes_or_packed(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """Ranks 0 to 3 are on the nodes a, b, b, a."""
    any_engine.needs_ranks(4)
    saved = tmp_path / "ranks.csv"
    words = ["saturation", *SMALL, "--placing", "packed,spread", "--repetitions", "1"]
    words += ["--processes", "2,3,4", "--files", "own,shared"]
    words += ["--dir", str(data), "--save-ranks", str(saved), "-o", "result.jsonl"]
    run = Job(any_engine, two_nodes(any_engine, words), tmp_path, any_engine.environment()).finish()
    assert run.code == 0, run
    header, *lines = saved.read_text().splitlines()
    rows = [dict(zip(header.split(","), line.split(","), strict=True)) for line in lines]
    expected = {
        ("packed", "2"): ["0", "3"],
        ("packed", "3"): ["0", "3", "1"],
        ("packed", "4"): ["0", "3", "1", "2"],
        ("spread", "2"): ["0", "1"],
        ("spread", "3"): ["0", "1", "3"],
        ("spread", "4"): ["0", "1", "3", "2"],
    }
    for (placing, processes), ranks in expected.items():
        for pattern in ("own file", "shared file"):
            for access in ("write", "read"):
                place = (pattern, access, placing, processes)
                mine = [r for r in rows if tuple(map(r.get, AXES)) == place]
                assert [r["rank"] for r in mine] == ranks
    for m in run.result.measurements:
        placing, processes = m["where"]["placing"], m["where"]["processes"]
        assert m["nodes"] == (1 if (placing, processes) == ("packed", 2) else 2)
        assert m["bytes"] == processes * 256 * 1024
        assert m["verified_bytes"] == (m["bytes"] if m["access"] == "read" else 0)
        assert m["error_count"] == 0
        taking_part = expected[placing, str(processes)]
        assert str(m["detail"]["slowest_rank"]["rank"]) in taking_part
        assert str(m["detail"]["fastest_rank"]["rank"]) in taking_part
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("ranks", [1, 2])
def test_one_and_two_ranks(any_engine: Engine, ranks: int, tmp_path: Path, data: Path) -> None:
    run = any_engine.run(["saturation", *SMALL, "--dir", data], tmp_path, ranks=ranks)
    assert run.code == 0, run
    assert len(run.result.measurements) == 3 * 2 * ranks
    answers = [f for f in run.result.figures if f["name"] == "enough_ranks"]
    # Of a single number of processes there is nothing to say.
    assert len(answers) == (0 if ranks == 1 else 2)
    assert list(data.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--processes", "3"], "--processes: 3 are more than the 2 ranks of the run"),
        (["--processes", "0"], "--processes"),
        (["--placing", "dense"], "--placing"),
        (["--transfer", "5000B"], "--transfer: 5kB is not a multiple of 4KiB"),
        (["--transfer", "48KiB"], "--size: 256KiB is not a multiple of the transfer 48KiB"),
        (["--processes", "2,2"], "nothing is measured twice"),
    ],
)
def test_what_is_refused(
    any_engine: Engine, words: list[str], message: str, tmp_path: Path, data: Path
) -> None:
    plan = ["--plan", "--plan-ranks", "2"]
    run = any_engine.alone(["saturation", *SMALL, *words, *plan, "--dir", data], tmp_path)
    assert run.code == 2, run
    assert message in run.stderr, run


def test_saved_calls_begin_after_the_open(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """Opening takes 2 s, a call 1 s: since the ranks' common start, in each repetition."""
    model = "rank-rate=65536B/s,open=2s"
    words = ["saturation", "--backend", "sim", "--backend-options", model, "--processes", "2"]
    words += ["--size", "128KiB", "--transfer", "64KiB", "--repetitions", "2", "--phases", "write"]
    run = any_engine.run([*words, "--save-calls", "calls", "--dir", data], tmp_path, ranks=2)
    assert run.code == 0, run
    files = sorted(tmp_path.glob("calls-*.csv"))
    assert len(files) == 2 * 2
    for file in files:
        _, *rows = [line.split(",") for line in file.read_text().splitlines()]
        assert [float(row[0]) for row in rows] == pytest.approx([2, 3])
        assert [float(row[1]) for row in rows] == pytest.approx([1, 1])
