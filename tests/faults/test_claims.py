# SPDX-License-Identifier: BSD-3-Clause
"""A rate that the console claims says what was wrong with the very cell that measured it."""

from __future__ import annotations

from faults.conftest import QUICK, Faulty

FLIP = "write,flip=5000"


def _line(text: str, begin: str) -> str:
    (line,) = [line for line in text.splitlines() if line.strip().startswith(begin)]
    return line


def test_the_highest_rate_of_a_study(faulty: Faulty) -> None:
    words = ["spiobench", "--backend", "posix", "--dir", faulty.data, "--size", "64KiB",
             "--block", "4KiB", "--tasks", "2", "--repetitions", "2"]  # fmt: skip
    fine = faulty.launch("write,count", words)
    assert fine.code == 0, fine
    assert "WRONG" not in _line(fine.stdout, "Highest write:")
    assert "Wrong data or failed repetitions" not in fine.stdout
    run = faulty.launch(f"{FLIP},file=_4096.000", words)
    assert run.code == 1, run
    # Every write of that byte: one piece in each repetition.
    for access in ("write", "read"):
        assert _line(run.stdout, f"Highest {access}:").endswith("; 2 pieces WRONG")
    assert "Wrong data or failed repetitions:\n" in run.stdout


def test_the_rates_of_ior(faulty: Faulty) -> None:
    words = ["ior", "--backend", "posix", "--dir", faulty.data, "--files", "per-process",
             "--block", "64KiB", "--transfer", "4KiB", "--repetitions", "2",
             "--verify", "inside"]  # fmt: skip
    run = faulty.launch(f"{FLIP},file=ior.00000000", words)
    assert run.code == 1, run
    table = run.stdout.partition("mean MB/s")[2].splitlines()
    (read,) = [line for line in table if line.startswith("read")]
    assert read.endswith(" 2, 2 WRONG")


def test_the_number_of_b_eff_io(faulty: Faulty) -> None:
    words = [word for word in QUICK if word != "--quiet"]
    run = faulty.launch(
        "write,flip=5244114,file=data_i00_002_0", [*words, "--dir", faulty.data, "--verify", "full"]
    )
    assert run.code == 1, run
    assert " on 2 ranks with 2 ERRORs: NOT VALID" in _line(run.stdout, "b_eff_io = ")
    assert "! = failed calls or wrong data" in run.stdout


def test_the_times_of_overlap(faulty: Faulty) -> None:
    """Each repetition of the cell that wrote the byte counts it, and no other cell does."""
    words = ["overlap", "--methods", "blocking", "--work", "compute", "--transfer", "64KiB",
             "--dir", faulty.data, "--repetitions", "2"]  # fmt: skip
    run = faulty.launch(f"{FLIP},in={faulty.data}", words)
    assert run.code == 1, run
    wrong = dict.fromkeys(("write", "read"), 0)
    for m in run.result.measurements:
        wrong[m["access"]] += m["error_count"]
    assert sum(wrong.values()) > 0
    for access, title in (("write", "Write alongside"), ("read", "Read alongside")):
        table = run.stdout.partition(title)[2].splitlines()
        row = next(line.strip() for line in table if line.strip().startswith("blocking"))
        bytes_wrong = f", {wrong[access]} byte{'' if wrong[access] == 1 else 's'} WRONG"
        assert row.endswith(f" 2{bytes_wrong if wrong[access] else ''}"), run.stdout
