# SPDX-License-Identifier: BSD-3-Clause
"""Bandwidth over message size: by pattern family, by method, and as it goes into b_eff."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from effio.report.model import Axis, Figure, Panel, Series
from effio.store.members import members_of
from effio.store.reader import Result

METHODS = {
    "sendrecv": "MPI_Sendrecv",
    "alltoallv": "MPI_Alltoallv",
    "nonblocking": "MPI_Isend and MPI_Irecv",
}
BEST = "best method"


@dataclass(frozen=True)
class _Experiment:
    family: str
    pattern: int
    method: str
    length: int
    rate: float


def _experiments(result: Result) -> list[_Experiment]:
    found = []
    for m in result.measurements:
        length, pattern = m.where.get("length_bytes"), m.where.get("pattern")
        if m.access != "exchange" or not m.rate.value or not isinstance(length, int):
            continue
        if not isinstance(pattern, int):
            continue
        family, method = str(m.where.get("family", "")), str(m.where.get("method", ""))
        found.append(_Experiment(family, pattern, method, length, m.rate.value))
    return found


def _best(experiments: Sequence[_Experiment], method: str) -> dict[tuple[str, int, int], float]:
    """The best repetition (and method) by family, pattern and length."""
    best: dict[tuple[str, int, int], float] = {}
    for e in experiments:
        if method not in (BEST, e.method):
            continue
        key = (e.family, e.pattern, e.length)
        best[key] = max(best.get(key, 0.0), e.rate)
    return best


def _curve(
    best: dict[tuple[str, int, int], float],
    family: str,
    how: Callable[[list[float]], float],
    name: str,
    style: int,
) -> Series | None:
    by_length: dict[int, list[float]] = {}
    for (of, _, length), rate in best.items():
        if of == family:
            by_length.setdefault(length, []).append(rate)
    if not by_length:
        return None
    lengths = sorted(by_length)
    return Series(name, [float(n) for n in lengths], [how(by_length[n]) for n in lengths], style)


_CURVES: Sequence[tuple[str, Callable[[list[float]], float], str]] = (
    ("ring", geometric_mean, "rings"),
    ("random ring", geometric_mean, "random rings, mean"),
    ("random ring", min, "random rings, slowest"),
    ("random ring", max, "random rings, fastest"),
    ("worst ring", geometric_mean, "worst ring"),
    ("best bisection", geometric_mean, "best bisection"),
    ("worst bisection", geometric_mean, "worst bisection"),
    ("ping-pong", geometric_mean, "one ping-pong pair"),
    ("grid", geometric_mean, "grids, mean"),
)

_LENGTH_AXIS = Axis("message", "B", log=True)
_RATE_AXIS = Axis("bandwidth of all ranks", "B/s", log=True, switch=True)


def family_figure(result: Result) -> Figure | None:
    experiments = _experiments(result)
    if not experiments:
        return None
    used = {e.method for e in experiments}
    variants = {}
    for method, title in [(BEST, BEST), *METHODS.items()]:
        if method != BEST and method not in used:
            continue
        best = _best(experiments, method)
        curves = [_curve(best, f, how, n, i) for i, (f, how, n) in enumerate(_CURVES)]
        variants[title] = [Panel("", [c for c in curves if c is not None])]
    return Figure(
        "families",
        "Bandwidth over message size by pattern family",
        "The best repetition of each pattern; means are geometric. Rings talk to near ranks, random"
        " rings to any. Where slowest and fastest random ring part, the result depends on where the"
        " ranks are placed.",
        "curves",
        _LENGTH_AXIS,
        _RATE_AXIS,
        variants,
        columns=1,
        variant_title="method",
        panel_height=460,
    )


def method_figure(result: Result) -> Figure | None:
    experiments = _experiments(result)
    panels = []
    for family, title in (("ring", "rings"), ("random ring", "random rings")):
        curves = []
        for style, (method, name) in enumerate(METHODS.items()):
            curve = _curve(_best(experiments, method), family, geometric_mean, name, style)
            if curve is not None:
                curves.append(curve)
        if curves:
            panels.append(Panel(title, curves))
    if not panels:
        return None
    return Figure(
        "methods",
        "The three methods",
        "Geometric mean over the patterns of a family. b_eff takes the best method at each point.",
        "curves",
        _LENGTH_AXIS,
        _RATE_AXIS,
        {"": panels},
        columns=2,
        panel_height=320,
    )


def length_figure(result: Result) -> Figure | None:
    records = [f for f in result.figures_named("bandwidth_at_length") if f.metric.value]
    records = [f for f in records if isinstance(f.where.get("length_bytes"), int)]
    if not records:
        return None
    x = [float(f.where["length_bytes"]) for f in records]
    reported = [members_of(f) for f in records]
    series = [
        Series("rings and random rings", x, [f.metric.value for f in records], 0),
        Series("rings", x, [t.rings_bytes_per_second for t in reported], 1),
        Series("random rings", x, [t.random_rings_bytes_per_second for t in reported], 2),
    ]
    return Figure(
        "lengths",
        "b_eff by message size",
        "b_eff is made of the mean over all sizes: the few longest ones decide it.",
        "curves",
        _LENGTH_AXIS,
        _RATE_AXIS,
        {"": [Panel("", series)]},
        columns=1,
        panel_height=360,
    )
