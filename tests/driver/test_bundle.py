# SPDX-License-Identifier: BSD-3-Clause
"""Submissions: what is in them, and that no change of them stays unseen."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import stat
import subprocess
import tarfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from driver import made
from driver.conftest import Effio
from effio.engine.kept import packed
from effio.errors import EffioError
from effio.judge.manifest import verify, write_sums
from effio.store.folder import RunFolder
from patience import SECONDS

ROOT = Path(__file__).resolve().parents[2]
RULES = """schema = "effio-rules/1"
title = "Small"
[[rule]]
id = "write"
title = "Shared writes"
kind = "threshold"
select = { access = "write", "where.chunk_bytes" = 1024, pattern = "shared" }
at_least = "1GB/s"
"""
SUBMISSION = """title = "Offer of Example Corp."
submitter = "Example Corp."
audit = ["compiled with -O3, no change of the sources"]
[[system]]
letter = "A"
processor = "Example 9000"
clock_mhz = 2600
interconnect = "Example Fabric"
cores = 128
[[projection]]
rule = "write"
value = "1.2GB/s"
method = "240 times the servers"
base = "first"
system = "A"
"""


def keep(effio: Effio, name: str, factor: float, **more: Any) -> Path:
    folder = effio.cwd / "effio-runs" / name
    lines = made.b_eff_io()
    lines[0] |= more
    for line in lines:
        if line["kind"] == "measurement":
            line["rate"]["value"] *= factor
    made.write(folder / "result.jsonl", lines)
    record = {
        "schema": "effio-run/1", "id": name, "created": "2026-11-20T11:59:59Z",
        "benchmark": "b-eff-io", "arguments": ["--time=12s"], "directory": "/",
        "command": ["mpiexec"], "launcher": "local", "process": {"host": "n1"},
    }  # fmt: skip
    (folder / "run.json").write_text(json.dumps(record))
    (folder / "stdout.log").write_text("said\n")
    (folder / "job.sh").write_text("#!/bin/sh\n")
    (folder / "secret.key").write_text("mine\n")
    RunFolder(folder).seal()
    return folder


@pytest.fixture
def bundle(effio: Effio) -> Path:
    keep(effio, "first", 1.0)
    keep(effio, "second", 1.1)
    (effio.cwd / "rules.toml").write_text(RULES)
    (effio.cwd / "submission.toml").write_text(SUBMISSION)
    (effio.cwd / "build.log").write_text("compiled\n")
    done = effio.call(
        "bundle", "first", "second", "-o", "out", "--rules", "rules.toml",
        "--submission", "submission.toml", "--include", "build.log",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()[-1].rpartition(" ")[2]
    assert said == hashlib.sha256((effio.cwd / "out/SHA256SUMS").read_bytes()).hexdigest()
    return effio.cwd / "out"


def rows(bundle: Path, name: str) -> list[dict[str, str]]:
    with (bundle / f"tables/{name}.csv").open() as stream:
        return list(csv.DictReader(stream))


def smallest(results: list[dict[str, str]]) -> list[dict[str, str]]:
    """The smallest of shared writes: those of 1 KiB, not those of 8 bytes more."""
    return [r for r in results if r["Test"].startswith("shared write, 1 KiB,")]


def test_what_is_in_it(bundle: Path) -> None:
    for run in ("first", "second"):
        kept = sorted(p.name for p in (bundle / "runs" / run).iterdir())
        assert kept == ["SHA256SUMS", "job.sh", "result.jsonl", "run.json", "stdout.log"]
    inputs = sorted(p.name for p in (bundle / "inputs").iterdir())
    assert inputs == ["build.log", "rules.toml", "submission.toml"]
    (system,) = rows(bundle, "systems")
    assert system == {
        "System": "A", "Name": "", "Processor": "Example 9000", "Clock/MHz": "2600.0",
        "Interconnect": "Example Fabric", "Total Core Count": "128",
    }  # fmt: skip
    # Shared writes of 1 KiB: 5 and 5.5 MB/s; deviation 0.5/sqrt(2), COV a fifteenth of sqrt(2)/2.
    results = rows(bundle, "results-b-eff-io")
    first = next(
        r for r in results if r["Test"].startswith("shared write") and "1 KiB" in r["Test"]
    )
    assert float(first["Benchmarked Rate"]) == pytest.approx(5.25)
    assert (first["System"], first["Units"], first["Values"]) == ("A", "MB/s", "2")
    assert float(first["COV"]) == pytest.approx(0.5 / 2**0.5 / 5.25)
    # Projected: measured 5 MB/s in the run that is its base.
    (projected,) = (r for r in results if r["Projected Rate"])
    assert projected["Test"] == "Shared writes (projected)"
    assert (projected["Benchmarked Rate"], projected["Projected Rate"]) == ("5.0", "1200.0")
    (reported,) = rows(bundle, "projections")
    assert (reported["Rule"], reported["System"], reported["Method"]) == (
        "write",
        "A",
        "240 times the servers",
    )
    assert rows(bundle, "acceptance")[0]["ruling"] == "✓ pass (projected)"
    options = {(r["run"], r["option"]): r for r in rows(bundle, "options")}
    assert options["first", "time"]["asked"] == "12s"
    assert options["first", "time"]["effective"] == "12 s"
    audit = [(r["run"], r["what"]) for r in rows(bundle, "audit")]
    assert ("first", "started by effio with local on n1") in audit
    assert ("first", "unchanged since its end, by its checksums") in audit
    assert ("", "the submitter: compiled with -O3, no change of the sources") in audit
    versions = {(r["run"], r["what"]): r["version"] for r in rows(bundle, "versions")}
    assert versions["first", "engine"] == "effio-mpi 0.1.0 (abc1234)"


def test_page_and_markdown_show_the_same(bundle: Path) -> None:
    page, markdown = ((bundle / n).read_text() for n in ("index.html", "submission.md"))
    for text in ("Offer of Example Corp.", "Table 2. System Description", "Example 9000"):
        assert text in page
        assert text in markdown
    assert "| Shared writes (projected) | A | 5.000 | 1200 | MB/s |" in markdown
    assert "Shared writes (projected)" in page
    assert "Submitted by Example Corp." in markdown


def test_others_can_check_it(bundle: Path) -> None:
    subprocess.run(
        ["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=bundle, check=True, timeout=SECONDS
    )


def test_a_changed_run_is_reported(effio: Effio) -> None:
    folder = keep(effio, "first", 1.0)
    (folder / "stdout.log").write_text("other\n")
    assert effio.call("bundle", "first", "-o", "out").returncode == 0
    audit = [r["what"] for r in rows(effio.cwd / "out", "audit")]
    assert "CHANGED after its end: stdout.log" in audit


def test_log_and_sources_of_the_engine_are_in_it(effio: Effio) -> None:
    home = effio.cwd / "data/engines/openmpi-0123456789"
    home.mkdir(parents=True)
    for name, text in (("effio-mpi", "#!/bin/sh\n"), ("build.log", "g++ …\n")):
        (home / name).write_text(text)
    (home / "sources.tar.gz").write_bytes(packed(ROOT))
    program = home / "effio-mpi"
    sha256 = hashlib.sha256(program.read_bytes()).hexdigest()
    folder = keep(effio, "first", 1.0)
    record = json.loads((folder / "run.json").read_text())
    record["engine"] = {"path": str(program), "sha256": sha256, "version": "1.0"}
    (folder / "run.json").write_text(json.dumps(record))
    data = {"EFFIO_DATA": str(effio.cwd / "data")}
    done = effio.call("bundle", "first", "-o", "out", env=data)
    assert done.returncode == 0, done.stderr
    kept = effio.cwd / "out/engine" / f"effio-mpi-1.0-{sha256[:10]}"
    assert (kept / "build.log").read_text() == "g++ …\n"
    with tarfile.open(kept / "sources.tar.gz") as archive:
        names = archive.getnames()
        assert "effio-sources/engine/main.cpp" in names
        assert "effio-sources/CMakeLists.txt" in names
        assert archive.extractfile("effio-sources/VERSION").read() == (  # type: ignore[union-attr]
            (ROOT / "VERSION").read_bytes()
        )
    assert packed(ROOT) == packed(ROOT)
    audit = [r["what"] for r in rows(effio.cwd / "out", "audit")]
    assert any(f"effio-mpi-1.0-{sha256[:10]}: build.log, sources.tar.gz" in what for what in audit)
    assert faults(effio.cwd / "out") == []
    # Another program in its place is not what measured.
    program.write_text("#!/bin/sh\nexit 1\n")
    done = effio.call("bundle", "first", "-o", "other", env=data)
    assert "is no longer the engine that measured" in done.stderr
    assert not (effio.cwd / "other/engine").exists()


def test_tables_as_a_workbook_and_a_document(bundle: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(bundle / "submission.xlsx")
    assert book.sheetnames[:2] == ["systems", "results-b-eff-io"]
    heading, first = [[cell.value for cell in row] for row in book["systems"].iter_rows()][:2]
    assert heading[:3] == ["System", "Name", "Processor"]
    assert first[:3] == ["A", None, "Example 9000"]
    docx = pytest.importorskip("docx")
    document = docx.Document(bundle / "submission.docx")
    assert document.paragraphs[0].text == "Offer of Example Corp."
    assert document.tables[0].rows[1].cells[2].text == "Example 9000"


def test_runs_that_do_different_things_have_no_common_mean(effio: Effio) -> None:
    keep(effio, "first", 1.0)
    keep(effio, "second", 3.0, options={"time": 24.0, "rewrite": False})
    assert effio.call("bundle", "first", "second", "-o", "out").returncode == 0
    results = rows(effio.cwd / "out", "results-b-eff-io")
    reported = [(r["Test"].rpartition(", ")[2], r["Benchmarked Rate"]) for r in smallest(results)]
    assert [(name, float(rate)) for name, rate in reported] == [
        ("time 12 s", 5.0),
        ("time 24 s", 15.0),
    ]


def test_an_axis_that_is_an_option_is_named_once(effio: Effio) -> None:
    place = {"name": "c", "step": "s", "point": "0", "repetition": 0}
    for name, factor, axis in (("first", 1.0, "12s"), ("second", 3.0, "24s")):
        folder = keep(effio, name, factor, options={"time": float(axis[:-1])})
        record = json.loads((folder / "run.json").read_text())
        record["campaign"] = {**place, "point": axis, "axes": {"time": axis}}
        (folder / "run.json").write_text(json.dumps(record))
    assert effio.call("bundle", "first", "second", "-o", "out").returncode == 0
    results = rows(effio.cwd / "out", "results-b-eff-io")
    apart = {tuple(w for w in r["Test"].split(", ") if w.startswith("time")) for r in results}
    assert apart == {("time 12 s",), ("time 24 s",)}


def faults(folder: Path) -> list[tuple[str, str]]:
    return [(f.kind, f.name) for f in verify(folder)[0]]


def test_every_change_is_found(bundle: Path, tmp_path: Path) -> None:
    assert faults(bundle) == []
    files = sorted(p for p in bundle.rglob("*") if p.is_file())
    assert len(files) > 20
    for path in files:
        name = path.relative_to(bundle).as_posix()
        whole = path.read_bytes()
        for at in (0, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            assert faults(bundle), f"{name}, byte {at}"
        for other in (whole + b"\n", whole[:-1], b""):
            path.write_bytes(other)
            assert faults(bundle), name
        path.write_bytes(whole)
        if name != "SHA256SUMS":
            path.unlink()
            assert faults(bundle) == [("missing", name)]
            path.write_bytes(whole)
    assert faults(bundle) == []
    (bundle / "runs/first/more").write_text("")
    (bundle / "empty").mkdir()
    (bundle / "link").symlink_to("index.html")
    assert faults(bundle) == [("added", "runs/first/more"), ("added", "empty/"), ("added", "link")]
    # A file in whose place a link to the same bytes stands.
    for name in ("runs/first/more", "link"):
        (bundle / name).unlink()
    (bundle / "empty").rmdir()
    shutil.move(bundle / "submission.md", tmp_path / "moved.md")
    (bundle / "submission.md").symlink_to(tmp_path / "moved.md")
    assert faults(bundle) == [("missing", "submission.md")]


def test_a_hostile_bundle_costs_neither_time_nor_memory(bundle: Path) -> None:
    """`verify` waits for no FIFO, reads no device and nothing outside, and bounds the sums."""
    sums = bundle / "SHA256SUMS"
    whole = sums.read_bytes()
    os.mkfifo(bundle / "fifo")
    os.mknod(bundle / "zero", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    (bundle / "loop").symlink_to("loop")
    assert faults(bundle) == [("added", "fifo"), ("added", "loop"), ("added", "zero")]
    names = ["fifo", "zero", "loop", "../outside", "/etc/hostname", "a\x1b[2Jb", "runs"]
    sums.write_bytes(whole + b"".join(f"{'0' * 64}  {name}\n".encode() for name in names))
    found = verify(bundle)[0]
    assert {fault.kind for fault in found} <= {"missing", "added", "changed"}
    assert {"fifo", "zero", "loop", "../outside"} <= {fault.name for fault in found}
    for name in ("fifo", "zero", "loop"):
        (bundle / name).unlink()
    sums.unlink()
    os.mkfifo(sums)
    with pytest.raises(EffioError):
        verify(bundle)
    sums.unlink()
    sums.touch()
    os.truncate(sums, 8 << 30)
    tracemalloc.start()
    with pytest.raises(EffioError):
        verify(bundle)
    assert tracemalloc.get_traced_memory()[1] < 200_000_000
    tracemalloc.stop()


def test_the_commands_say_so(bundle: Path, effio: Effio) -> None:
    done = effio.call("verify-bundle", "out")
    assert done.returncode == 0
    identity = done.stdout.split()[-1]
    assert effio.call("verify-bundle", "out", "--sha256", identity).returncode == 0
    (bundle / "submission.md").write_text("better\n")
    done = effio.call("verify-bundle", "out")
    assert (done.returncode, done.stdout) == (1, "changed: submission.md\n")
    # With new checksums all fits again, but they are others.
    write_sums(bundle)
    assert effio.call("verify-bundle", "out").returncode == 0
    done = effio.call("verify-bundle", "out", "--sha256", identity)
    assert done.returncode == 1
    assert "other checksums" in done.stdout


def test_mistakes(effio: Effio) -> None:
    keep(effio, "first", 1.0)
    (effio.cwd / "there").mkdir()
    (effio.cwd / "submission.toml").write_text(SUBMISSION)
    for words, said in (
        (("bundle", "first", "-o", "there"), "there exists\n       name another one, or remove it"),
        (("bundle", "first"), "Missing option"),
        (("bundle", "first", "-o", "x", "--submission", "submission.toml"), "--rules RULES"),
        (("bundle", "nothing", "-o", "x"), "no run 'nothing'"),
        (("verify-bundle", "there"), "is not a bundle"),
        (("verify-bundle", "nowhere"), "nowhere: not a folder"),
    ):
        done = effio.call(*words)
        assert done.returncode == 2, words
        assert said in done.stderr
        assert not (effio.cwd / "x").exists()
    (effio.cwd / "there/SHA256SUMS").write_text("x\n")
    done = effio.call("verify-bundle", "there")
    assert done.returncode == 1
    assert "line 1 is not a checksum" in done.stdout


def test_hostile_texts_stay_texts(effio: Effio) -> None:
    bad = made.write(effio.cwd / "x.jsonl", made.hostile(" ".join(made.HOSTILE)), foreign=True)
    done = effio.call("bundle", bad, "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "<script>window.hacked" not in (effio.cwd / "out/index.html").read_text()
    assert "<script>" not in (effio.cwd / "out/submission.md").read_text()
    assert faults(effio.cwd / "out") == []
