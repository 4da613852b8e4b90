# SPDX-License-Identifier: BSD-3-Clause
"""Expressions of campaign files and of --only: numbers, sizes ("4MiB"), times ("30s"), names, + - *
/ // % **, comparisons, `in`, `and`, `or`, `not`, `a if b else c`, and a few functions. Nothing is
evaluated by Python: its parser makes a tree, of which only these nodes are known here.

Names are written with "_" where an option has "-". Sizes are bytes, times are seconds.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from effio import text as fmt
from effio.config.toml_file import nearest

Value = bool | int | float | str
Known = Value | tuple[str, ...]

_MAX_LENGTH = 1000
_MAX_NUMBER = 2.0**63
_QUOTED = re.compile(r"('[^']*'|\"[^\"]*\")")
_WITH_UNIT = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:kB|[KMGTP]iB|[MGTP]B|B|ms|s|min|h)(?!\w)")


class ExpressionError(ValueError):
    """What is wrong with an expression, in words."""


class NotYetKnownError(Exception):
    """The value of a name follows from results that are not there yet."""


@lru_cache(4096)
def as_number(text: str) -> int | float | None:
    """A size, a time or a plain number as the engine reads them; None if it is none."""
    parts = [fmt.parse_size(part) for part in text.split("+")]
    sizes = [part for part in parts if part is not None]
    if len(sizes) == len(parts):
        return sum(sizes) if re.search(r"[A-Za-z]", text) or "." not in text else float(text)
    seconds = fmt.parse_duration(text)
    return seconds if seconds is not None and math.isfinite(seconds) else None


def meaning(value: Known) -> Known:
    """What a value counts as in an expression: text that is a number is that number."""
    number = as_number(value) if isinstance(value, str) else None
    return value if number is None else number


def identifier(name: str) -> str:
    return name.replace("-", "_")


def _multiple(value: float, of: float) -> int:
    """The largest multiple that is not above the value, and at least one."""
    if of < 1:
        raise ExpressionError("multiple() needs a step of at least 1")
    return max(1, int(value // of)) * int(of)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "ceil": math.ceil,
    "floor": math.floor,
    "round": round,
    "log2": math.log2,
    "multiple": _multiple,
}
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def _bounded(value: Any) -> Any:
    if _is_number(value) and not abs(value) <= _MAX_NUMBER:
        raise ExpressionError("a number beyond 2^63")
    return value


@dataclass(frozen=True)
class Expression:
    text: str
    tree: ast.expr

    @property
    def names(self) -> frozenset[str]:
        called = {n.func for n in ast.walk(self.tree) if isinstance(n, ast.Call)}
        return frozenset(
            n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name) and n not in called
        )

    def value(self, names: Mapping[str, Known]) -> Known:
        try:
            found = _evaluate(self.tree, names)
        except (TypeError, ZeroDivisionError, OverflowError, ValueError) as error:
            raise ExpressionError(f"'{self.text}': {error}") from None
        return found  # type: ignore[no-any-return]

    def holds(self, names: Mapping[str, Known]) -> bool:
        return bool(self.value(names))


def parse(text: str) -> Expression:
    if len(text) > _MAX_LENGTH:
        raise ExpressionError(f"longer than {_MAX_LENGTH} characters")
    parts = _QUOTED.split(text)
    for i in range(0, len(parts), 2):
        parts[i] = _WITH_UNIT.sub(lambda found: str(as_number(found[0])), parts[i])
    try:
        tree = ast.parse("".join(parts).strip(), mode="eval").body
        _check(tree)
    except ExpressionError as error:
        raise ExpressionError(f"'{text}': {error}") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(
            f"'{text}' is not an expression; write for example transfer >= 1MiB"
        ) from None
    return Expression(text, tree)


def _check(tree: ast.expr) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Name) or node.keywords:
                raise ExpressionError("only functions by name, with plain arguments")
            if node.func.id not in _FUNCTIONS:
                raise ExpressionError(
                    f"no function '{node.func.id}'{nearest(node.func.id, list(_FUNCTIONS))}"
                )
        elif isinstance(node, ast.Constant):
            if not isinstance(node.value, (bool, int, float, str)):
                raise ExpressionError("only numbers and texts")
        elif not isinstance(
            node,
            (
                ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp,
                ast.List, ast.Tuple, ast.And, ast.Or, ast.Not, ast.USub, ast.UAdd, ast.In,
                ast.NotIn, *_ARITHMETIC, *_COMPARISONS,
            ),
        ):  # fmt: skip
            raise ExpressionError(f"{type(node).__name__} is not allowed")


def _evaluate(node: ast.expr, names: Mapping[str, Known]) -> Any:
    match node:
        case ast.Constant():
            return node.value if isinstance(node.value, str) else _bounded(node.value)
        case ast.Name():
            return _named(node.id, names)
        case ast.List() | ast.Tuple():
            return tuple(_evaluate(item, names) for item in node.elts)
        case ast.Call():
            assert isinstance(node.func, ast.Name)
            arguments = [_number(a, names) for a in node.args]
            return _bounded(_FUNCTIONS[node.func.id](*arguments))
        case ast.BinOp():
            return _combined(node, names)
        case ast.UnaryOp(op=ast.Not()):
            return not _evaluate(node.operand, names)
        case ast.UnaryOp():
            value = _number(node.operand, names)
            return -value if isinstance(node.op, ast.USub) else value
        case ast.BoolOp():
            wanted = isinstance(node.op, ast.Or)
            return any(bool(_evaluate(v, names)) is wanted for v in node.values) is wanted
        case ast.IfExp():
            return _evaluate(node.body if _evaluate(node.test, names) else node.orelse, names)
        case ast.Compare():
            return _compared(node, names)
    raise ExpressionError(f"{type(node).__name__} is not allowed")


def _named(name: str, names: Mapping[str, Known]) -> Known:
    try:
        return meaning(names[name])
    except KeyError:
        raise ExpressionError(f"no name '{name}' here{nearest(name, sorted(names))}") from None


def _number(node: ast.expr, names: Mapping[str, Known]) -> int | float:
    value = _evaluate(node, names)
    if not _is_number(value):
        raise ExpressionError(f"{value!r} is not a number")
    return value  # type: ignore[no-any-return]


def _combined(node: ast.BinOp, names: Mapping[str, Known]) -> int | float:
    left, right = _number(node.left, names), _number(node.right, names)
    if isinstance(node.op, ast.Pow) and abs(right) > 64:
        raise ExpressionError("an exponent beyond 64")
    value = _ARITHMETIC[type(node.op)](left, right)
    if isinstance(value, complex):
        raise ExpressionError("no real number")
    return _bounded(value)  # type: ignore[no-any-return]


def _compared(node: ast.Compare, names: Mapping[str, Known]) -> bool:
    left = _evaluate(node.left, names)
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        right = _evaluate(right_node, names)
        if isinstance(op, (ast.In, ast.NotIn)):
            among = right if isinstance(right, tuple) else str(right)
            inside = left in tuple(meaning(v) for v in among) if isinstance(among, tuple) else False
            if isinstance(among, str):
                inside = str(left) in among
            holds = inside is isinstance(op, ast.In)
        else:
            holds = bool(_COMPARISONS[type(op)](meaning(left), meaning(right)))
        if not holds:
            return False
        left = right
    return True


# Texts with expressions in braces ----------------------------------------------------------------

_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True)
class Template:
    """Text as "{transfer * 16}" or "stripe-{count}"; "{{" and "}}" are braces."""

    parts: tuple[str | Expression, ...]

    @property
    def expressions(self) -> Iterator[Expression]:
        return (part for part in self.parts if isinstance(part, Expression))

    def text(self, names: Mapping[str, Known]) -> str:
        return "".join(
            part if isinstance(part, str) else spelled(part.value(names)) for part in self.parts
        )

    def value(self, names: Mapping[str, Known]) -> Known:
        """The value as it is, where the text is one expression and nothing else."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Expression):
            return self.parts[0].value(names)
        return self.text(names)


@lru_cache(1024)
def template(text: str) -> Template:
    parts: list[str | Expression] = []
    end = 0
    for found in _BRACES.finditer(text):
        if text[end : found.start()]:
            parts.append(text[end : found.start()])
        end = found.end()
        if found[0] in ("{{", "}}"):
            parts.append(found[0][0])
        elif found[1] is None:
            raise ExpressionError(f"'{text}': a brace without its partner; write {{{{ for a brace")
        else:
            parts.append(parse(found[1]))
    if text[end:]:
        parts.append(text[end:])
    return Template(tuple(parts))


def spelled(value: Known) -> str:
    """The value for the engine: integers without a point, others with nine digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple):
        return ",".join(map(spelled, value))
    whole = math.isfinite(value) and value == int(value)
    return str(int(value)) if whole else f"{value:.9g}"
