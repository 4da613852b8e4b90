# SPDX-License-Identifier: BSD-3-Clause
"""A Darshan log as data, through PyDarshan in a separate process."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from effio import text as fmt
from effio.errors import EffioError, environment_error, pip_install

MAX_LOG_BYTES = 1 << 30
MAX_SECONDS = 600
ALL_RANKS = -1


@dataclass(frozen=True)
class Record:
    """What one process, or all (`ALL_RANKS`), did with a file in one layer. Counters by the names
    that Darshan gives them, without the module's; 0 of what is not there."""

    file: int
    rank: int
    counters: Mapping[str, float]

    def count(self, name: str) -> int:
        return int(self.counters.get(name, 0))

    def number(self, name: str) -> float:
        return self.counters.get(name, 0.0)


@dataclass(frozen=True)
class Call:
    """One write or read of a trace. Bytes, and seconds since the start of the job."""

    access: str
    offset: int
    length: int
    begin: float
    end: float


@dataclass(frozen=True)
class Traced:
    """The calls of a process to a file."""

    file: int
    rank: int
    calls: Sequence[Call]


@dataclass(frozen=True)
class Log:
    program: str
    ranks: int
    seconds: float
    modules: Sequence[str]
    records: Mapping[str, Sequence[Record]]  # by module
    traces: Sequence[Traced] = ()
    names: Mapping[int, str] = field(default_factory=dict)
    incomplete: Sequence[str] = ()  # modules of which Darshan kept a part
    cut: Sequence[str] = ()  # modules of which we read a part

    def of(self, module: str) -> Sequence[Record]:
        return self.records.get(module, ())


def looks_like_a_log(path: Path) -> bool:
    return path.suffix != ".toml"


def read_log(path: Path) -> Log:
    """Raises where PyDarshan is missing, or the file is not a whole log."""
    if importlib.util.find_spec("darshan") is None:
        raise environment_error(
            "PyDarshan is not installed, which reads Darshan's logs", pip_install("darshan")
        )
    try:
        size = path.stat().st_size
        # Not opened if it is none: a pipe would wait for its writer.
        if not path.is_file():
            raise EffioError(f"{path}: not a file")
        with path.open("rb"):
            pass
    except OSError as error:
        raise EffioError(f"{path}: {error.strerror or error}") from None
    if size > MAX_LOG_BYTES:
        raise EffioError(f"{path}: {fmt.size(size)}; logs of more than 1 GiB are not read")
    reported = _through_pydarshan(path)
    prefixes = {module: reported["prefixes"][module] for module in reported["records"]}
    return Log(
        program=_program(reported["program"]),
        ranks=reported["ranks"],
        seconds=reported["seconds"],
        modules=reported["modules"],
        records={
            module: [_record(row, prefixes[module]) for row in rows]
            for module, rows in reported["records"].items()
        },
        traces=_traces(reported["traces"]),
        names={int(i): name for i, name in reported["names"].items()},
        incomplete=reported["incomplete"],
        cut=reported["cut"],
    )


def _traces(reported: dict[str, list[dict[str, Any]]]) -> list[Traced]:
    """The traces; of a file that two layers trace, that of the higher one."""
    found: list[Traced] = []
    for rows in reported.values():
        above = {one.file for one in found}
        found += [
            Traced(row["id"], row["rank"], [Call(*call) for call in row["calls"]])
            for row in rows
            if row["id"] not in above
        ]
    return found


def _record(row: dict[str, Any], prefix: str) -> Record:
    counters = {k.removeprefix(prefix): v for k, v in row.items() if k not in ("id", "rank")}
    return Record(row["id"], row["rank"], counters)


def _program(command: str) -> str:
    """The name of the program: what comes before it is the machine's, what follows may be
    anything."""
    words = command.split()
    return fmt.plain(Path(words[0]).name, 100) if words else "application"


def _through_pydarshan(path: Path) -> dict[str, Any]:
    # From elsewhere: Python would take modules next to the log for its own.
    search = os.pathsep.join(str(Path(place).absolute()) for place in sys.path if place)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "effio.profile.darshan_child", str(path.absolute())],
            capture_output=True,
            # One thread: the libraries below would start one for each core.
            env={
                **os.environ,
                "OPENBLAS_NUM_THREADS": "1",
                "PYTHONPATH": search,
            },
            cwd="/",
            timeout=MAX_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise EffioError(f"{path}: PyDarshan is not done after {MAX_SECONDS} s") from None
    # The library complains and continues with what it could read.
    said = done.stderr.decode(errors="replace").splitlines()
    complaint = next((line for line in said if line.startswith(("effio: ", "Error:"))), None)
    if done.returncode == 0 and complaint is None:
        reported = json.loads(done.stdout)
        assert isinstance(reported, dict)
        return reported
    if complaint is None and done.returncode > 0:
        why = said[-1] if said else f"ended with {done.returncode}"
        raise environment_error(f"PyDarshan does not work here: {fmt.plain(why, 300)}")
    why = complaint.partition(": ")[2] if complaint else "the library that reads it broke down"
    raise EffioError(f"{path}: not a complete Darshan log: {fmt.plain(why, 300)}")
