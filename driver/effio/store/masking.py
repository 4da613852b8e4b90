# SPDX-License-Identifier: BSD-3-Clause
"""Masks secrets in command lines, output and job scripts. Because people pass runs on, effio stores
`(masked)` instead of

- the value of an option or a variable that is named like a secret (`--password X`, `API_TOKEN=X`),
- a password in an address, and what follows `Bearer`,
- a word that looks like a token: long, and random hex digits or letters of base64.

store/environment.py has the names of secrets and the replacement. The engine has the same rule for
the commands that it records (engine/parallel/recorded_environment.cpp). A path is not taken for a
token, regardless of its length. A secret that looks like a word and has no name of a secret
is not recognized.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Annotated

from pydantic import AfterValidator

from effio.store import safe_files, temporary
from effio.store.environment import ADDRESS, MASKED, SECRET

_NAMES = SECRET.partition("(")[2].rpartition(")")[0].replace("_PASS=", "_PASS\\b")
# In texts, lower-case names may also be ordinary words (key, author, session).
_SPOKEN = (
    r"(?:\w+[_-])?(?:token|secret|passw(?:or)?d|passphrase|api[_-]?key|(?:access|private)[_-]?key|"
    r"credentials?|cookie)"
)
_OPTION = rf"--?(?=[\w-]*(?i:{_NAMES}))\w[\w-]*"
_VARIABLE = rf"(?<![\w-])(?!(?:OLD)?PWD\b)(?=[A-Z0-9_]*(?:{_NAMES}))[A-Z][A-Z0-9_]*"
_QUOTED = r"'[^'\n]*'|\"[^\"\n]*\""
_VALUE = rf"(?:{_QUOTED}|[^\s\"',;]+)"
# Follows a name: = or :, or the comma between two words of a list.
_IS = r"[\"']?\s*[=:]\s*"
_NAMED = re.compile(
    rf"(?P<name>{_OPTION}(?:{_IS}|[\"']?\s*,\s*|\s+(?!-))|{_VARIABLE}{_IS}|"
    rf"(?i:(?<![\w-]){_SPOKEN}){_IS})(?P<value>{_VALUE})"
)
_SPOKEN_VALUE = re.compile(
    r"(?P<name>(?i:\bauthorization:\s*(?:\w+\s+)?|\b(?:bearer|basic)\s+(?=[\w+/=.~-]{8})))"
    r"(?P<value>[^\s\"',]+)"
)
_USER = re.compile(
    r"(?P<name>(?<![\w-])(?:-u|--user)(?:=|\s+|[\"']?\s*,\s*[\"']?)[^\s:/\"',]+:)(?P<value>[^\s\"',]+)"
)
_WORD = re.compile(r"[A-Za-z0-9+_-]{32,}")
# A whole word of base64, which may contain '/' but is not a path.
_BASE64 = re.compile(r"(?<![\w+/.~-])[A-Za-z0-9+][A-Za-z0-9+/]{39,}={0,2}(?![\w+/.=-])")
_HEX = re.compile(r"[0-9A-Fa-f]{32,}")
_DRAWN_CHARACTERS = 40
_DRAWN_PIECE = 16
_KINDS: tuple[Callable[[str], bool], ...] = (str.isupper, str.islower, str.isdigit)
# Each word for another program may follow an option of effio.
_PASSED_ON = r"(?:--[a-z]+-option=)?"
_IS_SECRET_OPTION = re.compile(rf"{_PASSED_ON}(?:{_OPTION}|{_VARIABLE})")
_IS_USER_OPTION = re.compile(rf"{_PASSED_ON}(?:-u|--user)")
_WORD_ITSELF = re.compile(rf"({_PASSED_ON})(.*)", re.DOTALL)
_PASSES_ON = re.compile(r"--[a-z]+-option")
_LONGEST_LINE = 1 << 20
_SHORT = 200


def _has_all_kinds(piece: str) -> bool:
    return all(any(kind(c) for c in piece) for kind in _KINDS)


def _drawn(found: re.Match[str]) -> str:
    """A random word: long, with letters of both cases and digits in one piece of it."""
    word = found[0]
    if _HEX.fullmatch(word):
        return MASKED
    pieces = (piece for piece in re.split(r"[_-]", word) if len(piece) >= _DRAWN_PIECE)
    is_drawn = len(word) >= _DRAWN_CHARACTERS and any(map(_has_all_kinds, pieces))
    return MASKED if is_drawn else word


def _base64(found: re.Match[str]) -> str:
    return MASKED if _has_all_kinds(found[0]) else found[0]


def _value(found: re.Match[str]) -> str:
    value = found["value"]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{found['name']}{quote}{MASKED}{quote}"


def masked_text(text: str) -> str:
    """Masks one or more lines."""
    text = re.sub(ADDRESS, f"://{MASKED}@", text)
    for named in (_NAMED, _SPOKEN_VALUE, _USER):
        text = named.sub(_value, text)
    return _WORD.sub(_drawn, _BASE64.sub(_base64, text))


def masked_words(words: Sequence[str]) -> list[str]:
    """Masks a command line word by word: the value of an option may be the next word."""
    kept = []
    before = ""
    for word in words:
        mask = _masked_again if len(before) + len(word) <= _SHORT else _masked_behind
        kept.append(mask(before, word))
        if not _PASSES_ON.fullmatch(word):
            before = word
    return kept


def _masked_behind(before: str, word: str) -> str:
    found = _WORD_ITSELF.fullmatch(word)
    assert found is not None  # whatever the word is
    option, value = found.groups()
    if _IS_SECRET_OPTION.fullmatch(before) and not value.startswith("--"):
        return f"{option}{MASKED}"
    if _IS_USER_OPTION.fullmatch(before) and re.fullmatch(r"[^:/]+:.+", value):
        return f"{option}{value.partition(':')[0]}:{MASKED}"
    return masked_text(word)


# Runs of a campaign have most of their words in common.
_masked_again = lru_cache(maxsize=4096)(_masked_behind)


# Types for models. They mask on reading, too, because older versions of effio did not mask.
Words = Annotated[list[str], AfterValidator(masked_words)]
Masked = Annotated[str, AfterValidator(masked_text)]


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: stream.readline(_LONGEST_LINE), b"")


def masked_line(line: bytes) -> bytes:
    """Returns the same bytes if there is no secret in them."""
    text = line.decode("utf-8", "surrogateescape")
    return masked_text(text).encode("utf-8", "surrogateescape")


def _masked_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Masks a file line by line, because a log may have any length."""
    return map(masked_line, _lines(stream))


def mask_file(path: Path) -> None:
    """Replaces a file that contains secrets by a masked one. Raises OSError."""
    with safe_files.reading(path, most=None) as stream:
        if all(masked_line(line) == line for line in _lines(stream)):
            return
        stream.seek(0)
        with safe_files.replacing(path) as out:
            out.writelines(_masked_lines(stream))
            os.fchmod(out.fileno(), stat.S_IMODE(os.fstat(stream.fileno()).st_mode))


@contextlib.contextmanager
def reading_masked(path: Path, masks: bool = True) -> Iterator[IO[bytes]]:
    """Opens a file for copying it elsewhere. `masks`: whether it may contain secrets."""
    with safe_files.reading(path, most=None) as stream:
        if not masks:
            yield stream
            return
        with temporary.file_of(_masked_lines(stream)) as copy:
            yield copy
