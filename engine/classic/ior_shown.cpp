// SPDX-License-Identifier: BSD-3-Clause
// What IOR's text and JSON show of a test before it runs, in the original's words and types.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "classic/ior.hpp"
#include "core/units.hpp"
#include "parallel/system.hpp"

namespace effio {
namespace {

std::string ordering(const IorOptions& o) {
    if (o.reorder_random == 1) return "random task offset";
    if (o.reorder_random > 1) return "shuffled tasks";
    return o.reorder != 0 ? "constant task offset" : "no tasks offsets";
}

/// MPI-IO is named by its standard, as in the original; libraries of arrays by name and version.
std::string api_version(const IorOptions& o, const ior::Setup& s) {
    if (!s.backend_version.empty()) return s.backend_version;
    return lower_case(o.api) == "mpiio" ? fmt::format("({})", mpi_standard()) : "";
}

}  // namespace

int ior_tasks_on_node(const ior::Setup& s) {
    const auto pretended = s.parameters.ranks_per_node;
    return pretended ? static_cast<int>(std::min<std::int64_t>(*pretended, s.ranks))
                     : s.max_ranks_on_node;
}

int ior_nodes(const ior::Setup& s) {
    if (!s.parameters.ranks_per_node) return s.nodes;
    // Both variables may be set; the translation has checked them.
    if (const char* given = std::getenv(ior_fake_nodes); given != nullptr) {
        if (const auto number = parse_integer(given); number) return static_cast<int>(*number);
    }
    const int each = ior_tasks_on_node(s);
    return (s.ranks + each - 1) / each;
}

std::string ior_size(std::int64_t bytes) {
    for (const auto& [unit, name] :
         {std::pair(KiB * GiB, "TiB"), std::pair(GiB, "GiB"), std::pair(MiB, "MiB")}) {
        if (bytes < unit) continue;
        if (bytes % unit == 0) return fmt::format("{} {}", bytes / unit, name);
        return fmt::format("{:.2f} {}", static_cast<double>(bytes) / static_cast<double>(unit),
                           name);
    }
    return fmt::format("{} bytes", bytes);
}

std::string ior_path(const IorOptions& o, const ior::Setup& s) {
    std::string path = s.path;
    if (path.starts_with("./") && !o.test_file.starts_with("./")) path.erase(0, 2);
    constexpr std::string_view first_repetition = ".0";
    if (o.multi_file != 0 && path.ends_with(first_repetition)) {
        path.resize(path.size() - first_repetition.size());
    }
    return path;
}

std::int64_t ior_expected_bytes(const IorOptions& o, int tasks) {
    return o.block * o.segments * tasks;
}

std::vector<Named<Json>> ior_options_shown(const IorOptions& o, const ior::Setup& s) {
    std::vector<Named<Json>> all{
        {"api", o.api},
        {"apiVersion", api_version(o, s)},
        {"test filename", o.test_file},
        {"access", o.file_per_proc != 0 ? "file-per-process" : "single-shared-file"},
        {"type", o.collective != 0 ? "collective" : "independent"},
        {"segments", o.segments},
        {"ordering in a file", o.random_offset != 0 ? "random" : "sequential"},
        {"ordering inter file", ordering(o)}};
    const auto add = [&all](const char* key, Json value) {
        all.emplace_back(key, std::move(value));
    };
    if (o.reorder != 0 || o.reorder_random == 1) add("task offset", o.task_offset);
    if (o.reorder_random == 1) add("reorder random seed", o.reorder_seed);
    add("nodes", ior_nodes(s));
    add("tasks", s.ranks);
    add("clients per node", ior_tasks_on_node(s));
    if (s.parameters.hold_memory) add("memoryPerNode", ior_size(s.parameters.hold_memory->count));
    add("memoryBuffer", "CPU");
    add("dataAccess", "CPU");
    add("GPUDirect", "0");
    add("repetitions", o.repetitions);
    add("xfersize", ior_size(o.transfer));
    add("blocksize", ior_size(o.block));
    add("aggregate filesize", ior_size(ior_expected_bytes(o, s.ranks)));
    // Where they are not what the original would write.
    if (s.parameters.data == ior::DataKind::stamped) add("data", "stamped");
    if (o.verbose > 0) add("verbose", o.verbose);
    if (o.deadline > 0) {
        add("stonewallingTime", o.deadline);
        add("stoneWallingWearOut", o.wear_out);
    }
    return all;
}

}  // namespace effio
