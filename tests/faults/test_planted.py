# SPDX-License-Identifier: BSD-3-Clause
"""Links that somebody plants during a run in the place of a file that the run makes later: the run
ends with an error that names the file, and what the link leads to keeps its bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from array_tools import need
from engines import Engine

PRECIOUS = b"precious" * 1000
# Two dumps; the links are planted while the ranks compute between them.
FLASH = ("flash-io", "--quiet", "--blocks", "1", "--cells", "4", "--files", "checkpoint")
DUMPS = ("--dumps", "2", "--compute", "4s", "--agree-deadline", "5s")


def symbolic(victim: Path, place: Path) -> None:
    place.symlink_to(victim)


def hard(victim: Path, place: Path) -> None:
    place.hardlink_to(victim)


@pytest.mark.parametrize("plant", [symbolic, hard])
@pytest.mark.parametrize(
    "backend", ["pnetcdf", "hdf5", "netcdf4", "posix", "posix-fpp", "fortran-fpp", "sion"]
)
def test_a_link_in_the_place_of_the_next_dump(
    any_engine: Engine,
    backend: str,
    plant: Callable[[Path, Path], None],
    tmp_path: Path,
    data: Path,
) -> None:
    need(any_engine, backend, tmp_path)
    victim = tmp_path / "victim"
    victim.write_bytes(PRECIOUS)
    job = any_engine.start([*FLASH, *DUMPS, "--backend", backend, "--dir", data], tmp_path)
    job.wait_until("the first dump", lambda: any(data.glob("*chk_0000*")))
    first = sorted(data.glob("*chk_0000*"))[0]
    later = data / first.name.replace("chk_0000", "chk_0001")
    plant(victim, later)
    run = job.finish()
    if plant is hard and backend in ("posix", "sion"):
        # A file of this name may be removed first: the other name keeps the bytes.
        assert run.code in (0, 3), run
    else:
        assert run.code == 3, run
        assert later.name in run.stderr, run
    assert victim.read_bytes() == PRECIOUS
