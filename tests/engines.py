# SPDX-License-Identifier: BSD-3-Clause
"""The engines under test and how to run them: launchers, flags, time-outs, and what a run leaves.

A flavour is an MPI library with one of its MPI-IO implementations: `openmpi-ompio`,
`openmpi-romio`, `mpich`. scripts/run_tests.py names the builds in EFFIO_TEST_ENGINES
("openmpi=<build directory>;mpich=<build directory>"); without it build/test-* is looked at.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from patience import SECONDS
from results import Result, load

ROOT = Path(__file__).resolve().parent.parent

FLAVOURS = ("openmpi-ompio", "openmpi-romio", "mpich")
# The library of MPICH's wheel, under the name that programs built with Debian's MPICH ask for
# (scripts/mpich-wheel).
WHEEL = ROOT / ".deps/mpich-wheel/lib"

# Open MPI refuses root, more ranks than cores, and pins ranks to cores by default; with as many
# ranks as cores it spins while it waits, which stalls everything else on a busy machine.
# Where Open MPI's launcher keeps what it needs of each job.
SESSION_DIRECTORY = "OMPI_MCA_orte_tmpdir_base"
NOBODY = 65534

_OPENMPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


@dataclass
class Run:
    """A finished launch: its exit code, and what is in its directory now."""

    command: list[str]
    code: int
    stdout: str
    stderr: str
    seconds: float
    results: list[Result] = field(default_factory=list)

    @property
    def result(self) -> Result:
        assert len(self.results) == 1, f"{len(self.results)} result files\n{self}"
        return self.results[0]

    def __str__(self) -> str:
        return (
            f"{' '.join(self.command)}\nexit code {self.code} after {self.seconds:.1f} s\n"
            f"--- stdout\n{self.stdout[-4000:]}\n--- stderr\n{self.stderr[-4000:]}"
        )


class Job:
    """A launch that is still running, in its own session so that signals to the tests do not
    reach it."""

    def __init__(
        self, engine: Engine, command: list[str], cwd: Path, env: Mapping[str, str], **streams: Any
    ) -> None:
        self._engine = engine
        self._command = command
        self._cwd = cwd
        self._old = set(cwd.glob("*.jsonl"))
        self.run_folders: Path | None = None  # of `effio run`: results are there
        self._started = time.monotonic()
        # Streams go to files: a pipe that is not read would stop the run, and a grandchild that
        # outlives the launcher would keep a pipe open.
        self._stdout = (cwd / f".stdout-{time.monotonic_ns()}").open("w+b")
        self._stderr = (cwd / f".stderr-{time.monotonic_ns()}").open("w+b")
        streams.setdefault("stdin", subprocess.DEVNULL)
        streams.setdefault("stdout", self._stdout)
        streams.setdefault("stderr", self._stderr)
        mark = f"EFFIO_TEST_JOB={os.getpid()}-{time.monotonic_ns()}"
        self._mark = mark.encode()
        name, _, value = mark.partition("=")
        self.process = subprocess.Popen(
            command, cwd=cwd, env={**env, name: value}, start_new_session=True, **streams
        )

    def new_results(self) -> list[Path]:
        if self.run_folders is not None:
            return sorted(self.run_folders.rglob("*.jsonl"))
        return sorted(set(self._cwd.glob("*.jsonl")) - self._old)

    def members(self) -> list[int]:
        """Process ids of the launcher and of everything it started. They are known by a mark in
        their environment: some launchers give ranks their own session."""
        members = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue  # gone, or another user's
            if self._mark in environment:
                members.append(int(entry.name))
        return members

    def ranks(self) -> list[int]:
        """Process ids of the engine's ranks, in rank order."""
        found = {}
        for pid in self.members():
            try:
                if Path(f"/proc/{pid}/exe").readlink().name != "effio-mpi":
                    continue
                words = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
            except OSError:
                continue
            for word in words.split("\0"):
                name, _, value = word.partition("=")
                if name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK"):
                    found[int(value)] = pid
        return [found[rank] for rank in sorted(found)]

    def wait_until(self, what: str, true: Callable[[], bool], timeout: float = SECONDS) -> None:
        deadline = time.monotonic() + timeout
        while not true():
            assert time.monotonic() < deadline, f"waited {timeout} s for: {what}"
            assert self.process.poll() is None, f"the run ended before: {what}\n{self.finish()}"
            time.sleep(0.02)

    def wait_for_end_of(
        self, pid: int, meanwhile: Callable[[], None] = lambda: None, timeout: float = SECONDS
    ) -> None:
        """Until this process of the job is gone, with or without its launcher."""
        deadline = time.monotonic() + timeout
        while pid in self.members():
            assert time.monotonic() < deadline, f"{pid} is still there after {timeout} s"
            with contextlib.suppress(ProcessLookupError):
                meanwhile()
            time.sleep(0.02)

    def wait_for_measurements(self, count: int, timeout: float = SECONDS) -> None:
        def enough() -> bool:
            files = self.new_results()
            return bool(files) and files[0].read_bytes().count(b'"kind":"measurement"') >= count

        self.wait_until(f"{count} measurements", enough, timeout)

    def wait_for_all(self, timeout: float = SECONDS) -> None:
        """Until the launcher and all that it started are gone, each in its own time."""
        self.process.wait(timeout)
        deadline = time.monotonic() + timeout
        while (left := self.members()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not left, f"still there after {timeout} s: {left}"

    def kill(self) -> None:
        """Kills every process of the run, the launcher first."""
        for pid in [self.process.pid, *self.members()]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _code(self, results: Sequence[Result], stderr: str) -> int:
        """Where one rank ends the job, Hydra reports the first end that it sees: that rank's code,
        9 of a rank that it killed itself, or 1 while it cannot ask for the code of one that is
        gone. All are right (docs/exit-codes.md); the `end` line says what the run left with.

        Open MPI's leaves with 1 for a rank that left without MPI's end, and once in thousands of
        runs for one that did not; it then says "exiting improperly". Where it means a rank's code
        it names that; where it names none it means itself."""
        code = self.process.returncode
        end = results[-1].end if results else None
        if code == 1 and self._engine.is_openmpi and end is not None and "xit code" not in stderr:
            return int(end["exit_code"])
        if code in (1, 9) and not self._engine.is_openmpi and end is not None:
            return int(end["exit_code"])
        return code

    def finish(self, timeout: float = SECONDS) -> Run:
        """Waits for the end; a run that takes longer is killed and fails the test."""
        late = False
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            late = True
        seconds = time.monotonic() - self._started
        # Nothing of a run may outlive its launcher for long.
        deadline = time.monotonic() + (0 if late else 10)
        while (left := self.members()) and time.monotonic() < deadline:
            time.sleep(0.05)
        if late or left:  # looking for processes takes as long as a small run
            self.kill()
        self.process.wait()
        results = [load(path) for path in self.new_results()]
        stderr = self._text(self._stderr)
        run = Run(
            self._command,
            self._code(results, stderr),
            self._text(self._stdout),
            stderr,
            seconds,
            results,
        )
        assert not late, f"still running after {timeout} s\n{run}"
        assert not left, f"processes left behind: {left}\n{run}"
        return run

    @staticmethod
    def _text(stream: Any) -> str:
        stream.seek(0)
        text = stream.read().decode(errors="replace")
        stream.close()
        Path(stream.name).unlink(missing_ok=True)
        assert isinstance(text, str)
        return text


@dataclass(frozen=True)
class Engine:
    """One build of effio-mpi with the launcher and the flags of one flavour."""

    name: str
    build: Path
    mpiexec: str
    flags: tuple[str, ...] = ()
    max_ranks: int = 8
    libraries: Path | None = None  # a folder that the program takes its MPI library from

    @property
    def program(self) -> Path:
        return self.build / "engine" / "effio-mpi"

    @property
    def is_openmpi(self) -> bool:
        return self.name.startswith("openmpi")

    def missing(self, backend: str, serves: str) -> str:
        """Why this program has no such backend for "bytes", "arrays" ...; empty if it has."""
        (row,) = (b for b in _backends(self) if (b["name"], b["serves"]) == (backend, serves))
        return row["missing"] or ""

    def needs_ranks(self, ranks: int) -> None:
        """Skips the test where this MPI cannot be tested with this many ranks."""
        import pytest

        if ranks > self.max_ranks:
            pytest.skip(
                f"{self.name} spins when oversubscribed: tested with {self.max_ranks} ranks"
            )

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        return {**os.environ, **self.settings(), **(extra or {})}

    def settings(self) -> dict[str, str]:
        """Settings that the MPI libraries need; and ranks yield and sleep while they wait."""
        found = {"LD_LIBRARY_PATH": str(self.libraries)} if self.libraries else {}
        return {**_OPENMPI_ENVIRONMENT, **found, **self.resting()}

    def resting(self) -> dict[str, str]:
        """Settings for ranks that are started with the launcher's own settings, as users do."""
        rests = self._resting_waits()
        return {"LD_PRELOAD": rests[0]} if rests else {}

    def loaded_before(self, shim: Path) -> str:
        """LD_PRELOAD=… for a prefix of `env`, with this library in addition."""
        return "LD_PRELOAD=" + ":".join([str(shim), *self._resting_waits()])

    def _resting_waits(self) -> list[str]:
        """It takes a library (tests/faults/resting_waits.c). Builds that are older than its source
        are without: slower, not wrong."""
        shim = self.build / "tests" / "faults" / "effio_resting_waits.so"
        return [str(shim)] if shim.exists() else []

    def command(
        self,
        words: Sequence[object],
        ranks: int = 2,
        prefix: Sequence[object] = (),
        flags: Sequence[str] = (),
        program: Path | None = None,
    ) -> list[str]:
        """`prefix` is before the program (env, a shell ...), `flags` are the launcher's."""
        assert ranks <= self.max_ranks, f"{self.name}: at most {self.max_ranks} ranks"
        launch = [self.mpiexec, *self.flags, *flags, "-n", ranks]
        return [str(w) for w in [*launch, *prefix, program or self.program, *words]]

    def start(
        self,
        words: Sequence[object],
        cwd: Path,
        ranks: int = 2,
        env: Mapping[str, str] | None = None,
        prefix: Sequence[object] = (),
        flags: Sequence[str] = (),
        program: Path | None = None,
        **streams: Any,
    ) -> Job:
        command = self.command(words, ranks, prefix, flags, program)
        return Job(self, command, cwd, self.environment(env), **streams)

    def run(
        self,
        words: Sequence[object],
        cwd: Path,
        ranks: int = 2,
        timeout: float = SECONDS,
        **more: Any,
    ) -> Run:
        """Launches and waits. Every result file that the run leaves in `cwd` is held against the
        schema on the way."""
        return self.start(words, cwd, ranks, **more).finish(timeout)

    def as_nobody(self, words: Sequence[object], cwd: Path, program: Path | None = None) -> Run:
        """The whole launch as an ordinary user: root is refused nothing. Skips the test where the
        tests do not run as root, or where others cannot reach the program. The way to `cwd` is
        opened as far as it is temporary."""
        import pytest

        if os.geteuid() != 0:
            pytest.skip("becoming another user needs root")
        nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        if subprocess.run([*nobody, "test", "-x", self.program], check=False).returncode != 0:
            pytest.skip(f"another user cannot reach {self.program}")
        for folder in (cwd, *cwd.parents):
            if folder.is_relative_to(tempfile.gettempdir()):
                folder.chmod(folder.stat().st_mode | 0o011)
        environment = {**self.environment(), "HOME": str(cwd), "TMPDIR": str(cwd)}
        return Job(
            self, [*nobody, *self.command(words, program=program)], cwd, environment
        ).finish()

    def alone(self, words: Sequence[object], cwd: Path, timeout: float = SECONDS) -> Run:
        """The program without a launcher."""
        command = [str(w) for w in [self.program, *words]]
        return Job(self, command, cwd, self.environment()).finish(timeout)


@functools.cache
def _backends(engine: Engine) -> list[dict[str, Any]]:
    """What it says of its backends, asked once."""
    done = subprocess.run(
        [engine.program, "describe", "backends"],
        env=engine.environment(),
        capture_output=True,
        timeout=SECONDS,
        check=True,
    )
    described = json.loads(done.stdout)
    assert isinstance(described, list)
    return described


def two_nodes(engine: Engine, words: Sequence[object]) -> list[str]:
    """A launch of four ranks in the order of the nodes a, b, b, a, as Slurm would name them."""
    command = engine.command(words, 1, ["env", "SLURMD_NODENAME=a"])
    for count, node in ((2, "b"), (1, "a")):
        more = [":", "-n", str(count), "env", f"SLURMD_NODENAME={node}", str(engine.program)]
        command += [*more, *map(str, words)]
    return command


def apart(engine: Engine, words: Sequence[object], cwd: Path, ahead: int) -> Run:
    """The same run, finished; the clock of node b is this many seconds ahead of node a's."""
    import pytest

    there = ["unshare", "--time", "--monotonic", str(ahead)]
    if subprocess.run([*there, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no time namespaces here")
    command = two_nodes(engine, words)
    at_b = command.index("SLURMD_NODENAME=b")
    command[at_b + 1 : at_b + 1] = there
    return Job(engine, command, cwd, engine.environment()).finish()


def _cached(build: Path, name: str) -> str | None:
    try:
        for line in (build / "CMakeCache.txt").read_text().splitlines():
            if line.startswith(name + ":"):
                return line.partition("=")[2]
    except OSError:
        pass
    return None


def _builds() -> list[Path]:
    named = os.environ.get("EFFIO_TEST_ENGINES")
    if named:
        return [Path(entry.partition("=")[2]) for entry in named.split(";")]
    return sorted((ROOT / "build").glob("test-*"))


def find_engines() -> dict[str, Engine]:
    """The flavours at hand by name."""
    found: dict[str, Engine] = {}
    for build in _builds():
        mpiexec = _cached(build, "MPIEXEC_EXECUTABLE")
        if mpiexec is None or not (build / "engine" / "effio-mpi").exists():
            continue
        version = subprocess.run(
            [mpiexec, "--version"], capture_output=True, text=True, timeout=SECONDS, check=False
        ).stdout
        if "Open MPI" in version or "OpenRTE" in version:
            found["openmpi-ompio"] = Engine(
                "openmpi-ompio", build, mpiexec, ("--mca", "io", "ompio")
            )
            # Open MPI 5 ships ROMIO 3.4.1 under another name.
            romio = "romio341" if "Open MPI) 5" in version else "romio321"
            found["openmpi-romio"] = Engine("openmpi-romio", build, mpiexec, ("--mca", "io", romio))
        else:
            # MPICH polls without yielding: more ranks than cores take seconds for each barrier.
            found["mpich"] = Engine("mpich", build, mpiexec, (), 2)
    return found


def with_wheel(mpich: Engine) -> Engine:
    """The engine built with Debian's MPICH, which runs with the wheel's library instead. Skips the
    test where that is impossible."""
    import pytest

    if not (WHEEL / "libmpich.so.12").exists():
        pytest.skip("MPICH's wheel is not here (scripts/mpich-wheel fetches it)")
    needed = subprocess.run(["ldd", mpich.program], capture_output=True, text=True, check=False)
    if "libmpich.so.12" not in needed.stdout:
        pytest.skip(f"{mpich.program} needs no libmpich.so.12, which the wheel could replace")
    return replace(
        mpich, name="mpich-wheel", mpiexec=str(WHEEL.parent / "bin/mpiexec"), libraries=WHEEL
    )


def version_of_wheel() -> str:
    (found,) = WHEEL.glob("python*/site-packages/mpich-*.dist-info")
    return found.name.removeprefix("mpich-").removesuffix(".dist-info")
