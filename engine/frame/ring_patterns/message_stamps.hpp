// SPDX-License-Identifier: BSD-3-Clause
// Contents of messages that are verified whole (--verify all). Benchmarks set and check the first
// and last byte of each message inside the timed interval. The bytes between them are written
// before the interval and checked after it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/error.hpp"

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

/// A number that a rank sends to another one next to the measured messages, in three copies: a
/// wrong byte is found, and does not change the number.
class SureNumber {
  public:
    explicit SureNumber(std::int64_t number = -1) { copies_.fill(number); }

    /// The value of each bit that at least two copies have.
    std::int64_t value() const;
    bool is_whole() const { return copies_[0] == copies_[1] && copies_[1] == copies_[2]; }
    /// The error for a number that is not whole. `from`: "rank 3"; `meaning`: "its node".
    Error wrong_error(const std::string& from, const std::string& meaning) const;

    std::span<const std::byte> bytes() const { return std::as_bytes(std::span(copies_)); }
    std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(copies_)); }

  private:
    std::array<std::int64_t, 3> copies_{};
};

}  // namespace effio
