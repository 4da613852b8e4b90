# SPDX-License-Identifier: BSD-3-Clause
"""Each kind of figure draws what the records of its result say, for results that the engine wrote
with the backend sim. Values are read from the figure's data as the page gets them; that the browser
draws these is in test_drawn_values.py."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pytest

from driver import made
from effio.report.build import report_of
from effio.report.draw import figure_data
from effio.store.reader import read_result
from engines import Engine

Line = Mapping[str, Any]
SIM = "rank-rate=100MB/s,latency=1ms,metadata=2ms,open=3ms,close=2ms,noise=0.2"
STORAGE = f"--backend sim --backend-options {SIM} --dir ."
MESSAGES = "--backend sim --backend-options message-latency=1us,message-rate=1GB/s,noise=0.2"


class Drawn(NamedTuple):
    panel: str
    series: str
    x: float | str
    y: float
    low: float | None
    high: float | None


def _drawn(data: Mapping[str, Any]) -> Iterator[Drawn]:
    """Each point and bar of a figure."""
    for panel in (panel for variant in data["variants"] for panel in variant["panels"]):
        for s in (s for s in panel["series"] if s["form"] != "limit"):
            for x, y, low, high in zip_longest(s["x"], s["y"], s["low"], s["high"]):
                if y is not None:
                    yield Drawn(panel["title"], s["name"], x, y, low, high)


def _numbers(value: object) -> Iterator[float]:
    """All numbers of a record, however deep."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _numbers(one)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield float(value)


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-15)


def _ends(samples: Mapping[str, Any]) -> tuple[Any, Any]:
    if samples.get("low95") is None:
        return samples.get("min"), samples.get("max")
    return samples["low95"], samples["high95"]


def _from_one_record(points: Sequence[Drawn], lines: Sequence[Line], has_x: bool) -> None:
    """A value, the ends of its whisker and, where a record has it, its place."""
    records = [list(_numbers(line)) for line in lines]
    means = [(x["metric"]["value"], x["samples"]) for x in lines if x.get("samples")]
    for p in points:
        if p.low is not None and p.high is not None and means and p.low != p.y:
            # Whiskers with both ends are the interval of this very mean, or the range of fewer than
            # five values.
            assert any(
                mean is not None and _close(mean, p.y)
                and _ends(of) == pytest.approx((p.low, p.high), rel=1e-9)
                for mean, of in means
            ), p  # fmt: skip
        reported = [p.y, *(v for v in (p.low, p.high) if v is not None)]
        if has_x and not isinstance(p.x, str):
            reported.append(p.x)
        assert any(all(any(_close(v, n) for n in r) for v in reported) for r in records), p


def _seconds(lines: Sequence[Line], name: Callable[[Line], str]) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if line["kind"] == "measurement":
            found[name(line)].append(line["seconds"])
    return found


def _shares(points: Sequence[Drawn], lines: Sequence[Line]) -> None:
    """Shares of the whole time of a cell over all repetitions; the parts of a bar are the whole."""
    cells = _seconds(lines, lambda m: f"{m['access']} {m['pattern']}")
    stacks: dict[object, float] = defaultdict(float)
    for p in points:
        stacks[p.x] += p.y
        if p.series == "data calls":
            some = cells[str(p.x)]
            part = sum(s["transfer"]["mean"] for s in some)
            assert p.y == pytest.approx(part / sum(s["total"]["mean"] for s in some), rel=1e-9)
    assert set(stacks) == set(cells)
    assert list(stacks.values()) == pytest.approx([1.0] * len(stacks))


def _file_parts(points: Sequence[Drawn], lines: Sequence[Line]) -> None:
    cells = _seconds(lines, lambda m: f"{m['access']} {m['pattern']}")
    parts = {"header and tree": "header", "unknowns": "unknown", "close": "close", "sync": "sync"}
    for p in points:
        expected = fmean(s[parts[p.series]]["max"] for s in cells[str(p.x)])
        assert p.y == pytest.approx(expected, rel=1e-9)


def _phases(points: Sequence[Drawn], lines: Sequence[Line]) -> None:
    """The bar of a cell is the sum of the means of its phases, each the slowest task's."""
    cells = _seconds(lines, lambda m: f"{m['pattern']} {m['access']}")
    inside = ("create", "create_close", "open", "transfer", "close")
    stacks: dict[str, float] = defaultdict(float)
    for p in points:
        stacks[str(p.x).split(",")[0]] += p.y
    for name, height in stacks.items():
        expected = [fmean(s[k]["max"] for s in cells[name]) for k in inside if k in cells[name][0]]
        assert height >= sum(expected) * (1 - 1e-9)
        every = [fmean(s[k]["max"] for s in cells[name]) for k in cells[name][0] if k != "total"]
        assert height <= sum(every) * (1 + 1e-9)


def _of_rings(points: Sequence[Drawn], lines: Sequence[Line]) -> None:
    """Smallest and largest are those of the records; a mean is that of values between them."""
    _from_one_record([p for p in points if p.series != "mean"], lines, has_x=False)
    ends: dict[object, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for p in points:
        ends[p.x][p.series].append(p.y)
    for one in ends.values():
        assert min(one["smallest"]) <= min(one["mean"]) <= max(one["mean"]) <= max(one["largest"])


def _over_time(points: Sequence[Drawn], lines: Sequence[Line]) -> None:
    """Operations of the slices add up to those of the phase. A point is in the middle of its
    slice, which starts where the one before ended. A last slice of less than a tenth of the others
    is not drawn: at four slices that is 2.5 %."""
    ops: dict[tuple[str, str], float] = defaultdict(float)
    begins: dict[tuple[str, str], float] = defaultdict(float)
    for p in points:
        assert not isinstance(p.x, str)
        curve = p.panel, p.series
        width = 2 * (p.x - begins[curve])
        ops[curve] += p.y * width
        begins[curve] += width
    done = {m["operations"] for m in lines if m["kind"] == "measurement"}
    for total in ops.values():
        assert any(0.97 * n <= total <= n * (1 + 1e-9) for n in done), (total, done)


Check = Callable[[Sequence[Drawn], Sequence[Line]], None]


def _with_x(points: Sequence[Drawn], lines: Sequence[Line]) -> None:
    _from_one_record(points, lines, has_x=True)


def _without_x(points: Sequence[Drawn], lines: Sequence[Line]) -> None:
    _from_one_record(points, lines, has_x=False)


# For each run: words, ranks, and the figures that its page must have, with what they must draw.
# Places of call times, of the roofline and of classic curves are computed, not recorded.
RUNS: dict[str, tuple[str, int, dict[str, Check]]] = {
    "ior": (
        f"ior {STORAGE} --transfer 64KiB,256KiB --block 1MiB --repetitions 6", 1,
        {"rate-by-size": _with_x, "call-times": _without_x, "roofline": _without_x,
         "time": _shares},
    ),
    "mdtest": (
        f"mdtest {STORAGE} --items 2000 --things files --iterations 2 --phases create,stat,remove",
        1, {"rates": _without_x, "over-time": _over_time},
    ),
    "overlap": (
        f"overlap {STORAGE} --repetitions 5", 1, {"hidden": _with_x, "slow-down": _with_x},
    ),
    "saturation": (f"saturation {STORAGE} --repetitions 5", 1, {"study-rates": _with_x}),
    "partest": (f"partest {STORAGE} --repetitions 3", 1,
                {"study-rates": _without_x, "partest-phases": _phases}),
    "flash-io": (f"flash-io {STORAGE} --repetitions 3", 1,
                 {"file-parts": _file_parts, "repetitions": _without_x}),
    "b-eff-io": (f"b-eff-io {STORAGE} --memory-per-rank 2MiB --time 2s", 1,
                 {"classic": _without_x}),
    "rings": (f"rings {MESSAGES} --rounds 3", 2, {"bandwidth": _of_rings, "latency": _of_rings}),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_figures_draw_the_records(any_engine: Engine, tmp_path: Path, name: str) -> None:
    words, ranks, checks = RUNS[name]
    command = [*words.split(), "--quiet", "-o", "r.jsonl"]
    run = any_engine.run(command, tmp_path, ranks) if ranks > 1 else any_engine.alone(
        command, tmp_path
    )  # fmt: skip
    assert run.code == 0, run
    path = tmp_path / "r.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    result = read_result(path)
    figures = {f.id: f for f in report_of("r", result, result.remarks).figures()}
    assert set(checks) <= set(figures)
    for identity, check in checks.items():
        points = list(_drawn(figure_data(figures[identity], identity)))
        assert points, identity
        check(points, lines)


def test_a_value_that_no_record_has_is_found() -> None:
    """The check of this file itself."""
    line = made.measurement("write", "shared", 1, 5e6)
    point = Drawn("", "write", 1048576.0, 5e6, None, None)
    _from_one_record([point], [line], has_x=False)
    with pytest.raises(AssertionError):
        _from_one_record([point._replace(y=5.1e6)], [line], has_x=False)
    with pytest.raises(AssertionError):
        _from_one_record([point._replace(high=7e6)], [line], has_x=False)
