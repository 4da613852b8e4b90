# SPDX-License-Identifier: BSD-3-Clause
"""A handwritten result of every benchmark, as lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from driver import (
    made,
    test_report_arrays,
    test_report_b_eff,
    test_report_interference,
    test_report_ior,
    test_report_mdtest,
    test_report_overlap,
    test_report_probe,
    test_report_rings,
    test_report_saturation,
    test_report_study,
)

CORPUS: Mapping[str, Callable[[], Sequence[made.Line]]] = {
    "b-eff": test_report_b_eff.made_lines,
    "b-eff-io": made.b_eff_io,
    "b-eff-io of two partitions": made.two_partitions,
    "flash-io": test_report_arrays.flash_lines,
    "interference": test_report_interference.made_lines,
    "io-bench": test_report_study.made_lines,
    "ior": test_report_ior.lines,
    "libraries": test_report_arrays.libraries_lines,
    "mdtest": test_report_mdtest.made_lines,
    "overlap": test_report_overlap.made_lines,
    "probe": test_report_probe.made_lines,
    "rings": test_report_rings.made_lines,
    "saturation": test_report_saturation.made_lines,
}
