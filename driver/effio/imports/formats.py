# SPDX-License-Identifier: BSD-3-Clause
"""Which reader fits a file. To add a format: a module with a test of the text and a reader, and a
line here."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from effio import text as fmt
from effio.errors import EffioError
from effio.imports import b_eff_io, elbencho, fio, h5bench, io500, ior, mdtest
from effio.imports.model import NO_RATE, Imported, ImportFormatError
from effio.imports.numbers import DECIMAL_COMMA, noted
from effio.imports.refused import refusal
from effio.store import safe_files

MAX_BYTES = 256 << 20
_CUT = "the last line has no end"
_MORE = "the file also holds"


@dataclass(frozen=True)
class Format:
    """`name` as the user sees it, whether a text is in it, and its reader."""

    name: str
    fits: Callable[[str], bool]
    read: Callable[[str], list[Imported]]


# The first that fits counts: the console of IO500 may contain output of IOR and mdtest.
FORMATS: Sequence[Format] = (
    Format("IO500 result.txt", io500.is_result, io500.read_result),
    Format("IO500 summary", io500.is_summary, io500.read_summary),
    Format("IOR JSON", ior.is_json, ior.read_json),
    Format("IOR text", ior.is_text, ior.read_text),
    Format("IOR CSV", ior.is_csv, ior.read_csv),
    Format("mdtest text", mdtest.is_text, mdtest.read_text),
    Format("fio JSON", fio.is_json, fio.read_json),
    Format("elbencho CSV", elbencho.is_csv, elbencho.read_csv),
    Format("elbencho JSON", elbencho.is_json, elbencho.read_json),
    Format("h5bench CSV", h5bench.is_csv, h5bench.read_csv),
    Format("h5bench text", h5bench.is_text, h5bench.read_text),
    Format("b_eff_io summary", b_eff_io.is_text, b_eff_io.read_text),
)


def read(path: Path) -> tuple[Format, list[Imported]]:
    """The runs of a file. Raises EffioError with the path and what is wrong."""
    try:
        data = safe_files.read_bytes(safe_files.real(path), MAX_BYTES)
    except safe_files.UnsafeFileError as error:
        raise EffioError(f"{path}: {error.strerror}") from None
    except OSError as error:
        raise EffioError(f"{path}: {error.strerror or error}") from None
    # An editor of another system puts a mark of the encoding before the text.
    text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    found = next((known for known in FORMATS if known.fits(text)), None)
    if found is None:
        raise refusal(path, data, [known.name for known in FORMATS])
    whole, torn = _lines(text, found)
    if not found.fits(whole):
        raise EffioError(f"{path}: {found.name} that is cut in its first lines")
    try:
        runs = found.read(whole)
        for run in runs:
            json.dumps(asdict(run), default=str, allow_nan=False)
    except ImportFormatError as error:
        raise EffioError(f"{path}: {error}", hint=_hint(text, found)) from None
    except (ArithmeticError, ValueError):
        raise EffioError(f"{path}: {found.name} with a number that is out of range") from None
    except (AttributeError, LookupError, TypeError):
        raise EffioError(
            f"{path}: {found.name} that cannot be read",
            hint="it is cut, was edited, or is of a version that effio does not know",
        ) from None
    if not any(run.cells for run in runs):
        raise EffioError(f"{path}: {found.name} without a measured rate", hint=_hint(text, found))
    for doubt in _doubts(text, found, torn):
        runs = noted(runs, doubt)
    return found, [run for run in runs if run.cells]


def _doubts(text: str, form: Format, torn: str) -> Iterator[str]:
    """What of the file is not imported."""
    if torn:
        yield f"{_CUT} and is left out: the file may be cut"
    others = [one.name for one in FORMATS if one is not form and one.fits(text)]
    if others and not form.name.startswith("IO500"):
        yield f"{_MORE} {', '.join(others)}, which is not imported: import it from its own file"


def doubts_of(runs: Sequence[Imported]) -> list[str]:
    """What of their file was not imported."""
    return [n for n in (runs[0].notes if runs else ()) if n.startswith((_CUT, _MORE, NO_RATE))]


def _lines(text: str, form: Format) -> tuple[str, str]:
    """The whole lines, and one at the end that is torn: half a number looks like a number. JSON
    that is cut is not JSON."""
    if form.name.endswith("JSON"):
        return text, ""
    torn = text.rpartition("\n")[2]
    return text[: len(text) - len(torn)], torn.strip()


def _hint(text: str, form: Format) -> str:
    if form.name.endswith(("JSON", "CSV")) or DECIMAL_COMMA.search(text) is None:
        return ""
    return "if its numbers have decimal commas: measure with LC_ALL=C, or write them with points"


def summary(runs: Sequence[Imported]) -> str:
    """ "2 runs, 12 rates"."""
    rates = sum(len(run.cells) for run in runs)
    return f"{fmt.count_of(len(runs), 'run')}, {fmt.count_of(rates, 'rate')}"
