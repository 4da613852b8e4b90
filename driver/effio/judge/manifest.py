# SPDX-License-Identifier: BSD-3-Clause
"""Checksums of a folder: SHA256SUMS names every file in it but itself, as sha256sum would, in the
order of names. The text is canonical: a folder is whole if it is what would be written now."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from effio import text as fmt
from effio.errors import EffioError
from effio.store import safe_files
from effio.store.folder import SUMS
from effio.store.safe_files import sha256_of

_LINE = re.compile(r"^([0-9a-f]{64})  (.+)$")
MAX_BYTES = 64 << 20


@dataclass(frozen=True)
class Fault:
    kind: Literal["changed", "missing", "added"]
    name: str
    detail: str = ""


def _names(folder: Path) -> Iterator[tuple[str, bool]]:
    """The names of all that is there but the sums, and whether it is a regular file. Folders have a
    name where they are empty."""
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders.sort()
        if not folders and not files and here != folder:
            yield here.relative_to(folder).as_posix() + "/", False
        for name in [*files, *(f for f in folders if (here / f).is_symlink())]:
            path = here / name
            relative = path.relative_to(folder).as_posix()
            if relative != SUMS:
                yield relative, safe_files.is_regular(path)


def _sums(folder: Path) -> tuple[dict[str, str], list[str]]:
    """Checksums by name, and what is not a regular file."""
    sums, others = {}, []
    for name, regular in _names(folder):
        if regular:
            sums[name] = sha256_of(folder / name)
        else:
            others.append(name)
    return sums, others


def _text(sums: dict[str, str]) -> bytes:
    return "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()


def write_sums(folder: Path) -> str:
    """Returns the checksum of the sums, by which a change of both files and sums is found."""
    sums, others = _sums(folder)
    strange = [*others, *(n for n in sums if any(ord(c) < 32 or c == "\\" for c in n))]
    if strange:
        raise EffioError(f"cannot be part of a bundle: {strange[0]!r}")
    text = _text(sums)
    safe_files.write_atomically(folder / SUMS, text)
    return hashlib.sha256(text).hexdigest()


def _written(folder: Path) -> bytes:
    path = folder / SUMS
    try:
        return safe_files.read_bytes(path, MAX_BYTES)
    except (FileNotFoundError, safe_files.UnsafeFileError):
        raise EffioError(f"{folder} is not a bundle: it has no {SUMS}") from None
    except OSError as error:
        raise EffioError(f"{path}: {error.strerror or error}") from None


def verify(folder: Path) -> tuple[list[Fault], str]:
    """All faults, and the checksum of the sums."""
    if not folder.is_dir():
        raise EffioError(f"{folder}: not a folder")
    text = _written(folder)
    reported: dict[str, str] = {}
    for number, line in enumerate(fmt.lines(text.decode("utf-8", "replace")), 1):
        found = _LINE.match(line)
        if found is not None:
            reported[found[2]] = found[1]
        else:
            return [Fault("changed", SUMS, f"line {number} is not a checksum")], _id(text)
    there, others = _sums(folder)
    faults = [Fault("missing", name) for name in reported if name not in there]
    faults += [Fault("changed", n) for n in reported if n in there and there[n] != reported[n]]
    faults += [Fault("added", name) for name in sorted(there) if name not in reported]
    faults += [
        Fault("added", name, "no regular file") for name in sorted(others) if name not in reported
    ]
    if not faults and text != _text(there):
        faults.append(Fault("changed", SUMS, "changed since it was written"))
    return faults, _id(text)


def _id(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
