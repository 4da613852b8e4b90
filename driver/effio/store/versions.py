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

CURRENT = (1, 3)


def _one_vocabulary(line: Line) -> Line:
    """Samples of means had three vocabularies in `detail`; figures of rings had units in their
    names that their values had not."""
    line = {**line, "schema": "effio-result/1.1"}
    name, detail = line.get("name"), line.get("detail")
    if line.get("kind") != "figure" or not isinstance(detail, dict):
        return line
    if line.get("benchmark") == "rings" and isinstance(name, str):
        line["name"] = name.removesuffix("_usec").removesuffix("_GBytes")
    old = {key.removesuffix("_bytes_per_second"): value for key, value in detail.items()}
    half, count = old.get("confidence95"), old.get("repetitions", old.get("iterations"))
    metric = line.get("metric")
    mean = metric.get("value") if isinstance(metric, dict) else None
    if half is None or count is None:
        return line
    numbers = isinstance(half, (int, float)) and isinstance(mean, (int, float))
    known = numbers and isinstance(count, int) and count > 1
    line["samples"] = {
        "count": count,
        "min": old.get("min"),
        "max": old.get("max"),
        "deviation": old.get("deviation"),
        "low95": mean - half if known else None,
        "high95": mean + half if known else None,
    }
    gone = {"confidence95", "repetitions", "iterations", "min", "max", "deviation"}
    rest = {k: v for k, v in detail.items() if k.removesuffix("_bytes_per_second") not in gone}
    if line.get("name") == "library_bandwidth" and "seconds" in rest:
        rest["mean_seconds"] = rest.pop("seconds")
    line["detail"] = rest
    return line


_BENCHMARKS = {"b_eff": "b-eff", "b_eff_io": "b-eff-io", "flash_io": "flash-io"}
_THINGS = {"images_per_second": "images/s", "sequences_per_second": "sequences/s"}


def _number_of(holder: Line, old: str, new: str = "repetition") -> Line:
    """The line with what counted from 0 counted from 1, under its present name."""
    count = holder.get(old)
    if not isinstance(count, int) or isinstance(count, bool):
        return holder
    return {**{k: v for k, v in holder.items() if k != old}, new: count + 1}


def _one_spelling(line: Line) -> Line:
    """Benchmarks had underscores in some lines, repetitions counted from 0, and operations in a
    second were `1/s` in some places and `op/s` in others."""
    line = {**line, "schema": "effio-result/1.2"}
    kind = line.get("kind")
    if kind == "run":
        return {_BENCHMARKS.get(key, key): value for key, value in line.items()}
    if kind not in ("measurement", "figure"):
        return line
    benchmark = line.get("benchmark")
    if isinstance(benchmark, str):
        line["benchmark"] = _BENCHMARKS.get(benchmark, benchmark)
    metric = "rate" if kind == "measurement" else "metric"
    held = line.get(metric)
    if isinstance(held, dict) and held.get("unit") == "1/s":
        line[metric] = {**held, "unit": _THINGS.get(str(line.get("name")), "op/s")}
    where = line.get("where")
    if isinstance(where, dict):
        old = "iteration" if "iteration" in where else "repetition"
        line["where"] = _number_of(where, old)
    return _number_of(line, "repetition") if kind == "measurement" else line


# Names that members and options have had since 1.3: of all benchmarks, and of one.
_MEMBERS = {"may_be_untrue": "unreliable"}
_METHODS = {"way": "method", "ways": "methods"}
_DURING = {
    "beside_seconds": "during_io_seconds",
    "work_beside_seconds": "work_during_io_seconds",
}
_OF_OTHERS = {f"beside_{name}": f"other_{name}" for name in ("benchmark", "access", "pattern")}
_MEMBERS_OF = {"overlap": _METHODS | _DURING, "interference": {"beside": "others"}}
_OPTIONS_OF = {
    "overlap": _METHODS,
    "partest": _METHODS,
    "interference": {"beside": "combinations"},
}


def _renamed(value: object, names: Mapping[str, str], levels: int = 3) -> Any:
    """Its members under their present names, and those of the levels below it."""
    if not levels:
        return value
    # Most values are plain, and a call for each would take half of the time of a line.
    if isinstance(value, dict):
        return {
            names.get(name, name): _renamed(v, names, levels - 1)
            if isinstance(v, (dict, list))
            else v
            for name, v in value.items()
        }
    if isinstance(value, list):
        return [_renamed(v, names, levels - 1) if isinstance(v, (dict, list)) else v for v in value]
    return value


_LIMITS = {"B/s": "bandwidth_limit", "op/s": "operation_limit", "s": "latency_limit"}
_HEADLINES = {"images/s": "images_per_second", "sequences/s": "sequences_per_second"}


def _one_unit(figure: Line) -> Line:
    """A figure whose unit differed from run to run, or from place to place, has a name for each
    unit."""
    metric, detail = figure.get("metric"), figure.get("detail")
    held = metric if isinstance(metric, dict) else {}
    unit = str(held.get("unit"))
    match figure.get("benchmark"), figure.get("name"):
        case "probe", "limit":
            return {**figure, "name": _LIMITS.get(unit, "limit")}
        case "ssca3", "ssca3":
            chain = isinstance(detail, dict) and detail.get("figure") == "chain_bandwidth"
            of = _HEADLINES.get(unit, "chain_bandwidth" if chain else "bandwidth")
            return {**figure, "name": f"ssca3_{of}"}
        case "b-eff", "pairs":
            return {**figure, "name": "slow_pairs", "metric": {**held, "unit": "1"}}
    return figure


def _field_terms(line: Line) -> Line:
    """Names that were not the field's terms."""
    benchmark = str(line.get("benchmark"))
    names = _MEMBERS | _MEMBERS_OF.get(benchmark, {})
    if line.get("name") == "met":
        names |= {"beside": "other", **_OF_OTHERS}
    changed = {
        benchmark: names,
        "options": _OPTIONS_OF.get(benchmark, {}),
        "where": names,
        "cache": _METHODS,
        "detail": names,
    }
    new = {k: _renamed(v, changed[k]) if k in changed else v for k, v in line.items()}
    options = new.get("options")
    if isinstance(options, dict) and options.get("fsync") == "beside":
        options["fsync"] = "separate"
    new = _one_unit(new) if line.get("kind") == "figure" else new
    return {**new, "schema": "effio-result/1.3"}


# From a version to the next one, line by line.
UPGRADES: Mapping[tuple[int, int], tuple[tuple[int, int], Upgrade]] = {
    (1, 0): ((1, 1), _one_vocabulary),
    (1, 1): ((1, 2), _one_spelling),
    (1, 2): ((1, 3), _field_terms),
}

_NAME = re.compile(r"^effio-result/(\d{1,4})(?:\.(\d{1,4}))?$")


class UnknownVersionError(ValueError):
    def __init__(self, why: str, newer: bool = False) -> None:
        super().__init__(why)
        self.newer = newer


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
            "a newer effio reads it",
            newer=True,
        )
    while version < current:
        if version not in steps:
            raise UnknownVersionError(f"schema version {version[0]}.{version[1]} was never in use")
        version, step = steps[version]
        line = step(line)
    return line
