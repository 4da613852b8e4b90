# SPDX-License-Identifier: BSD-3-Clause
"""What a run can be set up with, and the rows of a benchmark that can have separate hints."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from effio import text as fmt

Pairs = tuple[tuple[str, str], ...]


class Group(NamedTuple):
    """Measurements that one rule of a hints file reaches (`all`: every one)."""

    access: str = "all"
    pattern: str = "all"
    chunk: str = "all"  # bytes

    @property
    def title(self) -> str:
        words = [word for word in (self.pattern, self.access) if word != "all"]
        if self.chunk != "all":
            words.append(fmt.exact_size(int(self.chunk)))
        return " ".join(words) or "all"

    def rule(self, key: str, value: str) -> str:
        """A line for the engine's --hints."""
        return f"all {self.access} {self.pattern} {self.chunk} {key} {value}"


EVERYWHERE = Group()


@dataclass(frozen=True)
class Setting:
    """What a candidate changes; nothing: the default. Hints can differ from group to group, options
    of the engine and variables of the environment hold for the whole job."""

    hints: Pairs = ()
    options: Pairs = ()
    environment: Pairs = ()

    @property
    def job(self) -> Setting:
        return replace(self, hints=())

    @property
    def title(self) -> str:
        return self.text or "default"

    @property
    def text(self) -> str:
        """Without a word for nothing."""
        reported = [f"{key}={value}" for key, value in self.hints]
        reported += [f"--{key}={value}" for key, value in self.options]
        reported += [f"{key}={value}" for key, value in self.environment]
        return " ".join(reported)

    @property
    def id(self) -> str:
        if self == DEFAULT:
            return "default"
        parts = json.dumps([self.hints, self.options, self.environment])
        return hashlib.sha256(parts.encode()).hexdigest()[:16]


DEFAULT = Setting()


@dataclass(frozen=True)
class Setup:
    """What a run is set up with: what holds for the job, and the hints of each group."""

    job: Setting = DEFAULT
    hints: Mapping[Group, Pairs] = field(default_factory=dict)

    def rules(self) -> Iterator[str]:
        for group, pairs in self.hints.items():
            for key, value in pairs:
                yield group.rule(key, value)

    @property
    def changes(self) -> bool:
        return self.job != DEFAULT or any(self.hints.values())


def everywhere(setting: Setting) -> Setup:
    return Setup(setting.job, {EVERYWHERE: setting.hints} if setting.hints else {})
