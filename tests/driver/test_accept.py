# SPDX-License-Identifier: BSD-3-Clause
"""Acceptance rules: each kind with known values, and those of Blue Waters against its sample."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from types import SimpleNamespace
from typing import Any, cast

import pytest

from driver import made
from driver.conftest import Effio
from effio.campaign.called import Called
from effio.campaign.state import CampaignFolder
from effio.judge import gather
from effio.judge.accept import accept
from effio.judge.outcomes import Outcome
from effio.judge.rules import Condition, RuleFile, Valid, load_rules
from effio.judge.samples import Judged
from effio.judge.verdicts import Ruling
from effio.report.acceptance import value_of
from effio.report.model import Quantity
from effio.store.all_runs import Store
from effio.store.reader import read_result
from effio.store.run_record import CampaignPart, RunRecord

MIB = 1 << 20
_STRIDE = 7  # does not divide any of the counts used


def around(mean: float, deviation: float, count: int) -> list[float]:
    """`count` values with exactly this mean and standard deviation (n-1): normal scores in an order
    without a trend or anything else that is odd."""
    scores = [NormalDist().inv_cdf((i + 0.5) / count) for i in range(count)]
    scores = [scores[(i * _STRIDE + count // 2) % count] for i in range(count)]
    scale = deviation / stdev(scores) if count > 1 else 0.0
    return [mean + scale * (score - fmean(scores)) for score in scores]


def ior(
    folder: Path, name: str, rates: Sequence[float], access: str = "write", transfer: int = 4 * MIB,
    labels: dict[str, str] | None = None, nodes: int = 1,
    options: dict[str, Any] | None = None, **more: Any,
) -> Judged:  # fmt: skip
    where = {"files": "per-process", "transfer_bytes": transfer, "block_bytes": 1 << 30}
    lines = [made.run_line(benchmark="ior", options={"files": "per-process", **(options or {})})]
    for i, rate in enumerate(rates):
        line = made.measurement(access, "per-process sequential", 1, rate, benchmark="ior",
                                where=where, repetition=i + 1, nodes=nodes, **more)  # fmt: skip
        lines.append(line | {"cache": more.get("cache", {"verdict": "device"})})
    return judged(folder, name, lines, {"step": STEPS.get((access, transfer), "")} | (labels or {}))


# Of the campaign blue-waters, by what is measured; IOR 1 writes as IOR 2 does.
STEPS = {
    ("write", 4 * MIB): "ior-2-write",
    ("read", 4 * MIB): "ior-2-read",
    ("write", 16 * MIB): "ior-3-4",
    ("read", 16 * MIB): "ior-3-4",
}
IOR_1 = {"step": "ior-1"}


def mdtest(folder: Path, rates: dict[str, list[float]], unique: bool, populate: int) -> Judged:
    lines = [made.run_line(benchmark="mdtest", options={"populate": populate})]
    for access, values in rates.items():
        for i, rate in enumerate(values):
            line = made.measurement(access, "file", 1, rate, benchmark="mdtest", repetition=i + 1,
                                    where={"thing": "file", "unique": unique})  # fmt: skip
            line["rate"]["unit"] = "op/s"
            lines.append(line)
    step = "mdtest-separate" if unique else "mdtest-single"
    return judged(folder, f"mdtest-{unique}", lines, {"step": step})


def judged(
    folder: Path, name: str, lines: list[made.Line], labels: dict[str, str] | None = None
) -> Judged:
    path = made.write(folder / f"{name}.jsonl", made.numbered([*lines, made.end()]))
    return Judged(name, path, read_result(path), labels or {})


def outcomes(rules: RuleFile, runs: Sequence[Judged]) -> dict[str, Outcome]:
    return {o.rule.id: o for o in accept(rules, runs).outcomes}


def rule(**members: Any) -> RuleFile:
    return RuleFile.model_validate(
        {"schema": "effio-rules/1", "title": "t", "rule": [{"id": "r", **members}]}
    )


def one(rules: RuleFile, runs: Sequence[Judged]) -> Outcome:
    return outcomes(rules, runs)["r"]


def test_blue_waters_against_its_own_samples(tmp_path: Path) -> None:
    # "Max Write 732912.20 MiB/sec" is 0.7685 TB/s, and less than 1 TB/s.
    write = ior(tmp_path, "write", [732912.20 * MIB] * 10, labels=IOR_1)
    # File creation 43254.472 ± 5306.844, stat 77641.366 ± 1185.805, removal 43862.148 ± 14615.957.
    rates = {
        "create": around(43254.472, 5306.844, 20),
        "stat": around(77641.366, 1185.805, 20),
        "remove": around(43862.148, 14615.957, 20),
    }
    single, separate = (mdtest(tmp_path, rates, u, p) for u, p in ((False, 10**6), (True, 0)))
    found = outcomes(load_rules("blue-waters"), [write, single, separate])
    assert found["ior-1-write"].ruling is Ruling.FAIL
    assert found["ior-1-write"].value == pytest.approx(732912.20 * 1048576)
    assert found["ior-1-write"].value == pytest.approx(0.768514e12, rel=1e-5)
    for name in ("1-create", "2-remove", "3-stat"):
        for how in ("single", "separate"):
            assert found[f"mdtest-{name}-{how}"].ruling is Ruling.PASS, name
    reported = found["mdtest-2-remove-single"]
    assert reported.value == pytest.approx(43862.148)
    assert reported.sample is not None
    assert reported.sample.cov == pytest.approx(14615.957 / 43862.148)
    assert found["valid"].ruling is Ruling.PASS
    # Nine are not ten.
    nine = outcomes(load_rules("blue-waters"), [ior(tmp_path, "nine", [2e12] * 9, labels=IOR_1)])
    assert nine["ior-1-write"].ruling is Ruling.OPEN
    assert nine["ior-1-write"].reason == "9 repetitions, 10 needed"
    # "> 25,000" is not met by 25,000; "at least 1 TB/s" is by 1 TB/s.
    exact = mdtest(tmp_path, {"create": [25000.0] * 4}, True, 0)
    assert outcomes(load_rules("blue-waters"), [exact])["mdtest-1-create-separate"].ruling is (
        Ruling.FAIL
    )
    exact = ior(tmp_path, "exact", [1e12] * 10, labels=IOR_1)
    assert outcomes(load_rules("blue-waters"), [exact])["ior-1-write"].ruling is Ruling.PASS
    # An empty directory is not one of a million files.
    empty = mdtest(tmp_path, rates, False, 0)
    reported = outcomes(load_rules("blue-waters"), [empty])["mdtest-1-create-single"]
    assert reported.ruling is Ruling.OPEN
    assert "options.populate at least 1000000 (measured: 0)" in reported.reason


def servers(folder: Path, rates: dict[int, float], **more: Any) -> list[Judged]:
    return [
        ior(folder, f"s{n}", [rate] * 3, labels={"servers": str(n)}, **more)
        for n, rate in rates.items()
    ]


def test_scaling_with_servers(tmp_path: Path) -> None:
    rules = load_rules("blue-waters")
    # One server 8 GB/s; 12, 24 and 36 of them at 95, 92 and 91 % of linear.
    good = {1: 8e9, 12: 0.95 * 96e9, 24: 0.92 * 192e9, 36: 0.91 * 288e9}
    found = outcomes(rules, servers(tmp_path, good))["ior-2-write"]
    assert found.ruling is Ruling.PASS
    assert [s.needed for s in found.steps] == pytest.approx(
        [7.2e9, 0.9 * 96e9, 0.9 * 192e9, 0.9 * 288e9]
    )
    bad = outcomes(rules, servers(tmp_path, good | {36: 0.89 * 288e9}))["ior-2-write"]
    assert bad.ruling is Ruling.FAIL
    assert bad.reason == "at 36: 256.3 GB/s, needed 259.2 GB/s"
    # Rule 1 looks at its own step alone.
    assert outcomes(rules, servers(tmp_path, good))["ior-1-write"].reason == (
        "not measured: step ior-1 (measured: ior-2-write)"
    )
    # Where any of several steps would do, the label that is advised is one of them.
    bare = replace(ior(tmp_path, "bare", [1e9] * 3), labels={})
    assert outcomes(rules, [bare])["fully-packed"].reason == (
        "not measured: no run is of a campaign's step ior-1 or ior-2-write or ior-2-read or"
        " mdtest-single or mdtest-separate or mdtest-per-file or flash-io; label it, step=ior-1:RUN"
    )
    missing = outcomes(rules, servers(tmp_path, {1: 8e9, 12: 96e9, 36: 288e9}))["ior-2-write"]
    assert missing.reason == "no step at 0.67 of the largest label.servers (36)"
    unlabelled = outcomes(rules, [ior(tmp_path, "plain", [1e9] * 3)])["ior-2-write"]
    assert unlabelled.reason == "plain has no label.servers: label it, NAME=NUMBER:RUN"
    above = outcomes(rules, servers(tmp_path, good | {12: 1.2 * 96e9}))["ior-2-write"]
    assert above.ruling is Ruling.PASS
    assert above.reason.startswith("above linear at 12")
    cached = servers(tmp_path, good, access="read", cache={"verdict": "cache"})
    assert outcomes(rules, cached)["ior-2-read"].reason == (
        "evidence of 12 of 12 is not device: 12 cache"
    )


def test_each_rate_of_the_shipped_rules_for_storage_needs_evidence(tmp_path: Path) -> None:
    """Writes of blue-waters passed with rates of memory; reads did not."""
    bytes_moved = [
        rule
        for rule in load_rules("blue-waters").rule
        if not isinstance(rule, (Condition, Valid)) and rule.select["benchmark"] == "ior"
    ]
    assert {rule.id: rule.wanted_evidence for rule in bytes_moved} == {
        "ior-1-write": ["device"], "ior-1-steady": ["device"], "ior-2-write": ["device"],
        "ior-2-read": ["device"],
        "ior-3-write": ["device"], "ior-4-read": ["device"],
    }  # fmt: skip
    rules = load_rules("blue-waters")
    steady: dict[str, Any] = {"detail": {"steady": {"reached": True}}}
    cached = ior(
        tmp_path, "cached", [2e12] * 10, labels=IOR_1, cache={"verdict": "cache"}, **steady
    )
    device = ior(tmp_path, "device", [2e12] * 10, labels=IOR_1, **steady)
    for name in ("ior-1-write", "ior-1-steady"):
        reported = outcomes(rules, [cached])[name]
        assert reported.ruling is Ruling.OPEN
        assert reported.reason == "evidence of 10 of 10 is not device: 10 cache"
        assert outcomes(rules, [device])[name].ruling is Ruling.PASS


def test_half_of_the_best_at_every_step(tmp_path: Path) -> None:
    def at(rates: dict[int, float]) -> Outcome:
        runs = [
            ior(tmp_path, f"n{n}", [rate] * 3, nodes=n, transfer=16 * MIB)
            for n, rate in rates.items()
        ]
        return outcomes(load_rules("blue-waters"), runs)["ior-3-write"]

    assert at({10: 50e9, 100: 100e9, 1000: 60e9}).ruling is Ruling.PASS
    low = at({10: 49e9, 100: 100e9, 1000: 60e9})
    assert low.ruling is Ruling.FAIL
    assert low.reason == "at 10: 49.00 GB/s, needed 50.00 GB/s"
    assert at({10: 50e9}).reason == "only one step of nodes"


def test_variation(tmp_path: Path) -> None:
    threshold = {"kind": "threshold", "at_least": "1GB/s", "cov": 0.1, "repetitions": 3}
    assert one(rule(**threshold), [ior(tmp_path, "a", around(2e9, 1e8, 4))]).ruling is Ruling.PASS
    noisy = one(rule(**threshold), [ior(tmp_path, "b", around(2e9, 3e8, 4))])
    assert (noisy.ruling, noisy.reason) == (Ruling.OPEN, "COV 0.150 above 0.1: too much variation")


def test_steady(tmp_path: Path) -> None:
    steady = rule(kind="steady", within="5min")

    def run(name: str, reached: bool | None, seconds: float = 1.0) -> Outcome:
        detail: dict[str, Any] = {"steady": None if reached is None else {"reached": reached}}
        more: dict[str, Any] = {"detail": detail, "seconds": {"total": made.spread(seconds)}}
        return one(steady, [ior(tmp_path, name, [1e9] * 2, **more)])

    assert run("a", True).ruling is Ruling.PASS
    assert run("b", False).reason == "2 of 2 never became steady"
    assert run("b", False).ruling is Ruling.FAIL
    assert run("c", None).ruling is Ruling.OPEN
    assert run("d", True, 301.0).reason == "2 took up to 5 min 01 s"
    assert run("e", None).reason.endswith("not known to be steady: measure with --steady")
    # Not that of a run that had the option, and ended before it was known.
    asked = ior(tmp_path, "f", [1e9] * 2, detail={"steady": None}, options={"steady": True})
    assert one(steady, [asked]).reason.endswith("longer, or with a shorter --steady-slice")


def test_a_ruling_on_a_campaign_that_was_shrunk_says_so(tmp_path: Path) -> None:
    run = ior(tmp_path, "a", [1e9, 2e9])
    part = CampaignPart(name="small", step="ior-1", point="p")
    record = RunRecord.model_construct(campaign=part)
    run = replace(run, result=replace(run.result, record=record))
    limit = rule(kind="limit", at_most="2GB/s")
    reasons = []
    for scale in (1.0, 0.01):
        called = Called(file="f", directory="d", ranks=1, scale=scale)
        CampaignFolder(Store(tmp_path), "small").keep(called, "")
        reasons.append(one(limit, [run]).reason)
    assert reasons == ["", "measured at --scale 0.01, not as asked"]


def test_valid_and_limits(tmp_path: Path) -> None:
    limit = rule(kind="limit", at_most="2GB/s")
    assert one(limit, [ior(tmp_path, "a", [1e9, 2e9])]).ruling is Ruling.PASS
    assert one(limit, [ior(tmp_path, "b", [1e9, 2.1e9])]).ruling is Ruling.FAIL
    bad = ior(tmp_path, "bad", [1e9], **made.invalid("sync failed"))
    assert one(rule(kind="valid"), [bad]).reason == "bad: sync failed"
    assert one(rule(kind="valid"), [bad]).ruling is Ruling.FAIL
    wrong = ior(tmp_path, "wrong", [1e9], error_count=2)
    assert one(rule(kind="valid"), [wrong]).reason == "wrong: 2 errors"
    assert one(limit, [bad]).reason == "1 of 1 invalid (bad: sync failed)"
    # The rule "valid" passes it: nothing of it failed.
    none = {"value": None, "unit": "B/s", "better": "higher", "reason": "nothing was moved"}
    empty = ior(tmp_path, "empty", [1e9], rate=none)
    assert one(rule(kind="valid"), [empty]).ruling is Ruling.PASS
    assert one(limit, [empty]).reason == "1 of 1 without a rate (empty: nothing was moved)"


def test_what_a_figure_does_not_have_is_called_none(tmp_path: Path) -> None:
    """The reason ended in "(measured: )"."""
    run = ior(tmp_path, "w", [2e9])
    found = one(rule(kind="valid", select={"access": "write", "where.no": 1}), [run])
    assert found.reason == "not measured: where.no 1 (measured: none)"


def test_what_is_not_a_ground(tmp_path: Path) -> None:
    threshold = rule(kind="threshold", at_least="1GB/s")
    virtual = judged(tmp_path, "v", [made.run_line(clock={"virtual": True}),
                                     made.measurement("write", "shared", 1, 2e9)])  # fmt: skip
    assert "virtual time" in one(threshold, [virtual]).reason
    two = [ior(tmp_path, "n1", [2e9], nodes=1), ior(tmp_path, "n2", [2e9], nodes=2)]
    assert "different nodes (1, 2)" in one(threshold, two).reason
    metadata = mdtest(tmp_path, {"create": [1e12]}, True, 0)
    assert one(threshold, [metadata]).reason == "measured in op/s, requested in B/s"


def test_a_mixture_is_an_error(tmp_path: Path) -> None:
    # Written at 10, read at 1000 MB/s: 505 is the rate of nothing.
    both = [ior(tmp_path, "w", [10e6] * 3), ior(tmp_path, "r", [1000e6] * 3, access="read")]
    for run in both:
        run.labels["step"] = "same"  # type: ignore[index]
    found = one(rule(kind="threshold", at_least="100MB/s"), both)
    assert (found.ruling, found.reason) == (
        Ruling.OPEN, "measured with different access (read, write): select one",
    )  # fmt: skip
    sizes = [ior(tmp_path, f"t{n}", [2e9] * 3, transfer=n * MIB) for n in (1, 2)]
    selected = {"select": {"where.transfer_bytes": "2MiB"}}
    assert (
        "where.transfer_bytes (1048576, 2097152)"
        in one(rule(kind="threshold", at_least="1GB/s"), sizes).reason
    )
    assert one(rule(kind="threshold", at_least="1GB/s", **selected), sizes).ruling is Ruling.PASS
    # All differences are named at once.
    sizes[1] = ior(tmp_path, "n", [2e9] * 3, transfer=2 * MIB, nodes=2)
    reason = one(rule(kind="threshold", at_least="1GB/s"), sizes).reason
    assert reason == (
        "measured with different nodes (1, 2), where.transfer_bytes (1048576, 2097152): "
        "select one of each"
    )
    sizes[1] = ior(tmp_path, "t", [2e9] * 3, transfer=2 * MIB)
    across = {"across": ["where.transfer_bytes"]}
    assert one(rule(kind="threshold", at_least="1GB/s", **across), sizes).ruling is Ruling.PASS


@pytest.mark.parametrize("verdict", ["mixed", "unknown", "cache"])
def test_evidence_is_demanded_literally(verdict: str, tmp_path: Path) -> None:
    run = ior(tmp_path, "a", [2e9] * 3, cache={"verdict": verdict})
    demanded = one(rule(kind="threshold", at_least="1GB/s", from_storage=True), [run])
    assert (demanded.ruling, demanded.reason) == (
        Ruling.OPEN, f"evidence of 3 of 3 is not device: 3 {verdict}",
    )  # fmt: skip
    agreed = rule(kind="threshold", at_least="1GB/s", evidence=["device", verdict])
    assert one(agreed, [run]).ruling is Ruling.PASS
    # Too slow even with the help of a cache.
    failed = one(rule(kind="threshold", at_least="3GB/s", from_storage=True), [run])
    assert failed.ruling is Ruling.FAIL


def test_too_close_to_call(tmp_path: Path) -> None:
    # Mean 1.05, deviation 0.1, five values: 1.118 errors above 1. Student's t with 4 freedoms has
    # 0.163 beyond; t(0.95, n - 1) 0.1 / sqrt(n) <= 0.05 from n = 13 on (1.782 / 3.606 = 0.494).
    limit = rule(kind="threshold", at_least="1GB/s")
    values = [1.05e9 + 1e8 * f / math.sqrt(2.5) for f in (0, 2, -1, -2, 1)]
    found = one(limit, [ior(tmp_path, "a", values)])
    assert found.ruling is Ruling.CLOSE
    assert found.wrong == pytest.approx(0.163, abs=5e-4)
    assert found.decides == 13
    assert "13 repetitions would decide" in found.reason
    assert accept(limit, [ior(tmp_path, "b", values)]).verdict == "NOT DECIDED"
    alone = rule(kind="threshold", at_least="1GB/s", risk=0.5)
    assert one(alone, [ior(tmp_path, "c", values)]).ruling is Ruling.PASS
    far = one(rule(kind="threshold", at_least="0.8GB/s"), [ior(tmp_path, "d", values)])
    # 5.59 errors: 0.0025 beyond.
    assert far.ruling is Ruling.PASS
    assert far.wrong == pytest.approx(0.0025, abs=1e-4)
    single = one(limit, [ior(tmp_path, "e", [2e9])])
    assert single.ruling is Ruling.CLOSE
    assert single.reason.startswith("one value has no spread")


def test_one_that_cannot_show_hides_no_fail(tmp_path: Path) -> None:
    steady = rule(kind="steady")
    restless = ior(tmp_path, "a", [1e9] * 2, detail={"steady": {"reached": False}})
    silent = ior(tmp_path, "b", [1e9] * 2, detail={"steady": None})
    assert one(steady, [restless, silent]).reason == "2 of 4 never became steady"
    bad = ior(tmp_path, "c", [1e9], **made.invalid("sync failed"))
    above = one(rule(kind="limit", at_most="2GB/s"), [ior(tmp_path, "d", [3e9]), bad])
    assert (above.ruling, above.reason) == (Ruling.FAIL, "1 of 2 invalid (c: sync failed)")


def test_a_copied_run_is_not_another_repetition(effio: Effio) -> None:
    folder = effio.cwd / "effio-runs" / "20260101T000000Z-b-eff-io"
    made.write(folder / "result.jsonl", made.b_eff_io())
    record = {"schema": "effio-run/1", "id": folder.name, "created": "", "directory": "/",
              "benchmark": "b-eff-io", "arguments": [], "command": []}  # fmt: skip
    (folder / "run.json").write_text(json.dumps(record))
    shutil.copytree(folder, effio.cwd / "effio-runs" / "again")
    reported: list[str] = []
    store = Store(effio.cwd / "effio-runs")
    assert len(gather.judged([str(store.root)], store, reported.append)) == 1
    assert "is a copy of" in reported[0]


# Figures, rehearsals, odd repetitions -------------------------------------------------------------


def _with_figure(folder: Path, name: str, value: float, **more: Any) -> Judged:
    lines = [made.run_line(benchmark="ior"), made.figure("write_bandwidth", value, benchmark="ior")]
    lines[1] |= more
    return judged(folder, name, lines)


def test_a_rule_judges_a_figure_by_its_exact_name(tmp_path: Path) -> None:
    runs = [_with_figure(tmp_path, f"r{i}", v) for i, v in enumerate((2.0e9, 2.1e9, 2.05e9))]
    limit = {"kind": "threshold", "at_least": "1GB/s", "repetitions": 3}
    found = one(rule(**limit, figure="write_bandwidth"), runs)
    assert found.ruling is Ruling.PASS
    assert found.value == pytest.approx(2.05e9)
    absent = one(rule(**limit, figure="write_bandwith"), runs)
    assert absent.ruling is Ruling.OPEN
    assert absent.reason == (
        "not measured: no figure 'write_bandwith'; did you mean 'write_bandwidth'?"
    )
    bad = _with_figure(tmp_path, "bad", 2e9, valid=False, reasons=["too short"])
    assert (
        "1 of 4 invalid (bad: too short)"
        in one(rule(**limit, figure="write_bandwidth"), [*runs, bad]).reason
    )


def test_names_in_the_memory_of_a_node_are_not_accepted(tmp_path: Path) -> None:
    """Nothing else says of operations on names that a tmpfs took them."""
    rules = load_rules("blue-waters")
    run = mdtest(tmp_path, {"create": [30000.0] * 5}, unique=True, populate=0)
    (found,) = [o for o in accept(rules, [run]).outcomes if o.rule.id == "not-in-memory"]
    assert found.ruling is Ruling.PASS
    run.path.write_text(
        run.path.read_text().replace('"memory_backed":false', '"memory_backed":true')
    )
    there = Judged("tmpfs", run.path, read_result(run.path), run.labels)
    (found,) = [o for o in accept(rules, [there]).outcomes if o.rule.id == "not-in-memory"]
    assert (found.ruling, found.limit) == (Ruling.FAIL, "in_memory no")
    assert found.reason == "tmpfs: in_memory yes"


@pytest.mark.parametrize(
    ("own", "simulated_one"),
    [
        ('"virtual":false', '"virtual":true'),
        ('"backend":{"name":"mpiio"', '"backend":{"name":"null"'),
    ],
)
def test_simulated_results_are_rehearsed_and_stamped(
    tmp_path: Path, effio: Effio, own: str, simulated_one: str
) -> None:
    limit = rule(kind="threshold", at_least="1GB/s", repetitions=3, from_storage=True)
    run = ior(tmp_path, "sim", (2.0e9, 2.1e9, 2.05e9), cache={"verdict": "unknown"})
    text = run.path.read_text().replace(own, simulated_one)
    assert simulated_one in text
    run.path.write_text(text)
    simulated = Judged("sim", run.path, read_result(run.path), {})
    refused = accept(limit, [simulated])
    assert refused.outcomes[0].reason.startswith("simulated (virtual time or backend null)")
    rehearsed = accept(limit, [simulated], rehearse=True)
    assert rehearsed.verdict == "REHEARSAL, NOT A RULING: would be ACCEPTED"
    # Evidence is still required of a real run.
    real = ior(tmp_path, "real", (2.0e9, 2.1e9, 2.05e9), cache={"verdict": "unknown"})
    assert accept(limit, [real], rehearse=True).outcomes[0].ruling is Ruling.OPEN
    # Every output has the stamp.
    rules = effio.cwd / "rules.toml"
    rules.write_text(
        'schema = "effio-rules/1"\ntitle = "t"\n[[rule]]\nid = "r"\nkind = "threshold"\n'
        'at_least = "1GB/s"\n'
    )
    done = effio.call("accept", rules, run.path, "--rehearse", "--page", "p.html")
    assert done.returncode == 0, done.stderr
    assert "REHEARSAL, NOT A RULING: would be ACCEPTED" in done.stdout
    assert "pass (rehearsal)" in done.stdout
    assert "Acceptance: rehearsal, not a ruling" in (effio.cwd / "p.html").read_text()
    data = json.loads(effio.call("accept", rules, run.path, "--rehearse", "--json").stdout)
    assert data["rehearsal"] is True
    assert data["verdict"] == "rehearsal, not a ruling: would be accepted"


def test_a_mean_that_misleads_decides_only_if_all_values_do(tmp_path: Path) -> None:
    """Two modes, 3 of 10 at half the rate: the mean of 1.7 GB/s is above the limit."""
    values = [2.0e9, 1.01e9, 2.02e9, 1.98e9, 1.0e9, 2.01e9, 1.99e9, 0.99e9, 2.03e9, 1.97e9]
    run = ior(tmp_path, "modes", values)
    found = one(rule(kind="threshold", at_least="1.5GB/s"), [run])
    assert found.ruling is Ruling.CLOSE
    assert found.reason.startswith("not reliable: two modes, 30 % of 10 at 0.5 times the others")
    for limit, ruling in (("0.9GB/s", Ruling.PASS), ("2.5GB/s", Ruling.FAIL)):
        found = one(rule(kind="threshold", at_least=limit), [run])
        assert (found.ruling, found.wrong) == (ruling, 0.5**10)
    steps = [
        ior(tmp_path, f"s{n}", [n * v for v in some], labels={"servers": str(n)})
        for n, some in ((1, [1e9, 1.01e9, 0.99e9, 1.0e9, 1.005e9]), (2, values))
    ]
    linear = {"kind": "linearity", "axis": "label.servers", "tolerance": 0.1}
    reported = one(rule(**linear), steps)
    assert (reported.ruling, reported.reason[:19]) == (Ruling.PASS, "above linear at 2: ")
    slow = ior(tmp_path, "slow", [0.65 * 2 * v for v in values], labels={"servers": "2"})
    assert one(rule(**linear), [steps[0], slow]).ruling is Ruling.CLOSE


def test_a_projected_value_says_so() -> None:
    found = [
        value_of(cast("Outcome", SimpleNamespace(value=2e6, unit="B/s", projection=projection)))
        for projection in (None, object())
    ]
    assert found == [Quantity(2e6, "B/s"), "2.000 MB/s (projected)"]
