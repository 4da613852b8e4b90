# SPDX-License-Identifier: BSD-3-Clause
"""What `effio profile` predicts from kept runs, and how a profile is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driver import made
from driver.profiles import activity as _activity
from driver.profiles import profile as _profile
from effio.judge.samples import Judged
from effio.profile.model import Phase
from effio.profile.predict import predict
from effio.profile.steps import Imitation, imitate
from effio.report.profile import course, profile_section, sentence
from effio.store.reader import Result, read_result
from effio.store.run_record import CampaignPart, RunRecord


def _measured(
    tmp_path: Path, step: Imitation, rates: list[float], ranks: int = 8, **more: Any
) -> list[Judged]:
    """Runs of a step as they are kept, one for each rate."""
    runs = []
    for i, rate in enumerate(rates):
        moved = ranks * step.bytes_of_a_rank
        line = made.measurement("write", "shared", 1, rate, ranks=ranks, bytes=moved, **more)
        head = made.run_line()
        head["system"]["ranks"] = ranks
        path = made.write(tmp_path / f"{step.name}-{i}-{ranks}.jsonl", [head, line])
        result: Result = read_result(path)
        part = CampaignPart(name="c", step=step.name, point="p", repetition=i, tags=[step.tag])
        result.record = RunRecord(
            id="r", created="", benchmark="ior", arguments=[], directory="", command=[],
            schema="effio-run/1", campaign=part,
        )  # fmt: skip
        runs.append(Judged(f"r{i}", path, result))
    return runs


def test_the_share_of_a_run(tmp_path: Path) -> None:
    profile = _profile(_activity(bytes=1_000_000_000, times=10), seconds=200, io_share=0.5)
    steps = imitate(profile)
    told = predict(profile, steps, _measured(tmp_path, steps[0], [80e6, 100e6, 120e6]))
    # 10 GB at 100 MB/s in the mean; half of 200 s is computation.
    assert told.seconds == pytest.approx(100)
    assert told.compute == pytest.approx(100)
    assert told.share == pytest.approx(0.5)
    # Student's t of three values is 4.303: 100 ± 4.303 * 20 / sqrt(3) MB/s.
    half = 4.30265 * 20 / 3**0.5
    assert told.expected[0].low == pytest.approx(10_000 / (100 + half), rel=1e-4)
    assert told.expected[0].high == pytest.approx(10_000 / (100 - half), rel=1e-4)
    slow = 10_000 / (100 - half)
    assert told.high == pytest.approx(slow / (slow + 100), rel=1e-4)
    assert sentence(told).startswith(
        "Here 50 % (40 % to 67 %) of a run would go to I/O: 1 min 40 s"
    )


def test_no_answer_where_a_step_was_not_measured(tmp_path: Path) -> None:
    profile = _profile(_activity(), _activity(name="other", transfer=4096))
    steps = imitate(profile)
    told = predict(profile, steps, _measured(tmp_path, steps[0], [1e6]))
    assert told.share is None
    assert [e.reason for e in told.expected] == ["", "not measured"]
    assert "1 operation of 2 without a rate" in sentence(told)
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
    runs = _measured(tmp_path, step, [1e6], ranks=2, cache={"verdict": "cache"})
    remarks = " / ".join(predict(profile, [step], runs).remarks)
    assert "measured with 2 ranks, the application has 8" in remarks
    assert "out of or into memory, not storage: out" in remarks
    assert "is not known: all of it counts as computation" in remarks
    assert "of the bytes" not in remarks
    less = _measured(tmp_path, step, [1e6])
    less[0].result.measurements[0].__dict__["bytes"] = 8 * step.bytes_of_a_rank // 50
    told = predict(_profile(_activity(), io_share=0.1), [step], less)
    assert list(told.remarks) == [
        "measured with 2 % of the bytes of a process: caches and startup weigh more than in the"
        " application"
    ]


def test_what_is_invalid_is_no_rate(tmp_path: Path) -> None:
    profile = _profile(_activity())
    (step,) = imitate(profile)
    runs = _measured(tmp_path, step, [1e6], valid=False, invalid_reason="the disk was full")
    (told,) = predict(profile, [step], runs).expected
    assert told.rate is None
    assert told.reason == "no valid measurement: the disk was full"


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
