# SPDX-License-Identifier: BSD-3-Clause
"""Result files of every benchmark, tampered with: refused with a message, or reported in full, and
in little time. What a seed makes is the same everywhere, so a failure repeats:
EFFIO_FUZZ_FILES=N: number of files of each benchmark."""

from __future__ import annotations

import contextlib
import os
import random
import sys
import time
from pathlib import Path

import pytest

from driver import made, test_report_b_eff
from driver.corpus import CORPUS
from effio.report.build import report_of
from effio.report.html import render
from effio.store.reader import ResultError, read_result
from fuzz.mutate import change_bytes, change_file, distinct, mutant, text_of
from fuzz.reporting import report_everything

FILES = int(os.environ.get("EFFIO_FUZZ_FILES", "60"))
# Of processor time, which other work on the machine does not count towards.
SECONDS_PER_MIB = 1.0
MIB = 1 << 20


def reported_in(path: Path) -> float:
    """Processor seconds from the file to all that is reported of it; ResultError if refused."""
    begin = time.process_time()
    report_everything(read_result(path))
    return time.process_time() - begin


@pytest.mark.parametrize("benchmark", CORPUS)
def test_tampered_files_are_refused_or_reported_of(benchmark: str, tmp_path: Path) -> None:
    lines = CORPUS[benchmark]()
    path = tmp_path / "tampered.jsonl"
    read = refused = 0
    for number in range(FILES):
        seed = f"{benchmark} {number}"
        path.write_bytes(mutant(lines, random.Random(seed)))
        try:
            seconds = reported_in(path)
        except ResultError:
            refused += 1
            continue
        except Exception as error:
            raise AssertionError(f"seed {seed!r}: {error!r}") from error
        read += 1
        # Ten times the limit: a machine may be slow, and one cell could do a hundred times it.
        limit = 10 * SECONDS_PER_MIB * max(1.0, path.stat().st_size / MIB)
        assert seconds < limit, f"seed {seed!r}: {seconds:.1f} s"
    assert read > FILES / 10
    assert refused > FILES / 10


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes(seed: int, tmp_path: Path) -> None:
    """The file is short: most of what is hit is the `run` line."""
    chance = random.Random(seed)
    whole = text_of(made.b_eff_io()[:20])
    path = tmp_path / "damaged.jsonl"
    for _ in range(80):
        path.write_bytes(change_bytes(whole, chance))
        with contextlib.suppress(ResultError):
            reported_in(path)


@pytest.mark.parametrize("benchmark", CORPUS)
def test_tampered_files_that_are_read_can_be_drawn(benchmark: str, tmp_path: Path) -> None:
    chance = random.Random(f"drawn {benchmark}")
    lines = CORPUS[benchmark]()
    drawn = 0
    while drawn < 2:
        path = tmp_path / "tampered.jsonl"
        path.write_bytes(text_of(change_file(lines, chance)))
        with contextlib.suppress(ResultError):
            page = render([report_of("tampered", read_result(path))], ["tampered"])
            assert "</html>" in page
            drawn += 1


@pytest.mark.parametrize("benchmark", CORPUS)
def test_the_time_to_show_grows_with_the_file_and_not_faster(
    benchmark: str, tmp_path: Path
) -> None:
    """Four times as many lines, all of different cells: four times the work, not sixteen. Calls of
    functions are counted, because they are the same on every machine."""
    lines = CORPUS[benchmark]()

    def calls_of(count: int) -> int:
        path = tmp_path / f"{count}.jsonl"
        path.write_bytes(text_of(distinct(lines, count, random.Random(count))))
        result = read_result(path)
        calls = 0

        def note(_frame: object, event: str, _what: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(note)
        try:
            report_everything(result)
        finally:
            sys.setprofile(None)
        return calls

    report_everything(read_result(made.write(tmp_path / "warm.jsonl", list(lines))))
    few, many = calls_of(250), calls_of(1000)
    assert many < 7 * few, f"{few} calls for 250 lines, {many} for 1000"


@pytest.mark.parametrize("digits", [str(2**64), str(-(2**63) - 1), "1" + 400 * "0", 5000 * "9"])
def test_whole_numbers_beyond_64_bits_are_refused(digits: str, tmp_path: Path) -> None:
    lines = made.b_eff_io()
    lines[1]["where"]["chunk_bytes"] = "HERE"
    text = text_of(lines).replace(b'"HERE"', digits.encode())
    path = tmp_path / "large.jsonl"
    path.write_bytes(text)
    with pytest.raises(ResultError, match="line 2: a whole number beyond 64 bits"):
        read_result(path)


def test_the_largest_numbers_are_read(tmp_path: Path) -> None:
    lines = made.b_eff_io()
    lines[1]["where"]["chunk_bytes"] = 2**64 - 1
    lines[2]["where"]["chunk_bytes"] = -(2**63)
    result = read_result(made.write(tmp_path / "large.jsonl", lines))
    report_everything(result)
    assert result.measurements[0].number("chunk_bytes") == 2.0**64


def test_a_pair_of_a_rank_that_does_not_exist_makes_one_row_more(tmp_path: Path) -> None:
    lines = test_report_b_eff.made_lines()
    pairs = next(line for line in lines if line.get("name") == "slow_pairs")
    pairs["detail"]["pairs_low_high_latency_bandwidth"] = [
        [0, 1, 1e-6, 1e9],
        [0, 2**62, 1e-6, 1e9],
    ]
    report = report_everything(read_result(made.write(tmp_path / "pairs.jsonl", lines)))
    figure = next(f for f in report.figures() if f.id == "pair-bandwidth")
    assert list(figure.variants[""][0].x_labels) == ["0", "1", str(2**62)]
    # No rank at all: this pair alone is not believed.
    pairs["detail"]["pairs_low_high_latency_bandwidth"].append([-1, 1, 1e-6, 1e9])
    again = report_everything(read_result(made.write(tmp_path / "none.jsonl", lines)))
    assert next(f for f in again.figures() if f.id == "pair-bandwidth").variants == figure.variants
    assert [f for f in again.findings if f.text.startswith("1 pair of ranks is left out")]
