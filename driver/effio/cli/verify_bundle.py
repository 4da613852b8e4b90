# SPDX-License-Identifier: BSD-3-Clause
"""`effio verify-bundle DIR`: whether it is what was handed in."""

from __future__ import annotations

from pathlib import Path

import click

from effio import text as fmt
from effio.cli.places import PlacePath
from effio.errors import ExitCode
from effio.judge.manifest import verify


@click.command("verify-bundle")
@click.argument("folder", metavar="DIR", type=PlacePath())
@click.option(
    "--sha256", "expected", metavar="HEX",
    help="what effio bundle printed: that the checksums themselves are those of then",
)  # fmt: skip
@click.pass_context
def command(ctx: click.Context, folder: str, expected: str | None) -> None:
    """Compare every file of a bundle with its checksum: changed, missing and added ones are named.

    Exit code 1 if there is one. Someone who changes a file can write new checksums as well;
    --sha256 detects that.
    """
    faults, identity = verify(Path(folder))
    for fault in faults:
        detail = f" ({fault.detail})" if fault.detail else ""
        # A name of control characters alone would be invisible.
        name = fault.name if fmt.plain(fault.name) == fault.name else ascii(fault.name)
        click.echo(f"{fault.kind}: {name}{detail}")
    other = expected is not None and expected.strip().lower() != identity
    if other:
        click.echo(f"other checksums than those of {fmt.plain(expected)}: {identity}")
    if faults or other:
        ctx.exit(ExitCode.DATA_ERRORS)
    click.echo(f"whole: {identity}")
