# SPDX-License-Identifier: BSD-3-Clause
"""Streams that do not know all signs: the few that effio uses have a way in ASCII."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from typing import TextIO

import click

from effio import text as fmt

_PLAIN = {
    "✓": "+", "✗": "x", "·": "-", "•": "-", "…": "...", "–": "-", "—": "-", "−": "-", "→": "->",
    "←": "<-", "µ": "u", "×": "x", "≥": ">=", "≤": "<=", "±": "+-", "°": " deg", "²": "2",
    "³": "3", "“": '"', "”": '"', "‘": "'", "’": "'", "◐": "*", "━": "-", "─": "-", "╸": "-",
    "╺": "-",
}  # fmt: skip


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_PLAIN.get(sign, "?") for sign in text), error.end


codecs.register_error("effio-ascii", _in_ascii)


def speak_ascii(stream: TextIO) -> None:
    """From now on a sign that the stream's encoding lacks is written in another way."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="effio-ascii")


def open_closed() -> None:
    """Opens the null device for each standard stream that the caller closed (`>&-`). Otherwise the
    next file that is opened gets the number of the stream, and the engine prints into it."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        handle = os.open(os.devnull, os.O_RDWR)  # has the lowest number that is free
        os.set_inheritable(handle, handle == number)
        setattr(sys, name, os.fdopen(handle, "r" if number == 0 else "w"))


def print_line(text: str) -> None:
    """A line of what came out: to standard output, or to standard error if that is not read."""
    try:
        click.echo(text)
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError):
            click.echo(text, err=True)


def say(text: str) -> None:
    """A message to the user in addition to the output."""
    with contextlib.suppress(OSError):
        click.echo(f"effio: {fmt.plain(text)}", err=True)
