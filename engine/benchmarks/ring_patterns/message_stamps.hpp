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

/// Fills the memory that messages of `message_bytes` are sent from with words of 8 bytes. Each word
/// encodes its place and the rank. Messages of up to 16 bytes, each at the next multiple of 8
/// bytes, all have the words of the first one, because they contain no complete word that the two
/// marks leave as it is, from which the place would follow.
void stamp_messages(std::span<std::byte> memory, int rank, std::size_t message_bytes);

/// Checks that the bytes between the first and last byte of a message are consecutive words of the
/// memory that rank `from` stamped. The message must start at a multiple of 8 bytes there.
std::optional<WrongByte> first_wrong_byte(std::span<const std::byte> message, int from);

}  // namespace effio
