# SPDX-License-Identifier: BSD-3-Clause
"""What a killed run left behind: found through the manifest in its result file, and removed.

A manifest is a claim. It counts if store/proof.py believes it, and then only its names and what
MPI libraries keep next to them, only inside its directories, only plain files of this user that the
run made. Of trees that hold its token, what the manifest says that the run makes in them, and
directories when they are empty. All work is done through descriptors of directories
(store/removal.py); links are never followed.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from effio import text as fmt
from effio.errors import EffioError
from effio.store import abilities, proof, removal, safe_files
from effio.store.answering import must_answer
from effio.store.folder import RunFolder
from effio.store.proof import Window
from effio.store.reader import Result
from effio.store.records import FileSet, Manifest, NameSet, TreeSet

_CONVERSION = re.compile(r"%%|%d|%0(\d{1,2})d")
# In the root of each tree: the token of the run that made it (engine/storage/own_tree.hpp).
OWNER_FILE = ".effio-owner"
# What ROMIO keeps next to a file for its shared pointer; what each rank of OMPIO makes for a moment
# of an open to see whether locks work there.
_SIDE_FILES = (re.compile(r"\.(.+)\.shfp\.[\d.]+"), re.compile(r"(.+)\.locktest\.\d+"))
_MAX_NAMES = 50_000_000
_ANY = 10**18
_NAMES_OF_MDTEST = (
    ("directory", "mdtest_tree.%d"),
    ("directory", "mdtest_tree.%d.%d"),
    ("directory", "mdtest_moved"),
    ("directory", "mdtest_moved.%d"),
    ("directory", "dir.mdtest.%d.%d"),
    ("directory", "dir.mdtest.%d.%d.spare"),
    ("file", "file.mdtest.%d.%d"),
    ("file", "file.mdtest.%d.%d.spare"),
    ("file", "file.mdtest.%d.%d.link"),
    ("file", "file.mdtest.shared.%d"),
    ("file", "file.populate.%d"),
    ("link", "file.mdtest.%d.%d.symlink"),
)
# What opening a directory says of a link on the way there.
_OF_LINKS = {errno.ELOOP, errno.ENOTDIR}
_HIDDEN = "files of a server that is away only look removed; try again when it is back"
# Clocks of file servers differ from ours by a little.
_SKEW_NS = 5_000_000_000


class RefusedRunError(EffioError):
    """The run, or its copy here, is not one that may say what is removed."""


@dataclass(frozen=True)
class Leftover:
    path: Path
    bytes: int
    # The part of the path that was opened whatever it is: the manifest's directory.
    base: Path
    # Of a tree: what may be removed in it.
    names: tuple[NameSet, ...] | None = None
    # Of a file, as it was seen: another one of its name is not removed.
    identity: tuple[int, ...] | None = None

    @property
    def is_mark(self) -> bool:
        """The file that proves that the others are the run's; it goes last."""
        return self.path.name.startswith(proof.MARK)

    @property
    def tree(self) -> bool:
        return self.names is not None


@dataclass(frozen=True)
class Kept:
    """A name of the manifest that is there, but is not ours to remove."""

    path: Path
    why: str


@functools.cache
def _names_of_mdtest() -> tuple[NameSet, ...]:
    """What mdtest makes in its trees, for results of engines that did not yet write it down."""
    return tuple(
        NameSet.model_validate({"kind": kind, "name": name, "counts": [_ANY] * name.count("%d")})
        for kind, name in _NAMES_OF_MDTEST
    )


def _name(pattern: str, index: int) -> str:
    def written(found: re.Match[str]) -> str:
        if found.group() == "%%":
            return "%"
        return f"{index:0{found.group(1) or 1}d}"

    return _CONVERSION.sub(written, pattern)


def names_of(files: Iterable[FileSet]) -> Iterator[tuple[FileSet, str]]:
    """Every name that the run may have created. Raises if one points outside its directory."""
    files = list(files)
    for entry in files:
        parts = Path(entry.name).parts
        if entry.name.startswith("/") or ".." in parts or "\0" in entry.name or not parts:
            raise EffioError(
                f"the manifest names '{fmt.plain(entry.name)}', which is not inside its directory; "
                "nothing is removed"
            )
    if sum(f.count for f in files) > _MAX_NAMES:
        raise EffioError("the manifest names too many files; nothing is removed")
    for entry in files:
        for i in range(entry.count):
            yield entry, _name(entry.name, entry.first + i * entry.step)


def side_files(files: Iterable[FileSet], directory: Path) -> Iterator[str]:
    """Files that MPI libraries put next to those of the manifest and leave there when killed."""
    ours = re.compile("|".join(_form(Path(entry.name).name) for entry in files))
    try:
        names = [path.name for path in directory.iterdir()]
    except OSError:
        return
    for name in names:
        sides = (form.fullmatch(name) for form in _SIDE_FILES)
        if any(side is not None and ours.fullmatch(side.group(1)) for side in sides):
            yield name


def _form(pattern: str) -> str:
    """A pattern of names as a regular expression, whatever the index."""
    parts, end = [], 0
    for found in _CONVERSION.finditer(pattern):
        parts += [re.escape(pattern[end : found.start()]), "%" if found[0] == "%%" else r"\d+"]
        end = found.end()
    return "".join(parts) + re.escape(pattern[end:])


def directory_of(result: Result, folder: RunFolder | None) -> Path:
    """Where the data files are. A relative directory (older results have it) counts from where the
    run was started."""
    manifest = result.run.manifest
    assert manifest is not None
    directory = Path(manifest.directory)
    if directory.is_absolute():
        must_answer(directory)
        here = os.uname().nodename
        if manifest.host not in ("", here) and not directory.is_dir():
            raise EffioError(
                f"the data are in '{fmt.plain(directory)}' as {fmt.plain(manifest.host)} sees it; "
                f"{here} does not see it",
                hint=f"run effio clean on {fmt.plain(manifest.host)}",
            )
        return directory
    record = folder.record() if folder is not None else None
    if record is None:
        raise EffioError(
            f"the result says that the data are in '{fmt.plain(manifest.directory)}', but not where"
            " that is counted from",
            hint="name it: effio clean RUN --dir DIR",
        )
    return must_answer(Path(record.directory) / directory)


def _started_ns(result: Result) -> int:
    try:
        moment = datetime.strptime(result.run.started, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        raise EffioError("the result does not say when it was started") from None
    return int(moment.replace(tzinfo=timezone.utc).timestamp()) * 1_000_000_000


def _check_provenance(result: Result, folder: RunFolder | None) -> None:
    """Raises if the result is not one that this user's effio made here."""
    if folder is not None:
        if fault := proof.folder_fault(folder.path, folder.record()):
            raise RefusedRunError(f"{fmt.plain(folder.id)}: {fault}; nothing is removed")
    elif fault := proof.not_ours(result.path):
        raise RefusedRunError(f"{fmt.plain(result.path)} {fault}; nothing is removed")


def _by_time(result: Result, folder: RunFolder | None) -> Window | str:
    """The window of files that a run kept: made while it lasted, as its own folder says."""
    if folder is None:
        return "it was kept, and without the run's folder nothing proves that the run made it"
    last = proof.last_sign_of_life(folder.path)
    return Window(_started_ns(result), last, skew=_SKEW_NS)


class _Places:
    """The data directories of a run, with what proves that files in them are its own."""

    def __init__(
        self, result: Result, manifest: Manifest, folder: RunFolder | None, also_kept: bool
    ) -> None:
        self._result = result
        self._manifest = manifest
        self._folder = folder
        self._also_kept = also_kept
        self._known: dict[Path, Window | str] = {}
        self.marked: list[Path] = []
        # Of places with names that could not be looked at, or that may only look removed: why.
        self.unsure: dict[Path, str] = {}

    def check(self, base: Path) -> None:
        """Whether what looks removed there is."""
        if abilities.hides_files(base):
            self.unsure[base] = _HIDDEN

    def why(self, base: Path, path: Path, error: OSError, otherwise: str) -> str:
        """Why something is left alone that could not be opened: `otherwise`, if a link led there or
        something else has its name."""
        if error.errno in _OF_LINKS:
            return otherwise
        self.unsure[base] = f"{fmt.plain(path.name)} cannot be reached ({error.strerror})"
        return f"it cannot be reached ({error.strerror})"

    def window(self, base: Path) -> Window | str:
        """When the run made files there, or why that is not known."""
        if base not in self._known:
            self._known[base] = self._found(base)
        return self._known[base]

    def _found(self, base: Path) -> Window | str:
        try:
            with safe_files.directory(base) as handle:
                if fault := proof.place_fault(handle, base, self._manifest):
                    return fault
                window = proof.window_by_mark(handle, self._manifest)
        except OSError as error:
            return error.strerror or str(error)
        if isinstance(window, Window):
            self.marked.append(base)
        elif self._also_kept:
            return _by_time(self._result, self._folder)
        return window


def leftovers(
    result: Result, directory: Path, also_kept: bool = False, folder: RunFolder | None = None
) -> tuple[list[Leftover], list[Kept]]:
    """What is there, and what is there but is not to be touched. Removes nothing. Raises if the
    run is not one of ours."""
    manifest = result.run.manifest
    if manifest is None or not manifest.real:
        return [], []
    if manifest.keep and not also_kept:
        raise EffioError(
            f"the run was asked to keep its data files in {directory}",
            hint="effio clean RUN --kept removes them all the same",
        )
    _check_provenance(result, folder)
    for base in (directory, *map(Path, _directories(manifest))):
        must_answer(base)
    places = _Places(result, manifest, folder, also_kept)
    for base in dict.fromkeys([directory, *map(Path, _directories(manifest))]):
        places.check(base)
    found: list[Leftover] = []
    kept: list[Kept] = []
    for base, name in _names_by_directory(manifest, directory, also_kept):
        _look_at(base, name, places, found, kept)
    for trees in manifest.trees:
        _look_at_trees(trees, manifest, directory, places, also_kept, found, kept)
    for base in dict.fromkeys([directory, *map(Path, _directories(manifest))]):
        places.window(base)
    mark = proof.mark_name(manifest)
    for base in places.marked:
        # Without the mark nothing could be removed later.
        if base in places.unsure:
            kept.append(Kept(base / mark, f"it stays: {places.unsure[base]}"))
        else:
            _look_at(base, mark, places, found, kept)
    return found, kept


def _directories(manifest: Manifest) -> list[str]:
    own = ("", manifest.directory)
    all_of_them = [
        *(one.directory for one in manifest.files),
        *(one.directory for one in manifest.trees),
    ]
    return [one for one in all_of_them if one not in own]


def _names_by_directory(
    manifest: Manifest, directory: Path, also_kept: bool
) -> Iterator[tuple[Path, str]]:
    def base_of(entry: FileSet) -> Path:
        own = entry.directory in ("", manifest.directory)
        return directory if own else Path(entry.directory)

    files = [entry for entry in manifest.files if also_kept or not entry.keep]
    for entry, name in names_of(files):
        yield base_of(entry), name
    for base in dict.fromkeys(base_of(entry) for entry in files):
        for name in side_files([entry for entry in files if base_of(entry) == base], base):
            yield base, name


def _look_at(
    base: Path, name: str, places: _Places, found: list[Leftover], kept: list[Kept]
) -> None:
    path = base / name
    try:
        with removal.parent_of(base, path) as parent:
            info = os.stat(path.name, dir_fd=parent, follow_symlinks=False)
            born = proof.born_ns(parent, path.name, info)
    except FileNotFoundError:
        return
    except OSError as error:
        kept.append(Kept(path, places.why(base, path, error, "outside the directory")))
        return
    window = places.window(base)
    if not stat.S_ISREG(info.st_mode):
        kept.append(Kept(path, "not a plain file"))
    elif info.st_uid != os.geteuid():
        kept.append(Kept(path, "belongs to another user"))
    elif info.st_nlink != 1:
        kept.append(Kept(path, "has a second name (a hard link)"))
    elif isinstance(window, str):
        kept.append(Kept(path, window))
    elif fault := window.fault(born):
        kept.append(Kept(path, fault))
    else:
        found.append(Leftover(path, info.st_size, base, identity=removal.identity(info)))


def _look_at_trees(
    trees: TreeSet,
    manifest: Manifest,
    directory: Path,
    places: _Places,
    also_kept: bool,
    found: list[Leftover],
    kept: list[Kept],
) -> None:
    if "/" in trees.name or not (manifest.token or manifest.keep):
        raise EffioError(
            f"the manifest names the tree '{fmt.plain(trees.name)}', which no run of effio makes; "
            "nothing is removed"
        )
    base = directory if trees.directory == manifest.directory else Path(trees.directory)
    these = NameSet(kind="directory", name=trees.name, counts=trees.counts)
    try:
        names = sorted(path.name for path in base.iterdir())
    except OSError:
        return
    for name in names:
        if not removal.holds(these, name):
            continue
        path = base / name
        window = places.window(base)
        try:
            with removal.parent_of(base, path) as parent, removal.opened(path.name, parent) as tree:
                owner = removal.first_line(OWNER_FILE, tree)
                info = os.fstat(tree)
                born = proof.born_ns(tree, "", info)
                ours = tuple(trees.names) or _names_of_mdtest()
                seen = removal.through(tree, path, ours, OWNER_FILE, remove=False)
        except OSError as error:
            kept.append(Kept(path, places.why(base, path, error, "not a tree of this run")))
            continue
        # One that was kept was handed over: it holds no token.
        if owner != manifest.token and not (owner is None and also_kept):
            kept.append(Kept(path, "not a tree of this run"))
        elif info.st_uid != os.geteuid():
            kept.append(Kept(path, "belongs to another user"))
        elif isinstance(window, str):
            kept.append(Kept(path, window))
        elif base in places.unsure:
            kept.append(Kept(path, places.unsure[base]))
        elif fault := window.fault(born):
            kept.append(Kept(path, fault))
        else:
            found.append(Leftover(path, seen.bytes, base, ours))
            kept += [Kept(one, "not made by the run") for one in seen.left]


def remove(files: list[Leftover]) -> list[Kept]:
    """Returns what could not be removed, and why. A mark stays with what stays: without it nothing
    could be removed later."""
    failed: list[Kept] = []
    stays: set[Path] = set()
    for file in files:
        if file.is_mark and file.base in stays:
            continue
        try:
            with removal.parent_of(file.base, file.path) as parent:
                if file.names is None:
                    removal.remove_file(file.path.name, parent, file.identity)
                else:
                    _remove_tree(file, parent)
        except FileNotFoundError:
            continue
        except OSError as error:
            failed.append(Kept(file.path, error.strerror or str(error)))
            stays.add(file.base)
    return failed


def _remove_tree(file: Leftover, parent: int) -> None:
    """The owner file after all that it lists, so that a removal can be taken up again."""
    with removal.opened(file.path.name, parent) as tree:
        seen = removal.through(tree, file.path, file.names or (), OWNER_FILE, remove=True)
        if seen.left:
            return
        with contextlib.suppress(FileNotFoundError):
            removal.remove_file(OWNER_FILE, tree)
    os.rmdir(file.path.name, dir_fd=parent)
