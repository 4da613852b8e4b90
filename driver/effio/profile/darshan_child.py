# SPDX-License-Identifier: BSD-3-Clause
"""Reads one Darshan log through PyDarshan and prints it as JSON. A separate process
(`python -m effio.profile.darshan_child LOG`): the library behind PyDarshan is C, and a torn or
foreign file may end the process that reads it."""

from __future__ import annotations

import contextlib
import json
import math
import re
import resource
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

# The names of the requested counters of each module begin with this.
MODULES = {
    "POSIX": "POSIX_",
    "MPI-IO": "MPIIO_",
    "STDIO": "STDIO_",
    "H5F": "H5F_",
    "H5D": "H5D_",
    "PNETCDF_FILE": "PNETCDF_FILE_",
    "PNETCDF_VAR": "PNETCDF_VAR_",
}
# The layer that the application called first.
TRACES = ("DXT_MPIIO", "DXT_POSIX")
MAX_RECORDS = 200_000  # of a module
MAX_CALLS = 1_000_000  # of a trace
MAX_NUMBERS = 20_000_000  # of all modules and traces together
MAX_MEMORY = 4 << 30  # address space beyond what libraries use before the log is opened
# Beyond any machine: such a counter was never counted.
MAX_COUNT = 2**60
MAX_SECONDS = 1e10

_WANTED = re.compile(
    "_(OPENS|READS|WRITES|STATS|F(D)?SYNCS|SYNCS|FLUSHES|MMAPS|FILE_ALIGNMENT|FILE_NOT_ALIGNED|"
    "BYTES_(READ|WRITTEN)|SIZE_.*|ACCESS[1-4]_(ACCESS|COUNT)|"
    "F_(READ|WRITE|META)_TIME|F_(READ|WRITE)_(START|END)_TIMESTAMP)$"
)

Json = dict[str, Any]


class _DamagedError(Exception):
    pass


@contextlib.contextmanager
def _reading(what: str) -> Iterator[None]:
    """Whatever PyDarshan raises in here is a fault of this part of the log: a name that is not
    there, one that is not UTF-8, a number that no array has."""
    try:
        yield
    except (MemoryError, _DamagedError):
        raise
    except Exception as error:
        raise _DamagedError(f"{what} cannot be read") from error


def _wanted(counters: Mapping[str, Any]) -> dict[str, float]:
    """The requested counters, without those that are 0, or negative: not known."""
    reported = {}
    for name, value in counters.items():
        if _WANTED.search(name) is None:
            continue
        number = value.item()
        if not math.isfinite(number) or number > MAX_COUNT:
            raise _DamagedError(f"{name} is {number}")
        if number > 0:
            reported[name] = number
    return reported


class _Room:
    """Limits the numbers that are printed, because the reading process holds all of them."""

    def __init__(self) -> None:
        self._left = MAX_NUMBERS

    def takes(self, numbers: int) -> bool:
        self._left -= numbers
        return self._left >= 0


def _records(backend: Any, log: Any, module: str, room: _Room) -> tuple[list[Json], bool]:
    """And whether there are more than are read."""
    found: list[Json] = []
    while (record := backend.log_get_record(log, module, dtype="dict")) is not None:
        if len(found) == MAX_RECORDS:
            return found, True
        counters = {**_wanted(record["counters"]), **_wanted(record["fcounters"])}
        if not room.takes(2 + len(counters)):
            return found, True
        found.append({"id": int(record["id"]), "rank": int(record["rank"]), **counters})
    return found, False


def _calls(record: Mapping[str, Any]) -> Iterator[list[Any]]:
    for access in ("write", "read"):
        for call in record[f"{access}_segments"]:
            numbers = [call[k] for k in ("offset", "length", "start_time", "end_time")]
            if not all(0 <= n <= MAX_COUNT for n in numbers):
                raise _DamagedError(f"a traced {access} of {numbers[1]} bytes at {numbers[0]}")
            yield [access, *numbers]


def _trace(backend: Any, log: Any, module: str, room: _Room) -> tuple[list[Json], bool]:
    found: list[Json] = []
    left = MAX_CALLS
    while (record := backend.log_get_record(log, module, dtype="dict")) is not None:
        calls = list(_calls(record))
        left -= len(calls)
        if left < 0 or not room.takes(2 + 5 * len(calls)):
            return found, True
        found.append({"id": int(record["id"]), "rank": int(record["rank"]), "calls": calls})
    return found, False


def read(path: str) -> Json:
    import darshan.backend.cffi_backend as backend

    _limit(resource.RLIMIT_AS, _addresses() + MAX_MEMORY)
    room = _Room()
    with _reading("its head"):
        log = backend.log_open(path)
        if log["handle"] == backend.ffi.NULL:
            raise _DamagedError("its head cannot be read")
        job = backend.log_get_job(log)
    if not 0 < job["nprocs"] <= 2**31:
        raise _DamagedError(f"a job of {job['nprocs']} processes")
    if not 0 <= job["run_time"] <= MAX_SECONDS:
        raise _DamagedError(f"a job of {job['run_time']} seconds")
    with _reading("the list of its modules"):
        modules = backend.log_get_modules(log)
    with _reading("the name of its program"):
        program = backend.log_get_exe(log)
    reported: Json = {
        "ranks": int(job["nprocs"]),
        "seconds": float(job["run_time"]),
        "version": job["log_ver"],
        "program": program,
        "modules": sorted(modules),
        "prefixes": MODULES,
        "incomplete": sorted(m for m, about in modules.items() if about["partial_flag"]),
        "cut": [],
        "records": {},
        "traces": {},
    }
    for module in MODULES:
        if module in modules:
            with _reading(f"a record of {module}"):
                reported["records"][module], more = _records(backend, log, module, room)
            reported["cut"] += [module] if more else []
    for trace in TRACES:
        if trace in modules:
            with _reading(f"a record of {trace}"):
                reported["traces"][trace], more = _trace(backend, log, trace, room)
            reported["cut"] += [trace] if more else []
    wanted = {r["id"] for records in reported["records"].values() for r in records}
    with _reading("the names of its files"):
        names = backend.log_get_name_records(log)
    reported["names"] = {str(i): names[i] for i in wanted if i in names}
    backend.log_close(log)
    return reported


def _limit(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _addresses() -> int:
    """Size of this process's address space in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def main() -> int:
    _limit(resource.RLIMIT_CORE, 0)
    try:
        reported = read(sys.argv[1])
    except MemoryError:
        print(f"effio: the log needs more than {MAX_MEMORY >> 30} GiB of memory", file=sys.stderr)
        return 1
    except _DamagedError as error:
        print(f"effio: {error}", file=sys.stderr)
        return 1
    json.dump(reported, sys.stdout, allow_nan=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
