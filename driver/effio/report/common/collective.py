# SPDX-License-Identifier: BSD-3-Clause
"""Whether I/O libraries did together what they were asked to do together."""

from __future__ import annotations

from collections.abc import Sequence

from effio import text as fmt
from effio.report.model import Finding
from effio.store.details import Detail
from effio.store.records import Measurement, Number


class _Library(Detail):
    """What an I/O library reported of its calls."""

    collective_calls: Number = 0.0
    done_collectively: Number | None = None


class _Asked(Detail):
    library: _Library = _Library()


def collective_findings(
    measurements: Sequence[Measurement], anchor: str, place: str
) -> list[Finding]:
    """By library, which `place` of a measurement names: what it says of its collective calls."""
    asked: dict[str, float] = {}
    done: dict[str, float] = {}
    for m in measurements:
        library = _Asked.of(m).library
        if library.done_collectively is None:
            continue
        name = fmt.plain(str(m.where.get(place, "the library")), 40)
        asked[name] = asked.get(name, 0) + library.collective_calls
        done[name] = done.get(name, 0) + library.done_collectively
    return [
        Finding(
            f"Of {count:.0f} collective calls {name} carried out {done[name]:.0f} collectively.",
            anchor,
            "info" if count <= done[name] else "warn",
        )
        for name, count in asked.items()
        if count > 0
    ]
