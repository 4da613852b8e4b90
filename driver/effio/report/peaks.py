# SPDX-License-Identifier: BSD-3-Clause
"""The peaks of a site (`[peaks]` of effio-site.toml), and rates of a run, a campaign and the
sides of a comparison as a percentage of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from effio import text as fmt
from effio.config.site import PeakSettings, StoragePeak
from effio.judge.samples import Key, Side, key_of
from effio.report.claims import Claim
from effio.report.common.names import is_message
from effio.report.limits import Limit, share_section
from effio.report.model import Cell, Column, Quantity, Section, Table
from effio.store.evidence import Place, evidence_of, place_of
from effio.store.reader import Result
from effio.store.records import Measurement

if TYPE_CHECKING:  # with numpy: not at every start
    from effio.judge.compare import Comparison, Line

TITLE = "Per cent of the site's peaks"
_CAPTION = (
    "Peaks as stated in effio-site.toml: the least of nodes × per node, servers × per server, and"
    " the total. More than 100 % came out of a cache."
)


@dataclass(frozen=True)
class SitePeaks:
    """The peaks that hold for the file system of a result."""

    settings: PeakSettings
    storage: StoragePeak | None

    @classmethod
    def of(cls, settings: PeakSettings, result: Result) -> SitePeaks:
        fs = result.run.file_system
        return cls.at(settings, fs.mount_point if fs is not None else None)

    @classmethod
    def at(cls, settings: PeakSettings, mount: str | None) -> SitePeaks:
        """The entry with this mount point; else the one without any."""
        exact = next((s for s in settings.storage if s.mount and s.mount == mount), None)
        return cls(settings, exact or next((s for s in settings.storage if not s.mount), None))

    def of_storage(self, nodes: int) -> Limit | None:
        """min(nodes × per node, servers × per server, total), as far as they are known."""
        s = self.storage
        if s is None:
            return None
        found = []
        if s.per_node is not None:
            text = f"{fmt.count_of(nodes, 'node')} × {fmt.rate(s.per_node)}"
            found.append(Limit(text, nodes * s.per_node))
        if s.per_server is not None and s.servers is not None:
            text = f"{fmt.count_of(s.servers, 'server')} × {fmt.rate(s.per_server)}"
            found.append(Limit(text, s.servers * s.per_server))
        if s.total is not None:
            found.append(Limit("total of the file system", s.total))
        return min(found, key=lambda peak: peak.rate, default=None)

    def _each_node(self, what: str, rate: float | None, nodes: int) -> Limit | None:
        if rate is None:
            return None
        return Limit(f"{what}: {fmt.count_of(nodes, 'node')} × {fmt.rate(rate)}", nodes * rate)

    def limit(self, nodes: int, messages: bool, memory: bool) -> Limit | None:
        """Messages against the network; bytes that stayed in `memory` against memory where that is
        known, others against the storage."""
        if messages:
            return self._each_node("network", self.settings.network_per_node, nodes)
        if memory and self.settings.memory_per_node:
            return self._each_node("memory", self.settings.memory_per_node, nodes)
        return self.of_storage(nodes)

    def limit_of(self, m: Measurement) -> Limit | None:
        if m.rate.unit != "B/s":
            return None
        memory = m.cache is not None and m.cache.verdict == "cache"
        return self.limit(m.nodes, is_message(m), memory)

    def limit_of_run(self, result: Result, memory: bool) -> Limit | None:
        """The limit for the number of a whole run, a rate."""
        return self.limit(result.run.system.nodes, result.run.file_system is None, memory)

    def ceilings(self, result: Result) -> dict[str, float]:
        """Ceilings for the roofline."""
        peak = self.of_storage(result.run.system.nodes)
        return {f"site: {peak.name}": peak.rate} if peak is not None else {}

    def section(self, result: Result) -> Section | None:
        """Every rate of the run as a percentage of its peak; none where no peak applies."""
        return share_section("peaks", TITLE, self.limit_of, result, "peak", _CAPTION)


def peak_of_run(settings: PeakSettings, claim: Claim) -> Limit | None:
    """The peak that holds for the number of a run; None if it is not a rate."""
    if claim.number.unit != "B/s":
        return None
    of = claim.for_peak
    return SitePeaks.at(settings, of.mount).limit(of.nodes, of.mount is None, of.cached)


def campaign_section(
    points: Sequence[tuple[Sequence[Cell], Quantity, Limit]], names: Sequence[str]
) -> Section | None:
    """Points by their words, mean rate and peak; `names` are the columns of their words."""
    rows = [
        [*words, mean, mean.value / peak.rate, peak.name, Quantity(peak.rate, mean.unit)]
        for words, mean, peak in points
    ]
    columns = [*(Column(name) for name in names), Column("mean", "1")]
    columns += [Column("of the peak", "1", "%", 3), Column("peak"), Column("which is", "1")]
    return Section("peaks", TITLE, [Table(columns, rows, TITLE, _CAPTION)]) if rows else None


def _peaks_of(
    settings: PeakSettings, side: Side, across: frozenset[str], wanted: Iterable[Key]
) -> dict[Key, Limit]:
    """The peaks for the measurements of one side, and for the numbers of its runs."""
    missing, found = set(wanted), dict[Key, Limit]()
    for run in side.runs:
        of = SitePeaks.of(settings, run.result)
        for m in run.result.measurements:
            key = key_of(m).without(across)
            if key in missing and (limit := of.limit_of(m)) is not None:
                found[key] = limit
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
