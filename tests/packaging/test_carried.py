# SPDX-License-Identifier: BSD-3-Clause
"""Engines that a wheel carries: the one that fits the launcher is used, without a compiler.
`make test-setup` does the same in bare Debian systems, with engines that scripts/wheel made."""

from __future__ import annotations

import os
import re
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from effio.engine.carried import library_of, unpack
from effio.engine.discover import find_engine, find_engines
from effio.errors import EffioError, ExitCode
from engines import Engine
from installations import Installation, wheel_into

pytest.importorskip("hatchling", reason="hatchling is not installed (scripts/venv)")

_SAYS = {
    "openmpi": "mpiexec (OpenRTE) 4.1.4",
    "mpich": "HYDRA build details:\n    Version:  4.0.2",
    "other": "a launcher of another kind",
}


def _program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def _launcher(prefix: Path, kind: str) -> Path:
    return _program(prefix / "bin/mpiexec", f"echo '{_SAYS[kind]}'")


def _library(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


class Site:
    """A machine with these launchers on PATH, and an installation that carries two engines."""

    def __init__(self, place: Path, patch: pytest.MonkeyPatch) -> None:
        self.place, self.patch = place, patch
        self.carried = place / "carried"
        for family in ("openmpi", "mpich"):
            _program(self.carried / family / "effio-mpi", f"echo the engine for {family}")
        patch.setenv("EFFIO_DATA", str(place / "data"))
        for name in ("EFFIO_ENGINE", "EFFIO_MPIEXEC", "LD_LIBRARY_PATH"):
            patch.delenv(name, raising=False)
        # Neither this machine's launchers nor its libraries.
        patch.setattr(sys, "executable", str(place / "nowhere/python"))
        patch.setattr("effio.engine.carried._known_to_loader", lambda interface: None)
        patch.setattr("effio.engine.carried._CARRIED", self.carried)
        patch.setattr("effio.engine.discover.checkout", lambda: None)
        self.path()

    def path(self, *prefixes: Path) -> None:
        """These launchers and nothing else: the fake ones need no other program."""
        self.patch.setenv("PATH", ":".join(str(p / "bin") for p in prefixes) or "/nowhere")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(tmp_path, monkeypatch)


def _mpi(site: Site, name: str, kind: str, library: str) -> Path:
    prefix = site.place / name
    _launcher(prefix, kind)
    _library(prefix / library)
    return prefix


@pytest.mark.parametrize(
    ("kind", "library"),
    [
        ("openmpi", "lib/libmpi.so.40"),
        ("openmpi", "lib64/libmpi.so.40"),
        ("mpich", "lib/libmpi.so.12"),
        ("mpich", "lib/libmpich.so.12"),
        ("mpich", "lib/release/libmpi.so.12"),  # Intel MPI
    ],
)
def test_the_library_is_next_to_the_launcher(site: Site, kind: str, library: str) -> None:
    prefix = _mpi(site, "mpi", kind, library)
    assert library_of(str(prefix / "bin/mpiexec"), kind) == prefix / library
    other = "mpich" if kind == "openmpi" else "openmpi"
    assert library_of(str(prefix / "bin/mpiexec"), other) is None


def test_a_launcher_by_a_link_has_the_library_of_its_target(site: Site) -> None:
    prefix = _mpi(site, "mpi", "openmpi", "lib/libmpi.so.40")
    link = site.place / "module/bin/mpiexec"
    link.parent.mkdir(parents=True)
    link.symlink_to(prefix / "bin/mpiexec")
    assert library_of(str(link), "openmpi") == prefix / "lib/libmpi.so.40"


def test_the_loader_is_asked_last(site: Site) -> None:
    script = _launcher(site.place / "module", "mpich")
    other = _library(site.place / "elsewhere/libmpi.so.12")
    assert library_of(str(script), "mpich") is None
    site.patch.setenv("LD_LIBRARY_PATH", f":{other.parent}")
    assert library_of(str(script), "mpich") == other


def test_the_engine_that_fits_is_unpacked_once(site: Site) -> None:
    prefix = _mpi(site, "mpi", "openmpi", "lib/libmpi.so.40")
    site.path(prefix)
    first = find_engine()
    assert first.path.read_text() == (site.carried / "openmpi/effio-mpi").read_text()
    assert first.is_carried
    assert first.mpiexec == str(prefix / "bin/mpiexec")
    # The directory is linked: the library may look for its parts from where it was found.
    assert (first.path.parent / "mpi").readlink() == prefix / "lib"
    assert sorted(p.name for p in first.path.parent.iterdir()) == [
        "effio-mpi", "engine.json", "mpi", "sources.tar.gz",
    ]  # fmt: skip
    when = first.path.stat().st_mtime_ns
    again = find_engine()
    assert (again.name, again.path.stat().st_mtime_ns) == (first.name, when)
    assert len(list((site.place / "data/engines").iterdir())) == 1


def test_a_library_of_another_name_is_linked_by_the_right_one(site: Site) -> None:
    prefix = _mpi(site, "mpi", "mpich", "lib/libmpich.so.12")
    site.path(prefix)
    home = find_engine().path.parent
    assert (home / "libmpi.so.12").readlink() == prefix / "lib/libmpich.so.12"
    assert not (home / "mpi").exists()


def test_another_launcher_on_path_has_its_engine(site: Site) -> None:
    first = _mpi(site, "first", "openmpi", "lib/libmpi.so.40")
    second = _mpi(site, "second", "mpich", "lib/libmpi.so.12")
    site.path(first)
    assert find_engine().name.startswith("openmpi-carried-")
    site.path(second)
    assert find_engine().name.startswith("mpich-carried-")
    # Without a module there is still the one of the last time.
    site.path()
    assert find_engine().is_carried
    # An MPI that is gone takes its engine with it.
    shutil.rmtree(second)
    assert [e.name.split("-")[0] for e in find_engines()] == ["openmpi"]


def test_a_compiled_engine_comes_first(site: Site) -> None:
    site.path(_mpi(site, "mpi", "openmpi", "lib/libmpi.so.40"))
    home = site.place / "data/engines/openmpi-0123456789"
    _program(home / "effio-mpi", "echo compiled")
    (home / "engine.json").write_text('{"mpicc": "mpicc", "mpiexec": null}\n')
    os.utime(home / "effio-mpi", (0, 0))
    assert unpack() is not None  # newer, and yet second
    assert [e.is_carried for e in find_engines()] == [False, True]
    assert find_engine().name == "openmpi-0123456789"


def test_an_engine_on_path_comes_first(site: Site) -> None:
    prefix = _mpi(site, "mpi", "openmpi", "lib/libmpi.so.40")
    site.path(prefix)
    assert find_engine().is_carried
    own = _program(prefix / "bin/effio-mpi", "echo the site's own")
    assert [e.is_carried for e in find_engines()] == [False, True]
    assert find_engine().path == own


def test_a_directory_that_takes_no_engine_is_named(site: Site) -> None:
    site.path(_mpi(site, "mpi", "openmpi", "lib/libmpi.so.40"))
    (site.place / "data").write_text("a file")
    with pytest.raises(EffioError, match=re.escape(f"'{site.place}/data/engines'")) as raised:
        find_engine()
    assert "EFFIO_DATA" in raised.value.hint


@pytest.mark.parametrize(
    ("kind", "library", "said"),
    [
        ("openmpi", "lib/libmpi.so.12", "libmpi.so.40 is not next to it"),
        ("mpich", "lib/other.so", "libmpi.so.12 or libmpich.so.12 is not next to it"),
        ("other", "lib/libmpi.so.40", "does not say which MPI it belongs to"),
    ],
)
def test_it_says_why_none_fits(site: Site, kind: str, library: str, said: str) -> None:
    prefix = _mpi(site, "mpi", kind, library)
    site.path(prefix)
    with pytest.raises(EffioError, match=re.escape(said)) as raised:
        find_engine()
    assert raised.value.code == ExitCode.ENVIRONMENT
    assert str(prefix / "bin/mpiexec") in raised.value.message
    assert "effio engine build" in raised.value.hint


def test_an_engine_that_does_not_start_is_not_kept(site: Site) -> None:
    site.path(_mpi(site, "mpi", "openmpi", "lib/libmpi.so.40"))
    _program(site.carried / "openmpi/effio-mpi", "echo MPI_Something is missing >&2; exit 127")
    with pytest.raises(EffioError, match="MPI_Something is missing"):
        find_engine()
    assert not (site.place / "data/engines").exists()


def test_without_a_launcher_it_says_so(site: Site) -> None:
    site.path(site.place)
    with pytest.raises(EffioError, match=r"no launcher .* is on PATH"):
        find_engine()


def test_an_installation_without_engines_says_what_it_always_said(site: Site) -> None:
    shutil.rmtree(site.carried)
    site.path(_mpi(site, "mpi", "openmpi", "lib/libmpi.so.40"))
    with pytest.raises(EffioError, match=r"no engine is built here$"):
        find_engine()


def test_a_wheel_with_engines_runs_without_a_compiler(any_engine: Engine, tmp_path: Path) -> None:
    family = "openmpi" if "openmpi" in any_engine.mpiexec else "mpich"
    (tmp_path / "engines" / family).mkdir(parents=True)
    shutil.copy2(any_engine.program, tmp_path / "engines" / family / "effio-mpi")
    wheel = wheel_into(tmp_path, EFFIO_ENGINES=str(tmp_path / "engines"))
    # One wheel for each kind of machine: the oldest C library that has what the engine calls.
    assert re.search(rf"-py3-none-manylinux_2_\d+_{os.uname().machine}\.whl$", wheel.name)
    assert f"effio/engine/carried/{family}/effio-mpi" in zipfile.ZipFile(wheel).namelist()
    installed = Installation(tmp_path / "installed", wheel)
    installed.environment |= {"EFFIO_MPIEXEC": any_engine.mpiexec, "CXX": "no-compiler"}
    # The first command unpacks it, whatever that is.
    listed = installed.effio("engine", "list")
    (home,) = (installed.place / "share/effio/engines").iterdir()
    assert home.name.startswith(f"{family}-carried-")
    assert home.name in listed.stdout
    ran = installed.effio(
        "run", "b-eff-io", "--ranks", "2", "--backend", "sim", "--time", "0s",
        "--memory-per-rank", "256MiB", "--quiet",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
