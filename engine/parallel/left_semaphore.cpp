// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/left_semaphore.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <system_error>

namespace effio {

std::string left_semaphore(const std::string& path, double silent_seconds,
                           const std::string& folder) {
    namespace fs = std::filesystem;
    const std::string name = fs::path(path).filename().string();
    if (name.empty()) return {};
    const fs::path semaphore = fs::path(folder) / ("sem.OMPIO_" + name);
    std::error_code none;
    const auto made = fs::last_write_time(semaphore, none);
    if (none) return {};
    // That of this very call is as old as the call.
    constexpr double tolerance_seconds = 2;
    const std::chrono::duration<double> age = fs::file_time_type::clock::now() - made;
    if (age.count() < silent_seconds + tolerance_seconds) return {};
    return fmt::format(
        "; Open MPI waits for {}, which a killed run left: remove it if no other job uses it",
        semaphore.string());
}

}  // namespace effio
