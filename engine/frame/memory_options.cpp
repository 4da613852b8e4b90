// SPDX-License-Identifier: BSD-3-Clause
#include "frame/memory_options.hpp"

#include <fmt/format.h>

#include <utility>
#include "core/units.hpp"

namespace effio {

void MemoryOptions::declare(OptionTable& table) {
    constexpr double most = 1LL << 40;
    table
        .add("memory-piece", piece,
             "keep the data of each call in memory in pieces of this size, --memory-gap apart; a "
             "call moves them all (an MPI datatype, or pwritev)")
        .range(1, most)
        .automatic("one piece")
        .expert();
    table
        .add("memory-gap", gap,
             "bytes of memory between these pieces, which no call moves; 0: the same data and "
             "copies in one piece, to compare with")
        .range(0, static_cast<double>(GiB))
        .automatic("as long as a piece")
        .expert();
}

Status MemoryOptions::check(std::int64_t unit) const {
    if (!piece) {
        if (gap) return usage_error("--memory-gap needs --memory-piece");
        return {};
    }
    for (const auto& [name, bytes] :
         {std::pair("--memory-piece", *piece), std::pair("--memory-gap", Bytes{pieces().gap})}) {
        if (bytes.count % unit != 0) {
            return usage_error(fmt::format("{} {} is not a multiple of {}", name,
                                           format_exact(bytes), format_exact(Bytes{unit})));
        }
    }
    return {};
}

MemoryPieces MemoryOptions::pieces() const {
    if (!piece) return {};
    return {piece->count, gap.value_or(*piece).count};
}

std::string MemoryOptions::text() const {
    const MemoryPieces shape = pieces();
    return fmt::format("pieces of {} with gaps of {}", shown_size(Bytes{shape.piece}),
                       shown_size(Bytes{shape.gap}));
}

Error changed_gap(std::string operation, const ByteFile& file) {
    Error error = io_error(std::move(operation), file.path(),
                           "the read changed memory between the pieces that it was given");
    error.exit_code = ExitCode::data_errors;
    return error;
}

}  // namespace effio
