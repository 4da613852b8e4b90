// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/call_log.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>

namespace effio {

Status write_call_log(const std::string& path,
                      std::span<const std::vector<CallTime>* const> threads, double amount) {
    errno = 0;
    std::ofstream out(path);
    out << "time,runtime,tp\n";
    for (const auto* calls : threads) {
        for (const auto& [begin, length] : *calls) {
            out << fmt::format("{:.9f},{:.9f},{:.3f}\n", begin, length,
                               length > 0 ? amount / length : 0.0);
        }
    }
    out.close();
    if (!out) return system_error("write the file of call times", path, errno);
    return {};
}

}  // namespace effio
