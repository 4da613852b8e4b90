# SPDX-License-Identifier: BSD-3-Clause
"""The part of plotly.js that reports draw with, cut out of the whole library that Python's plotly
carries: a quarter of its size. esbuild has made the library of modules, each a statement
`var NAME=W((exports,module)=>{…});`, that run when another one first calls `NAME()`. Kept are those
that the library's start can reach when it registers only the needed kinds of traces."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Kinds of traces that page/traces.js draws; lines and points (scatter) are in the library's core.
TRACES = ("bar", "heatmap")
# The functions that esbuild makes modules with; their names differ between versions.
_OUTER = re.compile(
    r"\b([\w$]+)=\(\w+,\w+\)=>\(\)=>[({](?:try\{return )?\w+\|\|\w+\(\(\w+=\{exports:\{\}\}\)"
)
_INNER = re.compile(r"\b([\w$]+)=\(\w+,\w+(?:,\w+)?\)=>\(\)=>.{0,60}?\w+=\w+\(\w+=0\)")
_CALL = re.compile(r"([\w$]+)\(\)")
_REGISTERED = re.compile(r"\.register\(\[((?:[\w$]+\(\),?)+)\]\)")
_KIND = re.compile(r'moduleType:"trace",name:"(\w+)"')


def part_of(script: str) -> str | None:
    """The part as a script, or None if the library is not made as is described above, which
    another version may be."""
    outer, inner = _OUTER.search(script), _INNER.search(script)
    if outer is None or inner is None:
        return None
    made = rf"(?<=[;}}\n])var ([\w$]+)={re.escape(outer[1])}\(\(?[\w$,]*\)?=>\{{"
    starts = list(re.finditer(made, script))
    ends = [start.start() for start in starts[1:]] + [len(script)]
    modules = {m[1]: script[m.start() : end] for m, end in zip(starts, ends, strict=True)}
    if not modules:
        return None
    last = starts[-1][1]
    registered = _REGISTERED.search(modules[last])
    if registered is None:
        return None
    needed = {_kind(name, modules): name for name in _CALL.findall(registered[1])}
    if not all(trace in needed for trace in TRACES):
        return None
    calls = ",".join(f"{needed[trace]}()" for trace in TRACES)
    modules[last] = modules[last].replace(registered[1], calls)
    kept = _reachable(last, modules, inner[1])
    return script[: starts[0].start()] + "".join(
        text for name, text in modules.items() if name in kept
    )


def _kind(name: str, modules: Mapping[str, str], depth: int = 2) -> str:
    """The kind of the trace that this module, or one that it returns, defines; else empty."""
    text = modules.get(name, "")
    if found := _KIND.search(text):
        return found[1]
    if depth == 0:
        return ""
    inner = (_kind(other, modules, depth - 1) for other in _CALL.findall(text) if other != name)
    return next(filter(None, inner), "")


def _reachable(first: str, modules: Mapping[str, str], inner: str) -> set[str]:
    """Names of the modules that calls lead to. A call of something else that has the name of a
    module keeps this module, too, which does no harm."""
    place = {name: name for name in modules}
    # A statement can be followed by modules in the newer form: a function that runs one once.
    newer = re.compile(rf"[\s,;]([\w$]+)={re.escape(inner)}\(")
    for name, text in modules.items():
        place |= dict.fromkeys(newer.findall(text), name)
    found: set[str] = set()
    waiting = [first]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += {place[called] for called in _CALL.findall(modules[name]) if called in place}
    return found
