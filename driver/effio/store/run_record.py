# SPDX-License-Identifier: BSD-3-Clause
"""run.json: how the driver started a run, and how it saw it end."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from effio.store.campaign_part import CampaignPart as CampaignPart
from effio.store.masking import Masked, Words, masked_words

RECORD_SCHEMA = "effio-run/1"


class Outcome(BaseModel):
    """How a run ended, as the driver saw it."""

    model_config = ConfigDict(extra="ignore", defer_build=True)
    status: str  # of the table of exit codes, or "died"
    exit_code: int
    reason: Masked = ""
    launcher_code: int | None = None
    finished: str = ""
    seconds: float = 0.0


class NetworkPart(BaseModel):
    """Bytes that the network interfaces of the driver's machine moved during the run, if all ranks
    ran on it."""

    model_config = ConfigDict(extra="ignore", defer_build=True)
    received_bytes: int
    sent_bytes: int


class AbilityPart(BaseModel):
    """One thing that a file system can (true), cannot (false), or may do (null)."""

    model_config = ConfigDict(extra="ignore", defer_build=True)
    name: str
    can: bool | None = None
    found: str = ""


class RunRecord(BaseModel):
    """run.json."""

    model_config = ConfigDict(extra="ignore", defer_build=True)
    schema_name: str = Field(
        default=RECORD_SCHEMA, alias="schema", pattern=r"^effio-run/1(\.\d+)?$"
    )
    id: str
    created: str
    benchmark: str
    arguments: Words  # for the engine, as requested
    directory: str  # where effio was called; relative paths count from there
    command: Words  # as started
    environment: dict[str, str] = Field(default_factory=dict)  # set for it by effio
    launcher: str = ""
    engine: dict[str, Any] = Field(default_factory=dict)
    driver: dict[str, Any] = Field(default_factory=dict)
    process: dict[str, Any] = Field(default_factory=dict)  # host, pid and start time of the driver
    # Inode and birth time of the run's folder: of one that was restored or copied they differ.
    folder: dict[str, int] = Field(default_factory=dict)
    # Where the data go by the plan, if other nodes take part: what a run leaves before it has a
    # manifest is found there.
    data_directories: list[str] = Field(default_factory=list, max_length=10_000)
    batch: dict[str, Any] | None = None
    campaign: CampaignPart | None = None
    network: NetworkPart | None = None
    # On which servers its files are, by their names, where the file system says so (placer.py).
    servers_of_files: dict[str, list[str]] = Field(default_factory=dict)
    # What the file system of the run's data can do, where it is one of servers (abilities.py).
    abilities: list[AbilityPart] = Field(default_factory=list)
    outcome: Outcome | None = None

    @field_validator("driver")
    @classmethod
    def _without_secrets(cls, driver: dict[str, Any]) -> dict[str, Any]:
        typed = driver.get("command")
        if isinstance(typed, list) and all(isinstance(word, str) for word in typed):
            return {**driver, "command": masked_words(typed)}
        return driver
