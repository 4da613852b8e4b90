# SPDX-License-Identifier: BSD-3-Clause
"""What a run is in its campaign; a part of run.json (store/run_record.py), and of the index."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class CampaignPart:
    """For a run that is part of a campaign: which point it is, in which repetition. `access`: the
    one that the step is for, if its lines in the campaign name one ("read"). No model: of the index
    there are thousands, which msgspec makes in a tenth of the time."""

    name: str
    step: str
    point: str
    repetition: int = 0
    axes: dict[str, bool | int | float | str] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    access: str = ""
