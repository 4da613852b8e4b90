# SPDX-License-Identifier: BSD-3-Clause
"""What storage that compresses or deduplicates makes of the files that benchmarks write."""

from __future__ import annotations

import lzma
import shutil
import subprocess
import zlib
from collections import Counter
from pathlib import Path

import pytest

from engines import Engine
from ior_runs import MIB

SECTOR = 512
# The window holds all of a file, which is more than any file system compares.
LZMA = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 64 * MIB}]

WAYS = {
    "ior": [
        *("ior", "--files=per-process", "--block=3MiB", "--repetitions=2"),
        *("--sync=none", "--file-each-repetition"),
    ],
    "io-bench": ["io-bench", "--size=2MiB", "--block=256KiB"],
    "pio": [
        *("pio", "--temporal=write", "--spatial=sequential,random-strided,flash-io"),
        "--calls=independent",
    ],
}


def contents(where: Path, most: int = 16 * MIB) -> list[bytes]:
    """Reads at most this much of each file: those of pio are large and repeat within a few MiB."""
    found = []
    for path in sorted(where.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                found.append(file.read(most))
    return found


def sectors(files: list[bytes]) -> Counter[bytes]:
    """Full ones, holes apart."""
    found: Counter[bytes] = Counter()
    for data in files:
        pieces = (data[i : i + SECTOR] for i in range(0, len(data) - SECTOR + 1, SECTOR))
        found.update(piece for piece in pieces if piece.strip(b"\0"))
    return found


@pytest.mark.parametrize("way", WAYS)
def test_no_sector_is_written_twice_and_nothing_compresses(
    any_engine: Engine, tmp_path: Path, data: Path, way: str
) -> None:
    run = any_engine.run([*WAYS[way], "--quiet", "--keep", "--dir", data], tmp_path)
    assert run.code == 0, run
    files = contents(data, 3 * MIB)
    found = sectors(files)
    assert found.total() > 1000
    assert found.most_common(1)[0][1] == 1
    together = b"".join(files).replace(bytes(SECTOR), b"")[: 3 * MIB]
    packed = lzma.compress(together, format=lzma.FORMAT_RAW, filters=LZMA)
    assert len(packed) > 0.99 * len(together)
    if (zstd := shutil.which("zstd")) is not None:
        done = subprocess.run([zstd, "-3", "-c"], input=together, capture_output=True, check=True)
        assert len(done.stdout) > 0.99 * len(together)


def test_ratios_of_compression_and_deduplication_are_those_requested(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = ["ior", "--quiet", "--keep", "--dir", data, "--files=per-process", "--sync=none"]
    run = any_engine.run(
        [*words, "--block=6MiB", "--compressible=4", "--duplicate=1.5", "--verify=write,read"],
        tmp_path,
    )
    assert run.code == 0, run
    files = contents(data)
    # floor(k / 1.5) of k = 0...5 has the values 0, 1, 2, 3: four unique MiB of six.
    assert len(sectors(files)) == 2 * 4 * MIB // SECTOR
    assert sectors(files).total() == 2 * 6 * MIB // SECTOR
    # A quarter is random; the rest, one repeated word per sector, takes some bytes, too.
    packed = sum(len(zlib.compress(file, 6)) for file in files)
    assert 3.3 < 12 * MIB / packed < 4


def test_overlap_writes_data_of_a_requested_ratio(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = ["overlap", "--methods=blocking", "--transfer=1MiB", "--repetitions=1"]
    words += ["--work-time=1ms", "--phases=write", "--compressible=4", "--keep", "--quiet"]
    words += ["--dir", str(data)]
    run = any_engine.run(words, tmp_path)
    assert run.code == 0, run  # verified by reading back
    (written,) = contents(data)
    assert len(written) == 2 * MIB
    assert 3.3 < len(written) / len(zlib.compress(written, 6)) < 4
