# SPDX-License-Identifier: BSD-3-Clause
"""A result that changed after its run had ended: its numbers are shown, and count nowhere."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from driver import made, test_report_probe
from driver.conftest import Effio
from effio.errors import EffioError
from effio.report.generic import criteria_of
from effio.report.limits import Probe
from effio.report.model import Reason
from effio.store.folder import RunFolder, reported_result
from effio.store.reader import read_result

CAMPAIGN = """
title = "two runs"
purpose = "one of them is changed"
repetitions = 2
[[step]]
name = "bulk"
benchmark = "ior"
ranks = 1
[step.options]
backend = "sim"
block = "1MiB"
transfer = "256KiB"
"""
RULES = """
schema = "effio-rules/1"
title = "writes"
[[rule]]
id = "fast"
title = "fast enough"
kind = "threshold"
select = { access = "write" }
at_least = "1MB/s"
"""
WHY = "result.jsonl changed after the run had ended (checksums differ)"
# Of the model of storage, with one rank.
RATE = 100e6


def _faster(run: Path) -> None:
    result = run / "result.jsonl"
    lines = [json.loads(line) for line in result.read_text().splitlines()]
    for line in lines:
        metric = line.get("rate") or line.get("metric")
        if metric is not None and metric["value"] is not None:
            metric["value"] *= 10
    result.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _rows(effio: Effio, *words: str) -> list[dict[str, str]]:
    done = effio.call(*words)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_numbers_that_changed_count_nowhere(with_engine: Effio) -> None:
    effio = with_engine
    (effio.cwd / "two.toml").write_text(CAMPAIGN)
    (effio.cwd / "rules.toml").write_text(RULES)
    assert effio.call("run", "two.toml", "--quiet").returncode == 0
    changed, kept = sorted((effio.cwd / "effio-runs").glob("*-two-*"))
    _faster(changed)

    (row,) = _rows(effio, "table", "two", "--value", "write", "--format", "csv")
    assert (row["runs"], row["counted"], row["verdict"]) == ("2", "1", "not valid: 1 of 2")
    assert float(row["median [B/s]"]) == RATE
    verdicts = {row["run"]: row["verdict"] for row in _rows(effio, "runs", "--format", "csv")}
    assert verdicts == {changed.name: "not valid, simulated", kept.name: "simulated"}
    assert "1 run left out" in effio.call("trend", "two").stdout

    compared = effio.call("compare", changed.name, kept.name)
    assert f"invalid: {WHY}" in compared.stdout
    judged = effio.call("accept", "--rehearse", "rules.toml", changed.name)
    assert "1 not evaluable" in judged.stdout
    assert WHY in judged.stdout

    shown = effio.call("show", changed.name).stdout
    assert shown.startswith("NOT VALID")
    assert f"✗ {WHY}\n" in shown
    assert "1.000 GB/s" in shown  # the number is shown all the same
    page = effio.call("report", changed.name, "-o", "page.html")
    assert page.returncode == 0, page.stderr
    assert WHY in (effio.cwd / "page.html").read_text()

    exported = _rows(effio, "export", changed.name)
    assert [(row["valid"], row["invalid_reason"]) for row in exported] == [("False", WHY)] * 2
    asked = _rows(effio, "query", "--csv", "SELECT run, valid, invalid_reason FROM measurements")
    assert sorted((row["run"], row["invalid_reason"]) for row in asked) == sorted(
        [(changed.name, WHY)] * 2 + [(kept.name, "")] * 2
    )
    # The point is measured again, and then the new run counts.
    assert effio.call("run", "two.toml", "--quiet").returncode == 0
    (row,) = _rows(effio, "table", "two", "--value", "write", "--format", "csv")
    assert (row["runs"], row["counted"]) == ("2", "2")


@pytest.mark.parametrize(
    ("names", "valid"),
    [
        (["result.jsonl"], False),
        (["run.json"], False),
        (["result.jsonl", "run.json"], False),
        (["stdout.log"], True),
        (["environment.json"], True),
        ([], True),
    ],
)
def test_which_files_the_numbers_depend_on(
    names: Sequence[str], valid: bool, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path)
    made.write(folder.result_path, made.b_eff_io())
    for name in ("run.json", "stdout.log", "environment.json"):
        (tmp_path / name).write_text("{}\n")
    folder.seal()
    for name in names:
        file = tmp_path / name
        file.write_text(file.read_text() + " \n")
    before, after = read_result(folder.result_path), reported_result(folder.result_path)
    assert [m.rate for m in after.measurements] == [m.rate for m in before.measurements]
    if valid:
        assert [m.valid for m in after.measurements] == [m.valid for m in before.measurements]
        return
    why = f"{', '.join(names)} changed after the run had ended (checksums differ)"
    assert {m.valid for m in after.measurements} == {False}
    assert {m.invalid_reason.partition(";")[0] for m in after.measurements} == {why}
    assert {f.valid for f in after.figures} == {False}
    # What was asked of the run is still listed with it.
    number = after.number
    assert number is not None
    assert criteria_of(number) == [
        Reason(why, met=False, asked=False),
        *criteria_of(next(f for f in before.figures if before.is_number(f))),
    ]
    assert criteria_of(number)[0].shown == why


@pytest.mark.parametrize("text", [b"", b"torn", b"\xff\xfe\n", b"0  stdout.log\n"])
def test_without_the_checksum_of_its_result_a_sealed_run_does_not_count(
    text: bytes, tmp_path: Path
) -> None:
    """The list of checksums is empty, torn, not text, or without the result."""
    folder = RunFolder(tmp_path)
    made.write(folder.result_path, made.b_eff_io())
    (tmp_path / "stdout.log").touch()
    folder.seal()
    assert reported_result(folder.result_path).measurements[0].valid
    (tmp_path / "SHA256SUMS").write_bytes(text)
    lost = reported_result(folder.result_path).measurements[0]
    assert not lost.valid
    assert lost.invalid_reason.startswith("SHA256SUMS changed after the run had ended")
    assert "SHA256SUMS" in folder.changed_since_sealed()


def test_a_changed_turn_of_interference_makes_the_numbers_invalid(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    made.write(folder.result_path, made.b_eff_io())
    turn = tmp_path / "result.turns" / "1" / "group-0" / "result.jsonl"
    turn.parent.mkdir(parents=True)
    made.write(turn, made.b_eff_io())
    folder.seal()
    assert reported_result(folder.result_path).measurements[0].valid
    turn.unlink()
    lost = reported_result(folder.result_path).measurements[0]
    assert not lost.valid
    assert lost.invalid_reason.startswith("result.turns/1/group-0/result.jsonl changed after")


def test_limits_that_changed_limit_nothing(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    made.write(folder.result_path, test_report_probe.made_lines())
    folder.seal()
    assert Probe.of("probe", reported_result(folder.result_path)).limits
    folder.result_path.write_bytes(folder.result_path.read_bytes() + b" \n")
    with pytest.raises(EffioError, match="has no valid limits"):
        Probe.of("probe", reported_result(folder.result_path))
