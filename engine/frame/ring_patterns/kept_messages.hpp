// SPDX-License-Identifier: BSD-3-Clause
// Memory in which the messages of a timed series stay until they are compared (--verify all).
// Without it, benchmarks receive each message into the place of an earlier one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/buffer.hpp"
#include "core/fields.hpp"

namespace effio {

/// Received messages by what was checked of them.
struct MessageCounts {
    /// All bytes were compared.
    std::int64_t whole = 0;
    /// A later message took their place: only first and last byte were compared.
    std::int64_t overwritten = 0;

    bool any() const { return whole + overwritten > 0; }
    MessageCounts& operator+=(const MessageCounts& other);
};
const Fields<MessageCounts>& message_count_fields();
/// A line for people, or nothing if no message was overwritten.
std::string overwritten_line(const MessageCounts& counts);

class KeptMessages {
  public:
    /// Memory of 64 MiB, or of `least_bytes` if that is more.
    static std::size_t bytes_for(std::size_t least_bytes);
    explicit KeptMessages(std::size_t least_bytes);

    /// Starts a series of messages of one length: clears the memory that they will be received
    /// into. Not to be timed.
    void start(std::size_t message_bytes, std::int64_t messages);
    /// The place for the next message of the series, a multiple of 8 bytes. Places are used in
    /// turn: once all hold a message, the oldest is overwritten.
    std::span<std::byte> next() { return place(received_++); }

    /// Calls `visit(number, bytes)` for each message that is still there, `number` from 0.
    template <class Visit>
    void for_each(Visit&& visit) {
        for (std::int64_t n = overwritten(); n < received_; ++n) visit(n, place(n));
    }
    /// Number of messages of this series that are not there any more.
    std::int64_t overwritten() const { return received_ > places_ ? received_ - places_ : 0; }

  private:
    std::span<std::byte> place(std::int64_t number) {
        return memory_.bytes().subspan(static_cast<std::size_t>(number % places_) * spacing_,
                                       bytes_);
    }

    Buffer memory_;
    std::size_t bytes_ = 1;
    std::size_t spacing_ = 8;
    std::int64_t places_ = 1;
    std::int64_t received_ = 0;
};

}  // namespace effio
