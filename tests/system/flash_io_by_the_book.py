# SPDX-License-Identifier: BSD-3-Clause
"""The files of FLASH I/O written from their description alone (docs/benchmarks/flash_io.md; the
original's constant values), by h5py and by ncmpigen: what the engine's files are compared with."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from patience import SECONDS

NAMES = [
    *("dens", "velx", "vely", "velz", "pres", "ener", "temp", "gamc", "game", "enuc", "gpot"),
    *("f1__", "f2__", "f3__", "f4__", "f5__", "f6__", "f7__", "f8__", "f9__"),
    *("f10_", "f11_", "f12_", "f13_"),
]
PLOTTED = ["dens", "temp", "pres", "f1__"]


@dataclass(frozen=True)
class Dump:
    """One of the three files: chk, plt_cnt or plt_crn, of `blocks` blocks in all."""

    kind: str
    blocks: int
    cells: int

    @property
    def checkpoint(self) -> bool:
        return self.kind == "chk"

    @property
    def edge(self) -> int:
        return self.cells + 1 if self.kind == "plt_crn" else self.cells

    @property
    def unknowns(self) -> dict[str, int]:
        """Name and value: variable v holds v everywhere."""
        names = NAMES if self.checkpoint else PLOTTED
        return {name: NAMES.index(name) + 1 for name in names}

    def tree(self) -> Iterator[tuple[str, str, tuple[int, ...], float]]:
        """Name in the PnetCDF port and in the HDF5 original, extents of a block, and the value."""
        yield "lrefine", "refine level", (), 1
        yield "nodetype", "node type", (), 1
        yield "gid", "gid", (15,), -1
        yield "coordinates", "coordinates", (3,), 0.25
        yield "blocksize", "block size", (3,), 0.5
        yield "bndbox", "bounding box", (3, 2), 0


WHOLE = ("lrefine", "nodetype", "gid")


def write_hdf5(dump: Dump, path: Path) -> None:
    import h5py  # type: ignore[import-untyped]
    import numpy as np

    real = "<f8" if dump.checkpoint else "<f4"
    with h5py.File(path, "w") as file:

        def text(name: str, length: int, values: Any) -> None:
            kind = h5py.string_dtype("ascii", length)
            file.create_dataset(name, data=np.array(values, dtype=f"S{length}"), dtype=kind)

        text("file creation time", 40, [b"now"])
        text("FLASH version", 20, [b"FLASH I/O benchmark "])
        record = [("total blocks", "<i4"), ("time", real), ("timestep", real)]
        record += [(name, "<i4") for name in ("number of steps", "nxb", "nyb", "nzb")]
        values = (dump.blocks, 0.0, 0.0, 0, dump.edge, dump.edge, dump.edge)
        file["simulation parameters"] = np.array([values], dtype=record)
        text("unknown names", 4, [[name.encode()] for name in dump.unknowns])
        for port, name, extents, value in dump.tree():
            kind = "<i4" if port in WHOLE else real
            file[name] = np.full((dump.blocks, *extents), value, dtype=kind)
        cube = (dump.blocks, dump.edge, dump.edge, dump.edge)
        for name, number in dump.unknowns.items():
            file[name] = np.full(cube, number, dtype=real)


def write_netcdf(dump: Dump, path: Path) -> None:
    """Raises CalledProcessError if ncmpigen does not take the description."""
    real = "double" if dump.checkpoint else "float"
    variables, data = [], []

    def variable(kind: str, name: str, dimensions: str, value: float, count: int) -> None:
        variables.append(f"    {kind} {name}({dimensions}) ;")
        data.append(f" {name} = {', '.join([f'{value:g}'] * count)} ;")

    further = {(): "", (15,): ", dim_NGID", (3,): ", dim_NDIM", (3, 2): ", dim_NDIM, dim_2"}
    for name, _, extents, value in dump.tree():
        count = dump.blocks
        for extent in extents:
            count *= extent
        kind = "int" if name in WHOLE else real
        variable(kind, name, "dim_tot_blocks" + further[extents], value, count)
    for name, number in dump.unknowns.items():
        cube = "dim_tot_blocks, dim_nzb, dim_nyb, dim_nxb"
        variable(real, name, cube, number, dump.blocks * dump.edge**3)
    edges = "".join(f"    dim_n{d}b = {dump.edge} ;\n" for d in "xyz")
    cells = "".join(f"    :n{d}b = {dump.edge} ;\n" for d in "xyz")
    path.with_suffix(".cdl").write_text(
        "netcdf dump {\ndimensions:\n"
        f"    dim_tot_blocks = {dump.blocks} ;\n{edges}"
        "    dim_NGID = 15 ;\n    dim_NDIM = 3 ;\n    dim_2 = 2 ;\nvariables:\n"
        + "\n".join(variables)
        + '\n\n    :file_creation_time = "now" ;\n'
        '    :flash_version = "FLASH I/O benchmark using Pnetcdf" ;\n'
        f"    :total_blocks = {dump.blocks} ;\n    :nsteps = 0 ;\n{cells}    :time = 0. ;\n"
        "data:\n" + "\n".join(data) + "\n}\n"
    )
    words = ["ncmpigen", "-v", "5", "-o", str(path), str(path.with_suffix(".cdl"))]
    subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=True)
