# SPDX-License-Identifier: BSD-3-Clause
"""Engines side by side: named, chosen, and as an axis of a campaign."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from driver.conftest import Effio
from effio.engine import discover
from engines import Engine
from results import load

HEAD = 'title = "t"\npurpose = "p"\n[[step]]\nname = "a"\nbenchmark = "ior"\nranks = 2\n'


def _install(effio: Effio, name: str, engine: Engine) -> Path:
    """Installs an engine as `effio engine build` leaves it."""
    folder = Path(effio.environment["XDG_DATA_HOME"]) / "effio/engines" / name
    folder.mkdir(parents=True)
    (folder / "effio-mpi").symlink_to(engine.program)
    (folder / "engine.json").write_text(json.dumps({"mpiexec": engine.mpiexec}))
    return folder


@pytest.fixture
def both(effio: Effio, engines: Mapping[str, Engine]) -> Effio:
    for flavour in ("openmpi-ompio", "mpich"):
        if flavour not in engines:
            pytest.skip(f"no engine of flavour {flavour} is built here")
        _install(effio, f"{flavour.partition('-')[0]}-0123456789", engines[flavour])
    return effio


def test_engines_are_an_axis(both: Effio) -> None:
    (both.cwd / "s.toml").write_text(
        HEAD + 'options = { backend = "null", block = "1MiB" }\n'
        '[step.sweep]\nengine = ["openmpi", "mpich"]\n'
    )
    done = both.call("run", "s.toml", "--quiet")
    assert done.returncode == 0, done.stdout + done.stderr
    asked = {}
    for run in sorted((both.cwd / "effio-runs").glob("2*")):
        record = json.loads((run / "run.json").read_text())
        line = load(run / "result.jsonl").run
        assert line["system"]["ranks"] == 2
        asked[record["campaign"]["axes"]["engine"]] = line["system"]["mpi"]["library"]
    assert asked["openmpi"].startswith("Open MPI")
    assert asked["mpich"].startswith("MPICH")
    table = both.call("table", "s", "--value", "write", "--across", "engine")
    assert "engine=mpich" in table.stdout
    assert "2 of 2 runs are done already" in both.call("run", "s.toml", "--quiet").stderr


def test_one_is_chosen(both: Effio) -> None:
    def used() -> str:
        lines = both.call("engine", "list").stdout.splitlines()
        (line,) = [line for line in lines if line.startswith("*")]
        return line.split()[1]

    for name in ("openmpi", "mpich"):
        done = both.call("engine", "use", name)
        assert done.stdout.startswith(f"in use: {name}-0123456789 ("), done.stderr
        assert used() == f"{name}-0123456789"
    other = both.call("engine", "use", "openmpi", env={"EFFIO_ENGINE": "/elsewhere"})
    assert "but /elsewhere counts first, given by EFFIO_ENGINE" in other.stderr
    assert both.call("engine", "use", "--none").returncode == 0
    # One that was chosen and is missing is reported, not passed over.
    both.call("engine", "use", "mpich")
    gone = Path(both.environment["XDG_DATA_HOME"]) / "effio/engines/mpich-0123456789"
    gone.rename(gone.with_name("openmpi-other"))
    done = both.call("list")
    assert done.returncode == 6
    assert "no engine 'mpich-0123456789' (chosen by effio engine use)" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        ((), 2, "name an engine, or undo the choice with --none"),
        (("x", "--none"), 2, "name an engine, or undo the choice with --none"),
        (("nothing",), 6, "no engine 'nothing' (to be used)"),
    ],
)
def test_what_cannot_be_chosen(words: tuple[str, ...], code: int, what: str, effio: Effio) -> None:
    done = effio.call("engine", "use", *words)
    assert (done.returncode, what in done.stderr) == (code, True), done.stderr


def test_a_damaged_choice_is_none(with_engine: Effio) -> None:
    place = Path(with_engine.environment["XDG_DATA_HOME"]) / "effio"
    place.mkdir(parents=True)
    for text in ("", "[]", '{"engine": 3}', '{"engine": ""}'):
        (place / "engine.json").write_text(text)
        assert with_engine.call("list", "--names").returncode == 0


def test_a_campaign_that_names_an_engine_that_is_not_here(with_engine: Effio) -> None:
    (with_engine.cwd / "s.toml").write_text(HEAD + 'engine = "cray"\n')
    done = with_engine.call("plan", "s.toml")
    assert done.returncode == 6
    assert "no engine 'cray' (requested by the campaign)" in done.stderr


# Every command that takes an engine where no option names one.
WITH_AN_ENGINE = (
    ("list",),
    ("describe", "ior"),
    ("man", "pages"),
    ("check", "quick"),
    ("plan", "quick"),
    ("run", "ior", "--print-command"),
    ("run", "quick", "--scale", "16"),
    ("doctor",),
    ("engine", "list"),
    ("init",),
)


@pytest.mark.parametrize("words", WITH_AN_ENGINE, ids=" ".join)
def test_the_site_names_an_engine_for_every_command(both: Effio, words: tuple[str, ...]) -> None:
    site = Path(both.environment["XDG_CONFIG_HOME"]) / "effio/site.toml"
    site.parent.mkdir(parents=True)
    site.write_text('[launch]\nengine = "cray"\n')
    done = both.call(*words)
    assert "no engine 'cray' (named by the site's settings)" in " ".join(
        (done.stdout + done.stderr).split()
    )
    for written in both.cwd.glob("*.toml"):  # by init, which overwrites nothing
        written.unlink()
    # The variable is of this call, the file of all calls.
    done = both.call(*words, env={"EFFIO_ENGINE": "fjord"})
    assert "no engine 'fjord' (given by EFFIO_ENGINE)" in " ".join(
        (done.stdout + done.stderr).split()
    )


def test_the_list_shows_an_engine_that_is_named_by_its_path(
    both: Effio, engines: Mapping[str, Engine]
) -> None:
    program = both.cwd / "elsewhere/effio-mpi"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {engines["mpich"].program} "$@"\n')
    program.chmod(0o755)
    lines = both.call("engine", "list", env={"EFFIO_ENGINE": str(program)}).stdout.splitlines()
    (used,) = [number for number, line in enumerate(lines) if line.startswith("*")]
    assert str(program) in " ".join(lines[used : used + 4])


def test_doctor_tries_the_launcher_of_the_site(both: Effio) -> None:
    Path(both.cwd / "effio-site.toml").write_text('[launch]\nlauncher = "/nowhere/mpiexec"\n')
    done = both.call("doctor")
    assert done.returncode == 6
    said = "launcher /nowhere/mpiexec (named by the site's settings): neither a program"
    assert said in " ".join(done.stdout.split())


def test_an_option_a_variable_the_site_and_a_choice_count_in_this_order(both: Effio) -> None:
    """Of the engine and of its launcher alike."""

    def said(*options: str, variable: str = "", **more: str) -> str:
        words = ("run", "ior", "--backend", "null", "-n", "1", "--print-command", *options)
        named = {"EFFIO_ENGINE": more["engine"]} if "engine" in more else {}
        named |= {"EFFIO_MPIEXEC": variable} if variable else {}
        done = both.call(*words, env=named)
        return " ".join((done.stdout + done.stderr).split())

    assert "nowhere" not in said()
    (both.cwd / "effio-site.toml").write_text('[launch]\nlauncher = "/nowhere/site"\n')
    assert "launcher /nowhere/site (named by the site's settings): neither" in said()
    assert "launcher /nowhere/variable (given by EFFIO_MPIEXEC): neither" in said(
        variable="/nowhere/variable"
    )
    assert "--launcher /nowhere/option: neither" in said(
        "--launcher", "/nowhere/option", variable="/nowhere/variable"
    )
    (both.cwd / "effio-site.toml").write_text('[launch]\nengine = "site"\n')
    assert "no engine 'site' (named by the site's settings)" in said()
    assert "no engine 'variable' (given by EFFIO_ENGINE)" in said(engine="variable")
    assert "no engine 'option' (given by --engine)" in said("--engine", "option", engine="variable")


def test_doctor_reports_settings_that_are_faulty(both: Effio) -> None:
    Path(both.cwd / "effio-site.toml").write_text('[launch]\nlancher = "srun"\n')
    done = both.call("doctor")
    assert done.returncode == 6
    assert "lancher" in done.stdout
    assert "Python" in done.stdout


def test_a_checkout_has_the_engine_of_the_card_before_the_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discover, "checkout", lambda: tmp_path)
    monkeypatch.setattr(discover, "installed", list)
    monkeypatch.setenv("PATH", "")

    def program(name: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return path

    launcher = program(".venv/bin/mpiexec")
    assert discover.find_engines() == []
    (tmp_path / ".deps").mkdir()
    (tmp_path / ".deps/env").write_text(f"EFFIO_MPICC={tmp_path}/.venv/bin/mpicc\n")
    card = program("build/release/engine/effio-card")
    # The launcher of its MPI, which need not be on PATH.
    found = [(engine.path, engine.mpiexec) for engine in discover.find_engines()]
    assert found == [(card, str(launcher))]
    whole = program("build/release/engine/effio-mpi")
    assert discover.find_engine().path == card
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/effio-mpi").symlink_to(whole)
    assert [engine.path for engine in discover.find_engines()] == [tmp_path / "bin/effio-mpi"]
