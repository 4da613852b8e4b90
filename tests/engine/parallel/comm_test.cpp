// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/comm.hpp"
#include "parallel/mpi_comm.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace effio {
namespace {

/// Sum of 0 … n-1.
int triangle(int n) {
    return n * (n - 1) / 2;
}

TEST(Comm, reductions_of_every_type) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    const int n = comm.size();
    EXPECT_EQ(comm.sum(comm.rank()), triangle(n));
    EXPECT_EQ(comm.min(std::int64_t{10} + comm.rank()), 10);
    EXPECT_EQ(comm.max(static_cast<std::uint64_t>(comm.rank())), static_cast<std::uint64_t>(n - 1));
    EXPECT_EQ(comm.sum(0.5), 0.5 * n);
    std::array<double, 2> pair{1.0 * comm.rank(), -1.0 * comm.rank()};
    comm.max(std::span<double>(pair));
    EXPECT_EQ(pair, (std::array<double, 2>{n - 1.0, 0}));
    std::array<std::int64_t, 2> counts{1, comm.rank()};
    comm.sum(std::span<std::int64_t>(counts));
    EXPECT_EQ(counts, (std::array<std::int64_t, 2>{n, triangle(n)}));
}

TEST(Comm, the_sum_below_is_zero_on_rank_0) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    EXPECT_EQ(comm.sum_below(comm.rank() + 1), triangle(comm.rank() + 1));
}

TEST(Comm, broadcasts_of_values_arrays_and_texts_from_any_root) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    for (int root = 0; root < comm.size(); ++root) {
        const bool speaks = comm.rank() == root;
        int value = speaks ? 7 : 0;
        comm.broadcast(value, root);
        EXPECT_EQ(value, 7);
        std::array<double, 3> many{};
        if (speaks) many = {1, 2, 3};
        comm.broadcast(std::span<double>(many), root);
        EXPECT_EQ(many[2], 3);
        const std::string said("with\0 zero and \xc3\xa9", 17);
        std::string text = speaks ? said : "something else that is longer than that";
        comm.broadcast(text, root);
        EXPECT_EQ(text, said);
        std::string empty = speaks ? "" : "not";
        comm.broadcast(empty, root);
        EXPECT_EQ(empty, "");
    }
}

TEST(Comm, gathered_values_and_texts_come_in_order_on_the_root_only) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    const auto values = comm.gather(0.5 * comm.rank());
    const auto texts = comm.gather(std::string(static_cast<std::size_t>(comm.rank()), 'x'));
    const auto expected = static_cast<std::size_t>(comm.is_root() ? comm.size() : 0);
    ASSERT_EQ(values.size(), expected);
    ASSERT_EQ(texts.size(), expected);
    for (std::size_t r = 0; r < expected; ++r) {
        EXPECT_EQ(values[r], 0.5 * static_cast<double>(r));
        EXPECT_EQ(texts[r], std::string(r, 'x'));
    }
}

TEST(Comm, ranks_of_equal_color_form_a_communicator_in_order) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    const auto part = comm.split(comm.rank() % 2);
    ASSERT_TRUE(part);
    EXPECT_EQ(part->rank(), comm.rank() / 2);
    EXPECT_EQ(part->size(), (comm.size() + 1 - comm.rank() % 2) / 2);
    EXPECT_EQ(part->sum(comm.rank() % 2), comm.rank() % 2 * part->size());
    const auto first = comm.split(comm.is_root() ? std::optional<int>(0) : std::nullopt);
    EXPECT_EQ(first.has_value(), comm.is_root());
    if (first) {
        EXPECT_EQ(first->size(), 1);
    }
    EXPECT_EQ(comm.split_by_shared_memory().size(), comm.size());  // tests run on one node
}

TEST(Comm, a_communicator_that_was_moved_from_frees_nothing) {
    Clock clock;
    Comm a = Comm::world(clock);
    Comm b = std::move(a);
    Comm self = Comm::self(clock);
    EXPECT_EQ(self.size(), 1);
    self = std::move(b);
    EXPECT_EQ(self.sum(1), self.size());
}

TEST(Comm, virtual_clocks_leave_a_collective_call_together) {
    Clock clock(Clock::Kind::virtual_time);
    const Comm comm = Comm::world(clock);
    clock.set_collective_cost(0.125);
    const double last = comm.size() - 1;
    const auto expect_joined = [&](auto&& call) {
        const double begin = clock.now();  // equal on all ranks
        clock.advance(comm.rank());        // the last rank is the slowest
        call();
        EXPECT_EQ(clock.now(), begin + last + 0.125);
    };
    int value = 0;
    expect_joined([&] { comm.barrier(); });
    expect_joined([&] { comm.broadcast(value); });
    expect_joined([&] { comm.sum(1); });
    expect_joined([&] { comm.sum_below(1); });
    expect_joined([&] { comm.gather(1.0); });
    expect_joined([&] { comm.gather(std::string("x")); });
    expect_joined([&] { comm.split(0); });
    const double begin = clock.now();
    comm.join_clocks(comm.rank() * 0.5);  // the largest cost of all
    EXPECT_EQ(clock.now(), begin + 0.5 * last);
}

TEST(Comm, a_communicator_joins_its_own_ranks_only) {
    Clock clock(Clock::Kind::virtual_time);
    const Comm comm = Comm::world(clock);
    const auto part = comm.split(comm.rank() % 2);
    clock.advance(comm.rank() % 2 == 0 ? 1 : 10);
    part->barrier();
    EXPECT_EQ(clock.now(), comm.rank() % 2 == 0 ? 1 : 10);
}

TEST(Comm, an_mpi_error_keeps_class_and_text) {
    Clock clock;
    const Comm comm = Comm::self(clock);
    MPI_File file = MPI_FILE_NULL;
    const int code =
        MPI_File_open(raw(comm), "/no/such/directory/f", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    ASSERT_NE(code, MPI_SUCCESS);
    const Error error = mpi_error("MPI_File_open", "/no/such/directory/f", code, 8);
    EXPECT_EQ(error.operation, "MPI_File_open");
    EXPECT_EQ(error.exit_code, ExitCode::io_error);
    EXPECT_EQ(error.mpi_class, MPI_ERR_NO_SUCH_FILE);
    EXPECT_EQ(error.offset, 8);
    EXPECT_FALSE(error.cause.empty());
    EXPECT_EQ(error.cause.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace effio
