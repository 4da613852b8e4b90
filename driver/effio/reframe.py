# SPDX-License-Identifier: BSD-3-Clause
"""A ReFrame test class for sites: a benchmark of the engine, launched by ReFrame as any parallel
program, judged by its own records. docs/interop.md.

    import reframe as rfm
    from effio.reframe import EffioTest

    @rfm.simple_test
    class Bulk(EffioTest):
        valid_systems = ["*"]
        valid_prog_environs = ["*"]
        benchmark = "ior"
        options = {"block": "1GiB", "transfer": "4MiB"}
        num_tasks = 16
        reference = {"*": {"write_rate": (2e9, -0.1, None, "B/s")}}
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import run_after, run_before, sanity_function, variable

from effio import text as fmt
from effio.store.reader import Result, ResultError, read_result

_RESULT = "effio-result.jsonl"
# ReFrame takes its messages as templates.
_BRACES = str.maketrans({"{": "{{", "}": "}}"})


def words_of(options: dict[str, Any]) -> list[str]:
    """The options as the engine takes them; true is a flag that is given, false one that is not."""
    return [
        f"--{name}" if value is True else f"--{name}={value}"
        for name, value in options.items()
        if value is not False
    ]


def performance_of(result: Result) -> dict[str, tuple[float, str]]:
    """Value and unit by name: of every access the median rate of its valid measurements (with the
    pattern in the name where there are several), and every figure that has a value."""
    rates: dict[tuple[str, str], list[float]] = {}
    units: dict[tuple[str, str], str] = {}
    for m in result.measurements:
        if m.valid and m.rate.value is not None:
            rates.setdefault((m.access, m.pattern), []).append(m.rate.value)
            units[m.access, m.pattern] = m.rate.unit
    patterns = [pattern for _, pattern in rates]
    several = len(set(patterns)) > 1
    found: dict[str, tuple[float, str]] = {}
    for (access, pattern), values in rates.items():
        name = f"{access} {pattern} rate" if several else f"{access} rate"
        found[_word(name)] = (median(values), units[access, pattern])
    for name, value, unit in _figures(result):
        found.setdefault(_word(name), (value, unit))
    return found


def _figures(result: Result) -> Iterator[tuple[str, float, str]]:
    """The figures; the name of one that exists for several axes holds these."""
    names = [figure.name for figure in result.figures]
    for figure in result.figures:
        if figure.valid is False or figure.metric.value is None:
            continue
        several = names.count(figure.name) > 1
        axes = [str(v) for v in figure.where.values()] if several else []
        yield " ".join([figure.name, *axes]), figure.metric.value, figure.metric.unit


def _word(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_")


class EffioTest(rfm.RunOnlyRegressionTest):  # type: ignore[misc]  # reframe has no types
    """`benchmark` and `options` by the names of `effio describe`; `engine` is the program. Set
    `num_tasks`, systems, environments and `reference` as in any test of ReFrame."""

    engine = variable(str, value="effio-mpi")
    benchmark = variable(str)
    options = variable(dict, value={})

    @run_after("setup")  # type: ignore[untyped-decorator]
    def set_command(self) -> None:
        self.executable = self.engine
        words = [*words_of(self.options), f"--result={_RESULT}"]
        # ReFrame writes them into a shell script as they are.
        self.executable_opts = [self.benchmark, *map(shlex.quote, words)]
        self.keep_files = [_RESULT]

    def result(self) -> Result:
        return read_result(Path(self.stagedir) / _RESULT)

    @sanity_function  # type: ignore[untyped-decorator]
    def ended_well(self) -> Any:
        """Done, no wrong data; else what the engine says of it."""
        try:
            result = self.result()
        except ResultError as error:
            return sn.assert_true(False, msg=f"no result: {error.message}".translate(_BRACES))
        why = [result.end.reason] if result.end else []
        why += [error.text() for error in result.end.errors[:3]] if result.end else []
        reported = f"the run ended as {result.status}: {'; '.join(filter(None, why))}"
        return sn.assert_eq(result.status, "done", msg=fmt.plain(reported).translate(_BRACES))

    @run_before("performance")  # type: ignore[untyped-decorator]
    def set_performance(self) -> None:
        self.perf_variables = {
            name: sn.make_performance_function(sn.defer(value), unit)
            for name, (value, unit) in performance_of(self.result()).items()
        }
