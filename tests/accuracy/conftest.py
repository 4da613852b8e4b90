# SPDX-License-Identifier: BSD-3-Clause
"""Devices, links and clocks of which all is known, and the book of what runs report of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .truths import MIB, Book, write_page

IMAGE = 512 * MIB
SECTOR = 512  # of /sys/block/*/stat, whatever the device has
PAGE = "EFFIO_ACCURACY_PAGE"

_BOOK = pytest.StashKey[Book]()


@pytest.fixture(scope="session", autouse=True)
def _awake() -> Iterator[None]:
    """Ranks that wait do not sleep (tests/faults/resting_waits.c): rates are measured here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RESTING_WAITS", "off")
        yield


@pytest.fixture(scope="session")
def book(request: pytest.FixtureRequest) -> Book:
    stash = request.config.stash
    return stash.setdefault(_BOOK, Book())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where a truth cannot be had here, the page says why."""
    report = yield
    marker = item.get_closest_marker("truths")
    if marker is not None and report.skipped and isinstance(report.longrepr, tuple):
        found = item.config.stash.setdefault(_BOOK, Book())
        reason = report.longrepr[2].removeprefix("Skipped: ")
        for name in marker.args:
            if name not in found.reported:
                found.skipped.setdefault(name, reason)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    if page := os.environ.get(PAGE):
        write_page(Path(page), session.config.stash.setdefault(_BOOK, Book()))


@dataclass(frozen=True)
class Device:
    place: Path
    name: str

    def counted(self) -> tuple[int, int]:
        """Bytes read and written since the device was set up."""
        words = Path(f"/sys/block/{self.name}/stat").read_text().split()
        return int(words[2]) * SECTOR, int(words[6]) * SECTOR


@pytest.fixture
def device(tmp_path: Path, mount: Callable[..., Path]) -> Device:
    """An ext4 on a loop device that no other process uses, in memory if there is enough: a
    disk still has to write what earlier tests left."""
    memory = Path("/dev/shm")
    in_memory = memory.is_mount() and shutil.disk_usage(memory).free > 2 * IMAGE
    image = (memory if in_memory else tmp_path) / f"effio-image-{os.getpid()}"
    try:
        with image.open("wb") as file:
            file.truncate(IMAGE)
        made = subprocess.run(
            ["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", str(image)],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode != 0:
            pytest.skip(f"mkfs.ext4 does not work here: {made.stderr.strip()}")
        place = mount("-o", "loop,noatime", str(image))
    finally:
        image.unlink(missing_ok=True)  # lives on as long as it is mounted
    number = place.stat().st_dev
    sys = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not (sys / "stat").exists():
        pytest.skip("this kernel keeps no counters of loop devices")
    return Device(place, sys.resolve().name)


@pytest.fixture
def throttle(device: Device) -> Iterator[Callable[[int], list[str]]]:
    """throttle(bytes per second) limits what may be moved to and from the device, and returns what
    to put before a program that is to be held to it. The group is the kernel's own: what it writes
    back of the cache by itself, when others have much to write, is held as well."""
    group = Path("/sys/fs/cgroup/blkio")
    if not (group / "blkio.throttle.write_bps_device").exists():
        pytest.skip("no control groups of version 1 that limit block devices here")
    number = (Path("/sys/block") / device.name / "dev").read_text().strip()

    def limit(rate: int) -> list[str]:
        for way in ("read", "write"):
            (group / f"blkio.throttle.{way}_bps_device").write_text(f"{number} {rate}")
        return ["sh", "-c", f'echo $$ > {group / "cgroup.procs"}; exec "$0" "$@"']

    try:
        limit(0)  # none
    except OSError as error:
        pytest.skip(f"control groups cannot be set here: {error}")
    yield limit
    limit(0)
