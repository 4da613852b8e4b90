# SPDX-License-Identifier: BSD-3-Clause
"""site.toml: what is true of this machine for every run. Everything in it is optional.

    [launch]
    launcher = "srun"                       # as --launcher
    options = ["--cpu-bind=cores"]          # as --launcher-option
    engine = "openmpi-0123456789"           # as --engine

    [batch]
    system = "slurm"                        # as --batch
    directives = ["--account=abc", "--partition=compute"]
    setup = ["module load openmpi/5"]       # shell lines before the launch
    template = "job.sh"                     # of its scripts, next to this file

    [results]
    runs = "/scratch/me/effio-runs"         # as --runs
    environment = ["SITE_RELEASE"]          # variables that are recorded as well

    [peaks]                                 # reports show rates as a percentage of them
    network_per_node = "12.5GB/s"
    memory_per_node = "200GB/s"
    [[peaks.storage]]
    mount = "/scratch"                      # without it: all file systems
    per_node = "1.6GB/s"
    per_server = "0.2GB/s"
    servers = 72
    total = "14.4GB/s"

Looked for in $EFFIO_SITE, ./effio-site.toml, $XDG_CONFIG_HOME/effio/site.toml; the first counts.
./effio-site.toml is refused if it belongs to another user than this one and root, or others can
write it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from effio import text as fmt
from effio.config.toml_file import read, validated
from effio.errors import EffioError
from effio.home import SITE_HERE, expanded, site_files
from effio.store.proof import not_trusted


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class LaunchSettings(_Table):
    launcher: str | None = None
    options: tuple[str, ...] = ()
    engine: str | None = None


class BatchSettings(_Table):
    system: Literal["slurm", "pbs", "lsf", "flux"] | None = None
    directives: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    template: str | None = None


class ResultSettings(_Table):
    runs: str | None = None
    # Names of variables that are recorded with a run, besides those of store/environment.py.
    environment: tuple[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], ...] = ()


def _rate(value: object) -> object:
    rate = fmt.parse_rate(value) if isinstance(value, str) else None
    if rate is None or rate <= 0:
        raise ValueError(f"'{value}' is not a rate; write for example 1.6GB/s")
    return rate


PeakRate = Annotated[float, BeforeValidator(_rate)]


class StoragePeak(_Table):
    """What a file system can do, in bytes per second. The least of nodes × `per_node`, `servers` ×
    `per_server` and `total` holds for a run."""

    mount: str = ""
    per_node: PeakRate | None = None
    per_server: PeakRate | None = None
    servers: int | None = Field(default=None, ge=1)
    total: PeakRate | None = None


class PeakSettings(_Table):
    network_per_node: PeakRate | None = None
    memory_per_node: PeakRate | None = None
    storage: tuple[StoragePeak, ...] = ()


class Site(_Table):
    # Defaults are not validated: most commands find no file, and need no validators then.
    launch: LaunchSettings = Field(default_factory=LaunchSettings.model_construct)
    batch: BatchSettings = Field(default_factory=BatchSettings.model_construct)
    results: ResultSettings = Field(default_factory=ResultSettings.model_construct)
    peaks: PeakSettings = Field(default_factory=PeakSettings.model_construct)


def _refuse_foreign(path: Path) -> None:
    """A file that was not named holds commands (launcher, setup): in a shared directory another
    user may have put it there."""
    if path == SITE_HERE and (fault := not_trusted(path)):
        raise EffioError(
            f"{path} {fault}: effio does not take commands from it",
            hint=f"if you trust it: EFFIO_SITE={path}",
        )


def load_site() -> Site:
    """Raises with every fault of the file at once, each with its place."""
    for path in site_files():
        if path.exists() or path.is_symlink():
            if not os.environ.get("EFFIO_SITE"):
                _refuse_foreign(path)
            file = read(path)
            site = validated(Site, file)
            if site.batch.template is None:
                return site
            if site.batch.system is None:
                what = "a template is for one batch system; name it with 'system'"
                raise EffioError(file.fault(("batch", "template"), what))
            # Relative to the file that names it.
            template = str(path.parent / expanded(site.batch.template))
            batch = site.batch.model_copy(update={"template": template})
            return site.model_copy(update={"batch": batch})
        if "EFFIO_SITE" in os.environ:
            raise EffioError(f"EFFIO_SITE names {path}, which does not exist")
    return Site.model_construct()
