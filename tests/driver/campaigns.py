# SPDX-License-Identifier: BSD-3-Clause
"""A campaign file of a test, and the runs that came of it."""

from __future__ import annotations

import contextlib
import json
import subprocess
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from driver.conftest import Effio
from effio.judge.gather import counting_of, read_run
from effio.report.campaign import CampaignRuns
from effio.report.claims import claimed
from effio.store.all_runs import Store
from effio.store.attempts import attempts_in
from effio.store.reader import ResultError

HEAD = 'title = "t"\npurpose = "p"\n'
STEP = '[[step]]\nname = "a"\nbenchmark = "ior"\nranks = 1\n'
NULL = '[step.options]\nbackend = "null"\nblock = "2MiB"\n'


def write_campaign(effio: Effio, text: str) -> None:
    (effio.cwd / "s.toml").write_text(HEAD + text)


def runs_of(effio: Effio, campaign: str = "s") -> list[Path]:
    """Runs in the order in which they were made, also where several are of one second."""
    folders = Store(effio.cwd / "effio-runs").folders()
    return [f.path for f in folders if fnmatch(f.id, f"2*-ior-{campaign}-*")]


def read_runs(root: Path, campaign: str, every: bool = False) -> CampaignRuns:
    """What the pages of a campaign are made of, from the files of its runs instead of the index."""
    found = []
    for one in counting_of(attempts_in(Store(root)), campaign, every):
        with contextlib.suppress(ResultError):
            found.append(claimed(read_run(one.folder.result_path, {})))
    return CampaignRuns(found)


def record_of(run: Path) -> dict[str, Any]:
    record = json.loads((run / "run.json").read_text())
    assert isinstance(record, dict)
    return record


def run_campaign(effio: Effio, *words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = effio.call("run", "s.toml", "--quiet", "--no-report", *words)
    assert done.returncode == code, done.stdout + done.stderr
    return done
