# SPDX-License-Identifier: BSD-3-Clause
"""Result files as untrusted input."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.report.build import report_of
from effio.store import versions
from effio.store.reader import ResultError, read_result
from effio.store.records import FileSystem
from results import check_line


def test_the_results_made_manually_keep_to_the_schema() -> None:
    for line in made.b_eff_io():
        check_line(line)


def test_a_whole_result_is_read(result_file: Path) -> None:
    result = read_result(result_file)
    assert result.benchmark == "b-eff-io"
    assert len(result.measurements) == 11 * 7
    assert result.status == "done"
    assert result.remarks == []
    cell = result.measurements[0]
    assert (cell.access, cell.pattern, cell.rate.value) == ("write", "scatter", 20e6)
    assert cell.call_times is not None
    assert cell.call_times.p999 == 8e-3


def test_python_parses_only_what_is_unusual(
    result_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The quick parser takes a quarter of the time and would let numbers pass that Python's, with
    our checks, refuses."""
    parsed: list[str] = []
    loads = json.loads

    def counted(text: str, **options: Any) -> Any:
        parsed.append(text)
        return loads(text, **options)

    monkeypatch.setattr("effio.store.reader.json.loads", counted)
    ordinary = read_result(result_file)
    assert parsed == []
    numbers = {"rate": 200000000.00000006, "long": 0.00012345678901234567, "many": 2**63 - 1}
    _member(2, "detail", numbers)(result_file)
    parsed.clear()
    assert read_result(result_file).measurements[0].detail == numbers
    assert parsed == []
    for many in (2**64 - 1, -(2**63)):
        _member(2, "detail", {"many": many})(result_file)
        parsed.clear()
        unusual = read_result(result_file)
        assert len(parsed) == 1
        assert unusual.measurements[0].detail == {"many": many}
    assert unusual.measurements[1:] == ordinary.measurements[1:]
    _member(2, "detail", {"many": 9223372036854775807})(result_file)
    for number in ("1e999", "-1E+999", "18446744073709551616", "-9223372036854775809", "NaN"):
        line = _lines(result_file)[1].replace("9223372036854775807", number)
        _replace(2, line)(result_file)
        with pytest.raises(ResultError, match="line 2"):
            read_result(result_file)
        _replace(2, line.replace(number, "9223372036854775807"))(result_file)


def test_repetitions_share_the_object_of_their_place(result_file: Path) -> None:
    """Only those whose places are written alike: 1 is neither 1.0 nor true."""
    for number, value in ((2, 1), (3, 1), (4, 1.0), (5, True)):
        _member(number, "where", {"queue": value})(result_file)
    places = [m.where for m in read_result(result_file).measurements[:4]]
    assert places[0] is places[1]
    assert [repr(place["queue"]) for place in places] == ["1", "1", "1.0", "True"]


def test_valid_measurements_by_pass_and_place(result_file: Path) -> None:
    first = _lines(result_file)[1]
    for number, queue in ((2, 1), (3, 2), (4, 1), (5, 1)):
        _replace(number, first)(result_file)
        _member(number, "where", {"queue": queue})(result_file)
    _member(4, "valid", False)(result_file)
    result = read_result(result_file)
    m = result.measurements[0]
    places = result.valid_places[m.pattern, m.access]
    assert [[i for i, _ in place] for place in places[:2]] == [[0, 3], [1]]
    assert places[0][1][1] is result.measurements[3]


@pytest.mark.parametrize("name", ["where", "detail", "hints_asked", "hints_granted"])
def test_an_object_that_is_null_is_empty(name: str, result_file: Path) -> None:
    _member(2, name, None)(result_file)
    assert getattr(read_result(result_file).measurements[0], name) == {}


def test_a_line_is_read_alike_by_both_parsers(result_file: Path) -> None:
    """The quick one reads lines that start as the engine's do."""
    quick = [json.loads(line) for line in _lines(result_file)]
    result_file.write_text("".join(json.dumps(one, separators=(",", ":")) + "\n" for one in quick))
    first = read_result(result_file)
    result_file.write_text("".join(json.dumps(dict(reversed(one.items()))) + "\n" for one in quick))
    second = read_result(result_file)
    assert first.measurements == second.measurements
    assert first.figures == second.figures
    assert first.end == second.end


def test_the_garbage_collector_is_on_again(result_file: Path) -> None:
    read_result(result_file)
    assert gc.isenabled()
    _replace(3, "{not json")(result_file)
    with pytest.raises(ResultError):
        read_result(result_file)
    assert gc.isenabled()


def test_a_torn_last_line_is_said_and_the_rest_is_kept(result_file: Path) -> None:
    whole = result_file.read_text().splitlines(keepends=True)
    result_file.write_text("".join(whole[:5]) + whole[5][:100])
    result = read_result(result_file)
    assert len(result.measurements) == 4
    assert result.status == "unfinished"
    assert any("torn" in remark for remark in result.remarks)
    assert any("no `end` line" in remark for remark in result.remarks)


def test_a_torn_line_before_the_end_of_another_rank_is_said(result_file: Path) -> None:
    whole = result_file.read_text().splitlines(keepends=True)
    last = json.dumps(made.end("hung", 5, "no progress") | {"seq": None}, separators=(",", ":"))
    result_file.write_text("".join(whole[:5]) + whole[5][:100] + "\n" + last + "\n")
    result = read_result(result_file)
    assert result.status == "hung"
    assert any("torn" in remark for remark in result.remarks)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def _replace(number: int, text: str) -> Callable[[Path], object]:
    def do(path: Path) -> None:
        lines = _lines(path)
        lines[number - 1] = text
        path.write_text("\n".join(lines) + "\n")

    return do


def _member(number: int, name: str, value: object) -> Callable[[Path], object]:
    def do(path: Path) -> None:
        line = json.loads(_lines(path)[number - 1])
        line[name] = value
        _replace(number, json.dumps(line, separators=(",", ":")))(path)  # as the engine does

    return do


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda p: p.write_text(""), "empty"),
    "a torn first line": (
        lambda p: p.write_bytes(p.read_bytes()[:40]),
        "line 1: not complete: the run still writes it, or was killed",
    ),
    "binary": (lambda p: p.write_bytes(b"\x00\xff\xfe\n" * 10), "line 1: not JSON"),
    "not json": (_replace(3, "{not json"), "line 3: not JSON"),
    "a list": (_replace(3, "[1, 2]"), "line 3: not JSON"),
    "NaN": (_replace(3, '{"kind": NaN}'), "line 3: not JSON"),
    "infinite": (_replace(3, '{"x": 1e999}'), "line 3: not JSON"),
    "endless digits": (
        _replace(3, '{"x": ' + "9" * 5000 + "}"),
        "line 3: a whole number beyond 64 bits",
    ),
    "half a character": (
        lambda p: _member(3, "access", "\ud800")(p),
        "line 3: half a character",
    ),
    "half a character in a member of a benchmark": (
        lambda p: _member(3, "where", {"a": ["\udfff"]})(p),
        "line 3: half a character",
    ),
    "deep": (_replace(3, '{"x":' * 100_000), "line 3: nested too deeply"),
    "no run line": (_replace(1, json.dumps(made.end())), "the first line is not a `run` line"),
    "second run line": (
        lambda p: _replace(3, _lines(p)[0])(p),
        "line 3: a second `run` line",
    ),
    "after the end": (
        lambda p: p.write_text(p.read_text() + json.dumps(made.end()) + "\n") and None,
        "something follows the `end` line",
    ),
    "not ours": (_member(1, "schema", "other/1"), "does not say that it is an effio result"),
    "no schema": (_member(1, "schema", None), "does not say that it is an effio result"),
    "from the future": (_member(1, "schema", "effio-result/2"), "a newer effio reads it"),
    "unknown kind": (_member(2, "kind", "joke"), "line 2: unknown kind of line: 'joke'"),
    "kind is a list": (_member(2, "kind", ["run"]), "line 2: unknown kind of line"),
    "bytes negative": (_member(2, "bytes", -1), "bytes: Expected `int` >= 0"),
    "bytes text": (_member(2, "bytes", "12"), "bytes: Expected `int`, got `str`"),
    "valid text": (_member(2, "valid", "perhaps"), "valid: Expected `bool`, got `str`"),
    "no access": (_member(2, "access", None), "access: Expected `str`, got `null`"),
    "seconds": (_member(2, "seconds", [1]), "seconds: Expected `object`, got `array`"),
    "benchmark with a path": (_member(1, "benchmark", "../../x"), "benchmark: String should match"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_with_place_and_reason(case: str, result_file: Path) -> None:
    spoil, message = BAD[case]
    spoil(result_file)
    with pytest.raises(ResultError) as caught:
        read_result(result_file)
    assert message in caught.value.message


def test_a_line_without_end_is_bounded(result_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("effio.store.reader.MAX_LINE_BYTES", 10_000)
    with result_file.open("a") as stream:
        stream.write(" " * 20_000)
    with pytest.raises(ResultError, match="longer than"):
        read_result(result_file)


def test_a_huge_file_is_refused_unread(result_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("effio.store.reader.MAX_FILE_BYTES", 1000)
    with pytest.raises(ResultError, match="larger than"):
        read_result(result_file)


def test_members_of_a_newer_minor_version_are_ignored(result_file: Path) -> None:
    lines = [json.loads(text) for text in _lines(result_file)]
    for line in lines:
        line["schema"] = "effio-result/1.7"
        line["novelty"] = {"a": 1}
    lines[1]["seconds"]["teleport"] = made.spread(0.1)
    result = read_result(made.write(result_file, lines, foreign=True))
    assert result.measurements[0].seconds["teleport"].mean == 0.1


def test_an_older_version_is_brought_up_step_by_step() -> None:
    def first(line: versions.Line) -> versions.Line:
        return {**line, "rate": line["bandwidth"], "schema": "effio-result/1.1"}

    def second(line: versions.Line) -> versions.Line:
        return {**line, "unit": "B/s", "schema": "effio-result/2.0"}

    steps = {(1, 0): ((1, 1), first), (1, 1): ((2, 0), second)}
    old = {"schema": "effio-result/1", "bandwidth": 5}
    new = versions.upgrade(old, (2, 0), steps)
    assert (new["rate"], new["unit"]) == (5, "B/s")
    with pytest.raises(versions.UnknownVersionError, match="never in use"):
        versions.upgrade({"schema": "effio-result/0"}, (2, 0), steps)


def test_what_the_first_version_wrote_stays_readable() -> None:
    """Lines of a real run of engine 0.1.0, frozen: they are never to be written anew."""
    path = Path(__file__).parent / "old" / "b-eff-io-1.0.jsonl"
    result = read_result(path)
    reported = report_of("old", result, result.remarks)
    assert [(m.access, m.pattern, m.bytes) for m in result.measurements] == [
        ("write", "scatter", 53477376),
        ("write", "shared", 15195168),
        ("read", "seg_coll", 39845888),
    ]
    assert reported.headline.shown() == "449.7 MB/s"
    assert reported.headline.valid is False
    assert result.status == "done"
    assert result.remarks == []


def test_what_libraries_wrote_before_it_was_a_study_stays_readable() -> None:
    """Lines of a run in virtual time: data in `data`, sums in `by_definition_seconds`."""
    path = Path(__file__).parent / "old" / "libraries-1.1.jsonl"
    result = read_result(path)
    reported = report_of("old", result, result.remarks)
    assert result.status == "done"
    assert result.remarks == []
    assert [(m.access, m.where["hints"], m.bytes) for m in result.measurements[:4]] == [
        ("write", "none", 73728),
        ("read", "none", 73728),
        ("write", "twice", 73728),
        ("read", "twice", 73728),
    ]
    # With the flush of 20 ms: 73728 B in 15 ms + 36864 B at 200 MB/s + 20 ms.
    assert reported.headline.value == pytest.approx(73728 / (0.035 + 36864 / 200e6))
    assert {"library-rates", "hint-gain"} <= {f.id for f in reported.figures()}


@pytest.mark.parametrize(
    ("benchmark", "detail", "kept"),
    [
        ("libraries", {"repetitions": 3, "min": 1.0, "max": 5.0, "confidence95": 2.0}, {}),
        (
            "ior",
            {
                "repetitions": 3,
                "min_bytes_per_second": 1.0,
                "max_bytes_per_second": 5.0,
                "confidence95_bytes_per_second": 2.0,
                "deviation_bytes_per_second": 1.5,
            },
            {},
        ),
        (
            "mdtest",
            {"iterations": 3, "min": 1.0, "max": 5.0, "confidence95": 2.0, "mean_seconds": 7.0},
            {"mean_seconds": 7.0},
        ),
    ],
)
def test_means_of_the_first_version_are_of_samples(
    benchmark: str, detail: versions.Line, kept: versions.Line
) -> None:
    old = {
        "schema": "effio-result/1",
        "kind": "figure",
        "benchmark": benchmark,
        "name": "rate",
        "metric": {"value": 3.0},
        "detail": detail,
    }
    new = versions.upgrade(old)
    assert new["samples"] == {
        "count": 3,
        "min": 1.0,
        "max": 5.0,
        "deviation": 1.5 if benchmark == "ior" else None,
        "low95": 1.0,
        "high95": 5.0,
    }
    assert new["detail"] == kept
    # One repetition has no interval.
    single = {key: 1 if key in ("repetitions", "iterations") else v for key, v in detail.items()}
    assert versions.upgrade({**old, "detail": single})["samples"]["low95"] is None


def test_figures_of_rings_lose_units_that_they_have_not() -> None:
    old = {"schema": "effio-result/1", "kind": "figure", "benchmark": "rings", "detail": {}}
    for name in ("MaxPingPongLatency_usec", "MinPingPongBandwidth_GBytes"):
        assert versions.upgrade({**old, "name": name})["name"] == name.rpartition("_")[0]


def test_results_before_1_2_are_read_with_one_spelling() -> None:
    old: versions.Line = {"schema": "effio-result/1.1", "kind": "measurement", "repetition": 0}
    rate = {"value": 5.0, "unit": "1/s", "better": "higher"}
    new = versions.upgrade({**old, "benchmark": "b_eff_io", "rate": rate, "where": {}})
    assert (new["benchmark"], new["repetition"], new["rate"]["unit"]) == ("b-eff-io", 1, "op/s")
    assert versions.upgrade({**old, "benchmark": "tile-io"})["benchmark"] == "tile-io"
    figure: versions.Line = {"schema": "effio-result/1.1", "kind": "figure", "metric": rate}
    for name, unit in (("images_per_second", "images/s"), ("files_per_second", "op/s")):
        assert versions.upgrade({**figure, "name": name})["metric"]["unit"] == unit
    # Places of single repetitions count as the measurements do.
    for member in ("repetition", "iteration"):
        new = versions.upgrade({**figure, "where": {member: 2, "ranks": 4}})
        assert new["where"] == {"repetition": 3, "ranks": 4}
    run = versions.upgrade({"schema": "effio-result/1.1", "kind": "run", "b_eff": {"seed": 5}})
    assert run["b-eff"] == {"seed": 5}
    # Damaged lines are for the reader to refuse.
    assert versions.upgrade({**old, "repetition": True, "rate": 3, "where": 4})["where"] == 4


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"type": "ext4", "source": "/dev/sda1"}, "ext4 on /dev/sda1"),
        ({"type": "ext4"}, "ext4"),
        ({"source": "server:/volume"}, "unknown file system on server:/volume"),
        ({}, "unknown file system"),
    ],
)
def test_a_file_system_is_named_by_what_is_known(members: dict[str, str], said: str) -> None:
    assert FileSystem.model_validate(members).title == said


def test_what_reads_no_results_does_not_build_their_models() -> None:
    """Each command would take 30 ms longer."""
    words = (
        "import effio.cli.tables; from effio.store import notes, records, run_record;"
        "models = (records.Run, records.System, records.MpiRecord, records.Clock,"
        " run_record.RunRecord, notes.Notes);"
        "assert not [m for m in models if m.__pydantic_complete__]"
    )
    subprocess.run([sys.executable, "-c", words], check=True)


def test_coordinates_are_plain_values(tmp_path: Path) -> None:
    """What is grouped by them ended in a traceback at a list or an object."""
    lines = made.b_eff_io()
    lines[1]["where"] |= {"chunk_bytes": [1, 2], "position": {"a": None}}
    lines[2]["where"] = lines[1]["where"]
    path = made.write(tmp_path / "r.jsonl", lines, foreign=True)
    first, second = read_result(path).measurements[:2]
    assert (first.where["chunk_bytes"], first.where["position"]) == ("[1, 2]", '{"a": null}')
    assert first.where is second.where
    report_of("run", read_result(path))


@pytest.mark.parametrize(
    ("line", "member"), [(1, "rate"), (-2, "metric")], ids=["measurement", "figure"]
)
def test_a_number_whose_quotients_are_not_finite_is_refused(
    line: int, member: str, tmp_path: Path
) -> None:
    """A comparison with it ended in a traceback."""
    for value, fits in ((1e-300, False), (-5e-31, False), (1e-29, True), (0.0, True)):
        lines = made.b_eff_io()
        lines[line][member] |= {"value": value}
        path = made.write(tmp_path / "r.jsonl", lines)
        if fits:
            read_result(path)
        else:
            with pytest.raises(ResultError, match="is nearer to 0 than any number of a result"):
                read_result(path)


def test_a_measurement_of_nothing_shares_its_place(tmp_path: Path) -> None:
    """Cells are distinguished by the object of their place."""
    lines = made.b_eff_io()
    rate = {"value": 0.0, "unit": "B/s", "better": "higher"}
    for line in lines[1:3]:
        line |= {"operations": 0, "bytes": 0, "rate": rate, "where": lines[1]["where"]}
    first, second = read_result(made.write(tmp_path / "r.jsonl", lines)).measurements[:2]
    assert (first.rate.value, second.rate.value) == (None, None)
    assert first.where is second.where
