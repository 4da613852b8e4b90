# SPDX-License-Identifier: BSD-3-Clause
"""`effio profile` of a form: the steps that imitate an activity, and their campaign."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from driver.conftest import Effio
from driver.profiles import ACTIVITY, HEAD, MIB
from driver.profiles import activity as _activity
from driver.profiles import profile as _profile
from effio.campaign.file import Campaign
from effio.campaign.file import load as load_campaign
from effio.engine.program import Engine as Program
from effio.errors import EffioError
from effio.profile import form
from effio.profile.campaign import Imitated, campaign_table, campaign_text
from effio.profile.model import Names
from effio.profile.steps import Imitation, imitate, not_imitated
from engines import Engine


def _step(**more: Any) -> Imitation:
    (step,) = imitate(_profile(_activity(**more)))
    return step


# What imitates -----------------------------------------------------------------------------------


def test_ior_in_one_piece() -> None:
    step = _step(flush=True)
    assert step.benchmark == "ior"
    assert step.bytes_of_a_rank == 2 * MIB  # 16 MiB of 8 processes
    assert step.options == {
        "backend": "posix", "files": "shared", "transfer": "1048576B",
        "block": "{multiple(scale * 2097152, 1048576)}", "phases": "write",
    }  # fmt: skip


def test_ior_in_many_pieces() -> None:
    step = _step(
        layout="strided", piece=128 << 10, transfer=64 << 10, library="mpi-io", collective=1.0
    )
    # 2 MiB of a process in pieces of two calls: sixteen of them.
    assert step.options == {
        "backend": "mpiio", "files": "shared", "transfer": "65536B", "block": "131072B",
        "segments": "{max(1, round(scale * 16))}", "collective": True, "phases": "write",
    }  # fmt: skip
    assert step.missing == ()


def test_ior_of_files_of_processes_that_read_at_random() -> None:
    step = _step(access="read", files="per-process", layout="random", transfer=4096)
    assert step.options == {
        "backend": "posix", "files": "per-process", "transfer": "4096B",
        "block": "{multiple(scale * 2097152, 4096)}", "order": "shuffled",
        "read-from": "shifted", "drop-cache": True,
    }  # fmt: skip


def test_ior_of_fewer_processes() -> None:
    assert _step(ranks=4).ranks == "{max(1, round(ranks * 4 / 8))}"
    assert _step(ranks=4).bytes_of_a_rank == 4 * MIB
    alone = _step(files="one-process")
    assert (alone.ranks, alone.bytes_of_a_rank) == ("1", 16 * MIB)
    assert alone.options["files"] == "per-process"


def test_flash_io_for_arrays_in_a_file() -> None:
    step = _step(library="hdf5", variables=24, collective=1.0, flush=True, transfer=None)
    assert step.benchmark == "flash-io"
    # 2 MiB of a process; a block of 4³ cells has 24 * 8 * 64 + 164 = 12,452 bytes: 168 blocks, of
    # which the benchmark adds one itself.
    assert step.options == {
        "backend": "hdf5", "files": "checkpoint", "cells": 4,
        "blocks": "{max(1, round(scale * 167))}", "access": "collective", "fsync": "on",
    }  # fmt: skip
    assert step.measures[0].member == "synced_bandwidth_bytes_per_second"
    restart = _step(library="netcdf", access="read", variables=3)
    assert restart.options["backend"] == "netcdf4"
    assert restart.options["read"] == "checkpoint"
    assert restart.measures[0].member == ""
    assert "24 arrays in place of 3" in restart.missing


def test_tile_io_for_tiles() -> None:
    step = _step(library="mpi-io", layout="tiles", piece=4096, collective=0.9)
    assert step.benchmark == "tile-io"
    # Rows of 512 eight-byte elements; 2 MiB have 512 of them.
    assert step.options == {
        "backend": "mpiio", "sz-element": "8B", "sz-tile-x": 512,
        "sz-tile-y": "{max(1, round(scale * 512))}", "calls": "collective", "fsync": "inside",
        "drop-cache": "on", "phases": "write",
    }  # fmt: skip


def test_pio_for_calls_of_many_pieces() -> None:
    step = _step(library="mpi-io", layout="strided", piece=4096, transfer=64 << 10, collective=1.0)
    assert step.benchmark == "pio"
    # 2 MiB of a process are 512 pieces, each next to those of the other processes.
    assert step.options == {
        "levels": "4096B*{max(1, round(scale * 512))}/{ranks * 4096}B", "rank-stride": "4096B",
        "by": "type", "calls": "collective", "temporal": "write",
    }  # fmt: skip
    assert step.missing == ("calls of 64 KiB: one moves all of a process",)
    # A call that moves a part of a piece needs no datatype.
    assert _step(library="mpi-io", layout="strided", piece=4096, transfer=4096).benchmark == "ior"
    assert _step(layout="strided", piece=4096, transfer=64 << 10).benchmark == "ior"


def test_mdtest_for_names() -> None:
    (step,) = imitate(_profile(names=Names(creates=800, stats=1600, own_directories=True)))
    assert step.benchmark == "mdtest"
    assert step.options == {
        "things": "files", "items": "{max(1, round(scale * 200))}", "unique": True,
    }  # fmt: skip
    assert [(m.phase, m.amount) for m in step.measures] == [
        ("File creation", 800), ("File stat", 1600),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"library": "adios"}, "ADIOS by POSIX calls"),
        ({"library": "netcdf"}, "NetCDF-4 by HDF5"),
        ({"library": "stdio"}, "STDIO by POSIX calls"),
        ({"transfer": None}, "the size of its calls is not known"),
        ({"transfer": 3 * MIB, "library": "mpi-io"}, "calls of 2 MiB in place of 3 MiB"),
        ({"transfer": 1001, "library": "hdf5"}, "calls of 1000 B in place of 1001 B"),
        ({"collective": 0.7, "library": "mpi-io"}, "the 30 % of its calls that are independent"),
        ({"collective": 0.3, "library": "mpi-io"}, "the 30 % of collective calls"),
        ({"collective": 1.0}, "collective calls: the backend posix has none"),
        ({"aligned": 0.25}, "alignment: 75 % of its calls"),
        ({"transfer_share": 0.5}, "calls of other sizes, which move 50 %"),
        ({"library": "hdf5", "layout": "random"}, "the random order"),
        ({"library": "pnetcdf", "layout": "strided", "piece": 8, "transfer": 8}, "262144 pieces"),
    ],
)
def test_what_is_not_imitated_is_said(more: dict[str, Any], said: str) -> None:
    assert any(said in line for line in _step(**more).missing)


def test_what_is_never_imitated() -> None:
    profile = _profile(_activity(), unknown=("the weather",))
    reported = not_imitated(profile, imitate(profile))
    assert reported[0] == "not known: the weather"
    assert "computation" in reported[-1]


def test_two_steps_never_have_one_name() -> None:
    steps = imitate(_profile(_activity(name="names"), names=Names(creates=1)))
    assert [step.name for step in steps] == ["names", "names-2"]


def test_a_log_shows_more_than_is_worth_a_step() -> None:
    large, small = _activity(bytes=1 << 40, seconds=1.0), _activity(name="s", bytes=10, transfer=1)
    both = (large, small)
    assert len(imitate(_profile(*both, source="darshan"))) == 1
    assert len(imitate(_profile(*both, source="questionnaire"))) == 2
    slow = _activity(name="s", bytes=10, transfer=1, seconds=1.0)
    assert len(imitate(_profile(large, slow, source="darshan"))) == 2


EVERY_KIND: list[dict[str, Any]] = [
    {"name": "checkpoint", "library": "hdf5", "variables": 24, "collective": 1.0},
    {"name": "restart", "library": "pnetcdf", "variables": 24, "access": "read"},
    {"name": "plane", "library": "mpi-io", "layout": "tiles", "piece": 4096, "collective": 0.9},
    {"name": "screen", "layout": "tiles", "access": "read"},
    {"name": "series", "library": "mpi-io", "layout": "strided", "piece": 65536, "transfer": 65536},
    {"name": "view", "library": "mpi-io", "layout": "strided", "piece": 4096, "collective": 1.0},
    {"name": "scratch", "access": "read", "files": "per-process", "layout": "random"},
    {"name": "container", "library": "sionlib"},
    {"name": "one", "library": "hdf5", "access": "read", "transfer": 100_001},
    {"name": "log", "library": "stdio", "files": "one-process", "transfer": 1000, "flush": False},
    {"name": "few", "library": "adios", "ranks": 2, "files": "per-process"},
]


def test_the_campaign_is_checked_planned_and_run(with_engine: Effio, any_engine: Engine) -> None:
    """A real, small run of every benchmark that may be in it."""
    backends = Program(any_engine.program, "of the test").info.backends
    missing = [b.name for b in backends if b.name in ("hdf5", "pnetcdf", "sion") and b.missing]
    if missing:
        pytest.skip(f"not in this engine: {', '.join(missing)}")
    profile = _profile(
        *(_activity(bytes=MIB, **{"transfer": 65536, **more}) for more in EVERY_KIND),
        names=Names(creates=80, stats=80),
        seconds=60,
        io_share=0.5,
    )
    (with_engine.cwd / "f.toml").write_text(form.filled(profile))
    words = ("profile", "f.toml", "--campaign", "c.toml", "--repetitions", "1")
    done = with_engine.call(*words)
    assert done.returncode == 0, done.stderr
    assert "not measured yet" in done.stdout
    for command in (("check", "c.toml"), ("plan", "c.toml", "--ranks", "2")):
        done = with_engine.call(*command)
        assert done.returncode == 0, done.stderr
        assert "29 points, 29 runs" in done.stdout
    before = set(with_engine.cwd.iterdir())
    # Every benchmark at its size, two of them at all sizes.
    fewer = "scale < 1 and not step in ['plane', 'few']"
    done = with_engine.call("run", "c.toml", "--ranks", "2", "--quiet", "--skip", fewer)
    assert done.returncode == 0, done.stdout + done.stderr
    made_here = {path.name for path in set(with_engine.cwd.iterdir()) - before}
    assert made_here == {"effio-runs"}
    done = with_engine.call("profile", "f.toml", "--json", "--page", "p.html")
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)["prediction"]
    assert [step["step"] for step in reported["steps"]] == [
        *(more["name"] for more in EVERY_KIND), "names", "names",
    ]  # fmt: skip
    assert all(step["rate"] > 0 for step in reported["steps"]), reported
    # One size of most: no answer, and why. Of the others one run of each size: no interval.
    assert reported["io_share"] is None
    known = {s["step"] for s in reported["steps"] if s["seconds"] is not None}
    # `log` has one process at the size of the application.
    assert known == {"plane", "few", "log"}
    assert all("at one size" in s["reason"] for s in reported["steps"] if s["step"] not in known)
    assert all(s["seconds_low95"] is None for s in reported["steps"])
    page = (with_engine.cwd / "p.html").read_text()
    assert "I/O profile of code" in page
    # Another size of a call is another step: what was measured is not its rate.
    text = (with_engine.cwd / "f.toml").read_text().replace("transfer = 65536", "transfer = 32768")
    (with_engine.cwd / "f.toml").write_text(text)
    done = with_engine.call("profile", "f.toml", "--json")
    rates = {s["step"]: s["rate"] for s in json.loads(done.stdout)["prediction"]["steps"]}
    assert rates["scratch"] is None
    assert rates["names"] is not None


def test_the_written_campaign_is_one(tmp_path: Path) -> None:
    profile = _profile(_activity(), application="a 'name'\nwith \x1b[1m\"all\" #")
    steps = imitate(profile)
    missing = [*not_imitated(profile, steps), "a line\n[[step]]"]
    path = tmp_path / "c.toml"
    path.write_text(campaign_text([Imitated(profile, steps, missing)], 5))
    campaign, _ = load_campaign(path)
    table = campaign_table(profile, steps, 5)
    assert campaign == Campaign.model_validate({"name": "c", **table})
    assert (campaign.repetitions, len(campaign.step)) == (5, 1)
    assert campaign.step[0].tags == (steps[0].tag,)


def test_nothing_is_left_to_imitate() -> None:
    profile = _profile(names=Names(opens=3), source="darshan")
    assert imitate(profile) == []
    with pytest.raises(EffioError, match="nothing to imitate"):
        campaign_text([Imitated(profile, [], [])], 1)


def test_files_that_are_there_stay(effio: Effio) -> None:
    (effio.cwd / "f.toml").write_text(HEAD + ACTIVITY)
    (effio.cwd / "c.toml").write_text("mine")
    done = effio.call("profile", "f.toml", "--campaign", "c.toml")
    assert done.returncode == 2
    assert "c.toml exists" in done.stderr
    assert (effio.cwd / "c.toml").read_text() == "mine"
    assert effio.call("profile", "f.toml", "--campaign", "c.toml", "--force").returncode == 0
    done = effio.call("profile", "f.toml", "--save", "no/such/place.toml")
    assert done.returncode == 3
    done = effio.call("profile", "--json")
    assert done.returncode == 2


def test_several_applications_in_one_call(with_engine: Effio) -> None:
    """Which libraries they use, and one campaign from all of them."""
    effio = with_engine
    codes = {
        "code A": _profile(_activity(library="hdf5"), _activity(name="in", access="read")),
        "code B": _profile(_activity(library="hdf5", bytes=4 * MIB), ranks=2),
        "code C": _profile(_activity(library="mpi-io", collective=1.0), io_share=0.25),
    }
    files = []
    for name, one in codes.items():
        files.append(f"{name[-1]}.toml")
        text = form.filled(one.model_copy(update={"application": name}))
        (effio.cwd / files[-1]).write_text(text)
    words = ("--campaign", "all.toml", "--page", "page.html", "--format", "csv")
    done = effio.call("profile", *files, *words)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith(("hdf5,", "posix,", "mpi-io,"))][:3] == [
        'hdf5,2,0.6666666666666666,"code A, code B"',
        "posix,1,0.3333333333333333,code A",
        "mpi-io,1,0.3333333333333333,code C",
    ]
    assert any(line.startswith("code C,8,3600.0,mpi-io,shared,") for line in lines)
    page = (effio.cwd / "page.html").read_text()
    assert "I/O libraries of the applications" in page
    for name in codes:
        heading = f"I/O profile of {name}"
        anchor = f"r0-part-i-o-profile-of-{name.lower().replace(' ', '-')}"
        assert f'<h2 id="{anchor}" class="part">{heading}</h2>' in page
        assert f'<a href="#{anchor}">{heading}</a>' in page
    reported = effio.call("profile", *files, "--all").stdout
    assert "\nI/O profile of code B:\n" in reported
    assert "transfer=1MiB" in reported
    campaign, _ = load_campaign(effio.cwd / "all.toml")
    steps = {step.name: step.ranks for step in campaign.step}
    assert steps == {
        "code-A-out": "{min(ranks, 8)}", "code-A-in": "{min(ranks, 8)}",
        "code-B-out": "{min(ranks, 2)}", "code-C-out": "{min(ranks, 8)}",
    }  # fmt: skip
    checked = effio.call("check", "all.toml")
    assert checked.returncode == 0, checked.stderr
    planned = json.loads(effio.call("plan", "all.toml", "--ranks", 4, "--json").stdout)
    assert {point["step"]: point["ranks"] for point in planned}["code-B-out"] == 2
    assert effio.call("profile", *files, "--save", "x.toml").returncode == 2
