// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/system.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "build_info.hpp"
#include "parallel/group_memory.hpp"
#include "parallel/recorded_environment.hpp"

namespace effio {
namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// The number behind "key:" in a file of "key: number [kB]" lines.
std::optional<std::int64_t> number_in(const std::string& path, std::string_view key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(key)) continue;
        std::istringstream words(line.substr(key.size()));
        std::int64_t value = 0;
        if (words >> value) return value;
    }
    return {};
}

std::string text_in(const std::string& path, std::string_view key, char separator) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(key)) continue;
        const auto at = line.find(separator);
        if (at == std::string::npos) continue;
        const auto begin = line.find_first_not_of(" \t\"", at + 1);
        if (begin == std::string::npos) continue;
        return line.substr(begin, line.find_last_not_of(" \t\"") - begin + 1);
    }
    return {};
}

std::optional<std::int64_t> number_of(const std::string& path) {
    std::ifstream file(path);
    std::int64_t value = 0;
    if (file >> value) return value;
    return {};
}

Json describe_cpu() {
    std::set<std::string> sockets;
    std::set<std::string> cores;  // several processors of a core have its numbers in common
    std::string socket;
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("physical id")) sockets.insert(socket = line);
        if (line.starts_with("core id")) cores.insert(socket + line);
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    Json usable = nullptr;
    if (sched_getaffinity(0, sizeof set, &set) == 0) usable = CPU_COUNT(&set);
    return Json{{"model", text_in("/proc/cpuinfo", "model name", ':')},
                {"sockets", sockets.empty() ? Json(nullptr) : Json(sockets.size())},
                {"cores", cores.empty() ? Json(nullptr) : Json(cores.size())},
                {"logical_cpus", sysconf(_SC_NPROCESSORS_ONLN)},
                {"usable_by_root_rank", usable}};
}

Json describe_kernel() {
    const Uname u = find_uname();
    Json out{{"system", u.system},
             {"node", u.node},
             {"release", u.release},
             {"version", u.version},
             {"machine", u.machine}};
    out["distribution"] = text_in("/etc/os-release", "PRETTY_NAME", '=');
    out["clock_source"] = kernel_clock_source();
    Json dirty = Json::object();
    for (const char* key : {"dirty_ratio", "dirty_background_ratio", "dirty_bytes",
                            "dirty_background_bytes", "dirty_expire_centisecs"}) {
        if (const auto value = number_of(fmt::format("/proc/sys/vm/{}", key)); value) {
            dirty[key] = *value;
        }
    }
    out["vm"] = std::move(dirty);
    return out;
}

Json describe_batch() {
    Json out = Json::object();
    for (const char* key :
         {"SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_JOB_PARTITION", "SLURM_JOB_NUM_NODES",
          "SLURM_CLUSTER_NAME", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "LOADEDMODULES"}) {
        if (const char* value = std::getenv(key); value != nullptr) out[key] = masked(value);
    }
    return out;
}

Json describe_mpi() {
    // What steers the I/O layer from outside belongs to the result.
    const char* const more = std::getenv(site_names_variable);
    const std::string_view site_names = more == nullptr ? "" : more;
    Json tuning = Json::object();
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        const auto name = text.substr(0, equals);
        if (auto value = recorded_value(name, text.substr(equals + 1), site_names); value) {
            tuning[std::string(name)] = std::move(*value);
        }
    }
    const std::string library = mpi_library();
    const MpiName found = mpi_name_of(library);
    return Json{{"library", library},
                {"name", found.name},
                {"version", found.version},
                {"standard", mpi_standard()},
                {"environment", std::move(tuning)}};
}

/// Works without a file descriptor, as opposed to /proc/meminfo.
std::int64_t total_of_kernel() {
    struct sysinfo info{};
    if (::sysinfo(&info) != 0) return 0;
    return static_cast<std::int64_t>(info.totalram) * info.mem_unit;
}

std::optional<int> launcher_number(std::initializer_list<const char*> names) {
    for (const char* name : names) {
        const char* text = std::getenv(name);
        if (text == nullptr) continue;
        char* end = nullptr;
        const long value = std::strtol(text, &end, 10);
        if (end != text && *end == '\0' && value >= 0) return static_cast<int>(value);
    }
    return {};
}

}  // namespace

std::string Uname::text() const {
    return fmt::format("{} {} {} {} {}", system, node, release, version, machine);
}

Uname find_uname() {
    utsname u{};
    uname(&u);
    return {u.sysname, u.nodename, u.release, u.version, u.machine};
}

Memory find_memory() {
    Memory memory;
    constexpr std::int64_t unit = 1024;
    memory.total_bytes = unit * number_in("/proc/meminfo", "MemTotal:").value_or(0);
    if (memory.total_bytes == 0) memory.total_bytes = total_of_kernel();
    if (const auto available = number_in("/proc/meminfo", "MemAvailable:"); available) {
        memory.available_bytes = unit * *available;
    }
    // The job's own limit.
    if (const auto group = find_group_memory(); group) {
        memory.total_bytes = std::min(memory.total_bytes, group->limit_bytes);
        memory.available_bytes = std::min(memory.available_bytes.value_or(group->available_bytes),
                                          group->available_bytes);
    }
    return memory;
}

std::string kernel_clock_source() {
    return first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
}

std::optional<ProcessIo> process_io() {
    const auto read = number_in("/proc/self/io", "read_bytes:");
    const auto written = number_in("/proc/self/io", "write_bytes:");
    if (!read || !written) return {};
    return ProcessIo{*read, *written};
}

std::int64_t memory_per_rank(const Comm& comm, const Topology& topology) {
    return comm.min(find_memory().total_bytes / topology.ranks_on_node);
}

MpiName mpi_name_of(std::string_view library) {
    const std::string line(library.substr(0, library.find_first_of(",;\n")));
    std::istringstream words(line);
    MpiName found;
    for (std::string word; words >> word;) {
        word.erase(std::remove(word.begin(), word.end(), ':'), word.end());
        const std::string number = word.starts_with('v') ? word.substr(1) : word;
        const bool digit = !number.empty() && number.front() >= '0' && number.front() <= '9';
        if (digit && number.find('.') != std::string::npos) {
            found.version = number;
            break;
        }
        if (word.empty() || word == "Version" || word == "version" || word == "Library") continue;
        found.name += (found.name.empty() ? "" : " ") + word;
    }
    return found;
}

std::string mpi_standard() {
    int major = 0;
    int minor = 0;
    MPI_Get_version(&major, &minor);
    return fmt::format("{}.{}", major, minor);
}

std::string mpi_library() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    std::string library(text.data(), static_cast<std::size_t>(length));
    // MPICH prints a page; its first line has the version. Tabs would not survive tables.
    library = library.substr(0, library.find('\n'));
    for (char& c : library) {
        if (c == '\t') c = ' ';
    }
    while (!library.empty() && (library.back() == '\0' || library.back() == ' '))
        library.pop_back();
    return library;
}

Json describe_system(const Comm& comm, const Topology& topology) {
    constexpr int listed_nodes = 64;
    const auto names = node_names(comm, topology, listed_nodes);
    const Memory memory = find_memory();
    constexpr std::int64_t unknown = -1;  // on one node: then on all
    std::array<std::int64_t, 2> smallest{memory.total_bytes,
                                         memory.available_bytes.value_or(unknown)};
    comm.min(std::span<std::int64_t>(smallest));
    if (!comm.is_root()) return nullptr;
    Json out;
    out["ranks"] = comm.size();
    out["nodes"] = topology.nodes;
    out["ranks_per_node"] =
        Json{{"min", topology.min_ranks_on_node}, {"max", topology.max_ranks_on_node}};
    out["node_names"] = names;
    out["node_names_complete"] = topology.nodes <= listed_nodes;
    out["cpu"] = describe_cpu();
    out["memory"] =
        Json{{"node_total_bytes", smallest[0]},
             {"node_available_bytes", smallest[1] == unknown ? Json() : Json(smallest[1])}};
    out["kernel"] = describe_kernel();
    out["mpi"] = describe_mpi();
    out["batch"] = describe_batch();
    out["user_is_root"] = geteuid() == 0;
    return out;
}

std::string engine_version() {
    return build::version;
}

Json describe_build() {
    return Json{{"program", "effio-mpi"},      {"version", build::version},
                {"revision", build::revision}, {"compiler", build::compiler},
                {"flags", build::flags},       {"build_type", build::type},
                {"mpi_built_with", build::mpi}};
}

std::optional<int> launcher_size() {
    return launcher_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", "PALS_SIZE",
                            "FLUX_JOB_SIZE", "JSM_NAMESPACE_SIZE"});
}

std::optional<int> launcher_rank() {
    return launcher_number({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID",
                            "PALS_RANKID", "FLUX_TASK_RANK", "ALPS_APP_PE", "JSM_NAMESPACE_RANK"});
}

}  // namespace effio
