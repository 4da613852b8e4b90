# SPDX-License-Identifier: BSD-3-Clause
"""The campaign that imitates a profile, as a file (docs/campaigns.md)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Imitated:
    """A profile, the steps that imitate it, and what they leave out."""

    profile: Profile
    steps: Sequence[Imitation]
    missing: Sequence[str]


def _joint_table(several: Sequence[Imitated], repetitions: int) -> dict[str, Any]:
    """The steps of all applications, each named after its own, on as many ranks as it has where
    there are that many."""
    names = [fmt.plain(one.profile.application, 100) for one in several]
    steps: list[dict[str, Any]] = []
    taken: set[str] = set()
    for name, one in zip(names, several, strict=True):
        stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.")[:30] or "application"
        for step in map(_step, one.steps):
            word = f"{stem}-{step['name']}"[:60]
            step["name"] = word if word not in taken else f"{word}-{len(taken)}"
            taken.add(step["name"])
            step.setdefault("ranks", f"{{min(ranks, {one.profile.ranks})}}")
            steps.append(step)
    return {
        "title": f"Like {', '.join(names)}",
        "purpose": "what the I/O of these applications costs here: each step is an activity of one",
        "repetitions": repetitions,
        "tags": ["profile"],
        "step": steps,
    }


def campaign_text(several: Sequence[Imitated], repetitions: int) -> str:
    """The campaign of one application, or of several. Raises if nothing is left to imitate."""
    if not any(one.steps for one in several):
        raise EffioError("there is nothing to imitate: its I/O is negligible")
    first = several[0]
    alone = len(several) == 1
    table = (
        campaign_table(first.profile, first.steps, repetitions)
        if alone
        else _joint_table(several, repetitions)
    )
    Campaign.model_validate({"name": "profile", **table})
    rows = tomlkit.aot()
    for step in table.pop("step"):
        rows.append(tomlkit.item(step))
    document = tomlkit.document()
    most = max(one.profile.ranks for one in several)
    head = [
        *(
            f"Written by effio profile for {fmt.plain(one.profile.application, 100)}, a run of"
            f" {fmt.count_of(one.profile.ranks, 'process')}."
            for one in several
        ),
        f"As it was: effio run FILE --ranks {most}. With other numbers of ranks, and with",
        "--scale 0.01, each process does what one of the application does, or that part of it.",
        "Each step has two sizes or more: costs of opening, of a call and of a byte are fitted to",
        "them. A very small --scale makes them equal.",
        "",
        "Not imitated:",
        *(
            f"- {'' if alone else fmt.plain(one.profile.application, 100) + ': '}"
            f"{fmt.plain(line, 300)}"
            for one in several
            for line in one.missing
        ),
    ]
    for line in head:
        document.add(tomlkit.comment(line) if line else tomlkit.ws("#\n"))
    for key, value in table.items():
        document.add(key, value)
    document.add("step", rows)
    return tomlkit.dumps(document)
