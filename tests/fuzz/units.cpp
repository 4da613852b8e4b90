// SPDX-License-Identifier: BSD-3-Clause
// Numbers with units: what is taken is in its range, and what is written of it is read as the same.
#include "core/units.hpp"

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "fuzz.hpp"

namespace effio {
namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace
}  // namespace effio

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace effio;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto whole = parse_integer(text)) {
        const auto again = parse_integer(std::to_string(*whole));
        require(again && *again == *whole);
    }
    if (const auto real = parse_real(text)) require(std::isfinite(*real));
    if (const auto bytes = parse_size(text)) {
        require(bytes->count >= 0);
        const auto again = parse_size(format_exact(*bytes));
        require(again && *again == *bytes);
        (void)format_size(static_cast<double>(bytes->count));
    }
    if (const auto time = parse_duration(text)) {
        require(std::isfinite(time->count) && time->count >= 0);
        (void)format_duration(time->count);
    }
    if (const auto rate = parse_rate(text)) {
        require(std::isfinite(rate->count) && rate->count >= 0);
        (void)format_rate(rate->count);
    }
    if (const auto share = parse_share(text)) {
        require(share->count > 0 && share->count < 1);
        (void)format_share(share->count);
    }
    return 0;
}
