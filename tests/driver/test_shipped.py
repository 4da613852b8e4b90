# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns that come with effio, run where that is cheap; numbers of a whole campaign; Ctrl-C in
the middle of one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import pytest

from driver.conftest import Effio
from driver.runs import wait_for
from effio.campaign.expression import template
from effio.campaign.file import load_shipped
from effio.errors import ExitCode
from patience import SECONDS

HEAD = 'title = "t"\npurpose = "p"\n[[step]]\nname = "a"\nbenchmark = "ior"\nranks = 1\n'
NULL = 'options = { backend = "null", block = "2MiB" }\n'
SMALL = ("--ranks", "2", "--scale", "0.00001")


def _points(effio: Effio, name: str) -> dict[str, list[dict[str, Any]]]:
    done = effio.call("plan", name, *SMALL, "--json")
    found: dict[str, list[dict[str, Any]]] = {}
    for point in json.loads(done.stdout):
        found.setdefault(point["step"], []).append(point)
    return found


def test_eocoe_asks_its_questions(with_engine: Effio) -> None:
    points = _points(with_engine, "eocoe")
    assert {step: len(some) for step, some in points.items()} == {
        "layout": 12, "layers": 1, "striping": 3, "readers": 6, "containers": 12,
    }  # fmt: skip
    words = [" ".join(point["command"]) for point in points["layout"]]
    assert ["--collective" in w for w in words] == 2 * [*3 * [False], *3 * [True]]
    assert len({tuple(point["command"]) for point in points["layout"]}) == 12
    # As many bytes however they are laid out.
    assert len({point["bytes_written"] for point in points["layout"]}) == 1
    # Caches are what the readers are about: nothing is dropped.
    for step in ("readers", "containers"):
        assert all("--drop-cache=off" in point["command"] for point in points[step])
    assert {point["axes"]["shift"] for point in points["containers"]} == {0, 1}
    # The third point of striping adds to the second: 126 targets, and large stripes.
    striping = points["striping"]
    assert [p["axes"] for p in striping] == [
        {"targets": 12, "stripe": "1MiB"}, {"targets": 126, "stripe": "1MiB"},
        {"targets": 126, "stripe": "256MiB"},
    ]  # fmt: skip
    hints = [
        next(w for w in point["command"] if "striping_factor" in w).split("=", 1)[-1].split(",")
        for point in striping
    ]
    assert hints[2][0] == hints[1][0] == "striping_factor=126"
    assert hints[1][1] == hints[0][1] == "striping_unit=1048576"
    assert hints[2][1] == "striping_unit=268435456"


def test_io500_like_has_the_formula_of_io500(with_engine: Effio) -> None:
    done = with_engine.call("run", "io500-like", *SMALL, "--quiet")
    assert done.returncode == 0, done.stdout + done.stderr
    rates: dict[str, list[float]] = {"ior": [], "mdtest": []}
    searches: list[tuple[int, float]] = []
    for file in (with_engine.cwd / "effio-runs").glob("2*/result.jsonl"):
        for line in map(json.loads, file.read_text().splitlines()):
            wanted = str(line.get("where", {}).get("phase", "File")).startswith("File")
            if line["kind"] == "measurement" and line["access"] == "find":
                searches.append((line["operations"], line["seconds"]["total"]["max"]))
            elif line["kind"] == "measurement" and wanted:
                rates[line["benchmark"]].append(line["rate"]["value"])
    assert {name: len(some) for name, some in rates.items()} == {"ior": 4, "mdtest": 7}
    bandwidth = prod(rates["ior"]) ** (1 / 4) / 2**30
    # Two ranks with ten files, or as many as were made before the stonewall of some milliseconds.
    assert [0 < operations <= 20 for operations, _ in searches] == [True, True]
    find = sum(found for found, _ in searches) / sum(seconds for _, seconds in searches)
    metadata = (prod(rates["mdtest"]) * find) ** (1 / 8) / 1e3
    reported = {
        title: float(value.split()[0])
        for title, _, value in (line.partition(": ") for line in done.stdout.splitlines())
        if title.startswith(("bandwidth,", "metadata,", "score", "entries"))
    }
    assert reported == {
        "bandwidth, the geometric mean of four": pytest.approx(bandwidth, rel=1e-3),
        "entries searched for *01* of 3901 B": pytest.approx(find / 1e3, rel=1e-3),
        "metadata, the geometric mean of eight": pytest.approx(metadata, rel=1e-3),
        "score by the formula of IO500": pytest.approx((bandwidth * metadata) ** 0.5, rel=1e-3),
    }
    assert "no official submission" in done.stdout
    # Nothing of its data stays.
    assert [p.name for p in with_engine.cwd.iterdir() if p.name.startswith("ior-")] == []


def test_columbia_writes_its_checkpoints_through_hdf5() -> None:
    (flash,) = [s for s in load_shipped("columbia-sx8").step if s.benchmark == "flash-io"]
    assert flash.options["backend"] == "hdf5"


@pytest.mark.parametrize("scale", [1.0, 0.3, 0.1, 0.05, 0.02, 0.01, 0.00001])
def test_amounts_of_eocoe_are_multiples_of_every_transfer_at_any_scale(scale: float) -> None:
    """Otherwise a point in the middle of the campaign would be refused."""
    (step,) = [s for s in load_shipped("eocoe").step if s.name == "layout"]
    for size in (1 << 16, 1 << 19, 1 << 22):
        names: dict[str, Any] = {"scale": scale, "transfer_size": size}
        for name in ("smaller", "largest", "amount"):
            names[name] = template(str(step.values[name])).value(names)
        transfer: Any = template(str(step.options["transfer"])).value(names)
        assert transfer % 4096 == 0
        assert names["amount"] % transfer == 0
        assert names["amount"] >= transfer


def test_a_score_needs_all_of_its_parts(with_engine: Effio) -> None:
    done = with_engine.call(
        "run", "io500-like", *SMALL, "--quiet", "--only", "step == 'mdtest-easy'"
    )
    assert done.returncode == 0, done.stderr
    assert "score by the formula of IO500: not known (" in done.stdout


def test_eocoe_and_columbia_run(with_engine: Effio) -> None:
    some = "repetition == 1 and step in ['layers', 'striping', 'readers']"
    done = with_engine.call("run", "eocoe", *SMALL, "--quiet", "--only", some)
    assert done.returncode == 0, done.stdout + done.stderr
    done = with_engine.call(
        "run", "columbia-sx8", *SMALL, "--quiet", "--only", "step in ['io-bench', 'spiobench']"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "b_eff_io compared with streams of the same ranks: not known (" in done.stdout


@pytest.mark.parametrize(
    ("figure", "what"),
    [
        ('value = "writes +"', "writes +"),
        ('value = "wirtes"', "no name 'wirtes' here; did you mean 'writes'?"),
        ('value = "__import__(1)"', "no function"),
        ('value = "writes"\nearlier.writes = { step = "b" }', "'b' is not a step"),
        ('value = "writes"\nearlier.writes = { step = "a", match = ["x"] }', "has no axes"),
        ("", "'value' is missing"),
        ('value = "1"\nnmae = "x"', "unknown key 'nmae'; did you mean 'name'?"),
        ('value = "1"\nname = "two words"', "figure.0.name"),
    ],
)
def test_a_figure_that_is_wrong(figure: str, what: str, with_engine: Effio) -> None:
    name = "" if "\nname" in figure else 'name = "f"\n'
    earlier = "" if "earlier" in figure else '\nearlier.writes = { step = "a", access = "write" }'
    text = f'[[figure]]\n{name}title = "t"\nunit = "1"\n{figure}{earlier}\n'
    (with_engine.cwd / "s.toml").write_text(HEAD + NULL + text)
    done = with_engine.call("check", "s.toml")
    assert done.returncode == 2
    assert what in done.stderr, done.stderr


def test_a_figure_that_divides_by_nothing_says_so(with_engine: Effio) -> None:
    (with_engine.cwd / "s.toml").write_text(
        HEAD + NULL + '[[figure]]\nname = "f"\ntitle = "f"\nunit = "1"\nvalue = "1 / (w - w)"\n'
        'earlier.w = { step = "a", access = "write" }\n'
    )
    done = with_engine.call("run", "s.toml", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "f: not known (" in done.stdout


def test_ctrl_c_ends_a_campaign_and_the_next_call_continues(
    with_engine: Effio, alive: Callable[[subprocess.Popen[str]], subprocess.Popen[str]]
) -> None:
    """Ctrl-C reaches the driver and all of its children, as a terminal sends it."""
    text = HEAD + (
        'options = { block = "4KiB", transfer = "4KiB", repetitions = 100000, name = "data" }\n'
        "[step.sweep]\norder-seed = [1, 2]\n"
    )
    (with_engine.cwd / "s.toml").write_text(text)
    process = alive(with_engine.start("run", "s.toml", "--quiet", "--max-bytes", "1TiB"))
    root = with_engine.cwd / "effio-runs"

    def measuring() -> bool:
        assert process.poll() is None, process.communicate()
        return any(f.stat().st_size > 10_000 for f in root.glob("2*/result.jsonl"))

    wait_for("a measurement", measuring)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == ExitCode.INTERRUPTED, out + err
    assert "left:" in out + err
    (run,) = root.glob("2*")
    assert json.loads((run / "run.json").read_text())["outcome"]["status"] == "interrupted"
    assert not list(Path(with_engine.cwd).glob("data*"))
    # The holder is gone, and the point is to be done again.
    (with_engine.cwd / "s.toml").write_text(text.replace("100000", "2"))
    again = with_engine.call("run", "s.toml", "--quiet", "--max-bytes", "1TiB")
    assert again.returncode == 0, again.stderr


def test_saturation_halves_the_ranks(with_engine: Effio) -> None:
    def ranks(given: int) -> list[int]:
        words = ("--ranks", given, "--scale", "0.0001", "--only", "step == 'load'", "--json")
        done = with_engine.call("plan", "@saturation", *words)
        return sorted({point["ranks"] for point in json.loads(done.stdout)})

    assert ranks(64) == [1, 2, 4, 8, 16, 32, 64]
    assert ranks(3) == [1, 3]
    assert ranks(200) == [3, 6, 12, 25, 50, 100, 200]


@pytest.mark.parametrize("file_system", ["lustre", "ext2/ext3"])
def test_blue_waters_sets_stripes_where_lustre_is(file_system: str, tmp_path: Path) -> None:
    for name, text in (("stat", f"echo {file_system}"), ("lfs", f'echo "$@" >> {tmp_path}/said')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    campaign = load_shipped("blue-waters")
    for step in ("ior-3-4", "flash-io"):
        for command in campaign.named(step).setup:
            words = [word.replace("{dir}", "/scratch/a b") for word in command]
            environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
            subprocess.run(words, env=environment, check=True, timeout=SECONDS)
    said = tmp_path / "said"
    lines = said.read_text().splitlines() if said.exists() else []
    wanted = ["setstripe -c 1 /scratch/a b", "setstripe -c 16 /scratch/a b"]
    assert lines == (wanted if file_system == "lustre" else [])
