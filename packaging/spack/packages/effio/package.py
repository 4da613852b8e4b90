# SPDX-License-Identifier: BSD-3-Clause
# mypy: ignore-errors
from spack.package import *


class Effio(CMakePackage, PythonExtension):
    """What parallel I/O and communication really deliver: b_eff, b_eff_io, IOR, mdtest and more,
    with one result format and one report."""

    # Published nowhere yet: `spack develop --path CHECKOUT effio@main` names the source.
    manual_download = True

    license("BSD-3-Clause")

    version("main")

    variant("driver", default=True, description="The driver `effio` next to the engine `effio-mpi`")
    variant("hdf5", default=True, description="Measure parallel HDF5")
    variant("pnetcdf", default=True, description="Measure PnetCDF")
    variant("netcdf", default=True, description="Measure parallel NetCDF-4")
    variant("query", default=False, when="+driver", description="SQL over kept runs (effio query)")
    variant("print", default=False, when="+driver", description="Figures as PNG and PDF")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3.1:")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.9:")
    depends_on("hdf5+mpi", when="+hdf5")
    depends_on("parallel-netcdf", when="+pnetcdf")
    depends_on("netcdf-c+mpi", when="+netcdf")

    conflicts("%gcc@:10", msg="effio needs C++20: GCC 11 or later")
    conflicts("%clang@:13", msg="effio needs C++20: clang 14 or later")
    conflicts("platform=darwin", msg="effio runs on Linux only")

    extends("python@3.10:", when="+driver")
    with when("+driver"):
        depends_on("py-pip", type="build")
        depends_on("py-hatchling@1.24:", type="build")
        depends_on("py-click@8.1:", type=("build", "run"))
        depends_on("py-jinja2@3.1:", type=("build", "run"))
        depends_on("py-markupsafe@2.1:", type=("build", "run"))
        depends_on("py-msgspec@0.19:", type=("build", "run"))
        depends_on("py-numpy@1.24:", type=("build", "run"))
        depends_on("py-plotly@6:", type=("build", "run"))
        depends_on("py-pydantic@2.7:", type=("build", "run"))
        depends_on("py-rich@13.7:", type=("build", "run"))
        depends_on("py-scipy@1.15:", type=("build", "run"))
        depends_on("py-tomlkit@0.12:", type=("build", "run"))
        depends_on("py-tomli@2:", when="^python@:3.10", type=("build", "run"))
        depends_on("py-duckdb@1.2:", when="+query", type=("build", "run"))
        depends_on("py-matplotlib@3.8:", when="+print", type=("build", "run"))

    def cmake_args(self):
        return [
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define_from_variant("EFFIO_WITH_HDF5", "hdf5"),
            self.define_from_variant("EFFIO_WITH_PNETCDF", "pnetcdf"),
            self.define_from_variant("EFFIO_WITH_NETCDF4", "netcdf"),
        ]

    @run_after("install")
    def link_classic_names(self):
        """The engine looks at what it is called."""
        engine = Executable(join_path(self.prefix.bin, "effio-mpi"))
        for name in engine("classic-names", output=str).split():
            symlink("effio-mpi", join_path(self.prefix.bin, name))

    @run_after("install")
    def install_driver(self):
        """It finds the engine on PATH."""
        if self.spec.satisfies("+driver"):
            with working_dir(self.stage.source_path):
                pip = which("pip", required=True)
                pip("install", "--no-deps", "--no-build-isolation", f"--prefix={self.prefix}", ".")
