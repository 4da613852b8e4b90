# SPDX-License-Identifier: BSD-3-Clause
"""Several systems on one page: b_eff_io over partition sizes, and the balance of network to HPL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from driver import made
from driver.conftest import Effio
from effio.report.b_eff_io import systems_blocks
from effio.report.balance import balance_blocks, balance_of_hpcc, balances_of, system_names
from effio.report.build import report_of_several
from effio.report.model import Figure, Table
from effio.store.reader import Result, read_result

MB = 1_000_000


def _of_system(
    path: Path, node: str, seconds: float, factor: float = 1.0, lines: list[made.Line] | None = None
) -> Result:
    """Two partitions (2 and 4 ranks) on one system, unless `lines` are given."""
    changed = json.loads(json.dumps(lines or made.two_partitions()))
    changed[0]["system"]["node_names"] = [f"{node}012"]
    changed[0]["options"]["time"] = seconds
    for line in changed:
        if line["kind"] == "figure" and line["metric"]["unit"] == "B/s":
            line["metric"]["value"] *= factor
    made.write(path, changed)
    return read_result(path)


@pytest.fixture
def results(tmp_path: Path) -> list[Result]:
    return [
        _of_system(tmp_path / "a.jsonl", "frost", 3600.0),
        _of_system(tmp_path / "b.jsonl", "blue-pacific-", 3600.0, 2.0),
        _of_system(tmp_path / "c.jsonl", "frost", 1200.0, 0.5),
    ]


def _figures(results: list[Result]) -> dict[str, Figure]:
    return {b.id: b for b in systems_blocks(results) if isinstance(b, Figure)}


def test_rates_over_the_partition_size_of_each_system(results: list[Result]) -> None:
    assert system_names(results) == ["frost", "blue-pacific", "frost"]
    found = _figures(results)
    assert list(found) == [
        "systems", "systems-accesses", "systems-types-write", "systems-types-rewrite",
        "systems-types-read", "systems-times",
    ]  # fmt: skip
    # Of 300 and 150 MB/s; the time of a run is that of two partitions.
    (panel,) = found["systems"].variants[""]
    assert {s.name: (list(s.x), list(s.y)) for s in panel.series} == {
        "frost, scheduled minutes 30": ([2, 4], [300 * MB, 150 * MB]),
        "blue-pacific, scheduled minutes 30": ([2, 4], [600 * MB, 300 * MB]),
        "frost, scheduled minutes 10": ([2, 4], [150 * MB, 75 * MB]),
    }
    assert all(all(s.faulty) for s in panel.series)  # none is valid
    panels = {p.title: p for p in found["systems-types-read"].variants[""]}
    assert list(panels) == list(made.TYPES)
    # The smallest chunk has 200 MB/s, the type four times as much.
    assert panels["scatter"].series[0].y[0] == 800 * MB
    (over_time,) = found["systems-times"].variants[""]
    curves = {s.name: list(s.y) for s in over_time.series}
    assert curves["frost, ranks 2"] == [150 * MB, 300 * MB]
    table = systems_blocks(results)[0]
    assert isinstance(table, Table)
    best = {row[0]: (row[1], row[2]) for row in table.rows}
    assert best == {"frost": (300 * MB, 2), "blue-pacific": (600 * MB, 2)}
    assert "systems-times" not in _figures(results[:2])


def test_one_page_and_single_figures_of_several_results(
    effio: Effio, results: list[Result]
) -> None:
    paths = [str(result.path) for result in results]
    done = effio.call("report", *paths, "-o", "page.html")
    assert done.returncode == 0, done.stderr
    assert "b_eff_io over partition sizes" in (effio.cwd / "page.html").read_text()
    done = effio.call("table", *paths, "--value", "access_bandwidth", "--by", "ranks,access")
    assert done.returncode == 0, done.stderr
    rows = [line.split()[:2] for line in done.stdout.splitlines()]
    assert ["2", "write"] in rows
    assert ["4", "read"] in rows
    pytest.importorskip("matplotlib")
    done = effio.call("report", *paths, "--svg", "systems", "--pdf", "systems-types-write")
    assert done.returncode == 0, done.stderr
    assert (effio.cwd / "systems.svg").is_file()
    assert (effio.cwd / "systems-types-write.pdf").is_file()


HPCC = """Begin of Summary section.
CommWorldProcs=64
HPL_Tflops=0.5
RandomlyOrderedRingBandwidth_GBytes=0.25
RandomlyOrderedRingLatency_usec=5.1
End of Summary section.
"""


def _rings(path: Path, node: str, gflops: float, rate: float) -> Result:
    figure = made.figure(
        "balance", rate / (gflops * 1e9), "B/FLOP", benchmark="rings", where={},
        detail={"rmax_flops_per_second": gflops * 1e9},
    )  # fmt: skip
    run: dict[str, Any] = made.run_line(benchmark="rings")
    return _of_system(path, node, 1.0, lines=made.numbered([run, figure, made.end()]))


def test_balance_over_systems(effio: Effio, tmp_path: Path) -> None:
    results = [
        _rings(tmp_path / "a.jsonl", "sx8-", 9000.0, 90e9),
        _rings(tmp_path / "b.jsonl", "columbia", 50000.0, 100e9),
    ]
    (effio.cwd / "hpccoutf.txt").write_text("HPL_Tflops=9\n" + HPCC)
    hpcc = balance_of_hpcc("cluster", effio.cwd / "hpccoutf.txt")
    # 64 processes of 0.25 GB/s are 16 GB/s; over 0.5 TFLOP/s that is 32 B for 1000 operations.
    assert (hpcc.flops, hpcc.rate, hpcc.processes) == (0.5e12, 16e9, 64)
    plot, ratios = balance_blocks([*balances_of(results), hpcc])
    assert isinstance(plot, Figure)
    assert isinstance(ratios, Figure)
    assert [s.name for s in plot.variants[""][0].series] == ["sx8", "columbia", "cluster"]
    assert [list(s.x) for s in plot.variants[""][0].series] == [[9e12], [50e12], [0.5e12]]
    assert list(ratios.variants[""][0].series[0].y) == pytest.approx([10, 2, 32])
    assert [row[0] for row in plot.as_table().rows] == ["cluster", "sx8", "columbia"]
    paths = [str(result.path) for result in results]
    words = ("--hpcc", "cluster=hpccoutf.txt", "-o", "page.html")
    done = effio.call("report", *paths, *words)
    assert done.returncode == 0, done.stderr
    assert "Balance: bytes for each 1000 operations" in (effio.cwd / "page.html").read_text()
    together = report_of_several([result.path for result in results], [hpcc])
    assert [f.id for f in together.figures() if "balance" in f.id] == ["balance", "balance-ratio"]
    endless = HPCC.replace("CommWorldProcs=64", "CommWorldProcs=1e999")
    assert endless != HPCC
    for text, what in (
        ("HPL_Tflops=1\n", "has no CommWorldProcs"),
        (endless, "has no CommWorldProcs"),
        (None, "No such file"),
    ):
        file = effio.cwd / "short.txt"
        file.unlink(missing_ok=True)
        if text is not None:
            file.write_text(text)
        done = effio.call("report", *paths, "--hpcc", "x=short.txt")
        assert done.returncode == 2
        assert what in done.stderr
