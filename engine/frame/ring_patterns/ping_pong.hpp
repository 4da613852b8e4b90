// SPDX-License-Identifier: BSD-3-Clause
// Round trips of one message between two ranks, each way checked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/error.hpp"
#include "frame/ring_patterns/kept_messages.hpp"
#include "parallel/exchange.hpp"

namespace effio {

/// What came back in a round trip was not what had to.
struct WrongEcho {
    int partner = 0;
    std::int64_t bytes = 0;
    unsigned expected = 0;
    unsigned found = 0;
    Error to_error() const;
};

class PingPong {
  public:
    /// The memory holds the longest message; all of it must outlive this object.
    PingPong(Exchange& exchange, const Clock& clock, std::span<std::byte> send,
             std::span<std::byte> receive)
        : exchange_(exchange), clock_(clock), send_(send), receive_(receive) {}

    /// Both partners call it. One round trip that is not timed, then `loops` timed ones, MPI_Send
    /// and MPI_Recv; setting and checking the first and last byte is inside. The server sends both
    /// back 13 higher (docs/definitions/rings.md). Seconds of this rank for all timed round trips.
    double round_trips(int partner, bool client, std::int64_t bytes, std::int64_t loops);

    /// From now on messages are received into `kept`, and after each series all bytes of those that
    /// are there are checked, untimed. `rank` is the caller's.
    void verify_all(int rank, KeptMessages& kept) {
        rank_ = rank;
        kept_ = &kept;
    }

    std::int64_t errors() const { return errors_; }
    const MessageCounts& verified() const { return verified_; }
    const std::optional<WrongEcho>& first_wrong() const { return first_wrong_; }

  private:
    void one(int partner, bool client, std::size_t bytes);
    void send(int partner, std::size_t bytes, std::byte first, std::byte last);
    void receive(int partner, std::size_t bytes);
    void check(int partner, std::size_t bytes, std::byte first, std::byte last);
    void check_all(int partner, std::size_t bytes);
    std::span<std::byte> next_place(std::size_t bytes) {
        return kept_ ? kept_->next() : receive_.first(bytes);
    }

    Exchange& exchange_;
    const Clock& clock_;
    std::span<std::byte> send_;
    std::span<std::byte> receive_;
    /// Where the latest message was received.
    std::span<std::byte> received_;
    KeptMessages* kept_ = nullptr;
    int rank_ = 0;
    MessageCounts verified_;
    unsigned trips_ = 0;
    std::int64_t errors_ = 0;
    std::optional<WrongEcho> first_wrong_;
};

}  // namespace effio
