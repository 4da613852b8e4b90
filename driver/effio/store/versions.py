# SPDX-License-Identifier: BSD-3-Clause
"""Versions of the result schema: which lines this driver reads, and how older ones become new.

`effio-result/MAJOR` or `effio-result/MAJOR.MINOR`. A minor version only adds members, or says more
precisely what one holds; a major version may change anything. Every version that was ever released
stays readable: a change of the schema adds a row to UPGRADES.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Line = dict[str, Any]
Upgrade = Callable[[Line], Line]

CURRENT = (1, 0)

# From a version to the next one, line by line.
UPGRADES: Mapping[tuple[int, int], tuple[tuple[int, int], Upgrade]] = {}

_NAME = re.compile(r"^effio-result/(\d{1,4})(?:\.(\d{1,4}))?$")


class UnknownVersionError(ValueError):
    pass


def parse(schema: object) -> tuple[int, int]:
    found = _NAME.match(schema) if isinstance(schema, str) else None
    if found is None:
        raise UnknownVersionError("it does not say that it is an effio result")
    return int(found[1]), int(found[2] or 0)


def upgrade(
    line: Line,
    current: tuple[int, int] = CURRENT,
    upgrades: Mapping[tuple[int, int], tuple[tuple[int, int], Upgrade]] | None = None,
) -> Line:
    """The line as the current version would say it.

    A newer minor version passes as it is; a newer major version, or an old one without a way here,
    raises.
    """
    steps = UPGRADES if upgrades is None else upgrades
    version = parse(line.get("schema"))
    if version[0] > current[0]:
        raise UnknownVersionError(
            f"it has schema version {version[0]}, this effio reads up to {current[0]}; "
            "a newer effio reads it"
        )
    while version < current:
        if version not in steps:
            raise UnknownVersionError(f"schema version {version[0]}.{version[1]} was never in use")
        version, step = steps[version]
        line = step(line)
    return line
