// SPDX-License-Identifier: BSD-3-Clause
// The loops of the rings benchmark (docs/definitions/rings.md). Collective over the session's
// ranks.
#pragma once

#include <optional>

#include "core/buffer.hpp"
#include "frame/benchmark.hpp"
#include "frame/network_options.hpp"
#include "frame/ring_patterns/kept_messages.hpp"
#include "frame/ring_patterns/ring_result.hpp"
#include "frame/run_loop.hpp"

namespace effio::rings {

class Runner {
  public:
    Runner(Job& job, const ExchangeMaker& exchanges, std::uint32_t seed,
           VerifiedBytes verify = VerifiedBytes::ends);
    /// Memory of a rank that holds messages.
    static std::size_t memory_bytes(VerifiedBytes verify);

    /// All pairs, the natural ring and the random rings with messages of one length. Stops between
    /// two of them when a signal asks to; `interrupted` then says so.
    LengthResult measure(const Schedule& schedule);
    /// Notes the round, for the live view.
    void begin_round(std::int64_t round, std::int64_t expected);

    bool interrupted() const { return loop_.stops(); }
    /// Wrong messages that this rank saw.
    const Outcome& outcome() const { return outcome_; }

  private:
    struct RingTimes {
        double sendrecv = 0;
        double nonblocking = 0;
    };

    PairResult measure_pairs(const Schedule& schedule);
    RingResult measure_ring(const Schedule& schedule, int random_index, std::int64_t& loops);
    RingTimes time_ring(const Comm& ring, Exchange& exchange, const Schedule& schedule,
                        std::int64_t& loops);
    double time_loops(const Comm& ring, Exchange& exchange, Method method, std::int64_t bytes,
                      std::int64_t loops);
    void loop(const Comm& ring, Exchange& exchange, Method method, std::size_t bytes);
    /// Before and after a timed series, untimed.
    void prepare_all(const Comm& ring, std::size_t bytes, std::int64_t loops);
    void check_all(const Comm& ring, Method method, std::size_t bytes);
    void note_wrong(Method method, std::size_t bytes, int from, const std::string& what);
    void begin_step(std::string title);
    void count_nodes(const Comm& ring, Exchange& exchange, RingResult& result);

    Session& session_;
    int node_;
    const ExchangeMaker& exchanges_;
    std::uint32_t seed_;
    double tick_;
    /// Two messages to send and two to receive: to and from both neighbors.
    Buffer send_;
    Buffer receive_;
    std::optional<KeptMessages> kept_;  ///< received there instead, with --verify all
    unsigned trips_ = 0;
    std::int64_t ring_errors_ = 0;
    MessageCounts ring_verified_;
    Outcome outcome_;
    RunLoop loop_;
    std::int64_t round_ = 0;
    std::int64_t rounds_expected_ = 1;
};

}  // namespace effio::rings
