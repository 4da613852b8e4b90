// SPDX-License-Identifier: BSD-3-Clause
// IOR by arithmetic: places, data, names, and rules between options.
#include "benchmarks/ior/definition.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "benchmarks/ior/files.hpp"
#include "benchmarks/ior/parameters.hpp"

namespace effio::ior {
namespace {

std::vector<std::uint64_t> words(std::span<const std::byte> bytes) {
    std::vector<std::uint64_t> all(bytes.size() / 8);
    std::memcpy(all.data(), bytes.data(), all.size() * 8);
    return all;
}

TEST(IorGeometry, workers_of_a_shared_file_have_interleaved_blocks) {
    // offset = segment * workers * block + worker * block + transfer number * transfer
    const Geometry g{Files::shared, 3, 4, 8, 2};
    const Walk walk = g.walk(2, 0);
    EXPECT_EQ(walk.length(), 4);
    EXPECT_EQ(walk.offset(0), 16);
    EXPECT_EQ(walk.offset(1), 20);
    EXPECT_EQ(walk.offset(2), 40);
    EXPECT_EQ(walk.offset(3), 44);
    EXPECT_EQ(g.file_count(), 1);
    EXPECT_EQ(g.total_bytes(), 48);
}

TEST(IorGeometry, a_file_per_worker_holds_one_worker) {
    const Geometry g{Files::per_process, 3, 4, 8, 2};
    EXPECT_EQ(g.file_of(2), 2);
    EXPECT_EQ(g.walk(2, 0).offset(3), 12);
    EXPECT_EQ(g.file_count(), 3);
}

TEST(IorGeometry, views_show_the_places_of_the_walk) {
    for (const std::int64_t segments : {1, 4}) {
        const Geometry g{Files::shared, 3, 4, 8, segments};
        for (std::int64_t worker = 0; worker < 3; ++worker) {
            const Walk walk = g.walk(worker, 0);
            for (std::int64_t i = 0; i < walk.length(); ++i) {
                std::int64_t place = -1;
                for_each_run(g.view(worker), i * 4, 4, [&](const effio::Run& run) {
                    place = run.offset;
                    EXPECT_EQ(run.bytes, 4);
                    return true;
                });
                EXPECT_EQ(place, walk.offset(i)) << segments << " " << worker << " " << i;
            }
        }
    }
}

TEST(IorMix, each_transfer_is_drawn_by_itself_with_the_share) {
    constexpr std::int64_t draws = 100000;
    const auto reads = [](const Mix& mix, std::int64_t worker) {
        std::int64_t count = 0;
        for (std::int64_t i = 0; i < draws; ++i) count += mix.reads(worker, i) ? 1 : 0;
        return count;
    };
    EXPECT_EQ(reads({0.0, 1}, 0), 0);
    EXPECT_EQ(reads({1.0, 1}, 0), draws);
    // 5 sigma of a binomial distribution: 5 * sqrt(100000 * 0.3 * 0.7) = 725.
    const Mix mix{0.3, 1};
    for (std::int64_t worker = 0; worker < 4; ++worker) {
        EXPECT_NEAR(static_cast<double>(reads(mix, worker)), 30000.0, 725.0) << worker;
    }
    // Two workers, two seeds: both read in 9 %, 5 * sqrt(100000 * 0.09 * 0.91) = 452.
    std::int64_t workers = 0;
    std::int64_t seeds = 0;
    for (std::int64_t i = 0; i < draws; ++i) {
        workers += mix.reads(0, i) && mix.reads(1, i) ? 1 : 0;
        seeds += mix.reads(0, i) && Mix{0.3, 2}.reads(0, i) ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(workers), 9000.0, 452.0);
    EXPECT_NEAR(static_cast<double>(seeds), 9000.0, 452.0);
}

TEST(IorGeometry, workers_with_their_own_files_take_different_random_orders) {
    Geometry g{Files::per_process, 2, 1, 64, 1};
    g.order = Order::shuffled;
    int equal = 0;
    for (int i = 0; i < 64; ++i) equal += g.walk(0, 0).offset(i) == g.walk(1, 0).offset(i) ? 1 : 0;
    EXPECT_LT(equal, 16);
}

TEST(IorData, timestamp_words_are_rank_and_signature_plus_index) {
    Data data({DataKind::timestamp, 0, 0, 3, 1000}, 24);
    const auto w = words(data.at(4096, 24));
    EXPECT_EQ(w, (std::vector<std::uint64_t>{0x3'0000'03e8, 0x3'0000'03e9, 0x3'0000'03ea}));
}

TEST(IorData, timestamp_signature_wraps_in_its_half_of_the_word) {
    Data data({DataKind::timestamp, 0, 0, 1, -1}, 16);
    EXPECT_EQ(words(data.at(0, 16)), (std::vector<std::uint64_t>{0x1'ffff'ffff, 0x1'0000'0000}));
}

TEST(IorData, offset_words_stand_every_4_KiB) {
    Data data({DataKind::offset, 0, 0, 2, 10}, 12288);
    const auto w = words(data.at(0x1'0000'0010, 12288));
    EXPECT_EQ(w[0], 0x2'0000'0010U);
    EXPECT_EQ(w[1], 0x2'0000'000bU);
    EXPECT_EQ(w[512], 0x2'0000'0020U);
    EXPECT_EQ(w[1024], 0x2'0000'0030U);
    // The next transfer has its own.
    EXPECT_EQ(words(data.at(12288, 12288))[512], 0x2'0000'6000U);
}

TEST(IorData, at_random_places_words_are_those_of_the_task_whose_block_it_is) {
    Data::Source source{DataKind::timestamp, 0, 0, 7, 10};
    source.block = 32;
    source.workers = 3;
    Data data(source, 16);
    const auto first = [&data](std::int64_t offset) { return words(data.at(offset, 16)); };
    // Blocks of 32 bytes: 0 and 3 are worker 0's, 4 is worker 1's.
    EXPECT_EQ(first(16), (std::vector<std::uint64_t>{10, 11}));
    EXPECT_EQ(first(32), (std::vector<std::uint64_t>{0x1'0000'000a, 0x1'0000'000b}));
    EXPECT_EQ(first(128), (std::vector<std::uint64_t>{0x1'0000'000a, 0x1'0000'000b}));
    EXPECT_EQ(first(176), (std::vector<std::uint64_t>{0x2'0000'000a, 0x2'0000'000b}));
    EXPECT_EQ(first(96), (std::vector<std::uint64_t>{10, 11}));
    source.kind = DataKind::offset;
    Data offsets(source, 16);
    EXPECT_EQ(words(offsets.at(32, 16)),
              (std::vector<std::uint64_t>{0x1'0000'0020, 0x1'0000'000b}));
}

TEST(IorData, stamped_data_differ_by_place_file_and_seed) {
    const auto page = [](std::uint64_t seed, std::uint64_t file, std::int64_t offset) {
        Data data({DataKind::stamped, seed, file, 0, 0}, 4096);
        return words(data.at(offset, 4096));
    };
    EXPECT_EQ(page(1, 0, 0), page(1, 0, 0));
    EXPECT_NE(page(1, 0, 0), page(1, 0, 1 << 20));
    EXPECT_NE(page(1, 0, 0), page(1, 1, 0));
    EXPECT_NE(page(1, 0, 0), page(2, 0, 0));
}

TEST(IorFiles, names_and_directories) {
    Parameters p;
    p.stem = "out";
    p.files = Files::per_process;
    p.more_dirs = {"/b"};
    const FileNames names(p, 3);
    ASSERT_EQ(names.sets().size(), 2U);
    EXPECT_EQ(names.sets()[0].count, 2);
    EXPECT_EQ(names.sets()[0].name(1), "out.00000002");
    EXPECT_EQ(names.sets()[1].count, 1);
    EXPECT_EQ(names.sets()[1].name(0), "out.00000001");
    EXPECT_EQ(names.sets()[1].directory, "/b");
    p.more_dirs.clear();
    p.rank_dirs = true;
    p.file_each_repetition = true;
    p.repetitions = 2;
    const FileNames each(p, 2);
    ASSERT_EQ(each.sets().size(), 2U);
    EXPECT_EQ(each.sets()[1].name(1), "1/out.00000001.1");
}

/// The message of a faulty combination, or nothing.
std::string fault(const std::function<void(Parameters&)>& change) {
    Parameters p;
    change(p);
    const auto status = p.check();
    return status ? "" : status.error().cause;
}

TEST(IorParameters, block_must_hold_whole_transfers) {
    EXPECT_EQ(fault([](Parameters& p) {
                  p.block = Bytes{10};
                  p.transfers = {Bytes{4}};
              }),
              "--block 10B is not a multiple of --transfer 4B; 8B would be");
    EXPECT_EQ(fault([](Parameters& p) {
                  p.block = Bytes{4};
                  p.transfers = {Bytes{8}};
              }),
              "--transfer 8B is more than --block 4B");
    EXPECT_EQ(fault([](Parameters& p) {
                  p.block = Bytes{47008};
                  p.transfers = {Bytes{47008}};
              }),
              "");
}

TEST(IorParameters, segments_follow_from_the_memory) {
    Parameters p;
    p.block = Bytes{GiB};
    p.times_memory = 1.5;
    // 192 GiB by blocks of 1 GiB of each of 5 workers: 38.4 segments.
    ASSERT_TRUE(p.fill_memory(128.0 * GiB, 5));
    EXPECT_EQ(p.segments, 39);
    ASSERT_TRUE(p.fill_memory(1000, 5));
    EXPECT_EQ(p.segments, 1);
    p.times_memory = 1000;
    EXPECT_FALSE(p.fill_memory(9e18, 5));
    p.segments_given = true;
    EXPECT_EQ(p.check().error().cause, "--times-memory and --segments exclude each other");
}

TEST(IorParameters, what_does_not_go_together_is_refused) {
    EXPECT_NE(fault([](Parameters& p) { p.wear_out = true; }), "");
    EXPECT_NE(fault([](Parameters& p) { p.phases = {"write", "check"}; }), "");
    EXPECT_NE(fault([](Parameters& p) { p.phases = {"read", "read"}; }), "");
    EXPECT_NE(fault([](Parameters& p) { p.verify = {"always"}; }), "");
    EXPECT_NE(fault([](Parameters& p) {
                  p.order = Order::shuffled;
                  p.placement = Placement::view;
              }),
              "");
    EXPECT_NE(fault([](Parameters& p) {
                  p.threads = 2;
                  p.collective = true;
              }),
              "");
    EXPECT_NE(fault([](Parameters& p) { p.more_dirs = {"/x"}; }), "");
    EXPECT_NE(fault([](Parameters& p) { p.stem = "a/b"; }), "");
    EXPECT_NE(fault([](Parameters& p) {
                  p.phases = {"read"};
                  p.verify = {"read"};
              }),
              "");
    EXPECT_EQ(fault([](Parameters& p) {
                  p.phases = {"read"};
                  p.verify = {"read"};
                  p.seed = 3;
              }),
              "");
}

}  // namespace
}  // namespace effio::ior
