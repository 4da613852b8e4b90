# SPDX-License-Identifier: BSD-3-Clause
"""Whether the directories that a run needs are there, as far as this machine can see."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from effio import text as fmt
from effio.errors import EffioError
from effio.store import answering

if TYPE_CHECKING:
    from effio.launch.job import Request

# Launchers that start processes where they are called, by default.
_LOCAL = ("mpiexec", "mpirun", "orterun", "openmpi", "mpich", "intelmpi")
# The ends of variables that send a launcher to other machines (HYDRA_HOST_FILE,
# I_MPI_HYDRA_HOST_FILE, OMPI_MCA_orte_default_hostfile, ...).
_HOST_LISTS = ("host_file", "hostfile")
# A process of an MPI job takes several times as much.
_LEAST_MEMORY = 4 << 20


def ranks_stay_here(request: Request, environment: Mapping[str, str] = os.environ) -> bool:
    """True only if every rank is sure to run on this machine; then its directories are ours.

    An allocation may be of other nodes, even of one (salloc leaves the shell on the login node),
    and the launcher's own options may name hosts.
    """
    launcher = Path(request.launcher or _LOCAL[0]).name.split(".")[0]
    elsewhere = any(n.casefold().endswith(_HOST_LISTS) and v for n, v in environment.items())
    return (
        request.machine.allocation is None
        and request.ranks.nodes in (None, 1)
        and not request.launcher_options
        and launcher in _LOCAL
        and not elsewhere
    )


def refuse_too_many(request: Request, environment: Mapping[str, str] = os.environ) -> None:
    """A typing error must not start a million processes on one machine."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    needed = request.ranks.total * _LEAST_MEMORY
    if needed > memory and ranks_stay_here(request, environment):
        raise EffioError(
            f"{fmt.count_of(request.ranks.total, 'rank')} on this machine: they need more than"
            f" {fmt.size(needed)} of memory, and it has {fmt.size(memory)}",
            hint="start fewer ranks; --plan --plan-ranks plans for a larger machine",
        )


def refuse_more_nodes(request: Request, environment: Mapping[str, str] = os.environ) -> None:
    """Open MPI answers in its own terms (PPR); MPICH starts all ranks on this machine."""
    ranks = request.ranks
    needed = max(ranks.nodes or 1, -(-ranks.total // (ranks.per_node or ranks.total)))
    here = replace(request, ranks=replace(ranks, nodes=None))
    if needed > 1 and ranks_stay_here(here, environment):
        asked = [(f"--ranks {ranks.total}", True)]
        asked += [(f"--nodes {ranks.nodes}", ranks.nodes is not None)]
        asked += [(f"--ranks-per-node {ranks.per_node}", ranks.per_node is not None)]
        words = " ".join(text for text, given in asked if given)
        raise EffioError(
            f"{words} needs {fmt.count_of(needed, 'node')}, and this machine is one",
            hint="use fewer ranks or more of them per node, a batch job (--batch), or name the"
            " nodes to the launcher (--launcher-option)",
        )


def not_here(plan: object) -> list[str]:
    """What is wrong, here, with the directories that a plan needs; one sentence each."""
    needed = plan.get("needed_directories") if isinstance(plan, dict) else None
    if not isinstance(needed, Sequence) or isinstance(needed, str):
        return []  # an engine of another version
    # JSON cannot carry every name: one that was mended is not looked for.
    faults = [_fault(Path(p)) for p in needed if isinstance(p, str) and "\ufffd" not in p]
    return [f for f in faults if f]


def _fault(path: Path) -> str:
    if silence := answering.fault_of(path):
        return silence
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return f"there is no directory {path}"
    except OSError as error:
        return f"the directory {path} cannot be used: {error.strerror}"
    return "" if stat.S_ISDIR(mode) else f"{path} is not a directory"
