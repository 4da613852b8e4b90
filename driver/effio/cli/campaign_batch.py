# SPDX-License-Identifier: BSD-3-Clause
"""A campaign in one job of a batch system: an allocation for all of its points. The job calls effio
itself, so that submitting it again resumes it like any other campaign."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from time import sleep
from typing import Any, NoReturn

import click

from effio import text as fmt
from effio.campaign.order import Study
from effio.campaign.run import RunRequest, UnitDone
from effio.campaign.state import CampaignFolder, end_of
from effio.cli.streams import print_line, say
from effio.config.site import load_site
from effio.errors import EffioError, ExitCode, results_error
from effio.launch.batch import BatchJob, BatchSystem, offered_batch_system
from effio.launch.launchers import Launch
from effio.launch.queue import waits
from effio.launch.watch import interrupts_wait
from effio.store import safe_files
from effio.store.attempts import Attempt
from effio.store.folder import JOB_SCRIPT
from effio.store.safe_files import write_atomically

_INSIDE = "if this is a login node, start effio inside a batch job"
_MINUTES_WITHOUT_BUDGET = 60
_RECORDED = ("EFFIO_ENGINE", "EFFIO_MPIEXEC", "EFFIO_SITE", "EFFIO_DATA")


def write_script(
    study: Study,
    order: RunRequest,
    folder: CampaignFolder,
    values: Mapping[str, Any],
    system: BatchSystem,
) -> Path:
    settings = study.settings
    effio = [sys.executable, "-m", "effio", "--runs", str(folder.runs.root.absolute())]
    words = ["--dir", settings.directory, "--name", folder.name]
    if settings.bytes:
        words += ["--max-bytes", f"{settings.bytes}B"]
    if settings.seconds:
        words += ["--time", f"{settings.seconds:g}s"]
    for name in ("ranks", "nodes", "ranks_per_node", "scale", "only", "skip", "interleave"):
        if values[name]:
            words += [f"--{name.replace('_', '-')}", str(values[name])]
    words += [word for point in values["point"] for word in ("--point", point)]
    words += ["--launcher", values["launcher"]] if values["launcher"] else []
    words += [f"--launcher-option={text}" for text in values["launcher_options"]]
    words += ["--retry-failed"] if values["retry_failed"] else []
    site = load_site().batch
    budget = 10 + int(3 * settings.seconds / 60) if settings.seconds else _MINUTES_WITHOUT_BUDGET
    script = folder.path / JOB_SCRIPT
    text = system.script(
        BatchJob(
            name=f"effio-{study.campaign.name}",
            directory=folder.path.absolute(),
            working_directory=Path.cwd(),
            ranks=order.model.ranks,
            minutes=values["minutes"] or budget,
            launch=Launch(
                (*effio, "run", str(study.file.path.absolute()), *words), _surroundings()
            ),
            directives=(*site.directives, *values["batch_options"]),
            setup=tuple(site.setup),
        )
    )
    try:
        write_atomically(script, text)
        script.chmod(0o755)
    except OSError as error:
        raise results_error(script, error) from None
    return script


def _surroundings() -> dict[str, str]:
    """What decides in this shell which engine is started and how; a job may have another."""
    context = click.get_current_context(silent=True)
    named = context.parent.params.get("engine") if context is not None and context.parent else None
    reported = {name: value for name in _RECORDED if (value := os.environ.get(name))}
    return {**reported, **({"EFFIO_ENGINE": named} if named else {})}


def offer_script(
    study: Study, order: RunRequest, folder: CampaignFolder, values: Mapping[str, Any], reason: str
) -> NoReturn:
    """Nothing could be started here: perhaps this is a login node."""
    system = offered_batch_system(load_site().batch)
    say(reason)
    if system is None:
        raise EffioError("nothing was measured", ExitCode.ENVIRONMENT, _INSIDE)
    script = write_script(study, order, folder, values, system)
    say(f"if mpiexec is not allowed on this machine, submit this {system.name} job instead:")
    click.echo(safe_files.read_text(script), nl=False)
    say(f"submit it with: {shlex.join([system.submit_command[0], str(script)])}")
    raise click.exceptions.Exit(ExitCode.ENVIRONMENT)


def submit_and_wait(
    script: Path,
    system: BatchSystem,
    order: RunRequest,
    folder: CampaignFolder,
) -> list[UnitDone]:
    """What is there when the job has ended. Ctrl-C leaves the job alone, and says so."""
    reported = -1
    reason = ""
    try:
        with interrupts_wait():
            job_id = system.submit(script.absolute())
        say(f"submitted as {system.name} job {job_id}; waiting for it")
        for seconds in waits():
            if system.is_alive(job_id) is False:
                break
            ended = len(_ended(order, folder))
            if ended != reported:
                say(f"{fmt.share_of(ended, len(order.units), 'runs has', 'runs have')} ended")
                reported = ended
            why = system.why_waiting(job_id)
            if why and why != reason:
                say(f"the job waits: {why}")
                reason = why
            sleep(seconds)
    except KeyboardInterrupt:
        cancel = shlex.join([*system.cancel_command, job_id])
        print_line(f"the job continues; the same command shows its progress, {cancel} ends it")
        raise click.exceptions.Exit(ExitCode.INTERRUPTED) from None
    done = _ended(order, folder)
    if len(done) < len(order.units):
        how = system.end_of(job_id)
        say(f"the job ended{f' as {how}' if how else ''} before all was done; see {script.parent}")
    return done


def _ended(order: RunRequest, folder: CampaignFolder) -> list[UnitDone]:
    states = folder.states(order.units)
    return [
        UnitDone(unit, *end_of(Attempt(run)), run)
        for unit in order.units
        for state, run in [states[unit.label]]
        if run is not None and state != "to do"
    ]
