// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/network_counters.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

namespace effio {
namespace {

namespace files = std::filesystem;

bool is_there(const files::path& path) {
    std::error_code failed;
    return files::exists(path, failed);
}

std::vector<files::path> entries_of(const files::path& directory) {
    std::vector<files::path> found;
    std::error_code failed;
    for (const auto& entry : files::directory_iterator(directory, failed)) {
        found.push_back(entry.path());
    }
    return found;
}

/// Counters of the interfaces of this process' network namespace, by name; /sys may be of another
/// one.
std::optional<std::map<std::string, NetworkBytes>> listed(const files::path& dev) {
    std::ifstream file(dev);
    std::string line;
    if (!std::getline(file, line) || !std::getline(file, line)) return {};
    std::map<std::string, NetworkBytes> found;
    while (std::getline(file, line)) {
        const auto colon = line.find(':');
        const auto start = line.find_first_not_of(' ');
        if (colon == std::string::npos || start == std::string::npos) return {};
        std::istringstream words(line.substr(colon + 1));
        std::array<std::int64_t, 9> fields{};  // received: bytes first; sent: bytes are the ninth
        for (auto& field : fields) words >> field;
        if (!words) return {};
        found[line.substr(start, colon - start)] = {fields[0], fields[8]};
    }
    return found;
}

bool is_made_of_others(const files::path& card) {
    if (is_there(card / "bridge") || is_there(card / "bonding")) return true;
    for (const auto& entry : entries_of(card)) {
        if (entry.filename().string().starts_with("lower_")) return true;
    }
    return false;
}

std::optional<std::int64_t> number_in(const files::path& path) {
    std::int64_t number = 0;
    std::ifstream file(path);
    if (!(file >> number)) return {};
    return number;
}

/// False if a counter cannot be read.
bool add_infiniband(const files::path& infiniband, bool& any, NetworkBytes& sum) {
    constexpr std::int64_t word = 4;
    for (const auto& adapter : entries_of(infiniband)) {
        for (const auto& port : entries_of(adapter / "ports")) {
            if (!is_there(port / "counters")) continue;
            const auto received = number_in(port / "counters/port_rcv_data");
            const auto sent = number_in(port / "counters/port_xmit_data");
            if (!received || !sent) return false;
            any = true;
            sum.received += word * *received;
            sum.sent += word * *sent;
        }
    }
    return true;
}

}  // namespace

bool is_of_servers(const FileSystem& fs) {
    const bool local = fs.device || fs.memory_backed || fs.source.starts_with("/dev/");
    return !local && fs.type != "overlay" && fs.type != "zfs";
}

std::optional<NetworkBytes> network_counters(const std::string& root) {
    const auto all = listed(root + "/proc/self/net/dev");
    if (!all) return {};
    NetworkBytes sum;
    bool ports = false;
    if (!add_infiniband(root + "/sys/class/infiniband", ports, sum)) return {};
    const files::path net = root + "/sys/class/net";
    bool devices = ports;
    for (const auto& [name, moved] : *all) devices = devices || is_there(net / name / "device");
    for (const auto& [name, moved] : *all) {
        const auto card = net / name;
        bool counts = true;
        if (name != "lo" && devices) {
            // The counters of a port already include IP over InfiniBand.
            counts = is_there(card / "device") && !(ports && is_there(card / "device/infiniband"));
        } else if (name != "lo") {
            counts = !is_made_of_others(card);
        }
        if (!counts) continue;
        sum.received += moved.received;
        sum.sent += moved.sent;
    }
    return sum;
}

}  // namespace effio
