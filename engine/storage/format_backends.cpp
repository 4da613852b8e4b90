// SPDX-License-Identifier: BSD-3-Clause
// The tables of backends that have a format: array libraries, containers and files per process.
// They are apart from those of bytes and names because the card's program is compiled without them.
#include "storage/array_module.hpp"
#include "storage/array_storage.hpp"
#include "storage/backends.hpp"

namespace effio {
namespace {

/// Arrays without a format over the byte backend of the choice.
std::unique_ptr<ArrayLibrary> make_over_bytes(Session& session, const BackendChoice& choice,
                                              const SimRoom* room) {
    return make_bytes_array_library(session, make_storage(session, choice, room));
}

// The build names one of these for each library that it does without.
[[maybe_unused]] constexpr const char* not_found =
    "this program was built without it: no build of the library for this MPI was found; install "
    "or load one and build again (docs/install.md, Array libraries)";
[[maybe_unused]] constexpr const char* left_out =
    "this program was built without it, because its build was set to leave the library out "
    "(-DEFFIO_WITH_…=OFF; docs/install.md, Array libraries)";

#ifdef EFFIO_HAVE_HDF5
constexpr const char* hdf5_missing = "";
#else
constexpr const char* hdf5_missing = EFFIO_WITHOUT_HDF5;
#endif
#ifdef EFFIO_HAVE_PNETCDF
constexpr const char* pnetcdf_missing = "";
#else
constexpr const char* pnetcdf_missing = EFFIO_WITHOUT_PNETCDF;
#endif
#ifdef EFFIO_HAVE_NETCDF4
constexpr const char* netcdf4_missing = "";
#else
constexpr const char* netcdf4_missing = EFFIO_WITHOUT_NETCDF4;
#endif

std::unique_ptr<ArrayLibrary> make_hdf5(Session& s, const BackendChoice& c, const SimRoom*) {
    return array_module().hdf5(s, c.hdf5);
}
std::unique_ptr<ArrayLibrary> make_pnetcdf(Session& s, const BackendChoice& c, const SimRoom*) {
    return array_module().pnetcdf(s, c.pnetcdf);
}
std::unique_ptr<ArrayLibrary> make_netcdf4(Session& s, const BackendChoice& c, const SimRoom*) {
    return array_module().netcdf4(s, c.netcdf4);
}

std::unique_ptr<Storage> make_hdf5_blocks(Session& s, const BackendChoice& c, const SimRoom* room) {
    return make_array_storage(s, make_hdf5(s, c, room), c.hdf5_datasets);
}
std::unique_ptr<Storage> make_pnetcdf_blocks(Session& s, const BackendChoice& c,
                                             const SimRoom* room) {
    return make_array_storage(s, make_pnetcdf(s, c, room), ArrayDivision::bytes);
}

/// A library that the build does without leaves its row without a function.
template <class Make>
constexpr Make* if_present(const char* missing, Make* make) {
    return *missing == '\0' ? make : nullptr;
}

}  // namespace

const std::vector<ByteBackend>& block_backends() {
    using Choice = BackendChoice;
    static const std::vector<ByteBackend> table = [] {
        std::vector<ByteBackend> all = byte_backends();
        all.push_back({{"sion", "a SIONlib container: each rank's blocks in a separate stream",
                        [](Choice& c, OptionTable& t) { c.sion.declare(t); }},
                       [](Session& s, const Choice& c, const SimRoom*) {
                           return make_sion_storage(s, c.sion);
                       }});
        all.push_back({{"hdf5", "parallel HDF5: blocks in datasets of 8-byte integers",
                        [](Choice& c, OptionTable& t) {
                            t.choice("datasets", c.hdf5_datasets,
                                     {{"segment", ArrayDivision::words_by_segment},
                                      {"block", ArrayDivision::words_by_block}},
                                     "one for each segment, which all ranks share, or one for "
                                     "each block");
                            c.hdf5.declare(t);
                        },
                        hdf5_missing, load_array_module},
                       if_present(hdf5_missing, make_hdf5_blocks)});
        all.push_back({{"pnetcdf", "PnetCDF: blocks in a variable of bytes",
                        [](Choice& c, OptionTable& t) { c.pnetcdf.declare(t); }, pnetcdf_missing,
                        load_array_module},
                       if_present(pnetcdf_missing, make_pnetcdf_blocks)});
        return all;
    }();
    return table;
}

const std::vector<ArrayBackend>& array_backends() {
    using Choice = BackendChoice;
    static const std::vector<ArrayBackend> table{
        {{"hdf5", "parallel HDF5, one dataset a variable",
          [](Choice& c, OptionTable& t) { c.hdf5.declare(t); }, hdf5_missing, load_array_module},
         if_present(hdf5_missing, make_hdf5)},
        {{"pnetcdf", "PnetCDF, classic NetCDF files",
          [](Choice& c, OptionTable& t) { c.pnetcdf.declare(t); }, pnetcdf_missing,
          load_array_module},
         if_present(pnetcdf_missing, make_pnetcdf)},
        {{"netcdf4", "parallel NetCDF-4 (HDF5 files)",
          [](Choice& c, OptionTable& t) { c.netcdf4.declare(t); }, netcdf4_missing,
          load_array_module},
         if_present(netcdf4_missing, make_netcdf4)},
        {{"mpiio", "MPI-IO to one file without a format",
          [](Choice& c, OptionTable& t) { c.mpiio.declare(t); }},
         make_over_bytes},
        {{"posix", "pwrite and pread to one file without a format", nullptr}, make_over_bytes},
        {{"posix-fpp", "one file per process without a format", nullptr},
         [](Session& s, const Choice&, const SimRoom*) {
             return make_own_file_library(s, OwnFileFormat::raw);
         }},
        {{"fortran-fpp", "one file per process of Fortran unformatted records", nullptr},
         [](Session& s, const Choice&, const SimRoom*) {
             return make_own_file_library(s, OwnFileFormat::records);
         }},
        {{"sion", "a SIONlib container: what each process writes in a separate stream",
          [](Choice& c, OptionTable& t) { c.sion.declare_for_arrays(t); }},
         [](Session& s, const Choice& c, const SimRoom*) {
             return make_sion_array_library(s, c.sion);
         }},
        {{"null", "keeps nothing and takes exactly the programmed time",
          [](Choice& c, OptionTable& t) { c.null_delays.declare(t); }},
         make_over_bytes},
        {{"sim", "virtual time by a model; real bytes in a temporary directory",
          [](Choice& c, OptionTable& t) { c.sim_model.declare(t); }},
         make_over_bytes},
    };
    return table;
}

}  // namespace effio
