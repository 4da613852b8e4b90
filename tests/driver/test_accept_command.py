# SPDX-License-Identifier: BSD-3-Clause
"""`effio accept` as a user types it: files of rules, good and bad, and submissions."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from driver import made
from driver.conftest import Effio
from effio.config.toml_file import MAX_BYTES
from effio.errors import EffioError
from effio.judge.rules import load_rules, shipped

BAD = {
    "": "'schema' is missing",
    "x = [": "",
    'schema = "effio-rules/2"\ntitle = "t"\n[[rule]]\nid = "a"\nkind = "valid"': "effio-rules/1",
    'kind = "treshold"': "5:1: no kind 'treshold'; did you mean 'threshold'?",
    'title = "no kind"': "3:1: 'kind' is missing",
    'kind = "threshold"': "3:1: rule.0: one of at_least, above, at_most and below is needed",
    'kind = "valid"\ntolerance = 0.1\n[[rule]]\nname = "b"': "unknown key 'tolerance'",
    'kind = "threshold"\nat_least = "1TB/s"\nabove = "1TB/s"': "one of at_least",
    'kind = "threshold"\nat_least = "1 TB"': "'1 TB' is not a rate or time; write it as 1TB/s",
    'kind = "threshold"\nat_least = 5': "valid string",
    'kind = "valid"\nrepetitons = 3': "6:1: unknown key 'repetitons'; did you mean 'repetitions'?",
    'kind = "valid"\nselect = { acess = "write" }': "did you mean 'access'?",
    'kind = "linearity"\naxis = "ranks"\ntolerance = 2': "less than or equal to 1",
    'kind = "valid"\nrepetitions = 0': "greater than or equal to 1",
    'kind = "valid"\n[[rule]]\nid = "a"\nkind = "valid"': "more than one rule is called a",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_rules_are_refused_with_their_place(text: str, effio: Effio) -> None:
    whole = text
    if text.startswith(("kind", "title")):
        whole = f'schema = "effio-rules/1"\ntitle = "t"\n[[rule]]\nid = "a"\n{text}\n'
    (effio.cwd / "rules.toml").write_text(whole)
    result = made.write(effio.cwd / "r.jsonl", made.b_eff_io())
    done = effio.call("accept", "rules.toml", result)
    assert done.returncode == 2
    assert done.stderr.startswith("effio: rules.toml:")
    assert BAD[text] in done.stderr
    assert "Traceback" not in done.stderr


def test_rules_that_are_not_there(effio: Effio) -> None:
    result = made.write(effio.cwd / "r.jsonl", made.b_eff_io())
    done = effio.call("accept", "blue-water", result)
    assert done.returncode == 2
    assert "neither a file nor one of b_eff_io-official, blue-waters" in done.stderr
    (effio.cwd / "large.toml").write_text("#" * (MAX_BYTES + 1))
    with pytest.raises(EffioError, match="larger than 4 MiB"):
        load_rules(str(effio.cwd / "large.toml"))


RULES = """schema = "effio-rules/1"
title = "Small"
[[rule]]
id = "write"
kind = "threshold"
select = {{ access = "write", pattern = "shared", "where.chunk_bytes" = 2097152 }}
statistic = "max"
at_least = "{limit}"
[[rule]]
id = "create"
kind = "threshold"
select = {{ benchmark = "mdtest" }}
at_least = "1 op/s"
"""


def test_the_command(effio: Effio) -> None:
    result = made.write(effio.cwd / "r.jsonl", made.b_eff_io())
    rules = effio.cwd / "rules.toml"
    # Writing shared: 5 MB/s of the smallest chunk, eight times as much of the largest.
    rules.write_text(RULES.format(limit="40MB/s"))
    done = effio.call("accept", rules, result, "--page", "page.html")
    assert done.returncode == 0
    assert "NOT DECIDED: 1 pass, 1 not evaluable." in done.stdout
    assert "(measured: b-eff-io" in " ".join(done.stdout.split())
    assert "Small" in (effio.cwd / "page.html").read_text()
    assert effio.call("accept", rules, result, "--strict").returncode == 1
    rules.write_text(RULES.format(limit="41MB/s"))
    done = effio.call("accept", rules, result, "--json")
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert (answer["schema"], answer["verdict"]) == ("effio-acceptance/1", "not accepted")
    assert [(o["rule"], o["ruling"], o["value"]) for o in answer["outcomes"]] == [
        ("write", "fail", 40e6),
        ("create", "not evaluable", None),
    ]


def test_projections_are_marked(effio: Effio) -> None:
    result = made.write(effio.cwd / "r.jsonl", made.b_eff_io())
    rules, submission = effio.cwd / "rules.toml", effio.cwd / "submission.toml"
    rules.write_text(RULES.format(limit="1GB/s"))
    projection = f'[[projection]]\nrule = "write"\nvalue = "1.2GB/s"\nmethod = "30 times the servers"\nbase = "{result}"\nsystem = "A"\n'  # noqa: E501
    submission.write_text(projection)
    done = effio.call("accept", rules, result, "--submission", submission, env={"COLUMNS": "250"})
    assert done.returncode == 0, done.stderr
    # The first line, too: nothing of it was measured.
    assert "NOT DECIDED: 1 pass (1 projected, not measured), 1 not evaluable." in done.stdout
    assert "pass (projected)" in done.stdout
    assert "1.200 GB/s (projected)" in done.stdout
    assert "projected: 30 times the servers; measured base 40.00 MB/s" in done.stdout
    submission.write_text(projection.replace('"write"', '"read"'))
    done = effio.call("accept", rules, result, "--submission", submission)
    assert (done.returncode, "which is not a rule of Small" in done.stderr) == (2, True)
    for row in ("clock_mhz = -1", "clock_mhz = 0", "cores = 0", "cores = -5"):
        submission.write_text(f'[[system]]\nletter = "A"\n{row}\n')
        done = effio.call("accept", rules, result, "--submission", submission)
        assert (done.returncode, "submission.toml:3:1: system.0" in done.stderr) == (2, True)
    submission.write_text('[[projection]]\nrule = "write"\nvalue = "many"\n')
    done = effio.call("accept", rules, result, "--submission", submission)
    assert done.returncode == 2
    assert "submission.toml:3:1: projection.0.value: 'many' is not a rate or time" in done.stderr
    assert "submission.toml:1:1: 'method' is missing" in done.stderr


def test_the_help_names_all_rules_that_come_with_effio(effio: Effio) -> None:
    # Lines break after hyphens, too.
    text = " ".join(effio.call("accept", "--help").stdout.split()).replace("- ", "-")
    assert f"come with effio: {' or '.join(reversed(shipped()))}." in text


def test_a_rules_file_that_is_none_is_refused(effio: Effio, tmp_path: Path) -> None:
    """Nothing waits for a FIFO, reads a device or a huge file, or ends with a traceback. A link is
    followed: the user named it."""
    many = "".join(f'[[rule]]\nid = "r{i}"\nkind = "valid"\n' for i in range(10_001))
    texts = {
        "many": f'schema = "effio-rules/1"\ntitle = "T"\n{many}',
        "deep": "a = " + "[" * 5000 + "]" * 5000,
        "unknown": 'schema = "effio-rules/1"\ntitle = "\\u001b[2J"\nwhat = 1\n',
        "infinite": 'schema = "effio-rules/1"\ntitle = "T"\n'
        '[[rule]]\nid = "r"\nkind = "threshold"\nat_least = "1e999TB/s"\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 10 << 30)
    (tmp_path / "link").symlink_to(tmp_path / "bytes")
    words = [*texts, "bytes", "fifo", "loop", "zero", "huge", "link", ".", "x" * 5000, "\x1b[2J"]
    for word in words:
        with pytest.raises(EffioError) as refused:
            load_rules(str(tmp_path / word))
        for line in refused.value.message.splitlines():
            assert line.isprintable(), word
    (effio.cwd / "effio-runs").mkdir()
    done = effio.call("serve", "--rules", tmp_path / "fifo")
    assert done.returncode == 2
    assert "is a FIFO, not a regular file" in done.stderr
