# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of a study, against a result whose numbers are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driver import made
from effio.report.build import report_of
from effio.report.html import render
from effio.report.model import Figure, Quantity, Report, Table
from effio.store.reader import read_result

MB = 1_000_000
KIB = 1024
AXES = [
    {"name": "block_bytes", "title": "block", "unit": "B"},
    {"name": "copies", "title": "copies", "unit": "1"},
]
# Rates by block in MB/s; the peak is 100.
RATES = {64 * KIB: 20.0, 1024 * KIB: 80.0}


def _where(block: int, access: str, copies: int = 1) -> made.Line:
    return {
        "block_bytes": block,
        "copies": copies,
        "pattern": "sequential",
        "access": access,
    }


def _rate(block: int, access: str, value: float, copies: int = 1) -> list[made.Line]:
    where = _where(block, access, copies)
    detail = {"transfer_rate_bytes_per_second": 2 * value * MB, "cache": "device"}
    mean = made.figure("bandwidth", value * MB, benchmark="io-bench", where=where, detail=detail)
    mean["samples"] = {
        "count": 2,
        "min": 0.9 * value * MB,
        "max": 1.1 * value * MB,
        "low95": 0.8 * value * MB,
        "high95": 1.2 * value * MB,
    }
    share = made.figure("share_of_peak", value / 100, "1", benchmark="io-bench", where=where)
    if value > 100:
        share["reasons"] = ["above the measured peak: the peak is too low"]
    return [mean, share]


def _measurement(access: str) -> made.Line:
    parts = {"open": 0.1, "transfer": 0.7, "close": 0.2}
    return {
        **made.measurement(access, "sequential", 1, 1.0),
        "benchmark": "io-bench",
        "where": {"block_bytes": 64 * KIB, "copies": 1},
        "bytes": 20 * MB,
        "seconds": {"total": made.spread(1.0)} | {k: made.spread(v) for k, v in parts.items()},
        "detail": {},
    }


def made_lines() -> list[made.Line]:
    run = made.run_line(benchmark="io-bench", study={"axes": AXES})
    best = made.figure("io_bench", 80 * MB, benchmark="io-bench", where={})
    best["detail"] = {"place": _where(1024 * KIB, "write")}
    return made.numbered(
        [
            run,
            _measurement("write"),
            _measurement("read"),
            *(line for b, r in RATES.items() for line in _rate(b, "write", r)),
            *(line for b, r in RATES.items() for line in _rate(b, "read", 2 * r)),
            best,
            made.end(),
        ]
    )


TILES = [
    {"name": "element_bytes", "title": "element", "unit": "B"},
    {"name": "calls", "title": "calls", "unit": ""},
]
IMAGES = [{"name": "request_bytes", "title": "request", "unit": "B"}]


def _lines_of(benchmark: str, axes: list[made.Line], calls: str = "") -> list[made.Line]:
    """The same rates of another benchmark, whose sizes are those of the blocks."""
    first = "request_bytes" if benchmark == "ssca3" else "element_bytes"

    def place(where: made.Line) -> made.Line:
        found = {first: where["block_bytes"]} | ({"calls": calls} if calls else {})
        return found | {k: v for k, v in where.items() if k in ("pattern", "access")}

    lines = [made.run_line(benchmark=benchmark, study={"axes": axes})]
    for line in made_lines()[1:-1]:
        other = line | {"benchmark": benchmark}
        if line.get("name") == "io_bench":
            named = {"ssca3": "ssca3_bandwidth"}
            other["name"] = named.get(benchmark, benchmark.replace("-", "_"))
            other["detail"] = {"place": place(line["detail"]["place"])}
        else:
            other["where"] = place(line["where"])
        lines.append(other)
    return made.numbered([*lines, made.end()])


def _reported(tmp_path: Path, lines: list[made.Line], foreign: bool = False) -> Report:
    result = read_result(made.write(tmp_path / "run.jsonl", lines, foreign))
    return report_of("run", result, result.remarks)


def _tables(report: Report, title: str) -> list[Table]:
    blocks = [b for s in report.sections for b in s.blocks]
    return [b for b in blocks if isinstance(b, Table) and b.title == title]


def test_the_headline_is_the_highest_rate_and_its_place(tmp_path: Path) -> None:
    headline = _reported(tmp_path, made_lines()).headline
    assert headline.shown() == "80.00 MB/s"
    # An axis with one value is left out.
    assert headline.context.startswith("sequential write, block 1 MiB, on ")


def _with_rates(count: int, low: float = 0.8, high: float = 1.2) -> list[made.Line]:
    """The means of this many repetitions, with these parts of them as interval."""
    lines = made_lines()
    for line in lines:
        if line.get("name") == "bandwidth":
            value = line["metric"]["value"]
            line["samples"] |= {"count": count, "low95": low * value, "high95": high * value}
    return lines


@pytest.mark.parametrize(
    ("lines", "doubt"),
    [
        (_with_rates(3), ""),
        (_with_rates(1), "measured once"),
        # 20 and 80 MB/s, each from a tenth to five times of it.
        (_with_rates(3, 0.1, 5.0), "fewer than five repetitions have no interval"),
        (_with_rates(5, 0.1, 5.0), "the 95 % intervals overlap"),
    ],
)
def test_what_is_highest_is_said_with_its_doubt(
    tmp_path: Path, lines: list[made.Line], doubt: str
) -> None:
    report = _reported(tmp_path, lines)
    said = f"not known to be the highest: {doubt}" if doubt else ""
    assert said in report.headline.context
    assert ("not known" in report.headline.context) is bool(doubt)
    (shares,) = [f.text for f in report.findings if "reaches" in f.text]
    assert shares.startswith("Best: ") is not bool(doubt)
    assert (f"; whether they differ is not known: {doubt}." in shares) is bool(doubt)
    lines[0]["study"]["headline"] = "strongest and weakest"
    best = next(line for line in lines if line.get("name") == "io_bench")
    best["detail"]["weakest"] = _where(64 * KIB, "write")
    context = _reported(tmp_path, lines).headline.context
    for word in ("strongest", "weakest"):
        assert (f"not known to be the {word}: {doubt}" in context) is bool(doubt)


def test_a_declared_headline_names_its_access_and_the_other_ones(tmp_path: Path) -> None:
    """The highest read rate is twice the highest write rate; both are named with their access."""
    lines = made_lines()
    lines[0]["study"]["headline"] = "by access"
    best = next(line for line in lines if line.get("name") == "io_bench")
    best["detail"]["others"] = [_where(1024 * KIB, "read")]
    headline = _reported(tmp_path, lines).headline
    assert headline.name == "highest write"
    assert headline.shown() == "80.00 MB/s"
    assert "; highest read: 160.0 MB/s sequential read, block 1 MiB" in headline.context
    lines[0]["study"]["headline"] = "strongest and weakest"
    best["detail"]["weakest"] = _where(64 * KIB, "write")
    headline = _reported(tmp_path, lines).headline
    assert headline.name == "strongest pattern, write"
    assert "; weakest: 20.00 MB/s sequential write, block 64 KiB" in headline.context


def _scaled(value: float, speed_up: float, **samples: float) -> list[made.Line]:
    """20 MB/s ± 20 % of one copy, and this rate of four."""
    more = _rate(64 * KIB, "write", value, copies=4)
    more[0]["samples"].update(samples)
    for name, number in (("speed_up", speed_up), ("efficiency", speed_up / 4)):
        where = _where(64 * KIB, "write", 4)
        line = made.figure(name, number, "1", benchmark="io-bench", where=where)
        line["detail"] = {"ranks": 4, "from_ranks": 1}
        more.append(line)
    lines = made_lines()
    lines[-2:-2] = more
    return made.numbered(lines)


@pytest.mark.parametrize(
    ("rate", "speed_up", "samples", "said"),
    [
        (60.0, 3.0, {}, ", an efficiency of 75 %."),
        # The ends of the intervals are 24 and 22 MB/s.
        (27.5, 1.38, {}, ", but the efficiency is not known: fewer than five repetitions"),
        (60.0, 3.0, {"count": 1}, ", from one repetition, so that the efficiency is not known."),
        # 114 of at least 96 MB/s that four times one copy would reach.
        (114.4, 5.72, {"low95": 100 * MB}, ", but the efficiency is not known: 143 % is more than"),
        # An interval that reaches below 1 may be said.
        (84.0, 4.2, {"low95": 90 * MB}, ", an efficiency of 105 %."),
    ],
)
def test_an_efficiency_is_said_only_if_it_is_known(
    tmp_path: Path, rate: float, speed_up: float, samples: dict[str, float], said: str
) -> None:
    report = _reported(tmp_path, _scaled(rate, speed_up, **samples))
    text = " ".join(f.text for f in report.findings)
    assert f"4 ranks get {speed_up:.2f} times the rate of 1{said}" in text


def test_throughputs_have_their_units_and_how_often_they_were_measured(tmp_path: Path) -> None:
    lines = _lines_of("ssca3", IMAGES)
    lines[0]["study"]["headline"] = "throughputs"
    (own,) = (line for line in lines if line.get("name") == "ssca3_bandwidth")
    own["name"], own["metric"]["unit"] = "ssca3_images_per_second", "images/s"
    passes = [["sequential", "write"]]
    names = ("images_per_second", "chain_bandwidth")
    lines[0]["study"]["throughputs"] = [{"name": n, "passes": passes} for n in names]
    lines[0]["study"] |= {"preset": "test0", "calibrated": True}
    where = {"request_bytes": 64 * KIB}
    files = made.figure(
        "files_per_second", 212.9, "op/s", benchmark="ssca3",
        where={**where, "pattern": "sequential", "access": "write"},
    )  # fmt: skip
    lines.insert(-1, files | {"samples": {"count": 1}})
    for name, value, unit in zip(names, (21.8, 82_592_091.0), ("images/s", "B/s"), strict=True):
        line = made.figure(name, value, unit, benchmark="ssca3", where=where)
        line["samples"] = {"count": 1}
        lines.insert(-1, line)
    report = _reported(tmp_path, made.numbered(lines))
    headline = report.headline
    assert headline.shown() == "21.80 images/s"
    assert headline.context.startswith("request 64 KiB, on ")
    assert headline.context.endswith("; chain bandwidth 82.59 MB/s")
    assert headline.interval == "one repetition says nothing about the next"
    # The page and `effio show` have them as tables, with where the bytes of their passes were.
    (answers,) = _tables(report, "Answers")
    once, over = "one repetition says nothing about the next", "sequential write"
    assert [list(row) for row in answers.rows] == [
        [
            "images per second",
            "request 64 KiB",
            Quantity(21.8, "images/s"),
            once,
            "on storage",
            over,
        ],
        [
            "chain bandwidth",
            "request 64 KiB",
            Quantity(82_592_091.0, "B/s"),
            once,
            "on storage",
            over,
        ],
    ]
    (per_second,) = _tables(report, "Files per second")
    assert [list(row) for row in per_second.rows] == [["64 KiB", over, 212.9, once]]
    text = " ".join(f.text for f in report.findings)
    assert "The amounts are those of preset test0, calibrated: " in text


def test_each_access_has_its_strongest_and_its_weakest_pattern(tmp_path: Path) -> None:
    """Only what was on storage counts, if anything was: a rate of memory is not the strongest."""
    lines = made_lines()
    lines[0]["study"]["headline"] = "strongest and weakest"
    fast = _rate(64 * KIB, "write", 900.0)[0]
    fast["where"]["pattern"] = "in memory"
    lines[3:3] = [fast]
    for n, (pattern, verdict) in enumerate((("sequential", "device"), ("in memory", "cache"))):
        for block in RATES:
            cell = _measurement("write") | {"pattern": pattern, "repetition": 5 + n}
            cell["where"] = {"block_bytes": block, "copies": 1}
            lines[2:2] = [cell | {"cache": {"verdict": verdict}}]
    (table,) = _tables(_reported(tmp_path, made.numbered(lines)), "Strongest and weakest patterns")
    assert [list(row)[:5] for row in table.rows] == [
        ["write", "strongest", 80 * MB, "sequential", "block 1 MiB, copies 1"],
        ["write", "weakest", 20 * MB, "sequential", "block 64 KiB, copies 1"],
        ["read", "strongest", 160 * MB, "sequential", "block 1 MiB, copies 1"],
        ["read", "weakest", 40 * MB, "sequential", "block 64 KiB, copies 1"],
    ]
    assert table.rows[0][6] == "on storage"
    assert _tables(_reported(tmp_path, made_lines()), "Strongest and weakest patterns") == []


def test_tiles_are_counted_along_x_and_y(tmp_path: Path) -> None:
    lines = _lines_of("tile-io", TILES, "collective")
    lines[0]["study"]["extents"] = [
        {"tiles": 3, "dataset_elements": 3072}, {"tiles": 2, "dataset_elements": 1536},
    ]  # fmt: skip
    text = [f.text for f in _reported(tmp_path, lines).findings]
    assert "3 × 2 tiles (x × y) of a dataset of 3072 × 1536 elements." in text


@pytest.mark.parametrize("sizes", [1, 2])
def test_two_kinds_of_calls_are_compared_in_one_figure(tmp_path: Path, sizes: int) -> None:
    """Independent and collective: bars next to each other, or curves in the same color."""
    lines = _lines_of("tile-io", TILES, "collective")
    kept = list(RATES)[:sizes]
    rates = [
        x for x in lines if x.get("name") == "bandwidth" and x["where"]["element_bytes"] in kept
    ]
    more = []
    for name, factor in (("independent", 1), ("collective", 3)):
        for line in json.loads(json.dumps(rates)):
            line["where"]["calls"] = name
            line["metric"]["value"] *= factor
            more.append(line)
    lines = [lines[0], *more, lines[-1]]
    figure = next(
        f for f in _reported(tmp_path, made.numbered(lines)).figures() if f.id == "study-rates"
    )
    ((panel,),) = figure.variants.values()
    if sizes == 1:
        names = ["sequential write", "sequential read"]
        assert [(s.name, list(s.x), list(s.y)) for s in panel.series] == [
            ("independent", names, [20 * MB, 40 * MB]), ("collective", names, [60 * MB, 120 * MB]),
        ]  # fmt: skip
        return
    curves = {s.name: (list(s.y), s.style, s.dashed) for s in panel.series}
    assert curves == {
        "sequential write, independent": ([20 * MB, 80 * MB], 0, False),
        "sequential read, independent": ([40 * MB, 160 * MB], 1, False),
        "sequential write, collective": ([60 * MB, 240 * MB], 0, True),
        "sequential read, collective": ([120 * MB, 480 * MB], 1, True),
    }


def test_more_than_two_kinds_of_calls_are_choices(tmp_path: Path) -> None:
    lines = _lines_of("tile-io", TILES, "collective")
    more = []
    for name in ("independent", "collective", "nonblocking"):
        for line in json.loads(json.dumps(lines[1:-1])):
            if line.get("name") == "bandwidth":
                line["where"]["calls"] = name
                more.append(line)
    report = _reported(tmp_path, made.numbered([lines[0], *more, lines[-1]]))
    figure = next(f for f in report.figures() if f.id == "study-rates")
    assert [len(panels[0].series) for panels in figure.variants.values()] == [2, 2, 2]


def test_rates_are_over_the_first_axis_that_varies(tmp_path: Path) -> None:
    report = _reported(tmp_path, made_lines())
    figure = next(f for f in report.figures() if f.id == "study-rates")
    assert isinstance(figure, Figure)
    assert figure.kind == "curves"
    assert figure.x.title == "block"
    assert list(figure.x.ticks) == [(64.0 * KIB, "64 KiB"), (1024.0 * KIB, "1 MiB")]
    ((panel,),) = figure.variants.values()
    curves = {s.name: (list(s.x), list(s.y)) for s in panel.series}
    x = [64.0 * KIB, 1024.0 * KIB]
    assert curves == {
        "sequential write": (x, [20 * MB, 80 * MB]),
        "sequential read": (x, [40 * MB, 160 * MB]),
    }


def test_many_patterns_have_a_panel_each(tmp_path: Path) -> None:
    """Four patterns, written and read: curves are accesses, with the same style in each panel."""
    lines = made_lines()
    more = []
    for number, pattern in enumerate(("segmented", "tiled", "flash-io"), 2):
        for block, rate in RATES.items():
            for access in ("write", "re-read"):
                line = _rate(block, access, number * rate)[0]
                line["where"]["pattern"] = pattern
                more.append(line)
    lines[-2:-2] = more
    report = _reported(tmp_path, made.numbered(lines))
    figure = next(f for f in report.figures() if f.id == "study-rates")
    assert isinstance(figure, Figure)
    (panels,) = figure.variants.values()
    assert [p.title for p in panels] == ["sequential", "segmented", "tiled", "flash-io"]
    names = [[s.name for s in p.series] for p in panels]
    assert names == [["write", "read"], *([["write", "re-read"]] * 3)]
    assert list(panels[2].series[0].y) == [3 * 20 * MB, 3 * 80 * MB]
    assert list(panels[2].series[0].x) == [64.0 * KIB, 1024.0 * KIB]
    styles = {(s.name, s.style) for p in panels for s in p.series}
    assert len(styles) == len({style for _, style in styles}) == 3
    assert list(figure.x.ticks) == [(64.0 * KIB, "64 KiB"), (1024.0 * KIB, "1 MiB")]
    assert render([report], [])


def test_a_second_axis_is_a_choice(tmp_path: Path) -> None:
    lines = made_lines()
    lines[-2:-2] = _rate(64 * KIB, "write", 30.0, copies=2)
    report = _reported(tmp_path, made.numbered(lines))
    figure = next(f for f in report.figures() if f.id == "study-rates")
    assert list(figure.variants) == ["copies 1", "copies 2"]


def test_words_as_axes_are_bars(tmp_path: Path) -> None:
    lines = _lines_of("tile-io", TILES[1:], "collective")
    figure = next(f for f in _reported(tmp_path, lines).figures() if f.id == "study-rates")
    assert figure.kind == "bars"


def test_the_table_has_a_column_for_each_axis_and_the_share_of_the_peak(tmp_path: Path) -> None:
    report = _reported(tmp_path, made_lines())
    tables = [b for s in report.sections for b in s.blocks if isinstance(b, Table)]
    table = next(t for t in tables if t.title == "Rates")
    assert [c.name for c in table.columns][:4] == ["block", "copies", "pattern", "access"]
    first = list(table.rows[0])
    # Two repetitions have a range and no interval.
    assert first[:5] == ["64 KiB", "1", "sequential", "write", 20 * MB]
    assert first[5:7] == pytest.approx([18 * MB, 22 * MB])
    assert first[7:9] == [None, 2]
    assert first[10] == pytest.approx(0.2)
    lines = made_lines()
    for line in lines:
        if line.get("samples"):
            line["samples"]["count"] = 5
    report = _reported(tmp_path, lines)
    table = next(
        b for s in report.sections for b in s.blocks if isinstance(b, Table) and b.title == "Rates"
    )
    assert list(table.rows[0])[7:9] == [pytest.approx(4 * MB), 5]
    figure = next(f for f in report.figures() if f.id == "study-rates")
    (panels,) = figure.variants.values()
    assert list(panels[0].series[0].high) == pytest.approx([24 * MB, 96 * MB])


def test_what_exceeds_the_peak_is_said(tmp_path: Path) -> None:
    report = _reported(tmp_path, made_lines())
    text = "\n".join(f.text for f in report.findings)
    assert "1 of 4 rates exceeds the peak, at most sequential read, block 1 MiB, with" in text
    assert "160 %" in text
    assert "Best: sequential write, block 1 MiB, reaches 80 % of the peak; worst:" in text
    places = {s.id for s in report.sections} | {f.id for f in report.figures()}
    assert {f.anchor for f in report.findings} <= places


def test_scaling_is_reported_and_has_columns(tmp_path: Path) -> None:
    """Four copies get 3 times the rate of one: an efficiency of 75 %."""
    report = _reported(tmp_path, _scaled(60.0, 3.0))
    tables = [b for s in report.sections for b in s.blocks if isinstance(b, Table)]
    table = next(t for t in tables if t.title == "Rates")
    at = [c.name for c in table.columns].index("speed-up")
    assert [list(row)[at : at + 2] for row in table.rows if row[1] == "4"] == [[3.0, 0.75]]


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_results_that_are_incomplete(tmp_path: Path, count: int) -> None:
    report = _reported(tmp_path, made_lines()[:count])
    assert report.headline.value is None
    assert render([report], [])


def test_foreign_axes_do_no_harm(tmp_path: Path) -> None:
    for study in ({"axes": [1, {"name": 3}]}, {"axes": "x"}, {}):
        lines = made_lines()
        lines[0]["study"] = study
        assert render([_reported(tmp_path, lines, foreign=True)], [])


@pytest.mark.parametrize("odd", [[1], {"a": 1}])
def test_a_place_of_lists_does_no_harm(odd: object, tmp_path: Path) -> None:
    """It ended in a traceback."""
    lines = made_lines()
    for line in lines:
        if line["kind"] == "figure" and "place" in line["detail"]:
            line["detail"]["place"] |= {"pattern": odd, "access": odd}
    assert _reported(tmp_path, lines).headline.value is not None


def test_foreign_details_do_no_harm(tmp_path: Path) -> None:
    lines = made_lines()
    for line in lines:
        if line["kind"] == "figure":
            line["detail"] = {"max": "x", "cache": [1], "place": 7, "ranks": {}, "from_ranks": True}
            line["detail"]["transfer_rate_bytes_per_second"] = "fast"
    report = _reported(tmp_path, lines, foreign=True)
    # The number is there, its place is not.
    assert report.headline.value is not None
    assert "block" not in report.headline.context
    tables = [b for s in report.sections for b in s.blocks if isinstance(b, Table)]
    table = next(t for t in tables if t.title == "Rates")
    alone = [c.name for c in table.columns].index("calls alone")
    assert {row[alone] for row in table.rows} == {None}
    assert render([report], [])
