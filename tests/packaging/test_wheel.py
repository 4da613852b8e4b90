# SPDX-License-Identifier: BSD-3-Clause
"""effio as a package: what its wheel carries, and that it works where it is installed, with and
without an MPI. `make test-setup` also compiles the engine out of a wheel."""

from __future__ import annotations

import ast
import email
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from driver import made
from engines import ROOT, Engine
from installations import Installation, wheel_into
from patience import SECONDS

pytest.importorskip("hatchling", reason="hatchling is not installed (scripts/venv)")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_into(tmp_path_factory.mktemp("wheel"))


def test_the_wheel_carries_all_sources_of_the_engine(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    carried = {n.removeprefix("effio/engine/sources/") for n in names if "/engine/sources/" in n}
    wanted = {
        str(path.relative_to(ROOT))
        for part in ("engine", "cmake")
        for path in (ROOT / part).rglob("*")
        if path.is_file()
    }
    assert wanted | {"CMakeLists.txt", "VERSION"} <= carried
    # Pure Python: one wheel for every machine, whatever its MPI.
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_wheel_carries_no_tests_and_names_its_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert [n for n in names if "tests/" in n or n.endswith(".pyc")] == []
    assert any(n.endswith("licenses/LICENSE") for n in names)


def test_a_source_distribution_gives_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    def build(target: str, where: Path) -> None:
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "--target", target],
            cwd=where,
            check=True,
            capture_output=True,
            env={**os.environ, "HATCH_BUILD_LOCATION": str(tmp_path / "dist")},
            timeout=SECONDS,
        )

    build("sdist", ROOT)
    (archive,) = (tmp_path / "dist").glob("*.tar.gz")
    shutil.unpack_archive(archive, tmp_path)
    source = tmp_path / archive.name.removesuffix(".tar.gz")
    assert (source / "tests/packaging/test_wheel.py").is_file()
    build("wheel", source)
    (again,) = (tmp_path / "dist").glob("*.whl")
    # The two header libraries come from wherever the wheel is built.
    first, second = (
        sorted(name for name in zipfile.ZipFile(one).namelist() if "/headers/" not in name)
        for one in (wheel, again)
    )
    assert first == second


def _imported() -> set[str]:
    """Top names of all modules that the driver imports."""
    names: set[str] = set()
    for path in (ROOT / "driver/effio").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                names.add(node.module.split(".")[0])
    return names


def test_what_is_imported_is_declared(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
    message = email.message_from_bytes(archive.read(metadata))
    declared = {
        line.split(";")[0].split(">")[0].strip().lower().replace("-", "_")
        for line in message.get_all("Requires-Dist", [])
    }
    # Imported under another name than it is installed by.
    for package, module in (("reframe_hpc", "reframe"), ("python_docx", "docx")):
        if package in declared:
            declared.add(module)
    assert _imported() - set(sys.stdlib_module_names) - {"effio"} <= declared
    assert message["Version"] == (ROOT / "VERSION").read_text().strip()


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("installed"), wheel)


def test_it_comes_from_the_wheel(installed: Installation) -> None:
    done = installed.effio("--version")
    assert done.stdout.split()[-1] == (ROOT / "VERSION").read_text().strip()
    where = subprocess.run(
        [installed.python, "-c", "import effio; print(effio.__file__)"],
        cwd=installed.place,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert where.startswith(str(installed.place))


def test_a_report_of_it_explains_its_words(installed: Installation, tmp_path: Path) -> None:
    result = made.write(tmp_path / "result.jsonl", made.b_eff_io())
    page = tmp_path / "report.html"
    done = installed.effio("report", str(result), "-o", str(page))
    assert done.returncode == 0, done.stderr
    assert "<dt>page cache</dt>" in page.read_text()


def test_without_an_engine_it_says_how_to_get_one(installed: Installation) -> None:
    done = installed.effio("list")
    assert done.returncode == 6
    assert "effio engine build" in done.stderr


def _programs(place: Path, *names: str) -> Path:
    """A PATH that holds these programs of this machine only."""
    place.mkdir()
    for name in names:
        found = shutil.which(name)
        if found is None:
            pytest.skip(f"{name} is not here")
        (place / name).symlink_to(found)
    return place


def test_without_an_mpi_it_says_how_to_get_one(installed: Installation, tmp_path: Path) -> None:
    alone = _programs(tmp_path / "bin", "sh", "c++", "cmake")
    before = installed.environment
    try:
        installed.environment = before | {"PATH": str(alone)}
        done = installed.effio("engine", "build")
        reports = installed.effio("runs")
    finally:
        installed.environment = before
    assert done.returncode == 6
    assert "no MPI compiler (mpicc) is here" in done.stderr
    assert "pip install 'effio[mpich]'" in done.stderr
    # Reading results needs no MPI.
    assert reports.returncode == 0, reports.stderr


def test_without_the_header_libraries_it_says_how_to_get_them(
    installed: Installation, any_engine: Engine, tmp_path: Path
) -> None:
    """CMake's own words are of git and FetchContent."""
    tools = tmp_path / "bin"
    tools.mkdir()
    # On a machine that has neither; this one may have both.
    (tools / "cmake").write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --version ]; then echo "cmake version 3.28.1"; exit; fi\n'
        'echo "-- fmt is not on this system: fetching release 9.1.0"\n'
        'echo "error: could not find git for clone of fmt-populate" >&2\n'
        "exit 1\n"
    )
    (tools / "cmake").chmod(0o755)
    said = (ROOT / "cmake/EffioDependencies.cmake").read_text()
    assert "fmt is not on this system: fetching release 9.1.0" in said
    built = installed.effio("engine", "build", "--mpicc", "true", path=tools)
    assert built.returncode == 6
    assert "apt-get install libfmt-dev nlohmann-json3-dev" in built.stderr
    assert "EFFIO_HEADERS=PREFIX" in built.stderr


def test_the_engine_is_built_out_of_the_wheel_and_used(
    installed: Installation, any_engine: Engine, tmp_path: Path
) -> None:
    # CMake really configures the carried sources; compiling them takes minutes, so that step of it
    # is replaced by a copy of the engine that the tests use.
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("cmake is not here")
    parts = [any_engine.program, *any_engine.program.parent.glob("*.so")]
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "cmake").write_text(
        "#!/bin/sh\n"
        f'if [ "$1" != --build ]; then exec {cmake} "$@"; fi\n'
        'test -f "$2/CMakeCache.txt" || exit 1\n'
        f'mkdir -p "$2/engine" && exec cp {" ".join(map(str, parts))} "$2/engine"\n'
    )
    (tools / "cmake").chmod(0o755)
    mpicc = any_engine.mpiexec.replace("mpiexec", "mpicc")
    if not os.access(mpicc, os.X_OK):
        pytest.skip(f"the compiler next to {any_engine.mpiexec} has another name")
    built = installed.effio("engine", "build", "--mpicc", mpicc, path=tools)
    assert built.returncode == 0, built.stderr
    assert built.stdout.startswith("built: ")
    (home,) = (installed.place / "share/effio/engines").glob("*/effio-mpi")
    assert {part.name for part in parts} <= {file.name for file in home.parent.iterdir()}
    again = installed.effio("engine", "build", "--mpicc", mpicc, path=tools)
    assert again.stdout.startswith("already there: ")
    ran = installed.effio(
        "run", "b-eff-io", "--ranks", "2", "--backend", "sim", "--time", "0s",
        "--memory-per-rank", "256MiB", "--quiet",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
