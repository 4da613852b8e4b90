# SPDX-License-Identifier: BSD-3-Clause
"""Whatever an engine may write is read: results in which every described member is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from driver import made
from driver.all_members import Amount, lines_of
from effio.judge.compare import compare
from effio.judge.samples import Judged, Side
from effio.report.claims import claimed
from effio.report.html import render
from effio.report.listing import line_of
from effio.report.points import points_of, table_of
from effio.report.together import across
from effio.report.trend import trend_of, trend_report
from effio.store.folder import RunFolder
from effio.store.reader import read_result
from fuzz.reporting import report_everything


@pytest.mark.parametrize("amount", Amount)
@pytest.mark.parametrize("benchmark", made.ALL)
def test_every_member_is_read(benchmark: str, amount: Amount, tmp_path: Path) -> None:
    # ReFrame is large, and each process collects this file.
    from effio.reframe import performance_of

    path = made.write(tmp_path / "result.jsonl", lines_of(benchmark, amount))
    result = read_result(path)
    assert "</html>" in render([report_everything(result)], ["r"])
    runs = [Judged(name, path, result, {}) for name in "abc"]
    compare(Side("a", runs[:2]), Side("b", runs[1:]))
    table_of(points_of(runs))
    trend_report(trend_of("t", list(map(claimed, runs))))
    across([result, result])
    performance_of(result)
    assert line_of(RunFolder(tmp_path), result)["benchmark"] == benchmark
