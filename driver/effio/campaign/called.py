# SPDX-License-Identifier: BSD-3-Clause
"""campaign.json, which the folder of a campaign holds (campaign/state.py)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Called(BaseModel):
    """campaign.json: what a campaign was called with, for the next call, and the points that it
    had."""

    model_config = ConfigDict(extra="ignore", defer_build=True)
    schema_name: str = Field(
        default="effio-campaign/1", alias="schema", pattern=r"^effio-campaign/1(\.\d+)?$"
    )
    file: str
    directory: str
    ranks: int
    nodes: int | None = None
    ranks_per_node: int | None = None
    bytes: int | None = None
    seconds: float | None = None
    scale: float = 1.0
    engine: str = ""  # sha256
    points: dict[str, str] = Field(default_factory=dict)
