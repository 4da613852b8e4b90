# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons for other programs: JSON (docs/compare.md) and JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree as ET

from msgspec import structs

from effio import text as fmt
from effio.judge.compare import Comparison, Line
from effio.judge.verdicts import Verdict

COMPARISON_SCHEMA = "effio-comparison/1"


def _line(line: Line) -> dict[str, Any]:
    return {
        "benchmark": line.key.benchmark,
        "pattern": line.key.pattern,
        "access": line.key.access,
        "where": dict(line.key.axes),
        "unit": line.unit,
        "better": line.better,
        "first": structs.asdict(line.first) if line.first else None,
        "second": structs.asdict(line.second) if line.second else None,
        "gain": line.gain,
        "low95": line.ratio.low if line.ratio else None,
        "high95": line.ratio.high if line.ratio else None,
        "p_adjusted": line.p,
        "interval_over": line.basis or None,
        "verdict": line.verdict.text,
        "reason": line.reason or None,
        "note": line.note or None,
        "spread_first": line.spreads[0] or None,
        "spread_second": line.spreads[1] or None,
    }


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    return {
        "schema": COMPARISON_SCHEMA,
        "first": {"name": comparison.first.name, "runs": [r.name for r in comparison.first.runs]},
        "second": {
            "name": comparison.second.name,
            "runs": [r.name for r in comparison.second.runs],
        },
        "tolerance": comparison.terms.tolerance,
        "across": sorted(comparison.terms.across),
        "notes": list(comparison.notes),
        "power": asdict(comparison.power) if comparison.power else None,
        "measurements": [_line(line) for line in comparison.lines],
        "overall": [asdict(one) for one in comparison.overall],
        "alone": [
            {
                "only_in": a.side,
                "benchmark": a.key.benchmark,
                "pattern": a.key.pattern,
                "access": a.key.access,
                "where": dict(a.key.axes),
                "why": a.why,
            }
            for a in comparison.alone
        ],
        "differences": [asdict(d) for d in comparison.differences],
    }


def line_text(line: Line) -> str:
    """A change in one line."""
    axes = " ".join(f"{name}={value}" for name, value in line.key.axes)
    interval = f" ({line.shown.low:.3f} to {line.shown.high:.3f})" if line.shown else ""
    gain = "" if line.gain is None else f" {line.gain:.3f}{interval}"
    reason = f": {line.reason}" if line.reason else ""
    return fmt.plain(
        f"{line.verdict.text}{gain} {line.key.benchmark} {line.key.what} {axes}{reason}"
    )


def _xml_text(text: str) -> str:
    """XML knows no control characters, not even escaped ones."""
    return fmt.plain(text)


def junit(comparisons: Sequence[Comparison]) -> str:
    """A suite for each comparison, a case for each measurement: a loss is a failure, what cannot be
    said is skipped."""
    root = ET.Element("testsuites", name="effio compare")
    for comparison in comparisons:
        lines = comparison.lines
        suite = ET.SubElement(
            root,
            "testsuite",
            name=_xml_text(f"{comparison.second.name} against {comparison.first.name}"),
            tests=str(len(lines)),
            failures=str(len(comparison.losses)),
            errors="0",
            skipped=str(sum(line.verdict is Verdict.UNDECIDED for line in lines)),
        )
        for line in lines:
            axes = " ".join(f"{name}={value}" for name, value in line.key.axes)
            case = ET.SubElement(
                suite,
                "testcase",
                classname=_xml_text(line.key.benchmark),
                name=_xml_text(f"{line.key.what} {axes}"),
            )
            if line.is_loss:
                ET.SubElement(case, "failure", message=line_text(line))
            elif line.verdict is Verdict.UNDECIDED:
                ET.SubElement(case, "skipped", message=_xml_text(line.reason))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
