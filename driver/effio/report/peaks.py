# SPDX-License-Identifier: BSD-3-Clause
"""The peaks of a site (`[peaks]` of effio-site.toml), and a run as a percentage of them."""

from __future__ import annotations

from dataclasses import dataclass

from effio import text as fmt
from effio.config.site import PeakSettings, StoragePeak
from effio.report import common
from effio.report.limits import share_table
from effio.report.model import Section
from effio.store.reader import Result
from effio.store.records import Measurement


@dataclass(frozen=True)
class Peak:
    """`name` says from what it follows: "2 nodes × 1.6 GB/s"."""

    name: str
    rate: float


@dataclass(frozen=True)
class SitePeaks:
    """The peaks that hold for the file system of a result."""

    settings: PeakSettings
    storage: StoragePeak | None

    @classmethod
    def of(cls, settings: PeakSettings, result: Result) -> SitePeaks:
        """The entry with the run's mount point; else the one without any."""
        fs = result.run.file_system
        mount = fs.mount_point if fs is not None else None
        exact = next((s for s in settings.storage if s.mount and s.mount == mount), None)
        return cls(settings, exact or next((s for s in settings.storage if not s.mount), None))

    def of_storage(self, nodes: int) -> Peak | None:
        """min(nodes × per node, servers × per server, total), as far as they are known."""
        s = self.storage
        if s is None:
            return None
        found = []
        if s.per_node is not None:
            text = f"{fmt.count_of(nodes, 'node')} × {fmt.rate(s.per_node)}"
            found.append(Peak(text, nodes * s.per_node))
        if s.per_server is not None and s.servers is not None:
            text = f"{fmt.count_of(s.servers, 'server')} × {fmt.rate(s.per_server)}"
            found.append(Peak(text, s.servers * s.per_server))
        if s.total is not None:
            found.append(Peak("total of the file system", s.total))
        return min(found, key=lambda peak: peak.rate, default=None)

    def _each_node(self, what: str, rate: float | None, nodes: int) -> Peak | None:
        if rate is None:
            return None
        return Peak(f"{what}: {fmt.count_of(nodes, 'node')} × {fmt.rate(rate)}", nodes * rate)

    def limit_of(self, m: Measurement) -> tuple[str, float] | None:
        """Messages against the network; bytes of a cache against memory where that is known, others
        against the storage."""
        if m.rate.unit != "B/s":
            return None
        if common.is_message(m):
            peak = self._each_node("network", self.settings.network_per_node, m.nodes)
        elif m.cache is not None and m.cache.verdict == "cache" and self.settings.memory_per_node:
            peak = self._each_node("memory", self.settings.memory_per_node, m.nodes)
        else:
            peak = self.of_storage(m.nodes)
        return (peak.name, peak.rate) if peak is not None else None

    def limit_of_run(self, result: Result, memory: bool) -> Peak | None:
        """The limit for the number of a whole run, a rate: messages against the network, bytes that
        stayed in `memory` against memory where that is known, others against the storage."""
        nodes = result.run.system.nodes
        if result.run.file_system is None:
            return self._each_node("network", self.settings.network_per_node, nodes)
        if memory and self.settings.memory_per_node:
            return self._each_node("memory", self.settings.memory_per_node, nodes)
        return self.of_storage(nodes)

    def ceilings(self, result: Result) -> dict[str, float]:
        """Ceilings for the roofline."""
        peak = self.of_storage(result.run.system.nodes)
        return {f"site: {peak.name}": peak.rate} if peak is not None else {}

    def section(self, result: Result) -> Section | None:
        """Every rate of the run as a percentage of its peak; none where no peak applies."""
        caption = (
            "Peaks as stated in effio-site.toml: the least of nodes × per node, servers × per"
            " server, and the total. More than 100 % came out of a cache."
        )
        table = share_table(self.limit_of, result, "Per cent of the site's peaks", "peak", caption)
        return Section("peaks", "Per cent of the site's peaks", [table]) if table.rows else None
