# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the engine's sources that the package carries into the user's data directory, one
directory for each MPI, and never touches one that is there."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from effio.engine.discover import PROGRAM, data_directory, launcher_next_to
from effio.engine.kept import LOG, SOURCES, packed
from effio.engine.program import Engine
from effio.errors import environment_error
from effio.shipped import checkout
from effio.store import safe_files

_CMAKE_AT_LEAST = (3, 25)
# What cmake/EffioDependencies.cmake says before it fetches one.
_HEADERS_WANTED = "is not on this system: fetching release"


@dataclass(frozen=True)
class Tools:
    mpicc: str
    cmake: str
    ninja: str | None


def sources() -> Path:
    """The engine's sources: those in the wheel, or the checkout's."""
    carried = Path(__file__).resolve().parent / "sources"
    if (carried / "CMakeLists.txt").is_file():
        return carried
    root = checkout()
    if root is None:
        raise environment_error(
            "this installation carries no engine sources",
            "install effio from its wheel or source distribution",
        )
    return root


def _program(name: str) -> str | None:
    """The program on PATH, or next to this Python, where wheels put their programs."""
    installed = Path(sys.executable).parent / name
    return shutil.which(name) or (str(installed) if os.access(installed, os.X_OK) else None)


def _version_of(cmake: str) -> tuple[int, ...]:
    text = subprocess.run(
        [cmake, "--version"], capture_output=True, text=True, timeout=60, check=False
    ).stdout
    words = text.split("\n", 1)[0].split()
    digits = words[-1].split("-")[0].split(".") if words else []
    return tuple(int(d) for d in digits if d.isdigit())


def find_mpicc(wanted: str | None) -> str:
    """The MPI compiler: named, $MPICC, mpicc on PATH, Cray's cc, or the wheel's."""
    for name in (wanted, os.environ.get("MPICC")):
        if name:
            path = shutil.which(name)
            if path is None:
                raise environment_error(
                    f"the MPI compiler {name} is not a program; name one with --mpicc"
                )
            return str(Path(path).absolute())
    if found := shutil.which("mpicc"):
        return found
    if os.environ.get("CRAYPE_VERSION") and (cray := shutil.which("cc")):
        return cray
    if os.environ.get("MODULESHOME") or os.environ.get("LMOD_CMD") or os.environ.get("MODULEPATH"):
        raise environment_error(
            "no MPI is loaded, but this machine has modules",
            "look at 'module avail mpi', then 'module load …' one and call this again",
        )
    if found := _program("mpicc"):
        return found
    raise environment_error(
        "no MPI compiler (mpicc) is here",
        "on Debian or Ubuntu: apt-get install libopenmpi-dev openmpi-bin; "
        "without root: pip install 'effio[mpich]'",
    )


def find_tools(mpicc: str | None) -> Tools:
    """Raises with what is missing and how to get it."""
    compiler = os.environ.get("CXX") or "c++"
    if shutil.which(compiler) is None:
        raise environment_error(
            f"a C++20 compiler ({compiler}) is missing",
            "on Debian or Ubuntu: apt-get install g++ (or set CXX, or load a module)",
        )
    cmake = _program("cmake")
    if cmake is None or _version_of(cmake) < _CMAKE_AT_LEAST:
        raise environment_error(
            "CMake 3.25 or later is missing", "python -m pip install cmake ninja, or load a module"
        )
    return Tools(find_mpicc(mpicc), cmake, _program("ninja"))


def _key(source: Path, mpicc: str, library: str) -> str:
    """Engines of the same sources, MPI and compiler are the same engine."""
    digest = hashlib.sha256()
    for part in ("CMakeLists.txt", "VERSION", "cmake", "engine"):
        top = source / part
        files = sorted(top.rglob("*")) if top.is_dir() else [top]
        for file in files:
            if file.is_file() and file.suffix in (".cpp", ".hpp", ".txt", ".cmake", ".in", ""):
                digest.update(str(file.relative_to(source)).encode())
                digest.update(file.read_bytes())
    for text in (mpicc, library, os.environ.get("CXX", "")):
        digest.update(b"\0" + text.encode())
    return digest.hexdigest()[:10]


def _library_of(mpicc: str) -> str:
    """What distinguishes this MPI from another: the wrapper's own words on versions and paths."""
    words = ""
    for question in ("--showme:version", "-show"):
        done = subprocess.run(
            [mpicc, question], capture_output=True, text=True, timeout=60, check=False
        )
        words += done.stdout + done.stderr
    return words


def _short_name(mpicc: str, words: str) -> str:
    known = (("open mpi", "openmpi"), ("intel", "intelmpi"), ("mvapich", "mvapich"))
    for sign, name in known:
        if sign in words.lower():
            return name
    return "cray" if Path(mpicc).name == "cc" else "mpich"


def build(
    wanted_mpicc: str | None,
    extra: tuple[str, ...],
    say: Callable[[str], None],
) -> tuple[Engine, bool]:
    """The engine for an MPI, and whether it had to be built. `extra` are CMake definitions."""
    tools = find_tools(wanted_mpicc)
    source = sources()
    words = _library_of(tools.mpicc)
    key = _key(source, tools.mpicc, words + "".join(extra))
    name = f"{_short_name(tools.mpicc, words)}-{key}"
    home = data_directory() / "engines" / name
    mpiexec = launcher_next_to(tools.mpicc)
    engine = Engine(home / PROGRAM, "built by effio engine build", mpiexec, name)
    if (home / "engine.json").is_file() and os.access(engine.path, os.X_OK):
        return engine, False
    if home.exists():
        raise environment_error(
            f"{home} exists, but holds no working engine", f"remove it: rm -r {home}"
        )
    say(f"compiling the engine with {tools.mpicc} (a few minutes)")
    with (
        safe_files.making(home.parent),
        tempfile.TemporaryDirectory(prefix="effio-build-") as scratch,
    ):
        program, log = _compile(tools, source, Path(scratch), extra)
        record = {"mpicc": tools.mpicc, "mpiexec": mpiexec, "cmake_definitions": list(extra)}
        _place(program, log, packed(source), record, home)
    if not engine.info.benchmarks:
        raise environment_error(f"{engine.path} was built, but knows no benchmark")
    return engine, True


def _place(
    program: Path, log: str, source: bytes, record: Mapping[str, object], home: Path
) -> None:
    """The folder of a built engine appears whole or not at all."""
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=home.parent))
    try:
        shutil.copy2(program, fresh / PROGRAM)
        for module in program.parent.glob("*.so"):  # the engine looks for it next to itself
            shutil.copy2(module, fresh / module.name)
        (fresh / LOG).write_text(log)
        (fresh / SOURCES).write_bytes(source)
        (fresh / "engine.json").write_text(json.dumps(record, indent=2) + "\n")
        fresh.chmod(0o755)
        with contextlib.suppress(OSError):  # another process was quicker; the same sources and MPI
            fresh.rename(home)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _compile(tools: Tools, source: Path, scratch: Path, extra: tuple[str, ...]) -> tuple[Path, str]:
    """The program, and what CMake and the compiler said."""
    said = ""
    configure = [
        *(tools.cmake, "-S", str(source), "-B", str(scratch), "-DCMAKE_BUILD_TYPE=Release"),
        f"-DMPI_C_COMPILER={tools.mpicc}",
        *extra,
    ]
    if tools.ninja is not None:
        configure += ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools.ninja}"]
    if (source / "headers" / "include").is_dir():
        configure.append(f"-DEFFIO_HEADERS={source / 'headers'}")
    jobs = str(len(os.sched_getaffinity(0)))
    for step, command in (
        ("configure", configure),
        ("compile", [tools.cmake, "--build", str(scratch), "--parallel", jobs]),
    ):
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        said += f"$ {' '.join(command)}\n{done.stdout}"
        if done.returncode != 0:
            log = data_directory() / "engine-build.log"
            log.write_text(done.stdout)
            if step == "configure" and _HEADERS_WANTED in done.stdout:
                raise environment_error(
                    "the header libraries fmt and nlohmann-json are not here and could not be "
                    f"fetched; all of what CMake said is in {log}",
                    "on Debian or Ubuntu: apt-get install libfmt-dev nlohmann-json3-dev; "
                    "elsewhere: effio engine build -D EFFIO_HEADERS=PREFIX (a prefix with "
                    "include/fmt and include/nlohmann), or git and a network",
                )
            tail = "\n".join(done.stdout.splitlines()[-15:])
            raise environment_error(
                f"the engine could not be built (to {step}):\n{tail}", f"all of it is in {log}"
            )
    return scratch / "engine" / PROGRAM, said
