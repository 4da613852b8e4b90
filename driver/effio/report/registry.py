# SPDX-License-Identifier: BSD-3-Clause
"""Which module reports which benchmark. A benchmark without one still gets the common sections.

A module has an object `TELLER` (see Teller). To add one: write effio/report/<name>.py, add a line
to TELLERS, and a test tests/driver/test_report_<name>.py (CONTRIBUTING.md, "How to add a report
section").
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from effio.report.model import Block, Finding, Headline, Section
from effio.store.reader import Result

# Benchmark as on the command line, module under effio.report.
TELLERS: Mapping[str, str] = {
    "b-eff": "b_eff",
    "b-eff-io": "b_eff_io",
    "mdtest": "mdtest",
    "overlap": "overlap",
    "flash-io": "flash_io",
    "libraries": "libraries",
    "ior": "ior",
    "rings": "rings",
    "interference": "interference",
    # Benchmarks on the frame for studies.
    "io-bench": "study",
    "partest": "partest",
    "pio": "study",
    "probe": "probe",
    "saturation": "saturation",
    "spiobench": "study",
    "ssca3": "study",
    "tile-io": "study",
}


@runtime_checkable
class Teller(Protocol):
    """Reports the results of one benchmark. Every method has to bear results that are incomplete:
    a killed run may hold the `run` line only."""

    def headline(self, result: Result) -> Headline:
        """The benchmark's one number and its validity."""

    def findings(self, result: Result) -> Sequence[Finding]:
        """What the data say, the most important first; `anchor` is the id of a figure or section.
        Cache and errors are reported by `common`."""

    def sections(self, result: Result) -> Sequence[Section]:
        """The benchmark's own sections, before the common ones."""


@runtime_checkable
class Comparer(Protocol):
    """A teller that has something to say of several results together."""

    def across(self, results: Sequence[Result]) -> Sequence[Block]:
        """For the head of a page about these results, all of the teller's benchmark."""


def teller_of(benchmark: str) -> Teller:
    module = importlib.import_module(f"effio.report.{TELLERS.get(benchmark, 'generic')}")
    teller = module.TELLER
    assert isinstance(teller, Teller)
    return teller
