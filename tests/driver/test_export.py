# SPDX-License-Identifier: BSD-3-Clause
"""`effio export`: what it writes is what the name of its file says, and runs nothing."""

from __future__ import annotations

import csv
import errno
import gc
import io
import json
import sys

import msgspec
import pytest

from driver import made
from driver.conftest import FIRST, SECOND, Effio
from effio.report.b_eff_io.page import Cells
from effio.store.binary_tables import write_workbook
from effio.store.records import Measurement


def test_export(kept: Effio) -> None:
    done = kept.call("export", FIRST, SECOND)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 77 + 2 * 77
    first = rows[0]
    assert (first["run"], first["pattern"], first["access"]) == (FIRST, "scatter", "write")
    assert (float(first["rate"]), first["rate_unit"]) == (20e6, "B/s")
    assert first["where_chunk_bytes"] == "1024"
    assert first["call_p99_seconds"] == "0.004"
    target = kept.cwd / "out.csv"
    assert kept.call("export", FIRST, "-o", target, "--what", "figures").returncode == 0
    assert "b_eff_io" in target.read_text()
    assert (first["started"], first["benchmark"]) == ("2026-11-20T12:00:00Z", "b-eff-io")
    again = kept.call("export", FIRST, "-o", target)
    assert again.returncode == 2
    assert again.stderr == f"effio: {target} exists\n       name another one, or remove it\n"


def test_a_measurement_of_nothing_has_no_rate(effio: Effio) -> None:
    """The figure over the repetitions has no value, but a row of it had 0.0 and times of 0."""
    lines = made.b_eff_io()
    none = {"operations": 0, "bytes": 0, "call_times": made.call_times(0, 0.0)}
    rate = {"value": 0.0, "unit": "op/s", "better": "higher"}
    lines[1] |= {**none, "rate": rate}
    lines[2] |= {"rate": rate}
    file = made.write(effio.cwd / "effio-runs" / FIRST / "result.jsonl", lines)
    first, second = list(csv.DictReader(io.StringIO(effio.call("export", file).stdout)))[:2]
    assert (first["rate"], first["rate_missing"]) == ("", "no operation was done")
    assert (first["call_p50_seconds"], first["call_max_seconds"], first["valid"]) == (
        "",
        "",
        "True",
    )
    # 0 of some operations is a rate.
    assert (second["rate"], second["rate_missing"], second["call_p50_seconds"]) == (
        "0.0", "", "0.001",
    )  # fmt: skip
    sql = "SELECT rate, rate_missing, call_p99_seconds FROM measurements"
    done = effio.call("query", f"{sql} LIMIT 1", "--format", "json")
    if "needs DuckDB" not in done.stderr:
        assert json.loads(done.stdout) == {
            "rate": None, "rate_missing": "no operation was done", "call_p99_seconds": None,
        }  # fmt: skip


def test_a_cell_of_two_rounds_has_a_rate_if_one_of_them_did_nothing() -> None:
    """The rate was that of the first round alone, next to the bytes of both."""
    lines = [made.measurement("write", "scatter", 1, 4e6) for _ in range(2)]
    lines[1] |= {"operations": 0, "bytes": 0}
    lines[1]["rate"] = {"value": None, "unit": "B/s", "better": "higher", "reason": "nothing"}
    earlier, later = [msgspec.convert(line, Measurement) for line in lines]
    for pair in ((earlier, later), (later, earlier)):
        cell = Cells(pair).at("write", "scatter", 1)
        assert cell is not None
        assert (cell.bytes, cell.rate.value, cell.rate.reason) == (4_000_000, 2e6, "")


@pytest.mark.parametrize(
    ("words", "target"), [(("archive",), "/proc/a.tgz"), (("bundle",), "/proc/bundle")]
)
def test_a_place_that_cannot_be_written_is_named(
    words: tuple[str, ...], target: str, kept: Effio
) -> None:
    """The error had the name of a file that was to become it."""
    done = kept.call(*words, FIRST, "-o", target)
    assert done.returncode == 3
    assert f"effio: {target}: " in done.stderr


@pytest.mark.parametrize(
    ("suffix", "start"),
    [
        ("csv", b"run,benchmark,"),
        ("tsv", b"run\tbenchmark\t"),
        ("json", b"[\n {"),
        ("md", b"| run "),
    ],
)
def test_an_export_is_what_its_name_says(suffix: str, start: bytes, kept: Effio) -> None:
    target = kept.cwd / f"out.{suffix}"
    assert kept.call("export", FIRST, "-o", target).returncode == 0
    assert target.read_bytes().replace(b"|run|", b"| run ").startswith(start)


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("out.png", (), "the suffix '.png' names no known format"),
        ("out", ("--format", "csv"), "the suffix '' names no known format"),
        ("out.xlsx", ("--format", "csv"), "the suffix says xlsx, --format says csv"),
        ("out.CSV", ("--format", "json"), "the suffix says csv, --format says json"),
    ],
)
def test_an_export_to_another_kind_of_file_is_refused(
    name: str, words: tuple[str, ...], said: str, kept: Effio
) -> None:
    done = kept.call("export", FIRST, "-o", kept.cwd / name, *words)
    assert done.returncode == 2
    assert said in done.stderr
    choices = "use one of .csv, .tsv, .json, .md, .xlsx, .parquet, .feather"
    assert choices in " ".join(done.stderr.split())
    assert not (kept.cwd / name).exists()


def test_spreadsheets_run_nothing_of_an_export(effio: Effio) -> None:
    lines = made.b_eff_io()
    lines[1]["pattern"] = "=HYPERLINK(1)"
    lines[1]["seconds"]["=1+1"] = made.spread(1.0)
    done = effio.call("export", made.write(effio.cwd / "x.jsonl", lines))
    first = next(csv.DictReader(io.StringIO(done.stdout)))
    assert first["pattern"] == "'=HYPERLINK(1)"
    # A heading is a cell, too.
    assert first["'=1+1_seconds_max"] == "1.0"


@pytest.mark.parametrize("form", ["csv", "tsv", "markdown"])
def test_terminals_obey_nothing_of_an_export(form: str, effio: Effio) -> None:
    lines = made.b_eff_io()
    lines[1]["pattern"] = "a\x1b[31mb\x00c\x9bd\r=1+1"
    done = effio.call("export", made.write(effio.cwd / "x.jsonl", lines), "--format", form)
    assert not {"\x1b", "\x00", "\x9b", "\r"} & set(done.stdout)
    assert "a" in done.stdout


class Full(io.BytesIO):
    def write(self, _: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_workbook_on_a_full_disk_is_one_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python reported two more when it removed what was half written."""
    later: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", later.append)
    with pytest.raises(OSError, match="No space left"):
        write_workbook([{"rate": 1.0}], "figures", Full())
    gc.collect()
    assert later == []
