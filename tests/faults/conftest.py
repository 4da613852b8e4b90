# SPDX-License-Identifier: BSD-3-Clause
"""Storage and processes that go wrong on purpose, and what every such run has to show."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from engines import Engine, Run

# Short deadlines: MPI libraries hang after some failures, and the run has to end by itself.
QUICK = (
    *("b-eff-io", "--memory-per-rank", "256MiB", "--partitions", "2", "--time", "0s", "--quiet"),
    *("--agree-deadline", "3s", "--watchdog", "15s"),
)


def with_fault(engine: Engine, fault: str) -> list[str]:
    """What is before the program, so that calls go wrong as faulty_calls.c describes: of the
    ranks only, the launcher makes its own calls."""
    shim = engine.build / "tests" / "faults" / "effio_faulty_calls.so"
    assert shim.exists(), f"{shim} is not built"
    return ["env", engine.loaded_before(shim), f"EFFIO_FAULT={fault}"]


@dataclass
class Faulty:
    """Runs b_eff_io, or what is given, with calls that go wrong as faulty_calls.c describes."""

    engine: Engine
    place: Path
    data: Path

    def run(self, fault: str, *words: object) -> Run:
        return self.launch(fault, [*QUICK, "--dir", self.data, *words])

    def launch(self, fault: str, words: Sequence[object]) -> Run:
        log = f"EFFIO_FAULT_LOG={self.place / 'strikes'}"
        prefix = [*with_fault(self.engine, fault), log]
        return self.engine.run(words, self.place, prefix=prefix)

    @property
    def strikes(self) -> list[str]:
        """The calls that went wrong so far: "write rank 1"."""
        log = self.place / "strikes"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line.partition(":")[0] for line in lines]


@pytest.fixture
def faulty(engine: Engine, tmp_path: Path, data: Path) -> Faulty:
    return Faulty(engine, tmp_path, data)


@pytest.fixture
def any_faulty(any_engine: Engine, tmp_path: Path, data: Path) -> Faulty:
    """For what does not depend on what an MPI library makes of the fault."""
    return Faulty(any_engine, tmp_path, data)


def check_failed(run: Run, data: Path) -> None:
    """The run ended by itself with an I/O error, cleaned up, and made no number of it."""
    assert run.code == 3, run
    result = run.result
    assert result.status == "io_error", run
    assert result.end is not None
    assert result.end["errors"], "an end without the error that caused it"
    for m in result.measurements:
        assert (m["rate"]["value"] is None) == (not m["valid"])
        if not m["valid"]:
            assert m["invalid_reason"]
    for figure in result.figures:
        if figure["name"] in ("b_eff_io", "b_eff_io_partition", "write_average"):
            assert figure["metric"]["value"] is None, figure
            assert figure["valid"] is False
    assert list(data.iterdir()) == [], run


@pytest.fixture
def delayed_failure(mount: Callable[..., Path]) -> Path:
    """A file system whose writes succeed and whose sync fails: ext4 in an image that is larger
    than its tmpfs."""
    small = mount("-t", "tmpfs", "-o", "size=24m", "none")
    image = small / "image"
    with image.open("wb") as file:
        file.truncate(256 << 20)
    made = subprocess.run(
        ["mkfs.ext4", "-q", "-O", "^has_journal", str(image)], capture_output=True, check=False
    )
    if made.returncode != 0:
        pytest.skip(f"mkfs.ext4 does not work here: {made.stderr.decode().strip()}")
    return mount("-o", "loop", str(image))
