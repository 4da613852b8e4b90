# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures that all tests share: the engines, and places to write that tests need."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright
from xdist.scheduler import LoadScopeScheduling

from engines import FLAVOURS, NOBODY, SESSION_DIRECTORY, Engine, find_engines
from slurm_cluster import SlurmCluster, SlurmUnavailableError, slurm_cluster

# Collecting makes five thousand tests, which all stay: a third of its time went into looking for
# garbage among them, in each of the processes.
gc.disable()

LONGEST_FIRST = (
    "slurm",
    "test_tune_runs.py",
    "test_campaign_jobs.py",
    "test_campaign_killed.py",
    "docs",
    # The tests of one of these run in one process, for up to three minutes.
    "test_tables.py",
    "test_page_size.py",
    "test_campaign_runs.py",
    "test_page.py",
    "test_page_tables.py",
    "faults",
    "system",
    "test_run_endings.py",
    "test_profile_darshan.py",
    "test_cli.py",
    "test_obvious.py",
    "test_wheel.py",
    "test_compare_chance.py",
    "test_ranks.py",
    "statistics",
)
# Long, and no test of theirs needs what another one has set up.
EACH_ALONE = (
    "tests/docs/test_pages.py",
    "tests/driver/test_campaign_jobs.py",
    "tests/driver/test_cli.py",
    "tests/driver/test_obvious.py",
    "tests/driver/test_run_endings.py",
    "tests/driver/test_tune_runs.py",
    "tests/faults/test_arrays.py",
    "tests/faults/test_planted.py",
    "tests/faults/test_safety.py",
    "tests/system/test_ior_arrays.py",
)


def pytest_configure(config: pytest.Config) -> None:
    """Open MPI's launchers of a user share a directory, which the last that ends removes, also
    under the feet of one that just starts. So each process of the tests has its own, which
    is never empty."""
    place = Path(tempfile.mkdtemp(prefix="effio-mpi-"))
    config.add_cleanup(lambda: shutil.rmtree(place, ignore_errors=True))
    place.chmod(0o1777)
    for user in {os.geteuid(), NOBODY} if os.geteuid() == 0 else {os.geteuid()}:
        shared = place / f"ompi.{os.uname().nodename.partition('.')[0]}.{user}"
        (shared / "kept").mkdir(parents=True)
        if os.geteuid() == 0:
            os.chown(shared, user, -1)
        shared.chmod(0o700)
    os.environ[SESSION_DIRECTORY] = str(place)
    # A shell lets its jobs in the background ignore Ctrl-C, which effio respects.
    signal.signal(signal.SIGINT, signal.default_int_handler)


class _FilesTogether(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """The tests of a file run in one process, which sets up once what they share."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return nodeid if file in EACH_ALONE else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return _FilesTogether(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Folders and files that wait longest come first: begun last, one of them would be waited for
    alone."""

    def place(item: pytest.Item) -> int:
        for name in (item.path.name, item.path.parent.name):
            if name in LONGEST_FIRST:
                return LONGEST_FIRST.index(name)
        return len(LONGEST_FIRST)

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """What was collected is never garbage; what tests make is."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def engines() -> dict[str, Engine]:
    """The flavours at hand by name."""
    return find_engines()


def _need(engines: dict[str, Engine], flavour: str) -> Engine:
    if flavour not in engines:
        pytest.skip(
            f"no engine of flavour {flavour} is built here (EFFIO_TEST_ENGINES, build/test-*)"
        )
    return engines[flavour]


@pytest.fixture(scope="session", params=FLAVOURS)
def engine(request: pytest.FixtureRequest, engines: dict[str, Engine]) -> Engine:
    """Every flavor, one after the other."""
    return _need(engines, request.param)


@pytest.fixture(scope="session", params=("openmpi-ompio", "mpich"))
def mpi(request: pytest.FixtureRequest, engines: dict[str, Engine]) -> Engine:
    """An engine of each MPI library one after the other, for what has nothing to do with files."""
    return _need(engines, request.param)


@pytest.fixture(scope="session")
def any_engine(engines: dict[str, Engine]) -> Engine:
    """One engine, for what does not depend on the MPI library; takes up to 8 ranks if it can."""
    for flavour in FLAVOURS:
        if flavour in engines:
            return engines[flavour]
    pytest.skip("no engine is built here (EFFIO_TEST_ENGINES, build/test-*)")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """An empty directory for data files, apart from the results in tmp_path."""
    directory = tmp_path / "data"
    directory.mkdir()
    return directory


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A directory that every user may use; pytest's own are for the one who runs it."""
    with tempfile.TemporaryDirectory(prefix="effio-test-") as name:
        place = Path(name)
        place.chmod(0o777)
        yield place


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """mount("-t", "tmpfs", "-o", "size=4m", "none") mounts and returns where; undone at the end."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    mounted: list[Path] = []

    def do(*words: str, name: str = "") -> Path:
        place = tmp_path / (name or f"mount{len(mounted)}")
        place.mkdir()
        done = subprocess.run(
            ["mount", *words, str(place)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            pytest.skip(f"mount {' '.join(words)} does not work here: {done.stderr.strip()}")
        mounted.append(place)
        return place

    yield do
    for place in reversed(mounted):
        if not place.is_mount():
            continue  # the test took it away
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture(scope="session")
def _slurm_daemons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    try:
        with slurm_cluster(tmp_path_factory.mktemp("slurm")) as cluster:
            yield cluster
    except SlurmUnavailableError as reason:
        pytest.skip(str(reason))


@pytest.fixture
def slurm(_slurm_daemons: SlurmCluster) -> Iterator[SlurmCluster]:
    """A Slurm of four virtual nodes, idle; see slurm_cluster.py."""
    yield _slurm_daemons
    _slurm_daemons.settle()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a window: Playwright's own where it is, else the system's. The shell takes
    a third of the processor time that the whole browser takes for a page."""
    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
        found = (shutil.which(name) for name in names)
        program = str(own) if own.exists() else next(filter(None, found), None)
        if program is None:
            pytest.skip(
                "no Chromium here (apt-get install chromium-headless-shell, or playwright install)"
            )
        # Root may not have a sandbox; the pages are our own.
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        launched = playwright.chromium.launch(executable_path=program, args=flags)
        yield launched
        launched.close()
