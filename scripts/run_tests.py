# SPDX-License-Identifier: BSD-3-Clause
"""Builds the engine for each MPI, runs ctest and pytest, and counts the tests in the last line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# A run mostly starts and ends: two at a time fill two cores. What needs the machine to itself, one
# cluster's ports or a rate, comes after them.
ALONE = ("tests/slurm", "tests/accuracy")
PYTEST = {
    "whole runs, faults, driver": (
        *("tests", "--numprocesses=2", "--dist=loadfile"),
        *(f"--ignore={folder}" for folder in ALONE),
    ),
    "Slurm, accuracy": ALONE,
}


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add_junit(self, path: Path) -> None:
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                self.failed += 1
            elif case.find("skipped") is not None:
                self.skipped += 1
            else:
                self.passed += 1


def settings() -> dict[str, str]:
    """What set-up found."""
    lines = (ROOT / ".deps/env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


def mpi_compilers() -> dict[str, str]:
    """Name and MPI compiler of each MPI to test with: Debian's two, else the one set-up found."""
    found = {
        name: path
        for name in ("openmpi", "mpich")
        if (path := shutil.which(f"mpicc.{name}")) is not None
    }
    if found:
        return found
    return {"site": settings()["EFFIO_MPICC"]}


def main() -> int:
    count = Count()
    ok = True
    engines = []
    # CMake as a wheel is not on PATH.
    ctest = str(Path(settings()["EFFIO_CMAKE"]).with_name("ctest"))
    for name, mpicc in mpi_compilers().items():
        build = ROOT / "build" / f"test-{name}"
        print(f"== engine with {name} ({mpicc})", flush=True)
        subprocess.run([ROOT / "scripts/build", "ci", build, mpicc], check=True)
        engines.append(f"{name}={build}")
        report = build / "ctest.xml"
        report.unlink(missing_ok=True)
        command = [ctest, "--test-dir", str(build), "--output-on-failure", "--output-junit"]
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1"}
        environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        status = subprocess.run([*command, str(report), "-j", "2"], env=environment, check=False)
        ok = ok and status.returncode == 0
        count.add_junit(report)

    for title, words in PYTEST.items():
        print(f"== {title}", flush=True)
        report = ROOT / "build" / f"pytest-{title.split()[0]}.xml"
        report.unlink(missing_ok=True)
        status = subprocess.run(
            [sys.executable, "-m", "pytest", *words, f"--junitxml={report}", *sys.argv[1:]],
            cwd=ROOT,
            env={**os.environ, "EFFIO_TEST_ENGINES": ";".join(engines)},
            check=False,
        )
        ok = ok and status.returncode == 0
        count.add_junit(report)

    total = count.passed + count.failed + count.skipped
    print(
        f"effio: {total} tests: {count.passed} passed, {count.failed} failed, "
        f"{count.skipped} skipped"
    )
    return 0 if ok and count.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
