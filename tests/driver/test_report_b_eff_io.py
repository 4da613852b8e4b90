# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of b_eff_io: sentences and figures against a result whose numbers are known
(tests/driver/made.py), and results that are incomplete."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from driver import made
from effio import text as fmt
from effio.errors import EffioError
from effio.report.build import load, report_of
from effio.report.html import cards, render
from effio.report.model import Column, Figure, Report, Table
from effio.store.reader import read_result


def _reported(tmp_path: Path, lines: list[made.Line], foreign: bool = False) -> Report:
    path = made.write(tmp_path / "run.jsonl", lines, foreign)
    result = read_result(path)
    return report_of("run", result, result.remarks)


def _texts(report: Report) -> str:
    return "\n".join(f.text for f in report.findings)


def _figure(report: Report, identity: str) -> Figure:
    return next(f for f in report.figures() if f.id == identity)


def _table(report: Report, title: str) -> Table:
    blocks = [b for s in report.sections for b in s.blocks]
    return next(b for b in blocks if isinstance(b, Table) and b.title == title)


def test_the_headline(tmp_path: Path) -> None:
    headline = _reported(tmp_path, made.b_eff_io()).headline
    assert (headline.name, headline.shown(), headline.valid) == ("b_eff_io", "300.0 MB/s", False)
    assert headline.context == "on 2 ranks, ext4"
    assert [(r.text, r.met) for r in headline.reasons] == [
        ("scheduled for at least 30 min (this run: 0.2 min)", False),
        ("no errors (this run: 0)", True),
    ]


def test_the_cards_of_the_first_screen(tmp_path: Path) -> None:
    found = {card.title: card for card in cards(_reported(tmp_path, made.b_eff_io()))}
    assert list(found) == ["Not valid", "Cached?", "What limits it"]
    assert "100 % of the bytes read came out of memory" in found["Cached?"].text
    # 77 cells of one second; of 42 that write 0.5, 0.3, 0.2 s; of 35 that read 0.5, 0, 0.5 s; 11
    # types with 0.25 s of opening and of closing. Calls: 38.5 of 82.5 s; waiting: 25.9 s.
    assert found["What limits it"].text.startswith("47 % of the time went into the data calls")
    assert "31 % into waiting for the slowest rank" in found["What limits it"].text


def test_the_sentences_follow_from_the_data(tmp_path: Path) -> None:
    text = _texts(_reported(tmp_path, made.b_eff_io()))
    # Type values are 4 × the smallest chunk's rate; one round does not show which is slowest.
    said = "write: from 20.00 MB/s (shared) to 160.0 MB/s (separated), 8.00 times, measured once"
    assert said in text
    # 1 KiB at an eighth of 2 MiB, in write and read of four types; every size with 8 bytes more at
    # half the rate: 11 curves with three pairs each.
    assert "a factor 8.00 (8.00 to 8.00 with 95 % confidence, 8 pairs of rows): what" in text
    assert (
        "are 2.00 (2.00 to 2.00 with 95 % confidence, 33 pairs of rows) times those with 8" in text
    )
    # A figure that is not valid does not justify a tick.
    assert "the whole memory is written" not in text


def _in_rounds(lines: list[made.Line], share: float = 0.05) -> list[made.Line]:
    """Five rounds, with this share of each number as half its interval."""
    for line in lines:
        if line["kind"] == "figure" and (value := line["metric"]["value"]):
            ends = {"low95": (1 - share) * value, "high95": (1 + share) * value}
            line["samples"] = {"count": 5, **ends}
    return lines


def test_the_slowest_type_is_named_where_intervals_are_apart(tmp_path: Path) -> None:
    text = _texts(_reported(tmp_path, _in_rounds(made.b_eff_io())))
    assert "write: shared is slowest with 20.00 MB/s, separated fastest with 160.0 MB/s" in text
    assert "(8.00 times)" in text
    # 20 ± 16 and 160 ± 128 MB/s.
    text = _texts(_reported(tmp_path, _in_rounds(made.b_eff_io(), 0.8)))
    assert "8.00 times, the 95 % intervals overlap" in text


def test_totals_of_rounds_have_their_intervals(tmp_path: Path) -> None:
    rows = _table(_reported(tmp_path, _in_rounds(made.b_eff_io())), "Bandwidth on 2 ranks").rows
    totals = {row[0]: row[2:] for row in rows if row[1] == "write"}
    assert totals["± 95 %"] == pytest.approx([0.05 * float(str(v)) for v in totals["total"]])
    alone = _table(_reported(tmp_path, made.b_eff_io()), "Bandwidth on 2 ranks")
    assert "± 95 %" not in {row[0] for row in alone.rows}


def test_averages_say_whether_they_are_valid(tmp_path: Path) -> None:
    lines = made.b_eff_io()
    for valid in (False, True):
        for line in lines:
            if line.get("name") == "b_eff_io_partition":
                line["valid"] = valid
        table = _table(_reported(tmp_path, lines), "Averages")
        assert table.rows[0][[column.name for column in table.columns].index("valid")] is valid


def _valid(lines: list[made.Line]) -> list[made.Line]:
    for line in lines:
        if line["kind"] == "figure" and line["valid"] is False:
            line["valid"] = True
    return lines


def test_no_verdict_from_rows_that_are_capped_or_invalid(tmp_path: Path) -> None:
    lines = made.b_eff_io()
    for line in lines:
        if line["kind"] == "measurement" and line["where"]["position"] == 7:
            line["stopped_by"] = "cap"
        if line["kind"] == "measurement" and line["where"]["position"] in (1, 3, 5):
            line |= made.invalid("short write")
    text = _texts(_reported(tmp_path, lines))
    assert "Small chunks" not in text
    assert "Alignment" not in text
    assert "Pattern types" not in text
    # Four pairs are too few.
    lines = made.b_eff_io()
    kept = [
        line
        for line in lines
        if line["kind"] != "measurement"
        or (line["access"] == "write" and line["where"]["position"] in (1, 7))
    ]
    assert "Small chunks" not in _texts(_reported(tmp_path, kept))


@pytest.mark.parametrize(
    ("seconds", "reads", "level", "end"),
    [
        (28.6, "device", "good", "at most 10 min."),
        # The cache answered: the tick would not be one of the storage.
        (28.6, "cache", "info", "This rate is not known to be one of storage."),
        (601.0, "device", "warn", "at most 10 min."),
    ],
)
def test_the_balance_of_a_valid_figure_is_reported(
    tmp_path: Path, seconds: float, reads: str, level: str, end: str
) -> None:
    lines = _valid(made.b_eff_io())
    for line in lines:
        if line.get("name") == "balance_time":
            line["metric"]["value"] = seconds
        if line["kind"] == "measurement":
            line["cache"]["verdict"] = reads if line["access"] == "read" else "device"
    findings = _reported(tmp_path, lines).findings
    (balance,) = (f for f in findings if f.text.startswith("Balance"))
    assert f"the whole memory is written in {fmt.duration(seconds)}" in balance.text
    assert balance.text.endswith(end)
    assert balance.level == level


def test_each_sentence_names_something_that_is_there(tmp_path: Path) -> None:
    for lines in (made.b_eff_io(), made.two_partitions(), made.b_eff_io()[:30]):
        report = _reported(tmp_path, lines)
        places = {s.id for s in report.sections} | {f.id for f in report.figures()}
        for finding in report.findings:
            assert finding.anchor in places | {""}, finding.text


def test_alignment_that_costs_nothing_is_said_so(tmp_path: Path) -> None:
    lines = made.b_eff_io()
    for line in lines:
        if line["kind"] == "measurement" and line["where"]["position"] in (2, 4, 6):
            # Ratios of 0.8 and 1.25 alternately.
            line["rate"]["value"] *= 2.5 if line["access"] == "read" else 1.6
    text = _texts(_reported(tmp_path, lines))
    assert "no difference found between powers of two and 8 bytes more" in text


def test_scaling_is_reported_with_its_figure(tmp_path: Path) -> None:
    assert "Scaling" not in _texts(_reported(tmp_path, made.two_partitions()))
    report = _reported(tmp_path, _valid(made.two_partitions()))
    said = "Scaling: the value that counts is that of 2 ranks; with 4 ranks it is 50 % of it"
    assert f"{said}, which is not known to be less: measured once." in _texts(report)
    report = _reported(tmp_path, _in_rounds(_valid(made.two_partitions())))
    assert f"{said}." in _texts(report)
    series = {s.name: s for s in _figure(report, "scaling").variants[""][0].series}
    assert list(series["b_eff_io"].x) == [2.0, 4.0]
    assert list(series["b_eff_io"].y) == [300e6, 150e6]
    assert list(_figure(report, "classic").variants) == ["2 ranks", "4 ranks"]


def test_the_classic_page(tmp_path: Path) -> None:
    figure = _figure(_reported(tmp_path, made.b_eff_io()), "classic")
    panels = figure.variants["2 ranks"]
    assert [p.title for p in panels] == ["write", "rewrite", "read", *made.TYPES]
    by_type = {p.title: {s.name: s for s in p.series} for p in panels[3:]}
    # Positions of pairs: 1 2 . 4 5 . 7 8 . 10
    assert list(by_type["shared"]["read"].x) == [1, 2, 4, 5, 7, 8, 10]
    assert list(by_type["shared"]["read"].y) == [50e6 * f for f in made.BY_POSITION]
    assert list(by_type["shared"]["rewrite"].y) == []
    assert figure.y.log
    assert figure.y.switch
    # The same access has the same style in every panel, and types have others.
    assert {s.style for p in panels[3:] for s in p.series if s.name == "read"} == {12}


def test_a_cell_that_does_not_count_is_hollow_or_missing(tmp_path: Path) -> None:
    lines = made.b_eff_io()
    lines[1] |= made.invalid("short write") | {"error_count": 3}
    lines[2]["stopped_by"] = "cap"
    report = _reported(tmp_path, lines)
    scatter = _figure(report, "classic").variants["2 ranks"][0].series[0]
    assert scatter.y[0] is None
    assert list(scatter.faulty)[:3] == [True, True, False]
    assert "INVALID: short write" in scatter.notes[0]
    assert "1 measurement had failed calls or wrong data" in _texts(report)
    assert (
        "1 row of the best partition ended at the cap on bytes (given by --max-bytes), before the"
        " scheduled time." in _texts(report)
    )
    assert _table(report, "Errors").rows[0][2] == "short write"


def test_what_a_dropped_file_had_in_memory_was_read_ahead(tmp_path: Path) -> None:
    lines = made.b_eff_io()
    rows = [m for m in lines if m["kind"] == "measurement" and m["pattern"] == "shared"]
    reads = [m for m in rows if m["access"] == "read"]
    for line, verdict in zip(reads, ("cache", "mixed", "device", "cache"), strict=False):
        line["cache"] |= {"verdict": verdict, "methods": ["dropped"]}
    reads[3]["cache"]["methods"] = []
    panels = _figure(_reported(tmp_path, lines), "classic").variants["2 ranks"]
    shared = next(p for p in panels if p.title == "shared")
    notes = next(s for s in shared.series if s.name == "read").notes
    said = [note.split(", ")[-1] for note in notes[:4]]
    assert said == ["read ahead", "partly read ahead", "device", "from cache"]


def test_where_the_time_went(tmp_path: Path) -> None:
    rows = {r[0]: r[1:] for r in _table_of_time(_reported(tmp_path, made.b_eff_io()))}
    # Seven rows of one second and half a second for opening and closing.
    assert rows["write scatter"] == pytest.approx([3.5, 2.1, 1.4, 0.25, 0.25, 7.5])
    assert rows["read shared"] == pytest.approx([3.5, 0.0, 3.5, 0.25, 0.25, 7.5])


def _table_of_time(report: Report) -> list[list[float | str]]:
    table = _figure(report, "time").as_table()
    assert [c.name for c in table.columns] == [
        "group", "data calls", "sync to storage", "waiting for the slowest rank", "open", "close",
        "total",
    ]  # fmt: skip
    return [list(row) for row in table.rows]  # type: ignore[arg-type]


def test_the_roofline(tmp_path: Path) -> None:
    path = made.write(tmp_path / "run.jsonl", made.b_eff_io())
    report = report_of("run", read_result(path), ceilings={"peak": 5e9})
    series = {s.name: s for s in _figure(report, "roofline").variants[""][0].series}
    limits = [name for name, s in series.items() if s.form == "limit"]
    # 400 MB/s × 1 in 1 KiB: 390625 calls a second; writing reaches a device with 40 × 8 MB/s.
    assert limits == [
        "390625 calls/s, the most seen",
        "320.0 MB/s, the most to or from a device",
        "peak, 5.000 GB/s as stated",
    ]
    assert series["peak, 5.000 GB/s as stated"].y[0] == 5e9


def test_call_times_show_percentiles(tmp_path: Path) -> None:
    table = _table(_reported(tmp_path, made.b_eff_io()), "Call times")
    assert [c.name for c in table.columns] == [
        "access", "pattern", "chunk", "calls", "min", "p50", "p90", "p99", "p99.9", "max",
    ]  # fmt: skip
    assert list(table.rows[0])[:4] == ["write", "scatter", 1024, 1000]
    assert list(table.rows[0])[4:] == pytest.approx([5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 1e-2])


@pytest.mark.parametrize(
    ("echoed", "verdict"),
    [
        (True, "echoed: effect unknown"),
        (False, "effective"),
        (None, "returned: effect unknown"),  # before there was a canary
    ],
)
def test_hints_are_compared_and_never_inferred(
    tmp_path: Path, echoed: bool | None, verdict: str
) -> None:
    lines = made.b_eff_io()
    lines[1] |= {
        "hints_asked": {"cb_nodes": "2", "a": "1", "b": "1"},
        "hints_granted": {"cb_nodes": "1", "a": "1", "c": "9"},
        "hints_echoed": echoed,
    }
    rows = {
        r[0]: list(r[1:4])
        for r in _table(_reported(tmp_path, lines), "Hints requested and returned").rows
    }
    assert rows == {
        "a": ["1", "1", verdict],
        "b": ["1", None, "not returned: unknown"],
        "c": [None, "9", "the library's own"],
        "cb_nodes": ["2", "1", "CHANGED"],
    }


def test_the_system_is_enough_to_repeat_the_run(tmp_path: Path) -> None:
    report = _reported(tmp_path, made.b_eff_io())
    section = next(s for s in report.sections if s.id == "system")
    text = "\n".join(
        " ".join(map(str, row)) for b in section.blocks if isinstance(b, Table) for row in b.rows
    )
    for fact in (
        "node01", "A CPU", "8 GiB", "Debian GNU/Linux 12", "Linux 6.1.0", "tsc", "ext4 on /dev/vda",
        "Open MPI v4.1.4, package", "effio-mpi 0.1.0 (abc1234)", "GNU 12.2.0 -O3",
        "effio-mpi b-eff-io --time 12s", "time 12 s", "rewrite off",
    ):  # fmt: skip
        assert fact in text, fact


# What is incomplete ------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 2, 9, 40, 77, 85, 91])
def test_a_killed_run_is_reported_as_far_as_it_goes(length: int, tmp_path: Path) -> None:
    report = _reported(tmp_path, made.b_eff_io()[:length])
    assert report.headline.value is None
    assert report.headline.valid is False
    assert "did not end in order" in _texts(report)
    assert any("no `end` line" in remark for remark in report.remarks)
    assert "<html" in render([report], ["run"])


def test_a_run_that_hung_shows_the_call_of_each_rank(tmp_path: Path) -> None:
    lines = made.b_eff_io()
    lines[-1] = made.end("hung", 5, "no progress for 60 s")
    places = {"step": "write scatter", "hosts": ["n1", "n2"], "silent_seconds": 60.3}
    lines[-1]["detail"]["calls"] = [
        {"call": "MPI_File_sync", "waits": False, "ranks": [4], **places},
        {"call": "agree", "waits": True, "ranks": [0, 1, 2, 3, 5, 7], **places},
    ]
    rows = _table(_reported(tmp_path, made.numbered(lines)), "Where the ranks were").rows
    assert [list(row[:3]) for row in rows] == [
        ["MPI_File_sync", "4", "n1, n2"],
        ["agree (waits for other ranks)", "0-3, 5, 7", "n1, n2"],
    ]
    lines[-1]["detail"]["calls"] = "of another kind"
    assert _reported(tmp_path, made.numbered(lines), foreign=True).headline.valid is False


def test_a_benchmark_without_a_reporter_is_reported_too(tmp_path: Path) -> None:
    lines = made.b_eff_io()
    lines[0]["benchmark"] = "something-new"
    report = _reported(tmp_path, lines)
    assert report.headline.name == "balance_time"
    assert {f.id for f in report.figures()} == {"time", "call-times", "roofline"}
    assert len(_table(report, "Measurements").rows) == 77


def test_messages_have_no_caches_and_each_value_has_its_unit(tmp_path: Path) -> None:
    lines = made.b_eff_io()
    lines[0] |= {"benchmark": "something-new", "file_system": None}
    del lines[0]["backend"]
    report = _reported(tmp_path, lines)
    assert not {"caches", "hints"} & {s.id for s in report.sections}
    assert [c.title for c in cards(report)] == ["What limits it"]
    table = _table(report, "Figures")
    shown = {row[0]: table.columns[2].show(row[2]) for row in table.rows}
    assert shown["b_eff_io"] == "300.0 MB/s"
    assert shown["balance_time"] == "28.6 s"
    page = render([report], ["run"])
    assert 'data-v="28.6"' in page


def test_tables_of_call_times_and_the_roofline_have_their_keys(tmp_path: Path) -> None:
    report = _reported(tmp_path, made.two_partitions())
    for name in ("call-times", "roofline"):
        figure = _figure(report, name)
        assert figure.table is not None
        heads = [c.title for c in figure.table.columns]
        assert heads[:3] == ["access", "pattern", "chunk"]
        width = heads.index("calls" if name == "call-times" else "bytes of a call")
        keys = [tuple(row[:width]) for row in figure.table.rows]
        assert len(set(keys)) == len(keys) > 70, name


def test_files_that_changed_afterwards_are_named(tmp_path: Path) -> None:
    from effio.store.folder import RunFolder

    folder = RunFolder(tmp_path / "run")
    made.write(folder.result_path, made.b_eff_io())
    folder.seal()
    assert load(folder.path)[2] == []
    folder.result_path.write_text(folder.result_path.read_text().replace("20000000", "90000000"))
    assert "result.jsonl changed after the run had ended" in load(folder.path)[2][0]


# Foreign text ------------------------------------------------------------------------------------


class _Elements(HTMLParser):
    """Names of elements and attributes, as a browser would see them."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}


def _elements(page: str) -> tuple[set[str], set[str]]:
    seen = _Elements()
    seen.feed(page)
    # The label of a cell, which is the column's name, is given to those with many words.
    return seen.elements, seen.attributes - {"data-label"}


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], set[str]]:
    """Elements and attributes of the page of a harmless text."""
    report = _reported(tmp_path_factory.mktemp("harmless"), made.hostile("harmless"), foreign=True)
    return _elements(render([report], ["harmless"]))


@pytest.mark.parametrize("text", made.HOSTILE)
def test_foreign_text_adds_nothing_to_the_page(
    text: str, tmp_path: Path, harmless: tuple[set[str], set[str]]
) -> None:
    """The same elements and attributes as with harmless text. test_page.py asks a browser."""
    report = _reported(tmp_path, made.hostile(text), foreign=True)
    page = render([report], [text])
    assert _elements(page) == harmless
    assert "<script>window" not in page


def test_columns_say_their_units() -> None:
    column = Column("bandwidth", "B/s", "MB/s")
    assert (column.title, column.csv_title) == ("bandwidth [MB/s]", "bandwidth [B/s]")
    assert column.show(1.5e6) == "1.500"
    assert column.show(None) == "–"
    assert Column("time", "s").show(0.25) == "250 ms"
    assert Column("calls", "1").show(1234567) == "1 234 567"


def test_a_ceiling_that_cannot_be_read_is_refused() -> None:
    from effio.cli.report import _ceilings

    assert _ceilings(("a=b=1GB/s",)) == {"a=b": 1e9}
    for wrong in ("peak", "peak=fast", "=1GB/s"):
        with pytest.raises(EffioError, match="write NAME=RATE"):
            _ceilings((wrong,))
