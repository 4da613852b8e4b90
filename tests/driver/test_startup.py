# SPDX-License-Identifier: BSD-3-Clause
"""What a command imports: a package that it does not need takes more of its time than its work."""

from __future__ import annotations

from driver.conftest import Effio

_IMPORTED = (
    "import sys; from effio.cli.main import main\n"
    "try: main()\n"
    "except SystemExit as stop: assert not stop.code\n"
    "print(*sys.modules)"
)


def _imported(effio: Effio, *words: str) -> set[str]:
    done = effio.script(_IMPORTED, *words)
    assert done.returncode == 0, done.stderr
    return {*done.stdout.splitlines()[-1].split()}


# Loading them takes longer than the rest of a short command.
_STATISTICS = {"numpy", "scipy", "matplotlib", "duckdb"}
_CAMPAIGNS = {"effio.campaign.file", "effio.campaign.points"}
_READERS = {"pydantic", "effio.store.records", "effio.report.claims"}
_PAGES = {"effio.report.html", "jinja2"}


def test_a_command_imports_no_package_that_it_does_not_need(with_engine: Effio) -> None:
    options = ("--ranks=1", "--backend=null", "--block=64KiB", "--transfer=64KiB", "--quiet")
    sim = ("--backend=sim", "--time=1s", "--memory-per-rank=1MiB", "--max-bytes=40MiB")
    for words, needless in (
        (("run", "ior", *options), _STATISTICS),
        (("note", "last", "quiet"), _STATISTICS),
        (("report", "last"), {*_STATISTICS, *_CAMPAIGNS, "effio.engine.program", "rich.console"}),
        (("show", "last"), {*_STATISTICS, *_CAMPAIGNS, *_PAGES, "effio.engine.program"}),
        (("table", "last"), {*_STATISTICS, *_CAMPAIGNS, *_PAGES, "effio.engine.program"}),
        (("runs",), {*_STATISTICS, *_CAMPAIGNS, *_PAGES, "effio.engine.program"}),
        # What has been read once is in the index.
        (("runs",), _READERS),
        (("table",), _READERS - {"effio.report.claims"}),
        (("query", "SELECT 1"), {*_READERS, "numpy"}),
        (("run", "ior", "--help"), {*_STATISTICS, *_CAMPAIGNS, *_PAGES}),
        (("run", "b-eff-io", *sim, "--ranks=1", "--quiet"), {"matplotlib", "duckdb"}),
        (("show", "last"), {"effio.campaign.points", "matplotlib", "duckdb"}),
    ):
        imported = _imported(with_engine, *words)
        assert "effio.store.folder" in imported, words
        assert imported & needless == set(), words
