// SPDX-License-Identifier: BSD-3-Clause
// What each operation costs in virtual time, and where its bytes are meanwhile.
#include "storage/sim.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "../test_session.hpp"
#include "call_forms.hpp"
#include "core/buffer.hpp"

namespace effio {
namespace {

namespace fs = std::filesystem;

struct Sim : testing::Test {
    TestSession at{Clock::Kind::virtual_time};
    const Comm& comm = at.comm;
    int rank = comm.rank();
    int ranks = comm.size();
    std::unique_ptr<SimRoom> room = std::move(*SimRoom::create(comm));
    SimModel model;
    std::unique_ptr<Storage> storage;
    Buffer memory{4096};

    Sim() {
        // Binary fractions: sums are exact.
        model.rank_rate = BytesPerSecond{1024};
        model.latency = Seconds{0.5};
    }
    std::unique_ptr<ByteFile> open(const std::string& name = "data",
                                   OpenMode mode = OpenMode::creating()) {
        if (!storage) storage = make_sim_storage(at.session, model, *room);
        auto file = storage->open(comm, {name, mode, Element::byte, {}});
        EXPECT_TRUE(file) << file.error().text();
        return std::move(*file);
    }
    /// Virtual seconds that `work` takes on this rank.
    template <class Work>
    double seconds(Work&& work) {
        const double start = at.clock.now();
        EXPECT_TRUE(work());
        return at.clock.now() - start;
    }
    std::span<std::byte> bytes(std::size_t count) { return memory.bytes().first(count); }
    double write(ByteFile& file, std::size_t count, CallForm form = alone) {
        return seconds([&] { return file.write(form, bytes(count), 0); });
    }
    double read(ByteFile& file, std::size_t count, CallForm form = alone) {
        return seconds([&] { return file.read(form, bytes(count), 0); });
    }
};

TEST_F(Sim, a_transfer_costs_its_latency_and_its_bytes_at_the_ranks_rate) {
    const auto file = open();
    EXPECT_DOUBLE_EQ(write(*file, 2048), 0.5 + 2);
    EXPECT_DOUBLE_EQ(read(*file, 1024), 0.5 + 1);
    EXPECT_DOUBLE_EQ(write(*file, 0), 0.5);
}

TEST_F(Sim, a_rank_alone_pays_alone_and_all_wait_for_the_slowest_of_a_collective_call) {
    const auto file = open();
    at.clock.wait_until(10);
    const std::size_t mine = 1024 * static_cast<std::size_t>(rank % 4 + 1);
    EXPECT_DOUBLE_EQ(write(*file, mine), 0.5 + (rank % 4 + 1));
    ASSERT_TRUE(file->write(together, bytes(mine), 0));
    // The latest rank came at 10.5 + most s, and the largest part takes 0.5 + most s more.
    const double most = std::min(ranks, 4);
    EXPECT_DOUBLE_EQ(at.clock.now(), 10 + 2 * (0.5 + most));
}

TEST_F(Sim, the_storages_rate_is_shared_by_the_active_ranks) {
    model.shared_rate = BytesPerSecond{2048};
    const auto file = open();
    for (const auto& [active, expected] : {std::pair(1, 1.0), {2, 1.0}, {4, 2.0}, {16, 8.0}}) {
        storage->set_active_ranks(active);
        EXPECT_DOUBLE_EQ(write(*file, 1024), 0.5 + expected) << active;
    }
}

/// One rank at work here and three of other groups: a quarter of 2048 B/s.
TEST_F(Sim, ranks_of_other_groups_share_the_storages_rate) {
    model.shared_rate = BytesPerSecond{2048};
    const auto file = open();
    storage->set_active_ranks(1);
    at.session.ranks_of_others = 3;
    EXPECT_DOUBLE_EQ(write(*file, 1024), 0.5 + 2);
    at.session.ranks_of_others = 0;
    EXPECT_DOUBLE_EQ(write(*file, 1024), 0.5 + 1);
}

TEST_F(Sim, opening_closing_syncing_and_names_have_their_own_costs) {
    model.open = Seconds{1};
    model.close = Seconds{2};
    model.sync = Seconds{4};
    model.metadata = Seconds{8};
    std::unique_ptr<ByteFile> file;
    EXPECT_DOUBLE_EQ(seconds([&] { return (file = open()) != nullptr; }), 1);
    EXPECT_DOUBLE_EQ(seconds([&] { return bool(file->set_view(View{}, Hints{})); }), 0);
    EXPECT_DOUBLE_EQ(seconds([&] { return bool(file->sync()); }), 4);
    EXPECT_DOUBLE_EQ(seconds([&] { return bool(file->preallocate(100)); }), 8);
    EXPECT_DOUBLE_EQ(seconds([&] { return bool(file->close()); }), 2);
    EXPECT_DOUBLE_EQ(seconds([&] { return bool(storage->remove("data")); }), 8);
}

TEST_F(Sim, a_write_back_cache_takes_what_fits_and_a_sync_flushes_it) {
    model.latency = Seconds{0};
    model.cache = Bytes{2048};
    model.cache_rate = BytesPerSecond{4096};
    model.sync = Seconds{1};
    const auto file = open();
    EXPECT_TRUE(storage->capabilities().cached);
    EXPECT_DOUBLE_EQ(write(*file, 1024), 0.25);
    // 1024 more fit, the other 1024 go through at the storage's rate.
    EXPECT_DOUBLE_EQ(write(*file, 2048), 0.25 + 1);
    EXPECT_DOUBLE_EQ(write(*file, 1024), 1);
    EXPECT_DOUBLE_EQ(seconds([&] { return bool(file->sync()); }), 1 + 2);
    EXPECT_DOUBLE_EQ(seconds([&] { return bool(file->sync()); }), 1);
    EXPECT_DOUBLE_EQ(write(*file, 1024), 0.25);
}

TEST_F(Sim, reads_hit_the_cache_while_all_that_was_written_fits) {
    model.latency = Seconds{0};
    model.cache = Bytes{2048};
    model.cache_rate = BytesPerSecond{4096};
    OpenMode mode = OpenMode::creating();
    mode.delete_on_close = true;
    const auto file = open("a", mode);
    const auto other = open("b");
    ASSERT_TRUE(file->write(alone, bytes(1024), 0));
    ASSERT_TRUE(file->sync());
    EXPECT_DOUBLE_EQ(read(*file, 1024), 0.25);
    // With the second file more was written than fits: a scan finds nothing.
    ASSERT_TRUE(other->write(alone, bytes(2048), 0));
    EXPECT_DOUBLE_EQ(read(*file, 1024), 1);
    EXPECT_DOUBLE_EQ(read(*other, 1024), 1);
    // A file that is gone makes room.
    ASSERT_TRUE(file->close());
    EXPECT_DOUBLE_EQ(read(*other, 1024), 0.25);
    ASSERT_TRUE(storage->remove("b"));
    ASSERT_TRUE(other->write(alone, bytes(1024), 0));
    EXPECT_DOUBLE_EQ(read(*other, 1024), 0.25);
}

TEST_F(Sim, barriers_cost_what_the_model_says) {
    model.collective = Seconds{0.125};
    const auto file = open();
    const double start = at.clock.now();
    comm.barrier();
    EXPECT_DOUBLE_EQ(at.clock.now() - start, 0.125);
}

TEST_F(Sim, without_content_files_have_a_length_and_nothing_in_it) {
    model.no_content = true;
    const auto file = open();
    EXPECT_FALSE(storage->capabilities().stores_data);
    ASSERT_TRUE(file->write(alone, bytes(1000), 5000));
    EXPECT_EQ(*file->size(), 6000);
    EXPECT_TRUE(file->read(alone, bytes(1000), 99999));  // anything can be read
    ASSERT_TRUE(file->close());
}

TEST_F(Sim, the_model_is_reported_in_the_result) {
    const auto file = open();
    EXPECT_EQ(storage->describe()["latency"], 0.5);
    EXPECT_EQ(storage->describe()["rank-rate"], 1024);
}

TEST_F(Sim, paths_lie_below_the_room_whatever_they_say) {
    const std::string home = room->place_of("");
    for (const char* path : {"data", "/etc/data", "./x/../data", "../data", "../../../../data"}) {
        const auto file = open(path);
        EXPECT_TRUE(fs::exists(room->place_of(path))) << path;
        EXPECT_TRUE(fs::weakly_canonical(room->place_of(path))
                        .string()
                        .starts_with(fs::weakly_canonical(home).string() + "/"))
            << path;
        ASSERT_TRUE(file->close());
    }
    EXPECT_EQ(room->place_of("./a"), room->place_of("a"));
}

TEST_F(Sim, the_room_is_gone_with_the_last_rank) {
    const std::string home = room->place_of("");
    ASSERT_TRUE(open()->close());
    comm.barrier();
    room.reset();
    comm.barrier();
    EXPECT_FALSE(fs::exists(home));
}

}  // namespace
}  // namespace effio
