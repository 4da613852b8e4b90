# SPDX-License-Identifier: BSD-3-Clause
"""The values that the lines of a result file consist of: bounded numbers and texts, times of day,
and what a member of unknown type is as a number."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from typing import Annotated, Any

from msgspec import Meta
from pydantic import BeforeValidator, Field

MAX_TEXT = 100_000


def _nothing_to_empty(value: object) -> object:
    return {} if value is None else value


# Numbers of the engine are numbers: no text, no booleans. Bounds are far beyond any machine, and
# keep sums and quotients finite. `Field` is for models of pydantic, `Meta` for what msgspec reads.
MAX_NUMBER = 1e30
_MAX_SECONDS = 1e15
_MOST = 2**63 - 1
Number = Annotated[
    float,
    Field(strict=True, ge=-MAX_NUMBER, le=MAX_NUMBER),
    Meta(ge=-MAX_NUMBER, le=MAX_NUMBER),
]
Seconds = Annotated[float, Field(strict=True, ge=0, le=_MAX_SECONDS), Meta(ge=0, le=_MAX_SECONDS)]
Count = Annotated[int, Field(strict=True, ge=0, le=_MOST), Meta(ge=0, le=_MOST)]
Whole = Annotated[int, Meta(ge=-_MOST - 1, le=_MOST)]
Text = Annotated[str, Meta(max_length=MAX_TEXT)]
Texts = Annotated[dict[str, str], BeforeValidator(_nothing_to_empty)]
# With its time zone: without one the moment is not known.
_TIME = re.compile(
    r"(?:19|[2-9][0-9])[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"(?:Z|[+-][0-9]{2}:[0-9]{2})\Z"
)
Objects = Annotated[dict[str, Any], BeforeValidator(_nothing_to_empty)]


def _time_or_nothing(value: object) -> object:
    """A time of day in UTC, as the schema has it; empty for any other text, so that nothing
    counts with it."""
    if not isinstance(value, str):
        return value
    if _TIME.match(value) is None:
        return ""
    try:
        moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
        return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError):
        return ""


Moment = Annotated[str, BeforeValidator(_time_or_nothing)]


def with_plain_values(where: dict[str, Any]) -> dict[str, Any]:
    """Coordinates as texts, numbers and truth values, as engines write them: what is compared and
    grouped by them need not expect others. Lists and objects become their text."""
    if not any(isinstance(value, (list, dict)) for value in where.values()):
        return where
    return {
        name: json.dumps(value) if isinstance(value, (list, dict)) else value
        for name, value in where.items()
    }


def as_number(value: object) -> float | None:
    """A member of a benchmark's own object as a number; None if it is none, as truth values are, or
    beyond what any number of a result is."""
    # JSON has no subclasses of these, and truth values are one of int.
    if type(value) is not int and type(value) is not float:
        return None
    return float(value) if -MAX_NUMBER <= value <= MAX_NUMBER else None


def as_count(value: object) -> int:
    """The same as a whole number, which the engine may write as 8.0; 0 if it is none."""
    number = as_number(value)
    if number is None or not number.is_integer():
        return 0
    return value if isinstance(value, int) else int(number)
