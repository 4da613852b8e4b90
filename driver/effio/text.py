# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and foreign text as people read them. The engine parses sizes; the driver only prints.

Sizes are binary (KiB, MiB), rates decimal (MB/s), as in the engine's tables.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_MANY = 10_000  # of a unit: a size of more has too many digits
_DECIMAL = ("", "k", "M", "G", "T", "P", "E")
_UNIT = r"(?:%|[KMGTPE]iB|[kMGTPE]?B(?:/s)?|[mµn]?s|min|h|[kMG]?op/s)(?![\w/])"
_BEFORE_UNIT = re.compile(rf"(?<=\d) (?={_UNIT})|(?<=±) (?=\d)")
_NUMBER = rf"[-−+]?\d[\d.e+-]*(?: {_UNIT})?"
_ONE_VALUE = re.compile(
    rf"(?:[±<>] ?)?{_NUMBER}(?: (?:to|±) {_NUMBER})?(?: \((?:95 %|range of \d+)\))?"
)


# Words with the space behind them, and the parts of a long one: after each of these characters.
_WORD = re.compile(r"[ \n]*[^ \n]+[ \n]*")
_PART = re.compile(r"[^/,=:;_-]*[/,=:;_-]+|[^/,=:;_-]+")
_LONG_WORD = 22
# Names of options, and moments.
_UNBROKEN = re.compile(r"--[a-z][a-z0-9-]{0,28}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def significant(value: float, digits: int = 4) -> str:
    """`digits` significant digits, no exponent within reason, no trailing noise: 638.5, 0.0312."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return "–"
    text = f"{value:.{digits - 1}e}"  # its exponent is that of the rounded value: 99.996 is 100.0
    magnitude = int(text.partition("e")[2])
    if magnitude < -6 or magnitude > 14:
        return text
    decimals = max(0, digits - 1 - magnitude)
    return f"{value:.{decimals}f}"


def _reaches(value: float, step: int) -> bool:
    """Whether it is shown in the next unit: 999.97 MB/s is 1.000 GB/s."""
    size = abs(value)
    return size >= step or (size > 0.99 * step and float(f"{size:.3e}") >= step)


def _scaled(value: float, units: tuple[str, ...], step: int) -> tuple[float, str]:
    index = 0
    while index < len(units) - 1 and _reaches(value, step):
        value /= step
        index += 1
    return value, units[index]


def size(count: float) -> str:
    """Bytes: 1 KiB, 32 KiB, 1.5 MiB."""
    value, unit = _scaled(count, _BINARY, 1024)
    text = str(int(value)) if value == int(value) else significant(value, 4)
    return f"{text} {unit}"


def whole(text: str) -> str:
    """With no-break spaces in front of units, so that "14.0 s" stays on one line."""
    return _BEFORE_UNIT.sub("\u00a0", text)


def is_one_value(text: str) -> bool:
    """Whether a text is one number, or a range of two, with units: "± 38.3 % (95 %)"."""
    return _ONE_VALUE.fullmatch(text) is not None


def exact_size(count: int) -> str:
    """Bytes without rounding where few digits say it: 1.5 MiB, 1500 KiB, 1 MiB+8 B (as the
    engine's shown_size); else as `size`."""
    for exponent in range(len(_BINARY) - 1, 0, -1):
        unit = 1024**exponent
        if count >= unit:
            whole, rest = divmod(count, unit)
            if rest == 0:
                return f"{whole} {_BINARY[exponent]}"
            if rest < 1024 and rest * 16 < unit:
                return f"{whole} {_BINARY[exponent]}+{rest} B"
            if exponent > 1 and rest * 4 % unit == 0 and whole < 1000:
                return f"{count / unit:g} {_BINARY[exponent]}"
            for smaller in range(exponent - 1, 0, -1):
                if count % 1024**smaller == 0 and count < _MANY * 1024**smaller:
                    return f"{count // 1024**smaller} {_BINARY[smaller]}"
            return size(count)
    return f"{count} B"


def typed_size(count: int) -> str:
    """Bytes as an option takes them, exact: 64KiB, 1500B."""
    for exponent in range(len(_BINARY) - 1, 0, -1):
        if count and count % 1024**exponent == 0:
            return f"{count // 1024**exponent}{_BINARY[exponent]}"
    return f"{count}B"


def coordinate(value: object, unit: str) -> str:
    """A value of an axis with this unit: sizes without rounding, times scaled, others as text."""
    if not isinstance(value, bool):
        if unit == "B" and isinstance(value, int):
            return exact_size(value)
        if unit == "s" and isinstance(value, int | float):
            return f"{few_digits(value, 6)} s" if 1 <= value < 120 else duration(value)
    return plain(value, 60)


def rate(bytes_per_second: float) -> str:
    value, unit = _scaled(bytes_per_second, _DECIMAL, 1000)
    return f"{significant(value)} {unit}B/s"


def duration(seconds: float) -> str:
    """0.42 µs, 3.1 ms, 12 s, 4 min 05 s, 2 h 10 min."""
    if seconds < 0 or not math.isfinite(seconds):
        return "–"
    if seconds == 0:
        return "0 s"
    if seconds < 1e-6:
        return f"{significant(seconds * 1e9, 3)} ns"
    if seconds < 1e-3:
        return f"{significant(seconds * 1e6, 3)} µs"
    if seconds < 1:
        return f"{significant(seconds * 1e3, 3)} ms"
    if seconds < 100:
        return f"{significant(seconds, 3)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def elapsed(seconds: float) -> str:
    """Time on a clock that people watch: whole seconds, 6 s, 4 min 05 s."""
    whole = max(0, round(seconds))
    return f"{whole} s" if whole < 100 else duration(whole)


@lru_cache(4096)  # a table of many rows has the same values again and again
def quantity(value: float | None, unit: str) -> str:
    """A value with its unit, scaled where the unit is one we know."""
    if value is None or not math.isfinite(value):
        return "–"
    if unit == "B/s":
        return rate(value)
    if unit == "B":
        return size(value)
    if unit == "s":
        return duration(value)
    if unit == "1":
        return significant(value)
    number, prefix = _scaled(value, _DECIMAL, 1000) if abs(value) >= 1e5 else (value, "")
    return f"{significant(number)} {prefix}{unit}"


def percent(fraction: float, decimals: int = 0, signed: bool = False) -> str:
    """ "49 %"; "-38.4 %" with one decimal, "+3 %" with a sign. What is rounded to zero has no minus
    sign."""
    text = f"{100 * fraction:{'+' if signed else ''}.{decimals}f} %"
    return text if text.strip("+-0. %") else text.replace("-", "+" if signed else "")


def share(fraction: float) -> str:
    """ "98.1 %", "100 %": at most three digits."""
    return f"{few_digits(100 * fraction)} %"


def prose(text: str) -> Markup:
    """For HTML: numbers stay with their units; names of options and moments are not broken."""
    from markupsafe import Markup, escape  # not at every start

    return Markup(_UNBROKEN.sub(r'<span class="w">\g<0></span>', str(escape(whole(text)))))


def words(text: str) -> Markup:
    """For HTML that breaks lines only at marks (`white-space: nowrap`): they are set between words,
    so that "--time" and "14.0 s" stay whole, and within what is longer than a line of a phone."""
    from markupsafe import Markup, escape  # not at every start

    pieces = [piece for word in _WORD.findall(whole(text)) for piece in _pieces(word)]
    return Markup("<wbr>").join(escape(piece.replace("\u00a0", " ")) for piece in pieces)


def breakable(text: str) -> Markup:
    """For HTML that breaks lines anywhere: a setting breaks before its value, not within it."""
    from markupsafe import Markup, escape  # not at every start

    return Markup("=<wbr>").join(map(escape, text.split("=")))


def _pieces(word: str) -> list[str]:
    if len(word) <= _LONG_WORD:
        return [word]
    return [
        p[i : i + _LONG_WORD] for p in _PART.findall(word) for i in range(0, len(p), _LONG_WORD)
    ]


def few_digits(value: float, digits: int = 3) -> str:
    """At most this many digits after the point are significant, no exponent, no trailing zeros:
    0.35, 2.5, 100, 12346."""
    text = significant(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def count_of(number: int, noun: str, plural: str = "") -> str:
    """ "1 rank", "2 ranks", "3 processes"; `plural` is for irregular plurals."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {plural or noun + ('es' if noun.endswith('s') else 's')}"


def share_of(number: int, total: int, one: str, many: str) -> str:
    """ "1 of 3 runs was lost", "2 of 3 runs were lost": the verb belongs to the first number."""
    return f"{number} of {total} {one if number == 1 else many}"


def heading(name: str) -> str:
    """The heading for an identifier: "Write bandwidth" of "write_bandwidth"; a benchmark's own name
    stays."""
    if name.startswith("b_eff"):
        return name
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def ranges(numbers: Iterable[int]) -> str:
    """Ascending numbers: "0, 2-5, 7"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


# Options by the names that they had before.
_RENAMED = {"ways": "methods", "beside": "combinations"}


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is meant, in any case: the present name of an older one, or else a word
    that is spelled alike; before all one of the same letters: fingers swap them."""
    plain_words = {one.lower(): one for one in known}
    small = word.lower()
    if (now := _RENAMED.get(small)) in plain_words:
        return now
    close = get_close_matches(small, plain_words, 3)
    if not close:
        return None
    return plain_words[max(close, key=lambda one: sorted(one) == sorted(small))]


def lines(text: str) -> list[str]:
    """Lines that end with a line feed, as programs write them. str.splitlines() also splits at
    U+0085, U+2028 and others, which may be in a name."""
    return text.removesuffix("\n").split("\n") if text else []


_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?", re.DOTALL)


_LONGEST = 2000
_BLANKS = "\t\n\r\u2028\u2029"


def plain(text: object, limit: int = _LONGEST) -> str:
    """Foreign text for a terminal: no escape sequences, no control or direction characters.

    Ends of lines (also U+2028 and U+2029) and tabs become blanks, so that one value stays in its
    cell.
    """
    text = str(text)
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text
    stripped = _ESCAPES.sub("", text)
    out = "".join(
        " " if c in _BLANKS else c
        for c in stripped[:limit]
        if c in _BLANKS or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co")
    )
    return out + "…" if len(stripped) > limit else out


def all_plain(texts: Sequence[str]) -> Sequence[str]:
    """The same of many: most need no change, which is seen of all at once."""
    text = "".join(texts)
    if text.isascii() and text.isprintable() and max(map(len, texts), default=0) <= _LONGEST:
        return texts
    clean = {text: plain(text) for text in set(texts)}
    return [clean[text] for text in texts]


def encodable(text: str) -> str:
    """The text as UTF-8 takes it: a file's name may have other bytes."""
    return text.encode("utf-8", "replace").decode()


_SECONDS = {"ms": 1e-3, "s": 1.0, "": 1.0, "min": 60.0, "h": 3600.0}


def parse_size(text: str) -> int | None:
    """Bytes of a size as the engine takes it, "512MiB" or "2GB"; None if it is none. A prefix alone
    ("1G") could mean either and is none."""
    found = re.match(r"^\s*(\d+(?:\.\d+)?)\s*(?:(kB|[KMGTP]iB|[MGTP]B|B)\s*)?$", text)
    if found is None:
        return None
    unit = found[2] or "B"
    step = 1024.0 if "i" in unit else 1000.0
    value = float(found[1]) * step ** " KMGTP".index(unit[0].upper() if unit != "B" else " ")
    return int(value) if value < 2.0**63 else None


def parse_duration(text: str) -> float | None:
    """Seconds of a time as the engine takes it, "60s" or "5min"; None if it is none."""
    found = re.match(r"^\s*(\d+(?:\.\d+)?)\s*(ms|s|min|h)?\s*$", text)
    return float(found[1]) * _SECONDS[found[2] or ""] if found else None


_RATE = re.compile(r"^\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([kMGTP]i?)?B/s\s*$")


def parse_rate(text: str) -> float | None:
    """A rate as the engine writes it, "12.5GB/s" or "1GiB/s"; None if it is none."""
    found = _RATE.match(text)
    if found is None:
        return None
    prefix = found[2] or ""
    step = 1024.0 if prefix.endswith("i") else 1000.0
    value = float(found[1]) * step ** " kMGTP".index(prefix[:1] or " ")
    return value if math.isfinite(value) else None
