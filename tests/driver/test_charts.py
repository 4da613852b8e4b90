# SPDX-License-Identifier: BSD-3-Clause
"""Figures that a campaign's file describes, of results whose numbers are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from driver import made
from driver.campaigns import read_runs
from driver.conftest import Effio
from effio.campaign.file import Chart, load_shipped, shipped
from effio.report.charts import Measured, chart_blocks, charts_section
from effio.report.draw import styles_of
from effio.report.model import Figure, Section

MB = 1_000_000
TEXT = """title = "t"
purpose = "p"
[[step]]
name = "layout"
benchmark = "ior"
options = { backend = "null" }
values = { layout = "compact" }
[step.sweep]
layout = ["compact", "strided"]
collective = [false, true]
transfer = ["64KiB", "1MiB"]
[[chart]]
name = "collective"
title = "Collective calls"
steps = ["layout"]
access = ["write"]
over = "transfer"
curves = ["layout", "collective"]
dashed = { collective = true }
against = { layout = "compact", collective = false }
"""
# MB/s by layout, collective calls and transfer.
RATES = {
    ("compact", False): {"64KiB": 200, "1MiB": 400},
    ("compact", True): {"64KiB": 100, "1MiB": 100},
    ("strided", False): {"64KiB": 50, "1MiB": 200},
    ("strided", True): {"64KiB": 160, "1MiB": 320},
}


def _keep(store: Path, axes: dict[str, Any], rate: float, **more: Any) -> None:
    name = f"20260101T000000Z-ior-s-layout-{len(list(store.glob('2*'))):03d}-r0"
    run = made.run_line(benchmark="ior")
    where = {"files": "shared"}
    lines = [
        made.measurement(access, "shared", 1, rate * MB, benchmark="ior", where=where, **more)
        for access in ("write", "read")
    ]
    made.write(store / name / "result.jsonl", made.numbered([run, *lines, made.end()]))
    record = {
        "schema": "effio-run/1", "id": name, "created": run["started"], "benchmark": "ior",
        "arguments": [], "directory": "/", "command": [],
        "campaign": {"name": "s", "step": "layout", "point": name, "repetition": 0, "axes": axes},
        "outcome": {"status": "done", "exit_code": 0},
    }  # fmt: skip
    (store / name / "run.json").write_text(json.dumps(record))


def _section(store: Path, **more: Any) -> Section:
    chart = {
        "name": "c", "title": "C", "steps": ("layout",), "access": ("write",), "over": "transfer",
        "curves": ("layout", "collective"), "dashed": {"collective": True},
        "against": {"layout": "compact", "collective": False},
    }  # fmt: skip
    found = charts_section([Chart(**(chart | more))], read_runs(store, "s"))
    assert found is not None
    return found


@pytest.fixture
def store(tmp_path: Path) -> Path:
    kept = tmp_path / "effio-runs"
    for (layout, collective), rates in RATES.items():
        for transfer, rate in rates.items():
            axes = {"layout": layout, "collective": collective, "transfer": transfer}
            _keep(kept, axes, rate)
    return kept


def test_curves_and_the_overhead_over_one_of_them(store: Path) -> None:
    rates, overhead = _section(store).blocks
    assert isinstance(rates, Figure)
    assert isinstance(overhead, Figure)
    (panel,) = rates.variants[""]
    assert {s.name: list(s.y) for s in panel.series} == {
        f"{layout}, collective {str(collective).lower()}": [rate * MB for rate in some.values()]
        for (layout, collective), some in RATES.items()
    }
    assert list(rates.x.ticks) == [(65536, "64 KiB"), (1048576, "1 MiB")]
    # A collective curve has the color of the independent one of its layout, and is dashed.
    looks = {name: look for (name, _), look in styles_of(rates).items()}
    for layout in ("compact", "strided"):
        one, other = (looks[f"{layout}, collective {on}"] for on in ("false", "true"))
        assert (one.colour, one.round) == (other.colour, 0)
        assert other.round > 0
    # 64 KiB, strided: 50 MB at 50 MB/s take 1 s, and 0.25 s at the 200 MB/s of the reference.
    assert overhead.id == "c-overhead"
    assert overhead.title == "C: overhead over compact, collective false"
    _, asked = _section(store, title="Which?").blocks
    assert isinstance(asked, Figure)
    assert asked.title == "Which? Overhead over compact, collective false"
    rows = {(row[1], row[2]): row[3:] for row in overhead.as_table().rows}
    assert rows["strided, collective false", "64KiB"] == (
        [50 * MB, pytest.approx(1.0), pytest.approx(0.75), pytest.approx(3.0)]
    )
    assert rows["strided, collective true", "1MiB"][3] == pytest.approx(0.25)
    assert len(rows) == 6  # the reference itself has none


def test_a_curve_without_hints_names_them(store: Path) -> None:
    _keep(store, {"layout": "none", "collective": False, "transfer": "64KiB"}, 10)
    (figure,) = _section(store, against={}, curves=("layout",), dashed={}).blocks
    assert isinstance(figure, Figure)
    names = [s.name for s in figure.variants[""][0].series]
    assert names == ["compact", "strided", "layout none"]


def test_panels_bars_and_a_reference_among_them(store: Path) -> None:
    section = _section(
        store, access=(), over="layout", curves=("transfer",), panels=("access",), dashed={},
        where={"collective": False}, against={"layout": "compact"},
    )  # fmt: skip
    rates, overhead = section.blocks
    assert isinstance(rates, Figure)
    assert isinstance(overhead, Figure)
    assert rates.kind == "bars"
    assert [p.title for p in rates.variants[""]] == ["write", "read"]
    assert [list(s.x) for s in overhead.variants[""][0].series] == [["strided"]] * 2
    assert [list(s.y) for s in overhead.variants[""][0].series] == [
        [3.0],
        [1.0],
    ]  # of each transfer
    assert _section(store, where={"layout": "other"}).blocks == [
        "C: no run of layout has a value that counts."
    ]


def test_rates_of_memory_do_not_hide_those_of_storage(store: Path) -> None:
    assert not _section(store, against={}).blocks[0].y.log  # type: ignore[union-attr]
    _keep(store, {"layout": "compact", "collective": False, "transfer": "4MiB"}, 6000)
    (figure,) = _section(store, against={}).blocks
    assert isinstance(figure, Figure)
    assert (figure.y.log, figure.y.switch) == (True, True)
    assert "memory" not in figure.caption
    cache = {"verdict": "cache", "storage_fraction": 0.0, "reason": "", "methods": []}
    _keep(store, {"layout": "strided", "collective": False, "transfer": "4MiB"}, 50, cache=cache)
    (figure,) = _section(store, against={}).blocks
    assert isinstance(figure, Figure)
    assert "1 of 10 points came out of memory or went there." in figure.caption
    (strided,) = (s for s in figure.variants[""][0].series if s.name == "strided, collective false")
    assert strided.notes == [*["1 value, on storage"] * 2, "1 value, in memory"]
    (figure,) = _section(store, against={}, curves=(), dashed={}).blocks
    assert isinstance(figure, Figure)
    assert [s.name for s in figure.variants[""][0].series] == ["mean"]


def test_charts_of_a_campaign_by_command(with_engine: Effio, store: Path) -> None:
    effio = with_engine
    (effio.cwd / "s.toml").write_text(TEXT)
    assert effio.call("check", "s.toml").returncode == 0
    (effio.cwd / "wrong.toml").write_text(
        TEXT.replace('over = "transfer"', 'over = "transfr"').replace('["layout"]', '["layuot"]', 1)
    )
    said = effio.call("check", "wrong.toml").stderr
    assert "'layuot' is not a step; did you mean 'layout'?" in said
    folder = store / "campaigns" / "s"
    folder.mkdir(parents=True)
    (folder / "campaign.json").write_text('{"file": "x", "directory": "/", "ranks": 1}')
    (folder / "campaign.toml").write_text(TEXT)
    pytest.importorskip("matplotlib")
    for kind in ("svg", "pdf"):
        done = effio.call("report", "s", f"--{kind}", "collective-overhead")
        assert done.returncode == 0, done.stderr
    assert "What the campaign asks" not in effio.call("report", "s").stderr
    assert "What the campaign asks" in (folder / "report.html").read_text()


def test_shipped_campaigns_draw_what_they_promise() -> None:
    charts = {name: [c.name for c in load_shipped(name).chart] for name in shipped()}
    assert {name: some for name, some in charts.items() if some} == {
        "b_eff_io-partitions": ["partitions", "accesses", "types"],
        "eocoe": ["layouts", "collective", "layers", "striping", "readers", "containers"],
        "nersc-libraries": ["libraries"],
    }


def test_solid_curves_come_before_dashed_ones() -> None:
    chart = Chart(
        name="kinds", title="Kinds", steps=("s",), over="ranks", curves=("kind",),
        dashed={"kind": "b"},
    )  # fmt: skip
    values = [
        Measured({"kind": kind, "ranks": ranks}, 1.0, "B/s") for kind in "ba" for ranks in "12"
    ]
    (figure,) = chart_blocks(chart, values)
    assert isinstance(figure, Figure)
    drawn = [(s.name, s.dashed, list(s.x)) for s in figure.variants[""][0].series]
    assert drawn == [("a", False, [1.0, 2.0]), ("b", True, [1.0, 2.0])]
