// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/group_memory.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace effio {
namespace {

std::optional<std::int64_t> limit_in(const std::string& path) {
    std::ifstream file(path);
    std::int64_t value = 0;
    if (file >> value) return value;  // "max" is none
    return {};
}

/// The files of a version of the controller.
struct Files {
    const char* limit;
    const char* used;
    const char* inactive;  ///< of memory.stat: pages of files, of the groups below too
    const char* active;
};
constexpr Files version1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file",
                         "total_active_file"};
constexpr Files version2{"/memory.max", "/memory.current", "inactive_file", "active_file"};
// Version 1 says no limit by the largest number of whole pages.
constexpr std::int64_t no_limit = std::int64_t{1} << 60;

std::int64_t file_cache(const std::string& group, const Files& names) {
    std::ifstream file(group + "/memory.stat");
    std::int64_t sum = 0;
    std::string name;
    for (std::int64_t value = 0; file >> name >> value;) {
        if (name == names.inactive || name == names.active) sum += value;
    }
    return sum;
}

void look_at(const std::string& group, const Files& names, std::optional<GroupMemory>& tightest) {
    const auto limit = limit_in(group + names.limit);
    if (!limit || *limit <= 0 || *limit >= no_limit) return;
    const auto used = limit_in(group + names.used);
    const std::int64_t taken =
        used ? std::max<std::int64_t>(*used - file_cache(group, names), 0) : 0;
    const std::int64_t left = std::max<std::int64_t>(*limit - taken, 0);
    if (!tightest) tightest = GroupMemory{*limit, left};
    tightest->limit_bytes = std::min(tightest->limit_bytes, *limit);
    tightest->available_bytes = std::min(tightest->available_bytes, left);
}

/// The group and those above it, up to the controller's mount. Inside a container the path may be
/// that of the node, and only the mount itself is there.
void look_upwards(const std::string& mount, std::string path, const Files& names,
                  std::optional<GroupMemory>& tightest) {
    while (!path.empty() && path != "/") {
        look_at(mount + path, names, tightest);
        path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
    look_at(mount, names, tightest);
}

}  // namespace

std::optional<GroupMemory> find_group_memory(const std::string& root) {
    std::optional<GroupMemory> tightest;
    std::ifstream groups(root + "/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        // number:controllers:path
        const auto first = line.find(':');
        const auto second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const std::string path = line.substr(second + 1);
        if (controllers.empty()) {
            look_upwards(root + "/sys/fs/cgroup", path, version2, tightest);
        } else if ((',' + controllers + ',').find(",memory,") != std::string::npos) {
            look_upwards(root + "/sys/fs/cgroup/memory", path, version1, tightest);
        }
    }
    return tightest;
}

}  // namespace effio
