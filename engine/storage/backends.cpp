// SPDX-License-Identifier: BSD-3-Clause
#include "storage/backends.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "storage/array_module.hpp"
#include "storage/array_storage.hpp"
#include "storage/mmap.hpp"
#include "storage/posix.hpp"

namespace effio {
namespace {

template <class Row>
const Row* find_row(const std::vector<Row>& table, const std::string& name) {
    const auto it =
        std::find_if(table.begin(), table.end(), [&](const Row& row) { return row.name == name; });
    return it == table.end() ? nullptr : &*it;
}

template <class Row>
std::vector<const BackendInfo*> rows_of(const std::vector<Row>& table) {
    std::vector<const BackendInfo*> rows;
    for (const Row& row : table) rows.push_back(&row);
    return rows;
}

std::vector<const BackendInfo*> backends_that(Serves what) {
    switch (what) {
        case Serves::bytes:
            return rows_of(byte_backends());
        case Serves::names:
            return rows_of(names_backends());
        case Serves::blocks:
            return rows_of(block_backends());
        case Serves::arrays:
            break;
    }
    return rows_of(array_backends());
}

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

#ifdef EFFIO_HAVE_URING
constexpr const char* uring_missing = "";
std::unique_ptr<Storage> make_uring(Session& s, const BackendChoice& c, const SimRoom*) {
    return make_uring_storage(s, c.uring);
}
#else
constexpr const char* uring_missing =
    "this program was built without it: no liburing was found, or its build was set to leave it "
    "out (-DEFFIO_WITH_URING=OFF); install the library's headers (Debian: liburing-dev) and build "
    "again";
constexpr decltype(ByteBackend::make) make_uring = nullptr;
#endif

Status read_settings(const BackendInfo& backend, BackendChoice& choice) {
    OptionTable table(choice.name, backend.purpose);
    backend.declare(choice, table);
    if (auto set = table.set_all(choice.settings); !set) {
        return usage_error(
            fmt::format("--backend-options ({}): {}", choice.name, set.error().cause));
    }
    return {};
}

}  // namespace

bool is_model(const std::string& backend) {
    return backend == "null" || backend == "sim";
}

double asked_wait(const BackendChoice& choice, std::int64_t calls, std::int64_t bytes) {
    if (choice.name != "null") return 0;
    return choice.null_delays.of(calls, bytes) +
           static_cast<double>(calls) * choice.null_name_delays.longest();
}

const std::vector<ByteBackend>& byte_backends() {
    using Choice = BackendChoice;
    static const std::vector<ByteBackend> table{
        {{"mpiio", "MPI-IO, as the definitions of most benchmarks demand",
          [](Choice& c, OptionTable& t) { c.mpiio.declare(t); }},
         [](Session& s, const Choice& c, const SimRoom*) {
             return make_mpiio_storage(s, c.mpiio);
         }},
        {{"posix", "pwrite, pread and fsync; a collective call is each rank's own transfer",
          nullptr},
         [](Session& s, const Choice&, const SimRoom*) { return make_posix_storage(s); }},
        {{"direct", "pwrite and pread with O_DIRECT, past the page cache",
          [](Choice& c, OptionTable& t) { c.direct.declare(t); }},
         [](Session& s, const Choice& c, const SimRoom*) {
             return make_direct_storage(s, c.direct);
         }},
        {{"mmap", "copies into and from mapped files; msync", nullptr},
         [](Session& s, const Choice&, const SimRoom*) { return make_mmap_storage(s); }},
        {{"uring", "io_uring: many transfers of a rank under way at the same time",
          [](Choice& c, OptionTable& t) { c.uring.declare(t); }, uring_missing},
         make_uring},
        {{"null", "keeps nothing and takes exactly the programmed time",
          [](Choice& c, OptionTable& t) { c.null_delays.declare(t); }},
         [](Session& s, const Choice& c, const SimRoom*) {
             return make_null_storage(s, c.null_delays);
         }},
        {{"sim", "virtual time by a model; real bytes in a temporary directory",
          [](Choice& c, OptionTable& t) { c.sim_model.declare(t); }},
         [](Session& s, const Choice& c, const SimRoom* room) {
             return make_sim_storage(s, c.sim_model, *room);
         }},
    };
    return table;
}

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

const std::vector<NamesBackend>& names_backends() {
    using Choice = BackendChoice;
    static const std::vector<NamesBackend> table{
        {{"posix", "system calls on paths", nullptr},
         [](Session&, const Choice&, const SimRoom*) { return make_posix_names(); }},
        {{"direct", "system calls on paths, data past the page cache (O_DIRECT)", nullptr},
         [](Session&, const Choice&, const SimRoom*) { return make_posix_names(true); }},
        {{"null", "keeps nothing and takes exactly the programmed time",
          [](Choice& c, OptionTable& t) { c.null_name_delays.declare(t); }},
         [](Session& s, const Choice& c, const SimRoom*) {
             return make_null_names(s, c.null_name_delays);
         }},
        {{"sim", "virtual time by a model; real names in a temporary directory",
          [](Choice& c, OptionTable& t) { c.sim_model.declare(t); }},
         [](Session& s, const Choice& c, const SimRoom* room) {
             return make_sim_names(s, c.sim_model, *room);
         }},
    };
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

bool makes_file_per_process(std::string_view backend) {
    return backend.ends_with("-fpp");
}

std::vector<std::string> backend_names(Serves what) {
    std::vector<std::string> names;
    for (const auto* backend : backends_that(what)) names.push_back(backend->name);
    return names;
}

std::vector<std::string> present_backends(Serves what) {
    std::vector<std::string> names;
    for (const auto* backend : backends_that(what)) {
        if (backend->missing.empty()) names.push_back(backend->name);
    }
    return names;
}

Status check_present(Serves what, const std::string& name) {
    for (const auto* backend : backends_that(what)) {
        if (backend->name != name || backend->missing.empty()) continue;
        return environment_error(fmt::format("backend {}", name), backend->missing);
    }
    return {};
}

Status load(Serves what, const std::string& name) {
    if (auto present = check_present(what, name); !present) return present;
    for (const auto* backend : backends_that(what)) {
        if (backend->name == name && backend->load != nullptr) return backend->load();
    }
    return {};
}

Status apply_settings(Serves what, BackendChoice& choice) {
    if (choice.settings.empty()) return {};
    for (const auto* backend : backends_that(what)) {
        if (backend->name == choice.name && backend->declare != nullptr) {
            return read_settings(*backend, choice);
        }
    }
    return usage_error(fmt::format("--backend-options: {} takes no settings", choice.name));
}

Json describe_backends() {
    Json list = Json::array();
    for (const auto& [what, label] :
         {std::pair(Serves::bytes, "bytes"), std::pair(Serves::names, "names"),
          std::pair(Serves::arrays, "arrays"), std::pair(Serves::blocks, "blocks")}) {
        for (const auto* backend : backends_that(what)) {
            if (what == Serves::blocks && find_row(byte_backends(), backend->name) != nullptr) {
                continue;
            }
            Json settings = Json::array();
            if (backend->declare != nullptr) {
                BackendChoice defaults;
                OptionTable table(backend->name, backend->purpose);
                backend->declare(defaults, table);
                settings = table.describe()["options"];
            }
            list.push_back(
                Json{{"name", backend->name},
                     {"serves", label},
                     {"purpose", backend->purpose},
                     {"missing", backend->missing.empty() ? Json(nullptr) : Json(backend->missing)},
                     {"settings", std::move(settings)}});
        }
    }
    return list;
}

std::unique_ptr<Storage> make_storage(Session& session, const BackendChoice& choice,
                                      const SimRoom* room) {
    return find_row(block_backends(), choice.name)->make(session, choice, room);
}

std::unique_ptr<Names> make_names(Session& session, const BackendChoice& choice,
                                  const SimRoom* room) {
    return find_row(names_backends(), choice.name)->make(session, choice, room);
}

std::unique_ptr<ArrayLibrary> make_arrays(Session& session, const BackendChoice& choice,
                                          const SimRoom* room) {
    return find_row(array_backends(), choice.name)->make(session, choice, room);
}

}  // namespace effio
