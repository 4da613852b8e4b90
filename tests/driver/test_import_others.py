# SPDX-License-Identifier: BSD-3-Clause
"""`effio import` of files that are not a text of a known program: compressed, in another encoding,
empty, of effio itself. The message says what the file is and which command takes it."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from driver.conftest import Effio
from effio.errors import EffioError
from effio.imports import formats, keep
from effio.store import all_runs
from effio.store.all_runs import Store
from effio.store.folder import RunFolder

HERE = Path(__file__).parent
FOREIGN = HERE / "foreign"
TEXTS = sorted(file for file in FOREIGN.iterdir())


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_a_mark_of_utf8_changes_no_number(file: Path, tmp_path: Path) -> None:
    """Editors of other systems put one before the text."""
    marked = tmp_path / file.name
    marked.write_bytes(codecs.BOM_UTF8 + file.read_bytes())
    form, runs = formats.read(marked)
    plain_form, plain_runs = formats.read(file)
    assert form is plain_form
    assert runs == plain_runs


def _refused(path: Path) -> EffioError:
    with pytest.raises(EffioError) as caught:
        formats.read(path)
    return caught.value


@pytest.mark.parametrize(
    ("name", "packed", "command"),
    [
        ("gzip", gzip.compress, "gzip -dk"),
        ("bzip2", bz2.compress, "bzip2 -dk"),
        ("xz", lzma.compress, "xz -dk"),
        # The first bytes of its frame (RFC 8878, 3.1.1).
        ("zstd", lambda text: b"\x28\xb5\x2f\xfd" + text[:100], "zstd -dk"),
    ],
)
def test_a_compressed_file_is_named_with_what_unpacks_it(
    name: str, packed: Callable[[bytes], bytes], command: str, tmp_path: Path
) -> None:
    file = tmp_path / "old runs" / "ior.txt.z"
    file.parent.mkdir()
    file.write_bytes(packed((FOREIGN / "ior.txt").read_bytes()))
    error = _refused(file)
    assert error.message == f"{file}: is compressed ({name})"
    assert f"{command} '{file}'" in error.hint


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_in_utf16_is_not_called_of_an_unknown_program(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "fio.json"
    file.write_bytes((FOREIGN / "fio.json").read_text().encode(encoding))
    error = _refused(file)
    assert error.message == f"{file}: is not a text in UTF-8"
    assert f"iconv -f UTF-16 -t UTF-8 {file}" in error.hint


def test_an_empty_file_is_called_empty(tmp_path: Path) -> None:
    for text in (b"", b"\n \r\n"):
        file = tmp_path / "ior.out"
        file.write_bytes(text)
        assert _refused(file).message == f"{file}: is empty"


def test_files_of_other_commands_name_the_command() -> None:
    result = _refused(HERE / "old/ssca3-1.2.jsonl")
    assert "a result of effio itself" in result.message
    assert f"effio show {HERE / 'old/ssca3-1.2.jsonl'}" in result.hint
    log = _refused(HERE / "darshan/ior-segments.darshan")
    assert "is a Darshan log" in log.message
    assert "effio profile" in log.hint


def test_broken_json_is_described_in_words(tmp_path: Path) -> None:
    deep = 100_000 * "["
    elbencho = '{"phase_type": 1, "first_done": 2, "last_done": ' + deep
    for name, text in (
        ("fio", '{"fio version": "fio-3.33", "jobs": ' + deep),
        ("elbencho", elbencho),
        ("IOR", '{"Command line": "ior", "tests": ' + deep),
    ):
        file = tmp_path / "deep.json"
        file.write_text(text)
        message = _refused(file).message
        assert f"JSON of {name}" in message
        assert "nested too deeply" in message
    file.write_text('{"Command line": "ior", "tests": [{"Parameters": {}, "Options": {}}]}')
    assert _refused(file).message.endswith("it has no member 'Results'")
    file.write_text('{"fio version": "fio-3.33", "jobs": 7}')
    assert _refused(file).message.endswith("a value is of another kind")


def test_a_full_place_of_runs_is_not_a_wrong_file(effio: Effio, mount: Callable[..., Path]) -> None:
    full = mount("-t", "tmpfs", "-o", "size=4k", "none")
    for files in (("ior.txt",), ("ior.txt", "fio.json")):
        done = effio.call("--runs", full / "runs", "import", *(FOREIGN / file for file in files))
        assert "No space left on device" in done.stderr
        assert done.returncode == 7, done.stderr
    assert "2 files of 2 not imported" in done.stderr


def test_imports_at_the_same_time_keep_a_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second effio starts when the first has found that the file is not here yet."""
    file = FOREIGN / "ior.txt"
    store = Store(tmp_path / "runs")
    known = keep._known
    refused: list[EffioError] = []

    def known_slowly(there: Store) -> dict[tuple[str, int], RunFolder]:
        found = known(there)
        if not refused:
            with pytest.raises(EffioError, match="another effio imports files") as caught:
                keep.import_file(file, Store(tmp_path / "runs"), ())
            refused.append(caught.value)
        return found

    monkeypatch.setattr(all_runs, "_IMPORT_PATIENCE", 0.0)
    monkeypatch.setattr(keep, "_known", known_slowly)
    assert len(keep.import_file(file, store, ()).new) == 1
    assert len(refused) == 1
    again = keep.import_file(file, store, ())
    assert (len(again.new), len(again.there)) == (0, 1)
    assert len(store.folders()) == 1


def test_a_store_that_was_made_for_nothing_goes(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    with pytest.raises(EffioError), store.importing():
        raise EffioError("the file cannot be kept")
    assert not store.root.exists()
