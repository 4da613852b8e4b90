# SPDX-License-Identifier: BSD-3-Clause
"""Files and folders whose names are not UTF-8: every command takes them, and what it writes for
other programs is UTF-8. Only job scripts hold the bytes of the name."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import xml.dom.minidom
from pathlib import Path

import pytest

from driver import made
from driver.campaigns import read_runs
from driver.conftest import Effio
from effio.judge.manifest import verify
from effio.report.campaign import campaign_report
from effio.report.model import Link

RUN = os.fsdecode(b"20260101T000000Z-\xff\xfe")


@pytest.fixture
def odd(effio: Effio) -> Effio:
    made.write(effio.cwd / "effio-runs" / RUN / "result.jsonl", made.b_eff_io())
    made.write(effio.cwd / "effio-runs" / "20260102T000000Z-b-eff-io" / "result.jsonl", [
        {**line, **({"started": "2026-11-21T12:00:00Z"} if line["kind"] == "run" else {})}
        for line in made.b_eff_io()
    ])  # fmt: skip
    return effio


@pytest.mark.parametrize(
    "words",
    [
        ("report", RUN, "-o", "out.html"),
        ("compare", RUN, "20260102T000000Z-b-eff-io", "--page", "out.html"),
        ("compare", RUN, "20260102T000000Z-b-eff-io", "--junit", "out.xml"),
        ("accept", "b_eff_io-official", RUN, "--page", "out.html"),
        ("export", RUN, "-o", "out.csv"),
        ("export", RUN, "-o", "out.json"),
        ("export", RUN, "-o", "out.md"),
    ],
    ids=lambda words: " ".join(words[::3]).encode("ascii", "replace").decode(),
)
def test_what_is_written_is_utf8(words: tuple[str, ...], odd: Effio) -> None:
    place = odd.cwd / words[-1]
    done = odd.call(*words[:-1], place)
    assert done.returncode in (0, 1), done.stderr
    text = place.read_bytes().decode("utf-8")
    if place.suffix == ".xml":
        xml.dom.minidom.parseString(text)
    if place.suffix == ".csv":
        assert next(csv.DictReader(io.StringIO(text)))["run"] == "20260101T000000Z-??"
    if place.suffix == ".json":
        assert json.loads(text)[0]["run"] == "20260101T000000Z-??"


def test_a_bundle_of_such_a_run_is_whole(odd: Effio) -> None:
    """Its workbook and its tables ended in a traceback."""
    pytest.importorskip("openpyxl")
    place = odd.cwd / "bundle"
    done = odd.call("bundle", RUN, "-o", place)
    assert done.returncode == 0, done.stderr
    assert verify(place)[0] == []
    for file in place.rglob("*.csv"):
        file.read_bytes().decode("utf-8")


def test_a_name_that_cannot_be_seen_is_spelled_out(odd: Effio) -> None:
    """The line ended after "added: "."""
    place = odd.cwd / "bundle"
    assert odd.call("bundle", RUN, "-o", place).returncode == 0
    for name in (b"\xff", b"\x1b[31m", b"plain"):
        (place / os.fsdecode(name)).touch()
    lines = odd.call("verify-bundle", place).stdout.splitlines()
    assert lines == ["added: '\\x1b[31m'", "added: plain", "added: '\\udcff'"]


def test_the_page_of_a_campaign_leads_to_such_a_place(tmp_path: Path) -> None:
    runs = tmp_path / os.fsdecode(b"runs\xff")
    made.write(runs / "20260101T000000Z-a" / "result.jsonl", made.b_eff_io())
    record = {
        "schema": "effio-run/1", "id": "20260101T000000Z-a", "created": "2026-01-01T00:00:00Z",
        "benchmark": "b-eff-io", "arguments": [], "directory": "/", "command": [],
        "campaign": {"name": "c", "step": "s", "point": "p", "axes": {}, "repetition": 0},
        "outcome": {"status": "done", "exit_code": 0},
    }  # fmt: skip
    (runs / "20260101T000000Z-a" / "run.json").write_text(json.dumps(record))
    report = campaign_report("c", read_runs(runs, "c"), tmp_path / "c.html")
    tables = [block for section in report.sections for block in section.blocks]
    cells = [cell for table in tables for row in getattr(table, "rows", []) for cell in row]
    links = [cell.href for cell in cells if isinstance(cell, Link)]
    assert links == ["./runs%FF/20260101T000000Z-a"]


@pytest.mark.parametrize("system", ["slurm", "pbs", "lsf", "flux"])
def test_a_job_script_holds_the_bytes_of_a_name(system: str, with_engine: Effio) -> None:
    """It ended in a traceback."""
    place = with_engine.cwd / os.fsdecode(b"data\xff")
    place.mkdir()
    runs = with_engine.cwd / os.fsdecode(b"runs\xff")
    done = with_engine.call(
        "--runs", runs, "run", "ior", "--ranks=1", f"--dir={place}", "--block=64KiB",
        "--transfer=64KiB", "--batch", system,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (script,) = runs.glob("*/job.sh")
    assert os.fsencode(place) in script.read_bytes()
    assert subprocess.run(["bash", "-n", script], check=False, timeout=60).returncode == 0
