# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of probe, and of other runs as a percentage of its limits."""

from __future__ import annotations

import base64
import gzip
import re
from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.errors import EffioError
from effio.report.build import load_probe, report_of, write_report
from effio.report.html import render
from effio.report.model import Report, Table
from effio.store.reader import read_result

MB = 1_000_000
LIMITS: dict[str, tuple[float | None, str]] = {
    "stream write, one process": (100.0 * MB, "B/s"),
    "stream write, all processes": (200.0 * MB, "B/s"),
    "stream read, all processes": (400.0 * MB, "B/s"),
    "random reads of 4 KiB": (1000.0, "op/s"),
    "files created": (5000.0, "op/s"),
    "message, one way": (None, "s"),
}


FIGURES = {"B/s": "bandwidth_limit", "op/s": "operation_limit", "s": "latency_limit"}


def made_lines() -> list[made.Line]:
    axes = [{"name": "processes", "title": "processes", "unit": "1"}]
    run = made.run_line(benchmark="probe", study={"axes": axes})
    lines = [run]
    for name, (value, unit) in LIMITS.items():
        line = made.figure(FIGURES[unit], value, unit, benchmark="probe", where={"limit": name})
        if value is None:
            line["metric"]["reason"] = "a single process has no other one to send to"
        line["detail"] = {"processes": 2, "backend": "direct"}
        lines.append(line)
    return made.numbered([*lines, made.end()])


def _measurement(
    access: str, pattern: str, ranks: int, rate: float, unit: str = "B/s", each: int = 1 << 20
) -> made.Line:
    return {
        **made.measurement(access, pattern, ranks, 1.0),
        "benchmark": "ior",
        "where": {},
        "ranks": ranks,
        "bytes": 16 * each if unit == "B/s" else 0,
        "operations": 16,
        "rate": {"value": rate, "unit": unit, "better": "higher"},
        "detail": {},
    }


def _run_lines(**more: Any) -> list[made.Line]:
    run = made.run_line(benchmark="ior", **more)
    return made.numbered(
        [
            run,
            _measurement("write", "contiguous", 2, 150.0 * MB),
            _measurement("write", "contiguous", 1, 80.0 * MB),
            _measurement("re-read", "contiguous", 2, 800.0 * MB),
            _measurement("read", "small", 2, 500 * 2048.0, each=2048),
            _measurement("create", "file", 2, 1250.0, "op/s"),
            _measurement("create", "directory", 2, 1250.0, "op/s"),
            _measurement("exchange", "ping-pong", 2, 1e9),
            made.end(),
        ]
    )


def _reported(tmp_path: Path, lines: list[made.Line]) -> Report:
    result = read_result(made.write(tmp_path / "run.jsonl", lines))
    probe = load_probe(made.write(tmp_path / "probe.jsonl", made_lines()))
    return report_of("run", result, result.remarks, probe=probe)


def _shares(report: Report) -> Table:
    (section,) = [s for s in report.sections if s.id == "probe"]
    (table,) = section.blocks
    assert isinstance(table, Table)
    return table


def test_the_limits_are_a_table(tmp_path: Path) -> None:
    result = read_result(made.write(tmp_path / "probe.jsonl", made_lines()))
    report = report_of("probe", result)
    (section,) = [s for s in report.sections if s.id == "limits"]
    (table,) = section.blocks
    assert isinstance(table, Table)
    shown = [[c.show(v) for c, v in zip(table.columns, r, strict=True)] for r in table.rows]
    assert shown[0] == ["stream write, one process", "100.0 MB/s", "2", "direct", ""]
    assert shown[-1][1] == "–"
    assert "no other one to send to" in shown[-1][-1]
    assert render([report], [])


def test_where_there_is_no_method_past_the_cache(tmp_path: Path) -> None:
    lines = made_lines()
    for line in lines:
        if line["kind"] == "figure":
            line["detail"]["backend"] = "posix"
    result = read_result(made.write(tmp_path / "probe.jsonl", lines))
    assert any("takes no O_DIRECT" in f.text for f in report_of("probe", result).findings)


def test_rates_as_a_percentage_of_the_limit_that_holds(tmp_path: Path) -> None:
    report = _reported(tmp_path, _run_lines())
    table = _shares(report)
    at = [c.name for c in table.columns].index("of the limit")
    found: list[tuple[object, ...]] = [(row[0], row[at + 1], row[at]) for row in table.rows]
    assert found == [
        ("write", "stream write, all processes", pytest.approx(0.75)),
        ("write", "stream write, one process", pytest.approx(0.8)),
        ("re-read", "stream read, all processes", pytest.approx(2.0)),
        ("read", "random reads of 4 KiB", pytest.approx(0.5)),
        ("create", "files created", pytest.approx(0.25)),
    ]
    assert "NOT THE SAME PLACE" not in table.caption
    assert render([report], [])


def test_another_place_is_reported(tmp_path: Path) -> None:
    lines = _run_lines()
    lines[0]["system"]["node_names"] = ["other"]
    lines[0]["system"]["ranks"] = 8
    lines[0]["file_system"]["source"] = "/dev/vdb"
    caption = _shares(_reported(tmp_path, lines)).caption
    assert "NOT THE SAME PLACE" in caption
    for words in ("other nodes", "2 ranks, not 8", "another file system"):
        assert words in caption


def test_the_page_has_the_limits_as_ceilings(tmp_path: Path) -> None:
    run = made.write(tmp_path / "run.jsonl", _run_lines())
    probe = load_probe(made.write(tmp_path / "probe.jsonl", made_lines()))
    assert probe.ceilings() == {"probe: write by all": 200 * MB, "probe: read by all": 400 * MB}
    page = write_report([run], tmp_path / "page.html", probe.ceilings(), probe).read_text()
    packed = re.search(r'id="figures">([^<]*)<', page)
    assert packed is not None
    assert b"probe: write by all" in gzip.decompress(base64.b64decode(packed[1]))
    assert "Per cent of the probe" in page


def test_what_is_not_a_probe(tmp_path: Path) -> None:
    path = made.write(tmp_path / "run.jsonl", _run_lines())
    with pytest.raises(EffioError, match="not a run of probe"):
        load_probe(path)
    path = made.write(tmp_path / "killed.jsonl", made_lines()[:1])
    with pytest.raises(EffioError, match="not a run of probe"):
        load_probe(path)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_results_that_are_incomplete(tmp_path: Path, count: int) -> None:
    result = read_result(made.write(tmp_path / "run.jsonl", made_lines()[:count]))
    assert render([report_of("run", result)], [])
    few = _reported(tmp_path, _run_lines()[:1])
    assert not [s for s in few.sections if s.id == "probe"]


def test_foreign_details_do_no_harm(tmp_path: Path) -> None:
    lines = made_lines()
    for line in lines:
        if line["kind"] == "figure":
            line["detail"] = {"processes": "x", "backend": [1]}
            line["where"] = {"limit": 7}
    result = read_result(made.write(tmp_path / "run.jsonl", lines, foreign=True))
    assert render([report_of("run", result)], [])
