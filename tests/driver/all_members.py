# SPDX-License-Identifier: BSD-3-Clause
"""Lines of results with every member that an engine may write, also those that are there only
sometimes. Handwritten lines hold few of these."""

from __future__ import annotations

import enum
from typing import Any

from driver import made
from driver.as_written import Schema, resolved, schema_of, takes
from driver.corpus import CORPUS

# It replaces a missing rate.
_INSTEAD = ("invalid_reason",)
# Whether there is a value and whether it is valid depend on each other.
_KEPT = ("metric", "rate", "valid")
_MOST = 40  # lines of a handwritten result


class Amount(enum.Enum):
    NOTHING = "null and empty lists, where an engine may write these"
    LEAST = "zero, false and empty texts"
    SOME = "values"


def lines_of(benchmark: str, amount: Amount) -> list[made.Line]:
    """A result with the places of the handwritten one, and with every figure of the benchmark."""
    run = made.run_line(benchmark=benchmark)
    for own in made.ALL[benchmark]["run"]:
        run[own["name"]] = _filled(schema_of(run)["properties"][own["name"]], {}, amount)
    given = list(CORPUS[benchmark]())[1:-1] if benchmark in CORPUS else _measurements(benchmark)
    lines = given[:_MOST] + [
        made.figure(one["name"], 1.5, one["unit"] or "1", benchmark=benchmark, where={}, samples={})
        for one in made.ALL[benchmark]["figures"]
    ]
    whole = []
    for line in lines:
        kept = {name: line[name] for name in _KEPT if name in line}
        whole.append(_filled(schema_of(line), line | {"detail": {}}, amount) | kept)
    return made.numbered([run, *whole, made.end()])


def _measurements(benchmark: str) -> list[made.Line]:
    return [
        made.measurement(access, "p", 1, rate, benchmark=benchmark, repetition=repetition)
        for access in ("write", "read")
        for repetition, rate in enumerate((1e6, 2e6), 1)
    ]


def _filled(schema: Schema, value: Any, amount: Amount) -> Any:
    """The value with all members; without a value one of the amount."""
    choices = [resolved(one) for one in resolved(schema).get("anyOf", [resolved(schema)])]
    if value is None:
        if amount is Amount.NOTHING and any("null" in _types(one) for one in choices):
            return None
        choices = [one for one in choices if _types(one) != ["null"]]
        return _new(choices[0], amount)
    schema = next((one for one in choices if takes(one, value)), choices[0])
    if isinstance(value, list):
        return [_filled(schema.get("items", {}), one, amount) for one in value]
    if not isinstance(value, dict):
        return value
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    of_others = others if isinstance(others, dict) else {}
    given = {k: _filled(known.get(k, of_others), v, amount) for k, v in value.items()}
    new = [k for k in known if k not in (*given, "seq", *_INSTEAD)]
    return given | {k: _filled(known[k], None, amount) for k in new}


def _types(schema: Schema) -> list[str]:
    types = schema.get("type", "object")
    return [types] if isinstance(types, str) else list(types)


def _new(schema: Schema, amount: Amount) -> Any:
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    some = amount is Amount.SOME
    type_ = next(one for one in _types(schema) if one != "null")
    if type_ == "object":
        others = schema.get("additionalProperties")
        named = {"a": None, "b": None} if some and isinstance(others, dict) else {}
        return _filled(schema, named, amount)
    if type_ == "array":
        count = schema.get("minItems", 1 if schema.get("uniqueItems") else 3)
        return [_filled(schema["items"], None, amount) for _ in range(count if some else 0)]
    if type_ == "string":
        return "w" if some or schema.get("minLength") else ""
    if type_ == "boolean":
        return some
    number = max(7 if some else 0, schema.get("minimum", 0))
    return min(number, schema.get("maximum", number))
