# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that several commands take, with completion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

_F = TypeVar("_F", bound=Callable[..., Any])


def complete_run(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Kept runs, the newest first; else files."""
    from effio.cli.main import runs_directory
    from effio.errors import EffioError
    from effio.store.folder import Store

    try:
        folders = Store(runs_directory(ctx)).folders()
    except EffioError:
        return []
    names = ["last", *(f.id for f in reversed(folders))]
    found = [CompletionItem(n) for n in names if n.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


def complete_benchmark(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from effio.engine.discover import find_engine
    from effio.errors import EffioError

    try:
        names = [(b.name, b.purpose) for b in find_engine().info.benchmarks]
    except EffioError:
        return []
    return [CompletionItem(n, help=h) for n, h in names if n.startswith(incomplete)]


def run_argument(name: str, many: bool = False) -> Callable[[_F], _F]:
    return click.argument(
        name,
        metavar="RUN..." if many else "RUN",
        shell_complete=complete_run,
        nargs=-1 if many else 1,
        required=True,
    )
