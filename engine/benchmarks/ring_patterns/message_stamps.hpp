// SPDX-License-Identifier: BSD-3-Clause
// Contents of messages that are verified whole (--verify all). Benchmarks set and check the first
// and last byte of each message inside the timed interval. The bytes between them are written
// before the interval and checked after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace effio {

/// A byte that does not match the other words of its message.
struct WrongByte {
    std::int64_t place = 0;  ///< in the message
    unsigned expected = 0;
    unsigned found = 0;
};

/// Fills the memory that messages are sent from with words of 8 bytes. Each word encodes its place
/// and its rank.
void stamp_messages(std::span<std::byte> memory, int rank);

/// Checks that the bytes between the first and last byte of a message are consecutive words of one
/// stamped memory. The message must start at a multiple of 8 bytes there. Messages of up to 16
/// bytes contain no complete word without these two bytes, and pass.
std::optional<WrongByte> first_wrong_byte(std::span<const std::byte> message);

}  // namespace effio
