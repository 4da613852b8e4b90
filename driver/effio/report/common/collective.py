# SPDX-License-Identifier: BSD-3-Clause
"""Whether I/O libraries did together what they were asked to do together."""

from __future__ import annotations

from collections.abc import Sequence

from effio import text as fmt
from effio.report.model import Finding
from effio.store.members import members_of
from effio.store.records import Measurement, as_number

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
