# SPDX-License-Identifier: BSD-3-Clause
"""Report of b_eff_io: the classic page, how the figure is computed, and what limits it.
docs/benchmarks/b_eff_io.md says how to read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from effio.report import common, generic
from effio.report.b_eff_io.averages import average_table, scaling_figure
from effio.report.b_eff_io.cells import Run
from effio.report.b_eff_io.findings import findings_of, time_splits
from effio.report.b_eff_io.page import classic_page, summary_table
from effio.report.b_eff_io.systems import systems_blocks
from effio.report.model import Block, Finding, Headline, Section
from effio.store.reader import Result


class BeffIoReporter:
    def headline(self, result: Result) -> Headline:
        run = Run(result)
        final = result.figure("b_eff_io")
        fs = result.run.file_system
        context = f"on {run.label(run.best)}" if run.best is not None else ""
        if fs is not None and fs.type:
            context += f", {fs.type}"
        headline = generic.headline_of(final, result, context)
        headline = common.claimed(headline, result, run.best_cells.all, final)
        if final is None:
            return Headline(
                "b_eff_io", None, "B/s", context, False, "NOT VALID: the run is incomplete",
                missing="no partition was measured completely",
            )  # fmt: skip
        return replace(headline, anchor="averages") if run.best is not None else headline

    def findings(self, result: Result) -> Sequence[Finding]:
        run = Run(result)
        if run.best is None:
            return []
        return findings_of(run)

    def sections(self, result: Result) -> Sequence[Section]:
        run = Run(result)
        if run.best is None:
            return []
        page: list[Block] = [classic_page(run)]
        page += [summary_table(run, n) for n in run.order()]
        averages: list[Block] = [average_table(run)]
        if scaling := scaling_figure(run):
            averages.append(scaling)
        sections = [
            Section("page", "Bandwidth by pattern, chunk size and access", page),
            Section("averages", "How the figure is computed", averages),
        ]
        splits = time_splits(run)
        if splits:
            sections.append(Section("where", "Where the time went", [common.time_figure(splits)]))
        timed = run.best_cells.all
        if figure := common.call_time_figure(timed, lambda m: m.pattern):
            sections.append(Section("calls", "Call times", [figure, common.call_time_table(timed)]))
        return sections

    def across(self, results: Sequence[Result]) -> Sequence[Block]:
        return systems_blocks(results)


REPORTER = BeffIoReporter()
