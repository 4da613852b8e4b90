# SPDX-License-Identifier: BSD-3-Clause
"""Which module reports which benchmark: effio/report/<name>.py or its package, with an object
`REPORTER` (see Reporter). A benchmark on the engine's frame for studies needs none, and another one
without a module still gets the common sections (docs/develop/add-a-report.md).
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol, runtime_checkable

from effio.report.model import Block, Finding, Headline, Section
from effio.store.reader import Result


@runtime_checkable
class Reporter(Protocol):
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
    """A reporter that has something to say of several results together."""

    def across(self, results: Sequence[Result]) -> Sequence[Block]:
        """Blocks for the head of a page about these results, all of the reporter's benchmark."""


def reporter_of(result: Result) -> Reporter:
    """The name is in a file that any user may have written: no other module is looked for."""
    return _reporter(result.benchmark.replace("-", "_"), "study" in result.run.extra)


@lru_cache(maxsize=64)
def _reporter(name: str, is_study: bool) -> Reporter:
    own = [name] if re.fullmatch("[a-z0-9_]+", name) else []
    for module in (*own, "study" if is_study else "generic"):
        if importlib.util.find_spec(f"effio.report.{module}") is None:
            continue
        reporter = getattr(importlib.import_module(f"effio.report.{module}"), "REPORTER", None)
        if isinstance(reporter, Reporter):
            return reporter
    raise AssertionError("the module for all benchmarks has no reporter")
