# SPDX-License-Identifier: BSD-3-Clause
"""examples/jube: JUBE calls effio and reads its CSV. Without JUBE its commands are run manually."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from driver.conftest import Effio
from engines import ROOT
from patience import SECONDS

FILE = ROOT / "examples/jube/effio.xml"


CLASSIC = ROOT / "examples/jube/classic.xml"


def _on_path(effio: Effio) -> dict[str, str]:
    programs = effio.cwd / "bin"
    programs.mkdir()
    for name in ("ior", "partest"):
        (programs / name).symlink_to(effio.environment["EFFIO_ENGINE"])
    program = programs / "effio"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m effio "$@"\n')
    program.chmod(0o755)
    path = f"{programs}:{effio.environment['PATH']}"
    return {**effio.environment, "PATH": path, "PYTHONPATH": str(ROOT / "driver")}


def test_its_commands_and_patterns_fit_effio(with_engine: Effio) -> None:
    root = ET.parse(FILE).getroot()
    values = {p.get("name", ""): (p.text or "").split(",")[0] for p in root.iter("parameter")}
    values["backend"] = "sim"
    environment = _on_path(with_engine)
    for step in root.iter("do"):
        command = re.sub(r"\$(\w+)", lambda found: values[found[1]], step.text or "")
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=with_engine.cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    (file,) = {f.text or "" for f in root.iter("file")}
    written = (with_engine.cwd / file).read_text()
    for pattern in root.iter("pattern"):
        # JUBE's own pattern for a floating-point number, and its MULTILINE.
        form = (pattern.text or "").replace(
            "${jube_pat_fp}", r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
        )
        found = re.search(form, written, re.MULTILINE)
        assert found is not None, (pattern.text, written)
        # The simulated storage gives 100 MB/s to each of two ranks.
        assert float(found[1]) == pytest.approx(2e8)


def test_classic_names_fit_their_patterns(with_engine: Effio) -> None:
    """The commands of the example, with the values of the patterns found in what they print."""
    root = ET.parse(CLASSIC).getroot()
    values = {p.get("name", ""): (p.text or "").split(",")[0] for p in root.iter("parameter")}
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment = {**_on_path(with_engine), **as_root}
    values["launch"] = f"{with_engine.environment['EFFIO_MPIEXEC']} -n"
    for step in root.iter("do"):
        command = re.sub(r"\$\{?(\w+)\}?", lambda found: values[found[1]], step.text or "")
        done = subprocess.run(
            ["bash", "-c", command], cwd=with_engine.cwd, env=environment, text=True,
            timeout=SECONDS, stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    files = {a.get("step"): (a.findtext("file") or "") for a in root.iter("analyse")}
    for name, file in files.items():
        written = (with_engine.cwd / file).read_text()
        (patterns,) = [p for p in root.iter("patternset") if p.get("name") == f"of_{name}"]
        for pattern in patterns:
            form = (pattern.text or "").replace(
                "${jube_pat_fp}", r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
            )
            found = re.findall(form, written, re.MULTILINE)
            assert len(found) == 1, (pattern.text, written)
            assert float(found[0]) > 0
    shown = {c.text for table in root.iter("table") for c in table}
    assert {p.get("name") for p in root.iter("pattern")} <= shown


def test_jube_runs_it(with_engine: Effio) -> None:
    program = shutil.which("jube")
    if program is None:
        pytest.skip("JUBE is not here: it is in no package index, jube.fz-juelich.de has it")
    where = Path(with_engine.cwd)
    environment = _on_path(with_engine)
    shutil.copy(FILE, where)
    text = (where / FILE.name).read_text().replace(">posix<", ">sim<")
    (where / FILE.name).write_text(text)
    for words in (["run", FILE.name], ["analyse", "jube-runs"], ["result", "jube-runs"]):
        done = subprocess.run(
            [program, *words],
            cwd=where,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "write_rate" in done.stdout
