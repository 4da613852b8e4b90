// SPDX-License-Identifier: BSD-3-Clause
#include "frame/call_log.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string>

#include "parallel/text_file.hpp"

namespace effio {

Status write_call_log(const std::string& path,
                      std::span<const std::vector<CallTime>* const> threads, double amount) {
    constexpr std::size_t enough = std::size_t{1} << 16;
    auto file = TextFile::replace("write the file of call times", path);
    if (!file) return std::move(file.error());
    std::string text = "time,runtime,tp\n";
    for (const auto* calls : threads) {
        for (const auto& [begin, length] : *calls) {
            fmt::format_to(std::back_inserter(text), "{:.9f},{:.9f},{:.3f}\n", begin, length,
                           length > 0 ? amount / length : 0.0);
            if (text.size() < enough) continue;
            if (auto written = file->write(text); !written) return written;
            text.clear();
        }
    }
    if (auto written = file->write(text); !written) return written;
    return file->close();
}

}  // namespace effio
