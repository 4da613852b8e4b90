# SPDX-License-Identifier: BSD-3-Clause
"""Reads a result file as untrusted input: bounded, checked line by line, never a traceback.

What is tolerated, and said: a torn last line (the run was killed), no `end` line. Anything else
that is wrong refuses the file, with the line's number.
"""

from __future__ import annotations

import gc
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, NoReturn, Protocol

import msgspec
from msgspec import structs
from pydantic import ValidationError

from effio import text as fmt
from effio.errors import EffioError, ExitCode
from effio.store import safe_files, versions
from effio.store.known import without_collections
from effio.store.notes import NO_NOTES, Notes, tags_of
from effio.store.records import NOTHING_DONE, End, Figure, Measurement, Run
from effio.store.run_record import CampaignPart, RunRecord
from effio.store.values import with_plain_values

MAX_FILE_BYTES = 4 << 30
MAX_LINE_BYTES = 32 << 20
MAX_RECORDS = 2_000_000

Line = Measurement | Figure | End
_MOST_WRONG = 100
_KINDS: dict[str, type[Line]] = {"measurement": Measurement, "figure": Figure, "end": End}


@dataclass
class Result:
    """A result file, read. `remarks` say what a reader should know about the file itself."""

    path: Path
    run: Run
    measurements: list[Measurement] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    end: End | None = None
    remarks: list[str] = field(default_factory=list)
    # Of a run that the driver started.
    record: RunRecord | None = None
    notes: Notes = NO_NOTES
    content: str = ""  # SHA-256 of the file, where it is needed

    @property
    def benchmark(self) -> str:
        return self.run.benchmark

    @property
    def status(self) -> str:
        return self.end.status if self.end else "unfinished"

    @property
    def is_imported(self) -> bool:
        """Another program measured: effio judged nothing."""
        return "imported" in self.run.extra

    @property
    def part(self) -> CampaignPart | None:
        """What it is in its campaign, if it belongs to one."""
        return self.record.campaign if self.record is not None else None

    @property
    def tags(self) -> list[str]:
        return tags_of(self.record, self.notes)

    @cached_property
    def valid_places(self) -> dict[tuple[str, str], list[list[tuple[int, Measurement]]]]:
        """The valid measurements of each pattern and access by their place, with their positions in
        the file. To be read when all measurements are there."""
        places: dict[tuple[str, str], dict[int, list[tuple[int, Measurement]]]] = {}
        for i, m in enumerate(self.measurements):
            if m.valid:
                here = places.setdefault((m.pattern, m.access), {})
                here.setdefault(id(m.where), []).append((i, m))
        return {one: [*those.values()] for one, those in places.items()}

    def distrust(self, why: str) -> None:
        """No number of it is valid any more."""
        self.measurements = [
            structs.replace(
                m, valid=False, invalid_reason="; ".join(filter(None, [why, m.invalid_reason]))
            )
            for m in self.measurements
        ]
        self.figures = [
            structs.replace(f, valid=False, reasons=[why, *f.reasons]) for f in self.figures
        ]

    def distrust_errors(self) -> None:
        """Measurements with errors that the engine calls valid, since their data were compared
        after the phase, and means over them keep their numbers, of which none is valid."""
        wrong = [m for m in self.measurements if m.has_errors]
        if not any(m.valid for m in wrong):
            return
        self.measurements = [
            structs.replace(m, valid=False, invalid_reason=m.first_error)
            if m.valid and m.has_errors
            else m
            for m in self.measurements
        ]
        # Of many, only which access they are of: a file decides how many there are.
        exactly = len(wrong) <= _MOST_WRONG
        looked_at = wrong if exactly else [*{m.access: m for m in wrong}.values()][:_MOST_WRONG]
        for i, figure in enumerate(self.figures):
            bad = sum(figure.may_count(m, exactly) for m in looked_at)
            if bad and figure.samples is not None:
                counted = fmt.count_of(bad, "measurement") if exactly else "many measurements"
                reasons = [f"failed calls or wrong data in {counted}", *figure.reasons]
                self.figures[i] = structs.replace(figure, valid=False, reasons=reasons)

    def figures_named(self, name: str) -> list[Figure]:
        return [f for f in self.figures if f.name == name]

    def figure(self, name: str) -> Figure | None:
        return next(iter(self.figures_named(name)), None)

    def is_number(self, figure: Figure) -> bool:
        """Whether it is the number of the run: named after its benchmark, and of a study also after
        what it counts, where that depends on the run (docs/results.md)."""
        own = self.benchmark.replace("-", "_")
        return figure.name == own or (
            "study" in self.run.extra and figure.name.startswith(f"{own}_")
        )

    @property
    def number(self) -> Figure | None:
        return next((f for f in self.figures if self.is_number(f)), None)


class ResultError(EffioError):
    """The file cannot be used; the message says where and why. `newer`: a newer effio made it."""

    def __init__(self, path: Path, why: str, line: int | None = None, newer: bool = False) -> None:
        where = f"{path}, line {line}" if line else str(path)
        super().__init__(f"{where}: {why}", ExitCode.USAGE)
        self.why = why
        self.newer = newer


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


class _ForeignError(ValueError):
    """JSON, but no value that an engine writes."""


def _whole(text: str) -> int:
    """A number of 64 bits: such a number is a float as well, and is printed in no time."""
    if len(text) > 20 or not -(2**63) <= (value := int(text)) < 2**64:
        raise _ForeignError(f"a whole number beyond 64 bits: {text[:40]}")
    return value


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is too large")
    return value


# How the engine starts each line of the current version.
_CURRENT = f'{{"schema":"effio-result/{versions.CURRENT[0]}.{versions.CURRENT[1]}"'.encode()
# Digits and minus as 0, and what may precede a number as a colon: this finds whole numbers of 20
# signs and more, which may not fit into 64 bits, but not the digits after a point.
_ALIKE = bytes.maketrans(b"123456789-[, \t\r+eE", b"0000000000::::::::")
_LONG = b":" + b"0" * 20
# Objects that older engines, and other programs, write as null where they are empty.
_MAY_BE_NULL = frozenset({"where", "detail", "hints_asked", "hints_granted"})
_LINE = msgspec.json.Decoder(Line)
_ANY = msgspec.json.Decoder()


def _quickly(text: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """Parses an ordinary line. None for any other: Python's parser decides what it is."""
    # From the end, because that looks for the colon first, which is rarer than zeros.
    if text.translate(_ALIKE).rfind(_LONG) >= 0:
        return None
    try:
        return decoder.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _parse(text: bytes) -> dict[str, Any]:
    value = _quickly(text, _ANY)
    if value is None:
        value = json.loads(
            text.decode("utf-8"), parse_constant=_no_constant, parse_float=_finite, parse_int=_whole
        )
        try:
            msgspec.json.encode(value)
        except UnicodeEncodeError:
            raise _ForeignError("half a character, which no file or terminal takes") from None
    if not isinstance(value, dict):
        raise TypeError("not an object")
    return value


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in fault["loc"][:6])
    more = error.error_count() - 1
    also = f" (and {fmt.count_of(more, 'more fault')})" if more else ""
    return f"{place}: {fault['msg']}{also}"


def _fault(error: msgspec.ValidationError) -> str:
    """msgspec names the member at the end: "Expected `int`, got `str` - at `$.bytes`"."""
    what, _, place = str(error).rpartition(" - at `$")
    return f"{place.strip('`.')}: {what}" if what else str(error)


class Digest(Protocol):
    """A digest of hashlib."""

    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


def _lines(
    stream: IO[bytes], path: Path, digest: Digest | None
) -> Iterator[tuple[int, bytes, bool]]:
    """Number, text and whether the line is whole (ends in a line end)."""
    number = 0
    while line := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        if digest is not None:
            digest.update(line)
        if len(line) > MAX_LINE_BYTES:
            raise ResultError(path, f"longer than {fmt.size(MAX_LINE_BYTES)}", number)
        if number > MAX_RECORDS:
            raise ResultError(path, f"more than {MAX_RECORDS} lines")
        yield number, line, line.endswith(b"\n")


def read_result(path: Path, digest: Digest | None = None) -> Result:
    """Raises ResultError if the file is not a result, or a damaged one. `digest` gets the bytes of
    the whole file, if it is a result."""
    try:
        with safe_files.reading(path, most=None) as stream:
            if os.fstat(stream.fileno()).st_size > MAX_FILE_BYTES:
                raise ResultError(path, f"larger than {fmt.size(MAX_FILE_BYTES)}")
            return _read(stream, path, digest)
    except safe_files.UnsafeFileError as error:
        raise ResultError(path, f"not a file: it {error.strerror}") from None
    except OSError as error:
        raise ResultError(path, error.strerror or str(error)) from None


# From this number of records on, the garbage collector does not look at them again.
_MANY = 10_000


class _Places:
    """Repetitions of a cell share one `where`: whoever compares cells can compare these objects
    first."""

    def __init__(self) -> None:
        self._known: dict[bytes, dict[str, Any]] = {}

    def share(self, record: Measurement | Figure) -> None:
        # By their text, in which 1, 1.0 and true differ.
        text = msgspec.json.encode(record.where)
        if (same := self._known.get(text)) is None:
            self._known[text] = same = with_plain_values(record.where)
        if same is not record.where:
            structs.force_setattr(record, "where", same)


def _read(stream: IO[bytes], path: Path, digest: Digest | None) -> Result:
    with without_collections():
        result = _read_lines(stream, path, digest)
        if len(result.measurements) + len(result.figures) > _MANY:
            gc.freeze()
    return result


def _read_lines(stream: IO[bytes], path: Path, digest: Digest | None) -> Result:
    result: Result | None = None
    remarks: list[str] = []
    places = _Places()
    for number, text, whole in _lines(stream, path, digest):
        if not text.strip():
            continue
        try:
            record = (text.startswith(_CURRENT) and _quickly(text, _LINE)) or _parse(text)
        except (ValueError, TypeError, RecursionError) as error:
            if not whole and result is not None:
                remarks.append(f"the last line (line {number}) is torn: the run was killed in it")
                continue
            # A rank that had to end the job starts its own line after a torn one.
            if result is not None and _next_is_end(stream):
                remarks.append(f"line {number} is torn: the job was ended in it")
                continue
            why = "nested too deeply" if isinstance(error, RecursionError) else "not JSON"
            if not whole and text.startswith(b'{"schema"'):
                why = "not complete: the run still writes it, or was killed"
            if isinstance(error, _ForeignError):
                why = str(error)
            raise ResultError(path, why, number) from None
        if isinstance(record, dict):
            record = _record(record, path, number)
        if result is None:
            if not isinstance(record, Run):
                raise ResultError(path, "the first line is not a `run` line", number)
            result = Result(path, record)
            continue
        if result.end is not None:
            raise ResultError(path, "something follows the `end` line", number)
        if isinstance(record, Measurement | Figure):
            places.share(record)
            if fault := record.fault:
                raise ResultError(path, fault, number)
        _add(result, record, path, number)
    if result is None:
        raise ResultError(
            path, "empty: the run has written nothing yet, or was killed before it could"
        )
    if result.end is None:
        remarks.append("there is no `end` line: the run was killed, or is still running")
    result.remarks = remarks
    result.distrust_errors()
    return result


def _next_is_end(stream: IO[bytes]) -> bool:
    here = stream.tell()
    following = stream.readline(MAX_LINE_BYTES)
    stream.seek(here)
    return b'"kind":"end"' in following


def _record(line: dict[str, Any], path: Path, number: int) -> Run | Line:
    try:
        line = versions.upgrade(line)
    except versions.UnknownVersionError as error:
        raise ResultError(path, str(error), number, newer=error.newer) from None
    kind = line.get("kind")
    try:
        if kind == "run":
            return Run.model_validate(line)
        if isinstance(kind, str) and kind in _KINDS:
            # Members that are null instead of an empty object have their default.
            known = {n: v for n, v in line.items() if v is not None or n not in _MAY_BE_NULL}
            return msgspec.convert(known, _KINDS[kind])
        why = f"unknown kind of line: {fmt.plain(kind, 40)!r}"
    except ValidationError as error:
        why = f"`{kind}` line: {fmt.plain(_first_fault(error), 500)}"
    except msgspec.ValidationError as error:
        why = f"`{kind}` line: {fmt.plain(_fault(error), 500)}"
    except RecursionError:
        why = "nested too deeply"
    raise ResultError(path, why, number)


def _without_rate(m: Measurement) -> Measurement:
    """Engines write 0 where nothing was done, but the mean over the repetitions has no value."""
    return structs.replace(m, rate=structs.replace(m.rate, value=None, reason=NOTHING_DONE))


def _add(result: Result, record: Run | Line, path: Path, number: int) -> None:
    if isinstance(record, Measurement):
        # What was imported need not say how many operations it was.
        nothing = record.did_nothing and not result.is_imported
        result.measurements.append(_without_rate(record) if nothing else record)
    elif isinstance(record, Figure):
        result.figures.append(record)
    elif isinstance(record, End):
        result.end = record
    else:
        raise ResultError(path, "a second `run` line", number)
