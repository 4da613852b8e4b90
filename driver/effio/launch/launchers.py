# SPDX-License-Identifier: BSD-3-Clause
"""Launchers: how each starts the ranks of a program. A new one is one class and one line in
LAUNCHERS; its command line is asserted in tests/driver/test_launchers.py."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from effio import text as fmt
from effio.engine import mpi
from effio.engine.mpi import Mpi
from effio.errors import EffioError
from effio.launch.machine import Machine

_DEFAULT_RANKS = 4


@dataclass(frozen=True)
class Ranks:
    """How many processes, and where. `nodes` and `per_node` are None where the launcher decides."""

    total: int
    nodes: int | None = None
    per_node: int | None = None


def ranks_of(total: int | None, nodes: int | None, per_node: int | None) -> Ranks:
    """The ranks from what was given: a total, or both others. Raises if they contradict each
    other."""
    if nodes is not None and per_node is not None:
        if total is not None and total > nodes * per_node:
            raise EffioError(
                f"--ranks {total} does not fit on {nodes} × {fmt.count_of(per_node, 'rank')}"
            )
        return Ranks(total or nodes * per_node, nodes, per_node)
    assert total is not None
    return Ranks(total, nodes, per_node)


def default_ranks(
    total: int | None, nodes: int | None, per_node: int | None, machine: Machine
) -> tuple[Ranks, str]:
    """Fills in what was not given; the second value says how, if something was chosen."""
    if total is not None or (nodes is not None and per_node is not None):
        return ranks_of(total, nodes, per_node), ""
    allocation = machine.allocation
    if allocation is not None:
        where = f"{allocation.system} job {allocation.job_id}"
        if nodes is None and per_node is not None and allocation.nodes:
            return Ranks(allocation.nodes * per_node, allocation.nodes, per_node), ""
        if allocation.ranks:
            return Ranks(allocation.ranks, nodes, per_node), (
                f"{fmt.count_of(allocation.ranks, 'rank')}, as {where}"
            )
    if nodes is not None or per_node is not None:
        raise EffioError(
            "give --ranks, or both --nodes and --ranks-per-node", hint="effio run BENCHMARK --help"
        )
    chosen = min(machine.cores, _DEFAULT_RANKS)
    return Ranks(chosen), (
        f"{fmt.count_of(chosen, 'rank')} (this machine has {fmt.count_of(machine.cores, 'core')}; "
        "--ranks to change)"
    )


@dataclass(frozen=True)
class Launch:
    """A command, the variables that it needs set, and what the user should know about it."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def _on_cores(ranks: Ranks, machine: Machine) -> str:
    cores = fmt.count_of(machine.cores, "core")
    return f"{fmt.count_of(ranks.total, 'rank')} on {cores}"


@dataclass(frozen=True)
class Launcher(ABC):
    """One launcher program. Subclasses say what to put before the program."""

    program: str
    mpi: Mpi | None = None  # None: works with any
    options: tuple[str, ...] = ()  # the user's own, right after ours

    name = ""

    def passing(self, names: Sequence[str]) -> Launcher:
        """The same, handing these variables of its environment to the ranks on every node."""
        return self

    @abstractmethod
    def launch(self, ranks: Ranks, program: Sequence[str], machine: Machine) -> Launch:
        """The whole command that starts `program` on this many ranks."""


class OpenMpi(Launcher):
    """mpiexec of Open MPI 4 and 5."""

    name = "openmpi"

    def passing(self, names: Sequence[str]) -> Launcher:
        # Others pass all variables on; Open MPI to other nodes only its own.
        words = tuple(word for name in names for word in ("-x", name))
        return replace(self, options=(*self.options, *words))

    def launch(self, ranks: Ranks, program: Sequence[str], machine: Machine) -> Launch:
        words = [self.program, "-n", str(ranks.total)]
        environment = {}
        notes = []
        if ranks.per_node is not None:
            words += ["--map-by", f"ppr:{ranks.per_node}:node"]
        if machine.is_root:
            environment = {
                "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            }
            notes.append("running as root: Open MPI is allowed to (OMPI_ALLOW_RUN_AS_ROOT)")
        if machine.allocation is None and ranks.total > machine.cores:
            words.append("--oversubscribe")
            notes.append(
                f"{_on_cores(ranks, machine)}: Open MPI is started so that ranks share them "
                "(--oversubscribe); times include waiting for a core"
            )
        return Launch((*words, *self.options, *program), environment, tuple(notes))


class Hydra(Launcher):
    """mpiexec of MPICH and its relatives."""

    name = "mpich"

    def launch(self, ranks: Ranks, program: Sequence[str], machine: Machine) -> Launch:
        words = [self.program, "-n", str(ranks.total)]
        notes = []
        if ranks.per_node is not None:
            words += ["-ppn", str(ranks.per_node)]
        if machine.allocation is None and ranks.total > machine.cores:
            notes.append(
                f"{_on_cores(ranks, machine)}: MPICH waits by polling, so sharing "
                "cores slows every collective call; use at most one rank per core"
            )
        return Launch((*words, *self.options, *program), {}, tuple(notes))


class IntelMpi(Hydra):
    """mpiexec.hydra of Intel MPI, which takes MPICH's options."""

    name = "intelmpi"


class Srun(Launcher):
    """Slurm's own launcher, inside an allocation. The interface to MPI follows from the engine."""

    name = "srun"

    def launch(self, ranks: Ranks, program: Sequence[str], machine: Machine) -> Launch:
        words = [self.program]
        if self.mpi is not None and not any(o.startswith("--mpi") for o in self.options):
            words.append(f"--mpi={'pmix' if self.mpi.family == mpi.OPEN_MPI else 'pmi2'}")
        if ranks.nodes is not None:
            words += ["--nodes", str(ranks.nodes)]
        words += ["--ntasks", str(ranks.total)]
        if ranks.per_node is not None:
            words += ["--ntasks-per-node", str(ranks.per_node)]
        # One dead rank ends the step; otherwise the others wait for it forever.
        words.append("--kill-on-bad-exit=1")
        return Launch((*words, *self.options, *program))


class Flux(Launcher):
    """flux run, inside a Flux instance."""

    name = "flux"

    def launch(self, ranks: Ranks, program: Sequence[str], machine: Machine) -> Launch:
        words = [self.program, "run", "-n", str(ranks.total)]
        if ranks.nodes is not None:
            words += ["-N", str(ranks.nodes)]
        return Launch((*words, *self.options, *program))


class Pals(Launcher):
    """mpiexec of HPE Cray's PALS."""

    name = "pals"

    def launch(self, ranks: Ranks, program: Sequence[str], machine: Machine) -> Launch:
        words = [self.program, "-n", str(ranks.total)]
        if ranks.per_node is not None:
            words += ["--ppn", str(ranks.per_node)]
        return Launch((*words, *self.options, *program))


class Aprun(Launcher):
    """aprun of Cray's ALPS, inside a job."""

    name = "aprun"

    def launch(self, ranks: Ranks, program: Sequence[str], machine: Machine) -> Launch:
        words = [self.program, "-n", str(ranks.total)]
        if ranks.per_node is not None:
            words += ["-N", str(ranks.per_node)]
        return Launch((*words, *self.options, *program))


class Jsrun(Launcher):
    """jsrun of IBM's Job Step Manager, inside an LSF job. Each rank is a resource set of one core;
    the user's own options come later and win."""

    name = "jsrun"

    def launch(self, ranks: Ranks, program: Sequence[str], machine: Machine) -> Launch:
        words = [self.program, "--nrs", str(ranks.total), "--tasks_per_rs", "1"]
        words += ["--cpu_per_rs", "1"]
        if ranks.per_node is not None:
            words += ["--rs_per_host", str(ranks.per_node)]
        return Launch((*words, *self.options, *program))


LAUNCHERS: tuple[type[Launcher], ...] = (
    OpenMpi,
    Hydra,
    IntelMpi,
    Srun,
    Flux,
    Pals,
    Aprun,
    Jsrun,
)

# Launchers of a batch system or a machine, known by their program's name: they start programs of
# several MPI libraries and do not say of which.
BY_PROGRAM: Mapping[str, type[Launcher]] = {kind.name: kind for kind in (Srun, Flux, Aprun, Jsrun)}

# The launcher that a batch system's jobs have next to mpiexec, where it is on PATH.
OF_BATCH_SYSTEM: Mapping[str, type[Launcher]] = {"flux": Flux, "lsf": Jsrun, "pbs": Aprun}

# The launcher that comes with each MPI.
LAUNCHER_OF_FAMILY: Mapping[str, type[Launcher]] = {
    mpi.OPEN_MPI: OpenMpi,
    mpi.MPICH: Hydra,
    mpi.MVAPICH: Hydra,
    mpi.INTEL: IntelMpi,
    mpi.CRAY: Pals,
}
