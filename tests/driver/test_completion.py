# SPDX-License-Identifier: BSD-3-Clause
"""What the shell completes. The user waits for it, in the middle of a line."""

from __future__ import annotations

import subprocess

from driver.conftest import FIRST, SECOND, Effio
from engines import Engine


def _completed(kept: Effio, words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The last word is completed, the space after the others is typed."""
    at = len(words.split()) - (not words.endswith(" "))
    asked = {"_EFFIO_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
    return kept.run(env={**asked, **env})


def test_completion(kept: Effio, any_engine: Engine) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_EFFIO_COMPLETE" in kept.call("completion", shell).stdout
    script = kept.call("completion", "bash").stdout
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0

    def complete(words: str) -> list[str]:
        done = _completed(kept, words, {"EFFIO_ENGINE": str(any_engine.program)})
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert "report" in complete("effio re")
    assert complete("effio show 2026") == ["20260303T000000Z-b-eff-io", SECOND, FIRST]
    assert "b-eff-io" in complete("effio run ")
    assert complete("effio run b-eff-io --parti") == ["--partitions"]
    assert "posix" in complete("effio run b-eff-io --backend ")


def test_completion_needs_no_index(kept: Effio) -> None:
    """It waited up to 30 s for one that another effio had locked."""
    for run, tag in ((FIRST, "odd"), (SECOND, "old")):
        assert kept.call("note", run, "--tag", tag).returncode == 0
    for words, found in (
        ("effio runs --tag ", ["odd", "old"]),
        ("effio note last --tag ol", ["old"]),
        ("effio trend tag:o", ["tag:odd", "tag:old"]),
    ):
        done = _completed(kept, words, {})
        assert done.stdout.split() == [f"plain,{tag}" for tag in found], words
    assert not (kept.cwd / "cache").exists()


def test_completion_prints_no_message_in_the_line_that_is_typed(kept: Effio) -> None:
    for words in ("effio show ", "effio compare ", "effio runs ", "effio runs --tag "):
        done = _completed(kept, words, {"EFFIO_SITE": "/nonexistent"})
        assert (done.stdout.strip(), done.stderr) == ("", ""), words
