# SPDX-License-Identifier: BSD-3-Clause
"""What `effio-mpi describe` prints, typed. Help, completion and `effio describe` come from it."""

from __future__ import annotations

from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field


class _Part(BaseModel):
    """Members that a newer engine adds are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class OptionInfo(_Part):
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    letter: str | None = Field(default=None, pattern=r"^[A-Za-z]$")
    type: str
    list: bool = False
    unit: str | None = None
    default: str = ""
    automatic: bool = False
    min: float | None = None
    max: float | None = None
    choices: tuple[str, ...] = ()
    metavar: str = ""
    group: str = "Options"
    expert: bool = False
    help: str = ""

    @property
    def is_flag(self) -> bool:
        return self.type == "flag"

    @property
    def is_on_off(self) -> bool:
        """Without a value it is on."""
        return not self.list and {*self.choices} == {"on", "off"}


class BenchmarkInfo(_Part):
    name: str
    purpose: str
    examples: str = ""
    options: tuple[OptionInfo, ...]

    @cached_property
    def by_name(self) -> dict[str, OptionInfo]:
        return {option.name: option for option in self.options}


class BackendInfo(_Part):
    """`serves` says for what: "bytes", "names" or "arrays"; `missing` why this build lacks it."""

    name: str
    purpose: str
    serves: str = "bytes"
    missing: str | None = None
    settings: tuple[OptionInfo, ...] = ()


class ExitCodeInfo(_Part):
    code: int
    name: str
    meaning: str


class BuildInfo(_Part):
    program: str = "effio-mpi"
    version: str
    revision: str = "unknown"
    compiler: str = ""
    flags: str = ""
    build_type: str = ""
    mpi_built_with: str = ""


class EngineInfo(_Part):
    engine: BuildInfo
    benchmarks: tuple[BenchmarkInfo, ...]
    backends: tuple[BackendInfo, ...] = ()
    exit_codes: tuple[ExitCodeInfo, ...] = ()

    def benchmark(self, name: str) -> BenchmarkInfo | None:
        return next((b for b in self.benchmarks if b.name == name), None)
