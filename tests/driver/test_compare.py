# SPDX-License-Identifier: BSD-3-Clause
"""Two sides against each other: pairing, directions, verdicts, alarms."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Browser

from driver import made
from driver.conftest import Effio
from effio.errors import EffioError
from effio.judge import gather
from effio.judge.compare import Comparison, Side, Terms, compare
from effio.judge.samples import Judged
from effio.judge.verdicts import Untold, Verdict
from effio.store.folder import Store
from effio.store.reader import Result
from effio.store.records import Measurement, Run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CHUNK = {"chunk_bytes": 1024}


def cell(rate: float | None, repetition: int = 0, **more: object) -> made.Line:
    line = made.measurement("write", "shared", 1, rate or 1.0, where=CHUNK, repetition=repetition)
    line["rate"] = {"value": rate, "unit": "B/s", "better": "higher"}
    return line | more


def run(name: str, cells: Sequence[made.Line], started: str = "", **more: Any) -> Judged:
    result = Result(
        Path(name),
        Run.model_validate(made.run_line(started=started, **more)),
        [Measurement.model_validate(line) for line in cells],
    )
    return Judged(name, Path(name), result)


def side(name: str, rates: Sequence[float], **more: Any) -> Side:
    """A run for each rate, each in a night of its own."""
    return Side(name, [
        run(f"{name}{i}", [cell(rate)], night(name, i), **more) for i, rate in enumerate(rates)
    ])  # fmt: skip


def night(name: str, number: int) -> str:
    """Of sides with different names no two nights are the same."""
    return (
        f"{2000 + sum(map(ord, name)) % 100}-{1 + number // 28:02}-{1 + number % 28:02}T20:00:00Z"
    )


FAST, SLOW = (110.0, 111.0, 109.0), (100.0, 101.0, 99.0)


def only(comparison: Comparison) -> Verdict:
    (line,) = comparison.lines
    return line.verdict


def test_faster_slower_and_how_much() -> None:
    up, down = compare(side("a", SLOW), side("b", FAST)), compare(side("a", FAST), side("b", SLOW))
    assert (only(up), only(down)) == (Verdict.FASTER, Verdict.SLOWER)
    assert up.lines[0].gain == pytest.approx(1.1, rel=1e-3)
    assert down.lines[0].gain == pytest.approx(1 / 1.1, rel=1e-3)
    ratio = up.lines[0].ratio
    assert ratio is not None
    assert ratio.low < 1.1 < ratio.high
    assert down.losses == list(down.lines)


def test_the_direction_is_the_metrics_own() -> None:
    times = {"unit": "s", "better": "lower"}
    sides = [
        Side(
            n,
            [
                run(f"{n}{i}", [cell(v) | {"rate": times | {"value": v}}], night(n, i))
                for i, v in enumerate(some)
            ],
        )
        for n, some in (("a", SLOW), ("b", FAST))
    ]
    found = compare(sides[0], sides[1])
    assert only(found) is Verdict.SLOWER
    assert found.lines[0].gain == pytest.approx(1 / 1.1, rel=1e-3)


def test_no_difference_says_what_would_have_been_seen() -> None:
    found = compare(side("a", (100, 110, 90)), side("b", (101, 112, 91)))
    assert only(found) is Verdict.SAME
    assert found.lines[0].reason.startswith("a loss of 3")
    # Sure, and smaller than anybody cares for.
    close = compare(side("a", (100, 100.1, 99.9)), side("b", (99, 99.1, 98.9)))
    assert only(close) is Verdict.SAME
    assert "within the tolerance of 2 %" in close.lines[0].reason
    strict = compare(side("a", (100, 100.1, 99.9)), side("b", (99, 99.1, 98.9)), Terms(tolerance=0))
    assert only(strict) is Verdict.SLOWER


def test_repetitions_of_one_run_are_no_ground() -> None:
    one, other = (
        Side(n, [run(n, [cell(v, i) for i, v in enumerate(values)])])
        for n, values in (("a", FAST), ("b", SLOW))
    )
    found = compare(one, other).lines[0]
    assert (found.verdict, found.cause) == (Verdict.UNTOLD, Untold.TOO_FEW)
    assert found.ratio is not None  # shown all the same
    assert only(compare(one, other, Terms(by_repetitions=True))) is Verdict.SLOWER
    # One run against a baseline of several is.
    many = side("a", (100, 101, 99, 100, 102, 98))
    tonight = compare(many, side("b", [70]))
    assert only(tonight) is Verdict.TONIGHT
    assert tonight.lines[0].reason == "slower in the runs of one night: repeat on another night"
    assert tonight.losses == []
    assert only(compare(many, side("b", [101]))) is Verdict.SAME


def test_runs_of_one_night_are_one_block() -> None:
    """Five runs against five, far apart, but each side had one night."""
    hours = [f"2026-01-01T{h:02}:00:00Z" for h in range(18, 23)]
    later = [text.replace("01-01", "01-02") for text in hours]
    rates = (100.0, 101.0, 99.0, 100.5, 99.5)

    def of(name: str, factor: float, starts: Sequence[str]) -> Side:
        runs = [
            run(f"{name}{i}", [cell(factor * rate)], start)
            for i, (rate, start) in enumerate(zip(rates, starts, strict=True))
        ]
        return Side(name, runs)

    assert only(compare(of("a", 1.0, hours), of("b", 0.8, later))) is Verdict.TONIGHT
    # Two nights a side, and the difference is as large in both.
    both = [*hours[:2], *(t.replace("01-01", "01-03") for t in hours[:3])]
    others = [*later[:2], *(t.replace("01-02", "01-04") for t in later[:3])]
    found = compare(of("a", 1.0, both), of("b", 0.8, others))
    assert (only(found), found.lines[0].basis) == (Verdict.SLOWER, "nights")
    assert found.lines[0].counts == (2, 2)


@pytest.mark.parametrize(("order", "verdict"), [("AB", Verdict.UNTOLD), ("ABBA", Verdict.SAME)])
def test_a_drift_within_nights_is_not_a_difference(order: str, verdict: Verdict) -> None:
    """Each run is 2.5 % slower than the one before it, on each of four nights."""
    sides: dict[str, list[Judged]] = {"A": [], "B": []}
    chance = random.Random(4)
    for day in range(1, 5):
        for place, name in enumerate(order * (4 // len(order))):
            rate = 100.0 * 0.975**place * (1 + 0.001 * chance.random())
            start = f"2026-01-{day:02}T20:{place:02}:00Z"
            sides[name].append(run(f"{name}{day}{place}", [cell(rate)], start))
    line = compare(Side("a", sides["A"]), Side("b", sides["B"]), Terms(tolerance=0)).lines[0]
    assert (line.verdict, line.basis) == (verdict, "nights with both")
    assert (line.cause is Untold.ORDER) == (verdict is Verdict.UNTOLD)


def test_a_drift_in_an_order_that_is_not_balanced_is_not_a_difference() -> None:
    """B is second on three nights of four, and runs fall by 4 % each."""
    sides: dict[str, list[Judged]] = {"A": [], "B": []}
    chance = random.Random(5)
    for day, order in enumerate(("AABB", "AABB", "AABB", "BBAA"), 1):
        for place, name in enumerate(order):
            rate = 100.0 * 0.96**place * (1 + 0.0002 * chance.random())
            start = f"2026-01-{day:02}T20:{place:02}:00Z"
            # Without the fourth night's difference the pairs would not be significant.
            lost = 1.0 if order == "AABB" or name == "B" else 0.9
            sides[name].append(run(f"{name}{day}{place}", [cell(rate * lost)], start))
    line = compare(Side("a", sides["A"]), Side("b", sides["B"]), Terms(tolerance=0)).lines[0]
    assert line.basis == "nights with both"
    assert line.by_order.startswith("rates drift by 4 % a run")


def _of_job(name: str, rate: float, start: str, job: str) -> Judged:
    system = made.run_line()["system"] | {"batch": {"SLURM_JOB_ID": job}}
    return run(name, [cell(rate)], start, system=system)


def test_batch_jobs_are_blocks() -> None:
    """Five jobs of one night, each with both sides, are five pairs; with one side a job there is
    one night. A job is one block however long it is."""
    starts = [f"2026-01-01T{h:02}:00:00Z" for h in range(18, 23)]
    rates = (100.0, 50.0, 70.0, 120.0, 80.0)

    def of(name: str, factor: float, jobs: str) -> Side:
        minute = {"a": "00", "b": "30"}[name]
        runs = [
            _of_job(
                f"{name}{i}",
                factor * rate * (1 + 0.001 * i),
                s.replace(":00:00", f":{minute}:00"),
                j,
            )
            for i, (rate, s, j) in enumerate(zip(rates, starts, jobs, strict=True))
        ]
        return Side(name, runs)

    both = compare(of("a", 1.0, "12345"), of("b", 0.8, "12345")).lines[0]
    assert (both.basis, both.counts) == ("nights with both", (5, 5))
    assert both.gain == pytest.approx(0.8)
    apart = compare(of("a", 1.0, "12345"), of("b", 0.8, "67890")).lines[0]
    assert (apart.verdict, apart.basis) == (Verdict.TONIGHT, "pairs of runs")
    long = [_of_job(f"c{i}", 100.0 + i, f"2026-01-{1 + i}T20:00:00Z", "7") for i in range(5)]
    other = [_of_job(f"d{i}", 50.0 + i, f"2026-02-{1 + i:02}T20:00:00Z", "8") for i in range(5)]
    assert only(compare(Side("c", long), Side("d", other))) is Verdict.TONIGHT


def test_one_new_night_is_judged_by_the_control_limits_of_the_baseline() -> None:
    baseline = side("base", (100, 101, 99, 102, 98))
    # ln rates deviate by 0.0158; one against five, four freedoms: 2.8 standard errors of 0.0173 for
    # a p of 0.05, 4.6 for one of 0.01 and 3.75 for one of 0.02, which is 6.3 %.
    control = Terms(control=True)
    for rate, verdict in ((95.0, Verdict.SAME), (92.0, Verdict.ALARM), (108.0, Verdict.TONIGHT)):
        found = compare(baseline, side("new", [rate]), control)
        assert (only(found), found.lines[0].basis) == (verdict, "nights of the baseline")
        assert bool(found.losses) == (verdict is Verdict.ALARM)
    few = side("base", (100, 101, 99, 102))
    assert only(compare(few, side("new", [60.0]), control)) is Verdict.TONIGHT
    assert only(compare(baseline, side("new", [60.0]))) is Verdict.TONIGHT


def test_power_is_stated() -> None:
    found = compare(side("a", (100, 101, 99)), side("b", (100, 101, 99))).power
    assert found is not None
    # Deviation 0.01, three against three: error 0.00816, four freedoms; 10 % are 12.9 errors, and
    # the test rejects from 2.78 on.
    assert (found.measurements, round(found.found, 3)) == (1, 1.0)
    noisy = compare(side("a", (100, 110, 90)), side("b", (100, 110, 90))).power
    assert noisy is not None
    # Error 0.082: 1.28 errors. Noncentral t with four freedoms beyond 2.78: 0.17.
    assert noisy.found == pytest.approx(0.17, abs=0.02)
    assert noisy.text == (
        "A loss of 10 % in the one measurement would have been found in"
        f" {round(100 * noisy.found)} of 100 cases."
    )


def test_lists_of_options_are_workload() -> None:
    checked, not_ = ({"time": 12.0, "verify": v} for v in (["inside"], []))
    found = compare(side("a", FAST, options=checked), side("b", SLOW, options=not_))
    assert found.lines[0].reason == "other workload: --verify inside / –"
    # A sweep: the chunk is an axis, and what the other side has more of does not matter.
    some, more = ({"time": 12.0, "chunks": v} for v in ([1024], [1024, 2048]))
    found = compare(side("a", FAST, options=some), side("b", SLOW, options=more))
    assert only(found) is Verdict.SLOWER


def test_pairs_are_not_made_by_number_after_one_is_left_out() -> None:
    """The first run of one side and the last of the other are invalid."""
    bad = cell(None, valid=False, invalid_reason="full")
    sides = [
        Side(n, [run(f"{n}{i}", [bad if i == lost else cell(100.0 / 2**i)],
                     f"2026-01-01T0{i}:{m}:00Z") for i in range(5)])
        for n, lost, m in (("a", 0, "00"), ("b", 4, "30"))
    ]  # fmt: skip
    # By number each run of one side would be twice as fast as its pair; by identity three are left.
    line = compare(sides[0], sides[1]).lines[0]
    assert (line.verdict, line.basis, line.counts) == (Verdict.SAME, "pairs of runs", (3, 3))
    assert line.gain == pytest.approx(1.0)


def test_what_cannot_be_told() -> None:
    good = side("a", FAST)

    def cause(other: Side, terms: Terms | None = None) -> Untold | None:
        return compare(good, other, terms).lines[0].cause

    invalid = [cell(None, valid=False, invalid_reason="sync failed") for _ in range(3)]
    broken = Side("b", [run(f"b{i}", [line]) for i, line in enumerate(invalid)])
    assert cause(broken) is Untold.INVALID
    assert "sync failed" in compare(good, broken).lines[0].reason
    slower = side("b", SLOW, options={"time": 24.0, "rewrite": False})
    assert cause(slower) is Untold.WORKLOAD
    assert compare(good, slower).lines[0].reason == "other workload: --time 12.0 / 24.0"
    assert cause(slower, Terms(frozenset({"time"}))) is None
    elsewhere = side("b", SLOW, options={"time": 12.0, "dir": "/x", "hint": ["a=1"]})
    assert cause(elsewhere) is None
    assert cause(side("b", SLOW, clock={"virtual": True})) is Untold.CLOCK
    cached = [cell(v, cache={"verdict": "cache"}) for v in SLOW]
    memory = Side("b", [run(f"b{i}", [line]) for i, line in enumerate(cached)])
    assert cause(memory) is Untold.PLACE
    assert cause(memory, Terms(frozenset({"cache"}))) is None
    other = [cell(v) | {"rate": {"value": v, "unit": "op/s", "better": "higher"}} for v in SLOW]
    assert cause(Side("b", [run(f"b{i}", [x]) for i, x in enumerate(other)])) is Untold.UNIT


def test_an_invalid_repetition_is_left_out_and_said() -> None:
    bad = cell(None, 1, valid=False, invalid_reason="full")
    other = Side("b", [run(f"b{i}", [cell(v), bad], night("b", i)) for i, v in enumerate(SLOW)])
    line = compare(side("a", FAST), other).lines[0]
    assert line.verdict is Verdict.SLOWER
    assert line.note == "3 invalid left out"


def test_pairs_by_axes_and_what_is_left() -> None:
    one = Side("a", [run("a", [cell(1.0), cell(2.0, where={"chunk_bytes": 2048})])])
    other = Side("b", [run("b", [cell(1.0), cell(2.0, where={"chunk_bytes": 4096})])])
    found = compare(one, other)
    assert len(found.lines) == 1
    why = "differs from the nearest there in chunk_bytes"
    assert [(a.side, a.why) for a in found.alone] == [
        ("a", f"{why} 2048 / 1024"),
        ("b", f"{why} 4096 / 1024"),
    ]
    for name in ("chunk_bytes", "chunk"):  # as the axis and as the option is called
        assert compare(one, other, Terms(frozenset({name}))).alone == []
    third = Side("c", [run("c", [cell(1.0) | {"access": "read"}])])
    assert compare(one, third).alone[0].why == "the other side has no shared write"


def test_runs_that_alternate_are_pairs() -> None:
    # Both fall by half from one to the next: far more than their difference of a tenth.
    rates = [100.0 / 2**i for i in range(4)]
    sides = [
        Side(n, [run(f"{n}{i}", [cell(r * f * (1 + 0.01 * (i % 2)))], f"2026-01-01T0{i}:{m}:00Z")
                 for i, r in enumerate(rates)])
        for n, f, m in (("a", 1.0, "00"), ("b", 0.9, "30"))
    ]  # fmt: skip
    found = compare(sides[0], sides[1])
    assert found.lines[0].basis == "pairs of runs"
    assert only(found) is Verdict.TONIGHT
    later = Side(
        "b", [run(f"b{i}", [cell(r)], f"2026-02-01T0{i}:00:00Z") for i, r in enumerate(rates)]
    )
    assert compare(sides[0], later).lines[0].basis == "runs"


def test_geometric_mean_by_benchmark() -> None:
    wheres = [{"chunk_bytes": 1024 * n} for n in (1, 2, 3)]
    one = Side("a", [run("a", [cell(100.0, where=w) for w in wheres])])
    faster = zip((200.0, 100.0, 50.0), wheres, strict=True)
    other = Side("b", [run("b", [cell(v, where=w) for v, w in faster])])
    (overall,) = compare(one, other).overall
    assert overall.gain == pytest.approx(1.0)
    # Logarithms ln 2, 0, -ln 2: deviation ln 2, error ln 2/sqrt 3, two freedoms.
    assert overall.high == pytest.approx(2 ** (4.3027 / 3**0.5), rel=1e-3)


def test_what_differs_likely_reasons_first() -> None:
    stripes = {"path": "/data", "type": "lustre", "striping": {"count": 4}}
    other = side("b", SLOW, file_system=stripes, options={"time": 12.0, "hints": "x"})
    found = compare(side("a", FAST), other).differences
    told = [(d.kind, d.name, d.first, d.second) for d in found]
    assert told[0] == ("storage", "file system", "ext4", "lustre")
    assert ("option", "hints", "–", "x") in told
    assert told.index(("option", "hints", "–", "x")) > 2
    assert not any(d.name == "processor" for d in found)


# Alarms ------------------------------------------------------------------------------------------


def _pool(scale: float, factor: float) -> list[Judged]:
    """Runs of a system whose noise is `scale` times that which was measured."""
    text = (Path(__file__).parent / "measured_noise.toml").read_text()
    return [
        run(
            f"run{number}",
            [
                cell(factor * 1e6 * 2.718281828 ** (scale * noise), where={"chunk_bytes": column})
                for column, noise in enumerate(row)
            ],
        )
        for number, row in enumerate(tomllib.loads(text)["runs"])
    ]


def _drawn(name: str, pool: Sequence[Judged], count: int, chance: random.Random) -> Side:
    """Each of a night of its own."""
    some = [chance.choice(pool).result for _ in range(count)]
    runs = []
    for i, result in enumerate(some):
        at = result.run.model_copy(update={"started": night(name, i)})
        runs.append(Judged(f"{name}{i}", result.path, replace(result, run=at)))
    return Side(name, runs)


def test_equal_systems_hardly_ever_alarm() -> None:
    chance, pool = random.Random(18), _pool(1.0, 1.0)
    alarms = sum(
        bool(compare(_drawn("a", pool, n, chance), _drawn("b", pool, n, chance)).losses)
        for n in (5, 10)
        for _ in range(500)
    )
    assert alarms <= 50  # of 1,000


@pytest.mark.parametrize(("scale", "runs"), [(1.0, 45), (0.2, 5)])
def test_a_loss_of_a_tenth_is_found(scale: float, runs: int) -> None:
    chance, before, after = random.Random(18), _pool(scale, 1.0), _pool(scale, 0.9)
    found = sum(
        bool(compare(_drawn("a", before, runs, chance), _drawn("b", after, runs, chance)).losses)
        for _ in range(100)
    )
    assert found >= 95


# The command -------------------------------------------------------------------------------------


def _kept(
    effio: Effio, folder: str, factor: float, more: Mapping[str, object] | None = None
) -> None:
    """Three runs of b_eff_io, each of a night of its own: this factor and a little noise."""
    for number, noise in enumerate((1.0, 1.01, 0.99)):
        lines = made.b_eff_io()
        lines[0] |= {"started": night(folder, number)} | dict(more or {})
        for line in lines:
            if line["kind"] == "measurement":
                line["rate"]["value"] *= factor * noise
        made.write(effio.cwd / folder / f"r{number}" / "result.jsonl", lines)


def test_baseline(effio: Effio) -> None:
    _kept(effio, "base", 1.0)
    _kept(effio, "same", 1.0)
    _kept(effio, "bad", 0.8)
    quiet = effio.call("compare", "--baseline", "base", "same")
    assert (quiet.returncode, quiet.stderr) == (0, "")
    # Error 0.00816, four freedoms: 12.9 errors, and t at 0.05/77 rejects from 9.9 on.
    assert quiet.stdout.splitlines()[-1] == (
        "same: no difference found in 77, 1 cannot be told. A loss of 10 % in one of 77"
        " measurements would have been found in 86 of 100 cases."
    )
    done = effio.call("compare", "--baseline", "base", "bad", "--junit", "out.xml")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].startswith("slower 0.800 (0.7")
    assert done.stdout.splitlines()[-1].startswith("bad: 77 slower, 1 cannot be told. A loss of")
    suite = ET.parse(effio.cwd / "out.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("78", "77", "1")
    assert len(suite.findall("testcase/failure")) == 77
    # A comparison without a baseline judges nobody.
    assert effio.call("compare", "base", "bad").returncode == 0


def test_campaigns_and_tags_are_sides(effio: Effio) -> None:
    for name, factor in (("old", 1.0), ("new", 0.8)):
        made.write(effio.cwd / f"effio-runs/campaigns/{name}/campaign.json", [])
        for number in range(4):
            # The first attempt of the last repetition failed; what it measured does not count.
            attempts = 2 if number == 3 else 1
            for attempt in range(attempts):
                folder = f"2026010{attempt + 1}T00000{number}Z-b-eff-io-{name}-s-0123abcd-r{number}"
                failed = attempt + 1 < attempts
                lines = made.b_eff_io()
                lines[0]["started"] = night(name, 10 * attempt + number)
                for line in lines:
                    if line["kind"] == "measurement":
                        line["rate"]["value"] *= factor * (1 + number / 100) * (9 if failed else 1)
                if failed:
                    lines[-1] |= {"status": "io_error", "exit_code": 3}
                part = {"name": name, "step": "s", "point": "0123abcd", "repetition": number,
                        "axes": {"servers": 4}, "tags": [f"of-{name}"]}  # fmt: skip
                outcome = {"status": "io_error" if failed else "done", "exit_code": 3 * failed}
                record = {"schema": "effio-run/1", "id": folder, "created": "", "directory": "/",
                          "benchmark": "b-eff-io", "arguments": [], "command": [],
                          "campaign": part, "outcome": outcome}  # fmt: skip
                path = effio.cwd / "effio-runs" / folder
                made.write(path / "result.jsonl", lines)
                (path / "run.json").write_text(json.dumps(record))
    for words in (("old", "new"), ("tag:of-old", "@new")):
        done = effio.call("compare", "--baseline", *words, "--json")
        told = json.loads(done.stdout)
        assert (len(told["first"]["runs"]), len(told["second"]["runs"])) == (4, 4)
        assert done.returncode == 1
        assert told["measurements"][0]["gain"] == pytest.approx(0.8)
    assert effio.call("compare", "old", "tag:nothing").returncode == 2
    # One side of a study that was interleaved: by the value of an axis.
    half = gather.side("old:servers=4", Store(effio.cwd / "effio-runs"))
    assert (half.name, len(half.runs)) == ("old:servers=4", 4)
    both = gather.side("old:servers=4,new:servers=4", Store(effio.cwd / "effio-runs"))
    assert len(both.runs) == 8
    with pytest.raises(EffioError):
        gather.side("old:servers=5", Store(effio.cwd / "effio-runs"))
    (run,) = gather.judged(["20260101T000000Z-b-eff-io-old"], Store(effio.cwd / "effio-runs"))[:1]
    assert run.labels == {"servers": "4"}


def test_json_and_page(effio: Effio) -> None:
    _kept(effio, "base", 1.0)
    _kept(effio, "bad", 0.8, {"backend": {"name": "posix", "settings": {}}})
    done = effio.call("compare", "base", "bad", "--json", "--page", "page.html")
    told = json.loads(done.stdout)
    assert told["schema"] == "effio-comparison/1"
    assert told["measurements"][0]["verdict"] == "slower"
    assert told["measurements"][0]["gain"] == pytest.approx(0.8)
    assert told["differences"] == [
        {"kind": "storage", "name": "backend", "first": "mpiio", "second": "posix"}
    ]
    page = (effio.cwd / "page.html").read_text()
    assert "bad against base" in page
    assert "gains of bad over base" in page


def test_hostile_texts_stay_texts(effio: Effio) -> None:
    text = " ".join(made.HOSTILE)
    bad = made.write(effio.cwd / "x.jsonl", made.hostile(text))
    good = made.write(effio.cwd / "y.jsonl", made.b_eff_io())
    done = effio.call("compare", bad, good, "--page", "p.html", "--junit", "j.xml", "--all")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "<script>window.hacked" not in (effio.cwd / "p.html").read_text()
    ET.parse(effio.cwd / "j.xml")


def test_mistakes(effio: Effio) -> None:
    good = made.write(effio.cwd / "y.jsonl", made.b_eff_io())
    (effio.cwd / "empty").mkdir()
    for words, said in (
        ((good,), "name two sides at least"),
        ((good, "empty"), "there is no run in empty"),
        ((good, "nothing"), "no run 'nothing'"),
        ((good, good, "--tolerance", "2x"), "write a part, as 5% or 0.05"),
    ):
        done = effio.call("compare", *words)
        assert done.returncode == 2, words
        assert said in done.stderr
    made.write(effio.cwd / "mixed/effio-a.jsonl", made.b_eff_io())
    (effio.cwd / "mixed/effio-b.jsonl").write_text("no\n")
    done = effio.call("compare", good, "mixed")
    assert done.returncode == 0
    assert "left out" in done.stderr


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_in_a_browser(width: int, effio: Effio, browser: Browser) -> None:
    _kept(effio, "base", 1.0)
    _kept(effio, "bad", 0.8)
    assert effio.call("compare", "base", "bad", "--page", "page.html").returncode == 0
    page = browser.new_page(viewport={"width": width, "height": 900})
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((effio.cwd / "page.html").as_uri())
    page.wait_for_selector("html[data-drawn='2']")
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    # Whiskers reach down as well as up, and the Kiviat diagram has its three axes.
    whiskers = page.evaluate(
        "document.querySelector('#r0-gains-2 .plot').data"
        ".flatMap((t) => t.error_y ? [[Math.max(...t.error_y.array), "
        "Math.max(...t.error_y.arrayminus)]] : [])"
    )
    assert whiskers
    assert all(up > 0 and down > 0 for up, down in whiskers)
    radar = page.evaluate(
        "document.querySelector('#r0-kiviat .plot').data.map((t) => [t.name, t.x, t.customdata])"
    )
    # Closed lines: what is 0.8 everywhere, and the reference.
    assert [(name, len(at)) for name, at, _ in radar] == [("bad", 4), ("base", 4)]
    assert radar[0][2] == pytest.approx([0.8] * 4)
    assert radar[1][2] == [1.0] * 4
    page.close()
