# SPDX-License-Identifier: BSD-3-Clause
"""ior over HDF5 and PnetCDF: the files as other tools see them, whole runs, faults, and the defects
5, 6, 7 and 11 of the original (numbers of the description of IOR that this project keeps)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from array_tools import missing, need, tool
from engines import Engine, Job, Run, two_nodes
from ior_runs import left, timestamp

LIBRARY = {"HDF5": "hdf5", "NCMPI": "pnetcdf"}


def classic(
    engine: Engine, where: Path, line: str, ranks: int = 2, code: int = 0, **more: Any
) -> Run:
    """A run in `where`; `line` begins with the library after -a."""
    need(engine, LIBRARY[line.split()[0]])
    run = engine.run(["classic", "ior", "-a", *line.split()], where, ranks=ranks, **more)
    assert run.code == code, run
    return run


def dataset(file: Path, name: str, where: Path) -> bytes:
    """The values of a dataset as little-endian bytes."""
    out = where / f"{name}.bin"
    tool("h5dump", "-d", name, "-b", "LE", "-o", out, file)
    content = out.read_bytes()
    out.unlink()
    return content


def begin_of(file: Path, name: str) -> int:
    """Where the values of a contiguous dataset are in the file."""
    text = tool("h5dump", "-p", "-H", "-d", name, file)
    found = re.search(r"OFFSET (\d+)", text)
    assert found, text
    return int(found[1])


def change(file: Path, at: int) -> None:
    with file.open("r+b") as f:
        f.seek(at)
        old = f.read(1)[0]
        f.seek(at)
        f.write(bytes([old ^ 0xFF]))


# ---------------------------------------------------------------- the files


@pytest.mark.parametrize("way", ["", "-c"])
def test_hdf5_has_a_dataset_for_each_segment(any_engine: Engine, tmp_path: Path, way: str) -> None:
    classic(any_engine, tmp_path, f"HDF5 -w -k -G 1000 -t 16 -b 48 -s 3 -o f {way}")
    head = tool("h5dump", "-H", tmp_path / "f")
    names = ["Dataset-0000.0000", "Dataset-0000.0001", "Dataset-0000.0002"]
    assert re.findall(r'DATASET "(.*)"', head) == names
    assert head.count("H5T_STD_I64LE") == 3
    assert head.count("SIMPLE { ( 12 ) / ( 12 ) }") == 3
    expected = b"".join(3 * timestamp(rank, 1000, 16) for rank in range(2))
    assert all(dataset(tmp_path / "f", name, tmp_path) == expected for name in names)


def test_hdf5_can_have_a_dataset_for_each_block(any_engine: Engine, tmp_path: Path) -> None:
    classic(any_engine, tmp_path, "HDF5 -w -k -I -G 7 -t 16 -b 48 -s 2 -o f")
    for rank in range(2):
        for segment in range(2):
            name = f"Dataset-{rank:04}.{segment:04}"
            assert dataset(tmp_path / "f", name, tmp_path) == 3 * timestamp(rank, 7, 16)


def test_hdf5_has_a_file_for_each_process(any_engine: Engine, tmp_path: Path) -> None:
    classic(any_engine, tmp_path, "HDF5 -w -W -r -R -F -k -G 7 -t 16 -b 48 -s 2 -o f")
    assert left(tmp_path) == ["f.00000000", "f.00000001"]
    for rank in range(2):
        content = dataset(tmp_path / f"f.{rank:08}", "Dataset-0000.0001", tmp_path)
        assert content == 3 * timestamp(rank, 7, 16)
    classic(any_engine, tmp_path, "HDF5 -w -r -R -F -u -t 16 -b 48 -o g")
    assert left(tmp_path) == ["f.00000000", "f.00000001"]


def test_hdf5_takes_alignment_and_chunks(any_engine: Engine, tmp_path: Path) -> None:
    classic(any_engine, tmp_path, "HDF5 -w -k -J 4k -n -t 8k -b 8k -s 2 -o f")
    assert begin_of(tmp_path / "f", "Dataset-0000.0001") % 4096 == 0
    line = "HDF5 -w -W -r -R -k -c --hdf5.chunkSize=6 --hdf5.collectiveMetadata -t 16 -b 48 -s 2"
    classic(any_engine, tmp_path, f"{line} -o g")
    assert tool("h5dump", "-p", "-H", tmp_path / "g").count("CHUNKED ( 6 )") == 2


@pytest.mark.parametrize("way", ["", "-c"])
def test_pnetcdf_has_one_variable_of_three_dimensions(
    any_engine: Engine, tmp_path: Path, way: str
) -> None:
    classic(any_engine, tmp_path, f"NCMPI -w -k -G 1000 -t 16 -b 48 -s 3 -o f {way}")
    file = tmp_path / "f"
    tool("ncvalidator", file)
    head = tool("ncmpidump", "-h", file)
    assert "CDF-5" in head
    shape = re.search(r"byte data_var\((\w+), (\w+), (\w+)\)", head)
    assert shape, head
    extents = [re.search(rf"\b{name} = (\d+)", head) for name in shape.groups()]
    assert [int(found[1]) for found in extents if found] == [6, 3, 16]
    blocks = [3 * timestamp(rank, 1000, 16) for rank in range(2)]
    assert file.read_bytes()[-6 * 48 :] == b"".join(3 * blocks)


# ---------------------------------------------------------------- whole runs

CALLS = {
    "hdf5": ["hdf5"],
    "hdf5-collective": ["hdf5", "--collective"],
    "pnetcdf": ["pnetcdf"],
    "pnetcdf-collective": ["pnetcdf", "--collective"],
}
ORDERS = {
    "hdf5-blocks": ["hdf5", "--backend-options=datasets=block"],
    "hdf5-shuffled": ["hdf5", "--order=shuffled"],
    "pnetcdf-own-files": ["pnetcdf", "--files=per-process"],
    "pnetcdf-scattered": ["pnetcdf", "--collective", "--order=shuffled"],
}


@pytest.mark.parametrize("way", CALLS)
def test_what_was_written_is_read_back_whole(
    engine: Engine, tmp_path: Path, data: Path, way: str
) -> None:
    check_written_and_read(engine, tmp_path, data, *CALLS[way])


@pytest.mark.parametrize("way", ORDERS)
def test_in_every_order_it_is_read_back_whole(
    any_engine: Engine, tmp_path: Path, data: Path, way: str
) -> None:
    check_written_and_read(any_engine, tmp_path, data, *ORDERS[way])


def check_written_and_read(
    engine: Engine, tmp_path: Path, data: Path, backend: str, *words: str
) -> None:
    need(engine, backend)
    # PnetCDF takes any number of bytes.
    transfer = 4095 if backend == "pnetcdf" else 4104
    run = engine.run(
        [
            "ior",
            "--quiet",
            "--dir",
            data,
            f"--backend={backend}",
            *words,
            f"--transfer={transfer}",
            f"--block={3 * transfer}",
            "--segments=5",
            "--read-from=shuffled",
            "--partner-seed=3",
            "--verify=write,read,inside",
            "--repetitions=2",
        ],
        tmp_path,
    )
    assert run.code == 0, run
    assert run.result.run["ior"]["library"].startswith(("HDF5 ", "PnetCDF "))
    total = 2 * 5 * 3 * transfer
    for m in run.result.measurements:
        assert m["bytes"] == total
        assert m["verified_bytes"] == total * (1 if m["access"] == "write" else 2)
        assert m["operations"] == 30
        reported = m["detail"]["library"]
        assert reported["calls"] == 15
        assert reported["collective_calls"] == (15 if "--collective" in words else 0)
        if backend == "hdf5" and "--collective" in words:
            assert reported["done_collectively"] == 15
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("line", ["HDF5", "NCMPI", "HDF5 -c", "NCMPI -c"])
def test_a_stonewall_leaves_a_file_that_can_be_read(
    any_engine: Engine, tmp_path: Path, line: str
) -> None:
    run = classic(
        any_engine, tmp_path, f"{line} -w -r -R -D 1 -t 8k -b 64m -o f -O interIODelay=20000"
    )
    write, read = run.result.measurements
    assert 0 < write["bytes"] < 2 * 64 * 1024 * 1024
    assert read["verified_bytes"] == read["bytes"]
    assert left(tmp_path) == []


def test_hints_reach_the_library(mpi: Engine, tmp_path: Path) -> None:
    (tmp_path / "hints").write_text("IOR_HINT__MPI__cb_buffer_size=1048576\n")
    for api in LIBRARY:
        if missing(mpi, LIBRARY[api]):
            continue
        run = classic(mpi, tmp_path, f"{api} -w -H -U hints -o f -b 64k -t 64k")
        (write,) = run.results[-1].measurements
        assert write["hints_asked"] == {"cb_buffer_size": "1048576"}
        assert write["hints_granted"]["cb_buffer_size"] == "1048576"
        assert "cb_buffer_size = 1048576" in run.stdout


# ---------------------------------------------------------------- defects of the original


def test_defect_5_every_dataset_is_read_where_it_was_written(
    any_engine: Engine, tmp_path: Path
) -> None:
    # An odd number of transfers in a block and several segments: the original read another dataset,
    # which its default data hide. A byte of each is changed, one after the other.
    line = "HDF5 -G 5 -t 8k -b 24k -s 3 -o f -l offset -k"
    classic(any_engine, tmp_path, f"{line} -w -r -R")
    file = tmp_path / "f"
    for segment, block, word in ((0, 1, 0), (1, 0, 2048), (2, 1, 3071)):
        name = f"Dataset-0000.{segment:04}"
        at = begin_of(file, name) + block * 24576 + word * 8 + 1
        change(file, at)
        run = classic(any_engine, tmp_path, f"{line} -r -R", code=1)
        (read,) = run.results[-1].measurements
        assert read["error_count"] == 1
        (error,) = read["errors"]
        assert error["rank"] == block
        assert error["offset_bytes"] == segment * 49152 + block * 24576 + word * 8 + 1
        assert f"{name}[{block * 3072 + word}]" in error["cause"]
        assert "expected 0x" in error["cause"]
        change(file, at)


@pytest.mark.parametrize("api", LIBRARY)
def test_defect_6_reordered_reads_take_another_nodes_blocks(
    any_engine: Engine, tmp_path: Path, api: str
) -> None:
    # PnetCDF ignored the shift. Ranks 0 and 3 are on one node: only 1 or 2 may read block 0.
    any_engine.needs_ranks(4)
    need(any_engine, LIBRARY[api])
    common = f"classic ior -a {api} -o f -b 24k -t 8k -s 2 -G 5 -k".split()
    environment = any_engine.environment()
    write = two_nodes(any_engine, [*common, "-w"])
    assert Job(any_engine, write, tmp_path, environment).finish().code == 0
    file = tmp_path / "f"
    begin = (
        begin_of(file, "Dataset-0000.0000")
        if api == "HDF5"
        else file.stat().st_size - 2 * 4 * 24 * 1024
    )
    change(file, begin + 8192)
    read = two_nodes(any_engine, [*common, "-r", "-R", "-C"])
    run = Job(any_engine, read, tmp_path, environment).finish()
    assert run.code == 1, run
    (phase,) = run.results[-1].measurements
    assert phase["detail"]["ranks_on_own_node"] == 0
    assert phase["error_count"] == 1
    (error,) = phase["errors"]
    assert error["rank"] in (1, 2)
    assert error["offset_bytes"] == 8192


@pytest.mark.parametrize("api", LIBRARY)
def test_defect_7_checked_reads_can_be_repeated(
    any_engine: Engine, tmp_path: Path, api: str
) -> None:
    run = classic(any_engine, tmp_path, f"{api} -w -r -R -i 3 -t 8k -b 24k -s 2 -o f -k")
    assert [m["access"] for m in run.result.measurements] == ["write", "read"] * 3
    assert all(m["error_count"] == 0 for m in run.result.measurements)
    run = classic(any_engine, tmp_path, f"{api} -r -i 3 -t 8k -b 24k -s 2 -o f -k")
    assert len(run.results[-1].measurements) == 3


@pytest.mark.parametrize("api", LIBRARY)
def test_defect_11_existing_files_are_not_truncated(
    any_engine: Engine, tmp_path: Path, api: str
) -> None:
    line = f"{api} -t 8k -b 24k -s 2 -o f -k -l timestamp"
    classic(any_engine, tmp_path, f"{line} -w -G 3")
    size = (tmp_path / "f").stat().st_size
    # The first call of each task alone is made anew.
    classic(any_engine, tmp_path, f"{line} -w -E -G 4 -O stoneWallingWearOutIterations=1")
    assert (tmp_path / "f").stat().st_size == size
    run = classic(any_engine, tmp_path, f"{line} -r -R -G 3", code=1)
    assert run.results[-1].measurements[0]["error_count"] == 2
    classic(any_engine, tmp_path, f"{line} -r -R -G 4 -O stoneWallingWearOutIterations=1")


# ---------------------------------------------------------------- faults


def test_one_corrupt_byte_of_a_variable_is_found(any_engine: Engine, tmp_path: Path) -> None:
    line = "NCMPI -G 5 -t 8k -b 24k -s 3 -o f -k"
    classic(any_engine, tmp_path, f"{line} -w")
    size = 3 * 2 * 24 * 1024
    change(tmp_path / "f", (tmp_path / "f").stat().st_size - size + 3 * 24576 + 8192 + 11)
    run = classic(any_engine, tmp_path, f"{line} -r -R", code=1)
    (read,) = run.results[-1].measurements
    assert read["error_count"] == 1
    assert "data_var[3,1,11]" in read["errors"][0]["cause"]
    assert read["errors"][0]["offset_bytes"] == 3 * 24576 + 8192 + 11


@pytest.mark.parametrize("collective", [False, True])
@pytest.mark.parametrize("backend", ["hdf5", "pnetcdf"])
def test_a_full_disk_ends_the_run_with_an_error(
    engine: Engine, tmp_path: Path, mount: Callable[..., Path], backend: str, collective: bool
) -> None:
    """Of 16 MiB 4 find room. Under ROMIO a rank that fails leaves HDF5's collective call, in which
    the others wait for it: there the watchdog ends the run."""
    need(engine, backend)
    full = mount("-t", "tmpfs", "-o", "size=4m", "none")
    words = ["ior", "--quiet", "--backend", backend, "--phases", "write", "--block", "8MiB"]
    words += ["--transfer", "1MiB", "--max-bytes", "1GiB", "--watchdog", "8s", "--dir", str(full)]
    run = engine.run([*words, *(["--collective"] if collective else [])], tmp_path)
    waits = backend == "hdf5" and collective and engine.name != "openmpi-ompio"
    assert run.code == (5 if waits else 3), run
    assert run.results[-1].status == ("hung" if waits else "io_error")
    assert f"{full}/ior" in run.stderr
    if not waits:
        assert list(full.iterdir()) == []


@pytest.mark.parametrize("api", ["HDF5", "NCMPI", "NCMPI -c"])
def test_a_file_cut_short_or_foreign_is_an_error(
    any_engine: Engine, tmp_path: Path, api: str
) -> None:
    line = f"{api} -t 8k -b 64k -o f -k"
    classic(any_engine, tmp_path, f"{line} -w")
    # Less than the header away: the size alone does not show it.
    size = (tmp_path / "f").stat().st_size
    with (tmp_path / "f").open("r+b") as f:
        f.truncate(size - 8)
    run = classic(any_engine, tmp_path, f"{line} -r", code=3)
    assert re.search(r"f\b.*(truncated file|too short)", run.stderr), run
    assert "did not answer" not in run.stderr, run  # no rank waited for one that had gone
    (tmp_path / "f").write_bytes(bytes(131072))
    run = classic(any_engine, tmp_path, f"{line} -r", code=3)
    assert re.search(r"not found|[Uu]nknown file format", run.stderr), run
    assert left(tmp_path) == ["f"]


@pytest.mark.parametrize("api", LIBRARY)
def test_a_file_divided_otherwise_is_an_error(any_engine: Engine, tmp_path: Path, api: str) -> None:
    classic(any_engine, tmp_path, f"{api} -t 8k -b 64k -s 2 -o f -k -w")
    run = classic(any_engine, tmp_path, f"{api} -t 8k -b 32k -s 2 -o f -k -r", code=3)
    assert "has extents (" in run.stderr


REFUSED = [
    ("HDF5 -z", 2, "-z cannot be had with -a HDF5"),
    ("HDF5 -p", 2, "-p cannot be had"),
    ("HDF5 -c -I", 2, "-I cannot be had with -c"),
    ("HDF5 -t 12 -b 24", 2, "words of 8 B"),
    ("HDF5 -t 8 -b 8 -s 20k", 2, "more than 10000 datasets"),
    ("NCMPI -F", 2, "-F cannot be had with -a NCMPI"),
    ("NCMPI -z", 2, "-z cannot be had with -a NCMPI"),
]


@pytest.mark.parametrize(("line", "code", "text"), REFUSED)
def test_what_cannot_be_had_is_refused_before_a_file_is_touched(
    any_engine: Engine, tmp_path: Path, line: str, code: int, text: str
) -> None:
    run = classic(any_engine, tmp_path, f"{line} -o f", code=code)
    assert text in run.stdout + run.stderr
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["hdf5", "--collective", "--order=shuffled"], "each rank's is somewhere else"),
        (["hdf5", "--backend-options=datasets=block", "--collective"], "collective calls"),
        (["hdf5", "--placement=view"], "views"),
        (["hdf5", "--preallocate"], "--preallocate"),
        (["hdf5", "--threads=2"], "threads"),
        (["hdf5", "--backend-options=datasets=file"], "datasets"),
        (["pnetcdf", "--placement=strided"], "views"),
        (["pnetcdf", "--backend-options=datasets=block"], "datasets"),
    ],
)
def test_what_our_own_options_cannot_have_is_refused(
    any_engine: Engine, tmp_path: Path, data: Path, words: list[str], text: str
) -> None:
    need(any_engine, words[0])
    run = any_engine.run(["ior", "--dir", data, "--backend", *words], tmp_path)
    assert run.code == 2, run
    assert text in run.stderr
    assert list(data.iterdir()) == []


def test_a_missing_library_says_so(engines: dict[str, Engine], tmp_path: Path) -> None:
    for engine in engines.values():
        for api, backend in LIBRARY.items():
            if not (why := missing(engine, backend)):
                continue
            run = engine.alone(["classic", "ior", "-a", api, "-o", "f"], tmp_path)
            assert run.code == 6, run
            assert why in run.stdout
            run = engine.alone(["ior", "--backend", backend], tmp_path)
            assert run.code == 6, run
            assert why in run.stderr
            return
    pytest.skip("every engine here has both libraries")


def test_other_libraries_take_the_options_of_hdf5_without_effect(
    any_engine: Engine, tmp_path: Path
) -> None:
    run = classic(any_engine, tmp_path, "NCMPI -w -o f -t 8k -b 8k -n -V -S -p")
    for text in ("options of HDF5 have no effect", "-V, -S and -p have no effect"):
        assert text in run.stderr
