# SPDX-License-Identifier: BSD-3-Clause
"""From results to a report: everything that is said of a run, and of several runs together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from effio import text as fmt
from effio.config.site import load_site
from effio.report import common, registry
from effio.report.balance import Balance, balance_blocks, balances_of
from effio.report.common.spread import repeated
from effio.report.common.system import mpi_name, ranks_on_nodes, seconds_of
from effio.report.limits import Probe, section_of
from effio.report.model import Block, Figure, Headline, Report, Section
from effio.report.peaks import SitePeaks
from effio.report.together import across, overview
from effio.store import safe_files
from effio.store.folder import RESULT, RunFolder, changed_text, reported_result
from effio.store.known import without_collections
from effio.store.reader import Result

if TYPE_CHECKING:
    from effio.report.card import Card


def load(path: Path) -> tuple[str, Result, list[str]]:
    """Name, result and further remarks of a run folder or a result file."""
    folder = path if path.is_dir() else path.parent
    if path.is_dir() and not (path / RESULT).exists():
        raise RunFolder(path).no_result()
    result = reported_result(path / RESULT if path.is_dir() else path)
    remarks = list(result.remarks)
    name = path.name
    if path.is_dir() or path.name == RESULT:
        name = safe_files.real(folder).name
        changed = RunFolder(folder).changed_since_sealed()
        if changed:
            remarks.append(changed_text(changed))
    return name, result, remarks


def report_of(
    name: str,
    result: Result,
    remarks: Sequence[str] = (),
    ceilings: Mapping[str, float] | None = None,
    probe: Probe | None = None,
) -> Report:
    """The report of one result, with rates as a percentage of a probe's limits if there is one."""
    reporter = registry.reporter_of(result)
    headline = reporter.headline(result)
    several = repeated(result)
    findings = [*common.findings_of(result, headline, several), *reporter.findings(result)]
    sections = list(reporter.sections(result))
    if probe is not None and (shares := section_of(probe, result)):
        sections.append(shares)
    peaks = SitePeaks.of(load_site().peaks, result)
    if of_peaks := peaks.section(result):
        sections.append(of_peaks)
    ceilings = {**peaks.ceilings(result), **(ceilings or {})}
    sections += common.sections_of(result, several, sections, ceilings)
    system = result.run.system
    where = result.run.file_system
    took = seconds_of(result)
    parts = [
        ranks_on_nodes(system.ranks, system.nodes),
        where.title if where and where.type else "",
        mpi_name(system.mpi.library),
        result.run.started,
        f"took {fmt.duration(took)}" if took is not None else "",
    ]
    return Report(
        name=name,
        benchmark=result.benchmark,
        headline=headline,
        findings=findings,
        sections=sections,
        subtitle=" · ".join(p for p in parts if p),
        remarks=tuple(remarks),
    )


def write_card(card: Card, paths: Sequence[Path], target: Path) -> Path:
    """One page: the card, and the report of each of its runs below."""
    from effio.report.html import render, write_page

    reports = [report_of(*load(path)) for path in paths]
    head = Section("card", card.title, [card.table(), *card.notes], card.subtitle)
    return write_page(target, render(reports, [str(p) for p in paths], head=head))


def load_probe(path: Path) -> Probe:
    name, result, _ = load(path)
    return Probe.of(name, result)


def report_of_several(paths: Sequence[Path], balances: Sequence[Balance] = ()) -> Report:
    """What is to be said of several runs together, without their own reports."""
    loaded = [load(path) for path in paths]
    reports = [report_of(*one) for one in loaded]
    blocks = together_blocks(reports, [result for _, result, _ in loaded], balances)
    counts = Headline("runs", len(reports), "1", "together")
    names = f"{fmt.count_of(len(reports), 'run')} together"
    return Report(names, "comparison", counts, [], [Section("together", "Together", blocks)])


def together_blocks(
    reports: Sequence[Report], results: Sequence[Result], balances: Sequence[Balance] = ()
) -> list[Block]:
    """For the head of a page about several runs. `balances`: of further systems."""
    blocks = [*overview(reports, results), *across(results)] if len(results) > 1 else []
    if balances:
        # One plot for all of them.
        blocks = [
            b
            for b in blocks
            if not (isinstance(b, Figure) and b.id in ("balance", "balance-ratio"))
        ]
        rings = [result for result in results if result.benchmark == "rings"]
        blocks += balance_blocks([*balances_of(rings), *balances])
    return blocks


def page_of(
    paths: Sequence[Path],
    ceilings: Mapping[str, float] | None = None,
    probe: Probe | None = None,
    balances: Sequence[Balance] = (),
) -> str:
    """One page about these runs (folders or result files)."""
    from effio.report.html import render  # not for `effio show`

    with without_collections():
        loaded = [load(path) for path in paths]
        reports = [report_of(*one, ceilings=ceilings, probe=probe) for one in loaded]
        results = [result for _, result, _ in loaded]
        together = together_blocks(reports, results, balances)
        return render(reports, [str(p) for p in paths], together)


def write_report(
    paths: Sequence[Path],
    target: Path,
    ceilings: Mapping[str, float] | None = None,
    probe: Probe | None = None,
    balances: Sequence[Balance] = (),
) -> Path:
    """Reads runs (folders or result files) and writes one page about them."""
    from effio.report.html import write_page

    return write_page(target, page_of(paths, ceilings, probe, balances))
