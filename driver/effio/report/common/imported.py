# SPDX-License-Identifier: BSD-3-Clause
"""Runs that `effio import` made from the output of another program: what is said of them instead of
the system, of which their file says little."""

from __future__ import annotations

from effio import text as fmt
from effio.report.model import Column, Finding, Section, Table
from effio.store.members import Members, Readers
from effio.store.reader import Result

# What the driver's own import writes to the run line.
_READERS = Readers(
    {
        **{
            name: {"name": name, "type": "string"}
            for name in ("program", "format", "file", "sha256", "path", "time")
        },
        "notes": {"name": "notes", "type": "string", "shape": "list"},
    }
)


def _of(result: Result) -> Members | None:
    reported = result.run.extra.get("imported")
    return Members(reported, _READERS) if isinstance(reported, dict) else None


def imported_finding(result: Result) -> Finding | None:
    """That another program measured this, and what its file leaves out."""
    reported = _of(result)
    if reported is None:
        return None
    program = fmt.plain(reported.program, 80)
    sentences = [
        f"Imported from {program}: effio did not measure this and does not judge it",
        "where the bytes were is not known",
        *(fmt.plain(note, 200) for note in reported.notes),
    ]
    text = ". ".join(sentence[:1].upper() + sentence[1:] for sentence in sentences)
    return Finding(f"{text}.", "imported", "info")


def imported_section(result: Result) -> Section | None:
    """Where the numbers come from."""
    reported = _of(result)
    if reported is None:
        return None
    rows = [
        ("program", reported.program),
        ("format", reported.format),
        ("file", reported.file),
        ("SHA-256 of the file", reported.sha256),
        ("started", f"{result.run.started} ({reported.time})"),
        ("command", " ".join(result.run.command)),
        ("path", reported.path),
        ("ranks", str(result.run.system.ranks)),
        ("nodes", str(result.run.system.nodes)),
    ]
    table = Table(
        [Column("what"), Column("value")],
        [[name, fmt.plain(value, 1000)] for name, value in rows if value],
        "Imported",
    )
    return Section("imported", "Where the numbers come from", [table])
