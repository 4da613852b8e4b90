# SPDX-License-Identifier: BSD-3-Clause
"""`effio serve`: the folder of runs in a browser."""

from __future__ import annotations

import contextlib

import click

from effio.cli.complete import complete_rules
from effio.cli.kept import opened_index
from effio.cli.main import runs_directory
from effio.cli.options import WholeNumber
from effio.cli.streams import print_line
from effio.errors import EffioError
from effio.store import safe_files


@click.command("serve")
@click.option("--port", type=WholeNumber(1, 65535), metavar="N", help="port  [default: a free one]")
@click.option(
    "--rules", metavar="RULES", shell_complete=complete_rules,
    help="rules that campaigns are judged by, as in accept"
    "  [default: for a campaign with the name of shipped rules, these]",
)  # fmt: skip
@click.pass_context
def command(ctx: click.Context, port: int | None, rules: str | None) -> None:
    """Show the runs in a browser: list, search, compare, and how far a running one is.

    It listens on this machine's loopback interface only, changes nothing, and shows only what is
    in the folder of runs. Anyone who has the address with its token can read them: keep it to
    yourself. Ctrl-C ends it.
    """
    from effio.judge.rules import load_rules
    from effio.serve.server import Server

    root = runs_directory(ctx)
    if not root.is_dir():
        raise EffioError(
            f"there is no folder of runs {root}", hint="name one: effio --runs DIR serve"
        )
    judged_by = load_rules(rules) if rules is not None else None
    # Before there are threads: many new runs are read by several processes.
    index = opened_index(ctx)
    index.entries(with_sealed=True)
    index.close()
    with Server(root, port or 0, judged_by) as server:
        print_line(f"runs:    {safe_files.real(root)}")
        print_line(f"browser: {server.url}")
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
