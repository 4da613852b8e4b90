# SPDX-License-Identifier: BSD-3-Clause
"""Secrets that people type or programs print do not leave the machine. The tests put one secret in
every place and search every file of a run, an archive, a report, a bundle and an export."""

from __future__ import annotations

import json
import subprocess
import tarfile
from pathlib import Path

import pytest

from driver import made
from driver.campaigns import NULL, STEP, record_of, runs_of, write_campaign
from driver.conftest import Effio
from effio.store.all_runs import Store
from effio.store.environment import MASKED
from effio.store.folder import RunFolder
from effio.store.masking import masked_text, masked_words
from effio.store.run_record import Outcome, RunRecord
from patience import SECONDS

HEX = "0123456789abcdef" * 2
BASE64 = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY1"
DRAWN = "ghp_" + "aB3" * 12
LONG_PATH = (
    "/scratch/project_4650001234/a-directory-with-a-long-name-of-2026/Run-3-of-Nightly-Tests"
)
PASSED = ("--a-option", "A_KEY", "--a-option")
RUN = "20261127T090203Z-b-eff-io-a-campaign-with-a-long-name-r0"


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (["curl", "--password", "hunter2", "x"], ["curl", "--password", MASKED, "x"]),
        (["curl", "--api-key=hunter2"], ["curl", f"--api-key={MASKED}"]),
        (["curl", "-u", "me:hunter2"], ["curl", "-u", f"me:{MASKED}"]),
        (["x", "http://me:hunter2@host:80/a"], ["x", f"http://{MASKED}@host:80/a"]),
        (["mpiexec", "-x", "A_TOKEN=hunter2"], ["mpiexec", "-x", f"A_TOKEN={MASKED}"]),
        (["mpiexec", "-genv", "A_TOKEN", "hunter2"], ["mpiexec", "-genv", "A_TOKEN", MASKED]),
        (["x", HEX, f"a={BASE64}", DRAWN], ["x", MASKED, f"a={MASKED}", MASKED]),
        (
            ["sh", "-c", "curl --password 'hunter 2' -H 'Authorization: Bearer hunter23'"],
            ["sh", "-c", f"curl --password '{MASKED}' -H 'Authorization: Bearer {MASKED}'"],
        ),
        (
            ["--a-option=--token", "--a-option=hunter2", "--a-option", "A_KEY", "--a-option", "b"],
            ["--a-option=--token", f"--a-option={MASKED}", *PASSED, MASKED],
        ),
        # A flag without a value, and words that are not secrets.
        (["x", "--key", "--block", "64k"], ["x", "--key", "--block", "64k"]),
        ([f"--dir={LONG_PATH}", "-n", "2"], [f"--dir={LONG_PATH}", "-n", "2"]),
        (["--backend-options", "a=10ms,b=/c/d"], ["--backend-options", "a=10ms,b=/c/d"]),
    ],
)  # fmt: skip
def test_a_command_is_kept_without_its_secrets(typed: list[str], kept: list[str]) -> None:
    assert masked_words(typed) == kept
    assert masked_words(kept) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('setup = [["a", "--password", "hunter2"]]', f'setup = [["a", "--password", "{MASKED}"]]'),
        ('environment = { A_TOKEN = "a b" }', f'environment = {{ A_TOKEN = "{MASKED}" }}'),
        ("export A_SECRET='hunter 2'", f"export A_SECRET='{MASKED}'"),
        ("Password: hunter2, retry", f"Password: {MASKED}, retry"),
        ("PWD=/home/me; the key: 5, author: me", "PWD=/home/me; the key: 5, author: me"),
        (RUN, RUN),
    ],
)  # fmt: skip
def test_a_text_is_kept_without_its_secrets(text: str, kept: str) -> None:
    assert masked_text(text) == kept


def test_no_option_of_effio_is_named_like_a_secret(with_engine: Effio) -> None:
    """Otherwise its value would be masked in the line that repeats a run."""
    engine = with_engine.environment["EFFIO_ENGINE"]
    asked = subprocess.run([engine, "describe"], capture_output=True, check=True, timeout=SECONDS)
    described = json.loads(asked.stdout)["benchmarks"]
    names = [f"--{option['name']}" for b in described for option in b["options"]]
    assert len(names) > 100
    assert masked_words([word for name in names for word in (name, "x")])[1::2] == ["x"] * len(
        names
    )


def _holders(place: Path, secrets: list[str]) -> list[tuple[str, str]]:
    """Files below a directory that contain one of these, including members of archives."""
    found = []
    for path in sorted(place.rglob("*")):
        if not path.is_file():
            continue
        texts = {path.name: path.read_bytes()}
        if path.suffix == ".gz":
            with tarfile.open(path) as archive:
                texts = {m.name: archive.extractfile(m).read() for m in archive}  # type: ignore[union-attr]
        found += [
            (str(path.relative_to(place)), f"{name}: {secret}")
            for name, text in texts.items()
            for secret in secrets
            if secret.encode() in text
        ]
    return found


def test_no_secret_leaves_with_a_run(with_engine: Effio) -> None:
    effio = with_engine
    secrets = [f"hunter{i:02}" for i in range(8)] + [HEX, DRAWN]
    write_campaign(
        effio,
        f"""{STEP}setup = [
    ["sh", "-c", "echo 'password: hunter00'; echo token={HEX}; : --secret hunter01"],
    ["true", "--password", "hunter02", "http://me:hunter03@host/"],
]
cleanup = [["sh", "-c", "echo A_TOKEN=hunter04; exit 1", "--api-key", "hunter05"]]
{NULL}[step.environment]
A_TOKEN = "hunter06"
OMPI_MCA_x = "{DRAWN}"
""",
    )
    option = "-x" if "openmpi" in effio.environment["EFFIO_MPIEXEC"] else "-genv"
    passed = ["A_PASSWORD=hunter07"] if option == "-x" else ["A_PASSWORD", "hunter07"]
    words = [f"--launcher-option={word}" for word in (option, *passed)]
    done = effio.call("run", "s.toml", "--quiet", *words)
    assert done.returncode == 0, done.stderr
    (run,) = runs_of(effio)
    notes = [json.loads(line) for line in (run / "commands.jsonl").read_text().splitlines()]
    assert notes[0]["said"] == f"password: {MASKED}\ntoken={MASKED}\n"
    assert notes[1]["command"] == ["true", "--password", MASKED, f"http://{MASKED}@host/"]
    assert MASKED in " ".join(record_of(run)["command"])
    assert _holders(run, secrets) == []
    out = effio.cwd / "out"
    out.mkdir()
    for made_by in (
        ("archive", "-o", "out/all.tar.gz"), ("report", run.name, "-o", "out/report.html"),
        ("export", run.name, "-o", "out/runs.csv"), ("bundle", run.name, "-o", "out/bundle"),
        ("show", run.name), ("export", run.name, "-o", "out/runs.parquet"),
    ):  # fmt: skip
        done = effio.call(*made_by)
        assert done.returncode == 0, done.stderr
        (out / f"{made_by[0]}.stdout").write_text(done.stdout + done.stderr)
    with tarfile.open(out / "all.tar.gz") as archive:
        assert "campaigns/s/campaign.toml" in archive.getnames()
    assert _holders(out, secrets) == []
    # The user's own file is unchanged.
    assert "hunter02" in (effio.cwd / "effio-runs/campaigns/s/campaign.toml").read_text()
    assert RunFolder(run).changed_since_sealed() == []
    back = effio.call("--runs", "elsewhere", "restore", "out/all.tar.gz")
    assert back.returncode == 0, back.stderr


def test_a_jobs_script_has_them_until_the_job_has_ended(with_engine: Effio) -> None:
    effio = with_engine
    options = (
        "--launcher-option=--password",
        "--launcher-option=hunter2",
        "--batch-option=--account=a",
    )
    done = effio.call("run", "ior", "-n", "1", "--backend", "null", "--batch", "slurm", *options)
    assert done.returncode == 0, done.stderr
    (folder,) = Store(effio.cwd / "effio-runs").folders()
    script = folder.path / "job.sh"
    assert "--password hunter2" in script.read_text()
    assert script.stat().st_mode & 0o077 == 0, "others must not read it"
    (folder.path / "job.log").write_text("export A_SECRET=hunter2\n")
    (folder.path / "stderr.log").write_text("http://me:hunter2@host\n")
    for words in (("archive", "-o", "out.tar.gz"), ("report", folder.id, "-o", "r.html")):
        effio.call(*words)
    assert _holders(effio.cwd, ["hunter2"]) == [
        (f"effio-runs/{folder.id}/{name}", f"{name}: hunter2")
        for name in ("job.log", "job.sh", "stderr.log")
    ]
    folder.seal()
    assert _holders(effio.cwd, ["hunter2"]) == []
    assert script.stat().st_mode & 0o700 == 0o700
    assert (
        f"--password '{MASKED}'" in script.read_text()
        or f"--password {MASKED}" in script.read_text()
    )


def test_older_records_are_masked_when_they_are_read(tmp_path: Path) -> None:
    folder = Store(tmp_path).create("ior")
    record = {
        "id": folder.id, "created": "2026-11-20T12:00:00Z", "benchmark": "ior", "directory": "/",
        "arguments": ["--token", "hunter2"], "command": ["x", "--token=hunter2"],
        "driver": {"command": ["effio", "http://me:hunter2@host"]},
        "outcome": {"status": "died", "exit_code": 6, "reason": "x --password hunter2 failed"},
    }  # fmt: skip
    (folder.path / "run.json").write_text(json.dumps({"schema": "effio-run/1", **record}))
    lines = made.b_eff_io()
    lines[0] |= {"command": ["x", "--token", "hunter2"], "classic_command": ["--token=hunter2"]}
    made.write(folder.result_path, lines)
    reported = folder.reported()
    assert isinstance(reported.record, RunRecord)
    assert isinstance(reported.record.outcome, Outcome)
    shown = json.dumps(
        [reported.record.model_dump(), reported.run.command, reported.run.classic_command]
    )
    assert "hunter2" not in shown
    assert shown.count(MASKED) == 6
