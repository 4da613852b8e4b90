# SPDX-License-Identifier: BSD-3-Clause
"""Which system a result is of: what does not change with the size of a partition."""

from __future__ import annotations

import re
from collections.abc import Sequence

from effio.report import common
from effio.store.reader import Result


def _facts(result: Result) -> tuple[str, ...]:
    """The nodes' name without its number, file system, processor and MPI."""
    system, fs = result.run.system, result.run.file_system
    node = next(iter(system.node_names), "")
    return (
        re.sub(r"[-_]?\d+(\..*)?$", "", node) or node,
        " ".join((fs.type or "", fs.mount_point)).strip() if fs else "",
        str(system.cpu.get("model", "")),
        common.mpi_name(system.mpi.library),
    )


def system_names(results: Sequence[Result]) -> list[str]:
    """The name of each result's system, by the first facts that distinguish all systems: the nodes'
    name alone, where that is enough."""
    facts = [_facts(result) for result in results]
    kinds = list(dict.fromkeys(facts))
    chosen = [0]
    for place in range(1, len(kinds[0]) if kinds else 0):
        groups = {tuple(kind[i] for i in chosen) for kind in kinds}
        finer = {tuple(kind[i] for i in (*chosen, place)) for kind in kinds}
        if len(finer) > len(groups):
            chosen.append(place)
    return [", ".join(fact[i] for i in chosen if fact[i]) or "a system" for fact in facts]
