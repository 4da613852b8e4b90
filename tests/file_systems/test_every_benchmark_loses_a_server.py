# SPDX-License-Identifier: BSD-3-Clause
"""One of three servers is killed, or stops to answer, in the middle of each benchmark of storage:
the run ends with what is true or continues, keeps what was measured, and `effio clean` removes the
rest when the server is back."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from effio.store import abilities
from effio.store.all_runs import Store
from engines import Engine

from .conftest import ALL, KINDS, Mounted, effio_on, mounted
from .gluster import Gluster
from .nodes import Server

pytestmark = [
    pytest.mark.timeout(2400),
    pytest.mark.skipif(not ALL, reason="takes minutes: make test-file-systems"),
]

WATCHDOG = 15  # seconds
# The longest of all ways to end: the watchdog, the time that the engine has to leave, and the
# launcher's own patience, on a busy machine.
PATIENCE = 4 * WATCHDOG + 60
RUNS = {
    "ior, write": "ior --files per-process --phases write --block 4MiB --transfer 1MiB"
    " --repetitions 200",
    "ior, read": "ior --files per-process --phases write,read --block 4MiB --transfer 1MiB"
    " --repetitions 200",
    "mdtest": "mdtest --items 60 --iterations 100 --write-bytes 4KiB",
    "b_eff_io": "b-eff-io --backend posix --time 100s --memory-per-rank 8MiB --partitions 2",
    "flash-io": "flash-io --backend mpiio --cells 8 --blocks 10 --repetitions 100"
    " --files checkpoint --read all",
    "io-bench": "io-bench --size 4MiB --block 1MiB --copies 1,2 --repetitions 100",
    "spiobench": "spiobench --task-size 4MiB --block 1MiB --tasks 1,2 --repetitions 100",
    "ssca3": "ssca3 --grid 2 --depth 2 --sequences 4 --detections 2 --templates 2"
    " --raw-size 1MiB --image-size 256KiB --template-size 4KiB --repetitions 100",
    "tile-io": "tile-io --sz-tile-x 512 --sz-tile-y 512 --repetitions 200",
    "pio": "pio --size 2MiB --buffer 256KiB --repetitions 100",
    "partest": "partest --size 2MiB --call 256KiB --tasks 2 --repetitions 200",
    "saturation": "saturation --size 4MiB --transfer 1MiB --processes 1,2 --repetitions 100",
    "overlap": "overlap --transfer 1MiB --repetitions 200 --work-time 1ms",
    # A file takes long enough for its server to be found and lost in the middle of it.
    "libraries": "libraries --edges 96 --processes 2 --hint-sets none --repetitions 100",
}
# Only some of them: EFFIO_TEST_ONLY="libraries|pio" make test-file-systems
ONLY = re.compile(os.environ.get("EFFIO_TEST_ONLY", ""))
HOW: dict[str, Callable[[Server], None]] = {"killed": Server.kill, "stopped": Server.stop}
BACK: dict[str, Callable[[Server], None]] = {"killed": Server.return_, "stopped": Server.resume}


@dataclass
class Ended:
    status: str
    seconds: float  # after the server was gone
    reason: str = ""
    kept: int = 0
    fault: str = ""


def _measurements(cwd: Path) -> int:
    found = [*cwd.glob("effio-runs/*/result.jsonl")]
    return found[0].read_bytes().count(b'"kind":"measurement"') if found else 0


def _wait(
    process: subprocess.Popen[bytes], until: Callable[[], bool], seconds: float, step: float = 0.1
) -> bool:
    """Whether it came true, or the process ended, in time."""
    deadline = time.monotonic() + seconds
    while process.poll() is None and not until():
        if time.monotonic() > deadline:
            return False
        time.sleep(step)
    return True


def _server_with(start: str, cluster: Gluster) -> Server | None:
    """The server of a distributed GlusterFS that has data of a file whose name starts so."""
    for number, server in enumerate(cluster.servers):
        for path in cluster.brick(number).glob(f"data/{start}*"):
            with contextlib.suppress(OSError):
                if path.stat().st_blocks > 0:
                    return server
    return None


def _victim(words: str, made: Mounted, process: subprocess.Popen[bytes]) -> Server:
    """The server that is to be lost: the second. Of `libraries` that of the file in use: its files
    follow each other, each on another server."""
    found: list[Server] = []
    cluster = made.cluster

    def in_use() -> bool:
        assert isinstance(cluster, Gluster)
        if server := _server_with("libraries_", cluster):
            found.append(server)
        return bool(found)

    if words.startswith("libraries") and made.kind == "distributed":
        _wait(process, in_use, 60, step=0.005)
    return found[0] if found else cluster.servers[1]


def _lose(words: str, how: str, engine: Engine, made: Mounted, cwd: Path) -> tuple[Ended, Server]:
    client = made.cluster.clients[0]
    command = [
        *(*client.enter(), sys.executable, "-m", "effio", "run", *words.split()),
        *("--ranks", "2", "--no-report", "--quiet", "--watchdog", f"{WATCHDOG}s"),
        *("--dir", str(made.places[0])),
    ]
    settings = {"EFFIO_ENGINE": str(engine.program), "EFFIO_MPIEXEC": engine.mpiexec}
    with (cwd / "said").open("wb") as said:
        process = subprocess.Popen(
            command, cwd=cwd, env=engine.environment(settings), stdout=said, stderr=said
        )
    victim = made.cluster.servers[1]
    try:
        _wait(process, lambda: _measurements(cwd) >= 2, 90)
        if process.poll() is not None:
            fault = f"ended too early: {(cwd / 'said').read_text()[-300:]}"
            return Ended("?", 0, fault=fault), victim
        victim = _victim(words, made, process)
        before = _measurements(cwd)
        HOW[how](victim)
        gone = time.monotonic()
        # Each library names its files differently, so they are on other servers.
        more = 20 if words.startswith("libraries") else 4
        in_time = _wait(process, lambda: _measurements(cwd) >= before + more, PATIENCE)
        seconds = time.monotonic() - gone
        goes_on = in_time and process.poll() is None
        if process.poll() is None:
            process.terminate()
            if not _wait(process, lambda: False, PATIENCE):
                process.kill()
                fault = "it does not end when it is asked to"
                return Ended("?", seconds, fault=fault), victim
    finally:
        if process.poll() is None:
            process.kill()
    (folder,) = Store(cwd / "effio-runs").folders()
    result, record = folder.result(), folder.record()
    outcome = record.outcome if record is not None else None
    status = "continues" if goes_on else outcome.status if outcome is not None else "?"
    ended = Ended(status, seconds, outcome.reason if outcome is not None else "")
    ended.kept = sum(m.valid for m in result.measurements)
    if not in_time:
        ended.fault = f"neither ends nor continues within {PATIENCE} s"
    elif status not in ("continues", "io_error", "hung", "data_errors", "done"):
        ended.fault = f"status {status}: {ended.reason}"
    elif status in ("io_error", "hung") and str(made.places[0]) not in ended.reason:
        ended.fault = f"without its place: {ended.reason}"
    elif ended.kept == 0:
        ended.fault = "nothing is kept"
    return ended, victim


def _remove_what_no_client_sees(made: Mounted) -> None:
    """As an administrator of a GlusterFS has to: a server that was away while a directory was
    renamed or removed keeps it. No client lists it or finds it by name, nor can remove its
    parent."""
    if not isinstance(made.cluster, Gluster):
        return
    place = made.places[0]
    seen = {path.relative_to(place) for path in place.rglob("*")}
    for number in range(len(made.cluster.servers)):
        brick = made.cluster.brick(number) / place.name
        for path in sorted(brick.rglob("*"), reverse=True):
            if path.is_dir() and path.relative_to(brick) not in seen:
                path.rmdir()


def _clean(made: Mounted, engine: Engine, cwd: Path) -> str:
    """What is wrong after `effio clean`, once the server is back."""
    deadline = time.monotonic() + 180  # a client may take a minute to answer again
    while abilities.hides_files(made.places[0]):
        if time.monotonic() > deadline:
            return "the client does not find the server again"
        time.sleep(0.5)
    while True:
        done = effio_on(made.cluster.clients[0], engine, cwd, "clean", "--yes")
        left = made.left() if done.returncode == 0 else ["?"]
        if not left:
            return ""
        said = done.stdout + done.stderr
        if "Directory not empty" in said:
            _remove_what_no_client_sees(made)
        if time.monotonic() > deadline:
            made.empty()
            return f"left: {left[:4]}; {said[-200:]}"
        time.sleep(2)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", KINDS)
def test_each_benchmark_loses_a_server(
    kind: str,
    how: str,
    openmpi: Engine,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    faults = []
    with mounted(kind, tmp_path_factory.mktemp("lose")) as made:
        for number, (name, words) in enumerate(RUNS.items()):
            if not ONLY.search(words):
                continue
            cwd = tmp_path / str(number)
            cwd.mkdir()
            ended, lost = _lose(words, how, openmpi, made, cwd)
            if how == "killed":
                # It must not take away what the next call needs.
                effio_on(made.cluster.clients[0], openmpi, cwd, "clean", "--yes")
            BACK[how](lost)
            ended.fault = ended.fault or _clean(made, openmpi, cwd)
            line = f"{kind}, {how}, {name}: {ended}"
            if path := os.environ.get("EFFIO_TEST_TABLE"):
                with Path(path).open("a") as file:
                    file.write(line + "\n")
            if ended.fault:
                faults.append(line)
            shutil.rmtree(cwd, ignore_errors=True)
    assert faults == []
