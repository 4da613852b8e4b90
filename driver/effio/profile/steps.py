# SPDX-License-Identifier: BSD-3-Clause
"""Which benchmark imitates an activity, with which of its options, and what it cannot imitate. The
one place where that is chosen: a benchmark more is a function more in `_CHOICES`.

Sizes are those of a process, whatever the number of ranks of the campaign; `scale` shrinks them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from effio import text as fmt
from effio.campaign.expression import Value
from effio.profile.cost import Work
from effio.profile.model import Activity, Profile

# From here on calls count as made by all processes together.
COLLECTIVE = 0.5
# Fewer names than this a process are not a problem: opening files is part of the other steps.
NAMES_OF_A_RANK = 10
# An activity of less than this part of the bytes is left out, unless it takes as much of the time.
NEGLIGIBLE = 0.001
MOST_DATASETS = 10_000
# A step is measured at its size, and at this part of it.
SMALLER = 4

_BACKENDS = {
    "posix": "posix", "stdio": "posix", "mpi-io": "mpiio", "hdf5": "hdf5", "netcdf": "hdf5",
    "pnetcdf": "pnetcdf", "sionlib": "sion", "adios": "posix", "other": "posix",
}  # fmt: skip
_SUBSTITUTES = {
    "stdio": "STDIO by POSIX calls of the same size, without its buffer",
    "netcdf": "NetCDF-4 by HDF5, which is below it",
    "adios": "ADIOS by POSIX calls",
    "other": "the library by POSIX calls",
}


@dataclass(frozen=True)
class Measures:
    """Which measurements of a step are those of the activity, and what of it they represent: the
    work of all processes each time, and how often. Where calls are not counted their number follows
    from the bytes. `opens_each`: each process opens a file."""

    access: str
    work: Work
    unit: str  # of the rate
    times: int = 1
    counts_calls: bool = False
    opens_each: bool = False
    phase: str = ""  # of mdtest
    member: str = ""  # of detail, that has the rate in place of the measurement's own

    @property
    def amount(self) -> float:
        """Bytes, or operations on names, of a whole run."""
        each = self.work.bytes if self.unit == "B/s" else self.work.operations
        return each * self.times


@dataclass(frozen=True)
class Imitation:
    """A step of the campaign. `ranks`: an expression, where not all take part."""

    name: str
    benchmark: str
    options: Mapping[str, Value]
    measures: tuple[Measures, ...]
    bytes_of_a_rank: int = 0  # at scale 1
    ranks: str = ""
    missing: tuple[str, ...] = ()
    small_transfer: str = ""  # for a size in smaller calls

    @property
    def sizes(self) -> tuple[dict[str, Value], ...]:
        """Points of the sweep: costs are fitted to sizes. Smaller calls separate the cost of a
        call from that of a byte."""
        small: dict[str, Value] = {"scale": f"{{scale / {SMALLER}}}"}
        whole: dict[str, Value] = {"scale": "{scale}"}
        calls = ({**small, "transfer": self.small_transfer},) if self.small_transfer else ()
        return whole, small, *calls

    @property
    def tag(self) -> str:
        """The tag by which its runs are found again, whatever the campaign is called: it changes
        with what is measured."""
        what = json.dumps([self.benchmark, self.ranks, sorted(self.options.items())])
        return f"profile-{hashlib.sha256(what.encode()).hexdigest()[:16]}"

    @property
    def tags(self) -> tuple[str, str]:
        """The tag, and the shorter one of runs by an older effio."""
        return self.tag, self.tag[: len("profile-") + 8]


@dataclass
class _Made:
    """What a step is made of."""

    options: dict[str, Value]
    missing: list[str] = field(default_factory=list)


def _scaled(count: int) -> str:
    """A count as an expression."""
    return f"{{max(1, round(scale * {count}))}}" if count > 1 else "1"


def _sized(count: int, of: int) -> str:
    """A size as an expression, a multiple of the other."""
    return f"{{multiple(scale * {count}, {of})}}" if count > of else f"{of}B"


def _bytes_of_a_rank(profile: Profile, activity: Activity) -> int:
    return max(1, activity.bytes // profile.ranks_of(activity))


def _is_collective(activity: Activity) -> bool:
    return (activity.collective or 0) >= COLLECTIVE and activity.files == "shared"


def _transfer(activity: Activity, own: int, word: int, made: _Made) -> int:
    """Bytes of a call: the application's, or, if it is not known, what is usual."""
    wanted = activity.transfer or min(own, 1 << 20)
    transfer = max(word, min(wanted, own) // word * word)
    if activity.transfer is None:
        made.missing.append(f"the size of its calls is not known; {fmt.exact_size(transfer)} taken")
    elif transfer != wanted:
        made.missing.append(
            f"calls of {fmt.exact_size(transfer)} in place of {fmt.exact_size(wanted)}"
        )
    return transfer


def _is_of_arrays(activity: Activity) -> bool:
    """What FLASH's checkpoint is: many arrays in one file, the data of a process in one piece."""
    return (
        activity.library in ("hdf5", "netcdf", "pnetcdf")
        and activity.variables > 1
        and activity.files == "shared"
        and activity.layout in ("consecutive", "strided")
    )


# Bytes of a block of FLASH's checkpoint: 24 variables of 8-byte numbers, and the tree
# (docs/definitions/flash-io.md).
def _block_bytes(cells: int) -> int:
    return 24 * 8 * cells**3 + 164


_FLASH_VARIABLES = 24
_FLASH_BLOCKS = 64


def _flash_io(profile: Profile, activity: Activity) -> Imitation:
    own = _bytes_of_a_rank(profile, activity)
    # Fine enough for a small part of it.
    cells = next((n for n in (16, 8) if own >= _FLASH_BLOCKS * _block_bytes(n)), 4)
    blocks = max(1, round(own / _block_bytes(cells)))
    backend = "netcdf4" if activity.library == "netcdf" else activity.library
    reading = activity.access == "read"
    made = _Made(
        {
            "backend": backend,
            "files": "checkpoint",
            "cells": cells,
            # Every second and third rank has one and two more (mod 3): one more in the mean.
            "blocks": _scaled(max(1, blocks - 1)),
            "access": "collective" if _is_collective(activity) else "independent",
            "fsync": "off" if activity.flush is False else "on",
        }
    )
    if reading:
        made.options |= {"read": "checkpoint", "drop-cache": True, "reader": "shifted"}
    if activity.variables != _FLASH_VARIABLES:
        made.missing.append(f"{_FLASH_VARIABLES} arrays in place of {activity.variables}")
    made.missing.append("sizes of single arrays: all are equal, as in FLASH's checkpoint")
    found = _imitation(profile, activity, "flash-io", made)
    if reading or activity.flush is False:
        return found
    # The benchmark's own number does not wait for storage.
    waited = replace(found.measures[0], member="synced_bandwidth_bytes_per_second")
    return replace(found, measures=(waited,))


def _tile_io(profile: Profile, activity: Activity) -> Imitation:
    own = _bytes_of_a_rank(profile, activity)
    made = _Made({})
    row = activity.piece or max(1, round(own**0.5))
    if activity.piece is None:
        made.missing.append("the length of a row of its tiles is not known; square tiles taken")
    element = 8 if row % 8 == 0 else 1
    posix = activity.library in ("posix", "stdio")
    made.options |= {
        "backend": "posix" if posix else "mpiio",
        "sz-element": f"{element}B",
        "sz-tile-x": row // element,
        "sz-tile-y": _scaled(max(1, own // row)),
        "calls": "collective" if _is_collective(activity) and not posix else "independent",
        "fsync": "off" if activity.flush is False else "inside",
        "drop-cache": "on",
    }
    if activity.access == "write":
        made.options["phases"] = "write"
    if posix:
        made.options["by"] = "row"
    elif activity.library != "mpi-io":
        made.missing.append(f"tiles through {activity.library}: MPI-IO writes the same bytes")
    made.missing.append("arrays of more than two dimensions: tiles are those of a plane")
    return _imitation(profile, activity, "tile-io", made)


def _is_of_small_pieces(activity: Activity) -> bool:
    """A call moves many pieces: a view of the file with a derived datatype, or what a library makes
    of a part of an array."""
    return (
        activity.layout == "strided"
        and activity.files == "shared"
        and activity.library in ("mpi-io", "hdf5", "netcdf", "pnetcdf")
        and 0 < (activity.piece or 0) < (activity.transfer or 0)
    )


def _pio(profile: Profile, activity: Activity) -> Imitation:
    own = _bytes_of_a_rank(profile, activity)
    piece = min(activity.piece or own, own)
    made = _Made(
        {
            "levels": f"{piece}B*{_scaled(max(1, own // piece))}/{{ranks * {piece}}}B",
            "rank-stride": f"{piece}B",
            "by": "type",
            "calls": "collective" if _is_collective(activity) else "independent",
            "temporal": activity.access,
        }
    )
    if activity.library != "mpi-io":
        made.missing.append(f"pieces through {activity.library}: MPI-IO moves the same bytes")
    if activity.transfer is not None and activity.transfer < own:
        made.missing.append(
            f"calls of {fmt.exact_size(activity.transfer)}: one moves all of a process"
        )
    if own % piece:
        made.missing.append(f"the last {fmt.exact_size(own % piece)} of a process, part of a piece")
    return _imitation(profile, activity, "pio", made)


def _ior(profile: Profile, activity: Activity) -> Imitation:
    own = _bytes_of_a_rank(profile, activity)
    backend = _BACKENDS[activity.library]
    shared = activity.files == "shared"
    made = _Made({"backend": backend})
    if activity.library in _SUBSTITUTES:
        made.missing.append(_SUBSTITUTES[activity.library])
    transfer = _transfer(activity, own, 8 if backend == "hdf5" else 1, made)
    made.options |= {"files": "shared" if shared or backend == "sion" else "per-process"}
    made.options |= {"transfer": f"{transfer}B", **_blocks(activity, own, transfer, made)}
    if _is_collective(activity):
        if backend in ("mpiio", "hdf5", "pnetcdf"):
            made.options["collective"] = True
        else:
            made.missing.append(f"collective calls: the backend {backend} has none")
    alone = 1 - (activity.collective or 0)
    if made.options.get("collective") and alone >= 0.05:
        made.missing.append(f"the {fmt.percent(alone)} of its calls that are independent")
    elif not made.options.get("collective") and 0.05 <= (activity.collective or 0) < COLLECTIVE:
        made.missing.append(f"the {fmt.percent(activity.collective or 0)} of collective calls")
    if activity.flush is False:
        made.options["sync"] = "none"
    if activity.access == "read":
        made.options |= {"read-from": "shifted", "drop-cache": True}
    else:
        made.options["phases"] = "write"
    if activity.variables > 1:
        made.missing.append(f"{activity.variables} arrays in a file: it has one for each segment")
    found = _imitation(profile, activity, "ior", made)
    ranks = profile.ranks_of(activity)
    each = made.options["files"] == "per-process"
    calls = activity.calls or max(1, round(activity.bytes / transfer))
    work = Work(ranks if each else 1, calls, activity.bytes)
    counted = replace(found.measures[0], work=work, counts_calls=True, opens_each=each)
    small = transfer // SMALLER
    fits = small > 0 and transfer % SMALLER == 0 and (backend != "hdf5" or small % 8 == 0)
    return replace(found, measures=(counted,), small_transfer=f"{small}B" if fits else "")


def _blocks(activity: Activity, own: int, transfer: int, made: _Made) -> dict[str, Value]:
    """Layout of the data of a process."""
    whole: dict[str, Value] = {"block": _sized(own // transfer * transfer, transfer)}
    libraries = ("hdf5", "netcdf", "pnetcdf")
    if activity.layout == "random":
        if activity.library in libraries:
            made.missing.append("the random order: calls of the library go forward")
        else:
            whole["order"] = "shuffled"
    elif activity.layout in ("strided", "tiles") and activity.files == "shared":
        piece = max(1, round((activity.piece or transfer) / transfer)) * transfer
        segments = max(1, round(own / piece))
        if activity.library in libraries and segments > MOST_DATASETS:
            made.missing.append(f"{segments} pieces of a process: each would be a dataset")
        elif segments > 1:
            return {"block": f"{piece}B", "segments": _scaled(segments)}
    return whole


def _other_calls(activity: Activity, rest: float) -> str:
    """Counted in calls and in bytes: many small calls move few bytes."""
    which = "calls of other sizes"
    if activity.calls and activity.typical_calls is not None:
        which = f"{activity.calls - activity.typical_calls} of {activity.calls} calls have another"
        return f"{which} size; they move {fmt.percent(rest)} of its bytes"
    return f"{which}, which move {fmt.percent(rest)} of its bytes"


def _imitation(profile: Profile, activity: Activity, benchmark: str, made: _Made) -> Imitation:
    own = _bytes_of_a_rank(profile, activity)
    if activity.transfer_share is not None and activity.transfer_share < 0.95:
        rest = 1 - activity.transfer_share
        made.missing.append(_other_calls(activity, rest))
    if activity.file_sizes is not None and len(set(activity.file_sizes)) > 1:
        least, median, most = map(fmt.size, activity.file_sizes)
        made.missing.append(f"files of {least} to {most} (median {median}): all have the mean size")
    aligned = activity.aligned
    if aligned is not None and aligned < 0.9 and benchmark == "ior" and activity.library != "hdf5":
        made.missing.append(
            f"alignment: {fmt.percent(1 - aligned)} of its calls begin inside a block of the file"
            " system"
        )
    some = profile.ranks_of(activity)
    ranks = "" if some == profile.ranks else f"{{max(1, round(ranks * {some} / {profile.ranks}))}}"
    return Imitation(
        name=activity.name,
        benchmark=benchmark,
        options=made.options,
        measures=(Measures(activity.access, Work(1, 0, activity.bytes), "B/s", activity.times),),
        bytes_of_a_rank=own,
        ranks="1" if some == 1 else ranks,
        missing=tuple(made.missing),
    )


def _mdtest(profile: Profile) -> Imitation | None:
    names = profile.names
    most = max(names.creates, names.opens, names.stats, names.removes)
    if most < NAMES_OF_A_RANK * profile.ranks and (profile.source == "darshan" or not most):
        return None
    counts = {
        "File creation": names.creates,
        "File stat": names.stats,
        "File read": names.opens,
        "File removal": names.removes,
    }
    options: dict[str, Value] = {
        "things": "files",
        "items": _scaled(max(1, round(most / profile.ranks))),
    }
    if names.own_directories:
        options["unique"] = True
    return Imitation(
        name="names",
        benchmark="mdtest",
        options=options,
        measures=tuple(
            Measures("", Work(1, count, 0), "op/s", counts_calls=True, phase=phase)
            for phase, count in counts.items()
            if count
        ),
        missing=("files that were in the directories before",),
    )


# The first that fits.
_CHOICES: tuple[
    tuple[Callable[[Activity], bool], Callable[[Profile, Activity], Imitation]], ...
] = (
    (_is_of_arrays, _flash_io),
    (lambda a: a.layout == "tiles" and a.files == "shared", _tile_io),
    (_is_of_small_pieces, _pio),
    (lambda _: True, _ior),
)


def is_negligible(profile: Profile, activity: Activity) -> bool:
    """Whether an activity in a log is too small to matter; what a user writes into a form always
    matters."""
    if profile.source == "questionnaire":
        return False
    spent = sum(a.seconds or 0 for a in profile.activity)
    part = activity.bytes * activity.times / profile.bytes_of_a_run
    return part < NEGLIGIBLE and (activity.seconds or 0) < 10 * NEGLIGIBLE * max(spent, 1e-9)


def imitate(profile: Profile) -> list[Imitation]:
    """The steps of the campaign, in the order of the profile."""
    found = []
    for activity in profile.activity:
        if not is_negligible(profile, activity):
            found.append(next(make for fits, make in _CHOICES if fits(activity))(profile, activity))
    names = _mdtest(profile)
    if names is not None:
        taken = {one.name for one in found}
        found.append(names if names.name not in taken else _renamed(names, taken))
    return found


def _renamed(one: Imitation, taken: set[str]) -> Imitation:
    number = next(n for n in range(2, 1000) if f"{one.name}-{n}" not in taken)
    return replace(one, name=f"{one.name}-{number}")


def not_imitated(profile: Profile, steps: list[Imitation]) -> list[str]:
    """What is not imitated of the application as a whole."""
    reported = [f"{step.name}: {what}" for step in steps for what in step.missing]
    small = [a.name for a in profile.activity if is_negligible(profile, a)]
    if small:
        some = ", ".join(small[:3]) + (", …" if len(small) > 3 else "")
        reported.append(
            f"{fmt.count_of(len(small), 'activity', 'activities')} of next to nothing: {some}"
        )
    reported += [f"not known: {what}" for what in profile.unknown]
    reported.append(
        "the computation and communication between, and I/O that continues at the same time"
    )
    return reported
