// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/count_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>

#include "core/units.hpp"

namespace effio {

Result<std::int64_t> read_count(const std::string& path, const char* what) {
    std::ifstream file(path);
    if (!file.is_open()) return system_error("read the count", path, errno);
    std::string word;
    std::string more;
    file >> word;
    const auto number = parse_integer(word);
    if (!number || *number < 1 || file >> more) {
        return usage_error(fmt::format("{}: holds no number of {}", path, what));
    }
    return *number;
}

Status write_count(const std::string& path, std::int64_t count) {
    std::ofstream file(path);
    file << count << '\n';
    file.close();
    if (!file) return system_error("write the count", path, errno);
    return {};
}

}  // namespace effio
