# SPDX-License-Identifier: BSD-3-Clause
"""The worked examples for developers, docs/develop/: their code is taken out of the pages, compiled
next to the engine's libraries, and the tests that they show are run."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

import effio.report
from docs.blocks import blocks_of
from engines import ROOT, Engine

BENCHMARK, BACKEND, REPORT = (
    ROOT / f"docs/develop/add-a-{name}.md" for name in ("benchmark", "backend", "report")
)
_CHANGE = re.compile(r"^<!-- change: (.+) -->\n```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def changed(text: str, change: str) -> str:
    """The text with the added lines of a change, which follow a line of the text."""
    lines = text.splitlines()
    at = -1
    for line in change.splitlines():
        if line.startswith("+"):
            at += 1
            lines.insert(at, line[1:])
        else:
            assert lines.count(line[1:]) == 1, f"not once in the file: {line[1:]}"
            at = lines.index(line[1:])
    return "\n".join(lines) + "\n"


def put_in_place(page: Path, tree: Path) -> list[Path]:
    """Writes the files of a page, and those of the checkout that it changes, into a tree."""
    text = page.read_text()
    files = {block.file: block.text for block in blocks_of(text) if block.file}
    files |= {
        name: changed((ROOT / name).read_text(), diff) for name, diff in _CHANGE.findall(text)
    }
    for name, content in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(content)
    return [tree / name for name in files]


def module_of(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"of_a_page_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_change_follows_its_line() -> None:
    assert changed("a\nb\nc\n", " a\n+1\n+2\n c\n+3\n") == "a\n1\n2\nb\nc\n3\n"
    with pytest.raises(AssertionError, match="not once"):
        changed("a\na\n", " a\n+1\n")


def _ninja(build: Path) -> str:
    cache = (build / "CMakeCache.txt").read_text()
    found = re.search(r"^CMAKE_MAKE_PROGRAM:\w+=(.+)$", cache, re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def built(any_engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """An engine with the benchmark and the backend of the pages: sources of the pages are compiled
    as their neighbors are, the rest comes from the libraries of the engine under test."""
    build = any_engine.build
    if not (build / "compile_commands.json").exists():
        pytest.skip("the engine under test has no build directory with its commands")
    tree = tmp_path_factory.mktemp("tree")
    sources = [put_in_place(page, tree) for page in (BENCHMARK, BACKEND)]
    commands = {
        Path(entry["file"]): shlex.split(entry["command"])
        for entry in json.loads((build / "compile_commands.json").read_text())
    }
    tables = {"benchmarks": "benchmarks/registry.cpp", "storage": "storage/backends.cpp"}
    compiling = []
    objects = []
    for source in (path for paths in sources for path in paths if path.suffix == ".cpp"):
        # The room's own flags, its precompiled header, warnings as errors.
        room = source.relative_to(tree / "engine").parts[0]
        command = commands[ROOT / "engine" / tables[room]]
        compiler = command[: command.index("-o")]
        objects.append(str(source.with_suffix(".o")))
        compiler.insert(next(i for i, w in enumerate(compiler) if w.startswith("-I")),
                        f"-I{tree / 'engine'}")  # fmt: skip
        compiling.append(
            subprocess.Popen(
                [*compiler, "-o", objects[-1], "-c", str(source)],
                cwd=build,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    said = [process.communicate()[0] for process in compiling]
    assert [process.returncode for process in compiling] == [0] * len(compiling), "\n".join(said)
    program = tree / "build/engine/effio-mpi"
    program.parent.mkdir(parents=True)
    printed = subprocess.run(
        [_ninja(build), "-t", "commands", "engine/effio-mpi"],
        cwd=build,
        capture_output=True,
        text=True,
        check=True,
    )
    # The tables of the pages come first; those of the libraries are then not needed.
    link = printed.stdout.splitlines()[-1]
    assert link.count(" -o engine/effio-mpi ") == 1
    link = link.replace(" -o engine/effio-mpi ", f" -o {program} {shlex.join(objects)} ")
    done = subprocess.run(link, shell=True, cwd=build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (tree / "build/tests").symlink_to(build / "tests")
    return replace(any_engine, build=tree / "build")


def test_the_benchmark_of_the_page(built: Engine, tmp_path: Path) -> None:
    test = module_of(built.build.parent / "tests/system/test_strides.py")
    run = tmp_path / "run"
    run.mkdir()
    test.test_the_rate_is_that_of_the_model(built, run)
    test.test_a_record_that_is_no_words_is_refused(built, tmp_path)
    described = built.alone(["describe", "strides"], tmp_path)
    names = {option["name"] for option in json.loads(described.stdout)["options"]}
    assert {"record", "records", "distance", "backend", "max-bytes", "repetitions"} <= names
    planned = built.alone(["strides", "--plan-json", "--records=8", "--distance=3"], tmp_path)
    assert planned.code == 0
    # Of one rank: eight records with seven gaps of two records.
    assert str((8 + 7 * 2) * 4096) in planned.stdout.replace(" ", ""), planned.stdout


def test_the_backend_of_the_page(built: Engine, data: Path, tmp_path: Path) -> None:
    test = module_of(built.build.parent / "tests/system/test_stdio.py")
    test.test_it_writes_and_reads_a_file(built, data, tmp_path)


def test_the_report_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tmp_path / "tree"
    put_in_place(REPORT, tree)
    with_page = [*effio.report.__path__, str(tree / "driver/effio/report")]
    monkeypatch.setattr(effio.report, "__path__", with_page)
    try:
        test = module_of(tree / "tests/driver/test_report_strides.py")
        test.test_the_cost_of_gaps_is_found(tmp_path)
        test.test_a_killed_run_says_nothing_of_gaps(tmp_path)
    finally:
        sys.modules.pop("effio.report.strides", None)
