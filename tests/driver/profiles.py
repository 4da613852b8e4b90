# SPDX-License-Identifier: BSD-3-Clause
"""Handwritten profiles: eight processes that write 16 MiB into one file in calls of 1 MiB."""

from __future__ import annotations

from typing import Any

from effio.profile.model import Activity, Profile

MIB = 1 << 20
HEAD = 'application = "code"\nranks = 8\nseconds = "1h"\n'
ACTIVITY = """[[activity]]
name = "out"
access = "write"
library = "posix"
files = "shared"
bytes = "16MiB"
"""


def activity(**more: Any) -> Activity:
    table = {
        "name": "out", "access": "write", "library": "posix", "files": "shared",
        "bytes": 16 * MIB, "transfer": MIB,
    }  # fmt: skip
    return Activity.model_validate({**table, **more})


def profile(*activities: Activity, **more: Any) -> Profile:
    table = {"application": "code", "ranks": 8, "seconds": 3600, "activity": activities}
    return Profile.model_validate({**table, **more})
