# SPDX-License-Identifier: BSD-3-Clause
"""Says what a file is that `effio import` cannot read, and which command can."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from effio import text as fmt
from effio.errors import EffioError

# First bytes of compressed files, the name of the format, and the command that unpacks it.
_COMPRESSED = (
    (b"\x1f\x8b", "gzip", "gzip -dk"),
    (b"BZh", "bzip2", "bzip2 -dk"),
    (b"\xfd7zXZ\0", "xz", "xz -dk"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd -dk"),
    (b"PK\x03\x04", "zip", "unzip"),
)
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def refusal(path: Path, data: bytes, formats: Sequence[str]) -> EffioError:
    """The error for a file that is in no known format."""
    word = shlex.quote(fmt.plain(str(path)))
    for magic, name, command in _COMPRESSED:
        if data.startswith(magic):
            hint = f"unpack it first: {command} {word}"
            if name == "gzip":
                hint += f"; an archive of effio: effio restore {word}"
            return EffioError(f"{path}: is compressed ({name})", hint=hint)
    if not data.strip():
        return EffioError(f"{path}: is empty")
    if path.suffix == ".darshan":
        return EffioError(f"{path}: is a Darshan log", hint=f"describe it: effio profile {word}")
    if data.startswith(b'{"schema":"effio-result/'):
        return EffioError(
            f"{path}: is a result of effio itself, which needs no import",
            hint=f"effio show {word}, effio report {word}",
        )
    if data.startswith(_UTF_16) or b"\0" in data[:4096]:
        return EffioError(
            f"{path}: is not a text in UTF-8",
            hint=f"if it is UTF-16: iconv -f UTF-16 -t UTF-8 {word}",
        )
    return EffioError(
        f"{path}: in none of the formats that effio can import",
        hint="it can import: " + ", ".join(formats),
    )
