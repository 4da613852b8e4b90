// SPDX-License-Identifier: BSD-3-Clause
// Contents of messages that are verified whole (--verify all). Benchmarks set and check the first
// and the last byte of each message inside the timed interval. What lies between them is written
// before the interval and checked after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace effio {

/// A byte that is not what its neighbors say.
struct WrongByte {
    std::int64_t place = 0;  ///< in the message
    unsigned expected = 0;
    unsigned found = 0;
};

/// Fills memory that messages are sent from with words of 8 bytes, each of which says where it is
/// and on which rank.
void stamp_messages(std::span<std::byte> memory, int rank);

/// Checks that the bytes of a message between its first and its last one are consecutive words of
/// one stamped memory. The message began at a multiple of 8 bytes there. Messages of up to 16 bytes
/// have no whole word besides these two bytes, and pass.
std::optional<WrongByte> first_wrong_byte(std::span<const std::byte> message);

}  // namespace effio
