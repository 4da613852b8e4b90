// SPDX-License-Identifier: BSD-3-Clause
#include "frame/ring_patterns/ring_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/units.hpp"
#include "frame/ring_patterns/message_stamps.hpp"
#include "frame/ring_patterns/ping_pong.hpp"
#include "frame/ring_patterns/ring_order.hpp"
#include "parallel/pace.hpp"

namespace effio::rings {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t largest = bandwidth_bytes;
constexpr std::size_t buffer_bytes = 2 * largest;

/// What the ends of a message hold: sent right they are base and base + 1, sent left base + 2 and
/// base + 3, with base = (loop + rank + 1) mod 128.
std::byte mark(unsigned loop, int rank, unsigned which) {
    return static_cast<std::byte>((loop + static_cast<unsigned>(rank) + 1) % 128 + which);
}

/// The smallest, largest and sum of this rank's pairs.
struct OwnPairs {
    double low = infinite;
    double high = 0;
    double sum = 0;
    void add(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
        sum += value;
    }
    Spread over(const Comm& comm, std::int64_t pairs) const {
        const double total = comm.sum(sum);
        return {comm.min(low), total / static_cast<double>(pairs), comm.max(high)};
    }
};

/// Over all ranks.
MessageCounts sum_of(const Comm& comm, const MessageCounts& own) {
    return {comm.sum(own.whole), comm.sum(own.overwritten)};
}

}  // namespace

Runner::Runner(Job& job, const ExchangeMaker& exchanges, std::uint32_t seed, VerifiedBytes verify)
    : session_(job.session),
      node_(job.topology.node),
      exchanges_(exchanges),
      seed_(seed),
      tick_(clamped_tick(session_.comm.max(session_.clock.resolution()))),
      send_(buffer_bytes),
      receive_(buffer_bytes),
      loop_(session_) {
    if (verify == VerifiedBytes::all) kept_.emplace(buffer_bytes);
}

std::size_t Runner::memory_bytes(VerifiedBytes verify) {
    return 2 * buffer_bytes +
           (verify == VerifiedBytes::all ? KeptMessages::bytes_for(buffer_bytes) : 0);
}

void Runner::begin_step(std::string title) {
    session_.progress.begin(
        {.title = std::move(title),
         .path = {},
         .plan_done = static_cast<double>(round_) / static_cast<double>(rounds_expected_),
         .ranks = session_.comm.size()});
}

void Runner::begin_round(std::int64_t round, std::int64_t expected) {
    round_ = round;
    rounds_expected_ = expected;
}

LengthResult Runner::measure(const Schedule& schedule) {
    LengthResult result;
    result.schedule = schedule;
    const std::string size = fmt::format("{} B", schedule.bytes);
    begin_step(fmt::format("ping-pong with {}", size));
    if (loop_.go_on(session_.comm)) result.pairs = measure_pairs(schedule);
    // The longer loop of one ring is kept for all that follow.
    std::int64_t loops = schedule.ring_loops;
    begin_step(fmt::format("natural ring with {}", size));
    if (loop_.go_on(session_.comm)) result.natural = measure_ring(schedule, -1, loops);
    begin_step(fmt::format("random rings with {}", size));
    const double start = session_.clock.now();
    for (int index = 0; index < schedule.random_rings && loop_.go_on(session_.comm); ++index) {
        if (index > 0 && schedule.ring_seconds > 0) {
            // One clock decides, so that all ranks measure the same rings.
            double seconds = session_.clock.now() - start;
            session_.comm.broadcast(seconds);
            if (seconds > schedule.ring_seconds) break;
        }
        result.random.push_back(measure_ring(schedule, index, loops));
    }
    return result;
}

/// One pair at a time; all others wait in a barrier.
PairResult Runner::measure_pairs(const Schedule& schedule) {
    const Comm& comm = session_.comm;
    const auto exchange = exchanges_(comm, LinkLoad{1, 1});
    PingPong ping(*exchange, session_.clock, send_.bytes(), receive_.bytes());
    if (kept_) ping.verify_all(comm.rank(), *kept_);
    std::int64_t numbers_wrong = 0;
    std::int64_t loops = schedule.pair_loops;
    // Seconds of one message; 0 on ranks that are not the client.
    const auto measure_pair = [&](Pair pair) {
        session_.progress.call("MPI_Send, MPI_Recv");
        comm.barrier();
        const bool client = comm.rank() == pair.client;
        if (!client && comm.rank() != pair.server) return 0.0;
        const int partner = client ? pair.server : pair.client;
        // The client's number goes to the server.
        const auto send_count = [&](std::int64_t count_of_client) {
            SureNumber number(count_of_client);
            const Step step = client ? Step{partner, {}, number.bytes(), {}}
                                     : Step{{}, partner, {}, number.bytes()};
            exchange->run(Method::sendrecv, std::span(&step, 1));
            if (!number.is_whole()) {
                ++numbers_wrong;
                outcome_.fail(session_.signed_error(
                    number.wrong_error(fmt::format("rank {}", partner), "number of round trips")));
            }
            return number.value();
        };
        double best = infinite;
        std::int64_t count = send_count(loops);
        for (int m = 0; m < schedule.pair_measurements;) {
            const double seconds = ping.round_trips(partner, client, schedule.bytes, count);
            // A loop that was too short is repeated by both; the client judges.
            const bool too_short = seconds < least_ticks * tick_;
            const std::int64_t next = send_count(too_short ? longer_loop(count) : count);
            if (next == count) {
                best = std::min(best, seconds / (2 * static_cast<double>(count)));
                ++m;
            }
            count = next;
        }
        loops = std::max(loops, count);
        return client ? best : 0.0;
    };

    PairResult result;
    double first = measure_pair({0, comm.size() - 1});
    comm.broadcast(first);
    result.stride = pair_stride(comm.size(), schedule, first, tick_);
    const Pairs pairs(comm.size(), result.stride);
    OwnPairs seconds;
    OwnPairs rates;
    std::int64_t own = 0;
    for (std::int64_t i = 0; i < pairs.combinations(); ++i) {
        const Pair pair = pairs[i];
        if (pair.client == pair.server) continue;
        ++result.pairs;
        const double t = measure_pair(pair);
        if (comm.rank() != pair.client || !(t > 0)) continue;
        seconds.add(t);
        rates.add(static_cast<double>(schedule.bytes) / t);
        ++own;
    }
    const std::int64_t seen = std::max<std::int64_t>(1, comm.sum(own));
    result.seconds = seconds.over(comm, seen);
    result.rate = rates.over(comm, seen);
    result.loops = comm.max(loops);
    result.errors = comm.sum(ping.errors() + numbers_wrong);
    result.verified = sum_of(comm, ping.verified());
    if (ping.first_wrong()) {
        outcome_.error_count += ping.errors() - 1;
        outcome_.fail(session_.signed_error(ping.first_wrong()->to_error()));
    }
    return result;
}

RingResult Runner::measure_ring(const Schedule& schedule, int random_index, std::int64_t& loops) {
    const Comm& comm = session_.comm;
    std::optional<Comm> reordered;
    if (random_index >= 0) {
        reordered = comm.in_order(random_order(comm.size(), seed_, random_index));
    }
    const Comm& ring = reordered ? *reordered : comm;
    const std::int64_t ranks = ring.size();
    const auto exchange = exchanges_(ring, LinkLoad{ranks, 2 * ranks});
    RingResult result;
    result.random_index = random_index;
    ring_errors_ = 0;
    count_nodes(ring, *exchange, result);
    double best = infinite;
    double best_sendrecv = infinite;
    double best_nonblocking = infinite;
    ring_verified_ = {};
    for (int m = 0; m < schedule.ring_measurements; ++m) {
        session_.progress.call("MPI_Sendrecv");
        const RingTimes own = time_ring(ring, *exchange, schedule, loops);
        // The better way on each process, then the slowest process.
        std::array<double, 3> slowest{std::min(own.sendrecv, own.nonblocking), own.sendrecv,
                                      own.nonblocking};
        ring.max(std::span<double>(slowest));
        result.measurements.push_back(slowest[0]);
        best = std::min(best, slowest[0]);
        best_sendrecv = std::min(best_sendrecv, slowest[1]);
        best_nonblocking = std::min(best_nonblocking, slowest[2]);
    }
    result.loops = loops;
    result.seconds = best;
    result.sendrecv_seconds = best_sendrecv;
    result.nonblocking_seconds = best_nonblocking;
    result.errors = comm.sum(ring_errors_);
    result.verified = sum_of(comm, ring_verified_);
    return result;
}

Runner::RingTimes Runner::time_ring(const Comm& ring, Exchange& exchange, const Schedule& schedule,
                                    std::int64_t& loops) {
    RingTimes times;
    while (true) {
        times.sendrecv = time_loops(ring, exchange, Method::sendrecv, schedule.bytes, loops);
        // Repeated only if the loop was too short on every rank.
        if (ring.max(times.sendrecv) >= least_ticks * tick_) break;
        loops = longer_loop(loops);
    }
    times.nonblocking = time_loops(ring, exchange, Method::nonblocking, schedule.bytes, loops);
    const double messages = 2 * static_cast<double>(loops);
    return {times.sendrecv / messages, times.nonblocking / messages};
}

/// The timed interval: `loops` times a message to both neighbors, after one loop that is not
/// timed; setting and checking the marks is inside.
double Runner::time_loops(const Comm& ring, Exchange& exchange, Method method, std::int64_t bytes,
                          std::int64_t loops) {
    if (kept_) prepare_all(ring, static_cast<std::size_t>(bytes), loops);
    ring.barrier();
    trips_ = 0;
    loop(ring, exchange, method, static_cast<std::size_t>(bytes));
    double seconds = 0;
    {
        const Lap lap(session_.clock, seconds);
        FixedCount count(loops);
        do {
            loop(ring, exchange, method, static_cast<std::size_t>(bytes));
        } while (count.go_on());
    }
    if (kept_) check_all(ring, method, static_cast<std::size_t>(bytes));
    return seconds;
}

void Runner::prepare_all(const Comm& ring, std::size_t bytes, std::int64_t loops) {
    for (std::size_t i = 0; i < 2; ++i) {
        stamp_messages(send_.bytes().subspan(i * largest, bytes), ring.rank(), bytes);
    }
    kept_->start(bytes, 2 * (loops + 1));
}

void Runner::check_all(const Comm& ring, Method method, std::size_t bytes) {
    const auto [next, previous] = ring_neighbors(ring.rank(), 0, ring.size());
    const std::array<int, 2> from{previous, next};
    ring_verified_.overwritten += kept_->overwritten();
    // Each loop receives one message of either neighbor, in the order of `from`.
    kept_->for_each([&](std::int64_t number, std::span<const std::byte> message) {
        ++ring_verified_.whole;
        const int sender = from.at(static_cast<std::size_t>(number % 2));
        const auto wrong = first_wrong_byte(message, sender);
        if (!wrong) return;
        note_wrong(method, bytes, sender,
                   fmt::format(": byte {} is {:#04x}, expected {:#04x}", wrong->place, wrong->found,
                               wrong->expected));
    });
}

void Runner::note_wrong(Method method, std::size_t bytes, int from, const std::string& what) {
    ++ring_errors_;
    Error error;
    error.exit_code = ExitCode::data_errors;
    error.operation = call_name(method);
    error.cause = fmt::format("wrong data in a message of {} B from position {} of the ring{}",
                              bytes, from, what);
    outcome_.fail(session_.signed_error(std::move(error)));
}

void Runner::loop(const Comm& ring, Exchange& exchange, Method method, std::size_t bytes) {
    const auto [next, previous] = ring_neighbors(ring.rank(), 0, ring.size());
    std::array<Step, 2> steps{};
    const std::array<int, 2> to{next, previous};
    const std::array<int, 2> from{previous, next};
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto sent = send_.bytes().subspan(i * largest, bytes);
        const auto received = kept_ ? kept_->next() : receive_.bytes().subspan(i * largest, bytes);
        const auto which = static_cast<unsigned>(2 * i);
        sent.front() = mark(trips_, ring.rank(), which);
        sent.back() = mark(trips_, ring.rank(), which + 1);
        received.front() = received.back() = std::byte{0};
        steps.at(i) = {to.at(i), from.at(i), sent, received};
    }
    exchange.run(method, steps);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto which = static_cast<unsigned>(2 * i);
        const auto& got = steps.at(i).receive;
        const std::byte first = mark(trips_, from.at(i), which);
        const std::byte last = mark(trips_, from.at(i), which + 1);
        if (got.front() == first && got.back() == last) [[likely]]
            continue;
        note_wrong(method, bytes, from.at(i), "");
    }
    ++trips_;
}

/// Sends the number of this rank's node to both neighbors.
void Runner::count_nodes(const Comm& ring, Exchange& exchange, RingResult& result) {
    const auto [next, previous] = ring_neighbors(ring.rank(), 0, ring.size());
    const SureNumber mine(node_);
    std::array<SureNumber, 2> nodes;
    const std::array<int, 2> from{previous, next};
    const std::array<Step, 2> steps{Step{next, previous, mine.bytes(), nodes[0].bytes()},
                                    Step{previous, next, mine.bytes(), nodes[1].bytes()}};
    exchange.run(Method::nonblocking, steps);
    std::array<std::int64_t, 2> counts{};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        ++counts.at(nodes.at(i).value() == node_ ? 0 : 1);
        if (nodes.at(i).is_whole()) continue;
        ++ring_errors_;
        outcome_.fail(session_.signed_error(nodes.at(i).wrong_error(
            fmt::format("position {} of the ring", from.at(i)), "number of its node")));
    }
    session_.comm.sum(std::span<std::int64_t>(counts));
    result.within = counts[0];
    result.between = counts[1];
}

}  // namespace effio::rings
