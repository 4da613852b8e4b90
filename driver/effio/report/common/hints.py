# SPDX-License-Identifier: BSD-3-Clause
"""What was asked of the I/O library, and what it says it does."""

from __future__ import annotations

from collections import defaultdict

from effio import text as fmt
from effio.report.common.names import cell_name, unique
from effio.report.model import Cell, Column, Figure, Section, Table
from effio.store.reader import Result


def hint_section(result: Result) -> Section:
    """What was asked of the I/O library, and what it says it does. Never inferred."""
    seen: dict[tuple[str, str | None, str | None], list[str]] = defaultdict(list)
    for m in result.measurements:
        for key in unique([*m.hints_asked, *m.hints_granted]):
            seen[key, m.hints_asked.get(key), m.hints_granted.get(key)].append(cell_name(m))
    rows: list[list[Cell]] = []
    for (key, asked, granted), cells in sorted(seen.items(), key=lambda item: item[0][0]):
        if asked is None:
            verdict = "the library's own"
        elif granted is None:
            verdict = "not returned: unknown"
        else:
            verdict = "granted" if asked == granted else "CHANGED"
        where = cells[0] if len(cells) == 1 else fmt.count_of(len(cells), "cell")
        rows.append([key, asked, granted, verdict, where])
    environment = result.run.system.mpi.environment
    blocks: list[Table | Figure | str] = []
    if rows:
        blocks.append(
            Table(
                [Column(n) for n in ("hint", "asked", "granted", "verdict", "where")],
                rows,
                "Hints asked and granted",
                "Granted is what MPI_File_get_info returned on the open file.",
            )
        )
    else:
        blocks.append(
            "No hints were asked for, and the library returned none. Open MPI's OMPIO returns only "
            "what it was given; ROMIO and MPICH return all that are in force."
        )
    if environment:
        blocks.append(
            Table(
                [Column("variable"), Column("value")],
                [[k, v] for k, v in sorted(environment.items())],
                "Variables that steer MPI and I/O",
            )
        )
    return Section("hints", "Hints", blocks)
