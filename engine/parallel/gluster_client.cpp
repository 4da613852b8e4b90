// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/gluster_client.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "core/units.hpp"

namespace effio {
namespace {

namespace files = std::filesystem;

std::string said_in(const files::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string word_of(const files::path& path) {
    std::string word;
    std::ifstream(path) >> word;
    return word;
}

constexpr std::string_view parts = "/.meta/graphs/active";

/// Calls `use(directory)` for each part ("translator") of the client that is at work and that the
/// servers' manager has named VOLUME-`kind`-NUMBER. Each file that is read there costs a message
/// to the client's process, and a measurement asks several times: the name says what "type" would.
template <class Use>
void for_parts(const std::string& mount_point, std::string_view kind, Use&& use) {
    const std::string in_name = "-" + std::string(kind) + "-";
    std::error_code failed;
    for (const auto& entry : files::directory_iterator(mount_point + std::string(parts), failed)) {
        const std::string name = entry.path().filename().string();
        const auto at = name.rfind(in_name);
        if (at == std::string::npos) continue;
        const auto number = name.substr(at + in_name.size());
        if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) continue;
        use(entry.path());
    }
}

/// The number in the line "NAME = NUMBER".
std::optional<std::int64_t> number_of(std::string_view text, std::string_view name) {
    const auto at = text.find("\n" + std::string(name) + " = ");
    if (at == std::string_view::npos) return {};
    const std::string digits(text.substr(at + name.size() + 4, 20));
    if (digits.empty() || digits[0] < '0' || digits[0] > '9') return {};
    return std::strtoll(digits.c_str(), nullptr, 10);
}

}  // namespace

bool is_gluster(const FileSystem& fs) {
    return fs.type == "fuse.glusterfs";
}

std::optional<NetworkBytes> gluster_messages(const std::string& mount_point) {
    std::optional<NetworkBytes> sum;
    bool whole = true;
    for_parts(mount_point, "client", [&](const files::path& part) {
        const std::string said = said_in(part / "private");
        const auto read = number_of(said, "total_bytes_read");
        const auto written = number_of(said, "total_bytes_written");
        whole = whole && read && written;
        if (!whole) return;
        if (!sum) sum.emplace();
        sum->received += *read;
        sum->sent += *written;
    });
    return whole ? sum : std::nullopt;
}

double gluster_copies(const std::string& mount_point) {
    double copies = 1;
    const auto servers_of = [](const files::path& part) {
        std::error_code failed;
        return static_cast<double>(
            std::distance(files::directory_iterator(part / "subvolumes", failed), {}));
    };
    for_parts(mount_point, "replicate",
              [&](const files::path& part) { copies = std::max(copies, servers_of(part)); });
    for_parts(mount_point, "disperse", [&](const files::path& part) {
        const double servers = servers_of(part);
        const auto redundancy = parse_real(word_of(part / "options/redundancy"));
        const double spare = redundancy ? *redundancy : 0;
        if (spare >= 0 && spare < servers) copies = std::max(copies, servers / (servers - spare));
    });
    return copies;
}

bool gluster_hides_files(const std::string& mount_point) {
    bool hidden = false;
    std::error_code failed;
    for (const auto& part : files::directory_iterator(mount_point + std::string(parts), failed)) {
        if (word_of(part.path() / "type") != "cluster/distribute") continue;
        const std::string said = said_in(part.path() / "private");
        for (std::size_t i = 0;; ++i) {
            const auto up = number_of(said, "subvolume_status[" + std::to_string(i) + "]");
            if (!up) break;
            hidden = hidden || *up == 0;
        }
    }
    return hidden;
}

bool hides_files(const std::string& directory) {
    const auto fs = find_file_system(directory);
    return fs && is_gluster(*fs) && gluster_hides_files(fs->whole_mount_point);
}

}  // namespace effio
