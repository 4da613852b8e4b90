# SPDX-License-Identifier: BSD-3-Clause
"""The file systems: brought up once for all tests of a file, empty for each test."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from engines import Engine, Run

from .ceph import Ceph, ceph
from .gluster import Gluster, gluster
from .moosefs import MooseFS, moosefs
from .nodes import APART, Client, NotHereError, at_same_path

# `make test-file-systems` sets it; without it only what takes seconds is run.
ALL = os.environ.get("EFFIO_TEST_FILE_SYSTEMS") == "all"
# A run that makes no progress is ended by its watchdog. Flushes of a CephFS on a busy machine need
# minutes for all rows of b_eff_io.
PATIENCE_SECONDS = 500
KINDS = ("distributed", "dispersed", "moosefs")
# It takes minutes to come up, and ceph-fuse sometimes reads old data (docs/servers.md).
MORE = ("cephfs",) if os.environ.get("EFFIO_TEST_CEPHFS") else ()


@dataclass
class Mounted:
    """A file system, and its mount on some client nodes."""

    kind: str
    cluster: Gluster | MooseFS | Ceph
    seen: Path  # where ranks find it: each its own node's mount

    @property
    def places(self) -> list[Path]:
        return [client.mount_point / "data" for client in self.cluster.clients]

    def run(
        self,
        engine: Engine,
        words: Sequence[object],
        cwd: Path,
        timeout: float = PATIENCE_SECONDS,
        nodes: Sequence[int] = (0, 1),
    ) -> Run:
        """A rank on each of `nodes`: clients by number, which may be named more than once."""
        prefix = at_same_path([self.places[node] for node in nodes], self.seen)
        more = ["--dir", self.seen]
        return engine.run([*words, *more], cwd, len(nodes), timeout, prefix=prefix, env=APART)

    def left(self) -> list[str]:
        """The names in the directory."""
        return sorted(path.name for path in self.places[0].iterdir())

    def empty(self) -> None:
        for path in self.places[0].iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def effio_on(
    client: Client, engine: Engine, cwd: Path, *words: object, timeout: float = 200
) -> subprocess.CompletedProcess[str]:
    """`effio WORDS` as a user of this client node calls it, with this engine."""
    settings = {"EFFIO_ENGINE": str(engine.program), "EFFIO_MPIEXEC": engine.mpiexec}
    return subprocess.run(
        [*client.enter(), sys.executable, "-m", "effio", *map(str, words)],
        cwd=cwd,
        env=engine.environment(settings),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@contextlib.contextmanager
def mounted(
    kind: str, directory: Path, device: bool = False, clients: int = 2
) -> Iterator[Mounted]:
    seen = directory / "seen"
    seen.mkdir()
    with contextlib.ExitStack() as stack:
        cluster: Gluster | MooseFS | Ceph
        try:
            if kind == "moosefs":
                # It takes minutes until the space of removed files is free again.
                size = "4g" if device else "1500m"
                cluster = stack.enter_context(moosefs(directory, clients, size, device=device))
            elif kind == "cephfs":
                cluster = stack.enter_context(ceph(directory, clients))
            else:
                cluster = stack.enter_context(gluster(directory, kind, clients, device=device))
        except NotHereError as reason:
            pytest.skip(f"no {kind} file system here: {reason}")
        made = Mounted(kind, cluster, seen)
        made.places[0].mkdir()
        yield made


@pytest.fixture
def openmpi(any_engine: Engine) -> Engine:
    """Its launcher is the one that starts ranks in a network namespace here."""
    if not any_engine.is_openmpi:
        pytest.skip("only Open MPI is started in a network namespace here")
    return any_engine


@pytest.fixture(scope="module", params=(*KINDS, *MORE))
def _each(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mounted]:
    if not ALL:
        pytest.skip("takes minutes: make test-file-systems")
    place = tmp_path_factory.mktemp(request.param)
    with mounted(request.param, place, clients=4) as made:
        yield made


@pytest.fixture
def file_system(_each: Mounted) -> Iterator[Mounted]:
    """Every file system, one after the other, on four client nodes."""
    yield _each
    _each.empty()


@pytest.fixture(scope="module")
def _gluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mounted]:
    with mounted("distributed", tmp_path_factory.mktemp("gluster")) as made:
        yield made


@pytest.fixture
def distributed(_gluster: Mounted) -> Iterator[Mounted]:
    """A distributed GlusterFS."""
    yield _gluster
    _gluster.empty()
