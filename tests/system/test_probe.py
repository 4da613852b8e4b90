# SPDX-License-Identifier: BSD-3-Clause
"""probe from the outside: its limits in virtual time, and whole runs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engines import Engine
from results import Result

KIB, MIB = 1 << 10, 1 << 20
SIZES = ("--size", "256KiB", "--reads", "8")
SMALL = (*SIZES, "--names", "5", "--memory", "1MiB", "--time", "20ms")
STORAGE = [
    *(f"stream {access}, {who} process{'' if who == 'one' else 'es'}"
      for who in ("all", "one") for access in ("write", "read")),
    "random reads of 4 KiB",
]  # fmt: skip
NAMES = ["files created", "files looked up", "files removed"]
MEMORY = ["memory copy, one process", "memory copy, a node"]
MESSAGES = ["message, one way", "messages, a pair", "messages, ring", "messages, random ring"]


def _limits(result: Result) -> dict[str, Any]:
    return {f["where"]["limit"]: f for f in result.figures if f["name"].endswith("_limit")}


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_the_limits_of_a_model(any_engine: Engine, ranks: int, tmp_path: Path, data: Path) -> None:
    """A rank has 100 MB/s, all together 150 MB/s; 1 ms a call, 2 ms for a name, 5 us a message."""
    model = "rank-rate=100MB/s,shared-rate=150MB/s,latency=1ms,metadata=2ms"
    model += ",message-latency=5us,message-rate=1GB/s"
    words = ["probe", "--backend", "sim", "--backend-options", model, *SIZES, "--names", "5"]
    run = any_engine.run([*words, "--time", "1s", "--dir", data], tmp_path, ranks=ranks)
    assert run.code == 0, run
    limits = _limits(run.result)
    assert set(limits) == {*STORAGE, *NAMES, *MEMORY, *MESSAGES}
    value = {name: f["metric"]["value"] for name, f in limits.items()}
    share = min(100e6, 150e6 / ranks)
    for access in ("write", "read"):
        one = 256 * KIB / (1e-3 + 256 * KIB / 100e6)
        assert value[f"stream {access}, one process"] == pytest.approx(one)
        together = ranks * 256 * KIB / (1e-3 + 256 * KIB / share)
        assert value[f"stream {access}, all processes"] == pytest.approx(together)
    reads = ranks / (1e-3 + 4 * KIB / share)
    assert value["random reads of 4 KiB"] == pytest.approx(reads)
    for name in NAMES:
        assert value[name] == pytest.approx(ranks / 2e-3)
    for name in MEMORY:
        assert limits[name]["metric"]["reason"] == "time is virtual"
    if ranks == 1:
        for name in MESSAGES:
            assert "no other one to send to" in limits[name]["metric"]["reason"]
        return
    assert value["message, one way"] == pytest.approx(5e-6 + 8 / 1e9)
    assert value["messages, a pair"] == pytest.approx(2e6 / (5e-6 + 2e6 / 1e9))


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_whole_run(any_engine: Engine, ranks: int, tmp_path: Path, data: Path) -> None:
    run = any_engine.run(["probe", *SMALL, "--dir", data], tmp_path, ranks=ranks)
    assert run.code == 0, run
    limits = _limits(run.result)
    assert set(limits) == {*STORAGE, *NAMES, *MEMORY, *MESSAGES}
    for name in [*STORAGE, *NAMES, *MEMORY, *(MESSAGES if ranks > 1 else ())]:
        assert limits[name]["metric"]["value"] > 0, name
        assert name in run.stdout
    for name in STORAGE:
        assert limits[name]["detail"]["processes"] == (1 if "one" in name else ranks)
        assert limits[name]["detail"]["backend"] in ("direct", "posix")
    assert 1 * ranks <= limits["files created"]["detail"]["files"] <= 5 * ranks
    small = run.result.rows(pattern="small reads")
    assert [(m["bytes"], m["operations"]) for m in small] == [(ranks * 8 * 4096, ranks * 8)] * 2
    for m in run.result.measurements:
        assert m["verified_bytes"] == (m["bytes"] if m["access"] == "read" else 0)
        assert m["error_count"] == 0
    stems = {entry["name"] for entry in run.result.run["manifest"]["files"]}
    assert any("probe_name" in stem for stem in stems)
    assert list(data.iterdir()) == []


def test_many_operations_in_a_second_are_printed_in_full(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = ["probe", "--backend", "sim", "--backend-options", "metadata=10us", *SIZES]
    run = any_engine.run([*words, "--names", "5", "--dir", data], tmp_path, ranks=1)
    assert run.code == 0, run
    assert re.search(r"^ *files created +100000 op/s", run.stdout, re.MULTILINE), run.stdout


def test_what_is_in_the_way_is_not_touched(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """One of the names that it would create exists: nothing is measured, and it stays."""
    words = ["probe", *SMALL, "--dir", data]
    (data / "probe_name.000003").write_text("mine")
    run = any_engine.run(words, tmp_path, ranks=1)
    assert run.code != 0, run
    assert "probe_name.000003" in run.stderr, run
    assert [f.name for f in data.iterdir()] == ["probe_name.000003"]
    assert (data / "probe_name.000003").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--size", "5000B"], "is not a multiple of 4KiB"),
        (
            ["--size", "256KiB", "--reads", "65"],
            "--reads: 65 of 4KiB are more than the 256KiB of --size",
        ),
        (["--reads", "0"], "--reads"),
        (["--prefix", "a/b"], "--prefix"),
        (["--keep"], "--keep"),
        (["--names", "1000000", "--plan-ranks", "3000"], "--names: 1000000 of each of 3000 ranks"),
    ],
)
def test_what_is_refused(
    any_engine: Engine, words: list[str], message: str, tmp_path: Path, data: Path
) -> None:
    run = any_engine.alone(["probe", *words, "--plan", "--dir", data], tmp_path)
    assert run.code == 2, run
    assert message in run.stderr, run


def test_nothing_measured_makes_no_table(any_engine: Engine, tmp_path: Path) -> None:
    run = any_engine.run(["probe", *SMALL, "--dir", "/proc"], tmp_path)
    assert run.code == 3, run
    assert "cannot plan the run in /proc" in run.stderr
    assert "Limits" not in run.stdout


def test_a_file_system_without_a_way_past_the_cache(
    any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    place = mount("-t", "ramfs", "none")
    try:
        os.close(os.open(place / "try", os.O_CREAT | os.O_WRONLY | os.O_DIRECT))
        pytest.skip("ramfs takes O_DIRECT here")
    except OSError:
        (place / "try").unlink(missing_ok=True)
    run = any_engine.run(["probe", *SMALL, "--max-bytes", "1GiB", "--dir", place], tmp_path)
    assert run.code == 0, run
    limits = _limits(run.result)
    for name in STORAGE:
        assert limits[name]["metric"]["value"] > 0
        assert limits[name]["detail"]["backend"] == "posix"
    assert list(place.iterdir()) == []
