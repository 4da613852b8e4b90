# SPDX-License-Identifier: BSD-3-Clause
"""One of three servers is killed in the middle of a phase: the run ends with what is true, and
keeps what was measured; `effio clean` names what it cannot remove while the server is away."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from effio.store.all_runs import Store
from effio.store.folder import RunFolder
from engines import Engine

from .conftest import ALL, Mounted, mounted

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(not ALL, reason="takes minutes: make test-file-systems"),
]

PHASES = {
    "write": "ior --phases write --block 8MiB --transfer 1MiB --repetitions 100 --sync end",
    "read": "ior --phases write,read --block 8MiB --transfer 1MiB --repetitions 100",
    "names": "mdtest --items 200 --iterations 100 --things files --write-bytes 4KiB",
}
# Seconds. MooseFS' client sometimes waits for 17 s before it tries another server.
WATCHDOG = {"distributed": 15, "dispersed": 15, "moosefs": 60}


@contextmanager
def _started(
    words: str, engine: Engine, file_system: Mounted, cwd: Path
) -> Iterator[subprocess.Popen[str]]:
    client = file_system.cluster.clients[0]
    files = "--files per-process" if words.startswith("ior") else ""
    command = [
        *(*client.enter(), sys.executable, "-m", "effio", "run", *words.split(), *files.split()),
        *("--ranks", "2", "--no-report", "--quiet", "--watchdog", f"{WATCHDOG[file_system.kind]}s"),
        *("--dir", str(file_system.places[0])),
    ]
    settings = {"EFFIO_ENGINE": str(engine.program), "EFFIO_MPIEXEC": engine.mpiexec}
    with (cwd / "said").open("w") as said:
        process = subprocess.Popen(
            command, cwd=cwd, env=engine.environment(settings), stdout=said, stderr=said, text=True
        )
        try:
            yield process
        finally:
            process.kill()


def _measurements(cwd: Path) -> int:
    found = [*cwd.glob("effio-runs/*/result.jsonl")]
    return found[0].read_bytes().count(b'"kind":"measurement"') if found else 0


def _only_folder(cwd: Path) -> RunFolder:
    (folder,) = Store(cwd / "effio-runs").folders()
    return folder


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("kind", ["distributed", "dispersed", "moosefs"])
def test_a_server_dies(
    kind: str,
    phase: str,
    openmpi: Engine,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with mounted(kind, tmp_path_factory.mktemp("die")) as file_system:
        with _started(PHASES[phase], openmpi, file_system, tmp_path) as process:
            deadline = time.monotonic() + 90
            while _measurements(tmp_path) < 2:
                assert time.monotonic() < deadline, (tmp_path / "said").read_text()
                assert process.poll() is None, (tmp_path / "said").read_text()
                time.sleep(0.05)
            measured = _measurements(tmp_path)
            file_system.cluster.servers[1].kill()
            died = time.monotonic()
            patience = 4 * WATCHDOG[kind] + 60
            try:
                # A file system that heals continues: then it has to do so for ten measurements.
                while process.poll() is None and _measurements(tmp_path) < measured + 10:
                    assert time.monotonic() < died + patience, "neither ends nor continues"
                    time.sleep(0.1)
            finally:
                if process.poll() is None:
                    process.terminate()
                    process.wait(100)
        result = _only_folder(tmp_path).result()
        assert sum(m.valid for m in result.measurements) >= measured
        assert result.end is not None
        healed = len(result.measurements) >= measured + 10
        assert result.end.status == ("interrupted" if healed else result.end.status)
        if not healed:
            assert result.end.status in ("io_error", "hung"), result.end
            # The place: a path, and what the system said.
            assert str(file_system.places[0]) in result.end.reason
        assert kind == "distributed" or healed, result.end
