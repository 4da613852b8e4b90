// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/client_counters.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace effio {
namespace {

/// Calls `use(line)` for each line until it returns false.
template <class Use>
void for_lines(std::string_view text, Use&& use) {
    while (!text.empty()) {
        const auto end = text.find('\n');
        if (!use(text.substr(0, end))) return;
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
}

std::optional<std::string> text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file) return {};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// "lfs" of "10.0.0.1@tcp:/lfs/subdirectory", the source of a mount.
std::string lustre_name(const std::string& source) {
    const auto begin = source.find(":/");
    if (begin == std::string::npos) return {};
    return source.substr(begin + 2, source.find('/', begin + 2) - begin - 2);
}

/// Counters of all object storage clients of the file system.
std::optional<ClientCounters> lustre_in(const std::string& directory, const std::string& name) {
    std::optional<ClientCounters> sum;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(directory, failed)) {
        if (!entry.path().filename().string().starts_with(name + "-OST")) continue;
        const auto text = text_of(entry.path() / "stats");
        const auto one = text ? lustre_counters(*text) : std::nullopt;
        if (!one) return {};
        if (!sum) sum.emplace();
        sum->read_bytes += one->read_bytes;
        sum->written_bytes += one->written_bytes;
    }
    return sum;
}

}  // namespace

std::optional<ClientCounters> nfs_counters(std::string_view mountstats,
                                           std::string_view mount_point) {
    std::optional<ClientCounters> found;
    bool ours = false;
    for_lines(mountstats, [&](std::string_view line) {
        if (line.starts_with("device ")) {
            // device SERVER:/PATH mounted on POINT with fstype TYPE statvers=…
            const std::string wanted =
                " mounted on " + std::string(mount_point) + " with fstype nfs";
            ours = line.find(wanted) != std::string_view::npos;
            return true;
        }
        const auto at = line.find("bytes:");
        if (!ours || at == std::string_view::npos) return true;
        std::istringstream words{std::string(line.substr(at + 6))};
        std::array<std::int64_t, 6> fields{};
        for (auto& field : fields) words >> field;
        // Of several mounts at the same place the last one is seen.
        if (words) found = ClientCounters{fields[4], fields[5]};
        return true;
    });
    return found;
}

std::optional<ClientCounters> lustre_counters(std::string_view osc_stats) {
    ClientCounters found;
    bool known = false;
    for_lines(osc_stats, [&](std::string_view line) {
        std::istringstream words{std::string(line)};
        std::string name;
        std::string samples;
        std::string unit;
        std::int64_t count = 0;
        std::int64_t least = 0;
        std::int64_t most = 0;
        std::int64_t sum = 0;
        words >> name;
        // Lines of what has not happened yet are missing.
        known = known || name == "snapshot_time";
        if (name != "read_bytes" && name != "write_bytes") return true;
        if (words >> count >> samples >> unit >> least >> most >> sum && unit == "[bytes]") {
            (name == "read_bytes" ? found.read_bytes : found.written_bytes) = sum;
        }
        return true;
    });
    if (!known) return {};
    return found;
}

std::string client_of(const FileSystem& fs) {
    if (fs.type.starts_with("nfs")) return "nfs";
    return fs.type == "lustre" ? "lustre" : "";
}

std::optional<ClientCounters> client_counters(const FileSystem& fs, const std::string& root) {
    const std::string client = client_of(fs);
    if (client == "nfs") {
        const auto text = text_of(root + "/proc/self/mountstats");
        return text ? nfs_counters(*text, fs.mount_point) : std::nullopt;
    }
    if (client == "lustre") {
        const std::string name = lustre_name(fs.source);
        if (name.empty()) return {};
        for (const char* place : {"/proc/fs/lustre/osc", "/sys/kernel/debug/lustre/osc"}) {
            if (auto sum = lustre_in(root + place, name)) return sum;
        }
    }
    return {};
}

std::string why_no_client_counters(const FileSystem& fs) {
    if (fs.type == "lustre") {
        return "the counters of Lustre's object storage clients (osc.*.stats) may not be read by "
               "this user";
    }
    if (fs.type.starts_with("nfs")) return "/proc/self/mountstats does not list this mount";
    if (fs.type == "gpfs") {
        return "GPFS shows its counters (mmpmon) to root alone, and they count bytes of its cache "
               "too";
    }
    if (fs.type == "beegfs") return "the client of BeeGFS counts no bytes; its servers do";
    return {};
}

}  // namespace effio
