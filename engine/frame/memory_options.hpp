// SPDX-License-Identifier: BSD-3-Clause
// The options of benchmarks whose calls may move data that are apart in memory.
#pragma once

#include <optional>
#include <string>

#include "core/options.hpp"
#include "core/units.hpp"
#include "storage/byte_file.hpp"
#include "storage/spaced.hpp"

namespace effio {

struct MemoryOptions {
    std::optional<Bytes> piece;
    std::optional<Bytes> gap;

    void declare(OptionTable& table);
    /// `unit`: both sizes are multiples of it; bytes.
    Status check(std::int64_t unit) const;
    bool given() const { return piece.has_value(); }
    MemoryPieces pieces() const;
    /// "pieces of 64B with gaps of 64B".
    std::string text() const;
};

/// What `require` says of a backend without such calls.
inline constexpr const char* spaced_calls =
    "calls whose data are in pieces in memory (--memory-piece)";

/// The error of a read that wrote between the pieces that it was given.
Error changed_gap(std::string operation, const ByteFile& file);

}  // namespace effio
