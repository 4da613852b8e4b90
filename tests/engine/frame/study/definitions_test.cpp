// SPDX-License-Identifier: BSD-3-Clause
// The cells of the studies against their definitions (docs/definitions), by enumeration.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "benchmarks/io_bench/io_bench.hpp"
#include "benchmarks/spiobench/spiobench.hpp"
#include "benchmarks/ssca3/ssca3.hpp"
#include "benchmarks/tile_io/tile_io.hpp"
#include "core/pattern.hpp"

namespace effio {
namespace {

/// How often each byte of each file is moved by all ranks of a cell.
std::vector<std::map<std::int64_t, int>> bytes_of(const study::Cell& cell) {
    std::vector<std::map<std::int64_t, int>> files(static_cast<std::size_t>(cell.files));
    for (int rank = 0; rank < cell.ranks; ++rank) {
        const Addresses a = cell.addresses(rank);
        auto& file = files.at(static_cast<std::size_t>(cell.file_of(rank)));
        for (std::int64_t i = 0; i < a.calls(); ++i) {
            const std::int64_t place = a.place(a.number(i));
            for (std::int64_t byte = 0; byte < a.piece(); ++byte) ++file[place + byte];
        }
    }
    return files;
}

tile_io::Geometry three_tiles() {
    return {{{1, 2, 0}, {3, 4, 1}}, 1, 0, 1};
}

TEST(TileIo, the_example_of_the_definition) {
    const auto g = three_tiles();
    EXPECT_EQ(g.extents[1].length(), 10);
    EXPECT_EQ(g.file_bytes(), 20);
    const Addresses a = g.addresses(1);
    EXPECT_EQ(a.calls(), 2);
    EXPECT_EQ(a.piece(), 4);
    EXPECT_EQ(a.place(0), 3);
    EXPECT_EQ(a.place(1), 13);
}

TEST(TileIo, tiles_cover_each_file_and_overlap_where_they_should) {
    tile_io::Parameters p;
    p.tiles = {3, 2, 4};
    p.tile = {4, 3, 2};
    p.overlap = {1, 0, 1};
    p.elements = {{5}};
    p.header = {7};
    for (const std::int64_t files : {1, 2, 4}) {
        p.files = files;
        const auto study = tile_io::define(p, 24);
        ASSERT_TRUE(study) << study.error().text();
        ASSERT_EQ(study->cells.size(), 2U);  // write, read
        const study::Cell& cell = study->cells.front();
        EXPECT_EQ(cell.ranks, 24);
        EXPECT_EQ(cell.layout.grid, (std::vector<int>{4, 2, 3}));
        const std::int64_t tiles = 4 / files;
        const std::int64_t z = tiles * 2 - (tiles - 1);
        EXPECT_EQ(cell.file_bytes, 7 + z * 6 * 10 * 5);
        std::int64_t moved = 0;
        for (const auto& file : bytes_of(cell)) {
            ASSERT_EQ(file.size(), static_cast<std::size_t>(z * 6 * 10 * 5));
            EXPECT_EQ(file.begin()->first, 7);
            EXPECT_EQ(file.rbegin()->first + 1, cell.file_bytes);
            for (const auto& [byte, times] : file) {
                // Shared elements along x are 3 and 6, along z every plane but first and last.
                const std::int64_t x = (byte - 7) / 5 % 10;
                const std::int64_t plane = (byte - 7) / 5 / 10 / 6;
                const int in_x = x == 3 || x == 6 ? 2 : 1;
                const int in_z = plane == 0 || plane == z - 1 ? 1 : 2;
                EXPECT_EQ(times, in_x * in_z) << byte;
                moved += times;
            }
        }
        EXPECT_EQ(moved, 24 * 4 * 3 * 2 * 5);
        // The dataset is that of a file: planes along z that two files share would not be written.
        EXPECT_EQ(study->title,
                  fmt::format("MPI-Tile-IO: 4 x 2 x 3 tiles, {} file{} with a dataset of {} x 6 x "
                              "10 elements{}",
                              files, files > 1 ? "s" : "", z, files > 1 ? " each" : ""));
    }
}

TEST(TileIo, without_numbers_of_tiles_all_ranks_make_a_grid) {
    tile_io::Parameters p;
    EXPECT_EQ(tile_io::define(p, 12)->cells.front().layout.grid, (std::vector<int>{4, 3}));
    EXPECT_EQ(tile_io::define(p, 7)->cells.front().ranks, 7);
    p.tiles[0] = 2;
    EXPECT_EQ(tile_io::define(p, 12)->cells.front().layout.grid, (std::vector<int>{1, 2}));
}

TEST(TileIo, buffer_sizes_are_hints) {
    tile_io::Parameters p;
    p.coll_buffer = Bytes{4096};
    p.indep_buffer = Bytes{512};
    const Hints hints = tile_io::define(p, 1)->cells.front().hints;
    EXPECT_EQ(hints.get("cb_buffer_size"), "4096");
    EXPECT_EQ(hints.get("ind_rd_buffer_size"), "512");
    EXPECT_EQ(hints.get("ind_wr_buffer_size"), "512");
}

TEST(IoBench, every_test_moves_each_block_once_in_its_order) {
    io_bench::Parameters p;
    p.size = {64 * KiB};
    p.blocks = {{4 * KiB}};
    p.copies = {2};
    const auto study = io_bench::define(p, 2);
    ASSERT_TRUE(study) << study.error().text();
    std::vector<std::string> names;
    for (const auto& cell : study->cells) {
        names.push_back(cell.pattern + " " + cell.passes.front().name);
        EXPECT_EQ(cell.file_bytes, 64 * KiB);
        EXPECT_EQ(cell.files, 2);
        for (const auto& file : bytes_of(cell)) {
            ASSERT_EQ(file.size(), static_cast<std::size_t>(64 * KiB));
            for (const auto& [byte, times] : file) ASSERT_EQ(times, 1) << byte;
        }
        const Addresses a = cell.addresses(1);
        ASSERT_EQ(a.calls(), 16);
        for (std::int64_t i = 0; i < 16; ++i) {
            const std::int64_t block = a.place(a.number(i)) / (4 * KiB);
            if (cell.pattern == "sequential") {
                EXPECT_EQ(block, i);
            } else if (cell.pattern == "backward") {
                EXPECT_EQ(block, 15 - i);
            }
        }
    }
    EXPECT_EQ(names,
              (std::vector<std::string>{"sequential write", "sequential read", "backward write",
                                        "backward read", "random write", "random read"}));
    // Copies have their own orders.
    const auto& random = study->cells.back();
    std::vector<std::int64_t> first;
    std::vector<std::int64_t> second;
    for (std::int64_t i = 0; i < 16; ++i) {
        first.push_back(random.addresses(0).number(i));
        second.push_back(random.addresses(1).number(i));
    }
    EXPECT_NE(first, second);
}

TEST(IoBench, block_sizes_double_as_far_as_they_divide_the_file_twice) {
    io_bench::Parameters p;
    p.size = {512 * KiB};
    EXPECT_EQ(p.blocks_in_force(), (std::vector<Bytes>{{64 * KiB}, {128 * KiB}, {256 * KiB}}));
    p.size = {1024 * MiB};
    EXPECT_EQ(p.blocks_in_force().size(), 12U);
    EXPECT_EQ(p.blocks_in_force().back(), (Bytes{128 * MiB}));
}

TEST(Spiobench, the_amount_is_shared_out_in_whole_calls) {
    spiobench::Parameters p;
    p.size = {20 * KiB};
    p.blocks = {{4 * KiB}};
    const auto study = spiobench::define(p, 6);
    ASSERT_TRUE(study) << study.error().text();
    std::vector<std::pair<int, std::int64_t>> files;
    for (const auto& cell : study->cells) {
        files.emplace_back(cell.ranks, cell.file_bytes);
        EXPECT_EQ(cell.files, cell.ranks);
        for (const auto& file : bytes_of(cell)) {
            ASSERT_EQ(file.size(), static_cast<std::size_t>(cell.file_bytes));
            for (const auto& [byte, times] : file) ASSERT_EQ(times, 1) << byte;
        }
    }
    // 5 calls by 1, 2, 4 and 6 tasks: 5, 2, 1 and, because it is the least, 1 each.
    const std::int64_t call = 4 * KiB;
    EXPECT_EQ(files, (std::vector<std::pair<int, std::int64_t>>{{1, 5 * call},
                                                                {1, 5 * call},
                                                                {2, 2 * call},
                                                                {2, 2 * call},
                                                                {4, call},
                                                                {4, call},
                                                                {6, call},
                                                                {6, call}}));
    EXPECT_EQ(study->scales_over, "tasks");
    // 5, 4, 4 and 6 calls: what is written, not what was requested.
    EXPECT_EQ(study->title,
              "SPIOBENCH: 16 KiB to 24 KiB in all (--size 20 KiB in whole blocks of each task), a "
              "file of each task");
    p.tasks = {1, 5};
    EXPECT_EQ(spiobench::define(p, 6)->title, "SPIOBENCH: 20 KiB in all, a file of each task");
}

TEST(Ssca3, presets_have_the_published_files_and_bytes) {
    struct Row {
        const char* name;
        std::int64_t files, read, written;
    };
    constexpr std::int64_t raw = 4116480, image = 3459456, small = 4624;
    // 48 raw files, 12 templates and 15 sequences of 3 images; 48 images and 390 detections, …
    for (const auto& row :
         {Row{"test0", 498, 48 * raw + 12 * small + 45 * image, 48 * image + 390 * small},
          Row{"test1", 2910, 294 * raw + 22 * small + 276 * image, 294 * image + 2300 * small},
          Row{"test7GB", 92634, 1960 * raw + 135 * small + 3130 * image,
              1960 * image + 88579 * small}}) {
        const auto a = ssca3::preset(row.name);
        EXPECT_EQ(a.files(), row.files) << row.name;
        EXPECT_EQ(a.bytes_read(), row.read) << row.name;
        EXPECT_EQ(a.bytes_written(), row.written) << row.name;
    }
    const auto gigabytes = [](std::int64_t bytes) {
        return fmt::format("{:.2f}", static_cast<double>(bytes) / 1e9);
    };
    EXPECT_EQ(gigabytes(ssca3::preset("test0").bytes_read()), "0.35");
    EXPECT_EQ(gigabytes(ssca3::preset("test0").bytes_written()), "0.17");
    EXPECT_EQ(gigabytes(ssca3::preset("test1").bytes_read()), "2.17");
    EXPECT_EQ(gigabytes(ssca3::preset("test1").bytes_written()), "1.03");
    EXPECT_EQ(gigabytes(ssca3::preset("test7GB").bytes_read()), "18.90");
    EXPECT_EQ(gigabytes(ssca3::preset("test7GB").bytes_written()), "7.19");
}

TEST(Ssca3, every_file_is_visited_as_often_as_the_chain_says) {
    ssca3::Parameters p;
    p.grid = 2;
    p.depth = 3;
    p.sequences = 6;  // of 4 locations: two of them twice
    p.detections = 5;
    p.templates = 7;
    for (const bool shared : {true, false}) {
        p.own_chains = !shared;
        const int ranks = 5;
        const std::int64_t chains = shared ? 1 : ranks;
        const auto study = ssca3::define(p, ranks);
        ASSERT_TRUE(study) << study.error().text();
        ASSERT_EQ(study->cells.size(), 7U);
        // Amounts are those of one chain.
        EXPECT_EQ(study->title.find("by each ") == std::string::npos, shared) << study->title;
        for (const auto& cell : study->cells) {
            const bool retrieved =
                cell.pattern == "images" && cell.passes[0].access == study::Access::read;
            const auto& items = std::get<study::Items>(cell.data);
            std::map<std::int64_t, int> visits;
            for (int rank = 0; rank < ranks; ++rank) {
                for (std::int64_t i = 0; i < items.visits(rank); ++i) {
                    const std::int64_t file = items.file(rank, i);
                    ++visits[file];
                    if (!shared) {
                        EXPECT_EQ(file / (cell.files / ranks), rank);
                    }
                    if (retrieved && i % 3 != 0) {
                        EXPECT_EQ(file, items.file(rank, i - 1) + 1);
                    }
                }
            }
            std::int64_t all = 0;
            for (const auto& [file, times] : visits) {
                EXPECT_LT(file, cell.files);
                EXPECT_LE(times, retrieved ? 2 : 1);
                all += times;
            }
            EXPECT_EQ(all, items.visits_in_all);
            EXPECT_EQ(visits.size(), static_cast<std::size_t>(cell.files)) << cell.pattern;
            const std::map<std::string, std::int64_t> expected{
                {"templates", 7}, {"raw", 12}, {"images", retrieved ? 18 : 12}, {"detections", 30}};
            EXPECT_EQ(all, chains * expected.at(cell.pattern)) << cell.pattern;
        }
    }
}

TEST(Ssca3, contents_of_files_begin_with_a_page) {
    const auto items_of = [](std::int64_t files, std::int64_t bytes) {
        study::Items items;
        items.files = files;
        items.file_bytes = bytes;
        return items;
    };
    const Addresses a = items_of(3, 4624).addresses(0);
    EXPECT_EQ(a.calls(), 3);
    EXPECT_EQ(a.piece(), 4624);
    for (std::int64_t n = 0; n < 3; ++n) {
        EXPECT_EQ(a.place(n), n * 8192);
    }
    EXPECT_EQ(items_of(2, 300 * KiB + 1).addresses(0).place(1), 304 * KiB);
}

TEST(IoBench, the_peak_is_the_best_of_several_streams_and_calls_under_way) {
    io_bench::Parameters p;
    p.size = {32 * MiB};
    p.blocks = {{1 * MiB}};
    p.peak_text = "measured";
    const auto study = io_bench::define(p, 1);
    ASSERT_EQ(study->cells.size(), 14U);
    const std::array depths{1, 1, 1, 1, 8, 8, 32, 32};
    for (std::size_t i = 0; i < 14; ++i) {
        const auto& cell = study->cells[i];
        EXPECT_EQ(cell.is_peak, i < 8);
        EXPECT_EQ(cell.past_cache.has_value(), i >= 2 && i < 8);
        EXPECT_EQ(cell.in_flight(), i < 8 ? depths.at(i) : 1);
        if (!cell.is_peak) continue;
        // At least four calls for each that is in flight, in 32 MiB.
        EXPECT_EQ(cell.addresses(0).piece(), i < 4 ? 16 * MiB : i < 6 ? 1 * MiB : 256 * KiB);
        EXPECT_EQ(cell.addresses(0).bytes(), 32 * MiB);
        EXPECT_EQ(cell.sync, study::Sync::inside);
        EXPECT_NE(cell.file, study->cells[8].file);
    }
    EXPECT_NE(study->cells[0].file, study->cells[2].file);
    EXPECT_NE(study->cells[4].file, study->cells[6].file);
    p.storage.backend.name = "direct";
    EXPECT_EQ(io_bench::define(p, 1)->cells.size(), 12U);
    // For one copy and six ranks: 1, 2, 4 and 6 streams, which share the bytes.
    const auto six = io_bench::define(p, 6);
    std::vector<int> streams;
    for (const auto& cell : six->cells) {
        if (!cell.is_peak || cell.past_cache || !cell.writes()) continue;
        streams.push_back(cell.ranks);
        EXPECT_EQ(cell.file_bytes, 32 * MiB / cell.ranks / 4096 * 4096);
        EXPECT_EQ(cell.addresses(0).bytes(), cell.file_bytes);
    }
    EXPECT_EQ(streams, (std::vector<int>{1, 2, 4, 6}));
}

}  // namespace
}  // namespace effio
