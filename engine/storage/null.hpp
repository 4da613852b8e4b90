// SPDX-License-Identifier: BSD-3-Clause
// Storage that keeps nothing and takes exactly as long as specified, in real time: what a
// benchmark reports over it is known beforehand.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/options.hpp"
#include "storage/byte_file.hpp"

namespace effio {

/// Waits for `seconds`, giving signs of life: sleeps through most of it and spins through the rest,
/// which a sleep would miss by some 60 us.
void pass(Progress& progress, double seconds);

struct NullDelays {
    Seconds open{0};
    Seconds transfer{0};     ///< of each call
    BytesPerSecond rate{0};  ///< 0 = no limit; added to the delay of a call
    Seconds sync{0};
    Seconds close{0};
    std::optional<std::int64_t> rank;  ///< delays hold on this rank alone: a straggler
    void declare(OptionTable& table);
    /// Seconds of this many calls that move this many bytes, on a rank that has the delays.
    double of(std::int64_t calls, std::int64_t bytes) const;
};

std::unique_ptr<Storage> make_null_storage(Session& session, const NullDelays& delays);

/// Delays of operations on names.
struct NullNameDelays {
    Seconds create{0};  ///< of a file, a node, a link
    Seconds stat{0};
    Seconds read{0};
    Seconds remove{0};     ///< unlink
    Seconds directory{0};  ///< making or removing a directory
    Seconds other{0};
    std::int64_t only_rank = -1;  ///< the one rank that has the delays; -1 = all have
    void declare(OptionTable& table);
    /// The longest of the delays.
    double longest() const;
};

}  // namespace effio
