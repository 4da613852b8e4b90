# SPDX-License-Identifier: BSD-3-Clause
"""Runs in one line each, as the index has them: for `effio runs`, tables and the browser. They are
made by `report/listing.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from effio.store.known import read_json

# For tables of many runs, not for people: the claim of the run (report/claims.py).
NUMBER = "number"


def axes_of(line: Mapping[str, str]) -> dict[str, str]:
    """The axes of a campaign's point and their values."""
    found = read_json(line["axes"])
    return found if isinstance(found, dict) else {}


def axes_text(line: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in axes_of(line).items())


def verdict_of(line: Mapping[str, str]) -> str:
    """Whether the headline is valid, and where its bytes were if not only on storage."""
    valid = {"yes": "valid", "no": "not valid"}.get(line["valid"], "")
    return ", ".join(part for part in (valid, line["mark"]) if part)


def number_of(line: Mapping[str, str]) -> tuple[float | None, str]:
    """The headline's number in its base unit, and that unit."""
    if not line[NUMBER]:
        return None, ""
    from effio.report import claims  # not for every list

    number = claims.read(line[NUMBER]).number
    return number.value, "" if number.value is None else number.unit


def grouped(lines: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Sorted by campaign; the newest run and its campaign come last."""
    newest = {line["campaign"]: i for i, line in enumerate(lines)}
    return sorted(lines, key=lambda line: newest[line["campaign"]])
