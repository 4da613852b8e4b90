# SPDX-License-Identifier: BSD-3-Clause
"""What a command imports: a package that it does not need takes more of its time than its work."""

from __future__ import annotations

import subprocess
import sys

from driver.conftest import Effio
from patience import SECONDS

_IMPORTED = (
    "import sys; from effio.cli.main import main\n"
    "try: main()\n"
    "except SystemExit as stop: assert not stop.code\n"
    "print(*sys.modules)"
)


def _imported(effio: Effio, *words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTED, *words],
        cwd=effio.cwd,
        env=effio.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    return {*done.stdout.splitlines()[-1].split()}


_STATISTICS = {"scipy"}
_CAMPAIGNS = {"effio.campaign.file", "effio.campaign.points"}
_PAGES = {"effio.report.html", "jinja2"}


def test_a_command_imports_no_package_that_it_does_not_need(with_engine: Effio) -> None:
    options = ("--backend=sim", "--block=1MiB", "--repetitions=2", "--no-report")
    assert with_engine.call("run", "ior", *options).returncode == 0
    for words, needless in (
        (("report", "last"), {*_STATISTICS, *_CAMPAIGNS, "effio.engine.program", "rich.console"}),
        (("show", "last"), {*_STATISTICS, *_CAMPAIGNS, *_PAGES, "effio.engine.program"}),
        (("table", "last"), {*_STATISTICS, "numpy", *_CAMPAIGNS, *_PAGES, "effio.engine.program"}),
        (("runs",), {*_STATISTICS, "numpy", *_CAMPAIGNS, *_PAGES, "effio.engine.program"}),
        (("run", "ior", "--help"), {*_STATISTICS, *_CAMPAIGNS, *_PAGES}),
    ):
        imported = _imported(with_engine, *words)
        assert {"effio.store.folder", "effio.store.records"} <= imported, words
        assert imported & needless == set(), words
