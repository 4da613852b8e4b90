# SPDX-License-Identifier: BSD-3-Clause
"""A shipped campaign under its shipped rules: results of its steps, made with `sim`, must be
accepted, refused or undecided."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from effio.campaign.file import path_of
from effio.campaign.order import Asked, study_of
from effio.campaign.points import Point
from effio.engine.program import Engine as Program
from effio.judge.accept import accept, limit_text
from effio.judge.outcomes import Acceptance
from effio.judge.rules import Submission, load_rules, shipped
from effio.judge.samples import Judged
from effio.judge.systems import systems_of
from effio.judge.verdicts import Ruling
from effio.launch.launchers import Ranks
from effio.report.submission import Material, instructed, result_tables
from effio.store.reader import read_result
from effio.store.run_record import CampaignPart, RunRecord
from engines import Engine

# One rank of a hundred: all together have 1.2 times the rate that the first rule demands.
SIM = ("--backend=sim", "--backend-options=rank-rate=12GB/s,noise=0.01,noise-seed=3")
RANKS = 100
SMALLEST = 4 << 20
SERVERS = (12, 24, 36)
# The simulated file system creates names in no time. Rates by access: twice the demanded rate.
NAMES = {"create": 5e4, "remove": 6e4, "stat": 8e4}
Lines = list[dict[str, object]]


def _points(engine: Program, scale: float) -> dict[str, Point]:
    study = study_of(
        path_of("blue-waters"), Asked(scale=scale), engine, lambda: Ranks(1), lambda _: None
    )
    return {point.step.name: point for point in study.points}


def _words(point: Point, ranks_write: bool = False) -> list[str]:
    words = list((point.with_values({"smallest": SMALLEST}) if point.late else point).words())
    words = [word for word in words if not word.startswith(("--dir=", "--name=", "--keep"))]
    if ranks_write:  # a simulated file exists only during its run, so it is written first
        words = [word for word in words if word not in ("--use-existing", "--phases=read")]
        words.append("--phases=write,read")
    return [point.step.benchmark, *words, *SIM]


@pytest.fixture(scope="module")
def steps(any_engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Lines]:
    """One run on one rank for each step, scaled down; reads and writes of all clients are as large
    as the rules demand."""
    engine = Program(any_engine.program, "of the test")
    small, full = _points(engine, 1e-5), _points(engine, 1.0)
    wanted = {
        "ior-1": _words(small["ior-1"]),
        "ior-2-write": _words(small["ior-2-write"]),
        "ior-2-read": _words(small["ior-2-read"], ranks_write=True),
        "ior-3-4": _words(full["ior-3-4"]),
        "mdtest-single": _words(small["mdtest-single"]),
        "mdtest-separate": _words(small["mdtest-separate"]),
        "mdtest-per-file": _words(small["mdtest-per-file"]),
        "flash-io": [w for w in _words(small["flash-io"]) if "backend-options" not in w],
    }
    found = {}
    for name, words in wanted.items():
        cwd = tmp_path_factory.mktemp(name)
        run = any_engine.run([*words, "--quiet", "--result", "r.jsonl"], cwd, ranks=1)
        assert run.code == 0, str(run)
        found[name] = [json.loads(line) for line in (cwd / "r.jsonl").read_text().splitlines()]
    return found


def _run(folder: Path, name: str, lines: Lines, factor: float, labels: Mapping[str, str]) -> Judged:
    """The run of a step with its rates times a factor, as if on this many servers, ranks or
    nodes."""
    changed: Lines = []
    for line in json.loads(json.dumps(lines)):
        if line["kind"] == "run" and "populate" in line["options"] and line["options"]["populate"]:
            line["options"]["populate"] = 1_000_000  # as at scale 1
        if line["kind"] == "run":  # two cores a node
            line["system"]["cpu"] |= {"logical_cpus": 4, "cores": 2}
            line["system"]["ranks_per_node"]["min"] = int(labels.get("packed", 2))
            if name.startswith("ior-3-4"):
                line["system"]["ranks_per_node"]["min"] = 1
            if "stripes" in labels:
                stripes = {"count": int(labels["stripes"])} if labels["stripes"] != "?" else None
                line["file_system"] = {"type": "lustre", "striping": stripes}
        if line["kind"] == "measurement":
            rate = line["rate"]
            if rate["value"] is None and line["access"] in NAMES:
                rate["value"] = NAMES[line["access"]] * (1 + 0.01 * (line["repetition"] % 3))
                rate.pop("reason", None)
            if rate["value"] is not None:
                rate["value"] *= factor * (RANKS if rate["unit"] == "B/s" else 1)
            if name == "ior-1":  # a run this short has no slices that could show it
                line["detail"]["steady"] = {"reached": True}
            line["nodes"] = int(labels.get("nodes", line["nodes"]))
        changed.append(line)
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in changed))
    reported = {n: value for n, value in labels.items() if n not in ("nodes", "packed", "stripes")}
    return Judged(name, path, read_result(path), reported)


def _runs(
    folder: Path, steps: dict[str, Lines], slow: str = "", factor: float = 1.0,
    left_out: str = "", last: float = 1.0, more: Mapping[str, str] | None = None,
) -> list[Judged]:  # fmt: skip
    """All steps at all sizes. The rates of the step `slow` are multiplied by `factor`, and at the
    largest size by `last`; `left_out` was not run. `more` are further labels of `_run`."""
    runs: list[Judged] = []
    for name, lines in steps.items():
        if name == left_out:
            continue
        own = factor if name == slow else 1.0
        if name.startswith("ior-2") or name == "ior-3-4":
            for size in SERVERS:
                share = (
                    size / SERVERS[-1] * own * (last if size == SERVERS[-1] and name == slow else 1)
                )
                axis = "nodes" if name == "ior-3-4" else "servers"
                count = 1 if name == "ior-3-4" else 3
                for i in range(count):
                    labels = {"step": name, axis: str(size), **(more or {})}
                    wobble = 1 + 0.01 * (i - 1)
                    # All clients: half of the best rate at every step, so that the rates are alike.
                    scaled = own if name == "ior-3-4" else share
                    runs.append(_run(folder, f"{name}-{size}-{i}", lines, scaled * wobble, labels))
        else:
            runs.append(_run(folder, name, lines, own, {"step": name, **(more or {})}))
    return runs


def _judged(
    folder: Path, steps: dict[str, Lines], slow: str = "", factor: float = 1.0,
    left_out: str = "", last: float = 1.0, more: Mapping[str, str] | None = None,
) -> Acceptance:  # fmt: skip
    runs = _runs(folder, steps, slow, factor, left_out, last, more)
    return accept(load_rules("blue-waters"), runs, rehearse=True)


def _rulings(reported: Acceptance) -> dict[str, tuple[Ruling, str]]:
    return {o.rule.id: (o.ruling, o.reason) for o in reported.outcomes}


def test_every_shipped_rule_file_is_rehearsed_here() -> None:
    assert shipped() == ["b_eff_io-official", "blue-waters"]


def test_a_system_that_keeps_everything_is_accepted(
    tmp_path: Path, steps: dict[str, Lines]
) -> None:
    reported = _judged(tmp_path, steps)
    bad = {k: v for k, v in _rulings(reported).items() if v[0] is not Ruling.PASS}
    assert bad == {}
    assert reported.verdict == "REHEARSAL, NOT A RULING: would be ACCEPTED"


@pytest.mark.parametrize(
    ("slow", "rule"),
    [
        ("ior-1", "ior-1-write"),
        ("mdtest-single", "mdtest-1-create-single"),
        ("mdtest-separate", "mdtest-3-stat-separate"),
    ],
)
def test_one_that_is_too_slow_is_refused(
    slow: str, rule: str, tmp_path: Path, steps: dict[str, Lines]
) -> None:
    reported = _judged(tmp_path, steps, slow, 0.4)
    assert _rulings(reported)[rule][0] is Ruling.FAIL
    assert reported.verdict.endswith("would be NOT ACCEPTED")


def test_one_that_does_not_scale_is_refused(tmp_path: Path, steps: dict[str, Lines]) -> None:
    reported = _judged(tmp_path, steps, "ior-2-read", last=0.6)
    assert _rulings(reported)["ior-2-read"][0] is Ruling.FAIL
    assert reported.verdict.endswith("would be NOT ACCEPTED")


def test_what_is_close_or_missing_is_undecided(tmp_path: Path, steps: dict[str, Lines]) -> None:
    # The mean of its ten values, with 1 % of noise, is set to the limit.
    mean = [m.rate.value for m in _run(tmp_path, "x", steps["ior-1"], 1.0, {}).result.measurements]
    on_limit = 1e12 / (sum(v or 0.0 for v in mean) / len(mean))
    reported = _judged(tmp_path, steps, "ior-1", on_limit)
    assert _rulings(reported)["ior-1-write"][0] is Ruling.CLOSE
    assert reported.verdict.endswith("would be NOT DECIDED")
    reported = _judged(tmp_path, steps, left_out="mdtest-single")
    assert _rulings(reported)["mdtest-1-create-single"][0] is Ruling.OPEN
    assert reported.verdict.endswith("would be NOT DECIDED")


@pytest.mark.parametrize(
    ("labels", "rulings"),
    [
        ({"packed": "1"}, {"fully-packed": Ruling.FAIL, "ior-3-4-one-rank": Ruling.PASS}),
        ({"stripes": "16"}, {"flash-io-stripes": Ruling.PASS, "ior-3-4-stripes": Ruling.FAIL}),
        ({"stripes": "1"}, {"flash-io-stripes": Ruling.FAIL, "ior-3-4-stripes": Ruling.PASS}),
        ({"stripes": "?"}, {"flash-io-stripes": Ruling.OPEN, "ior-3-4-stripes": Ruling.OPEN}),
    ],
)
def test_nodes_are_fully_packed_and_files_have_their_stripes(
    labels: dict[str, str], rulings: dict[str, Ruling], tmp_path: Path, steps: dict[str, Lines]
) -> None:
    found = _rulings(_judged(tmp_path, steps, more=labels))
    assert {name: found[name][0] for name in rulings} == rulings
    if "packed" in labels:
        assert found["fully-packed"][1].startswith("ior-1: ranks_per_core 0.5 and ")
        (rule,) = (r for r in load_rules("blue-waters").rule if r.id == "fully-packed")
        assert limit_text(rule) == "ranks_per_core at least 1"


def test_table_3_has_a_row_for_each_test(tmp_path: Path, steps: dict[str, Lines]) -> None:
    runs = _runs(tmp_path, steps, left_out="flash-io")
    judged = accept(load_rules("blue-waters"), runs, rehearse=True)
    found = result_tables(Material(Submission(), runs, systems_of(runs), judged, ""))
    rows = {row[0]: row for name, t in found.items() if name[:8] == "results-" for row in t.rows}
    repetitions = {title: row[6] for title, row in rows.items()}
    thirds = ("1/3 of the servers", "2/3 of the servers", "all servers")
    how = ("one directory", "a tree for each rank", "a directory for each file")
    assert repetitions == {
        "IOR 1: Max Write": 10,
        **{f"IOR 2 {what}, {part}": 3 for what in ("write", "read") for part in thirds},
        **{f"IOR 3: all clients write files of 1 GiB, {n} nodes": 3 for n in SERVERS},
        **{f"IOR 4: all clients read files of 1 GiB, {n} nodes": 3 for n in SERVERS},
        **{f"mdtest 1, {one}, file creation": 4 for one in how},
        **{f"mdtest 2, {one}, file removal": 4 for one in how},
        **{f"mdtest 3, {one}, file stat": 4 for one in how},
        "FLASH I/O": 0,
    }
    assert rows["FLASH I/O"][7] == "not measured"
    # Of n values the mean, and the deviation (n - 1) over it.
    values = [m.rate.value or 0.0 for m in runs[0].result.measurements]
    mean = sum(values) / len(values)
    deviation = (sum((v - mean) ** 2 for v in values) / (len(values) - 1)) ** 0.5
    assert rows["IOR 1: Max Write"][2] == pytest.approx(mean / 1e6)
    assert rows["IOR 1: Max Write"][5] == pytest.approx(deviation / mean)
    # Not in the instructions: the writes before the reads of ior-2-read, populating, trees.
    assert set(found) == {
        "results-IOR", "results-mdtest", "results-FLASH", "appendix-ior", "appendix-mdtest",
    }  # fmt: skip
    tests = " ".join(str(row[0]) for row in found["appendix-mdtest"].rows)
    assert "populate" in tests
    assert "tree" in tests
    assert "file create" not in tests


def test_a_test_over_different_things_says_so(tmp_path: Path, steps: dict[str, Lines]) -> None:
    runs = _runs(tmp_path, steps)
    other = json.loads(json.dumps(steps["ior-1"]).replace("4194304", "8388608"))
    runs.append(_run(tmp_path, "ior-1-other", other, 1.0, {"step": "ior-1"}))
    judged = accept(load_rules("blue-waters"), runs, rehearse=True)
    found = result_tables(Material(Submission(), runs, systems_of(runs), judged, ""))
    (row,) = [row for row in found["results-IOR"].rows if row[0] == "IOR 1: Max Write"]
    assert "measured with different where.block_bytes" in str(row[7])
    (flash,) = found["results-FLASH"].rows
    assert (flash[0], flash[6], flash[7]) == ("FLASH I/O", 3, "")


def test_a_row_measured_at_a_scale_says_so(tmp_path: Path, steps: dict[str, Lines]) -> None:
    """Its name has the instructions' sizes."""
    part = CampaignPart(name="small", step="ior-1", point="p")
    record = RunRecord.model_construct(campaign=part)
    run = _run(tmp_path, "ior-1", steps["ior-1"], 1.0, {"step": "ior-1"})
    run = replace(run, result=replace(run.result, record=record))
    folder = tmp_path / "campaigns" / "small"
    folder.mkdir(parents=True)
    remarks = []
    for scale in (1.0, 0.01):
        called = {"schema": "effio-campaign/1", "file": "f", "directory": "d", "ranks": 1}
        (folder / "campaign.json").write_text(json.dumps({**called, "scale": scale}))
        (table, *_), _ = instructed(load_rules("blue-waters"), systems_of([run]), [])
        remarks += [row[7] for row in table.rows if row[0] == "IOR 1: Max Write"]
    assert remarks == ["", "measured at --scale 0.01, not as asked"]


@pytest.fixture(scope="module")
def official(any_engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Lines:
    """The step of b_eff_io-official at scale 1: 30 minutes of virtual time."""
    engine = Program(any_engine.program, "of the test")
    study = study_of(
        path_of("b_eff_io-official"), Asked(), engine, lambda: Ranks(1), lambda _: None
    )
    (point,) = study.points
    words = [word for word in point.words() if not word.startswith("--dir=")]
    slow = ["--backend=sim", "--backend-options=rank-rate=100kB/s", "--memory-per-rank=256MiB"]
    cwd = tmp_path_factory.mktemp("official")
    run = any_engine.run(
        ["b-eff-io", *words, *slow, "--quiet", "--result", "r.jsonl"], cwd, ranks=1
    )
    assert run.code == 0, str(run)
    return [json.loads(line) for line in (cwd / "r.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("seconds", "through", "failed", "verdict"),
    [
        (599.0, "mpiio", [], "ACCEPTED"),
        (601.0, "mpiio", ["balance"], "NOT ACCEPTED"),
        (599.0, "sim", ["official"], "NOT ACCEPTED"),
        (None, "mpiio", [], "NOT DECIDED"),
    ],
)
def test_an_official_b_eff_io_is_valid_and_balanced(
    seconds: float | None, through: str, failed: list[str], verdict: str, tmp_path: Path,
    official: Lines,
) -> None:  # fmt: skip
    """The run as if through MPI-IO, and with this much time for writing the memory."""
    lines: Lines = []
    for line in json.loads(json.dumps(official)):
        if line["kind"] == "figure" and line["valid"] is False and through == "mpiio":
            # It is the only criterion that a simulated run does not reach.
            assert [c["text"] for c in line["detail"]["criteria"] if not c["reached"]] == [
                "storage is reached through MPI-IO, not sim"
            ]
            line |= {"valid": True, "reasons": []}
        if line.get("name") == "balance_time":
            line["metric"] |= {"value": seconds, "reason": "" if seconds else "memory not known"}
        lines.append(line)
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = Judged("r", path, read_result(path), {})
    found = accept(load_rules("b_eff_io-official"), [run], rehearse=True)
    assert [o.rule.id for o in found.outcomes if o.ruling is Ruling.FAIL] == failed
    assert found.verdict.endswith(f"would be {verdict}")
