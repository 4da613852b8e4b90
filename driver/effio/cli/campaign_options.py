# SPDX-License-Identifier: BSD-3-Clause
"""What `effio run`, `plan` and `check` take of a campaign alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from effio import text as fmt
from effio.campaign.order import Asked
from effio.cli.complete import complete_point
from effio.cli.options import GroupedOption, WholeNumber
from effio.cli.places import PlacePath


class Size(click.ParamType[int]):
    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        size = value if isinstance(value, int) else fmt.parse_size(str(value))
        if size is None or size < 1:
            self.fail(f"'{value}' is not a size; write for example 512MiB or 2GB", param, ctx)
        return int(size)


class Duration(click.ParamType[float]):
    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        seconds = value if isinstance(value, float) else fmt.parse_duration(str(value))
        if seconds is None or seconds <= 0:
            self.fail(f"'{value}' is not a time; write for example 60s or 5min", param, ctx)
        return float(seconds)


def option(*flags: str, group: str = "Options", **kw: Any) -> click.Option:
    return GroupedOption(list(flags), group=group, **kw)


def _default(text: str) -> str:
    return f"  [default: {text}]" if text else ""


def campaign_options(bytes_: int | None = None, seconds: float | None = None) -> list[click.Option]:
    """The options, with the budget of the campaign as far as it is known."""
    size = fmt.size(bytes_) if bytes_ else "the file's"
    time = fmt.duration(seconds) if seconds else "the file's"
    positive = WholeNumber(1)
    return [
        option(
            "-d", "--dir", "directory", metavar="DIR",
            type=PlacePath(file_okay=False),
            help="directory for the data files; must exist" + _default("the file's, or ."),
        ),
        option(
            "-n", "--ranks", type=positive, metavar="N",
            help="processes in all, if the file does not say"
            + _default("the allocation's, else up to 4"),
        ),
        option("--nodes", type=positive, metavar="N", help="nodes to spread them over"),
        option("--ranks-per-node", type=positive, metavar="N", help="processes on each node"),
        option(
            "--max-bytes", type=Size(), metavar="SIZE",
            help="most bytes written in all" + _default(size),
        ),
        option(
            "--time", "seconds", type=Duration(), metavar="TIME",
            help="time limit of the campaign" + _default(time),
        ),
        option(
            "--scale", type=click.FloatRange(0, min_open=True), metavar="X",
            help="factor for the sizes and counts that the file gives in terms of `scale`, to fit a"
            " small machine",
        ),
        option(
            "--interleave", metavar="NAME=A,B", default="", group="Points",
            help="measure every point with both values of an option, dir or engine, in the order"
            " A B B A, for effio compare; for example backend=posix,mpiio",
        ),
        option(
            "--only", metavar="EXPR", default="", group="Points",
            help="""only these, as 'transfer >= 1MiB and step == "write"'""",
        ),
        option("--skip", metavar="EXPR", default="", group="Points", help="not these"),
        option(
            "--point", metavar="ID", multiple=True, group="Points", shell_complete=complete_point,
            help="only the point of this id, which effio plan shows; may be given more than once",
        ),
    ]  # fmt: skip


def asked_of(values: Mapping[str, Any]) -> Asked:
    names = (
        "ranks",
        "nodes",
        "ranks_per_node",
        "directory",
        "seconds",
        "scale",
        "only",
        "skip",
        "interleave",
    )
    return Asked(
        bytes=values["max_bytes"],
        points=tuple(values["point"]),
        **{name: values[name] for name in names},
    )
