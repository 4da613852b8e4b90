// SPDX-License-Identifier: BSD-3-Clause
// The message buffers of b_eff and what is checked of each message (docs/definitions/b-eff.md,
// Methods and buffers).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "benchmarks/b_eff/definition.hpp"
#include "core/buffer.hpp"
#include "frame/network_options.hpp"
#include "frame/ring_patterns/kept_messages.hpp"
#include "parallel/exchange.hpp"

namespace effio::b_eff {

/// A received message, and its first byte that differs from what was sent.
struct WrongMessage {
    int from = 0;  ///< position in the pattern's communicator
    std::int64_t bytes = 0;
    std::int64_t place = 0;  ///< of the byte in the message
    unsigned expected = 0;
    unsigned found = 0;
};

/// One buffer to send from and one to receive into, each of 6 * (Lmax + 16) bytes. Messages are
/// placed one behind the other, cyclically over the whole run, so that each goes through other
/// memory than the one before and short ones do not stay in a cache.
class Messages {
  public:
    explicit Messages(std::int64_t lmax, VerifiedBytes verify = VerifiedBytes::ends);
    /// Memory in which messages stay until they are verified whole.
    static std::size_t verification_bytes(std::int64_t lmax, VerifiedBytes verify);

    /// The messages of one loop at the next places, first and last byte set; the same bytes of the
    /// places to receive into are cleared. Valid until the next call.
    std::span<const Step> next(std::span<const Partners> partners, int length_number,
                               std::int64_t bytes);
    /// How many messages received into the places of the latest `next` are wrong.
    int check(int length_number);

    /// The loops of an experiment whose messages are verified whole. prepare_all() comes before
    /// them and check_all() after them, both untimed and without effect unless all bytes are to be
    /// verified. Between them messages are received into separate memory.
    struct Loops {
        std::span<const Partners> partners;
        std::int64_t bytes = 0;  ///< of a message
        std::int64_t loops = 0;
        int position = 0;  ///< of the caller, as the partners are counted
    };
    struct Checked {
        int wrong = 0;  ///< messages with a wrong byte between their first and last
        MessageCounts messages;
    };
    void prepare_all(const Loops& series);
    Checked check_all(const Loops& series);
    /// The first wrong message so far.
    const std::optional<WrongMessage>& first_wrong() const { return first_wrong_; }

    std::size_t memory_bytes() const { return send_.size() + receive_.size(); }

  private:
    std::size_t advance(std::size_t bytes);
    /// Number of messages of this length that fit into the memory to send from.
    std::size_t places(std::size_t bytes) const;

    Buffer send_;
    Buffer receive_;
    std::optional<KeptMessages> kept_;
    bool keeps_ = false;  ///< within a series that is verified
    std::size_t position_ = 0;
    std::vector<Step> steps_;
    std::optional<WrongMessage> first_wrong_;
};

}  // namespace effio::b_eff
