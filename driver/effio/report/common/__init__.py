# SPDX-License-Identifier: BSD-3-Clause
"""What every benchmark's report has: caches, where the time went, call times, the roofline, hints,
errors and the system. Made from members that all measurements share; a benchmark's own module uses
it as `common.…`."""

from effio.report.common.caches import cache_findings, cache_section
from effio.report.common.collective import collective_findings
from effio.report.common.counts import ONE_REPETITION, claimed, interval_of
from effio.report.common.course import course, one_way_finding
from effio.report.common.errors import error_findings, error_section, invalid_cells
from effio.report.common.hints import hint_section
from effio.report.common.imported import imported_finding, imported_section
from effio.report.common.keys import keys_of
from effio.report.common.names import (
    ACCESS_STYLES,
    access_style,
    cell_name,
    cell_of,
    context_of,
    grouped,
    is_message,
    lies_at,
    operation_bytes,
    unique,
)
from effio.report.common.precision import precision_findings
from effio.report.common.ratios import Factor, factor_of
from effio.report.common.roofline import roofline
from effio.report.common.spread import Repeated, odd_findings, repeated
from effio.report.common.sureness import doubt_findings, sureness_section
from effio.report.common.system import (
    clock_finding,
    crowding_finding,
    mpi_name,
    ranks_on_nodes,
    seconds_of,
    sharing_finding,
    system_section,
)
from effio.report.common.times import (
    TimeSplit,
    call_time_figure,
    call_time_table,
    has_parts,
    limit_finding,
    part_name,
    time_figure,
    time_splits,
)
from effio.store.evidence import evidence_of, is_reading
from effio.store.option_values import option_text

__all__ = [
    "ACCESS_STYLES",
    "ONE_REPETITION",
    "Factor",
    "Repeated",
    "TimeSplit",
    "access_style",
    "cache_findings",
    "cache_section",
    "call_time_figure",
    "call_time_table",
    "cell_name",
    "cell_of",
    "claimed",
    "clock_finding",
    "collective_findings",
    "context_of",
    "course",
    "crowding_finding",
    "doubt_findings",
    "error_findings",
    "error_section",
    "evidence_of",
    "factor_of",
    "grouped",
    "has_parts",
    "hint_section",
    "imported_finding",
    "imported_section",
    "interval_of",
    "invalid_cells",
    "is_message",
    "is_reading",
    "keys_of",
    "lies_at",
    "limit_finding",
    "mpi_name",
    "odd_findings",
    "one_way_finding",
    "operation_bytes",
    "option_text",
    "part_name",
    "precision_findings",
    "ranks_on_nodes",
    "repeated",
    "roofline",
    "seconds_of",
    "sharing_finding",
    "sureness_section",
    "system_section",
    "time_figure",
    "time_splits",
    "unique",
]
