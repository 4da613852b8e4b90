# SPDX-License-Identifier: BSD-3-Clause
"""`effio import` of files in which a rate is missing or does not count: what is left out is said,
and no number is made of rates that were not measured together."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from driver.conftest import Effio
from effio.errors import EffioError
from effio.imports import formats, keep
from effio.store.all_runs import Store

FOREIGN = Path(__file__).parent / "foreign"
_LEFT_OUT = "left out, because it has no rate that is a number above 0: "


@pytest.mark.parametrize("odd", ["nan", "inf", "-77.5", "0.00", "1.2.3"])
@pytest.mark.parametrize(
    ("name", "pattern", "said"),
    [
        ("ior.txt", r"^(write +)[0-9.]+", "write (3 times)"),
        ("ior.csv", r"^(write,)[0-9.]+", "write (2 times)"),
        ("ior.json", r'("access": "write",\s+"bwMiB": )[0-9.]+', "write (2 times)"),
        ("mdtest.txt", r"^( +File creation +)[0-9.]+ +[0-9.]+ +[0-9.]+", "File creation"),
        ("io500-summary.txt", r"^(\[RESULT\] +find +)[0-9.]+", "find"),
        ("io500-result.txt", r"(\[ior-easy-write\]\n(?:.*\n)*?score += )[0-9.]+", "ior-easy-write"),
    ],
)
def test_a_rate_that_cannot_be_used_is_said_to_be_missing(
    name: str, pattern: str, said: str, odd: str, tmp_path: Path
) -> None:
    """Rows with nan vanished, the headline was another rate; those below 0 named a file that was
    gone."""
    text = (FOREIGN / name).read_text()
    if name == "mdtest.txt":
        given = " ".join([odd] * 3)
    elif name.endswith("json") and odd in ("inf", "1.2.3"):
        given = "null"
    else:
        given = odd
    path = tmp_path / name
    path.write_text(re.sub(pattern, rf"\g<1>{given}", text, flags=re.M))
    if (name, odd) == ("mdtest.txt", "0.00"):  # a phase that was left out
        assert formats.doubts_of(formats.read(path)[1]) == []
    elif (name, odd) == ("io500-summary.txt", "1.2.3"):
        with pytest.raises(EffioError, match="a number that is out of range"):
            formats.read(path)
    else:
        assert formats.doubts_of(formats.read(path)[1]) == [_LEFT_OUT + said]


def test_what_is_missing_is_on_the_terminal_and_in_the_report(effio: Effio, tmp_path: Path) -> None:
    path = tmp_path / "elbencho.csv"
    path.write_text((FOREIGN / "elbencho-3.csv").read_text())
    done = effio.call("import", path)
    assert f"{_LEFT_OUT}write" in " ".join(done.stderr.split())
    shown = " ".join(effio.call("show", "last").stdout.split())
    assert f"{_LEFT_OUT[1:]}write" in shown


def _fio(tmp_path: Path, *jobs: dict[str, Any]) -> Path:
    """Jobs with the rates of the first one of the file."""
    whole = json.loads((FOREIGN / "fio.json").read_text())
    first = whole["jobs"][0]
    whole["jobs"] = [
        {**first, "jobname": name, "job options": {**first["job options"], **options}}
        for name, options in (job.popitem() for job in jobs)
    ]
    path = tmp_path / "fio.json"
    path.write_text(json.dumps(whole))
    return path


@pytest.mark.parametrize("wait", ["stonewall", "wait_for_previous", "wait_for"])
def test_rates_of_jobs_that_wait_for_others_are_not_added(tmp_path: Path, wait: str) -> None:
    """The headline was twice what the storage had done at any time."""
    one = 158378666.0

    def reads(*jobs: dict[str, Any]) -> list[tuple[float, object]]:
        (run,) = formats.read(_fio(tmp_path, *jobs))[1]
        return [(v.value, v.where.get("stage")) for v in run.values if "read" in v.name]

    waits = {wait: ""}
    assert reads({"a": {}}, {"b": {}}) == [(2 * one, None)]
    assert reads({"a": {}}, {"b": waits}) == [(one, 1), (one, 2)]
    assert reads({"a": waits}, {"b": {}}) == [(2 * one, None)]
    assert reads({"a": {}}, {"b": {wait: "0"}}) == [(2 * one, None)]
    # Copies of a job have its options, and run together.
    assert reads({"a": waits}, {"a": waits}) == [(2 * one, None)]
    assert reads({"a": {}}, {"b": waits}, {"b": waits}) == [(one, 1), (2 * one, 2)]


def test_a_number_that_no_result_holds_names_the_file(tmp_path: Path) -> None:
    """The message named the folder of the run, which was removed."""
    path = tmp_path / "far.txt"
    text = (FOREIGN / "ior.txt").read_text()
    path.write_text(re.sub(r"^(write +)[0-9.]+", r"\g<1>1e25", text, flags=re.M))
    store = Store(tmp_path / "runs")
    with pytest.raises(EffioError) as caught:
        keep.import_file(path, store, [])
    assert str(caught.value).startswith(f"{path}: IOR text that no result can hold: a whole number")
    assert "runs" not in str(caught.value)


def test_a_file_that_goes_while_it_is_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ior.txt"
    path.write_text((FOREIGN / "ior.txt").read_text())
    read = formats.read

    def gone(file: Path) -> Any:
        found = read(file)
        file.unlink()
        return found

    monkeypatch.setattr(formats, "read", gone)
    with pytest.raises(EffioError, match=r"ior\.txt: changed while it was read: No such file"):
        keep.import_file(path, Store(tmp_path / "runs"), [])


@pytest.mark.parametrize("odd", ["9" * 5000, '"many"'])
def test_a_number_that_python_refuses_is_described_in_our_words(odd: str, tmp_path: Path) -> None:
    """The message was that of Python, with the name of a function."""
    path = tmp_path / "fio.json"
    text = (FOREIGN / "fio.json").read_text()
    path.write_text(re.sub(r'("io_bytes" : )\d+', rf"\g<1>{odd}", text, count=1))
    with pytest.raises(EffioError, match=r"cannot be read: a number in it cannot be read$"):
        formats.read(path)
