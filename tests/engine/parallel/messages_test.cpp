// SPDX-License-Identifier: BSD-3-Clause
// Exchanges and the communicators they run on: what arrives, with every method, with ranks that
// have nothing to do, and in virtual time when.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "parallel/exchange.hpp"

namespace effio {
namespace {

constexpr std::array methods{Method::sendrecv, Method::alltoallv, Method::nonblocking};

/// A ring over the communicator in both directions with one byte that identifies sender and step.
struct RingOfBytes {
    explicit RingOfBytes(const Comm& comm) : rank(comm.rank()), size(comm.size()) {
        const int next = (rank + 1) % size;
        const int previous = (rank + size - 1) % size;
        add(next, previous);
        if (next != previous) add(previous, next);
    }
    void add(int to, int from) {
        const auto i = steps.size();
        sent[i] = value(rank, i);
        steps.push_back({to, from, std::span(&sent[i], 1), std::span(&received[i], 1)});
    }
    static std::byte value(int rank, std::size_t step) {
        return static_cast<std::byte>(10 * rank + static_cast<int>(step) + 1);
    }
    void expect_all() const {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            EXPECT_EQ(received[i], value(*steps[i].from, i));
        }
    }
    int rank;
    int size;
    std::array<std::byte, 2> sent{};
    std::array<std::byte, 2> received{};
    std::vector<Step> steps;
};

TEST(MpiExchange, every_method_brings_every_message) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    if (comm.size() < 2) GTEST_SKIP() << "needs two ranks";
    const auto exchange = make_mpi_exchange(comm);
    for (const Method method : methods) {
        RingOfBytes ring(comm);
        exchange->prepare(method);
        exchange->run(method, ring.steps);
        ring.expect_all();
        ring.received = {};
        exchange->run(method, ring.steps);  // nothing of the first call is left
        ring.expect_all();
    }
}

TEST(MpiExchange, ranks_without_steps_take_part_in_alltoallv) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    if (comm.size() < 2) GTEST_SKIP() << "needs two ranks";
    const auto exchange = make_mpi_exchange(comm);
    exchange->prepare(Method::alltoallv);
    std::byte sent{static_cast<unsigned char>(comm.rank() + 1)};
    std::byte received{};
    std::vector<Step> steps;
    // Only 0 -> 1.
    if (comm.rank() == 0) steps.push_back({1, {}, std::span(&sent, 1), {}});
    if (comm.rank() == 1) steps.push_back({{}, 0, {}, std::span(&received, 1)});
    exchange->run(Method::alltoallv, steps);
    EXPECT_EQ(received, comm.rank() == 1 ? std::byte{1} : std::byte{0});
}

TEST(SimExchange, messages_take_alpha_and_n_over_beta) {
    Clock clock(Clock::Kind::virtual_time);
    const Comm comm = Comm::world(clock);
    if (comm.size() < 3) GTEST_SKIP() << "needs a ring of three";
    SimModel model;
    model.message_latency = {1.0};
    model.message_rate = {4};  // one byte: 0.25 s
    model.collective = {0.5};
    clock.set_collective_cost(model.collective.count);
    const auto exchange = make_sim_exchange(comm, model, {});
    RingOfBytes ring(comm);
    double start = clock.now();
    exchange->run(Method::sendrecv, ring.steps);
    EXPECT_DOUBLE_EQ(clock.now() - start, 2 * 1.25);  // one after the other
    ring.expect_all();
    start = clock.now();
    exchange->run(Method::nonblocking, ring.steps);
    EXPECT_DOUBLE_EQ(clock.now() - start, 1.25);  // both at a time
    ring.expect_all();
    comm.barrier();
    start = clock.now();
    exchange->run(Method::alltoallv, ring.steps);
    EXPECT_DOUBLE_EQ(clock.now() - start, 0.5 + 1.25);
    ring.expect_all();
}

TEST(SimExchange, messages_have_the_noise_of_the_model) {
    Clock clock(Clock::Kind::virtual_time);
    const Comm comm = Comm::world(clock);
    if (comm.size() < 3) GTEST_SKIP() << "needs a ring of three";
    SimModel model;
    model.message_latency = {1.0};
    model.noise = *NoiseTerms::parse("regime:1:3");
    const auto exchange = make_sim_exchange(comm, model, {});
    RingOfBytes ring(comm);
    // The second message of each rank takes three times as long as the first.
    exchange->run(Method::sendrecv, ring.steps);
    EXPECT_DOUBLE_EQ(clock.now(), 1 + 3);
    exchange->run(Method::nonblocking, ring.steps);
    EXPECT_DOUBLE_EQ(clock.now(), 4 + 3);  // both at a time
    ring.expect_all();
}

TEST(SimExchange, messages_under_way_share_the_link) {
    Clock clock(Clock::Kind::virtual_time);
    const Comm comm = Comm::world(clock);
    if (comm.size() < 3) GTEST_SKIP() << "needs a ring of three";
    SimModel model;
    model.link_rate = {8};
    const std::int64_t ranks = comm.size();
    const auto exchange = make_sim_exchange(comm, model, {ranks, 2 * ranks});
    RingOfBytes ring(comm);
    double start = clock.now();
    exchange->run(Method::sendrecv, ring.steps);
    const auto p = static_cast<double>(ranks);
    EXPECT_DOUBLE_EQ(clock.now() - start, 2 * p / 8);
    start = clock.now();
    exchange->run(Method::nonblocking, ring.steps);
    EXPECT_DOUBLE_EQ(clock.now() - start, 2 * p / 8);  // as many bytes over the same link
}

TEST(Comm, ranks_are_in_the_order_of_the_list) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    std::vector<int> backwards(static_cast<std::size_t>(comm.size()));
    std::iota(backwards.rbegin(), backwards.rend(), 0);
    const auto turned = comm.in_order(backwards);
    ASSERT_TRUE(turned);
    EXPECT_EQ(turned->rank(), comm.size() - 1 - comm.rank());
    // A rank that is not in the list has no place.
    const std::array<int, 1> only{comm.size() - 1};
    const auto last = comm.in_order(only);
    EXPECT_EQ(last.has_value(), comm.rank() == comm.size() - 1);
}

TEST(Comm, a_grid_leaves_out_the_ranks_it_has_no_place_for) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    if (comm.size() < 3) GTEST_SKIP() << "needs a rank to leave out";
    const std::array<int, 2> extents{comm.size() - 1, 1};
    const auto grid = comm.cartesian(extents, true);
    EXPECT_EQ(comm.sum(grid ? 1 : 0), comm.size() - 1);
    if (grid) {
        EXPECT_EQ(grid->size(), comm.size() - 1);
    }
}

}  // namespace
}  // namespace effio
