# SPDX-License-Identifier: BSD-3-Clause
"""What a run of ior or mdtest shows: its end, what it left, and what it printed, without the
figures that differ from run to run."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from differential.forms import outline

# Of JSON results and summaries: figures that are measured.
MEASURED = re.compile(
    r"bw|iops|latency|Time$|OPs|Capacity|Inodes|Began|Finished|Version|Machine|Command line"
    r"|^(write|read)Mi?B$|platform"
)

# What lines name as summaryFile: figures that are measured.
SUMMARY_FILE = "out.txt"

# What lines name as the file of the ranks' rates and times.
RANKS_FILE = "ranks.csv"


def ending(code: int) -> str:
    """The class of an exit code."""
    return "ok" if code == 0 else "failed"


def left(directory: Path) -> dict[str, str]:
    """Kind and size by name of everything there but result files."""
    found = {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        if re.fullmatch(r"effio-.*\.jsonl|\.std.*", path.name):
            continue
        if name in (SUMMARY_FILE, RANKS_FILE):
            found[name] = "text"
        elif path.is_dir():
            found[name] = "directory"
        else:
            found[name] = f"file {path.stat().st_size}"
    return found


def rights(directory: Path) -> dict[str, str]:
    """The rights of the same names."""
    return {
        name: f"{(directory / name).stat().st_mode & 0o777:o}"
        for name, kind in left(directory).items()
        if kind != "text"
    }


def ranks_rows(directory: Path) -> dict[str, str]:
    """The file of the ranks: the header, and each row with # for a time or a rate (inf of a time of
    0). The original fills columns of "Directory read", which neither does."""
    path = directory / RANKS_FILE
    if not path.exists():
        return {}
    header, *rows = path.read_text().split("\n")
    names = header.split(",")
    found = [header]
    for row in rows:
        cells = [
            re.sub(r"^(?:\d\.\d{10}e[+-]\d\d|inf)$", "#", cell)
            for name, cell in zip(names, row.split(","), strict=False)
            if not name.endswith("Directory read")
        ]
        found.append(",".join(cells))
    return {"ranks": "\n".join(found)}


def digests(directory: Path) -> dict[str, str]:
    return {
        name: hashlib.sha256((directory / name).read_bytes()).hexdigest()[:12]
        for name, kind in left(directory).items()
        if kind.startswith("file")
    }


def type_name(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return {str: "string", list: "list", dict: "object", type(None): "null"}[type(value)]


def flat(value: Any, path: str = "") -> dict[str, str]:
    """JSON as path: type and, unless it is measured, value. Elements of lists by number."""
    if isinstance(value, dict):
        pairs = [(f"{path}.{key}" if path else key, item) for key, item in value.items()]
    elif isinstance(value, list):
        pairs = [(f"{path}[{i}]", item) for i, item in enumerate(value)]
    else:
        name = path.rsplit(".", 1)[-1]
        measured = MEASURED.search(name) is not None
        text = f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
        return {path: type_name(value) + ("" if measured else f" {text}")}
    return {key: text for inner, item in pairs for key, text in flat(item, inner).items()}


def parsed_json(text: str) -> dict[str, str] | None:
    """The original mixes warnings into it, and prints nan or inf for a missing number."""
    kept = [line for line in text.splitlines() if line.strip()[:1] in set('{}[],"')]
    cleaned = re.sub(r"(?<=: )-?(nan|inf)\b", "0", "\n".join(kept))
    begin = cleaned.find("{")
    try:
        return flat(json.loads(cleaned[begin:], strict=False))
    except json.JSONDecodeError:
        return None


def options(text: str) -> dict[str, str]:
    """The section Options of ior's text."""
    found: dict[str, str] = {}
    inside = False
    for line in text.splitlines():
        if line.startswith("Options:"):
            inside = True
        elif line.startswith("Results:"):
            inside = False
        elif inside and ":" in line and not line.startswith("WARNING"):
            key, _, value = line.partition(":")
            found[key.strip()] = value.strip()
    return found


def ior_rows(text: str) -> list[str]:
    """Access, block, transfer and iteration of each row of results."""
    rows = []
    for line in text.splitlines():
        words = line.split()
        if len(words) == 11 and words[0] in ("write", "read", "remove"):
            rows.append(" ".join([words[0], words[4], words[5], words[10]]))
    return rows


def ior_summary(text: str) -> list[str]:
    """What is not measured of each line of the summary, from "Test#" on."""
    lines = text.splitlines()
    if "Summary of all tests:" not in lines:
        return []
    begin = lines.index("Summary of all tests:") + 2
    found = []
    for line in lines[begin:]:
        words = line.split()
        if not words or words[0] not in ("write", "read"):
            break
        found.append(" ".join([words[0], *words[12:]]))
    return found


def csv_shape(text: str) -> list[str]:
    """The header of ior's CSV; of each row access, block and transfer with the four
    decimals of the original, tasks and iteration."""
    shape = []
    for line in text.splitlines():
        cells = line.split(",")
        if len(cells) != 12:
            continue
        if cells[0] == "access":
            shape.append(line)
        elif cells[0] in ("write", "read", "remove"):
            block, transfer = (f"{float(c):.4f}" if c != "-" else c for c in cells[4:6])
            shape.append(" ".join([cells[0], block, transfer, *cells[10:]]))
    return shape


def mdtest_rows(text: str) -> list[str]:
    """Names of the rows with whether each has a rate, the headings, the counts of items."""
    rows = []
    for line in text.splitlines():
        if line.startswith("SUMMARY") or re.match(r"\d+ tasks, ", line):
            rows.append(line.strip())
        found = re.match(r"   (\w+ \w+) +(\d+\.\d+) ", line)
        if found:
            rows.append(f"{found[1]} {'some' if float(found[2]) > 0 else 'none'}")
    return rows


def without_warnings(lines: list[str]) -> list[str]:
    """Lines that are their own aspect elsewhere are left out."""
    return [line for line in lines if not line.startswith(("warning ", "option "))]


def printed(program: str, text: str, errors: str) -> dict[str, str]:
    """Every aspect of the output that can be compared, by name. Warnings may go either way."""
    lines = {"lines": "\n".join(without_warnings(outline(program, text)))}
    if program == "mdtest":
        return {"rows": "; ".join(mdtest_rows(text)), **lines}
    seen = {f"options.{key}": value for key, value in options(text).items()}
    if re.search(r"^\{\s*$", text, re.M):  # warnings may be before it
        parsed = parsed_json(text)
        return (
            {"json": "unreadable"}
            if parsed is None
            else {f"json.{key}": value for key, value in parsed.items()}
        )
    shape = csv_shape(text)
    if shape:
        return {"csv": "; ".join(shape), **lines}
    seen |= lines
    seen["rows"] = "; ".join(ior_rows(text))
    seen["summary"] = "; ".join(ior_summary(text))
    warned = re.findall(r"WARNING: ([A-Z]\S+ \S+ \S+)", text + errors)
    seen["warnings"] = "; ".join(sorted(set(warned)))
    return seen
