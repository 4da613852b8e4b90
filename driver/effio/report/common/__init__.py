# SPDX-License-Identifier: BSD-3-Clause
"""What every benchmark's report has: caches, where the time went, call times, the roofline, hints,
errors and the system. Made from members that all measurements share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from effio.report.common.caches import cache_findings, cache_section
from effio.report.common.errors import error_findings, error_section
from effio.report.common.hints import hint_section
from effio.report.common.imported import imported_finding, imported_section
from effio.report.common.precision import precision_findings
from effio.report.common.roofline import roofline
from effio.report.common.spread import Repeated, odd_findings
from effio.report.common.sureness import doubt_findings, sureness_section
from effio.report.common.system import (
    clock_finding,
    crowding_finding,
    sharing_finding,
    system_section,
)
from effio.report.common.times import (
    call_time_figure,
    call_time_table,
    has_parts,
    time_figure,
    time_splits,
)
from effio.report.model import Block, Figure, Finding, Headline, Section
from effio.store.reader import Result


def findings_of(result: Result, headline: Headline, several: Sequence[Repeated]) -> list[Finding]:
    """What comes before the findings of the benchmark's own module."""
    found = [
        *error_findings(result),
        imported_finding(result),
        crowding_finding(result),
        clock_finding(result),
        sharing_finding(result),
        *precision_findings(result),
        *doubt_findings(result),
        *odd_findings(several),
        *cache_findings(result, headline),
    ]
    return [f for f in found if f is not None]


def sections_of(
    result: Result,
    several: Sequence[Repeated],
    own: Sequence[Section],
    ceilings: Mapping[str, float] | None,
) -> list[Section]:
    """What the benchmark's own module has not shown already."""
    reported = {b.id for s in own for b in s.blocks if isinstance(b, Figure)}
    sections = []
    cells = result.measurements
    if "time" not in reported and cells:
        splits = time_splits(cells, lambda m: f"{m.access} {m.pattern}".strip())
        if has_parts(splits):
            sections.append(Section("where", "Where the time went", [time_figure(splits)]))
    if "call-times" not in reported:
        figure = call_time_figure(cells, lambda m: m.pattern or m.benchmark)
        table = call_time_table(cells)
        blocks: list[Block] = [b for b in (figure, table if table.rows else None) if b]
        if blocks:
            sections.append(Section("calls", "Call times", blocks))
    if "roofline" not in reported and (roof := roofline(result, ceilings)):
        sections.append(Section("roof", "What limits: latency or bandwidth", [roof]))
    stored = cells and result.run.file_system is not None
    further = [
        *((cache_section(result), hint_section(result)) if stored else ()),
        sureness_section(result, several),
        error_section(result),
        imported_section(result) or system_section(result),
    ]
    return [*sections, *(section for section in further if section is not None)]
