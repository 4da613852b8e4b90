# SPDX-License-Identifier: BSD-3-Clause
"""Paths on the command line."""

from __future__ import annotations

import os
from pathlib import Path

import click

from effio.store.answering import must_answer, must_have_name


class PlacePath(click.Path):
    """A path like click's, which is an error if its file system does not answer: click looks at
    every path, and would wait forever."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        must_have_name(os.fspath(value))
        must_answer(Path(value))
        return super().convert(value, param, ctx)
