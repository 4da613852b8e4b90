# SPDX-License-Identifier: BSD-3-Clause
"""Builds the engine for each MPI, runs ctest and pytest, and counts the tests in the last line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ParamSpec, TypeVar

ROOT = Path(__file__).resolve().parent.parent
# Who runs this file may be the system's.
PYTHON = str(ROOT / ".venv/bin/python")
# The last line, for who prints something after it.
COUNT = ROOT / "build/test-count"

# A run mostly waits: for its launcher, which takes a second to see the end of one that failed, for
# a watchdog, for a deadline. With four at a time for each core a third of the processors' time was
# left over. What measures a rate comes after them, with the machine to itself.
WORKERS = min(16, 6 * (os.cpu_count() or 1))
RATES = "tests/accuracy"
# Ranks of engine tests at a time (ctest counts them): they wait for each other and for deadlines.
RANKS = str(2 * (os.cpu_count() or 1))
# At each start launchers look for devices, of which no test needs to know; in a virtual machine
# that takes as long as everything else that they do. Ranks look for networks and accelerators, for
# a quarter of a short run's processor time (and 0.2 s in Open MPI); without them they choose
# the same, shared memory. Tests over networks ask for them.
WITHOUT_DEVICES = {
    "HWLOC_COMPONENTS": "-pci,-opencl,-gl,-linux:pci,-linux:io",
    # Without this each process loads the plugins that look for devices, with libX11 and OpenCL.
    "HWLOC_PLUGINS_PATH": "/nonexistent",
    # A process without a launcher would start one for itself, in case it wanted more processes.
    "OMPI_MCA_ess_singleton_isolated": "1",
    "OMPI_MCA_pml": "ob1",
    # What ranks know of each other comes in messages, without a database in shared memory: on one
    # node, on which nearly all tests are (tests/slurm_cluster.py).
    "PMIX_MCA_gds": "hash",
    "UCX_TLS": "posix,self",
    "UCX_VFS_ENABLE": "n",
}
# Ranks share the processors with the compiler, or with other tests, and yield while they wait. What
# measures a rate is scheduled as a user's runs are.
SHORT_TURNS = (sys.executable, str(ROOT / "scripts/short_turns.py"))
PYTEST = {
    "whole runs, faults, Slurm, driver": (
        *("tests", f"--ignore={RATES}", f"--numprocesses={WORKERS}"),
        # In the order, and the parts, of tests/conftest.py.
        "--no-loadscope-reorder",
    ),
    "accuracy": (RATES,),
}


@dataclass(frozen=True)
class Case:
    """One test of a JUnit report."""

    name: str
    outcome: str  # passed, failed or skipped
    seconds: float


Words = ParamSpec("Words")
Answer = TypeVar("Answer")


@dataclass
class Steps:
    """Where the time goes; some steps run at the same time."""

    begin: float = field(default_factory=time.monotonic)
    rows: list[str] = field(default_factory=lambda: ["  begins    takes  step"])

    def timed(
        self, step: str, call: Callable[Words, Answer], *words: Words.args, **named: Words.kwargs
    ) -> Answer:
        begun = time.monotonic()
        answer = call(*words, **named)
        seconds = time.monotonic() - begun
        self.rows.append(f"{begun - self.begin:6.0f} s {seconds:6.0f} s  {step}")
        return answer


def cases(report: Path) -> Iterator[Case]:
    """None where the runner ended without a report; its exit code says so."""
    if not report.exists():
        return
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        outcome = "passed"
        if case.find("failure") is not None or case.find("error") is not None:
            outcome = "failed"
        elif case.find("skipped") is not None:
            outcome = "skipped"
        words = (case.get("classname", ""), case.get("name", ""))
        name = "::".join(dict.fromkeys(word for word in words if word))
        yield Case(name, outcome, float(case.get("time", 0)))


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


def builds() -> dict[str, Path]:
    """The build directory of each MPI."""
    return {name: ROOT / "build" / f"test-{name}" for name in mpi_compilers()}


def install() -> bool:
    """The project's own Python environment; failures are reported on stderr."""
    return subprocess.run([ROOT / "scripts/venv"], check=False).returncode == 0


def build(name: str, mpicc: str, preset: str, niceness: int) -> str:
    """Empty, or what the compiler said when it failed. Most of the engine does not know which MPI
    it is, and is compiled for the first one only."""
    first = next(iter(builds().values()))
    of_first = {} if builds()[name] == first else {"EFFIO_ROOMS_OF": str(first)}
    done = subprocess.run(
        ["nice", "-n", str(niceness), ROOT / "scripts/build", preset, builds()[name], mpicc],
        env={**os.environ, **of_first},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout if done.returncode != 0 else ""


def run_ctest(
    directory: Path, words: tuple[str, ...] = (), log: IO[str] | None = None
) -> tuple[bool, list[Case]]:
    """What it prints goes to `log` where there is one."""
    report = directory / "ctest.xml"
    report.unlink(missing_ok=True)
    # CMake as a wheel is not on PATH.
    ctest = str(Path(settings()["EFFIO_CMAKE"]).with_name("ctest"))
    command = [*SHORT_TURNS, ctest, "--test-dir", str(directory)]
    command += ["--output-on-failure", "--no-tests=error"]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    rests = {"LD_PRELOAD": str(directory / "tests/faults/effio_resting_waits.so")}
    done = subprocess.run(
        [*command, "--output-junit", str(report), "-j", RANKS, *words],
        env={**os.environ, **WITHOUT_DEVICES, **root, **rests},
        stdout=log,
        stderr=log,
        check=False,
    )
    return done.returncode == 0, list(cases(report))


def python_environment() -> dict[str, str]:
    """Modules are compiled once, not by each of hundreds of processes, and next to their sources no
    file appears."""
    compiled = {"PYTHONPYCACHEPREFIX": str(ROOT / "build/pycache"), "PYTHONDONTWRITEBYTECODE": ""}
    engines = ";".join(f"{name}={path}" for name, path in builds().items())
    return {**os.environ, **WITHOUT_DEVICES, **compiled, "EFFIO_TEST_ENGINES": engines}


def compile_python_tests() -> None:
    """Else each worker, all at the same time. Failures are reported when the tests run."""
    command = [PYTHON, "-m", "pytest", "--collect-only", "-qq", "tests"]
    subprocess.run(command, cwd=ROOT, env=python_environment(), capture_output=True, check=False)


def run_pytest(title: str, words: tuple[str, ...]) -> tuple[bool, list[Case]]:
    report = ROOT / "build" / f"pytest-{title.split(',')[0].replace(' ', '-')}.xml"
    report.unlink(missing_ok=True)
    turns = () if RATES in words else SHORT_TURNS
    done = subprocess.run(
        [*turns, PYTHON, "-m", "pytest", *words, f"--junitxml={report}"],
        cwd=ROOT,
        env=python_environment(),
        check=False,
    )
    return done.returncode == 0, list(cases(report))


def main() -> int:
    COUNT.unlink(missing_ok=True)
    found: list[Case] = []
    ok = True

    def count_in(done: tuple[bool, list[Case]]) -> None:
        nonlocal ok, found
        ok = ok and done[0]
        found += done[1]

    steps = Steps()
    compilers = list(mpi_compilers().items())
    # The engine tests of one MPI wait more than they compute: the next is compiled meanwhile, and
    # whole runs begin next to those of the last. It leaves the processors to them: ranks that wait
    # for each other yield to whoever computes. For the first build everything waits, so it comes
    # before lint (.ci/run); Python packages, which wait for the network, arrive next to it.
    log = ROOT / "build" / "ctest.log"
    log.parent.mkdir(exist_ok=True)
    with ThreadPoolExecutor(3) as paired, log.open("w+") as output:
        installing = paired.submit(steps.timed, "Python packages", install)

        def begin(index: int) -> Future[str]:
            name, mpicc = compilers[index]
            preset, niceness = ("ci-ranks", 19) if index else ("ci", 0)
            step = f"compile with {name}"
            return paired.submit(steps.timed, step, build, name, mpicc, preset, niceness)

        building = begin(0)
        for index, (name, mpicc) in enumerate(compilers):
            print(f"== engine with {name} ({mpicc})", flush=True)
            if said := building.result():
                print(said, file=sys.stderr)
                return 1
            if not installing.result():
                return 1
            if index == 0:
                compiling = paired.submit(steps.timed, "compile Python tests", compile_python_tests)
            if index + 1 < len(compilers):
                building = begin(index + 1)
                count_in(steps.timed(f"engine tests with {name}", run_ctest, builds()[name]))
        compiling.result()
        name = compilers[-1][0]
        last = paired.submit(
            steps.timed, f"engine tests with {name}", run_ctest, builds()[name], (), output
        )
        for title, words in PYTEST.items():
            if RATES in words:  # with the machine to itself
                last.result()
            print(f"== {title}", flush=True)
            count_in(steps.timed(title, run_pytest, title, (*words, *sys.argv[1:])))
        count_in(last.result())
        print(f"== engine tests with {name}, which ran next to whole runs")
        output.seek(0)
        print(output.read(), flush=True)

    print("\n".join(steps.rows))
    count = {
        kind: sum(c.outcome == kind for c in found) for kind in ("passed", "failed", "skipped")
    }
    line = f"effio: {len(found)} tests: " + ", ".join(f"{n} {kind}" for kind, n in count.items())
    COUNT.write_text(line + "\n")
    print(line)
    return 0 if ok and count["failed"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
