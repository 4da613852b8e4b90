# SPDX-License-Identifier: BSD-3-Clause
"""Report of b_eff: bandwidth over message size by pattern family and method, what each method alone
would be worth, the spread of repetitions and random rings, and pairs of ranks.
docs/benchmarks/b_eff.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from effio.report import common, generic
from effio.report.b_eff.curves import family_figure, length_figure, method_figure
from effio.report.b_eff.findings import findings_of
from effio.report.b_eff.pairs import heat_maps
from effio.report.b_eff.tables import pattern_table, result_table
from effio.report.model import Block, Finding, Headline, Section
from effio.store.reader import Result


class BeffReporter:
    def headline(self, result: Result) -> Headline:
        system = result.run.system
        context = common.ranks_on_nodes(system.ranks, system.nodes)
        place = "within one node" if system.nodes == 1 else "within and between nodes"
        headline = generic.headline_of(result.figure("b_eff"), result, context)
        return replace(headline, counts=f"messages of all ranks, {place}")

    def findings(self, result: Result) -> Sequence[Finding]:
        return findings_of(result)

    def sections(self, result: Result) -> Sequence[Section]:
        blocks: list[Block | None] = [
            result_table(result),
            length_figure(result),
            family_figure(result),
            method_figure(result),
        ]
        sections = []
        if kept := [b for b in blocks if b is not None]:
            sections.append(Section("results", "Effective bandwidth", kept))
        if (table := pattern_table(result)) is not None:
            sections.append(Section("patterns", "Patterns", [table]))
        if maps := heat_maps(result):
            sections.append(Section("pairs", "Pairs of ranks", maps))
        return sections


REPORTER = BeffReporter()
