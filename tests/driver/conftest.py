# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the driver's tests: handwritten results, and effio's own command line."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from driver import made
from engines import SESSION_DIRECTORY, Engine
from patience import SECONDS
from run_tests import WITHOUT_DEVICES

# Two runs that are kept.
FIRST = "20260101T000000Z-b-eff-io"
SECOND = "20260202T000000Z-b-eff-io"


@dataclass
class Effio:
    """`effio` as a user calls it, in its own directory."""

    cwd: Path
    environment: dict[str, str]

    def command(self, *words: object) -> list[str]:
        return [sys.executable, "-m", "effio", *map(str, words)]

    def run(
        self,
        *words: object,
        timeout: float = SECONDS,
        env: Mapping[str, str] | None = None,
        start: Callable[[], object] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """`start` is called in the new process first."""
        return subprocess.run(
            self.command(*words),
            cwd=self.cwd,
            env={**self.environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            preexec_fn=start,
        )

    def script(
        self, code: str, *words: str, start: Callable[[], object] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs Python code in a new process, which calls `start` first."""
        return subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=self.cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            preexec_fn=start,
        )

    def call(
        self, *words: object, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """The same within this process: quick, and an exception that is not caught fails the
        test."""
        from effio.cli.main import main

        output, errors = io.StringIO(), io.StringIO()
        arguments = ["effio", *map(str, words)]
        code: object = 0
        before = Path.cwd()
        with (
            mock.patch.dict(os.environ, {**self.environment, **(env or {})}, clear=True),
            mock.patch.object(sys, "argv", arguments),
            mock.patch.object(tempfile, "tempdir", None),  # TMPDIR counts
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(errors),
        ):
            os.chdir(self.cwd)
            try:
                main()
            except SystemExit as stop:
                code = stop.code
            finally:
                os.chdir(before)
                gc.unfreeze()  # this process does not end with the command
        assert isinstance(code, int)
        return subprocess.CompletedProcess(arguments, code, output.getvalue(), errors.getvalue())

    def start(self, *words: object, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*words),
            cwd=self.cwd,
            env={**self.environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def obey_permissions() -> None:
    """From the next program on this process is refused what permissions forbid, also as root."""
    if os.geteuid() == 0:
        drop, override, read_search = 24, 1, 2  # PR_CAPBSET_DROP, CAP_DAC_...
        for capability in (override, read_search):
            ctypes.CDLL(None).prctl(drop, capability, 0, 0, 0)


@pytest.fixture
def refused(tmp_path: Path) -> Callable[[], object]:
    """`start` of an effio that is refused what permissions forbid."""
    (closed := tmp_path / "closed").mkdir(mode=0)
    looked = subprocess.run(["ls", closed], preexec_fn=obey_permissions, capture_output=True)
    closed.rmdir()
    if looked.returncode == 0:
        pytest.skip("this user is refused nothing")
    return obey_permissions


@pytest.fixture
def effio(tmp_path: Path) -> Effio:
    """Settings of the machine's user do not count, and no batch job is around."""
    environment = {
        k: v
        for k, v in os.environ.items()
        if k == SESSION_DIRECTORY
        or k in WITHOUT_DEVICES
        or not k.startswith(("EFFIO_", "SLURM", "PBS_", "LSB_", "FLUX_", "OMPI_", "PMI"))
    }
    environment |= {
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "share"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    return Effio(tmp_path, environment)


@pytest.fixture
def with_engine(effio: Effio, any_engine: Engine) -> Effio:
    """The same with an engine at hand, of Open MPI where there is one."""
    effio.environment["EFFIO_ENGINE"] = str(any_engine.program)
    effio.environment["EFFIO_MPIEXEC"] = any_engine.mpiexec
    effio.environment |= any_engine.resting()
    return effio


@pytest.fixture
def result_file(tmp_path: Path) -> Path:
    return made.write(tmp_path / "b_eff_io.jsonl", made.b_eff_io())


@pytest.fixture
def alive() -> Iterator[Callable[[subprocess.Popen[str]], subprocess.Popen[str]]]:
    """Whatever a test starts is gone when it ends."""
    started: list[subprocess.Popen[str]] = []

    def keep(process: subprocess.Popen[str]) -> subprocess.Popen[str]:
        started.append(process)
        return process

    yield keep
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def kept(effio: Effio) -> Effio:
    """Two runs, and a job that waits."""
    runs = effio.cwd / "effio-runs"
    made.write(runs / FIRST / "result.jsonl", made.b_eff_io())
    made.write(runs / SECOND / "result.jsonl", made.two_partitions())
    waiting = runs / "20260303T000000Z-b-eff-io"
    waiting.mkdir()
    record = {
        "schema": "effio-run/1", "id": waiting.name, "created": "2026-03-03T00:00:00Z",
        "benchmark": "b-eff-io", "arguments": [], "directory": "/", "command": [],
        "batch": {"system": "slurm"},
    }  # fmt: skip
    (waiting / "run.json").write_text(json.dumps(record))
    return effio
