# SPDX-License-Identifier: BSD-3-Clause
"""Which benchmarks find data that storage changes without an error: a random call of a rank is
faulty, and the run has to report where. As a program it makes the trials, writes the counts
(silent.json) and then the tables of docs/safety.md. Trials that are already counted there are not
repeated. On a busy machine, run `python scripts/short_turns.py` first:

    PYTHONPATH=tests python tests/faults/silent.py FLAVOR BACKEND [TRIES [ROW ...]]
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from engines import ROOT, Engine, Run, find_engines
from faults import fuse_files
from faults.silent_rows import (
    BY_FILE_SYSTEM,
    CONTAINERS,
    DATA_OF_CONTAINER,
    FAULTS,
    MAPPED,
    MESSAGES,
    METADATA,
    ROWS,
    Fault,
)

COUNTS = Path(__file__).with_name("silent.json")
PAGE = ROOT / "docs" / "safety.md"
BEGIN = "<!-- tables of tests/faults/silent.py -->\n"
END = "<!-- end of these tables -->"

# Files in which no benchmark verifies anything: the mark of the run, the trial of a library's calls
# by b_eff_io, and the shared file pointers that an MPI library keeps.
_NOT_DATA = re.compile(r"\.effio-.*|b_eff_io.*_probe|\..*\.shfp\..*")
# A row of the table for tries in these files and in the metadata of HDF5.
ASIDE = ", not in its data"
_OF_FILES = [name for name, fault in FAULTS.items() if fault.call != "message"]
# Draws for each wanted try that falls into data.
_MOST_DRAWS = 5
# Faults in one run, each in its own repetition or with its own error.
_TOGETHER = 10


class _Found(NamedTuple):
    """An error of a result, and the repetition that it is of: -1 in the `end` line."""

    repetition: int
    error: dict[str, Any]


class Strike(NamedTuple):
    """The place of a fault, from the log of faulty_calls.c."""

    path: str
    begin: int
    bytes: int

    def is_named_by(self, error: dict[str, Any], row: str) -> bool:
        """Whether an error of a result names the rank and the place: the file and an offset within
        the faulty bytes, or the end of the file there."""
        if self.path == "message":
            of_these = f"message of {self.bytes} B"
            return error["rank"] is not None and of_these in error["cause"]
        if error["rank"] is None or error["path"] is None:
            return False
        if re.search("hdf5|ncmpi|pnetcdf", Path(self.path).name) or (
            error["cause"].startswith("variable ") and error["offset_bytes"] is None
        ):
            return bool(error["path"] == self.path)  # arrays have no offset
        if Path(self.path).name.startswith("."):
            return True  # the shared file pointer of an MPI library: data go to a wrong place
        at = _end_of_file(error["cause"])
        if at is None:
            at = error["offset_bytes"]
            if at is not None and row in (CONTAINERS, METADATA):
                if error["operation"] == "verify":
                    at += DATA_OF_CONTAINER
                elif self.begin < DATA_OF_CONTAINER:
                    # Of numbers that contradict each other either may be the wrong one.
                    return 0 <= at < DATA_OF_CONTAINER and bool(error["path"] == self.path)
        return (
            error["path"] == self.path
            and at is not None
            and self.begin <= at < self.begin + self.bytes
        )


def _end_of_file(cause: str) -> int | None:
    """The size that a message says the file has: "100 B", "8 KiB", "4.004 KiB (4100 B)"."""
    said = re.search(r"(?:too short:|the file holds) ([\d.]+) (\w+)(?: \((\d+) B\))?", cause)
    if said is None:
        return None
    if said[3]:
        return int(said[3])
    return int(said[1]) * {"B": 1, "KiB": 2**10, "MiB": 2**20}[said[2]]


def _finder(strikes: list[Strike], row: str, errors: list[_Found], used: set[int]) -> int | None:
    """The first repetition, other than those that are used, with an error that names the place;
    where all are of one repetition, the first such error."""
    for number, one in enumerate(errors):
        finder = number if ROWS[row].own_errors else one.repetition
        if finder not in used and any(s.is_named_by(one.error, row) for s in strikes):
            return finder
    return None


class Try(NamedTuple):
    """Whether a fault was found; `aside`: it hit nothing that the benchmark verifies."""

    found: bool
    aside: bool


class Tries(NamedTuple):
    """Found and tried, for each fault: those in data, and the others."""

    data: dict[str, list[int]]
    aside: dict[str, list[int]]


@dataclass(frozen=True)
class Setting:
    """Where the runs are made."""

    engine: Engine
    backend: str
    place: Path
    times: int = 0  # repetitions; 0: as in the row
    # None: one that harmed nothing.
    by_file_system: list[Strike | None] = field(default_factory=list)
    # Where HDF5 keeps arrays in its files, by the name of the file: the rest is metadata.
    arrays: dict[str, list[range]] = field(default_factory=dict)

    @property
    def _log(self) -> Path:
        return self.place / "strikes"

    @property
    def faults(self) -> dict[str, Fault]:
        """The faults that can be made."""
        return {
            name: fault
            for name, fault in FAULTS.items()
            if (fault.call == "message") == (self.backend == MESSAGES)
            and (fault.kind != "swap" or self.backend not in BY_FILE_SYSTEM)
        }

    def _words(self, row: str, data: Path) -> list[str]:
        made = ROWS[row]
        words = [*made.words.split(), made.option, self.backend, "--quiet"]
        if made.repeats:
            words += [made.repeats, str(self.times or made.times)]
        if self.backend == "direct":
            words += made.for_direct.split()
        if self.backend != MESSAGES:
            words += ["--dir", str(data)]
        return [*words, "-o", str(data.with_suffix(".jsonl"))]

    def _run_with_message(self, row: str, fault: str) -> Run:
        data = Path(tempfile.mkdtemp(dir=self.place, prefix="data-"))
        shim = self.engine.build / "tests" / "faults" / "effio_faulty_messages.so"
        assert shim.exists(), f"{shim} is not built"
        self._log.unlink(missing_ok=True)
        found = re.fullmatch(r"message,bit=(\d+),nth=(\d+)", fault)
        nth, byte = (found[2], found[1]) if found else ("0", "0")  # 0: only counted
        prefix = ["env", self.engine.loaded_before(shim), f"EFFIO_FAULT_LOG={self._log}"]
        prefix.append(f"EFFIO_MESSAGE_FAULT={ROWS[row].rank},{nth},{byte}")
        return self.engine.run(self._words(row, data), self.place, prefix=prefix)

    def _run_by_file_system(self, row: str, fault: str, more: tuple[str, ...]) -> Run:
        backing, data = (
            Path(tempfile.mkdtemp(dir=self.place, prefix=prefix)) for prefix in ("files-", "data-")
        )
        call, kind, *rest = fault.split(",")
        nth = next((word[4:].split("+") for word in rest if word.startswith("nth=")), ["1"])
        kind, _, at = kind.partition("=")
        with fuse_files.mounted(backing, data, cached=self.backend in MAPPED) as server:
            server.set(fuse_files.Fault(call, kind, at=int(at or 0), nths=tuple(map(int, nth))))
            run = self.engine.run([*self._words(row, data), *more], self.place)
            self.by_file_system[:] = [
                None if number in server.harmless else Strike(*strike)
                for number, strike in enumerate(server.strikes)
            ]
        return run

    def run(self, row: str, fault: str, *more: str) -> Run:
        """Runs with `fault` as faulty_calls.c takes it, on one rank and the files of data alone."""
        if self.backend == MESSAGES:
            return self._run_with_message(row, fault)
        if self.backend in BY_FILE_SYSTEM:
            return self._run_by_file_system(row, fault, more)
        data = Path(tempfile.mkdtemp(dir=self.place, prefix="data-"))
        shim = self.engine.build / "tests" / "faults" / "effio_faulty_calls.so"
        assert shim.exists(), f"{shim} is not built"
        self._log.unlink(missing_ok=True)
        prefix = [
            *("env", self.engine.loaded_before(shim), f"EFFIO_FAULT_LOG={self._log}"),
            f"EFFIO_FAULT={fault},rank={ROWS[row].rank},in={data}/",
            *self._without_sieving(),
        ]
        return self.engine.run([*self._words(row, data), *more], self.place, prefix=prefix)

    def _without_sieving(self) -> list[str]:
        """Settings of the MPI library with which it reads no bytes that no rank requested."""
        hints = self.place / "hints"
        hints.write_text("romio_ds_read disable\nromio_ds_write disable\n")
        ompio = [f"OMPI_MCA_fbtl_posix_{way}_datasieving=false" for way in ("read", "write")]
        return [f"ROMIO_HINTS={hints}", *ompio]

    def strikes(self) -> list[Strike]:
        return [strike for group in self.faults_made() for strike in group]

    def faults_made(self) -> list[list[Strike]]:
        """The places of each fault: two if writes were swapped, none if it harmed nothing,
        otherwise one."""
        if self.backend in BY_FILE_SYSTEM:
            return [[strike] if strike else [] for strike in self.by_file_system]
        log = self._log
        lines = log.read_text().splitlines() if log.exists() else []
        made: list[list[Strike]] = []
        for line in lines:
            m = re.fullmatch(r"(\w+) .*: (\d+) bytes at (-?\d+) of (.*)", line)
            if m is None:
                continue
            strike = Strike(m[4], int(m[3]), int(m[2]))
            if m[1] == "with":
                made[-1].append(strike)
            else:
                made.append([strike])
        return made

    def calls(self, row: str, call: str) -> int:
        """How many such calls the rank makes where nothing goes wrong; the run has to find nothing:
        the positive control of everything else."""
        run = self.run(row, f"{call},count")
        assert run.code == 0, run
        if self.backend == MESSAGES:
            return int(self._log.read_text().split()[0])
        return len(self.strikes())

    def find_arrays(self, row: str) -> None:
        """Reads from files that a run kept where their arrays are."""
        import h5py  # type: ignore[import-untyped]

        before = set(self.place.iterdir())
        run = self.run(row, "write,count", "--keep")
        assert run.code == 0, run
        for path in (one for new in set(self.place.iterdir()) - before for one in new.glob("*")):
            places: list[range] = []

            def note(_: str, item: object, places: list[range] = places) -> None:
                if isinstance(item, h5py.Dataset) and (at := item.id.get_offset()) is not None:
                    places.append(range(at, at + item.id.get_storage_size()))

            with h5py.File(path, "r") as file:
                file.visititems(note)
            self.arrays[path.name] = places

    def is_aside(self, strike: Strike) -> bool:
        """Whether a fault hit nothing that the benchmark verifies. HDF5 moves the data of one array
        in a call, and reads metadata with what is next to them, which may be data."""
        name = Path(strike.path).name
        if _NOT_DATA.fullmatch(name):
            return True
        places = self.arrays.get(name)
        return places is not None and not any(
            place.start <= strike.begin and strike.begin + strike.bytes <= place.stop
            for place in places
        )

    def found(self, row: str, fault: Fault, calls: int, draw: random.Random) -> bool:
        """Whether a fault in a random call was found: the run ends with data_errors or io_error,
        and one of its errors names the place."""
        return next(self.tried(row, fault, calls, draw)).found

    def tried(self, row: str, fault: Fault, calls: int, draw: random.Random) -> Iterator[Try]:
        """The same, and where it was. How many calls a FUSE file system gets, and how many
        messages ranks send, differs from run to run, so one that does not come is drawn again, and
        one that harmed nothing, too."""
        differs = self.backend in (*BY_FILE_SYSTEM, MESSAGES)
        for _ in range(_MOST_DRAWS if differs else 1):
            nth, byte = draw.randrange(calls) + 1, draw.randrange(1 << 30)
            run = self._with(row, fault, nth, byte)
            if self.strikes() or not differs:
                yield self._alone(row, fault.kind.format(byte=byte), run)
                return

    def _alone(self, row: str, kind: str, run: Run) -> Try:
        aside = all(self.is_aside(strike) for strike in self.strikes())
        found = self._is_found(row, run)
        if not found and not aside and os.environ.get("EFFIO_SILENT_VERBOSE"):
            print(f"missed: {row}: {kind}: {self.strikes()}\n{run}")
            print(json.dumps(_errors_of(run)), flush=True)
        return Try(found, aside)

    def tried_together(
        self, row: str, fault: Fault, calls: int, draw: random.Random
    ) -> Iterator[Try]:
        """Some faults in one run, each in its own repetition: it is found if an error of a
        repetition that names no other fault names its place. Where all are in one repetition, each
        needs an error that names no other fault. One that is not found so is tried alone. A fault
        that ends the run is the last one."""
        byte = draw.randrange(1 << 30)
        kind = fault.kind.format(byte=byte)
        edges = [calls * part // self.times for part in range(self.times + 1)]
        nths = [draw.randrange(a, b) + 1 for a, b in pairwise(edges) if a < b]
        run = self.run(row, f"{fault.call},{kind},nth={'+'.join(map(str, nths))}")
        made, errors = self.faults_made(), _found_in(run)
        used: set[int] = set()
        for nth, strikes in zip(nths, made, strict=False):
            if not strikes:
                continue
            finder = _finder(strikes, row, errors, used)
            if run.code in (1, 3) and finder is not None:
                used.add(finder)
                yield Try(True, all(self.is_aside(one) for one in strikes))
            else:
                again = self.run(row, f"{fault.call},{kind},nth={nth}")
                if self.strikes():
                    yield self._alone(row, kind, again)

    def finds(self, row: str, fault: Fault, nth: int, byte: int) -> bool:
        """The same for one call and one byte in it."""
        return self._is_found(row, self._with(row, fault, nth, byte))

    def _with(self, row: str, fault: Fault, nth: int, byte: int) -> Run:
        return self.run(row, f"{fault.call},{fault.kind.format(byte=byte)},nth={nth}")

    def _is_found(self, row: str, run: Run) -> bool:
        strikes = self.strikes()
        assert strikes, f"the fault did not occur\n{run}"
        named = any(strike.is_named_by(e, row) for strike in strikes for e in _errors_of(run))
        return run.code in (1, 3) and named


def _found_in(run: Run) -> list[_Found]:
    at_end = run.result.end["errors"] if run.result.end else []
    found = [_Found(m["repetition"], e) for m in run.result.measurements for e in m["errors"]]
    return found + [_Found(-1, e) for e in at_end]


def _errors_of(run: Run) -> list[dict[str, Any]]:
    return [found.error for found in _found_in(run)]


def table(counts: dict[str, dict[str, dict[str, list[int]]]]) -> str:
    """The counts for docs/safety.md: a row for each MPI and backend with the sums over faults that
    hit data, then each row of faults that hit other bytes (found/tried)."""
    lines = ["| MPI, backend | rows | faults | found/tried |", "|---|---|---|--:|"]
    for setting, rows in counts.items():
        data = {name: row for name, row in rows.items() if not name.endswith(ASIDE)}
        faults = sum(any(fault in row for row in data.values()) for fault in FAULTS)
        found, tried = (
            sum(pair[i] for row in data.values() for pair in row.values()) for i in (0, 1)
        )
        lines.append(f"| {setting} | {len(data)} | {faults} | {found}/{tried} |")
    lines += [
        "",
        "Faults outside the data that a benchmark verifies:",
        "",
        f"| MPI, backend, row | {' | '.join(_OF_FILES)} |",
        f"|---|{'--:|' * len(_OF_FILES)}",
    ]
    for setting, rows in counts.items():
        for name in (title + ASIDE for title in ROWS if title + ASIDE in rows):
            row = rows[name]
            cells = (f"{row[f][0]}/{row[f][1]}" if f in row else "–" for f in _OF_FILES)
            lines.append(f"| {setting}, {name.removesuffix(ASIDE)} | {' | '.join(cells)} |")
    lines.append("")
    return "\n".join(lines)


def measure(
    setting: Setting,
    row: str,
    tries: int,
    before: Tries | None = None,
    keep: Callable[[Tries], None] = lambda _: None,
) -> Tries:
    """The numbers of found and tried faults, for each fault that can occur; `keep` gets them after
    each fault. Draws continue until `tries` of them fell into data, up to a limit."""
    counts = before or Tries({}, {})
    calls = {
        call: setting.calls(row, call) for call in sorted({f.call for f in setting.faults.values()})
    }
    if setting.backend == "hdf5":
        setting.find_arrays(row)
    for name, fault in setting.faults.items():
        if calls[fault.call] == 0:
            continue
        data = counts.data.setdefault(name, [0, 0])
        aside = [*counts.aside.get(name, [0, 0])]
        fruitless = 0  # draws of which none did harm
        while data[1] < tries and (drawn := data[1] + aside[1] + fruitless) < _MOST_DRAWS * tries:
            draw = random.Random(f"{row}: {name}: {drawn}")
            try_some = setting.tried_together if setting.times > 1 else setting.tried
            found = try_some(row, fault, calls[fault.call], draw)
            for one in islice(found, tries - data[1]):
                which = aside if one.aside else data
                which[0] += one.found
                which[1] += 1
            fruitless += drawn == data[1] + aside[1] + fruitless
        if aside[1] > 0:
            counts.aside[name] = aside
        if data[1] == 0:
            del counts.data[name]
        keep(counts)
    return counts


def main(flavor: str, backend: str, tries: int, *rows: str) -> None:
    every = [name for name, row in ROWS.items() if backend in row.backends]
    where = f"{flavor}, {backend}"
    for name in rows or every:
        lines = json.loads(COUNTS.read_text()).get(where, {})
        with tempfile.TemporaryDirectory() as place:
            together = _TOGETHER if tries > 1 and ROWS[name].repeats else 0
            setting = Setting(find_engines()[flavor], backend, Path(place), together)
            before = Tries(lines.get(name, {}), lines.get(name + ASIDE, {}))
            found = measure(setting, name, tries, before, partial(keep, where, name))
        print(flavor, backend, name, *found, flush=True)


def keep(where: str, row: str, found: Tries) -> None:
    """Writes the counts of a row, and the page; several programs may count at a time."""
    with COUNTS.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        counts = json.load(file)
        lines = counts.setdefault(where, {})
        lines[row] = found.data
        if found.aside:
            lines[row + ASIDE] = found.aside
        file.seek(0)
        file.truncate()
        file.write(json.dumps(counts) + "\n")
        page = PAGE.read_text()
        head, rest = page.split(BEGIN)
        PAGE.write_text(head + BEGIN + "\n" + table(counts) + END + rest.split(END)[1])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3] if len(sys.argv) > 3 else 10), *sys.argv[4:])
