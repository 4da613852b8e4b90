# SPDX-License-Identifier: BSD-3-Clause
"""Options of a run with their units: results hold plain numbers, in base units. A test compares the
names with the engine's own tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from effio import text as fmt

_NAMES = {
    "B": (
        "block buffer call chunk find-bytes first-access header-bytes hold-memory image-size"
        " max-bytes memory memory-gap memory-hog memory-per-rank memory-piece nested-gap pairs-size"
        " plan-free plan-memory rank-stride raw-size read-bytes request size spacing stripe-size"
        " sz-coll-buf sz-element sz-indep-buf task-size template-size total total-memory transfer"
        " verify-memory work-memory write-bytes"
    ),
    "s": (
        "agree-deadline bandwidth-time compute delay latency-time loop-time min-time ring-time"
        " settle shorten-after steady-slice stonewall think-time time time-limit until-ci-least"
        " until-ci-limit watchdog wear-out-limit work-time"
    ),
    "B/s": "plan-rate rate-limit",
}
UNITS: Mapping[str, str] = {name: unit for unit, names in _NAMES.items() for name in names.split()}


def _size(number: float) -> str:
    return fmt.size(number) + (f" ({number:.0f})" if number >= 1024 else "")


def _time(number: float) -> str:
    if 0 < number < 1:
        return fmt.duration(number)
    text = fmt.few_digits(number, 6) + " s"
    return text if number < 120 else f"{fmt.duration(number)} ({text})"


# Backends name their settings themselves.
_SETTINGS = {
    "B": "align cache alignment alignment-threshold sieve-buffer metadata-block block chunk",
    "s": (
        "open transfer sync close latency metadata message-latency collective create stat read"
        " remove directory other"
    ),
    "B/s": "rate rank-rate shared-rate cache-rate message-rate link-rate",
}
SETTINGS: Mapping[str, str] = {
    name: unit for unit, names in _SETTINGS.items() for name in names.split()
}


_SHOWN: Mapping[str, Callable[[float], str]] = {"B": _size, "s": _time, "B/s": fmt.rate}


def value_text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ", ".join(str(v) for v in value) or "–"
    if isinstance(value, dict):
        return ", ".join(f"{name}={value_text(v)}" for name, v in value.items()) or "–"
    return str(value)


def option_text(name: str, value: object, units: Mapping[str, str] = UNITS) -> str:
    """ "4 MiB (4194304)", "30 min 00 s (1800 s)", "1.000 GB/s"; as it is without a unit."""
    if isinstance(value, list) and value:
        return ", ".join(option_text(name, v, units) for v in value)
    shown = _SHOWN.get(units.get(name, ""))
    if shown is None or isinstance(value, bool) or not isinstance(value, int | float):
        return value_text(value)
    return shown(value)


_PLAIN = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
# A number with its unit, as options and campaign files have it: "64KiB", "1.5 MB", "250ms".
_WRITTEN = re.compile(r"(\d+(?:\.\d+)?) ?([kKMGTP]i?B|B|[kMGTP]i?B/s|B/s|[mµun]?s|min|h)")


def place_unit(name: str) -> str:
    """The unit of a member of `where`, by the end of its name; empty without one."""
    return "B" if name.endswith("_bytes") else "s" if name.endswith("_seconds") else ""


def unit_of(name: str) -> str:
    """The unit of an axis: an option, a value of a campaign, or "where.NAME"."""
    known = "" if name.startswith("where.") else UNITS.get(name.replace("_", "-"), "")
    return known or place_unit(name)


def coordinate_text(name: str, value: object) -> str:
    """The value of an axis or of a place for people: "64 KiB" of "64KiB" and of 65536 bytes, "123
    µs" of 0.000123 seconds; as it is without a unit."""
    return _coordinate_text(name, str(value))


@lru_cache(maxsize=10_000)  # a table of runs has the values of few axes
def _coordinate_text(name: str, text: str) -> str:
    unit = unit_of(name)
    if _PLAIN.fullmatch(text):
        number = float(text)
        whole = number.is_integer()
        return fmt.coordinate(int(number) if whole else number, unit) if unit else text
    written = [_WRITTEN.fullmatch(part) for part in text.split("+")]
    if not all(written):
        return text
    sizes = [fmt.parse_size(part) for part in text.split("+")]
    if "iB" in text and None not in sizes:
        return fmt.exact_size(sum(size or 0 for size in sizes))
    return "+".join(" ".join(one.groups()) for one in written if one)


# How the engine ends the names of settings that it writes as members.
_MEMBERS = {"_bytes_per_second": "B/s", "_seconds": "s", "_bytes": "B"}


def _setting_text(name: str, value: object) -> str:
    for end, unit in _MEMBERS.items():
        if name.endswith(end):
            option = name.removesuffix(end)
            return f"{option}={option_text(option, value, {option: unit})}"
    return f"{name}={option_text(name, value, SETTINGS)}"


def settings_text(settings: Mapping[str, object]) -> str:
    """The settings of a backend, without those that have no value: "latency=1.00 ms,
    rank-rate=100.0 MB/s"."""
    return ", ".join(_setting_text(n, v) for n, v in settings.items() if v is not None)
