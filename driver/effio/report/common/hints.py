# SPDX-License-Identifier: BSD-3-Clause
"""What was asked of the I/O library, and what it says it does: hints, and collective calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from effio import text as fmt
from effio.report.common.names import cell_name, unique
from effio.report.model import Cell, Column, Finding, Section, Table
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Measurement
from effio.store.values import as_number

# Backends that open files through MPI-IO, which is what hints are for.
_WITH_HINTS = frozenset({"mpiio", "hdf5", "pnetcdf", "netcdf4"})


def _verdict(asked: str | None, granted: str | None, echoed: bool | None) -> str:
    if asked is None:
        return "the library's own"
    if granted is None:
        return "not returned: unknown"
    if asked != granted:
        return "CHANGED"
    if echoed is None:
        return "returned: effect unknown"
    return "echoed: effect unknown" if echoed else "effective"


def hint_section(result: Result) -> Section | None:
    """What was asked of the I/O library, and what it says it does. Never inferred; None where there
    is not a library that takes hints."""
    seen: dict[tuple[str, str | None, str | None, bool | None], list[str]] = defaultdict(list)
    for m in result.measurements:
        for key in unique([*m.hints_asked, *m.hints_granted]):
            reported = (key, m.hints_asked.get(key), m.hints_granted.get(key), m.hints_echoed)
            seen[reported].append(cell_name(m))
    rows: list[list[Cell]] = []
    for (key, asked, granted, echoed), cells in sorted(seen.items(), key=lambda item: item[0][0]):
        verdict = _verdict(asked, granted, echoed)
        where = cells[0] if len(cells) == 1 else fmt.count_of(len(cells), "cell")
        rows.append([key, asked, granted, verdict, where])
    if rows:
        table = Table(
            [Column(n) for n in ("hint", "requested", "returned", "verdict", "where")],
            rows,
            "Hints requested and returned",
            "Returned: what the library reports for the open file (MPI_File_get_info). A library"
            " that returns even a key that does not exist echoes: its answer does not show any"
            " effect. One that drops unknown keys returns what is effective.",
        )
        return Section("hints", "Hints", [table])
    backend = result.run.backend
    if backend is None or backend.name not in _WITH_HINTS:
        return None
    none = (
        "No hints were requested, and the library returned none. Open MPI's OMPIO returns only "
        "what it was given; ROMIO and MPICH return all that are effective."
    )
    return Section("hints", "Hints", [none])


# What several I/O libraries report; their members differ.
_COUNTS = ("collective_calls", "done_collectively")


def collective_findings(
    measurements: Sequence[Measurement], anchor: str, place: str
) -> list[Finding]:
    """Findings by library, which `place` of a measurement names: what it says of its collective
    calls."""
    asked: dict[str, float] = {}
    done: dict[str, float] = {}
    for m in measurements:
        library = members_of(m).library
        count, together = (as_number(library.get(key)) for key in _COUNTS)
        if together is None:
            continue
        name = fmt.plain(str(m.where.get(place, "the library")), 40)
        asked[name] = asked.get(name, 0) + (count or 0)
        done[name] = done.get(name, 0) + together
    return [
        Finding(
            f"Of {count:.0f} collective calls {name} carried out {done[name]:.0f} collectively.",
            anchor,
            "info" if count <= done[name] else "warn",
        )
        for name, count in asked.items()
        if count > 0
    ]
