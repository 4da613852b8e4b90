# SPDX-License-Identifier: BSD-3-Clause
"""scripts/setup on machines that are not this one: PATH holds a few chosen programs, and stand-ins
for what the machine may or may not have. `make test-setup` does it for real in bare systems."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from engines import ROOT
from patience import SECONDS
from run_tests import Steps

# What every Linux has. The script's own needs must not grow beyond it unnoticed.
EVERYWHERE = (
    "sh",
    "sed",
    "uname",
    "dirname",
    "cksum",
    "mkdir",
    "sort",
    "head",
    "rm",
    "mv",
    "chmod",
)

# Makes environments and installs "wheels" without a network, and notes each call.
PYTHON = """\
echo "python $*" >> "$LOG"
case "$*" in
--version) echo "Python 3.12.1" ;;
"-m venv "*)
    mkdir -p "$3/bin"
    printf '#!/bin/sh\\nexec "%s" --in "%s" "$@"\\n' "$0" "$3" > "$3/bin/python"
    chmod +x "$3/bin/python" ;;
"--in "*" -m pip install "*)
    [ -z "${NO_INDEX:-}" ] || exit 1
    for name; do :; done
    case "$name" in mpich) program=mpicc ;; *) program=$name ;; esac
    printf '#!/bin/sh\\necho "cmake version 4.1.0"\\n' > "$2/bin/$program"
    chmod +x "$2/bin/$program" ;;
esac
"""


@dataclass
class Site:
    """A checkout, and the programs of a machine."""

    root: Path

    @property
    def programs(self) -> Path:
        return self.root / "bin"

    @property
    def checkout(self) -> Path:
        return self.root / "checkout"

    def has(self, name: str, script: str = "exit 0\n") -> Path:
        program = self.programs / name
        program.unlink(missing_ok=True)
        program.write_text("#!/bin/sh\n" + script)
        program.chmod(0o755)
        return program

    def lacks(self, name: str) -> None:
        (self.programs / name).unlink()

    def set_up(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.checkout / "scripts/setup"],
            env={
                "PATH": str(self.programs),
                "HOME": str(self.root / "home"),
                "LOG": str(self.root / "log"),
                **environment,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def calls(self) -> list[str]:
        log = self.root / "log"
        return log.read_text().splitlines() if log.exists() else []

    def answer(self) -> dict[str, str]:
        lines = (self.checkout / ".deps/env").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A well-equipped one: Python, compiler, CMake, ninja, headers, and an MPI."""
    site = Site(tmp_path)
    site.programs.mkdir()
    (tmp_path / "home").mkdir()
    (site.checkout / "scripts").mkdir(parents=True)
    for name in ("setup", "headers"):
        shutil.copy2(ROOT / "scripts" / name, site.checkout / "scripts" / name)
    for name in EVERYWHERE:
        found = shutil.which(name)
        assert found is not None
        (site.programs / name).symlink_to(found)
    site.has("python3", PYTHON)
    site.has("c++", 'echo "c++ $*" >> "$LOG"\n')
    site.has("cmake", 'echo "cmake version 3.28.1"\n')
    site.has("ninja")
    site.has("mpicc")
    return site


def _refused(done: subprocess.CompletedProcess[str], text: str) -> None:
    """Asserts code 6 and one line that holds the text."""
    assert done.returncode == 6, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("effio set-up: ")
    assert text in line


def test_what_the_site_has_is_taken(site: Site) -> None:
    done = site.set_up()
    assert done.returncode == 0, done.stderr
    assert site.answer() == {
        "EFFIO_MPICC": str(site.programs / "mpicc"),
        "EFFIO_CMAKE": str(site.programs / "cmake"),
        "EFFIO_NINJA": str(site.programs / "ninja"),
        "EFFIO_HEADERS": "",
        "EFFIO_CXX": str(site.programs / "c++"),
    }
    assert not (site.checkout / ".venv").exists()


def test_a_second_call_looks_at_nothing(site: Site) -> None:
    site.set_up()
    before = site.calls()
    assert before != []
    done = site.set_up()
    assert (done.returncode, done.stderr) == (0, "")
    assert site.calls() == before


def test_another_module_is_noticed(site: Site) -> None:
    site.set_up()
    other = site.has("mpicc.other")
    site.set_up(MPICC="mpicc.other")
    assert site.answer()["EFFIO_MPICC"] == str(other)


def test_an_mpi_that_went_away_is_noticed(site: Site) -> None:
    site.set_up()
    site.lacks("mpicc")
    site.set_up()
    assert site.answer()["EFFIO_MPICC"] == str(site.checkout / ".venv/bin/mpicc")


@pytest.mark.parametrize(
    ("program", "script", "text"),
    [
        ("uname", "echo Darwin\n", "effio runs on Linux only; this is Darwin"),
        ("python3", None, "apt-get install python3 python3-venv"),
        (
            "python3",
            'case "$*" in --version) echo Python 3.9.2 ;; *version_info*) exit 1 ;; esac\n',
            "Python 3.9.2 is too old; 3.10 or later is needed",
        ),
        (
            "python3",
            'case "$*" in *ensurepip*) exit 1 ;; esac\n',
            "venv module is missing; on Debian or Ubuntu: apt-get install python3-venv",
        ),
        ("c++", None, "apt-get install g++ (or set CXX)"),
        ("c++", "exit 1\n", "c++ does not know C++20; GCC 11"),
    ],
)
def test_what_is_missing_is_said_in_one_line(
    site: Site, program: str, script: str | None, text: str
) -> None:
    site.lacks(program)
    if script is not None:
        site.has(program, script)
    _refused(site.set_up(), text)
    assert not (site.checkout / ".venv").exists()
    assert not (site.checkout / ".deps/env").exists()


@pytest.mark.parametrize("sign", ["MODULESHOME", "LMOD_CMD", "MODULEPATH"])
def test_where_modules_are_an_mpi_has_to_be_loaded(site: Site, sign: str) -> None:
    site.lacks("mpicc")
    _refused(site.set_up(**{sign: "/opt/modules"}), "module load")
    assert not (site.checkout / ".venv").exists()


def test_an_mpi_that_is_named_has_to_be_there(site: Site) -> None:
    _refused(site.set_up(MPICC="mpicc.nowhere"), "MPICC=mpicc.nowhere is not a program")


def test_crays_compiler_is_the_mpi_compiler(site: Site) -> None:
    site.lacks("mpicc")
    cc = site.has("cc")
    site.set_up(CRAYPE_VERSION="2.7", MODULEPATH="/opt/cray/modules")
    assert site.answer()["EFFIO_MPICC"] == str(cc)


def test_a_laptop_gets_wheels_in_the_checkout(site: Site) -> None:
    for program in ("mpicc", "cmake", "ninja"):
        site.lacks(program)
    done = site.set_up()
    assert done.returncode == 0, done.stderr
    tools = site.checkout / ".venv/bin"
    assert site.answer() | {"EFFIO_HEADERS": "", "EFFIO_CXX": ""} == {
        "EFFIO_MPICC": str(tools / "mpicc"),
        "EFFIO_CMAKE": str(tools / "cmake"),
        "EFFIO_NINJA": str(tools / "ninja"),
        "EFFIO_HEADERS": "",
        "EFFIO_CXX": "",
    }
    fetched = [call for call in site.calls() if "pip install" in call]
    assert [call.split()[-1] for call in fetched] == ["mpich", "cmake", "ninja"]
    # pip's cache would be outside the checkout.
    assert all("--no-cache-dir" in call for call in fetched)
    assert list((site.root / "home").iterdir()) == []


def test_an_old_cmake_is_replaced(site: Site) -> None:
    site.has("cmake", 'echo "cmake version 3.9.6"\n')
    site.set_up()
    assert site.answer()["EFFIO_CMAKE"] == str(site.checkout / ".venv/bin/cmake")


def test_without_a_network_the_page_on_that_is_named(site: Site) -> None:
    site.lacks("ninja")
    done = site.set_up(NO_INDEX="1")
    assert done.returncode == 6
    assert "could not fetch ninja; see docs/install.md" in done.stderr
    # Nothing half-done is taken for an answer by the next call.
    assert not (site.checkout / ".deps/env").exists()
    assert site.set_up().returncode == 0


# The compiler finds no fmt, unless the environment says where.
NO_HEADERS = """\
case "$*" in
*"-I "*good*) exit 0 ;;
*"-I "*) exit 1 ;;
esac
for file; do :; done
while read -r line; do case "$line" in *fmt*) exit 1 ;; esac; done < "$file"
"""


def test_headers_are_taken_from_where_they_are_said_to_be(site: Site) -> None:
    site.has("c++", NO_HEADERS)
    done = site.set_up(EFFIO_HEADERS="/opt/good")
    assert done.returncode == 0, done.stderr
    assert site.answer()["EFFIO_HEADERS"] == "/opt/good"
    _refused(site.set_up(EFFIO_HEADERS="/opt/bad"), "EFFIO_HEADERS=/opt/bad has no include/fmt")


def test_headers_come_from_debians_packages_once(site: Site) -> None:
    site.has("c++", NO_HEADERS)
    site.has(
        "apt-get", 'echo "$*" >> "$LOG"; : > libfmt-dev_9_x.deb; : > nlohmann-json3-dev_3_x.deb\n'
    )
    site.has("dpkg", 'mkdir -p "$3/usr/include/fmt" "$3/usr/include/nlohmann"\n')
    done = site.set_up()
    assert done.returncode == 0, done.stderr
    assert site.answer()["EFFIO_HEADERS"] == str(site.checkout / ".deps/headers/usr")
    assert sorted(p.name for p in (site.checkout / ".deps").iterdir()) == ["env", "headers"]
    site.set_up(PYTHON="python3")  # another environment: everything is looked at again
    assert [c for c in site.calls() if c.startswith("download")] == [
        "download -qq libfmt-dev nlohmann-json3-dev"
    ]


def test_missing_headers_that_nothing_can_fetch_are_said(site: Site) -> None:
    site.has("c++", NO_HEADERS)
    _refused(site.set_up(), "apt-get install libfmt-dev nlohmann-json3-dev")
    site.has("git")
    done = site.set_up()
    assert done.returncode == 0, done.stderr
    assert "CMake will fetch pinned releases" in done.stderr


# make run ----------------------------------------------------------------------------------------


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A checkout whose effio and whose build only show how they are called."""
    checkout = tmp_path / "checkout"
    (checkout / "scripts").mkdir(parents=True)
    (checkout / "bin").mkdir()
    shutil.copy2(ROOT / "scripts/run", checkout / "scripts/run")
    shown = '\nfor word; do echo "$word"; done\nexit ${CODE:-0}\n'
    for program in ("bin/effio", "bin/effio-mpi", "scripts/build"):
        (checkout / program).write_text(f"#!/bin/sh\necho {program}{shown}")
        (checkout / program).chmod(0o755)
    return checkout


def _run(checkout: Path, code: int = 0, **environment: str) -> list[str]:
    done = subprocess.run(
        [checkout / "scripts/run"],
        env={"PATH": os.environ["PATH"], "CODE": str(code), **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == code
    return done.stdout.splitlines()


def test_make_run_writes_inside_the_checkout(built: Path) -> None:
    assert _run(built) == ["bin/effio", "run", "quick", "--dir", "build/run-data"]
    assert (built / "build/run-data").is_dir()


def test_make_run_takes_another_place_and_size(built: Path, tmp_path: Path) -> None:
    place = str(tmp_path / "file system")
    words = _run(built, DIR=place, RANKS="3", TIME="5s", MAX_BYTES="1GiB")
    assert words == [
        *("bin/effio", "run", "quick", "--ranks", "3", "--time", "5s", "--max-bytes", "1GiB"),
        *("--dir", place),
    ]


def test_the_first_make_run_shows_the_card_before_the_rest_is_compiled(built: Path) -> None:
    (built / "bin/effio-mpi").unlink()
    card = ["bin/effio", "run", "quick", "--dir", "build/run-data"]
    assert _run(built) == [*card, "scripts/build", "release"]
    # After a card that failed or was stopped the rest is not compiled.
    assert _run(built, code=4) == card


def test_make_run_needs_the_whole_engine_only_where_it_is_kept(tmp_path: Path) -> None:
    """What make calls for `make run`, before and after the first whole build."""

    shutil.copy2(ROOT / "Makefile", tmp_path)

    def called() -> list[str]:
        done = subprocess.run(
            ["make", "-n", "run"],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
        return re.findall(r"scripts/.*", done.stdout)

    first = ["scripts/setup", "scripts/build --card release", "scripts/driver", "scripts/run"]
    assert called() == first
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/effio-mpi"
    program.symlink_to("../build/release/engine/effio-mpi")
    assert called() == first  # of an engine that was removed
    program.unlink()
    program.write_text("")
    program.chmod(0o755)
    assert called() == [word.replace("--card ", "") for word in first]


# the driver ---------------------------------------------------------------------------------------


def test_the_driver_is_installed_once(tmp_path: Path) -> None:
    """The second call of `make run` or `make build` asks pip for nothing; another version does."""
    (tmp_path / "scripts").mkdir()
    shutil.copy2(ROOT / "scripts/driver", tmp_path / "scripts/driver")
    (tmp_path / "scripts/plotly").write_text("#!/bin/sh\n")
    (tmp_path / "scripts/plotly").chmod(0o755)
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "VERSION").write_text("1\n")
    tools = tmp_path / ".venv/bin"
    tools.mkdir(parents=True)
    python = tools / "python"
    python.write_text(
        '#!/bin/sh\necho "$*" >> "$LOG"\n: > .venv/bin/effio\nchmod +x .venv/bin/effio\n'
    )
    python.chmod(0o755)
    log = tmp_path / "log"

    def call() -> int:
        subprocess.run(
            [tmp_path / "scripts/driver"],
            env={"PATH": os.environ["PATH"], "LOG": str(log)},
            timeout=SECONDS,
            check=True,
        )
        return len(log.read_text().splitlines())

    assert call() == 1
    assert "pip install" in log.read_text()
    assert (tmp_path / "bin/effio").resolve() == tools / "effio"
    assert call() == 1
    (tmp_path / "VERSION").write_text("2\n")
    assert call() == 2
    (tools / "effio").unlink()
    assert call() == 3


def test_every_source_of_an_engine_test_is_built() -> None:
    folder = ROOT / "tests" / "engine"
    listed = set(
        re.findall(r"^effio_test\(([\w/]+)", (folder / "CMakeLists.txt").read_text(), re.M)
    )
    sources = {
        path.relative_to(folder).as_posix().removesuffix("_test.cpp")
        for path in folder.rglob("*_test.cpp")
    }
    assert sources == listed


def test_the_table_of_steps_has_when_each_began_and_how_long_it_took(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setattr("run_tests.time.monotonic", lambda: now[0])

    def compile_for(seconds: float, name: str) -> str:
        now[0] += seconds
        return name

    steps = Steps(begin=90)
    assert steps.timed("compile with mpich", compile_for, 222.4, name="mpich") == "mpich"
    assert steps.rows == ["  begins    takes  step", "    10 s    222 s  compile with mpich"]


def test_every_test_that_sanitize_names_exists() -> None:
    """ctest leaves out silently what no longer has a name."""
    lists = re.findall(
        r"^threads(?:_and_mpi)?='([^']*)'",
        (ROOT / "scripts/sanitize").read_text(),
        re.MULTILINE,
    )
    named = [name for names in lists for name in names.split()]
    of_ctest = re.findall(
        r"^effio_test\((\S+?)[ )]", (ROOT / "tests/engine/CMakeLists.txt").read_text(), re.MULTILINE
    )
    assert len(lists) == 2
    assert [name for name in named if name not in {t.replace("/", "_") for t in of_ctest}] == []
