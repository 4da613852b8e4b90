# SPDX-License-Identifier: BSD-3-Clause
"""pio from the outside. Its patterns are enumerated in tests/engine/frame/study, and so are
files that are wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engines import Engine

KIB = 1 << 10
MIB = 1 << 20
ALL = ("write", "re-write", "read", "re-read", "read-modify-write")
# Smallest amounts: 4 calls of 1 KiB a rank.
SMALL = ("--size", "4KiB", "--buffer", "1KiB")
# Each covers its file without holes.
DENSE = ("segmented", "simple-strided", "random-strided", "tiled", "unstructured-mesh")


def test_in_virtual_time_it_is_the_closed_formula(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """4 calls of 64 KiB by each of two ranks at 10 MB/s, 1 ms a call; a pass that modifies reads
    and writes. The rest before each of three openings belongs to none of them."""
    model = "rank-rate=10MB/s,latency=1ms,open=10ms,sync=20ms,close=5ms"
    run = any_engine.run(
        [
            *("pio", "--quiet", "--backend", "sim", "--backend-options", model, "--settle", "30s"),
            *("--spatial", "simple-strided", "--size", "256KiB", "--buffer", "64KiB"),
            *("--dir", data),
        ],
        tmp_path,
    )
    assert run.code == 0, run
    calls = 4 * (1e-3 + 64 * KIB / 10e6)
    assert [m["access"] for m in run.result.measurements] == list(ALL)
    for m in run.result.measurements:
        access = m["access"]
        directions = 2 if access == "read-modify-write" else 1
        writes = access not in ("read", "re-read")
        parts = {part: m["seconds"][part]["max"] for part in m["seconds"]}
        assert parts["transfer"] == pytest.approx(directions * calls)
        # The first pass of a visit opens the file, its last one closes it.
        assert parts.get("open") == (
            pytest.approx(0.010) if access in ("write", "read", "read-modify-write") else None
        )
        assert parts.get("close") == (
            pytest.approx(0.005) if access in ("re-write", "re-read", "read-modify-write") else None
        )
        assert parts.get("sync") == (pytest.approx(0.020) if writes else None)
        # Until the data are on storage; the calls alone are next to it.
        seconds = directions * calls + (0.020 if writes else 0)
        assert m["rate"]["value"] == pytest.approx(directions * 2 * 256 * KIB / seconds)
        alone = m["detail"]["transfer_rate_bytes_per_second"]
        assert alone == pytest.approx(2 * 256 * KIB / calls)
        assert (m["bytes"], m["operations"]) == (directions * 2 * 256 * KIB, directions * 8)
        # Data are read back before they are rewritten; data that are read later are verified then.
        assert m["verified_bytes"] == (0 if access == "re-write" else m["bytes"])
    strongest = run.result.figure("pio")
    assert strongest["metric"]["value"] == pytest.approx(2 * 256 * KIB / (calls + 0.020))
    assert strongest["detail"]["place"] == strongest["detail"]["weakest"]
    assert run.result.run["study"]["headline"] == "strongest and weakest"


# What is moved depends on the number of ranks, how it is on the MPI library: each once.
@pytest.mark.parametrize(
    ("flavour", "ranks"),
    [("openmpi-ompio", 1), ("openmpi-ompio", 3), ("openmpi-romio", 4), ("mpich", 2)],
)
def test_all_patterns_and_accesses_in_one_run(
    engines: dict[str, Engine], flavour: str, ranks: int, tmp_path: Path, data: Path
) -> None:
    if flavour not in engines:
        pytest.skip(f"no engine of flavour {flavour} is built here")
    engine = engines[flavour]
    run = engine.run(
        [
            *("pio", *SMALL, "--calls", "independent,collective", "--by", "list,type"),
            *("--layout", "c-c,nc-nc", "--dir", data),
        ],
        tmp_path,
        ranks=ranks,
    )
    assert run.code == 0, run
    found = {(m["pattern"], m["access"]) for m in run.result.measurements}
    patterns = {"sequential", "nested-strided", "flash-io", *DENSE}
    assert found == {
        (p, a) for p in patterns for a in (ALL if p != "unstructured-mesh" else ("write", "read"))
    }
    # Two kinds of calls, two ways to make them, two layouts.
    assert len(run.result.measurements) == len(found) * 8
    for m in run.result.measurements:
        directions = 2 if m["access"] == "read-modify-write" else 1
        pieces = 4 * ranks
        if m["pattern"] == "flash-io":
            pieces += sum(rank % 3 for rank in range(ranks))
        assert m["bytes"] == directions * pieces * KIB
        assert m["operations"] == directions * (ranks if m["where"]["by"] == "type" else pieces)
        # A first write is read back if a second one would hide its losses.
        read_back = (0, m["bytes"]) if m["access"] == "write" else (m["bytes"],)
        assert m["verified_bytes"] in ((0,) if m["access"] == "re-write" else read_back)
        assert (m["error_count"], m["valid"]) == (0, True)
        together = m["where"]["calls"] == "collective"
        assert m["detail"]["call"].endswith("_all") == together
    assert list(data.iterdir()) == []


def test_files_have_the_length_of_their_pattern_and_their_own_bytes(
    engine: Engine, tmp_path: Path, data: Path
) -> None:
    """Bytes are a function of file and place: nothing is written twice."""
    ranks = min(3, engine.max_ranks)
    run = engine.run(
        ["pio", *SMALL, "--temporal", "re-write", "--nested-count", "2", "--keep", "--dir", data],
        tmp_path,
        ranks,
    )
    assert run.code == 0, run
    files = {f.name.split("_")[1]: f.read_bytes() for f in data.iterdir()}
    assert (
        {name: len(content) // KIB for name, content in files.items()}
        == {
            **dict.fromkeys(DENSE, ranks * 4),
            "sequential": 4,
            "nested-strided": ranks * 4 + ranks,  # with one gap
            "flash-io": sum([4, 5, 6][:ranks]),
        }
    )
    # Dense ones have no hole, and no KiB of data is in two files or at two places.
    pieces = {
        name: [content[i : i + KIB] for i in range(0, len(content), KIB)]
        for name, content in files.items()
    }
    assert {name for name in DENSE if bytes(KIB) in pieces[name]} == set()
    written = [p for each in pieces.values() for p in each if p != bytes(KIB)]
    assert len(set(written)) == len(written)
    # Two of the four requests of each rank are before the gap.
    gap = ranks * 2
    assert bytes(KIB) not in pieces["nested-strided"][:gap]
    assert pieces["nested-strided"][gap : gap + ranks] == [bytes(KIB)] * ranks


def test_what_does_not_fit_is_left_out_with_its_reason(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """A share of 6 KiB is not a multiple of 4 KiB, and its 6 calls of 1 KiB are not whole groups of
    4."""
    words = ["pio", "--size", "6KiB", "--buffer", "1KiB,4KiB", "--temporal", "write"]
    run = any_engine.run([*words, "--dir", data], tmp_path)
    assert run.code == 0, run
    assert {m["pattern"] for m in run.result.measurements} == {"sequential", "flash-io", *DENSE}
    assert {m["where"]["buffer_bytes"] for m in run.result.measurements} == {KIB}
    reasons = [
        "a buffer of 4 KiB: the share of 6 KiB is not a multiple of it",
        "nested-strided with a buffer of 1 KiB: --nested-count 4 does not divide the 6 calls of a "
        "rank",
    ]
    assert sorted(run.result.run["study"]["left_out"]) == reasons
    for reason in reasons:
        assert run.stdout.count(f"left out: {reason}\n") == 1, run


def test_a_pattern_of_ones_own(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    words = ["pio", "--levels", "1KiB*2/4KiB,3/16KiB", "--calls", "collective", "--by", "type"]
    run = any_engine.run([*words, "--keep", "--temporal", "read", "--dir", data], tmp_path)
    assert run.code == 0, run
    assert {m["pattern"] for m in run.result.measurements} == {"own"}
    assert {m["bytes"] for m in run.result.measurements} == {2 * 6 * KIB}
    (file,) = data.iterdir()
    assert file.stat().st_size == 32 * KIB + 4 * KIB + KIB + KIB
    assert run.result.run["study"]["levels"] == "1KiB*2/4KiB,3/16KiB"


def test_hints_are_variants(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    words = ["pio", *SMALL, "--spatial", "tiled", "--temporal", "write", "--dir", data]
    run = any_engine.run([*words, "--sieving", "on,off", "--two-phase", "off"], tmp_path)
    assert run.code == 0, run
    for state, hint in (("on", "enable"), ("off", "disable")):
        (m,) = run.result.rows(sieving=state)
        assert m["hints_asked"] == {
            "romio_ds_read": hint,
            "romio_ds_write": hint,
            "romio_cb_read": "disable",
            "romio_cb_write": "disable",
        }


CONFIG = """\
# two modules
BufferSize 1KiB 2KiB
DataSize 4KiB
<ap_module>
    ModuleName "Nested Strided (re-read)"
    ModuleReps 2
    ModuleSettleTime 10ms
</ap_module>
<ap_module>
    ModuleName Segmented
    BufferSize 4KiB
</ap_module>
"""


def test_a_configuration_file(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    file = tmp_path / "pio-bench.conf"
    file.write_text(CONFIG)
    words = ["pio", "--config", file, "--nested-count", "2", "--dir", data]
    run = any_engine.run(words, tmp_path)
    assert run.code == 0, run
    found = [
        (m["pattern"], m["access"], m["where"]["buffer_bytes"])
        for m in run.result.measurements
        if m["repetition"] == 1
    ]
    assert found == [
        *(("nested-strided", a, b * KIB) for b in (1, 2) for a in ("write", "read", "re-read")),
        *(("segmented", a, 4 * KIB) for a in ALL),
    ]
    assert len(run.result.measurements) == 2 * len(found)
    assert run.result.run["study"]["config"] == str(file)
    planned = any_engine.run([*words, "--plan-json"], tmp_path, ranks=1)
    assert planned.code == 0, planned
    plan = json.loads(planned.stdout)
    assert [(c["pattern"], c["access"]) for c in plan["cells"]] == [f[:2] for f in found]


def test_a_configuration_file_with_faults(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    file = tmp_path / "pio-bench.conf"
    file.write_text(CONFIG.replace("(re-read)", "(append)"))
    for words, ranks in ((["--quiet"], 2), (["--plan"], 1)):
        run = any_engine.run(["pio", "--config", file, *words, "--dir", data], tmp_path, ranks)
        assert run.code == 2, run
        # Reported once, whatever the number of ranks.
        assert run.stderr.count(f"{file}:5: no access 'append'") == 1, run
    for other in (tmp_path / "none.conf", tmp_path):
        run = any_engine.run(["pio", "--config", other, "--dir", data], tmp_path)
        assert run.code == 2, run
        assert re.search(f"read the configuration file.*{other}", run.stderr), run
    assert list(data.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--buffer", "3KiB"], "4 MiB is not a multiple of it"),
        (
            ["--spatial", "nested-strided", "--nested-count", "3"],
            "--nested-count 3 does not divide",
        ),
        (["--spatial", "unstructured-mesh", "--size", "12B", "--buffer", "4B"], "8 bytes"),
        (
            ["--spatial", "unstructured-mesh", "--size", "1PiB", "--buffer", "1MiB"],
            "4194304 allowed",
        ),
        (["--levels", "4KiB*2/1KiB"], "--levels '4KiB*2/1KiB': a stride of 1KiB is less"),
        (["--levels", "many"], "innermost first"),
        (["--levels", "4KiB", "--layout", "c-nc"], "use --layout c-c or nc-c"),
        (["--spatial", "own"], "--levels says what it is"),
        (["--rank-stride", "1KiB"], "--rank-stride belongs to --levels"),
        (["--backend", "posix", "--sieving", "off"], "hints of --backend mpiio"),
        (["--config", "x", "--spatial", "tiled"], "--config: the file says"),
        (["--prefix", "a/b"], "--prefix"),
        (["--spatial", "diagonal"], "diagonal"),
        (["--temporal", "append"], "append"),
        (["--settle", "-1s"], "--settle"),
        (
            [
                *("--spatial", "tiled", "--size", "9PB", "--buffer", "1B"),
                *("--spacing", "1GiB", "--layout", "c-nc"),
            ],
            "longer",
        ),
        (["--backend", "hdf5"], "hdf5"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    any_engine: Engine, tmp_path: Path, data: Path, words: list[str], said: str
) -> None:
    run = any_engine.run(["pio", *words, "--dir", data], tmp_path)
    assert run.code == 2, run
    assert said in run.stderr, run
    assert list(data.iterdir()) == []
