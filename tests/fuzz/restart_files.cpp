// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints of flash_io that others left, as a restart reads them: the first byte selects one of
// our own formats (of one writer: bare bytes, Fortran records, a container), the rest is
// the file. Formats of libraries are read by the libraries.
#include <fstream>
#include <string>
#include <vector>

#include "../engine/own_directory.hpp"
#include "../engine/test_session.hpp"
#include "benchmarks/flash_io/definition.hpp"
#include "benchmarks/flash_io/mesh.hpp"
#include "fuzz.hpp"
#include "parallel/world.hpp"
#include "storage/backends.hpp"

namespace effio::flash_io {
namespace {

/// MPI, once; and a directory that is gone at the end.
class Place {
  public:
    Session& session() { return test_.session; }
    std::string file() const { return directory_ / "chk"; }

  private:
    MpiRun mpi_;
    OwnDirectory directory_;
    TestSession test_;
};

Geometry small() {
    Geometry geometry;
    geometry.cells = 2;
    geometry.blocks = 1;
    return geometry;
}

void restart(Place& place, const std::string& backend, std::string_view content) {
    Session& session = place.session();
    BackendChoice choice;
    choice.name = backend;
    if (!apply_settings(Serves::arrays, choice)) return;
    const auto library = make_arrays(session, choice, nullptr);
    const Geometry geometry = small();
    const auto definition = define(geometry, File::checkpoint, Structure::netcdf, 1);
    {
        std::ofstream out(library->files(place.file(), 1).name(0), std::ios::binary);
        out.write(content.data(), static_cast<std::streamsize>(content.size()));
    }
    ArrayRequest request;
    request.path = place.file();
    request.schema = definition.schema;
    request.access = ArrayAccess::independent;
    auto file = library->open(session.comm, request);
    if (!file) return;
    const Values values(geometry, Fill::index, 0);
    for (std::size_t v = 0; v < request.schema.variables.size(); ++v) {
        const Slab share = request.schema.share(v, 0);
        std::vector<std::byte> found(static_cast<std::size_t>(request.schema.bytes(v, share)));
        if (!(*file)->get(v, share, found)) continue;
        (void)check(definition, v, geometry, values, 0, found);
    }
    (void)(*file)->close();
}

}  // namespace
}  // namespace effio::flash_io

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static effio::flash_io::Place place;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (text.empty()) return 0;
    const std::string backend = text[0] == 'r'   ? "posix-fpp"
                                : text[0] == 'f' ? "fortran-fpp"
                                                 : "sion";
    effio::flash_io::restart(place, backend, text.substr(1));
    return 0;
}
