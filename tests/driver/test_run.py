# SPDX-License-Identifier: BSD-3-Clause
"""`effio run` with real engines: what a run leaves, and what it says of itself."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from driver import made
from driver.conftest import Effio
from driver.runs import (
    SHORT,
    folder_of,
    record_of,
    with_flavour,
)
from effio.report.html import drawing_script
from engines import Engine
from patience import SECONDS
from results import load


@pytest.mark.parametrize("flavour", ["openmpi-ompio", "mpich"])
def test_a_run_is_kept_whole(
    flavour: str, engines: dict[str, Engine], effio: Effio, data: Path
) -> None:
    if flavour not in engines:
        pytest.skip(f"no engine of flavour {flavour} is built here")
    (effio.cwd / "effio-site.toml").write_text('[results]\nenvironment = ["A", "SITE_RELEASE"]\n')
    done = with_flavour(effio, engines[flavour]).call(
        "run", "b-eff-io", *SHORT, "--dir", data, "--label", "first",
        env={
            "MY_TOKEN": "secret", "ROMIO_HINTS": "/none", "UCX_API_KEY": "secret",
            "SITE_RELEASE": "2026b",
        },
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    folder = folder_of(effio)
    assert folder.name.endswith("Z-b-eff-io-first")
    # The last lines say where it is.
    assert done.stdout.splitlines()[-2:] == [
        f"run:    effio-runs/{folder.name}",
        f"report: effio-runs/{folder.name}/report.html",
    ]
    result = load(folder / "result.jsonl")
    assert result.status == "done"
    assert "b_eff_io of 2 ranks" in (folder / "stdout.log").read_text()
    # The figures need no network: what draws them is in the page.
    page = (folder / "report.html").read_text()
    (packed,) = re.findall(r'<script[^>]*id="plotly"[^>]*>\s*([^<]+?)\s*</script>', page)
    assert gzip.decompress(base64.b64decode(packed)) == drawing_script().encode()
    # Checksums that any user can check.
    checked = subprocess.run(
        ["sha256sum", "--check", "SHA256SUMS"], cwd=folder, capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
    names = {line.split()[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    assert names == {"result.jsonl", "run.json", "environment.json", "stdout.log", "stderr.log"}
    # What explains the run, and no secrets.
    environment = json.loads((folder / "environment.json").read_text())
    assert environment["ROMIO_HINTS"] == "/none"
    assert environment["UCX_API_KEY"] == "(not recorded)"
    assert environment["SITE_RELEASE"] == "2026b"
    assert "MY_TOKEN" not in environment
    of_engine = result.run["system"]["mpi"]["environment"]
    assert of_engine["SITE_RELEASE"] == "2026b"
    assert of_engine["UCX_API_KEY"] == "(not recorded)"
    assert "MY_TOKEN" not in of_engine
    record = record_of(effio)
    program = record["engine"]
    assert isinstance(program, dict)
    digest = subprocess.run(
        ["sha256sum", engines[flavour].program], capture_output=True, text=True, check=True
    )
    assert program["sha256"] == digest.stdout.split()[0]
    assert "MPI" in program["mpi_built_with"]
    assert set(record["arguments"]) == {f"--dir={data}", *_words(SHORT[:-2])}  # type: ignore[call-overload]
    assert record["outcome"]["status"] == "done"  # type: ignore[index]
    assert list(data.iterdir()) == []


def _words(pairs: tuple[str, ...]) -> list[str]:
    return [f"{name}={value}" for name, value in zip(pairs[::2], pairs[1::2], strict=True)]


def test_the_command_that_is_kept_repeats_the_run(with_engine: Effio, data: Path) -> None:
    words = ("run", "b-eff-io", *SHORT, "--dir", data)
    printed = with_engine.call(*words, "--print-command")
    assert printed.returncode == 0, printed.stderr
    assert not (with_engine.cwd / "effio-runs").exists()
    by_hand = subprocess.run(
        printed.stdout.strip(),
        shell=True,
        cwd=with_engine.cwd,
        env=with_engine.environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert by_hand.returncode == 0, by_hand.stderr
    assert "b_eff_io = " in by_hand.stdout


def test_two_runs_in_one_second_do_not_meet(with_engine: Effio, data: Path) -> None:
    # As if another run had been started in each of the next seconds.
    root = with_engine.cwd / "effio-runs"
    now = time.time()
    taken = [
        root / time.strftime("%Y%m%dT%H%M%SZ-b-eff-io", time.gmtime(now + i)) for i in range(20)
    ]
    for folder in taken:
        folder.mkdir(parents=True)
        (folder / "result.jsonl").write_text("precious")
    done = with_engine.call("run", "b-eff-io", *SHORT, "--dir", data, "--no-report", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("-b-eff-io-2")
    assert all((folder / "result.jsonl").read_text() == "precious" for folder in taken)


def test_what_was_chosen_is_said(with_engine: Effio, data: Path) -> None:
    words = [w for w in SHORT if w not in ("-n",)][:-1]
    done = with_engine.call(
        "run", "b-eff-io", *words, "--dir", data, "--backend", "sim", "--no-report"
    )
    assert "--ranks to change" in done.stderr
    if os.geteuid() == 0 and "openmpi" in with_engine.environment["EFFIO_MPIEXEC"]:
        assert "OMPI_ALLOW_RUN_AS_ROOT" in done.stderr


def test_more_ranks_than_cores_are_allowed_and_said(
    engines: dict[str, Engine], effio: Effio, data: Path
) -> None:
    if "openmpi-ompio" not in engines:
        pytest.skip("no Open MPI engine is built here")
    ranks = 2 * len(os.sched_getaffinity(0))
    done = with_flavour(effio, engines["openmpi-ompio"]).call(
        "run", "b-eff-io", "--time", "0s", "--memory-per-rank", "256MiB", "--partitions", ranks,
        "-n", ranks, "--dir", data, "--no-report",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "--oversubscribe" in done.stderr
    assert load(folder_of(effio) / "result.jsonl").run["system"]["ranks"] == ranks


def test_output_in_ascii(effio: Effio) -> None:
    made.write(effio.cwd / "effio-runs/a/result.jsonl", made.b_eff_io())
    done = effio.run("show", "last", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert "+ " in done.stdout
