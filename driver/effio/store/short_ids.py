# SPDX-License-Identifier: BSD-3-Clause
"""Short ids of runs: a few letters that follow from the name of a run and mean the same one on any
machine. They have no vowels and no digits, so that they are no words, no dates, and no part of the
names that people and effio give."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

_LETTERS = "bcdfghjkmnpqrtwx"
_FEWEST = 5
# What a user may type: git takes four too.
_FEWEST_TYPED = 4
_DIGITS = str.maketrans("0123456789abcdef", _LETTERS)


def whole_id(name: str) -> str:
    """Of which a short id is the first letters."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest().translate(_DIGITS)


class ShortIds:
    """Of all runs of a store. All are equally long, and no two are equal."""

    def __init__(self, names: Sequence[str]) -> None:
        self._whole = {name: whole_id(name) for name in names}
        self._length = _FEWEST
        while self._collide():
            self._length += 1

    def _collide(self) -> bool:
        counts = Counter(whole[: self._length] for whole in self._whole.values())
        return len(counts) < len(self._whole)

    def of(self, name: str) -> str:
        """Empty for a run that is not in the store."""
        return self._whole.get(name, "")[: self._length]


def means(word: str, name: str) -> bool:
    """Whether a word is the short id of a run, or its beginning."""
    is_id = len(word) >= _FEWEST_TYPED and set(word) <= set(_LETTERS)
    return is_id and whole_id(name).startswith(word)
