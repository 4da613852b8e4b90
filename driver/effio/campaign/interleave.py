# SPDX-License-Identifier: BSD-3-Clause
"""`effio run CAMPAIGN --interleave NAME=A,B` runs every point with A and with B, one directly after
the other, in the order A B B A, so that a drift of the machine favors neither."""

from __future__ import annotations

import re
from dataclasses import dataclass

from effio.campaign.file import Campaign, Step
from effio.errors import EffioError
from effio.home import expanded

# Axes that are not options of the workload: `effio compare` needs no --across for them.
_NO_WORKLOAD = frozenset({"dir", "engine", "backend"})
_FORM = re.compile(r"^([A-Za-z][A-Za-z0-9_-]*)=([^,]+),([^,]+)$")


@dataclass(frozen=True)
class Sides:
    """The two values to compare. `name` is an option of the benchmark, `engine`, `dir` or another
    axis of the launch."""

    name: str
    first: str
    second: str

    @property
    def values(self) -> tuple[str, str]:
        return self.first, self.second


def sides_of(text: str) -> Sides:
    found = _FORM.match(text)
    if found is None or found[2] == found[3]:
        raise EffioError(
            f"--interleave: '{text}' is not NAME=A,B with two different values",
            hint="for example backend=posix,mpiio, dir=/old,/new or engine=OLD,NEW",
        )
    name, *values = found.groups()
    if name == "dir":
        values = [str(expanded(value).absolute()) for value in values]
    return Sides(name, *values)


def interleaved(campaign: Campaign, sides: Sides) -> Campaign:
    """The campaign with this axis innermost in each step and an even number of repetitions."""
    return campaign.model_copy(
        update={"step": tuple(_step(campaign, step, sides) for step in campaign.step)}
    )


def _step(campaign: Campaign, step: Step, sides: Sides) -> Step:
    if sides.name in step.sweep:
        raise EffioError(f"--interleave: step '{step.name}' sweeps {sides.name} already")
    wanted = campaign.repetitions_of(step)
    earlier = {
        name: one.model_copy(update={"match": (*one.match, sides.name)})
        for name, one in step.earlier.items()
    }
    return step.model_copy(
        update={
            "sweep": {**step.sweep, sides.name: sides.values},
            "include": tuple(
                {**extra, sides.name: value} for extra in step.include for value in sides.values
            ),
            "repetitions": wanted + wanted % 2,
            "earlier": earlier,
        }
    )


def how_to_compare(study: str, sides: Sides) -> str:
    across = "" if sides.name in _NO_WORKLOAD else f" --across {sides.name}"
    words = " ".join(f"{study}:{sides.name}={value}" for value in sides.values)
    return f"compare with: effio compare {words}{across}"
