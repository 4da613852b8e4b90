# SPDX-License-Identifier: BSD-3-Clause
"""Two sides against each other: pairing, directions, verdicts, alarms."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
import pytest

from driver import made
from driver.sides import FAST, SLOW, cell, night, only, run, side
from effio.judge.compare import Terms, compare
from effio.judge.samples import Judged, Side
from effio.judge.verdicts import NoVerdict, Verdict
from effio.judge.views import line_text
from effio.report.comparison import gain_figure, lines_table
from effio.report.model import Quantity
from effio.store.records import Figure


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
    # Sure, and smaller than any user cares for.
    close = compare(side("a", (100, 100.1, 99.9)), side("b", (99, 99.1, 98.9)))
    assert only(close) is Verdict.SAME
    assert "within the tolerance of 2 %" in close.lines[0].reason
    strict = compare(side("a", (100, 100.1, 99.9)), side("b", (99, 99.1, 98.9)), Terms(tolerance=0))
    assert only(strict) is Verdict.SLOWER


def test_repetitions_of_one_run_are_not_a_ground() -> None:
    one, other = (
        Side(n, [run(n, [cell(v, i) for i, v in enumerate(values, 1)])])
        for n, values in (("a", FAST), ("b", SLOW))
    )
    found = compare(one, other).lines[0]
    assert (found.verdict, found.cause) == (Verdict.UNDECIDED, NoVerdict.TOO_FEW)
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


@pytest.mark.parametrize(("order", "verdict"), [("AB", Verdict.UNDECIDED), ("ABBA", Verdict.SAME)])
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
    assert (line.cause is NoVerdict.ORDER) == (verdict is Verdict.UNDECIDED)


@pytest.mark.parametrize(("factor", "said"), [(1.0, "rates drift by 4 % per run"), (0.8, "")])
def test_a_drift_in_an_order_that_is_not_balanced_is_not_a_difference(
    factor: float, said: str
) -> None:
    """B is second on three nights of four, and runs fall by 4 % each. On average B is one run
    later: 4 %, which is more than a quarter of no loss and less than one of a loss of 20 %."""
    sides: dict[str, list[Judged]] = {"A": [], "B": []}
    chance = random.Random(5)
    for day, order in enumerate(("AABB", "AABB", "AABB", "BBAA"), 1):
        for place, name in enumerate(order):
            rate = 100.0 * 0.96**place * (1 + 0.0002 * chance.random())
            start = f"2026-01-{day:02}T20:{place:02}:00Z"
            # Without the fourth night's difference the pairs would not be significant.
            lost = 1.0 if order == "AABB" or name == "B" else 0.9
            rate *= lost * (factor if name == "B" else 1.0)
            sides[name].append(run(f"{name}{day}{place}", [cell(rate)], start))
    line = compare(Side("a", sides["A"]), Side("b", sides["B"]), Terms(tolerance=0)).lines[0]
    assert line.basis == "nights with both"
    assert line.by_order.startswith(said)
    assert bool(line.by_order) == bool(said)


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
    long = [_of_job(f"c{i}", 100.0 + i, f"2026-01-{1 + i:02}T20:00:00Z", "7") for i in range(5)]
    other = [_of_job(f"d{i}", 50.0 + i, f"2026-02-{1 + i:02}T20:00:00Z", "8") for i in range(5)]
    assert only(compare(Side("c", long), Side("d", other))) is Verdict.TONIGHT


def test_one_new_night_is_judged_by_the_control_limits_of_the_baseline() -> None:
    baseline = side("base", (100, 101, 99, 102, 98))
    # The deviation of ln rates is 0.0158. For one night against five (four degrees of freedom,
    # standard error 0.0173), p is 0.05 at 2.8 standard errors, 0.02 at 3.75 (6.3 %) and 0.01 at
    # 4.6.
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
    # Deviation 0.01, three against three: error 0.00816, four degrees of freedom; 10 % are 12.9
    # errors, and the test rejects from 2.78 on.
    assert (found.measurements, round(found.found, 3)) == (1, 1.0)
    noisy = compare(side("a", (100, 110, 90)), side("b", (100, 110, 90))).power
    assert noisy is not None
    # Error 0.082: 1.28 errors. Noncentral t with four degrees of freedom beyond 2.78: 0.17.
    assert noisy.found == pytest.approx(0.17, abs=0.02)
    assert noisy.text == (
        "A loss of 10 % in the one measurement would have been found in"
        f" {round(100 * noisy.found)} of 100 cases."
    )


def test_pairs_are_not_made_by_number_after_one_is_left_out() -> None:
    """The first run of one side and the last of the other are invalid."""
    bad = cell(1.0, **made.invalid("full"))
    sides = [
        Side(n, [run(f"{n}{i}", [bad if i == lost else cell(100.0 / 2**i)],
                     f"2026-01-01T0{i}:{m}:00Z") for i in range(5)])
        for n, lost, m in (("a", 0, "00"), ("b", 4, "30"))
    ]  # fmt: skip
    # Paired by number, each run of one side would be twice as fast as its partner; paired by
    # identity, three pairs remain.
    line = compare(sides[0], sides[1]).lines[0]
    assert (line.verdict, line.basis, line.counts) == (Verdict.SAME, "pairs of runs", (3, 3))
    assert line.gain == pytest.approx(1.0)


def test_what_cannot_be_reported() -> None:
    good = side("a", FAST)

    def cause(other: Side, terms: Terms | None = None) -> NoVerdict | None:
        return compare(good, other, terms).lines[0].cause

    invalid = [cell(1.0, **made.invalid("sync failed")) for _ in range(3)]
    broken = Side("b", [run(f"b{i}", [line]) for i, line in enumerate(invalid)])
    assert cause(broken) is NoVerdict.INVALID
    assert "sync failed" in compare(good, broken).lines[0].reason
    slower = side("b", SLOW, options={"time": 24.0, "rewrite": False})
    assert cause(slower) is NoVerdict.WORKLOAD
    assert compare(good, slower).lines[0].reason == "other workload: --time 12.0 / 24.0"
    assert cause(slower, Terms(frozenset({"time"}))) is None
    elsewhere = side("b", SLOW, options={"time": 12.0, "dir": "/x", "hint": ["a=1"]})
    assert cause(elsewhere) is None
    assert cause(side("b", SLOW, clock={"virtual": True})) is NoVerdict.CLOCK
    assert cause(side("b", SLOW, backend={"name": "null"})) is NoVerdict.CLOCK
    cached = [cell(v, cache={"verdict": "cache"}) for v in SLOW]
    memory = Side("b", [run(f"b{i}", [line]) for i, line in enumerate(cached)])
    assert cause(memory) is NoVerdict.PLACE
    assert "the bytes: cache against device" in compare(memory, good).lines[0].reason
    assert cause(memory, Terms(frozenset({"cache"}))) is None
    other = [cell(v) | {"rate": {"value": v, "unit": "op/s", "better": "higher"}} for v in SLOW]
    assert cause(Side("b", [run(f"b{i}", [x]) for i, x in enumerate(other)])) is NoVerdict.UNIT


def test_a_number_of_a_run_that_changed_its_unit_is_not_compared() -> None:
    """This was a rate in B/s in results of the same schema."""
    benchmark, unit = "saturation", "1"

    def numbers(name: str, unit: str) -> Side:
        runs = []
        for i, value in enumerate(FAST):
            line = made.figure(benchmark, value, unit, benchmark=benchmark)
            whole = run(f"{name}{i}", [], night(name, i), benchmark=benchmark)
            whole.result.figures.append(msgspec.convert(line, Figure))
            runs.append(whole)
        return Side(name, runs)

    (reported,) = compare(numbers("a", "B/s"), numbers("b", unit)).lines
    assert reported.cause is NoVerdict.UNIT
    assert reported.reason == f"other unit: {', '.join(sorted(['B/s', unit]))}"
    (same,) = compare(numbers("a", unit), numbers("b", unit)).lines
    assert same.cause is not NoVerdict.UNIT


def test_each_side_has_its_spread_and_what_is_odd_about_it() -> None:
    modes = [value for _ in range(6) for value in (100.0, 200.0)]
    line = compare(side("a", FAST), side("b", modes)).lines[0]
    assert line.spreads[0] == "109.0 B/s to 111.0 B/s (range of 3)"
    assert line.spreads[1].endswith("% (95 %)")
    assert line.note.startswith("the mean of the second is not reliable: two modes, 50 % of 12")


def test_an_invalid_repetition_is_left_out_and_said() -> None:
    bad = cell(1.0, 2, **made.invalid("full"))
    other = Side("b", [run(f"b{i}", [cell(v), bad], night("b", i)) for i, v in enumerate(SLOW)])
    line = compare(side("a", FAST), other).lines[0]
    assert line.verdict is Verdict.SLOWER
    assert line.note == "3 invalid left out"


def test_pairs_by_axes_and_what_is_left() -> None:
    one = Side("a", [run("a", [cell(1.0), cell(2.0, where={"chunk_bytes": 2048})])])
    other = Side("b", [run("b", [cell(1.0), cell(2.0, where={"chunk_bytes": 4096})])])
    found = compare(one, other)
    assert len(found.lines) == 1
    why = "the nearest one there differs in chunk_bytes"
    assert [(a.side, a.why) for a in found.alone] == [
        ("a", f"{why} 2048 / 1024"),
        ("b", f"{why} 4096 / 1024"),
    ]
    for name in ("chunk_bytes", "chunk"):  # the name of the axis and the name of the option
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


def test_an_interval_that_says_nothing_does_not_widen_the_axis() -> None:
    """One of five runs of the first side is 3e4 times as fast: the gain is 2/3e4^(1/5), its error
    as a logarithm is ln(3e4)/5 = 2.06, and t(4) = 2.776: from 1/306 of the gain, which is off by
    more than 100, to 306 times the gain."""
    gain = 2 / 3e4 ** (1 / 5)
    drawn = []
    for first in ((1e6, 1e6, 1e6, 1e6, 3e10), (1e6, 1e6, 1.1e6, 1.1e6, 1.1e6)):
        comparison = compare(side("a", first), side("b", [2e6] * 5), Terms())
        figure = gain_figure(comparison, comparison.lines[0].key.benchmark, 1)
        assert figure is not None
        drawn.append(figure)
    assert drawn[0].y.low == pytest.approx(gain / 1.2)
    assert drawn[0].y.high == pytest.approx(1.2 * gain * 3e4 ** (2.776 / 5), rel=0.01)
    assert "continues beyond it" in drawn[0].caption
    assert (drawn[1].y.low, drawn[1].y.high) == (None, None)


def test_fewer_than_five_values_a_side_have_no_interval_in_texts() -> None:
    """The verdict counts with the deviation of three; what is printed does not."""
    for first, second, shown in ((SLOW, FAST, False), (SLOW * 2, FAST * 2, True)):
        comparison = compare(side("a", first), side("b", second), Terms())
        (line,) = comparison.lines
        assert line.verdict is Verdict.FASTER
        assert line.gain == pytest.approx(1.1, rel=1e-4)
        assert line.ratio is not None
        assert (line.shown is not None) is shown
        table = lines_table(comparison)
        at = [column.name for column in table.columns].index("95 % interval")
        assert bool(table.rows[0][at]) is shown
        figure = gain_figure(comparison, line.key.benchmark, 1)
        assert figure is not None
        drawn = figure.variants[""][0].series[0]
        assert [end is not None for end in (*drawn.low, *drawn.high)] == [shown] * 2
        assert ("95 % interval" in str(drawn.notes)) is shown
        assert ("(1.0" in line_text(line)) is shown


def test_a_gain_is_the_ratio_of_the_values_next_to_it() -> None:
    """The means, 5.67 and 4 MB/s, would contradict the gain: the geometric means are 3 and 4."""
    runs = ((1e6, 9e6, 3e6), (4e6, 4e6, 4e6))
    (line,) = compare(side("a", runs[0]), side("b", runs[1]), Terms()).lines
    table = lines_table(compare(side("a", runs[0]), side("b", runs[1]), Terms()))
    row = dict(zip([column.name for column in table.columns], table.rows[0], strict=True))
    assert row["gain"] == pytest.approx(4 / 3)
    values = [row[name] for name in ("first", "second")]
    assert [v.value for v in values if isinstance(v, Quantity)] == pytest.approx([3e6, 4e6])
    assert line.centers == pytest.approx((3e6, 4e6))


def test_geometric_mean_by_benchmark() -> None:
    wheres = [{"chunk_bytes": 1024 * n} for n in (1, 2, 3)]
    one = Side("a", [run("a", [cell(100.0, where=w) for w in wheres])])
    faster = zip((200.0, 100.0, 50.0), wheres, strict=True)
    other = Side("b", [run("b", [cell(v, where=w) for v, w in faster])])
    (overall,) = compare(one, other).overall
    assert overall.gain == pytest.approx(1.0)
    # Logarithms ln 2, 0, -ln 2: deviation ln 2, error ln 2/sqrt 3, two freedoms.
    assert overall.high == pytest.approx(2 ** (4.3027 / 3**0.5), rel=1e-3)


def test_workers_differ_with_the_ranks() -> None:
    """ior's cells name ranks times threads: --across ranks found nothing in common."""

    def of(name: str, ranks: int) -> Side:
        where = {"files": "shared", "transfer_bytes": 1024, "block_bytes": 1024, "segments": 1,
                 "workers": ranks}  # fmt: skip
        runs = []
        for i, rate in enumerate(FAST):
            line = cell(rate, where=where, ranks=ranks, benchmark="ior")
            runs.append(run(f"{name}{i}", [line], night(name, i), benchmark="ior"))
        return Side(name, runs)

    terms = Terms(across=frozenset({"ranks"}))
    assert len(compare(of("a", 2), of("b", 6), terms).lines) == 1
    assert compare(of("a", 2), of("b", 6)).lines == []
