// SPDX-License-Identifier: BSD-3-Clause
// Storage that keeps nothing takes the programmed time: never less, and on the ranks that were
// named. (How much more is a matter of the machine, and of bench/.)
#include "storage/null.hpp"

#include <gtest/gtest.h>

#include "../test_session.hpp"
#include "core/buffer.hpp"

namespace effio {
namespace {

struct Null : testing::Test {
    TestSession at;
    NullDelays delays;
    Buffer memory{4096};

    std::unique_ptr<ByteFile> open(Storage& storage) {
        auto file = storage.open(
            at.comm, {"/no/such/directory/data", OpenMode::creating(), Element::byte, {}});
        EXPECT_TRUE(file);
        return std::move(*file);
    }
    template <class Work>
    double seconds(Work&& work) {
        const double start = Clock::monotonic_seconds();
        EXPECT_TRUE(work());
        return Clock::monotonic_seconds() - start;
    }
};

TEST_F(Null, each_operation_takes_its_own_delay_at_least) {
    delays.open = Seconds{0.02};
    delays.transfer = Seconds{0.01};
    delays.rate = BytesPerSecond{409600};  // 4096 B: 0.01 s more
    delays.sync = Seconds{0.03};
    delays.close = Seconds{0.015};
    const auto storage = make_null_storage(at.session, delays);
    std::unique_ptr<ByteFile> file;
    EXPECT_GE(seconds([&] { return (file = open(*storage)) != nullptr; }), 0.02);
    EXPECT_GE(seconds([&] { return bool(file->write({}, memory.bytes(), 0)); }), 0.02);
    EXPECT_GE(seconds([&] { return bool(file->read({}, memory.bytes(), 0)); }), 0.02);
    EXPECT_GE(seconds([&] { return bool(file->read({}, {}, 0)); }), 0.01);
    EXPECT_GE(seconds([&] { return bool(file->sync()); }), 0.03);
    EXPECT_GE(seconds([&] { return bool(file->close()); }), 0.015);
}

TEST_F(Null, a_straggler_is_one_rank_alone) {
    delays.transfer = Seconds{0.05};
    delays.rank = at.comm.size() - 1;
    const auto storage = make_null_storage(at.session, delays);
    EXPECT_EQ(storage->describe()["rank"], at.comm.size() - 1);
    const auto file = open(*storage);
    // The fastest of several calls: others may be late for their own reasons.
    double fastest = 1e9;
    for (int i = 0; i < 5; ++i) {
        fastest =
            std::min(fastest, seconds([&] { return bool(file->write({}, memory.bytes(), 0)); }));
    }
    EXPECT_EQ(fastest >= 0.05, at.comm.rank() == at.comm.size() - 1) << fastest;
    ASSERT_TRUE(file->close());
}

TEST_F(Null, a_file_has_the_length_that_was_written_on_all_ranks_after_a_sync) {
    const auto storage = make_null_storage(at.session, delays);
    const auto file = open(*storage);
    ASSERT_TRUE(file->write({}, memory.bytes(), 4096L * at.comm.rank()));
    EXPECT_EQ(*file->size(), 4096L * (at.comm.rank() + 1));  // as far as this rank knows
    ASSERT_TRUE(file->sync());
    EXPECT_EQ(*file->size(), 4096L * at.comm.size());
    ASSERT_TRUE(file->close());
    const auto again = open(*storage);
    EXPECT_EQ(*again->size(), 4096L * at.comm.size());
    ASSERT_TRUE(again->close());
    ASSERT_TRUE(storage->remove("/no/such/directory/data"));
    EXPECT_EQ(*open(*storage)->size(), 0);
}

TEST_F(Null, says_that_it_keeps_nothing) {
    const auto can = make_null_storage(at.session, delays)->capabilities();
    EXPECT_FALSE(can.stores_data);
    EXPECT_FALSE(can.real_files);
    EXPECT_FALSE(can.cached);
    EXPECT_FALSE(can.hints);
}

TEST(NullDelays, are_options_with_units_and_ranges) {
    NullDelays delays;
    OptionTable table("null", "");
    delays.declare(table);
    ASSERT_TRUE(table.set_all("open=1ms,transfer=2us,rate=3MB/s,sync=4s,close=5ms,rank=2"));
    EXPECT_DOUBLE_EQ(delays.open.count, 0.001);
    EXPECT_DOUBLE_EQ(delays.transfer.count, 2e-6);
    EXPECT_DOUBLE_EQ(delays.rate.count, 3e6);
    EXPECT_DOUBLE_EQ(delays.sync.count, 4);
    EXPECT_DOUBLE_EQ(delays.close.count, 0.005);
    EXPECT_EQ(delays.rank, 2);
    EXPECT_FALSE(table.set("sync", "-1s"));
    EXPECT_FALSE(table.set("rank", "-1"));
    EXPECT_FALSE(table.set_all("delay=1s"));
}

}  // namespace
}  // namespace effio
