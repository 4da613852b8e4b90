# SPDX-License-Identifier: BSD-3-Clause
"""What storage that goes wrong does to each benchmark: the faults and what has to come of them
(safety.toml), and that as the tables of docs/safety.md."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from engines import Engine, Run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = Path(__file__).with_name("safety.toml")
STATUS = {0: "done", 1: "data_errors", 3: "io_error", 5: "hung"}


@dataclass(frozen=True)
class Benchmark:
    """How a benchmark of the table runs: small, by system calls alone, so that it is the engine
    that meets the fault and not an MPI library; all that it can verify is verified."""

    title: str
    words: str
    file: str = ""  # end of the path of the one file that is meant


BENCHMARKS = {
    "b-eff-io": Benchmark(
        "b_eff_io",
        "--backend posix --time 0s --memory-per-rank 1MiB --partitions 2 --verify full",
        "data_i00_002_2.001",
    ),
    "ior": Benchmark(
        "ior",
        "--backend posix --block 64KiB --transfer 16KiB --repetitions 2 --verify inside",
    ),
    "mdtest": Benchmark(
        "mdtest", "--items 8 --things files --write-bytes 64 --verify --iterations 2"
    ),
    "flash-io": Benchmark(
        "flash_io",
        "--backend posix --cells 4 --blocks 2 --files checkpoint --read all --fill index",
    ),
    "libraries": Benchmark(
        "libraries", "--libraries posix --edges 8 --processes 2 --hint-sets none"
    ),
    "tile-io": Benchmark(
        "studies", "--backend posix --sz-tile-x 64 --sz-tile-y 64 --by row --repetitions 2"
    ),
    "partest": Benchmark("containers", "--methods sion --size 64KiB --call 16KiB"),
}


class Seen(NamedTuple):
    """What a run came to."""

    status: str
    code: int
    good: int
    reported: bool  # where it was measured, or at the end
    left: list[str]


@dataclass(frozen=True)
class Cell:
    """A fault in a benchmark."""

    what: str
    benchmark: str
    fault: str
    code: int
    good: int

    @property
    def name(self) -> str:
        return f"{self.benchmark}: {self.fault}"

    def run(self, engine: Engine, place: Path, data: Path) -> Run:
        of_run = BENCHMARKS[self.benchmark]
        shim = engine.build / "tests" / "faults" / "effio_faulty_calls.so"
        assert shim.exists(), f"{shim} is not built"
        file = f",file={of_run.file}" if of_run.file else ""
        prefix = [
            *("env", engine.loaded_before(shim), f"EFFIO_FAULT_LOG={place / 'strikes'}"),
            f"EFFIO_FAULT={self.fault},rank=1,in={data}/{file}",
        ]
        words = [self.benchmark, *of_run.words.split(), "--quiet", "--dir", data]
        limits = ["--agree-deadline", "60s", "--watchdog", "8s" if self.code == 5 else "60s"]
        return engine.run([*words, *limits], place, prefix=prefix)

    def check(self, run: Run, place: Path, data: Path) -> None:
        assert (place / "strikes").exists(), f"the fault never came to pass\n{run}"
        result = run.result
        assert result.end is not None, run
        seen = Seen(
            result.status or "",
            run.code,
            sum(m["valid"] for m in result.measurements),
            result.end["errors"] != [] or any(m["error_count"] for m in result.measurements),
            sorted(path.name for path in data.iterdir()),
        )
        assert seen == Seen(STATUS[self.code], self.code, self.good, self.code != 0, []), run
        for m in result.measurements:
            assert (m["rate"]["value"] is None) == (not m["valid"]), m


def load(kind: str = "fault") -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = tomllib.loads(TABLE.read_text())[kind]
    return entries


def cells() -> list[Cell]:
    return [
        Cell(
            fault["what"],
            benchmark,
            f"{fault['call']},{cell['at']}",
            cell.get("code", fault["code"]),
            cell["good"],
        )
        for fault in load()
        for benchmark, cell in fault["cells"].items()
    ]


def as_markdown() -> str:
    """The first table as docs/safety.md shows it."""
    titles = [b.title for b in BENCHMARKS.values()]
    lines = [
        f"| on one rank | {' | '.join(titles)} | ends | what is kept |",
        f"|---|{'--:|' * len(titles)}---|---|",
    ]
    for fault in load():
        row = []
        for name in BENCHMARKS:
            cell = fault["cells"].get(name)
            row.append("–" if cell is None else str(cell.get("code", fault["code"])))
        lines.append(f"| {fault['what']} | {' | '.join(row)} | {fault['ends']} | {fault['kept']} |")
    return "\n".join(lines) + "\n"


def others_as_markdown() -> str:
    """The second table."""
    lines = [
        "| fault | shown with | exit code | ends | what is kept | what is left |",
        "|---|---|--:|---|---|---|",
    ]
    for one in load("other"):
        members = (one[name] for name in ("what", "runs", "code", "ends", "kept", "left"))
        lines.append(f"| {' | '.join(members)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(as_markdown())
    print(others_as_markdown(), end="")
