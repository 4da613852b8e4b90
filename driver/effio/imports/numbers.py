# SPDX-License-Identifier: BSD-3-Clause
"""Numbers, sizes and dates as other programs print them."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from datetime import datetime

from effio.imports.model import Imported

_NUMBER = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?(?![\d.])")
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d")
_SIZE = re.compile(r"^(\d+(?:\.\d+)?)\s*([kmgtp]?)(i?b|bytes)?$", re.I)
_DATES = (
    "%a %b %d %H:%M:%S %Y",
    "%m/%d/%Y %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S%z",
)


def number(text: str) -> float | None:
    """The number at the start of a text; None if there is none, or if it is not finite. "10,6" is
    none: the part before a decimal comma is another number, as is that of "1.2.3"."""
    found = _NUMBER.match(text.strip())
    if found is None or DECIMAL_COMMA.match(text.strip()):
        return None
    value = float(found[0])
    return value if math.isfinite(value) and abs(value) < 1e30 else None


def size(text: str) -> int | None:
    """`64k`, `4 MiB`, `512 bytes`: powers of 1024, as IOR and fio count them."""
    found = _SIZE.match(text.strip())
    if found is None:
        return None
    power: int = ["", "k", "m", "g", "t", "p"].index(found[2].lower())
    return round(float(found[1]) * float(1024**power))


def date_of(text: str) -> datetime | None:
    """A date in one of the forms that these programs print."""
    for form in _DATES:
        try:
            return datetime.strptime(" ".join(text.split()), form)
        except ValueError:
            continue
    return None


def noted(runs: Sequence[Imported], note: str) -> list[Imported]:
    """The runs with a note about what their format leaves out."""
    return [dataclasses.replace(run, notes=(*run.notes, note)) for run in runs]
