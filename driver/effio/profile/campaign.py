# SPDX-License-Identifier: BSD-3-Clause
"""The campaign that imitates a profile, as a file (docs/campaigns.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tomlkit

from effio import text as fmt
from effio.campaign.file import Campaign
from effio.errors import EffioError
from effio.profile.model import Profile
from effio.profile.steps import Imitation

REPETITIONS = 3


def _step(one: Imitation) -> dict[str, Any]:
    table: dict[str, Any] = {"name": one.name, "benchmark": one.benchmark, "tags": [one.tag]}
    if one.ranks:
        table["ranks"] = int(one.ranks) if one.ranks.isdigit() else one.ranks
    # Within the step, `scale` is a part of that of the whole campaign.
    axes = list(one.sizes[-1])
    sweep = {
        axis: [size.get(axis, one.options.get(axis, "")) for size in one.sizes] for axis in axes
    }
    table |= {"values": {"scale": 1}, "options": dict(one.options), "sweep": sweep}
    return table | ({"zip": [axes]} if len(axes) > 1 else {})


def campaign_table(
    profile: Profile, steps: Sequence[Imitation], repetitions: int
) -> dict[str, Any]:
    name = fmt.plain(profile.application, 100)
    return {
        "title": f"Like {name}",
        "purpose": f"what the I/O of {name} costs here: each step is one of its activities",
        "repetitions": repetitions,
        "tags": ["profile"],
        "step": [_step(one) for one in steps],
    }


def campaign_text(
    profile: Profile, steps: Sequence[Imitation], missing: Sequence[str], repetitions: int
) -> str:
    """Raises if nothing is left to imitate."""
    if not steps:
        raise EffioError("there is nothing to imitate: its I/O is next to nothing")
    table = campaign_table(profile, steps, repetitions)
    Campaign.model_validate({"name": "profile", **table})
    rows = tomlkit.aot()
    for step in table.pop("step"):
        rows.append(tomlkit.item(step))
    document = tomlkit.document()
    head = [
        f"Written by effio profile for {fmt.plain(profile.application, 100)}, a run of"
        f" {fmt.count_of(profile.ranks, 'process')}.",
        f"As it was: effio run FILE --ranks {profile.ranks}. With other numbers of ranks, and with",
        "--scale 0.01, each process does what one of the application does, or that part of it.",
        "Each step has two sizes or more: costs of opening, of a call and of a byte are fitted to",
        "them. A very small --scale makes them equal.",
        "",
        "Not imitated:",
        *(f"- {fmt.plain(line, 300)}" for line in missing),
    ]
    for line in head:
        document.add(tomlkit.comment(line) if line else tomlkit.ws("#\n"))
    for key, value in table.items():
        document.add(key, value)
    document.add("step", rows)
    return tomlkit.dumps(document)
