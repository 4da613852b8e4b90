# SPDX-License-Identifier: BSD-3-Clause
"""Results of IO500: the summary on its console (result_summary.txt) and result.txt.

The unit GB/s of old summaries is 2³⁰ bytes a second, as GiB/s of newer ones. kIOPS are 1000
operations a second."""

from __future__ import annotations

import configparser
import re

from effio.imports.model import GIB, Cell, Imported, ImportFormatError, Value, without_rate
from effio.imports.numbers import date_of, number

_VERSION = re.compile(r"^IO500 version (\S+)(?: \((\w+)\))?", re.M)
_PHASE = re.compile(
    r"^\[RESULT\]\s+(\S+)\s+([0-9.eE+]+) (G(?:i)?B/s|kIOPS)\s*: time\s+([0-9.]+) seconds"
    r"\s*(\[INVALID\])?",
    re.M,
)
_NAME = re.compile(r"^\[RESULT\]\s+(\S+)", re.M)
_SCORE = re.compile(
    r"^\[SCORE\s*(INVALID)?\s*\]\s*Bandwidth ([0-9.]+) G(?:i)?B/s\s*: IOPS ([0-9.]+) kiops\s*"
    r": TOTAL ([0-9.]+)\s*(\[INVALID\])?",
    re.M,
)
_ACCESS = {"delete": "remove"}


def is_summary(text: str) -> bool:
    return _PHASE.search(text) is not None


def is_result(text: str) -> bool:
    return "[run]" in text and "[ior-easy-write]" in text and "score" in text


def _cell(phase: str, score: float, seconds: float, invalid: bool, ranks: int, nodes: int) -> Cell:
    """`score` in GiB/s or 1000 operations a second, as the phase has it."""
    name, _, access = phase.rpartition("-") if "-" in phase else (phase, "", phase)
    moves = phase.startswith("ior-")
    rate = score * GIB if moves else score * 1000
    amount = round(rate * seconds)
    return Cell(
        pattern=name,
        access=_ACCESS.get(access, access),
        where={"phase": phase},
        ranks=ranks,
        nodes=nodes,
        bytes=amount if moves else 0,
        operations=0 if moves else amount,
        seconds=seconds,
        rate=rate,
        invalid="marked [INVALID] by IO500" if invalid else "",
    )


def _scores(bandwidth: float, operations: float, total: float, invalid: bool) -> list[Value]:
    reasons = ("marked INVALID by IO500",) if invalid else ()
    return [
        Value("bandwidth_score", bandwidth * GIB, "B/s", valid=not invalid, reasons=reasons),
        Value("metadata_score", operations * 1000, "op/s", valid=not invalid, reasons=reasons),
        Value("score", total, "1", valid=not invalid, reasons=reasons),  # the headline: the last
    ]


def read_summary(text: str) -> list[Imported]:
    version = _VERSION.search(text)
    cells = [
        _cell(phase, float(value), float(seconds), bool(bad), 1, 1)
        for phase, value, _, seconds, bad in _PHASE.findall(text)
        if float(value) > 0 and float(seconds) > 0
    ]
    known = {cell.where["phase"] for cell in cells}
    score = _SCORE.search(text)
    values = (
        _scores(float(score[2]), float(score[3]), float(score[4]), bool(score[1] or score[5]))
        if score
        else []
    )
    return [
        Imported(
            benchmark="io500",
            program="IO500",
            version=version[1] if version else "",
            started=None,
            cells=cells,
            values=values,
            options={"mode": version[2]} if version and version[2] else {},
            failed="" if score else "there is no score: the run did not finish",
            notes=(
                "the summary has no date and no number of processes; import result.txt instead",
                *without_rate(name for name in _NAME.findall(text) if name not in known),
            ),
        )
    ]


def read_result(text: str) -> list[Imported]:
    """result.txt: a section per phase, with score (GiB/s or kIOPS), times and options."""
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        # What comes before the first section is not part of the INI format.
        parser.read_string(text[text.index("[") :])
    except (configparser.Error, ValueError) as error:
        raise ImportFormatError(f"result.txt of IO500 that cannot be read: {error}") from None

    def got(section: str, name: str) -> str:
        return (parser.get(section, name, fallback="") or "").strip().strip("'\"")

    ranks = int(number(got("run", "procs")) or 1)
    cells = []
    missing: list[str] = []
    for phase in parser.sections():
        score, seconds = number(got(phase, "score")), number(got(phase, "t_delta"))
        if not phase.startswith(("ior-", "mdtest-", "find")):
            continue
        if not score or not seconds or min(score, seconds) < 0:
            missing += [phase] if got(phase, "score") else []  # a phase may be switched off
            continue
        cells.append(_cell(phase, score, seconds, got(phase, "valid").lower() == "no", ranks, 1))
    if not cells:
        raise ImportFormatError("result.txt of IO500 without a phase that has a score")
    total = number(got("SCORE", "SCORE"))
    bandwidth, operations = number(got("SCORE", "BW")), number(got("SCORE", "MD"))
    known = total is not None and bandwidth is not None and operations is not None
    values = (
        _scores(bandwidth or 0.0, operations or 0.0, total or 0.0, "INVALID" in text)
        if known
        else []
    )
    return [
        Imported(
            benchmark="io500",
            program="IO500",
            version=got("run", "version"),
            started=date_of(got(cells[0].where["phase"], "t_start")),
            cells=cells,
            values=values,
            ranks=ranks,
            path=got("run", "result-dir"),
            options={"mode": got("run", "mode")},
            notes=without_rate(missing),
            failed="" if known else "there is no score: the run did not finish",
        )
    ]
