// SPDX-License-Identifier: BSD-3-Clause
#include "storage/backends.hpp"

#include <fmt/format.h>

#include <algorithm>

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
