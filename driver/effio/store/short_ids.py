# SPDX-License-Identifier: BSD-3-Clause
"""Short ids of runs: a few letters computed from the name of a run, the same on any machine. They
have no vowels and no digits, so that they are not mistaken for words, dates or parts of names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

_LETTERS = "bcdfghjkmnpqrtwx"
_FEWEST = 5
# The shortest prefix that a user may type, as in git.
_FEWEST_TYPED = 4
_DIGITS = str.maketrans("0123456789abcdef", _LETTERS)


def whole_id(name: str) -> str:
    """The full id, whose first letters are the short id."""
    return _digest(name).translate(_DIGITS)


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()


class ShortIds:
    """The short ids of all runs of a store: equally long and distinct."""

    def __init__(self, names: Sequence[str]) -> None:
        self._digests = {name: _digest(name) for name in names}
        self._length = _FEWEST
        while self._collide():
            self._length += 1

    def _collide(self) -> bool:
        starts = {digest[: self._length] for digest in self._digests.values()}
        return len(starts) < len(self._digests)

    def of(self, name: str) -> str:
        """Empty for a run that is not in the store."""
        return self._digests.get(name, "")[: self._length].translate(_DIGITS)


def means(word: str, name: str) -> bool:
    """Whether a word is the short id of a run or a prefix of it."""
    is_id = len(word) >= _FEWEST_TYPED and set(word) <= set(_LETTERS)
    return is_id and whole_id(name).startswith(word)


def is_part(word: str, name: str) -> bool:
    """Whether a word names a run by a part of its name: any part of its time, else the beginning of
    one of its words. Of fewer than four letters it is a whole word: names of campaigns' points end
    in a hash, which contains most short words by chance."""
    time, _, _ = name.partition("-")
    for place in re.finditer(f"(?={re.escape(word)})", name):
        begin, end = place.start(), place.start() + len(word)
        if begin < len(time):
            return True
        if name[begin - 1] == "-" and (len(word) >= _FEWEST_TYPED or name[end : end + 1] in "-"):
            return True
    return False
