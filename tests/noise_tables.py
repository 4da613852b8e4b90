# SPDX-License-Identifier: BSD-3-Clause
"""Measures how often the statements of effio are right for each kind of noise, with the code of the
driver, and writes the tables of docs/statistics.md:

    PYTHONPATH=tests:driver python tests/noise_tables.py
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from effio.judge import compare, detection, guard, remarks, repetitions, statistics
from noise_kinds import KINDS, SPREAD, Floats, Kind
from until_ci_rule import Rule, stopped

PAGE = Path(__file__).resolve().parents[1] / "docs" / "statistics.md"
SEED = 43
TRIALS = 1000
COUNTS = (5, 10, 20, 30, 60, 100)
NIGHTS = (2, 3, 5)
RULED = (3, 5, 10, 30)
RULINGS = 300
BASELINES = (5, 10, 20)
LEAST = (10, 30, 60)
LONG_RUNS = 300
RISK = 0.05
# A share is not shown if it is of fewer cases than this.
_FEWEST_CASES = 30

Row = list[str]
Rows = list[Row]


def _percent(some: Floats | np.ndarray) -> str:
    return f"{100 * float(np.mean(some)):.0f}" if len(some) else "–"


def _samples(kind: Kind, trials: int, count: int) -> Floats:
    chance = np.random.default_rng([SEED, KINDS.index(kind), count])
    return kind.made(chance, trials, count)


def _holds(kind: Kind, values: Floats) -> np.ndarray:
    away = np.abs(values.mean(-1) - kind.truth)
    return np.asarray(away <= detection.half_width(values))


def intervals() -> Rows:
    """For each kind and number of values: the shares of intervals that contain the true value, of
    samples called odd, and of odd samples among the intervals that miss it."""
    rows = []
    for kind in KINDS:
        row = [f"{kind.name}: {kind.what}"]
        for count in COUNTS:
            values = _samples(kind, TRIALS, count)
            holds, odd = _holds(kind, values), remarks.odd(values)
            missed = odd[~holds]
            shown = _percent(missed) if len(missed) >= _FEWEST_CASES else "–"
            row.append(f"{_percent(holds)}, {_percent(odd)}, {shown}")
        rows.append(row)
    return rows


def reliable() -> Rows:
    """The shares of samples called reliable, and of right intervals among them."""
    rows = []
    for kind in KINDS:
        row = [kind.name]
        for count in (n for n in COUNTS if n >= repetitions.RELIABLE_FROM):
            values = _samples(kind, 4 * TRIALS, count)
            called = ~remarks.odd(values)
            holds = _holds(kind, values)
            enough = int(called.sum()) >= _FEWEST_CASES
            row.append(f"{_percent(called)}, {_percent(holds[called]) if enough else '–'}")
        rows.append(row)
    return rows


def _of_nights(kind: Kind, count: int, runs: int) -> Callable[[np.random.Generator], Floats]:
    """Means of the logarithms of each night's runs, with an effect of the night."""

    def made(chance: np.random.Generator) -> Floats:
        values = np.log(kind.made(chance, TRIALS * count, runs)).reshape(TRIALS, count, runs)
        return np.asarray(values.mean(-1) + chance.normal(0, 2 * SPREAD, (TRIALS, count)))

    return made


def comparisons() -> Rows:
    """Share of equal systems that `compare` calls different, by the number of nights per side.
    There are five runs per night; the effect of a night is twice the deviation of the runs."""
    rows = []
    for kind in KINDS:
        row = [kind.name]
        for count in NIGHTS:
            chance = np.random.default_rng([SEED, 2, KINDS.index(kind), count])
            made = _of_nights(kind, count, 5)
            sides = np.exp(np.stack([made(chance), made(chance)], 1))
            tested = statistics.pooled if count < statistics.FEWEST else statistics.ratio
            found = [tested(a.tolist(), b.tolist()) for a, b in sides]
            alarms = np.array([f is not None and f.p < statistics.SIGNIFICANCE for f in found])
            row.append(f"{100 * alarms.mean():.1f}")
        rows.append(row)
    return rows


def baselines() -> Rows:
    """Share of equal nights that `compare --baseline` calls below the baseline, by the number of
    its nights, for one measurement. Nights as in `comparisons`."""
    rows = []
    for kind in KINDS:
        row = [kind.name]
        for count in BASELINES:
            chance = np.random.default_rng([SEED, 3, KINDS.index(kind), count])
            nights = np.exp(_of_nights(kind, count + 1, 5)(chance))
            found = [statistics.ratio(n[:-1].tolist(), n[-1:].tolist()) for n in nights]
            alarms = [f is not None and f.p < compare.CONTROL and f.value < 1 for f in found]
            row.append(f"{100 * np.mean(alarms):.1f}")
        rows.append(row)
    return rows


def until_ci() -> Rows:
    """For each kind and least number of repetitions of --until-ci 5%: the share of runs that an
    interval ended within 120 repetitions, the share of these intervals that hold the true mean, and
    the median of the repetitions."""
    rows = []
    for kind in KINDS:
        row = [kind.name]
        chance = np.random.default_rng([SEED, 4, KINDS.index(kind)])
        values = kind.made(chance, LONG_RUNS, Rule().most)
        for least in LEAST:
            found = stopped(values, kind.truth, Rule(least=least))
            ended = found.stopped
            enough = int(ended.sum()) >= _FEWEST_CASES
            count = f"{np.median(found.repetitions[ended]):.0f}" if enough else "–"
            row.append(
                f"{_percent(ended)}, {_percent(found.holds[ended]) if enough else '–'}, {count}"
            )
        rows.append(row)
    return rows


def rulings() -> Rows:
    """Share of decisions for a threshold at the true mean, on the side with more of them: a pass
    would be wrong slightly below it, a fail slightly above."""
    rows = []
    for kind in KINDS:
        row = [kind.name]
        for count in RULED:
            sides = [0, 0]
            for sample in _samples(kind, RULINGS, count):
                met = float(sample.mean()) >= kind.truth
                reported = guard.of_mean([sample], kind.truth, met, RISK)
                sides[met] += reported.decides(RISK)
            row.append(f"{100 * max(sides) / RULINGS:.0f}")
        rows.append(row)
    return rows


TABLES: Mapping[str, tuple[Sequence[str], Callable[[], Rows]]] = {
    "intervals": (["noise", *(f"{n}" for n in COUNTS)], intervals),
    "reliable": (
        ["noise", *(f"{n}" for n in COUNTS if n >= repetitions.RELIABLE_FROM)], reliable,
    ),
    "comparisons": (["noise", *(f"{n} nights" for n in NIGHTS)], comparisons),
    "baselines": (["noise", *(f"{n} nights" for n in BASELINES)], baselines),
    "until-ci": (["noise", *(f"least {n}" for n in LEAST)], until_ci),
    "rulings": (["noise", *(f"{n}" for n in RULED)], rulings),
}  # fmt: skip


def text_of(heads: Sequence[str], rows: Rows) -> str:
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _place(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- table: {name} -->\n)((?:\|.*\n)*)")


def rows_on_page(page: str, name: str) -> Rows:
    found = _place(name).search(page)
    assert found is not None, name
    lines = found[2].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def main() -> None:
    page = PAGE.read_text()
    for name, (heads, made) in TABLES.items():
        page = _place(name).sub(lambda m: m[1] + text_of(heads, made()), page)  # noqa: B023
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
