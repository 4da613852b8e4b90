# SPDX-License-Identifier: BSD-3-Clause
"""The line that repeats a run works when it is pasted; a run says how long it took and which MPI it
had in words that fit in a line."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from driver import made
from driver.conftest import Effio
from effio.report.build import load, report_of
from effio.report.common.repeat import repeat_lines
from effio.report.common.system import mpi_name, seconds_of
from effio.report.model import Figure, Table
from effio.store.folder import RunFolder
from effio.store.reader import read_result
from patience import SECONDS


def _line(tmp_path: Path, **run: object) -> str:
    result = read_result(made.write(tmp_path / "r.jsonl", [made.run_line(**run), made.end()]))
    ((_, line),) = repeat_lines(result)
    return line


def test_of_a_run_manually(tmp_path: Path) -> None:
    command = ["/opt/effio-mpi", "b-eff-io", "--dir", "data", "--time", "12s", "-o", "old.jsonl"]
    assert _line(tmp_path, command=[*command, "--progress=json", "--result", "x"]) == (
        "mpiexec -n 2 /opt/effio-mpi b-eff-io --dir /data --time 12s"
    )


def test_of_a_run_of_the_driver(with_engine: Effio) -> None:
    """Really pasted: it runs again, from another directory, with the same ranks and options."""
    (with_engine.cwd / "my data").mkdir()
    words = ["ior", "--ranks", "2", "--dir", "my data", "--block", "4KiB", "--transfer", "2KiB"]
    first = with_engine.call("run", *words, "--no-report")
    assert first.returncode == 0, first.stderr
    (folder,) = (with_engine.cwd / "effio-runs").iterdir()
    _, result, _ = load(folder)
    ((_, line),) = repeat_lines(result)
    head, _, tail = line.partition(" && ")
    assert head == shlex.join(["cd", str(with_engine.cwd)])
    assert tail.startswith("effio run ior --ranks 2 ")
    assert "result.jsonl" not in line
    pasted = line.replace("effio run", shlex.join(with_engine.command("run")), 1)
    again = subprocess.run(
        ["sh", "-c", pasted], cwd="/", env=with_engine.environment, capture_output=True, text=True,
        timeout=SECONDS, check=False,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert len(list((with_engine.cwd / "effio-runs").iterdir())) == 2


def test_ranks_that_were_chosen_are_named(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    made.write(folder.result_path, [made.run_line(), made.end()])
    record = {
        "schema": "effio-run/1", "id": "run", "created": "", "benchmark": "b-eff-io",
        "arguments": ["--time=12s"], "directory": "/home/me/a b", "command": ["mpiexec"],
        "driver": {"command": ["effio", "run", "b-eff-io", "--time", "12s"]},
        "outcome": {"status": "done", "exit_code": 0, "seconds": 61.5},
    }  # fmt: skip
    (folder.path / "run.json").write_text(json.dumps(record))
    _, result, _ = load(folder.path)
    assert repeat_lines(result) == [
        ("in a shell", "cd '/home/me/a b' && effio run b-eff-io -n 2 --time 12s")
    ]
    # The driver saw more than the engine's own start and end: 60 s.
    assert seconds_of(result) == 61.5
    assert "took 61.5 s" in report_of("run", result).subtitle
    # Whole seconds that are equal do not show that it took none.
    result.record = None
    assert result.end is not None
    result.end.detail["finished"] = result.run.started
    assert "took" not in report_of("run", result).subtitle


@pytest.mark.parametrize(
    ("library", "name"),
    [
        ("MPICH Version:\t4.2.0\nMPICH Release date:\tFri Feb 9\n", "MPICH 4.2.0"),
        ("Open MPI v4.1.4, package: Debian, ident: 4.1.4", "Open MPI v4.1.4"),
        # The version is spread over two lines.
        ("MPICH \nVersion:      5.0.2\nMPICH ABI: 17:2:5\n", "MPICH 5.0.2"),
        ("", ""),
    ],
)  # fmt: skip
def test_names_of_mpi_libraries(library: str, name: str) -> None:
    assert mpi_name(library) == name


def test_texts_have_no_tabs_and_no_marks_of_another_language(tmp_path: Path) -> None:
    lines = made.two_partitions()
    lines[0]["system"]["mpi"]["library"] = "MPICH Version:\t4.2.0\nMPICH Release date:\tFri\n"
    report = report_of(*load(made.write(tmp_path / "r.jsonl", lines)))
    texts = [report.subtitle, *(f.text for f in report.findings)]
    for section in report.sections:
        texts += [section.title, section.intro]
        for block in section.blocks:
            if isinstance(block, Figure):
                texts += [block.title, block.caption]
            table = block.as_table() if isinstance(block, Figure) else block
            if isinstance(table, Table):
                texts += [table.title, table.caption]
                texts += [cell for row in table.rows for cell in row if isinstance(cell, str)]
            else:
                texts.append(table)
    assert not [text for text in texts if set(text) & set("\t\n`")]
    assert any("MPICH Version: 4.2.0; MPICH Release date: Fri" in text for text in texts)


def test_no_hints_where_no_library_takes_them(tmp_path: Path) -> None:
    lines = made.b_eff_io()
    lines[0]["backend"] = {"name": "posix", "settings": {}}
    report = report_of(*load(made.write(tmp_path / "r.jsonl", lines)))
    assert "hints" not in {s.id for s in report.sections}


def test_more_ranks_than_cores_are_warned_of(tmp_path: Path) -> None:
    lines = made.b_eff_io()
    lines[0]["system"]["ranks"] = 32
    report = report_of(*load(made.write(tmp_path / "r.jsonl", lines)))
    assert any("32 ranks on a node share 2 CPUs" in f.text for f in report.findings)
