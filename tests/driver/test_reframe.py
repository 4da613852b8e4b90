# SPDX-License-Identifier: BSD-3-Clause
"""`effio.reframe` under ReFrame itself, on a local system."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
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
SIM = {"backend": "sim", "block": "4MiB", "repetitions": 3, "collective": False}
# Options and the reference of the write rate in B/s. The simulated storage gives 100 MB/s to each
# of two ranks.
CHECKS: dict[str, tuple[dict[str, object], float]] = {
    "Reached": (SIM, 2e8),
    "Missed": (SIM, 4e8),
    "Failing": ({**SIM, "backend": "posix", "dir": "/no where; $(x)"}, 1e8),
    "Refused": ({"nonsense": 1}, 1e8),
}
HEAD = """
import reframe as rfm
from effio.reframe import EffioTest
"""
CHECK = """
@rfm.simple_test
class {name}(EffioTest):
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    benchmark = "ior"
    options = {options!r}
    num_tasks = 2
    reference = {{"*": {{"write_rate": ({reference!r}, -0.01, 0.01, "B/s")}}}}
"""


@dataclass(frozen=True)
class Checked:
    """What one call of ReFrame says of its checks, by their names."""

    code: int
    cases: Mapping[str, Any]
    output: Path


@pytest.fixture(scope="module")
def checked(any_engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Checked:
    place = tmp_path_factory.mktemp("reframe")
    programs = place / "bin"
    programs.mkdir()
    (programs / "mpiexec").write_text(f'#!/bin/sh\nexec {any_engine.mpiexec} "$@"\n')
    (programs / "mpiexec").chmod(0o755)
    (programs / "effio-mpi").symlink_to(any_engine.program)
    (place / "settings.py").write_text(SETTINGS)
    checks = [
        CHECK.format(name=name, options=options, reference=reference)
        for name, (options, reference) in CHECKS.items()
    ]
    (place / "check.py").write_text(HEAD + "".join(checks))
    done = subprocess.run(
        [
            *(sys.executable, Path(sys.executable).parent / "reframe", "-C", "settings.py"),
            *("-c", "check.py", "-r", "--prefix=out", "--report-file=report.json"),
        ],
        cwd=place,
        env={
            **any_engine.environment(),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "driver"),
            "HOME": str(place),
            "TMPDIR": str(place),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (place / "report.json").exists(), done.stdout + done.stderr
    (run,) = json.loads((place / "report.json").read_text())["runs"]
    cases = {case["unique_name"]: case for case in run["testcases"]}
    assert cases.keys() == CHECKS.keys()
    return Checked(done.returncode, cases, place / "out")


def test_performance_comes_from_our_records(checked: Checked) -> None:
    case = checked.cases["Reached"]
    assert case["result"] == "pass", case
    values = case["perfvalues"]
    value, reference, low, high, unit, *_ = values["here:default:write_rate"]
    assert (reference, low, high, unit) == (2e8, -0.01, 0.01, "B/s")
    assert value == pytest.approx(2e8)
    assert values["here:default:read_rate"][0] == pytest.approx(2e8)
    # The record is kept among the outputs.
    (kept,) = checked.output.glob("output/**/effio-result.jsonl")
    assert read_result(kept).run.system.ranks == 2


def test_a_missed_reference_fails(checked: Checked) -> None:
    case = checked.cases["Missed"]
    assert checked.code == 1
    assert (case["result"], case["fail_phase"]) == ("fail", "performance")


def test_a_run_that_fails_says_why(checked: Checked) -> None:
    case = checked.cases["Failing"]
    assert (case["result"], case["fail_phase"]) == ("fail", "sanity")
    assert "/no where; $(x)" in case["fail_reason"]


def test_options_that_are_wrong_leave_no_result(checked: Checked) -> None:
    case = checked.cases["Refused"]
    assert (case["result"], case["fail_phase"]) == ("fail", "sanity")
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
