# SPDX-License-Identifier: BSD-3-Clause
"""`effio completion SHELL`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_WHERE = {
    "bash": 'eval "$(effio completion bash)"     in ~/.bashrc',
    "zsh": 'eval "$(effio completion zsh)"      in ~/.zshrc',
    "fish": "effio completion fish | source      in ~/.config/fish/config.fish",
}


@click.command("completion", epilog="\b\n" + "\n".join(_WHERE.values()))
@click.argument("shell", type=click.Choice(list(_WHERE)))
def command(shell: str) -> None:
    """Print a script: your shell then completes effio's commands, options, benchmarks and runs."""
    from effio.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "effio", "_EFFIO_COMPLETE").source())
