# SPDX-License-Identifier: BSD-3-Clause
"""Blocks: runs that share a night or an allocation, and with it their conditions.

Which files are on which disk, and who else is at work, is the same for all runs of a night. More
runs of the same night do not average that out; other nights do. So runs are grouped by night, and
the values that are compared are those of nights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from effio.judge.samples import Judged

# Runs that start closer together than this belong to one night.
APART = timedelta(hours=6)
# However closely they follow each other, a block is no longer than this.
LONGEST = timedelta(hours=24)
FEWEST = 2
# Nights of a baseline from which control limits can be computed.
FEWEST_OF_BASELINE = 5
_JOBS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID")


def start_of(run: Judged) -> datetime | None:
    text = run.result.run.started
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None
    except ValueError:
        return None


def _job(run: Judged) -> str | None:
    """The batch job, if known."""
    batch = run.result.run.system.batch
    found = next((batch[name] for name in _JOBS if batch.get(name)), None)
    return None if found is None else f"{batch.get('SLURM_CLUSTER_NAME', '')} {found}"


def _nights(runs: Mapping[str, Judged]) -> dict[str, int]:
    found: dict[str, int] = {}
    timed = sorted(
        ((at, name) for name, run in runs.items() if (at := start_of(run)) is not None),
        key=_by_start,
    )
    number, first, last = 0, None, None
    for at, name in timed:
        if first is None or last is None or at - last > APART or at - first > LONGEST:
            number, first = number + 1, at
        last = at
        found[name] = number
    for name, run in runs.items():
        if run.result.run.clock.virtual:
            number += 1
            found[name] = number
    return {name: found.get(name, 0) for name in runs}


def blocks_of(*sides: Sequence[Judged]) -> list[list[int]]:
    """The block number of each run of each side. Runs in virtual time have no night: each is its
    own block. Runs without a start time form one block together.

    A batch job is one block, regardless of its length. Several jobs of one night are separate
    blocks if both sides ran in each of them, because the effect of the night then cancels."""
    runs = {f"{s} {i}": run for s, side in enumerate(sides) for i, run in enumerate(side)}
    night = _nights(runs)
    jobs = {name: _job(run) for name, run in runs.items()}
    first_night: dict[str, int] = {}
    for name, job in jobs.items():
        if job is not None:
            first_night[job] = min(night[name], first_night.get(job, night[name]))
    merged = {
        name: first_night[job] if (job := jobs[name]) is not None else at
        for name, at in night.items()
    }
    block = {name: (at, "") for name, at in merged.items()}
    for at in set(merged.values()):
        some = [name for name in runs if merged[name] == at]
        within = {(jobs[name], name.partition(" ")[0]) for name in some}
        reported = {job for job, _ in within}
        whole = all((job, str(s)) in within for job in reported for s in range(len(sides)))
        if None not in reported and len(reported) > 1 and whole:
            block |= {name: (at, jobs[name] or "") for name in some}
    numbers = {key: i for i, key in enumerate(sorted(set(block.values())))}
    return [[numbers[block[f"{s} {i}"]] for i in range(len(side))] for s, side in enumerate(sides)]


def _by_start(timed: tuple[datetime, str]) -> tuple[float, str]:
    return timed[0].timestamp(), timed[1]


def means_by_block(values: Mapping[str, float], blocks: Mapping[str, int]) -> dict[int, float]:
    """The means of logarithms of rates of runs, by name."""
    groups: dict[int, list[float]] = {}
    for name, value in values.items():
        groups.setdefault(blocks[name], []).append(value)
    return {block: sum(some) / len(some) for block, some in sorted(groups.items())}
