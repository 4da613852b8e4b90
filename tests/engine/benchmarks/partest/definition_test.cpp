// SPDX-License-Identifier: BSD-3-Clause
// partest's cells against docs/definitions/partest.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "benchmarks/partest/partest.hpp"
#include "core/units.hpp"

namespace effio::partest {
namespace {

TEST(Partest, the_example_of_the_definition) {
    Parameters p;
    p.size = {10000};
    p.call = {4096};
    p.first_access = {100};
    p.chunks = {{3000}, {10000}};
    p.block = Bytes{512};
    const auto study = define(p, 3);
    ASSERT_TRUE(study) << study.error().text();
    // Write and read: the container for two sizes of chunk, files of the tasks, the shared file.
    ASSERT_EQ(study->cells.size(), 8U);
    for (const auto& cell : study->cells) {
        ASSERT_TRUE(std::holds_alternative<study::Streams>(cell.data));
        EXPECT_EQ(cell.ranks, 3);
        EXPECT_EQ(cell.bytes_in_all(), 30000);
        EXPECT_EQ(cell.calls_in_all(), 12);
        const study::Streams& s = std::get<study::Streams>(cell.data);
        EXPECT_EQ(s.calls(10000), 4);
        EXPECT_EQ(s.call(0, 10000), (effio::Run{0, 100}));
        EXPECT_EQ(s.call(1, 10000), (effio::Run{100, 4096}));
        EXPECT_EQ(s.call(3, 10000), (effio::Run{8292, 1708}));
        EXPECT_TRUE(cell.manner.waits);
    }
    const study::Cell& small = study->cells[0];
    EXPECT_EQ(small.pattern, "sion");
    EXPECT_EQ(small.backend->name, "sion");
    EXPECT_EQ(small.backend->sion.chunk, Bytes{3000});
    EXPECT_EQ(small.backend->sion.block, Bytes{512});
    EXPECT_EQ(study->cells[2].backend->sion.chunk, Bytes{10000});
    const study::Cell& apart = study->cells[4];
    EXPECT_EQ(apart.pattern, "task-local");
    EXPECT_EQ(apart.files, 3);
    EXPECT_TRUE(apart.manner.creates_apart);
    EXPECT_EQ(apart.addresses(2).place(0), 0);
    EXPECT_EQ(apart.axes[1].value, nullptr);
    const study::Cell& shared = study->cells[6];
    EXPECT_EQ(shared.pattern, "shared");
    EXPECT_EQ(shared.backend->name, "mpiio");
    EXPECT_EQ(shared.file_bytes, 30000);
    EXPECT_EQ(shared.addresses(2).place(0), 20000);
}

TEST(Partest, calls_of_streams_cover_them_once) {
    study::Streams s;
    for (const std::int64_t request : {1, 5, 8}) {
        s.request = request;
        for (const std::int64_t first : {std::int64_t{0}, std::int64_t{1}, request}) {
            s.first = first;
            for (std::int64_t length = 0; length < 30; ++length) {
                std::int64_t at = 0;
                for (std::int64_t n = 0; n < s.calls(length); ++n) {
                    const effio::Run run = s.call(n, length);
                    EXPECT_EQ(run.offset, at);
                    EXPECT_GT(run.bytes, 0);
                    EXPECT_LE(run.bytes, request);
                    at += run.bytes;
                }
                EXPECT_EQ(at, length);
            }
        }
    }
}

TEST(Partest, random_sizes_are_a_fraction) {
    Parameters p;
    p.size = {1000};
    p.random_size = 0.5;
    std::set<std::int64_t> sizes;
    for (int task = 0; task < 100; ++task) sizes.insert(p.bytes_of(task, 100));
    EXPECT_GE(*sizes.begin(), 1000);
    EXPECT_LT(*sizes.rbegin(), 1500);
    EXPECT_GT(sizes.size(), 50U);
    EXPECT_GT(*sizes.rbegin(), 1250);  // hundred draws all in the lower half: 2^-100
    p.total = Bytes{10000};
    p.random_size = 0;
    EXPECT_EQ(p.bytes_of(1, 3), 3333);
    EXPECT_EQ(p.bytes_of(0, 20000), 1);
}

TEST(Partest, the_most_tasks_are_not_counted_one_by_one) {
    constexpr int most = 2147483647;
    Parameters p;
    p.size = {10000};
    p.call = {4096};
    p.first_access = {100};
    const auto study = define(p, most);
    ASSERT_TRUE(study) << study.error().text();
    for (const auto& cell : study->cells) {
        EXPECT_EQ(cell.bytes_in_all(), 21474836470000);
        EXPECT_EQ(cell.calls_in_all(), 8589934588);  // four of each
        EXPECT_EQ(std::get<study::Streams>(cell.data).largest, 10000);
    }
    p.random_size = 0.5;
    const auto drawn = define(p, most);
    ASSERT_FALSE(drawn);
    EXPECT_EQ(drawn.error().text(),
              "--random-size: 2147483647 tasks are too many; the most are 16777216");
}

TEST(Partest, files_are_within_what_offsets_count) {
    const std::string refused = ": the files of 1025 tasks would be larger than 8 EiB";
    Parameters p;
    p.size = {9000000000000000};
    EXPECT_TRUE(define(p, 1024));  // 9.216e18; 2^63 is 9.223e18
    const auto large = define(p, 1025);
    ASSERT_FALSE(large);
    EXPECT_EQ(large.error().text(), "--size" + refused);
    p.random_size = 0.001;
    EXPECT_FALSE(define(p, 1024));
    p.random_size = 0;
    p.total = p.size;
    EXPECT_TRUE(define(p, 1025));
}

TEST(Partest, the_title_says_what_is_written) {
    Parameters p;
    p.call = {4096};
    p.total = Bytes{10000};
    p.tasks = {2, 3};
    EXPECT_EQ(define(p, 3)->title, "partest: 9999 B to 10 kB in all in calls of 4 KiB");
    p.total.reset();
    p.size = {8192};
    EXPECT_EQ(define(p, 3)->title, "partest: 8 KiB a task in calls of 4 KiB");
    p.random_size = 0.5;
    std::set<std::int64_t> sizes;
    for (const int tasks : {2, 3}) {
        for (int task = 0; task < tasks; ++task) sizes.insert(p.bytes_of(task, tasks));
    }
    EXPECT_EQ(define(p, 3)->title,
              fmt::format("partest: {} to {} a task in calls of 4 KiB",
                          shown_size(Bytes{*sizes.begin()}), shown_size(Bytes{*sizes.rbegin()})));
}

TEST(Partest, shift_turns_and_readers_by_themselves) {
    Parameters p;
    p.shift = 7;
    p.at_a_time = 9;
    p.opens_alone = true;
    p.double_write = true;
    p.unlink = true;
    p.tasks = {2, 5};
    const auto study = define(p, 5);
    ASSERT_TRUE(study);
    ASSERT_EQ(study->cells.size(), 12U);
    EXPECT_EQ(study->scales_over, "tasks");
    for (const auto& cell : study->cells) {
        EXPECT_EQ(cell.manner.shift, cell.ranks == 2 ? 1 : 2);
        EXPECT_EQ(cell.manner.at_a_time, cell.ranks);
        EXPECT_EQ(cell.passes.size(), cell.writes() ? 2U : 1U);
        EXPECT_EQ(cell.manner.unlinks, !cell.writes());
        EXPECT_EQ(cell.manner.opens_alone, !cell.writes() && cell.pattern == "sion");
    }
    p.tasks = {6};
    EXPECT_FALSE(define(p, 5));
}

TEST(Partest, files_and_collectors_of_the_container) {
    Parameters p;
    p.container_files = 3;
    p.collective = {"write"};
    const auto study = define(p, 100);
    ASSERT_TRUE(study);
    for (const auto& cell : study->cells) {
        const bool container = cell.pattern == "sion";
        EXPECT_EQ(cell.parts_of_file, container ? 3 : 1);
        EXPECT_EQ(cell.files_on_disk(), container ? 3 : cell.files);
        EXPECT_EQ(cell.collective, container && cell.writes());
        if (container) {
            EXPECT_EQ(cell.backend->sion.files, 3);
            // 33 tasks a file: 8 collectors of 5 tasks at most.
            EXPECT_EQ(cell.backend->sion.collector_tasks, cell.writes() ? 5 : 1);
        }
    }
    const auto tasks_of_one = [&](std::int64_t tasks) {
        return p.container(1, 3 * tasks, "write").sion.collector_tasks;
    };
    const std::vector<std::pair<std::int64_t, std::int64_t>> shares{
        {1, 1}, {15, 15}, {16, 4}, {31, 8}, {32, 4}, {255, 32}, {256, 16}, {512, 16}, {513, 17}};
    for (const auto& [tasks, each] : shares) EXPECT_EQ(tasks_of_one(tasks), each) << tasks;
    p.collector_tasks = 7;
    EXPECT_EQ(tasks_of_one(512), 7);
    EXPECT_FALSE(define(p, 2));
    p.storage.backend.name = "sim";
    const auto model = define(p, 100);
    ASSERT_TRUE(model);
    for (const auto& cell : model->cells) {
        EXPECT_EQ(cell.parts_of_file, 1);
        EXPECT_FALSE(cell.collective);
    }
}

}  // namespace
}  // namespace effio::partest
