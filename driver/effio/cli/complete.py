# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that several commands take, with completion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

_F = TypeVar("_F", bound=Callable[..., Any])
# This many runs are read in a fraction of a second: the shell waits for the answer.
_MOST_READ = 1000


def _one_of(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """A known name; else a file."""
    found = [CompletionItem(n) for n in names if n.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


def complete_run(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Kept runs, the newest first; else files."""
    from effio.cli.main import runs_directory
    from effio.errors import EffioError
    from effio.store.all_runs import Store

    try:
        folders = Store(runs_directory(ctx)).folders()
    except EffioError:
        return []
    return _one_of(["last", *(f.id for f in reversed(folders))], incomplete)


def complete_sides(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The same, campaigns, and folders: sides of a comparison may be of other sites."""
    from effio.cli.main import runs_directory
    from effio.judge.gather import campaign_names
    from effio.store.all_runs import Store

    names = [n for n in campaign_names(Store(runs_directory(ctx))) if n.startswith(incomplete)]
    found = [*(CompletionItem(n, help="a campaign") for n in names)]
    if incomplete.startswith("tag:"):
        tags = complete_tag(ctx, parameter, incomplete.removeprefix("tag:"))
        return [CompletionItem(f"tag:{tag.value}") for tag in tags]
    found += complete_run(ctx, parameter, incomplete)
    return found if incomplete and found else [*found, CompletionItem(incomplete, type="file")]


def complete_tag(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Tags of the newest runs, read from their folders. The index is not used: another effio may
    have locked it, and making a new one reads all results."""
    from effio.cli.main import runs_directory
    from effio.errors import EffioError
    from effio.store.all_runs import Store
    from effio.store.notes import tags_of

    try:
        newest = Store(runs_directory(ctx)).folders()[-_MOST_READ:]
    except EffioError:
        return []
    tags = {tag for folder in newest for tag in tags_of(folder.record(), folder.notes())}
    return [CompletionItem(tag) for tag in sorted(tags) if tag.startswith(incomplete)]


def complete_known_campaign(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Campaigns that have been run."""
    from effio.cli.main import runs_directory
    from effio.judge.gather import campaign_names
    from effio.store.all_runs import Store

    names = campaign_names(Store(runs_directory(ctx)))
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_point(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Points of the campaign that the command names, with what they are."""
    from effio.campaign.file import path_of
    from effio.campaign.order import Asked, study_of
    from effio.engine.discover import find_engine
    from effio.errors import EffioError
    from effio.launch.launchers import Ranks

    # `effio plan CAMPAIGN` has it as an argument, which click leaves in `args` where the line ends
    # in an option without its value; of `effio run CAMPAIGN` it is the name of the command.
    name = ctx.params.get("campaign") or next(iter(ctx.args), ctx.info_name)
    asked = Asked(**{k: ctx.params[k] for k in ("directory", "scale") if ctx.params.get(k)})
    ranks = Ranks(ctx.params.get("ranks") or 1)
    try:
        engine = find_engine()
        points = study_of(path_of(str(name)), asked, engine, lambda: ranks).points
    except EffioError:
        return []
    return [CompletionItem(p.id, help=p.title) for p in points if p.id.startswith(incomplete)]


def complete_rules(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from effio.judge.rules import shipped

    return _one_of(shipped(), incomplete)


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


def complete_engine(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Engines that were built; else files."""
    from effio.engine.discover import installed

    return _one_of((e.name for e in installed()), incomplete)


def complete_campaign(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Campaigns that come with effio; else files."""
    from effio.campaign.file import shipped

    return _one_of(shipped(), incomplete)


def complete_tuning(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Tunings that come with effio; else files."""
    from effio.tune.space import shipped

    return _one_of(shipped(), incomplete)


def complete_tunings(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The tunings that are kept, the newest first."""
    from effio.cli.main import runs_directory
    from effio.store.all_runs import Store
    from effio.tune.folder import names

    kept = ["last", *reversed(names(Store(runs_directory(ctx))))]
    return [CompletionItem(n) for n in kept if n.startswith(incomplete)]


def run_argument(name: str, many: bool = False) -> Callable[[_F], _F]:
    return click.argument(
        name,
        metavar="RUN..." if many else "RUN",
        shell_complete=complete_run,
        nargs=-1 if many else 1,
        required=True,
    )
