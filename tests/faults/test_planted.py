# SPDX-License-Identifier: BSD-3-Clause
"""Links that somebody plants in the place of a file that a run creates later: the run ends with an
error that names the file, and the target of the link is unchanged. The engine opens files for
writing only by the functions that are tested here."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from array_tools import need
from engines import Engine

from .conftest import with_fault

ENGINE = Path(__file__).resolve().parents[2] / "engine"
# Calls that create, empty or write files, each place with its reason. Data files go through
# open_file (storage/posix_calls.cpp), all other files through TextFile (parallel/text_file.cpp).
ELSEWHERE = {
    "parallel/descriptor.hpp": "Descriptor::open itself",
    "parallel/text_file.cpp": "TextFile itself",
    "storage/posix_calls.cpp": "open_file itself",
    "storage/mpiio.cpp": "MPI-IO opens paths itself; GuardedPath::confirm after it",
    "storage/libraries/hdf5.cpp": "HDF5 opens paths itself; GuardedPath around it",
    "storage/libraries/netcdf4.cpp": "NetCDF opens paths itself; GuardedPath around it",
    "storage/libraries/pnetcdf.cpp": "PnetCDF opens paths itself; GuardedPath around it",
    "storage/own_tree.cpp": "directories, read-only",
    "storage/sim.cpp": "its own directory, by mkdtemp",
}
WRITES = re.compile(
    r"\b(ofstream|std::fstream|freopen|mkstemp|mkdtemp|tmpfile|shm_open|MPI_File_open|H5Fcreate|"
    r"nc_create_par|ncmpi_create)\b|\bfopen\(|(?<![\w>])::(?:creat|open(?:at)?)\([^;]*;|"
    r"\bDescriptor::open(?:_at)?\([^;]*;"
)
READS = re.compile(r"O_RDONLY|O_PATH")
CREATES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND")


def test_the_engine_opens_files_for_writing_in_known_places() -> None:
    found = set()
    for file in [*ENGINE.rglob("*.cpp"), *ENGINE.rglob("*.hpp")]:
        text = re.sub(r"//.*|\"(?:[^\"\\\n]|\\.)*\"", "", file.read_text())
        for call in WRITES.finditer(text):
            reads = READS.search(call[0]) and not CREATES.search(call[0])
            if not ("::open" in call[0] and reads):
                found.add(file.relative_to(ENGINE).as_posix())
    assert found - set(ELSEWHERE) == set()
    assert found == set(ELSEWHERE), "a place that no longer opens files is still listed"


PRECIOUS = b"precious" * 1000
# Two dumps; the links are planted while the first one waits to be flushed.
FLASH = ("flash-io", "--quiet", "--blocks", "1", "--cells", "4", "--files", "checkpoint")
DUMPS = ("--dumps", "2", "--agree-deadline", "5s")


def symbolic(victim: Path, place: Path) -> None:
    place.symlink_to(victim)


def hard(victim: Path, place: Path) -> None:
    place.hardlink_to(victim)


def device(_victim: Path, place: Path) -> None:
    """A node of /dev/null."""
    try:
        os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except OSError as error:
        pytest.skip(f"no device node can be made here: {error}")


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
    need(any_engine, backend)
    victim = tmp_path / "victim"
    victim.write_bytes(PRECIOUS)
    planted = tmp_path / "planted"
    held = with_fault(any_engine, f"sync,in={data},until={planted}")
    words = [*FLASH, *DUMPS, "--backend", backend, "--dir", data]
    job = any_engine.start(words, tmp_path, prefix=held)
    job.wait_until("the first dump", lambda: any(data.glob("*chk_0000*")))
    first = sorted(data.glob("*chk_0000*"))[0].name
    # Open MPI makes NAME.locktest.0 for a moment before it makes NAME.
    later = data / first.partition(".locktest")[0].replace("chk_0000", "chk_0001")
    assert not any(data.glob("*chk_0001*"))
    plant(victim, later)
    planted.touch()
    run = job.finish()
    if plant is hard and backend in ("posix", "sion"):
        # A file of this name may be removed first: the other name keeps the bytes.
        assert run.code in (0, 3), run
    else:
        assert run.code == 3, run
        assert later.name in run.stderr, run
    assert victim.read_bytes() == PRECIOUS


SSCA3 = (
    *("ssca3", "--quiet", "--grid", "2", "--depth", "2", "--sequences", "4", "--detections", "2"),
    *("--templates", "2", "--raw-size", "4KiB", "--image-size", "4KiB", "--template-size", "4KiB"),
)
OVERLAP = (
    "overlap",
    "--quiet",
    "--methods",
    "blocking",
    "--transfer",
    "16KiB",
    "--work-time",
    "1ms",
    # The run ends at the first link. It is long enough for a test process that plants it late.
    "-r",
    "20",
)


@pytest.mark.parametrize("plant", [symbolic, hard, device])
@pytest.mark.parametrize("backend", ["posix", "mpiio"])
@pytest.mark.parametrize("benchmark", ["ssca3", "overlap"])
def test_a_link_in_the_place_of_a_detection_or_of_the_file_of_overlap(
    any_engine: Engine,
    benchmark: str,
    backend: str,
    plant: Callable[[Path, Path], None],
    tmp_path: Path,
    data: Path,
) -> None:
    """Rank 1 leaves each barrier late, so that there is time to plant the link: for ssca3 between
    the images and the detections, for overlap after the creation of its file, which each
    measurement opens again."""
    victim = tmp_path / "victim"
    victim.write_bytes(PRECIOUS)
    words = SSCA3 if benchmark == "ssca3" else OVERLAP
    more = ("--backend", backend, "--dir", data, "--agree-deadline", "5s")
    late = with_fault(any_engine, "barrier,late=0.2,rank=1,from=1")
    job = any_engine.start([*words, *more], tmp_path, prefix=late)
    first = "ssca3*images*" if benchmark == "ssca3" else "overlap_blocking"
    # By its whole name: before this file Open MPI makes overlap_blocking.locktest.0 for a moment.
    job.wait_until("the first file", lambda: any(data.glob(first)))
    later = data / (first if benchmark == "overlap" else "ssca3_4096_detections.000007")
    assert benchmark == "overlap" or not list(data.glob("*detections*"))
    plant(victim, tmp_path / "planted")
    (tmp_path / "planted").replace(later)
    run = job.finish()
    assert run.code == 3, run
    assert later.name in run.stderr, run
    assert victim.read_bytes() == PRECIOUS
    assert plant is not device or later.is_char_device()


TILE = "tile-io --quiet --backend posix --sz-tile-x 16 --sz-tile-y 16 --dir data"
IOR = "ior --quiet --backend posix --block 64KiB --transfer 16KiB --dir data"


@pytest.mark.parametrize(
    ("words", "name", "code"),
    [
        (f"{TILE} --save-ranks ranks.csv", "ranks.csv", 2),
        (f"{TILE} --save-calls calls", "calls-*", 3),
        (f"{IOR} --phases write --keep --count-file count", "count", 3),
        (f"{IOR} -o result.jsonl", "result.jsonl", 2),
        ("classic ior -o data/f -b 64k -t 64k -O summaryFile=summary", "summary", 2),
        # A text that cannot be written does not fail the run.
        ("classic b_eff_io -MB 256 -MT 512 -noshared -N 2 -T 1 -p data -f texts", "texts.prot", 0),
    ],
)
def test_a_link_in_the_place_of_a_text(
    any_engine: Engine, words: str, name: str, code: int, tmp_path: Path, data: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(PRECIOUS)
    if "*" in name:  # a first run shows the name
        assert any_engine.run(words.split(), tmp_path).code == 0
        place = sorted(tmp_path.glob(name))[0]
        place.unlink()
    else:
        place = tmp_path / name
    place.symlink_to(victim)
    run = any_engine.run(words.split(), tmp_path)
    assert run.code == code, run
    assert place.name in run.stderr, run
    assert place.is_symlink()
    assert victim.read_bytes() == PRECIOUS
