# SPDX-License-Identifier: BSD-3-Clause
"""Temporary files, in the directory that TMPDIR names. That may have any name and may be full.

Libraries take names of files as patterns, as addresses, or in UTF-8 only. So they get one below
/proc/self/fd, which consists of letters and digits.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from effio import text as fmt
from effio.errors import EffioError, ExitCode
from effio.store import safe_files

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """For code that writes only temporary files. If the disk is full, the error names TMPDIR."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        place = fmt.plain(os.fsdecode(tempfile.gettempdir()))
        raise EffioError(
            f"temporary files in {place}: {error.strerror}",
            ExitCode.IO_ERROR,
            "make space there, or name another directory with TMPDIR",
        ) from None


@contextlib.contextmanager
def file_of(blocks: Iterable[bytes]) -> Iterator[IO[bytes]]:
    """A file without a name that has these blocks."""
    with writing():
        stream = tempfile.TemporaryFile()  # noqa: SIM115  closed below
        try:
            stream.writelines(blocks)
            stream.seek(0)
        except BaseException:
            with contextlib.suppress(OSError):  # what it still holds does not fit either
                stream.close()
            raise
    with stream:
        yield stream


def name_of(handle: int) -> str:
    """The name of an open file or directory for a library."""
    return f"/proc/self/fd/{handle}"


@contextlib.contextmanager
def directory() -> Iterator[str]:
    """An empty directory, which is removed at the end with all that is in it."""
    with (
        tempfile.TemporaryDirectory(prefix="effio-", ignore_cleanup_errors=True) as scratch,
        safe_files.directory(Path(scratch)) as handle,
    ):
        yield name_of(handle)
