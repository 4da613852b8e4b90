// SPDX-License-Identifier: BSD-3-Clause
// probe as cells, against docs/definitions/probe.md.
#include <gtest/gtest.h>

#include <set>

#include "benchmarks/probe/probe.hpp"

namespace effio::probe {
namespace {

Parameters small() {
    Parameters p;
    p.size = {40 * KiB};
    p.reads = 4;
    return p;
}

TEST(ProbeStudy, streams_of_all_and_of_one_and_small_reads) {
    const auto study = define(small(), 3);
    std::vector<std::pair<std::string, int>> cells;
    for (const auto& cell : study.cells) {
        cells.emplace_back(cell.pattern + " " + cell.passes.front().name, cell.ranks);
        EXPECT_EQ(cell.files, cell.ranks);
        EXPECT_EQ(cell.file_bytes, 40 * KiB);
        ASSERT_TRUE(cell.past_cache);
        EXPECT_TRUE(cell.past_cache->or_own_backend);
        EXPECT_EQ(cell.sync, study::Sync::inside);
    }
    EXPECT_EQ(cells, (std::vector<std::pair<std::string, int>>{{"all processes write", 3},
                                                               {"all processes read", 3},
                                                               {"small reads read", 3},
                                                               {"one process write", 1},
                                                               {"one process read", 1}}));
    EXPECT_EQ(study.cells[0].file, study.cells[2].file);
    EXPECT_EQ(study.cells[2].counts, study::Counts::calls);
    EXPECT_EQ(study.cells[4].counts, study::Counts::visit);
}

TEST(ProbeStudy, one_process_is_all_of_them) {
    EXPECT_EQ(define(small(), 1).cells.size(), 3U);
}

TEST(ProbeStudy, small_reads_are_one_page_of_each_stretch) {
    // Four stretches of 10 KiB, which are not whole pages: they begin in pages 0, 2, 5 and 7, and
    // each has two whole pages.
    const auto study = define(small(), 2);
    std::set<std::vector<std::int64_t>> orders;
    for (int rank = 0; rank < 2; ++rank) {
        const Addresses a = study.cells[2].addresses(rank);
        ASSERT_EQ(a.calls(), 4);
        EXPECT_EQ(a.piece(), 4 * KiB);
        const std::int64_t first[] = {0, 2, 5, 7};
        std::vector<std::int64_t> places;
        std::set<std::int64_t> numbers;
        for (std::int64_t i = 0; i < 4; ++i) {
            const std::int64_t page = a.place(i) / (4 * KiB);
            EXPECT_EQ(a.place(i) % (4 * KiB), 0);
            EXPECT_GE(page, first[i]);
            EXPECT_LE(page, first[i] + 1);
            places.push_back(a.place(a.number(i)));
            numbers.insert(a.number(i));
        }
        EXPECT_EQ(numbers.size(), 4U);
        orders.insert(places);
    }
    EXPECT_EQ(orders.size(), 2U);
}

TEST(ProbeStudy, a_model_and_direct_need_no_way_past_the_cache) {
    for (const auto* way : {"sim", "null", "direct"}) {
        Parameters p = small();
        p.storage.backend.name = way;
        for (const auto& cell : define(p, 2).cells) EXPECT_FALSE(cell.past_cache) << way;
    }
}

TEST(ProbeStudy, what_cannot_be) {
    const auto refused = [](auto&& change) {
        Parameters p = small();
        change(p);
        return !p.check();
    };
    EXPECT_FALSE(refused([](Parameters&) {}));
    EXPECT_FALSE(refused([](Parameters& p) { p.reads = 10; }));
    EXPECT_TRUE(refused([](Parameters& p) { p.reads = 11; }));
    EXPECT_TRUE(refused([](Parameters& p) { p.size = {5000}; }));
    EXPECT_TRUE(refused([](Parameters& p) { p.prefix = ""; }));
    EXPECT_TRUE(refused([](Parameters& p) { p.storage.keep = true; }));
}

}  // namespace
}  // namespace effio::probe
