# SPDX-License-Identifier: BSD-3-Clause
"""Rates as a percentage of a site's peaks, and the charts of benchmarks that know their own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from driver import made
from driver.campaigns import read_runs
from driver.conftest import Effio
from driver.sides import cell, run
from driver.test_campaign_page import MB, _run
from effio.config.site import PeakSettings
from effio.judge.compare import compare
from effio.judge.samples import Judged, Side
from effio.report import claims
from effio.report.campaign import campaign_report
from effio.report.comparison import comparison_section
from effio.report.draw import styles_of
from effio.report.model import Figure, Quantity, Table
from effio.report.peaks import TITLE, SitePeaks, peak_of_run
from effio.report.registry import reporter_of
from effio.store.reader import Result, read_result

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

GB = 1e9
SITE = """[peaks]
network_per_node = "10GB/s"
memory_per_node = "50GB/s"
[[peaks.storage]]
per_node = "1.6GB/s"
per_server = "0.2GB/s"
servers = 72
total = "10GB/s"
[[peaks.storage]]
mount = "/scratch"
total = "1GB/s"
"""


def _result(path: Path, mount: str = "/") -> Result:
    lines = made.b_eff_io()
    lines[0]["file_system"]["mount_point"] = mount
    made.write(path, lines)
    return read_result(path)


@pytest.mark.parametrize(
    ("nodes", "name", "peak"),
    [
        # 1.6 GB/s of each node; 72 servers have 14.4 GB/s; the file system 10 GB/s in all.
        (1, "1 node × 1.600 GB/s", 1.6),
        (6, "6 nodes × 1.600 GB/s", 9.6),
        (7, "total of the file system", 10.0),
    ],
)
def test_the_least_of_nodes_servers_and_total_holds(
    nodes: int, name: str, peak: float, tmp_path: Path
) -> None:
    storage = {"per_node": "1.6GB/s", "per_server": "0.2GB/s", "servers": 72, "total": "10GB/s"}
    result = _result(tmp_path / "r.jsonl")
    of = SitePeaks.of(PeakSettings.model_validate({"storage": [storage]}), result)
    found = of.of_storage(nodes)
    assert found is not None
    assert found.name == name
    assert found.rate == pytest.approx(peak * GB)
    one_node = of.of_storage(1)
    assert one_node is not None  # the results have one
    assert of.ceilings(result) == {f"site: {one_node.name}": one_node.rate}
    storage["servers"] = 4
    of = SitePeaks.of(PeakSettings.model_validate({"storage": [storage]}), result)
    assert of.of_storage(7).rate == pytest.approx(0.8 * GB)  # type: ignore[union-attr]


def test_a_report_has_its_rates_as_a_percentage_of_them(effio: Effio) -> None:
    _result(effio.cwd / "a.jsonl")
    _result(effio.cwd / "b.jsonl", "/scratch")
    (effio.cwd / "effio-site.toml").write_text(SITE)
    shown = effio.call("show", "a.jsonl", "--format", "csv")
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if "Per cent of the site's peaks" in line)
    # Scattered writes of 1 KiB: 20 MB/s of 1.6 GB/s; reads of the cache: 200 MB/s of 50 GB/s.
    some = [line for line in lines[at:] if "scatter" in line and ",1024," in line]
    assert any("20000000.0,B/s,0.0125,1 node × 1.600 GB/s" in line for line in some), some
    assert any("200000000.0,B/s,0.004,memory: 1 node" in line for line in some), some
    shown = effio.call("show", "b.jsonl", "--format", "csv")
    assert "0.02,total of the file system" in shown.stdout
    done = effio.call("report", "a.jsonl", "-o", "page.html")
    assert done.returncode == 0, done.stderr
    assert "Per cent of the site&#39;s peaks" in (effio.cwd / "page.html").read_text()
    (effio.cwd / "effio-site.toml").write_text(SITE.replace('"1GB/s"', '"much"'))
    done = effio.call("report", "a.jsonl", "-o", "other.html")
    assert done.returncode == 2
    assert "effio-site.toml:11" in done.stderr
    assert "'much' is not a rate; write for example 1.6GB/s" in done.stderr


@pytest.mark.parametrize(
    ("verdict", "file_system", "peak"),
    [
        ("device", {"mount_point": "/"}, "1 node × 1.600 GB/s"),
        ("device", {"mount_point": "/scratch"}, "total of the file system"),
        ("cache", {"mount_point": "/scratch"}, "memory: 1 node × 50.00 GB/s"),
        ("device", None, "network: 1 node × 10.00 GB/s"),
    ],
)
def test_what_is_kept_of_a_run_says_which_peak_holds(
    verdict: str, file_system: dict[str, str] | None, peak: str, tmp_path: Path
) -> None:
    """The index has it of every run."""
    start = made.run_line(benchmark="ior", options={"phases": ["write"]})
    start["file_system"] = file_system and {**start["file_system"], **file_system}
    cache = {"verdict": verdict, "storage_fraction": 0.0 if verdict == "cache" else 1.0}
    measured = made.measurement("write", "", 1, 80.0 * MB, benchmark="ior", cache=cache)
    best = made.figure("write_bandwidth", 80.0 * MB, benchmark="ior", where={})
    made.write(tmp_path / "r", made.numbered([start, measured, best, made.end()]))
    result = read_result(tmp_path / "r")
    kept = claims.written(claims.claimed(Judged("r", tmp_path, result)).claim)
    settings = PeakSettings.model_validate(tomllib.loads(SITE)["peaks"])
    limit = peak_of_run(settings, claims.read(kept))
    assert limit is not None
    assert limit.name == peak


def test_a_campaign_and_a_comparison_have_them_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site.toml").write_text(SITE)
    monkeypatch.setenv("EFFIO_SITE", str(tmp_path / "site.toml"))
    for rep, rate in enumerate((390, 400, 410)):
        _run(tmp_path / "runs", 1, rate * MB, rep=rep)
    _run(tmp_path / "runs", 1, 1200 * MB, block="8MiB")
    report = campaign_report("nightly", read_runs(tmp_path / "runs", "nightly"))
    (section,) = [s for s in report.sections if s.id == "peaks"]
    (table,) = section.blocks
    assert isinstance(table, Table)
    one_node, peak = "1 node × 1.600 GB/s", Quantity(1.6 * GB, "B/s")
    assert [list(row) for row in table.rows] == [
        ["1MiB", "highest rate", Quantity(400.0 * MB, "B/s"), 0.25, one_node, peak],
        ["8MiB", "highest rate", Quantity(1200.0 * MB, "B/s"), 0.75, one_node, peak],
    ]
    # Each side has its own file system's peak: 1.6 GB/s of a node, 1 GB/s of /scratch.
    scratch: dict[str, Any] = {
        "file_system": {**made.run_line()["file_system"], "mount_point": "/scratch"}
    }
    first = Side("a", [run("a", [cell(160 * MB)])])
    second = Side("b", [run("b", [cell(160 * MB)], **scratch)])
    blocks = comparison_section([compare(first, second)]).blocks
    (table,) = [b for b in blocks if isinstance(b, Table) and b.title == TITLE]
    (row,) = table.rows
    assert row[3:5] == [0.1, one_node]
    assert row[6:] == [0.16, "total of the file system"]
    monkeypatch.delenv("EFFIO_SITE")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    blocks = comparison_section([compare(first, second)]).blocks
    assert not [b for b in blocks if isinstance(b, Table) and b.title == TITLE]


def _study(path: Path, benchmark: str, axis: str, shares: dict[int, float]) -> Figure:
    run = made.run_line(benchmark=benchmark, study={"axes": [{"name": axis, "title": axis,
                        "unit": "B" if axis.endswith("bytes") else "1"}]})  # fmt: skip
    lines = [run]
    for value, share in shares.items():
        where = {axis: value, "pattern": "own file", "access": "write"}
        lines.append(made.figure("bandwidth", share * GB, benchmark=benchmark, where=where))
        lines.append(made.figure("share_of_peak", share, "1", benchmark=benchmark, where=where))
    made.write(path, made.numbered([*lines, made.end()]))
    result = read_result(path)
    sections = reporter_of(result).sections(result)
    (found,) = [b for s in sections for b in s.blocks
                if isinstance(b, Figure) and b.id == "peak-share"]  # fmt: skip
    return found


def test_benchmarks_with_a_peak_draw_it_as_a_line(tmp_path: Path) -> None:
    shares = {1: 0.2, 2: 0.35, 4: 0.5, 8: 0.6}
    streams = _study(tmp_path / "s.jsonl", "spiobench", "tasks", shares)
    rates, peak, ideal = streams.variants[""][0].series
    assert list(rates.y) == list(shares.values())
    assert (peak.form, list(peak.y)) == ("limit", [1.0] * 4)
    # Linear from 20 % on one task, and no more than the peak.
    assert ideal.name == "ideal scaling"
    assert list(ideal.y) == pytest.approx([0.2, 0.4, 0.8, 1.0])
    assert streams.y.shown == "%"
    blocks = _study(tmp_path / "b.jsonl", "io-bench", "block_bytes", {65536: 0.4, 1 << 20: 0.6})
    assert [s.name for s in blocks.variants[""][0].series] == ["own file, write", "peak"]
    assert [text for _, text in blocks.x.ticks] == ["64 KiB", "1 MiB"]
    assert len(set(styles_of(blocks).values())) == 2
