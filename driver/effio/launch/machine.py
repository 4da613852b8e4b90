# SPDX-License-Identifier: BSD-3-Clause
"""What of this machine matters to a launch: cores, privileges, and the allocation we are in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from effio.errors import environment_error


@dataclass(frozen=True)
class Allocation:
    """A batch job that this process runs in."""

    system: str
    job_id: str
    nodes: int | None = None
    ranks: int | None = None


@dataclass(frozen=True)
class Machine:
    cores: int  # physical cores that this process may use
    is_root: bool
    allocation: Allocation | None


def _usable_cores() -> int:
    """Physical cores in the affinity mask; hardware threads of one core count once."""
    cores = set()
    cpus = os.sched_getaffinity(0)
    for cpu in cpus:
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            package = (topology / "physical_package_id").read_text().strip()
            cores.add((package, (topology / "core_id").read_text().strip()))
        except OSError:
            return len(cpus)
    return max(1, len(cores))


def _number(environment: Mapping[str, str], *names: str) -> int | None:
    for name in names:
        # SLURM_NTASKS_PER_NODE and its like may read "2(x4)"
        text = environment.get(name, "").split("(")[0]
        if text.isdigit():
            return int(text)
    return None


def find_allocation(environment: Mapping[str, str]) -> Allocation | None:
    """Slurm, PBS, LSF or Flux, by the variables that they set for a job."""
    if job := environment.get("SLURM_JOB_ID"):
        return Allocation(
            "slurm",
            job,
            _number(environment, "SLURM_JOB_NUM_NODES", "SLURM_NNODES"),
            _number(environment, "SLURM_NTASKS", "SLURM_NPROCS"),
        )
    if job := environment.get("PBS_JOBID"):
        return Allocation(
            "pbs", job, _number(environment, "PBS_NUM_NODES"), _number(environment, "PBS_NP")
        )
    if job := environment.get("LSB_JOBID"):
        return Allocation("lsf", job, None, _number(environment, "LSB_DJOB_NUMPROC"))
    if environment.get("FLUX_URI") and (job := environment.get("FLUX_ENCLOSING_ID")):
        return Allocation("flux", job)
    return None


def find_machine(environment: Mapping[str, str] = os.environ) -> Machine:
    return Machine(_usable_cores(), os.geteuid() == 0, find_allocation(environment))


def refuse_to_be_launched(environment: Mapping[str, str] = os.environ) -> None:
    """effio starts the engine's ranks itself; `mpiexec -n 4 effio run …` would start four runs."""
    size = _number(environment, "OMPI_COMM_WORLD_SIZE", "PMI_SIZE") or 1
    step = _number(environment, "SLURM_STEP_NUM_TASKS") or 1
    if size > 1 or (step > 1 and environment.get("SLURM_PROCID")):
        raise environment_error(
            f"effio was started {max(size, step)} times by a launcher",
            "start effio once, without mpiexec or srun; it starts the engine's ranks itself",
        )
