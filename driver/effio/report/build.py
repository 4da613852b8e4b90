# SPDX-License-Identifier: BSD-3-Clause
"""From results to a report: everything that is said of a run, and of several runs together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from effio import text as fmt
from effio.config.site import load_site
from effio.report import common, registry
from effio.report.balance import Balance, balance_blocks, balances_of
from effio.report.card import Card
from effio.report.html import render, write_page
from effio.report.limits import Probe, section_of
from effio.report.model import Block, Figure, Finding, Headline, Report, Section
from effio.report.peaks import SitePeaks
from effio.report.together import across, overview
from effio.store import safe_files
from effio.store.folder import RESULT, RunFolder, changed_text, reported_result
from effio.store.reader import Result, without_collections


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
    several = common.repeated(result)
    found: list[Finding | None] = [
        *common.error_findings(result),
        common.imported_finding(result),
        common.crowding_finding(result),
        common.clock_finding(result),
        common.sharing_finding(result),
        *common.precision_findings(result),
        *common.doubt_findings(result),
        *common.odd_findings(several),
        *common.cache_findings(result, headline),
        *reporter.findings(result),
    ]
    findings = [f for f in found if f is not None]
    sections = list(reporter.sections(result))
    if probe is not None and (shares := section_of(probe, result)):
        sections.append(shares)
    peaks = SitePeaks.of(load_site().peaks, result)
    if of_peaks := peaks.section(result):
        sections.append(of_peaks)
    ceilings = {**peaks.ceilings(result), **(ceilings or {})}
    sections += _common_sections(result, several, sections, ceilings)
    system = result.run.system
    where = result.run.file_system
    took = common.seconds_of(result)
    parts = [
        common.ranks_on_nodes(system.ranks, system.nodes),
        where.title if where and where.type else "",
        common.mpi_name(system.mpi.library),
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


def _common_sections(
    result: Result,
    several: Sequence[common.Repeated],
    own: Sequence[Section],
    ceilings: Mapping[str, float] | None,
) -> list[Section]:
    """What the benchmark's own module has not shown already."""
    reported = {b.id for s in own for b in s.blocks if isinstance(b, Figure)}
    sections = []
    cells = result.measurements
    if "time" not in reported and cells:
        splits = common.time_splits(cells, lambda m: f"{m.access} {m.pattern}".strip())
        if common.has_parts(splits):
            sections.append(Section("where", "Where the time went", [common.time_figure(splits)]))
    if "call-times" not in reported:
        figure = common.call_time_figure(cells, lambda m: m.pattern or m.benchmark)
        table = common.call_time_table(cells)
        blocks: list[Block] = [b for b in (figure, table if table.rows else None) if b]
        if blocks:
            sections.append(Section("calls", "Call times", blocks))
    if "roofline" not in reported and (roof := common.roofline(result, ceilings)):
        sections.append(Section("roof", "What limits: latency or bandwidth", [roof]))
    if cells and result.run.file_system is not None:
        if caches := common.cache_section(result):
            sections.append(caches)
        if hints := common.hint_section(result):
            sections.append(hints)
    if sureness := common.sureness_section(result, several):
        sections.append(sureness)
    if errors := common.error_section(result):
        sections.append(errors)
    sections.append(common.imported_section(result) or common.system_section(result))
    return sections


def write_card(card: Card, paths: Sequence[Path], target: Path) -> Path:
    """One page: the card, and the report of each of its runs below."""
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
    return write_page(target, page_of(paths, ceilings, probe, balances))
