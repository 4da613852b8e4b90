# SPDX-License-Identifier: BSD-3-Clause
"""The balance of systems: accumulated random-ring bandwidth against HPL, from results of rings and
from output files of the HPC Challenge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from effio.errors import EffioError
from effio.report.common.names import distinguishing, grouped
from effio.report.common.system import mpi_name
from effio.report.model import Axis, Block, Column, Series, table_of
from effio.report.plots import plot
from effio.store.reader import Result
from effio.store.safe_files import read_text
from effio.store.values import as_number
from effio.text import count_of, plain


def _facts(result: Result) -> tuple[str, ...]:
    """The nodes' name without its number, file system, processor and MPI."""
    system, fs = result.run.system, result.run.file_system
    node = next(iter(system.node_names), "")
    return (
        re.sub(r"[-_]?\d+(\..*)?$", "", node) or node,
        " ".join((fs.type or "", fs.mount_point)).strip() if fs else "",
        str(system.cpu.get("model", "")),
        mpi_name(system.mpi.library),
    )


def system_names(results: Sequence[Result]) -> list[str]:
    """The name of each result's system, by the first facts that distinguish all systems: the nodes'
    name alone, where that is enough."""
    facts = [_facts(result) for result in results]
    if not facts:
        return []
    first, *others = zip(*facts, strict=True)
    more, _ = distinguishing(range(len(others)), lambda i: others[i], first)
    chosen = [0, *(i + 1 for i in more)]
    return [", ".join(fact[i] for i in chosen if fact[i]) or "a system" for fact in facts]


_MOST = 1e15
_PAIR = re.compile(r"^\s*([A-Za-z_]+)\s*=\s*([-+0-9.eE]+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Balance:
    """`flops`: HPL, FLOP/s; `rate`: of the random rings of all processes, bytes per second."""

    system: str
    flops: float
    rate: float
    processes: int

    @property
    def ratio(self) -> float:
        return self.rate / self.flops


def balances_of(results: Sequence[Result]) -> list[Balance]:
    """The balances of the results of rings that were given HPL's value (--rmax)."""
    found = []
    for name, result in zip(system_names(results), results, strict=True):
        figure = result.figure("balance")
        flops = as_number(figure.detail.get("rmax_flops_per_second")) if figure else None
        if figure is not None and figure.metric.value and flops:
            rate = figure.metric.value * flops
            found.append(Balance(name, flops, rate, result.run.system.ranks))
    return found


def balance_of_hpcc(name: str, path: Path) -> Balance:
    """The balance of an hpccoutf.txt: its summary has HPL_Tflops, the number of processes, and the
    bandwidth of randomly ordered rings for each process in GB/s."""
    try:
        text = read_text(path)
    except (OSError, ValueError) as error:
        raise EffioError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    # The file may be appended to: the last run counts.
    reported = dict(_PAIR.findall(text))
    values = {}
    for key in ("HPL_Tflops", "CommWorldProcs", "RandomlyOrderedRingBandwidth_GBytes"):
        try:
            values[key] = float(reported[key])
        except (KeyError, ValueError):
            values[key] = 0.0
        if not 0 < values[key] < _MOST:
            raise EffioError(f"{path} has no {key}: it is not the output of a complete HPCC run")
    processes = int(values["CommWorldProcs"])
    each = values["RandomlyOrderedRingBandwidth_GBytes"] * 1e9
    return Balance(plain(name, 60), values["HPL_Tflops"] * 1e12, each * processes, processes)


def balance_blocks(systems: Sequence[Balance]) -> list[Block]:
    """The plot of systems, and their ratios as bars."""
    by_name = grouped(systems, lambda s: s.system)
    points = [
        Series(name, [s.flops for s in some], [s.rate for s in some], i, form="points")
        for i, (name, some) in enumerate(by_name.items())
    ]
    names = [f"{s.system}, {count_of(s.processes, 'process', 'processes')}" for s in systems]
    bars = [Series("bytes per 1000 FLOP", names, [1e3 * s.ratio for s in systems])]
    table = table_of(
        sorted(systems, key=lambda s: -s.ratio),
        [
            (Column("system"), lambda s: s.system),
            (Column("processes", "1"), lambda s: s.processes),
            (Column("HPL [GFLOP/s]", "1"), lambda s: s.flops / 1e9),
            (Column("random rings", "B/s"), lambda s: s.rate),
            (Column("bytes per 1000 FLOP", "1"), lambda s: 1e3 * s.ratio),
        ],
        "Balance of the systems",
    )
    figures = (
        plot(
            "balance",
            "Balance: random rings and HPL",
            "The bandwidth of random rings over all processes against HPL. Systems on one straight"
            " line through the origin are balanced alike; those above have more network for their"
            " arithmetic.",
            "curves",
            Axis("HPL", "FLOP/s", log=True),
            Axis("random rings", "B/s", log=True, switch=True),
            points,
            height=380,
            table=table,
        ),
        plot(
            "balance-ratio",
            "Balance: bytes for each 1000 operations",
            "Bytes of random-ring bandwidth for each 1000 floating-point operations of HPL.",
            "bars",
            Axis("system"),
            Axis("bytes per 1000 FLOP"),
            bars if systems else [],
            table=table,
        ),
    )
    return [figure for figure in figures if figure is not None]
