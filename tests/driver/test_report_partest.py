# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of partest, against a result whose numbers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from driver import made
from effio.report.build import report_of
from effio.report.html import render
from effio.report.model import Figure, Report, Table
from effio.store.reader import read_result

MB = 1_000_000
KIB = 1024
AXES = [
    {"name": "tasks", "title": "tasks", "unit": "1"},
    {"name": "chunk_bytes", "title": "chunk", "unit": "B"},
]
# Rates in MB/s by method and chunk.
RATES: dict[tuple[str, int | None], float] = {
    ("sion", 64 * KIB): 20.0,
    ("sion", 1024 * KIB): 80.0,
    ("task-local", None): 60.0,
}


def _measurement(method: str, chunk: int | None, access: str, **parts: float) -> made.Line:
    detail: dict[str, Any] = {}
    if access == "write":
        files, length = (1, 50 * MB) if method == "sion" else (2, 20 * MB)
        detail["on_disk"] = {
            "files": files,
            "bytes": length,
            "allocated_bytes": 20 * MB,
            "sparse_share": 1 - 20 * MB / length,
        }
    return {
        **made.measurement(access, method, 2, 1.0),
        "benchmark": "partest",
        "where": {"tasks": 2, "chunk_bytes": chunk},
        "ranks": 2,
        "bytes": 20 * MB,
        "seconds": {"total": made.spread(1.0)} | {k: made.spread(v) for k, v in parts.items()},
        "detail": detail,
    }


def _lines() -> list[made.Line]:
    run = made.run_line(benchmark="partest", study={"axes": AXES})
    lines = [run]
    for method, chunk in RATES:
        created = {"create": 0.2, "create_close": 0.1} if method == "task-local" else {}
        lines.append(_measurement(method, chunk, "write", **created, open=0.1, transfer=0.5))
        lines.append(_measurement(method, chunk, "read", open=0.1, transfer=0.5, unlink=0.3))
    for (method, chunk), rate in RATES.items():
        for access in ("write", "read"):
            where = {"tasks": 2, "chunk_bytes": chunk, "pattern": method, "access": access}
            lines.append(made.figure("bandwidth", rate * MB, benchmark="partest", where=where))
    return made.numbered([*lines, made.end()])


def _reported(tmp_path: Path, lines: list[made.Line]) -> Report:
    result = read_result(made.write(tmp_path / "run.jsonl", lines))
    return report_of("run", result, result.remarks)


def _figure(report: Report, identity: str) -> Figure:
    found = next(f for f in report.figures() if f.id == identity)
    assert isinstance(found, Figure)
    return found


def test_files_of_the_tasks_are_next_to_each_size_of_chunk(tmp_path: Path) -> None:
    report = _reported(tmp_path, _lines())
    figure = _figure(report, "study-rates")
    assert figure.x.title == "chunk"
    ((panel,),) = figure.variants.values()
    curves = {s.name: (list(s.x), list(s.y)) for s in panel.series}
    x = [64.0 * KIB, 1024.0 * KIB]
    for access in ("write", "read"):
        assert curves[f"sion {access}"] == (x, [20 * MB, 80 * MB])
        assert curves[f"task-local {access}"] == (x, [60 * MB, 60 * MB])
    assert render([report], [])


def test_the_seconds_of_each_phase(tmp_path: Path) -> None:
    report = _reported(tmp_path, _lines())
    figure = _figure(report, "partest-phases")
    ((panel,),) = figure.variants.values()
    by_name = {s.name: dict(zip(s.x, s.y, strict=True)) for s in panel.series}
    assert list(by_name) == ["create", "close of create", "open", "write or read", "unlink"]
    apart = "task-local write, tasks 2"
    assert by_name["create"][apart] == made.spread(0.2)["max"]
    # A missing phase has no value; it does not count as 0.
    assert by_name["create"]["sion write, tasks 2, chunk 64 KiB"] is None


def test_files_and_bytes_on_storage(tmp_path: Path) -> None:
    report = _reported(tmp_path, _lines())
    table = next(
        b
        for section in report.sections
        for b in section.blocks
        if isinstance(b, Table) and b.title == "Files and bytes on storage"
    )
    assert [list(row) for row in table.rows] == [
        ["sion", "2", "64 KiB", 1, 20 * MB, 50 * MB, 20 * MB, 0.6],
        ["sion", "2", "1 MiB", 1, 20 * MB, 50 * MB, 20 * MB, 0.6],
        ["task-local", "2", "-", 2, 20 * MB, 20 * MB, 20 * MB, 0.0],
    ]


def test_what_opening_costs_is_found(tmp_path: Path) -> None:
    sentences = [f.text for f in _reported(tmp_path, _lines()).findings]
    assert any("a file for each" in s and "with a container" in s for s in sentences), sentences
    # An incomplete result says less, and nothing fails.
    assert _reported(tmp_path, _lines()[:2])
    assert _reported(tmp_path, _lines()[:1])
