# SPDX-License-Identifier: BSD-3-Clause
"""How benches judge: ratios, costs, spreads, and a peer that is not there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import launcher
from harness import (
    AbsentError,
    BenchError,
    Kit,
    Pair,
    alternately,
    measure,
    median_interval,
    rounds,
    run,
)
from ior import rates_in
from patience import SECONDS
from run import BEGIN, END, makers, page_lines, summary, write_page


def _cycling(*values: float) -> Callable[[], dict[str, float]]:
    rest: Iterator[float] = iter(values)
    return lambda: {"rate": next(rest)}


def _pair(ours: tuple[float, ...], theirs: tuple[float, ...], **limit: Any) -> Pair:
    return Pair("pair", "a question", _cycling(*ours), _cycling(*theirs), "MB/s", rounds=3, **limit)


def _passed(pair: Pair) -> bool | None:
    (verdict,) = run(pair)
    return verdict.passed


def test_each_median_must_be_within_the_spread_of_the_other() -> None:
    near = (1.0, 2.0, 3.0)
    assert _passed(_pair(near, (2.5, 1.5, 2.2), within_spread=True)) is True
    # Our median of 2 lies in 1.9 … 9, but theirs of 8 not in 1 … 3.
    assert _passed(_pair(near, (1.9, 8.0, 9.0), within_spread=True)) is False
    # And the other way round.
    assert _passed(_pair((1.9, 8.0, 9.0), near, within_spread=True)) is False


def test_ratios_and_costs() -> None:
    theirs = (2.0, 4.0, 8.0)
    # Ratios 1, 0.5, 1: the median is 1.
    assert _passed(_pair((2.0, 2.0, 8.0), theirs, at_least=0.98)) is True
    assert _passed(_pair((1.0, 2.0, 8.0), theirs, at_least=0.98)) is False
    # Differences 1, 2, 3.
    assert _passed(_pair((3.0, 6.0, 11.0), theirs, at_most=2)) is True
    assert _passed(_pair((3.0, 6.0, 11.0), theirs, at_most=1.9)) is False
    assert _passed(_pair((3.0, 6.0, 11.0), theirs)) is None


def test_interval_of_a_median() -> None:
    # B of 6 and 1/2: P(B < 1) = 1/64 = 0.0156 is small enough, P(B < 2) = 7/64 is not.
    assert median_interval([6.0, 2.0, 5.0, 1.0, 4.0, 3.0]) == (1.0, 6.0)
    # Of five, P(B < 1) = 1/32 = 0.031 is too much.
    assert median_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is None
    # The tables' ranks for n = 20 are 6 and 15: P(B < 6) = 21700 / 2^20 = 0.0207.
    assert median_interval([float(i) for i in range(1, 21)]) == (6.0, 15.0)


def test_an_absent_peer_is_skipped_and_a_failed_one_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent() -> dict[str, float]:
        raise AbsentError("no hpcc here")

    def failed() -> dict[str, float]:
        raise BenchError("exit code 1")

    kit = Kit(tmp_path, "mpiexec", tmp_path)
    ours = _cycling(1.0, 1.0, 1.0)
    outcome = measure(lambda _: [Pair("a", "?", ours, absent, "MB/s")], [], kit)
    assert outcome.good
    assert outcome.skipped == {"a": "no hpcc here"}
    assert "skipped: no hpcc here" in capsys.readouterr().out
    outcome = measure(lambda _: [Pair("a", "?", ours, failed, "MB/s")], [], kit)
    assert not outcome.good
    assert outcome.failed == {"a": "exit code 1"}
    assert "not measured: exit code 1" in capsys.readouterr().err


def _rounds_of(ratios: tuple[float, ...], **limit: Any) -> Pair:
    ones = (1.0,) * len(ratios)
    ours, theirs = _cycling(*ratios), _cycling(*ones)
    return Pair("p", "a question", ours, theirs, "MB/s", rounds=len(ratios), **limit)


def test_a_limit_within_the_interval_of_the_median_is_met() -> None:
    """Of six values the interval is the smallest to the largest."""
    ratios = (0.90, 0.95, 0.96, 0.97, 0.975, 0.99)
    assert _passed(_rounds_of(ratios, at_least=0.98)) is True
    assert _passed(_rounds_of(ratios, at_least=0.991)) is False
    # Costs: 1 less.
    assert _passed(_rounds_of(tuple(r + 1 for r in ratios), at_most=0.91)) is True
    assert _passed(_rounds_of(tuple(r + 1 for r in ratios), at_most=0.89)) is False


def test_a_pair_without_time_ends_when_its_median_has_an_interval() -> None:
    pair = _rounds_of((1.0,) * 20)
    assert len(list(rounds(pair, seconds=0))) == 7
    assert len(list(rounds(_rounds_of((1.0,) * 20), seconds=60))) == 20


def test_the_summary_has_all_figures_and_the_page_sums_up_each_pair(tmp_path: Path) -> None:
    def absent() -> dict[str, float]:
        raise AbsentError("no fio here")

    ratios = (0.90, 0.95, 0.96, 0.97, 0.975, 0.99)
    pairs = [
        _rounds_of(ratios, at_least=0.995),
        _rounds_of((1.0,) * 6, at_least=0.98),
        Pair("peer", "?", absent, absent, "op/s"),
    ]
    outcome = measure(lambda _: pairs, [], Kit(tmp_path, "mpiexec", tmp_path))
    assert not outcome.good
    # Medians: of the ratios (0.96 + 0.97) / 2, of the others 1.
    missed = ["p", "rate", "0.965 MB/s", "1 MB/s", "0.965", "0.900 … 0.990", "≥ 0.995", "MISSED"]
    met = ["p", "rate", "1 MB/s", "1 MB/s", "1.000", "1.000 … 1.000", "≥ 0.98", "met"]
    assert [verdict.row() for verdict in outcome.verdicts] == [missed, met]
    assert summary(outcome).row_count == 2
    page = tmp_path / "page.md"
    page.write_text(f"# Speed\n\n{BEGIN}\nold\n{END}\n\nafter\n")
    write_page(page, page_lines(outcome, "a processor", 3.2, 0.1))
    lines = page.read_text().splitlines()
    assert lines[0] == "# Speed"
    assert lines[-1] == "after"
    assert "| p | 0.965 … 1.000 | ≥ 0.995 | 1 of 2 |" in lines
    assert [line for line in lines if "0.900 … 0.990" in line] == [
        "| " + " | ".join(missed[:-1]) + " |"
    ]
    assert "Skipped: peer (no fio here)" in lines
    assert "old" not in lines
    assert "in 3 minutes on: a processor." in page.read_text()


def test_two_turns_are_a_round_of_their_mean_rates() -> None:
    """Each side began once. A GB at 2 and one at 6 GB/s are two in 2/3 s, so at 3 GB/s."""
    launches = iter(["write a 2 3\nread 1 1\nwrite a 6 3\nread 1 1\n", "write a 5 8\n" * 2])
    ours, theirs = alternately(lambda: next(launches), scale=10)
    assert ours() == pytest.approx({"write a": 30, "read": 10})
    assert ours() == pytest.approx({"write a": 50})
    assert theirs() == pytest.approx({"write a": 30, "read": 10})
    assert theirs() == pytest.approx({"write a": 80})
    with pytest.raises(ValueError, match="shorter"):
        alternately(lambda: "write 2 3\n")[0]()


def test_rates_of_ior_are_those_of_its_rows() -> None:
    row = "write 1000.00 86929 0.000009 64.00 16.00 0.1 0.1 0.1 0.1 0"
    text = f"Command line : ior -w -r\n{row}\n{row.replace('write', 'read ')}\nwrite 9.9 9.9\n"
    mib = 1.048576
    assert rates_in(text, "ior") == {
        "write": pytest.approx(1000 * mib),
        "read": pytest.approx(1000 * mib),
    }
    with pytest.raises(BenchError, match="prints no rates"):
        rates_in("Max Write: 1000.00 MiB/sec\nMax Read: 1000.00 MiB/sec\n", "ior")


def test_a_run_that_ended_well_may_be_called_improper_by_its_launcher(tmp_path: Path) -> None:
    mpiexec = tmp_path / "mpiexec"
    kit = Kit(tmp_path, str(mpiexec), tmp_path)

    def launched(said: str, code: int) -> str:
        mpiexec.write_text(f"#!/bin/sh\necho rates\necho '{said}' >&2\nexit {code}\n")
        mpiexec.chmod(0o755)
        words = [sys.executable, launcher.__file__, str(mpiexec)]
        # As scripts start it: the streams are its own.
        done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert (done.stdout, done.stderr) == ("rates\n", f"{said}\n")
        try:
            output = kit.launch(["program"])
        except BenchError:
            assert done.returncode == code
            raise
        assert done.returncode == 0
        return output

    assert launched("", 0) == "rates\n"
    assert launched("process rank 1 with PID 0 on node a exiting improperly.", 1) == "rates\n"
    with pytest.raises(BenchError, match="exit code 1\nno space"):
        launched("no space", 1)
    with pytest.raises(BenchError, match="exit code 3"):
        launched("process rank 1 exiting improperly.", 3)
    with pytest.raises(BenchError, match="Exit code"):
        launched("exiting improperly: Exit code:    3", 1)


def test_a_launcher_gets_the_signals_that_are_sent_for_it() -> None:
    script = "trap 'exit 7' TERM; echo ready >&2; while :; do sleep 0.05; done"
    words = [sys.executable, launcher.__file__, "sh", "-c", script]
    with subprocess.Popen(words, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"ready\n"
        process.terminate()
        assert process.wait(SECONDS) == 7


def test_modules_that_have_pairs_take_part() -> None:
    """And no others: a module of helpers once ended every bench."""
    with_pairs = "b_eff b_eff_io clock data ior libraries mdtest sion store studies"
    assert list(makers()) == with_pairs.split()
