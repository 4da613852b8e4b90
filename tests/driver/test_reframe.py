# SPDX-License-Identifier: BSD-3-Clause
"""`effio.reframe` under ReFrame itself, on a local system."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.store.reader import read_result
from engines import ROOT, Engine
from patience import SECONDS

# Not imported: each process of the tests reads this file, and ReFrame takes half a second.
if importlib.util.find_spec("reframe") is None:
    pytest.skip("ReFrame is not installed (scripts/venv)", allow_module_level=True)

SETTINGS = """
site_configuration = {
    "systems": [{
        "name": "here", "hostnames": [".*"],
        "partitions": [{
            "name": "default", "scheduler": "local", "launcher": "mpiexec",
            "environs": ["builtin"],
        }],
    }],
    "environments": [{"name": "builtin"}],
}
"""
CHECK = """
import reframe as rfm
from effio.reframe import EffioTest

@rfm.simple_test
class Bulk(EffioTest):
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    benchmark = "ior"
    options = {options}
    num_tasks = 2
    reference = {{"*": {{"write_rate": ({reference}, -0.01, 0.01, "B/s")}}}}
"""
SIM = {"backend": "sim", "block": "4MiB", "repetitions": 3, "collective": False}


@pytest.fixture
def reframe(any_engine: Engine, tmp_path: Path) -> Callable[..., tuple[int, Any, Path]]:
    """Runs the check; exit code, what the report says of its one run, and the output directory."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "mpiexec").write_text(f'#!/bin/sh\nexec {any_engine.mpiexec} "$@"\n')
    (programs / "mpiexec").chmod(0o755)
    (programs / "effio-mpi").symlink_to(any_engine.program)
    (tmp_path / "settings.py").write_text(SETTINGS)

    def run(options: dict[str, object], reference: float) -> tuple[int, Any, Path]:
        (tmp_path / "check.py").write_text(
            CHECK.format(options=repr(options), reference=repr(reference))
        )
        done = subprocess.run(
            [
                *(sys.executable, Path(sys.executable).parent / "reframe", "-C", "settings.py"),
                *("-c", "check.py", "-r", "--prefix=out", "--report-file=report.json"),
            ],
            cwd=tmp_path,
            env={
                **any_engine.environment(),
                "PATH": f"{programs}:{os.environ['PATH']}",
                "PYTHONPATH": str(ROOT / "driver"),
                "HOME": str(tmp_path),
                "TMPDIR": str(tmp_path),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert (tmp_path / "report.json").exists(), done.stdout + done.stderr
        report = json.loads((tmp_path / "report.json").read_text())
        (case,) = report["runs"][0]["testcases"]
        return done.returncode, case, tmp_path / "out"

    return run


def test_performance_comes_from_our_records(
    reframe: Callable[..., tuple[int, Any, Path]],
) -> None:
    # The simulated storage gives 100 MB/s to each of two ranks.
    code, case, out = reframe(SIM, 2e8)
    assert (code, case["result"]) == (0, "pass"), case
    values = case["perfvalues"]
    value, reference, low, high, unit, *_ = values["here:default:write_rate"]
    assert (reference, low, high, unit) == (2e8, -0.01, 0.01, "B/s")
    assert value == pytest.approx(2e8)
    assert values["here:default:read_rate"][0] == pytest.approx(2e8)
    # The record is kept among the outputs.
    (kept,) = out.glob("output/**/effio-result.jsonl")
    assert read_result(kept).run.system.ranks == 2


def test_a_missed_reference_fails(reframe: Callable[..., tuple[int, Any, Path]]) -> None:
    code, case, _ = reframe(SIM, 4e8)
    assert code == 1
    assert (case["result"], case["fail_phase"]) == ("fail", "performance")


def test_a_run_that_fails_says_why(reframe: Callable[..., tuple[int, Any, Path]]) -> None:
    code, case, _ = reframe({**SIM, "backend": "posix", "dir": "/no where; $(x)"}, 1e8)
    assert code == 1
    assert case["fail_phase"] == "sanity"
    assert "/no where; $(x)" in case["fail_reason"]


def test_options_that_are_wrong_leave_no_result(
    reframe: Callable[..., tuple[int, Any, Path]],
) -> None:
    code, case, _ = reframe({"nonsense": 1}, 1e8)
    assert (code, case["fail_phase"]) == (1, "sanity")
    assert "no result: " in case["fail_reason"]


def test_names_and_units(tmp_path: Path) -> None:
    """In its own process: importing the class needs ReFrame's runtime."""
    file = made.write(tmp_path / "r.jsonl", made.b_eff_io())
    script = f"""
    import json
    from pathlib import Path
    import reframe.core.runtime as rt
    import reframe.core.config as config
    rt.init_runtime(config.load_config('<builtin>'))
    from effio.reframe import performance_of, words_of
    from effio.store.reader import read_result
    found = performance_of(read_result(Path({str(file)!r})))
    print(json.dumps([found["b_eff_io"] if "b_eff_io" in found else None, sorted(found)]))
    print(json.dumps(words_of({{"keep": True, "verify": False, "block": "1MiB"}})))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "driver")},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    names = json.loads(first)[1]
    # Several patterns: the name holds them.
    assert {"write_scatter_rate", "read_shared_rate"} <= set(names)
    assert json.loads(second) == ["--keep", "--block=1MiB"]
