# SPDX-License-Identifier: BSD-3-Clause
"""What every page says of caches and of where the bytes were, on results of b_eff_io whose numbers
are known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from driver import made
from effio.report.build import report_of
from effio.report.common.caches import cache_findings
from effio.report.html import cards
from effio.report.model import Report, Table
from effio.store.reader import read_result


def _reported(tmp_path: Path, lines: list[made.Line]) -> Report:
    result = read_result(made.write(tmp_path / "run.jsonl", lines))
    return report_of("run", result, result.remarks)


@pytest.mark.parametrize(
    ("verdicts", "begins", "level"),
    [
        (["cache"], "Cached: 100 % of the bytes written were on storage when", "warn"),
        (["device"], "From the device: 100 %", "good"),
        (["unknown"], "Unknown: 100 % of the bytes written were on storage", "warn"),
        (["mixed"], "Cached: 100 % of the bytes written were on storage", "warn"),
    ],
)
def test_cached_or_not(verdicts: list[str], begins: str, level: str, tmp_path: Path) -> None:
    lines = made.b_eff_io()
    for line in lines:
        if line["kind"] == "measurement" and line["access"] == "read":
            line["cache"]["verdict"] = verdicts[0]
    card = next(c for c in cards(_reported(tmp_path, lines)) if c.title == "Cached?")
    assert card.text.startswith(begins)
    assert card.level == level


def test_a_hint_about_caches_is_given_once(tmp_path: Path) -> None:
    """Also where a headline names two rates of writing, as the strongest and the weakest one."""
    lines = made.b_eff_io()
    for line in lines:
        if line["kind"] == "measurement":
            line["cache"]["verdict"] = "cache"
    result = read_result(made.write(tmp_path / "run.jsonl", lines))
    headline = report_of("run", result, result.remarks).headline
    writes = [one for one in headline.evidence if not one.reading]
    (finding,) = cache_findings(result, replace(headline, evidence=writes * 2))
    assert finding.text.count("includes the flush") == 1


@pytest.mark.parametrize("verdict", ["cache", "unknown"])
def test_a_directory_in_memory_has_no_hints_for_caches(verdict: str, tmp_path: Path) -> None:
    """It said that tmpfs may have written to storage, and proposed --drop-cache and a flush."""
    lines = made.b_eff_io()
    lines[0]["file_system"] |= {"type": "tmpfs", "memory_backed": True}
    for line in lines:
        if line["kind"] == "measurement":
            line["cache"]["verdict"] = verdict
    card = next(c for c in cards(_reported(tmp_path, lines)) if c.title == "Cached?")
    assert card.text == "In memory: tmpfs keeps all data there. Another --dir measures storage."
    assert card.level == "warn"


def test_virtual_time_is_said(tmp_path: Path) -> None:
    lines = made.b_eff_io()
    lines[0]["clock"]["virtual"] = True
    card = next(c for c in cards(_reported(tmp_path, lines)) if c.title == "Cached?")
    assert card.text.startswith("Simulated")


def test_the_ways_out_of_the_cache_and_the_evidence_are_reported(tmp_path: Path) -> None:
    lines = made.b_eff_io()
    reads = [m for m in lines if m["kind"] == "measurement" and m["access"] == "read"]
    for number, line in enumerate(reads):
        line["cache"] |= {
            "verdict": "device",
            "methods": ["dropped", "memory hog"] if number else ["dropped", "other nodes"],
            "resident_before_fraction": 0.0 if number else 0.1,
            "resident_after_fraction": 1.0,
            "others_bytes": 3,
            "reason": "it came from the device",
        }
    report = _reported(tmp_path, lines)
    card = next(c for c in cards(report) if c.title == "Cached?")
    # Of the methods those that were effective for all.
    assert card.text == (
        "From the device: 100 % of the bytes written were on storage when the clock stopped; "
        "100 % of the bytes read came from storage (out of the cache: dropped)."
    )
    section = next(s for s in report.sections if s.id == "caches")
    rows = {row[0]: row for b in section.blocks if isinstance(b, Table) for row in b.rows}
    access, methods, before, after, unwritten, others, why = rows["read"]
    assert (access, methods, why) == ("read", "dropped", "it came from the device")
    assert before == pytest.approx(0.1 / len(reads))
    assert (after, unwritten, others) == (1.0, None, 3 * len(reads))
    # Files of before these members are read all the same.
    assert rows["write"][1:] == ["none", None, None, None, None, ""]
