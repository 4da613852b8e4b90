# SPDX-License-Identifier: BSD-3-Clause
"""A file of another command: each says what the file holds, and which command takes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations

import pytest

from driver.conftest import Effio
from effio.campaign.file import path_of as campaign_file
from effio.judge.rules import path_of as rule_file
from effio.profile.form import blank
from effio.tune.space import path_of as tuning_file


@dataclass(frozen=True)
class Kind:
    """`text`: a file of this kind. `words`: the command that takes one, after its name."""

    text: Callable[[], str]
    holds: str
    words: tuple[str, ...]


KINDS: Mapping[str, Kind] = {
    "run": Kind(lambda: campaign_file("quick").read_text(), "a campaign", ()),
    "accept": Kind(lambda: rule_file("blue-waters").read_text(), "acceptance rules", ("RUN",)),
    "tune": Kind(lambda: tuning_file("sieving").read_text(), "a tuning", ()),
    "profile": Kind(blank, "the I/O of an application", ()),
}


@pytest.mark.parametrize(("command", "other"), list(permutations(KINDS, 2)))
def test_a_file_of_another_command(command: str, other: str, with_engine: Effio) -> None:
    (with_engine.cwd / "mine.toml").write_text(KINDS[other].text())
    done = with_engine.call(command, "mine.toml", *KINDS[command].words)
    assert done.returncode == 2
    takes = " ".join(("effio", other, "mine.toml", *KINDS[other].words))
    assert done.stderr.splitlines() == [
        f"effio: mine.toml holds {KINDS[other].holds}, not {KINDS[command].holds}",
        f"       the command for it: {takes}",
    ]


def test_a_campaign_does_not_serve_as_settings_of_a_site(effio: Effio) -> None:
    (effio.cwd / "mine.toml").write_text(KINDS["run"].text())
    done = effio.call("runs", env={"EFFIO_SITE": "mine.toml"})
    assert done.returncode == 2
    assert "mine.toml holds a campaign, which cannot be used here" in done.stderr


def test_rules_are_not_taken_for_a_campaign_that_has_not_been_run(effio: Effio) -> None:
    (effio.cwd / "mine.toml").write_text(KINDS["accept"].text())
    done = effio.call("table", "mine.toml")
    assert done.returncode == 2
    assert "mine.toml is a campaign or another file of settings, not a result" in done.stderr


@pytest.mark.parametrize("command", ["run", "plan", "check", "accept", "tune"])
def test_a_name_without_its_ending(command: str, with_engine: Effio) -> None:
    more = ("RUN",) if command == "accept" else ()
    done = with_engine.call(command, "mine", *more)
    assert done.returncode == 2
    assert "name the file in full" not in done.stderr
    (with_engine.cwd / "mine.toml").touch()
    done = with_engine.call(command, "mine", *more)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "       name the file in full: mine.toml"
