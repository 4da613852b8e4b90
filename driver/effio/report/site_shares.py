# SPDX-License-Identifier: BSD-3-Clause
"""Rates of a campaign, and of the sides of a comparison, as a percentage of the site's peaks
(`[peaks]` of effio-site.toml)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from effio.config.site import PeakSettings
from effio.judge.compare import Comparison, Line
from effio.judge.samples import Judged, Key, Side, key_of
from effio.report.model import Cell, Column, Quantity, Section, Table
from effio.report.peaks import Peak, SitePeaks
from effio.report.registry import reporter_of
from effio.store.evidence import Place, evidence_of, place_of

TITLE = "Per cent of the site's peaks"
_CAPTION = (
    "Peaks as stated in effio-site.toml: the least of nodes × per node, servers × per server, and"
    " the total. More than 100 % came out of a cache."
)


def peak_of_run(settings: PeakSettings, run: Judged) -> Peak | None:
    """The peak that holds for the number of a run; None if it is not a rate."""
    headline = reporter_of(run.result).headline(run.result)
    if headline.unit != "B/s":
        return None
    in_memory = bool(headline.evidence) and place_of(headline.evidence) is Place.CACHE
    return SitePeaks.of(settings, run.result).limit_of_run(run.result, in_memory)


def share_row(words: Sequence[Cell], rate: float, unit: str, peak: Peak) -> list[Cell]:
    return [*words, Quantity(rate, unit), rate / peak.rate, peak.name, Quantity(peak.rate, unit)]


def campaign_section(rows: Sequence[Sequence[Cell]], names: Sequence[str]) -> Section | None:
    """Rows of `share_row`; `names` are the columns of their words."""
    columns = [*(Column(name) for name in names), Column("mean", "1")]
    columns += [Column("of the peak", "1", "%", 3), Column("peak"), Column("which is", "1")]
    return Section("peaks", TITLE, [Table(columns, rows, TITLE, _CAPTION)]) if rows else None


def _peaks_of(
    settings: PeakSettings, side: Side, across: frozenset[str], wanted: Iterable[Key]
) -> dict[Key, Peak]:
    """The peaks for the measurements of one side, and for the numbers of its runs."""
    missing, found = set(wanted), dict[Key, Peak]()
    for run in side.runs:
        of = SitePeaks.of(settings, run.result)
        for m in run.result.measurements:
            key = key_of(m).without(across)
            if key in missing and (limit := of.limit_of(m)) is not None:
                found[key] = Peak(*limit)
                missing.discard(key)
        for key in [k for k in missing if not k.access and k.benchmark]:
            own = key.benchmark.replace("_", "-") == run.result.benchmark
            nodes = key.axis("nodes")
            if own and nodes in (None, run.result.run.system.nodes):
                moved = evidence_of(run.result.measurements, run.result.run.simulated)
                in_memory = place_of(moved) is Place.CACHE
                if (peak := of.limit_of_run(run.result, in_memory)) is not None:
                    found[key] = peak
                    missing.discard(key)
    return found


def comparison_table(
    settings: PeakSettings, comparison: Comparison, named: Sequence[tuple[Line, str]]
) -> Table | None:
    """The rates of both sides, each as a percentage of its peak. `named`: lines with the words
    for their measurement."""
    some = [
        (line, text) for line, text in named if line.unit == "B/s" and line.first and line.second
    ]
    keys = [line.key for line, _ in some]
    across = comparison.terms.axes_across
    sides = [
        _peaks_of(settings, side, across, keys) for side in (comparison.first, comparison.second)
    ]
    rows: list[list[Cell]] = []
    for line, text in some:
        peaks = [of.get(line.key) for of in sides]
        if not any(peaks) or line.first is None or line.second is None:
            continue
        cells: list[Cell] = [line.key.benchmark, text]
        for rate, peak in zip((line.first.mean, line.second.mean), peaks, strict=True):
            share = rate / peak.rate if peak else None
            cells += [Quantity(rate, line.unit), share, peak.name if peak else ""]
        rows.append(cells)
    columns = [Column("benchmark"), Column("measurement")]
    for side in ("first", "second"):
        columns += [Column(side, "1"), Column(f"{side} of its peak", "1", "%", 3)]
        columns.append(Column(f"peak of the {side}", extra=True))
    return Table(columns, rows, TITLE, _CAPTION) if rows else None
