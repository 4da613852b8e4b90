# SPDX-License-Identifier: BSD-3-Clause
"""Several runs on one page: by benchmark, each named by what sets it apart."""

from __future__ import annotations

from pathlib import Path

from driver import made
from effio.report.build import load, report_of
from effio.report.model import Figure, Table
from effio.report.together import distinctions, overview
from effio.store.reader import Result, read_result


def _result(path: Path, lines: list[made.Line], **options: object) -> Result:
    lines[0]["options"] |= options
    return read_result(made.write(path, lines))


def test_runs_are_named_by_what_sets_them_apart(tmp_path: Path) -> None:
    plain = _result(tmp_path / "a", made.b_eff_io(), result="a.jsonl")
    longer = _result(tmp_path / "b", made.b_eff_io(), result="b.jsonl", time=60.0)
    elsewhere = made.b_eff_io()
    elsewhere[0]["file_system"] |= {"type": "lustre", "mount_point": "/scratch"}
    other = _result(tmp_path / "c", elsewhere)
    assert distinctions([plain, longer]) == ["time 12 s", "time 60 s"]
    assert distinctions([plain, longer, other]) == [
        "ext4 /, time 12 s",
        "ext4 /, time 60 s",
        "lustre /scratch, time 12 s",
    ]
    # Equal commands: the time of their start distinguishes them.
    lines = made.b_eff_io()
    lines[0]["started"] = "2026-11-20T13:00:00Z"
    again = _result(tmp_path / "d", lines)
    assert distinctions([plain, again]) == ["2026-11-20T12:00:00Z", "2026-11-20T13:00:00Z"]


def test_headlines_are_side_by_side_by_benchmark(tmp_path: Path) -> None:
    other = made.b_eff_io()
    other[0]["benchmark"] = "something-new"
    paths = [
        made.write(tmp_path / "a.jsonl", made.b_eff_io()),
        made.write(tmp_path / "b.jsonl", made.two_partitions()[:-1]),
        made.write(tmp_path / "c.jsonl", other),
    ]
    loaded = [load(p) for p in paths]
    figure, table = overview(
        [report_of(*one) for one in loaded], [result for _, result, _ in loaded]
    )
    # b_eff_io's two alone: what the third counts is another thing.
    assert isinstance(figure, Figure)
    assert list(figure.variants[""][0].series[0].y) == [300e6, 300e6]
    assert figure.variants[""][0].series[0].faulty == [True, True]
    assert isinstance(table, Table)
    assert [row[1] for row in table.rows] == ["b-eff-io", "b-eff-io", "something-new"]
    # From the start to what the end line says: a minute; a killed run does not say it.
    assert [row[6] for row in table.rows] == [60.0, None, 60.0]
