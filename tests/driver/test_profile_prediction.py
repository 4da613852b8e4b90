# SPDX-License-Identifier: BSD-3-Clause
"""What `effio profile` predicts from kept runs, and how a profile is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driver import made
from driver.profiles import MIB
from driver.profiles import activity as _activity
from driver.profiles import profile as _profile
from effio.judge.samples import Judged
from effio.profile.cost import Timed, Work, fit
from effio.profile.model import Phase, Profile
from effio.profile.predict import Prediction, predict
from effio.profile.steps import Imitation, imitate
from effio.report.profile import course, profile_section, sentence
from effio.store.reader import Result, read_result
from effio.store.run_record import CampaignPart, RunRecord
from engines import Engine

KIB = 1 << 10


def _kept(path: Path, step: Imitation, number: int) -> Judged:
    """A result as a run of the step's campaign is kept, whatever its clock."""
    result: Result = read_result(path)
    clock = result.run.clock.model_copy(update={"virtual": False})
    result.run.__dict__["clock"] = clock
    part = CampaignPart(name="c", step=step.name, point="p", repetition=number, tags=[step.tag])
    result.record = RunRecord(
        id="r", created="", benchmark="ior", arguments=[], directory="", command=[],
        schema="effio-run/1", campaign=part,
    )  # fmt: skip
    return Judged(f"r{number}", path, result)


def _measured(
    tmp_path: Path,
    step: Imitation,
    seconds: list[float],
    ranks: int = 8,
    part: float = 1,
    **more: Any,
) -> list[Judged]:
    """Runs of a step, one for each time."""
    runs = []
    for i, total in enumerate(seconds):
        moved = int(ranks * step.bytes_of_a_rank * part)
        calls = max(1, moved // MIB)
        line = made.measurement(
            "write", "shared", 1, moved / total, ranks=ranks, bytes=moved, operations=calls, **more
        )
        line["seconds"]["total"] = made.spread(total)
        head = made.run_line()
        head["system"]["ranks"] = ranks
        path = made.write(tmp_path / f"{step.name}-{i}-{ranks}-{part}.jsonl", [head, line])
        runs.append(_kept(path, step, i))
    return runs


def test_the_share_of_a_run(tmp_path: Path) -> None:
    """At the application's size nothing is fitted."""
    profile = _profile(_activity(times=10), seconds=200, io_share=0.5)
    steps = imitate(profile)
    reported = predict(profile, steps, _measured(tmp_path, steps[0], [9, 11, 8, 12, 10]))
    # Ten times 10 s in the mean; half of 200 s is computation.
    assert reported.seconds == pytest.approx(100)
    assert reported.compute == pytest.approx(100)
    assert reported.share == pytest.approx(0.5)
    # Student's t of five values is 2.776, their deviation sqrt(2.5): ten times 10 ± 1.963 s.
    half = 10 * 2.77645 * 2.5**0.5 / 5**0.5
    assert reported.expected[0].low == pytest.approx(100 - half, rel=1e-4)
    assert reported.expected[0].high == pytest.approx(100 + half, rel=1e-4)
    assert reported.high == pytest.approx((100 + half) / (200 + half), rel=1e-4)
    assert sentence(reported) == (
        "Here 50 % (95 % interval: 45 % to 54 %) of a run would go to I/O: 1 min 40 s in addition"
        " to 1 min 40 s of computation."
    )
    # Fewer than five have no interval, and that is said.
    few = predict(profile, steps, _measured(tmp_path, steps[0], [8, 12]))
    assert few.share == pytest.approx(0.5)
    assert few.low is None
    assert "50 % (no 95 % interval: too few repetitions) of a run" in sentence(few)


def test_one_size_says_nothing_of_another(tmp_path: Path) -> None:
    profile = _profile(_activity())
    steps = imitate(profile)
    reported = predict(profile, steps, _measured(tmp_path, steps[0], [1, 1, 1], part=0.5))
    assert reported.share is None
    assert "measured at one size, which is not the application's" in sentence(reported)
    # With a second size there is a line: 1 s for one half, 0.75 s for a quarter is 1.5 s for all.
    more = _measured(tmp_path, steps[0], [0.75], part=0.25)
    runs = [*_measured(tmp_path, steps[0], [1.0], part=0.5), *more]
    assert predict(profile, steps, runs).seconds == pytest.approx(1.5)
    # It comes first how far that is from what was measured.
    assert sentence(predict(profile, steps, runs)).startswith(
        "Extrapolated to 2.00 times the bytes of a process: here less than 1 %"
    )


# 50 ms for a file, 1 ms for a call, 100 MB/s.
SIM = "open=30ms,close=20ms,latency=1ms,rank-rate=100MB/s"


def _simulated(engine: Engine, where: Path, profile: Profile, sizes: list[str]) -> Prediction:
    steps = imitate(profile)
    runs = []
    for i, size in enumerate(sizes):
        words = [*size.split(), "--backend", "sim", "--backend-options", SIM, "--quiet"]
        path = where / f"{i}.jsonl"
        run = engine.alone(["ior", "--phases", "write", *words, "-o", path], where)
        assert run.code == 0, run
        runs.append(_kept(path, steps[0], i))
    return predict(profile, steps, runs)


def test_costs_of_a_system_that_is_known(any_engine: Engine, tmp_path: Path) -> None:
    """Sixteen files of 4 MiB in 64 calls, measured at a sixteenth and less. Bytes at the rate of
    the largest measured size would be 5.8 times too slow."""
    out = _activity(files="one-process", bytes=4 * MIB, transfer=64 * KIB, times=16)
    profile = _profile(out, ranks=1, seconds=100, io_share=0.0)
    sizes = ["--block 256KiB --transfer 64KiB", "--block 64KiB --transfer 64KiB",
             "--block 64KiB --transfer 16KiB"]  # fmt: skip
    reported = _simulated(any_engine, tmp_path, profile, sizes)
    (one,) = reported.expected
    assert one.cost is not None
    assert one.cost.open == pytest.approx(0.05, rel=1e-6)
    assert one.cost.operation == pytest.approx(0.001, rel=1e-6)
    assert 1 / one.cost.byte == pytest.approx(100e6, rel=1e-6)
    assert reported.seconds == pytest.approx(16 * (0.05 + 64 * 0.001 + 4 * MIB / 100e6), rel=1e-6)
    assert reported.extrapolation is not None
    assert reported.extrapolation.text == "to 16.0 times the bytes of a process"
    # Calls that the imitation leaves out cost what a call costs: a log counts them.
    logged = _profile(
        out.model_copy(update={"calls": 1064, "typical_calls": 64}), ranks=1, seconds=100
    )
    again = predict(logged, imitate(logged), [_kept(tmp_path / f"{i}.jsonl", imitate(logged)[0], i)
                                              for i in range(3)])  # fmt: skip
    assert again.seconds == pytest.approx((reported.seconds or 0) + 16 * 1000 * 0.001, rel=1e-6)
    # All calls alike: what a call costs and what its bytes do is one, but for other calls it is not
    # known.
    same = [_kept(tmp_path / f"{i}.jsonl", imitate(logged)[0], i) for i in range(2)]
    assert predict(profile, imitate(profile), same).seconds == pytest.approx(
        reported.seconds, rel=1e-6
    )
    assert "do not separate" in predict(logged, imitate(logged), same).expected[0].reason


def test_the_interval_holds_the_true_time() -> None:
    """Noise of 10 %; the true time is that of 16 times the largest size."""
    true = np.array([0.05, 0.001, 1e-8])
    works = [Work(1, 16, 2**20), Work(1, 4, 2**18), Work(1, 16, 2**18)]
    whole = Work(1, 256, 2**24)
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(400):
        timed = [
            Timed(w, float(true @ w.parts * noise))
            for _ in range(3)
            for w, noise in zip(works, rng.normal(1, 0.1, 3), strict=True)
        ]
        cost = fit(timed)
        assert cost is not None
        reported = cost.expected(whole)
        assert reported is not None
        assert reported.interval is not None
        inside += reported.interval.contains(float(true @ whole.parts))
    # 95 % of 400 are 380 ± 9 (95 %).
    assert inside >= 366


def test_no_answer_where_a_step_was_not_measured(tmp_path: Path) -> None:
    profile = _profile(_activity(), _activity(name="other", transfer=4096))
    steps = imitate(profile)
    reported = predict(profile, steps, _measured(tmp_path, steps[0], [1.0]))
    assert reported.share is None
    assert [e.reason for e in reported.expected] == ["", "not measured"]
    assert "for 1 operation of 2 no time is known (not measured)" in sentence(reported)
    assert "not measured yet" in sentence(predict(profile, steps, []))


def test_runs_of_others_do_not_count(tmp_path: Path) -> None:
    profile = _profile(_activity())
    steps = imitate(profile)
    other = imitate(_profile(_activity(transfer=4096)))
    assert predict(profile, steps, _measured(tmp_path, other[0], [1e6])).measured == 0
    (tmp_path / "v").mkdir()
    (virtual,) = _measured(tmp_path / "v", steps[0], [1e6])
    virtual.result.run.__dict__["clock"] = virtual.result.run.clock.model_copy(
        update={"virtual": True}
    )
    assert predict(profile, steps, [virtual]).measured == 0


def test_what_makes_a_prediction_weak_is_said(tmp_path: Path) -> None:
    profile = _profile(_activity())
    (step,) = imitate(profile)
    runs = _measured(tmp_path, step, [1.0], ranks=2, cache={"verdict": "cache"})
    remarks = " / ".join(predict(profile, [step], runs).remarks)
    assert "measured with 2 ranks, the application has 8" in remarks
    assert "out of or into memory, not storage: out" in remarks
    assert "is not known: all of it counts as computation" in remarks
    assert "of the bytes" not in remarks
    less = _measured(tmp_path, step, [1.0], part=0.02)
    reported = predict(_profile(_activity(), io_share=0.1), [step], less)
    assert list(reported.remarks) == [
        "measured with 2 % of the bytes of a process at most: caches can hold a larger share of"
        " them than of the application's"
    ]
    # Two modes: the mean of the fit is that of neither.
    odd = predict(profile, [step], _measured(tmp_path, step, [1.0, 2.0] * 10))
    assert any("out, write: not reliable: two modes" in line for line in odd.remarks)
    assert "not reliable, see below" in sentence(odd)


def test_what_is_invalid_is_not_a_rate(tmp_path: Path) -> None:
    profile = _profile(_activity())
    (step,) = imitate(profile)
    runs = _measured(tmp_path, step, [1e6], **made.invalid("the disk was full"))
    (reported,) = predict(profile, [step], runs).expected
    assert reported.rate is None
    assert reported.reason == "no valid measurement: the disk was full"


# The section -------------------------------------------------------------------------------------


def test_the_course_of_a_run() -> None:
    # 60 steps of one second: 40 bytes in four seconds, from the middle of one step on.
    phase = (Phase(access="write", begin=2.5, end=6.5, bytes=40),)
    figure = course(_profile(_activity(), seconds=60, phase=phase))
    assert figure is not None
    (series,) = figure.variants[""][0].series
    assert list(series.y[:8]) == pytest.approx([0, 0, 5, 10, 10, 10, 5, 0])
    assert sum(y or 0 for y in series.y) == pytest.approx(40)
    assert course(_profile(_activity())) is None


def test_foreign_text_stays_text() -> None:
    profile = _profile(_activity(example="\x1b[31m<script>"), application="<b>\x1b[1mx")
    steps = imitate(profile)
    section = profile_section(profile, steps, [], predict(profile, steps, []))
    text = repr(section)
    assert "\\x1b" not in text
