// SPDX-License-Identifier: BSD-3-Clause
// The frame for studies with many small files in place of few large ones.
#include <filesystem>

#include "core/pattern.hpp"
#include "frame/study/payload.hpp"
#include "frame_suite.hpp"

namespace effio::study {
namespace {

/// Many small files: three of each rank, and a fourth of the first one.
class StudyItems : public StudyFrame {
  protected:
    static constexpr std::int64_t bytes = 5000;
    int files() const { return 3 * ranks_ + 1; }

    Definition items(const std::vector<Pass>& passes) const {
        Definition study;
        study.name = "items";
        Cell cell;
        cell.pattern = "items";
        cell.axes = {size_axis("request", 4096)};
        cell.ranks = ranks_;
        cell.file = "data";
        cell.files = files();
        cell.file_bytes = bytes;
        cell.content = Content::stamped;
        cell.sync = Sync::inside;
        Items items;
        items.files = files();
        items.file_bytes = bytes;
        items.request = 4096;
        items.visits_in_all = files();
        items.visits = [](int rank) { return rank == 0 ? 4 : 3; };
        items.file = [ranks = ranks_](int rank, std::int64_t visit) {
            return visit * ranks + rank;
        };
        cell.data = items;
        for (const auto& pass : passes) {
            cell.passes = {pass};
            study.cells.push_back(cell);
        }
        study.throughputs = {
            {"files_in_all", "files/s", Unit::operations_per_second, 2.0 * files(), {}}};
        for (const auto& pass : passes)
            study.throughputs[0].passes.emplace_back("items", pass.name);
        return study;
    }
    std::string item(int file) const { return directory_ / fmt::format("data.{:06d}", file); }
};

TEST_P(StudyItems, what_is_written_is_read_and_reported_by_file) {
    Notes notes;
    const Ending ending = run(items({write_pass(), read_pass()}), notes);
    ASSERT_EQ(ending.status, ExitCode::done) << ending.reason;
    at_.comm.barrier();
    if (!at_.comm.is_root()) return;
    ASSERT_EQ(notes.results.size(), 2U);
    for (const auto& r : notes.results) {
        EXPECT_EQ(r.files, files());
        EXPECT_EQ(r.bytes, files() * bytes);
        EXPECT_EQ(r.calls, 2 * files());  // 4096 and 904 bytes
    }
    EXPECT_EQ(notes.results[1].verified_bytes, files() * bytes);
    const Addresses contents = items({read_pass()}).cells.front().addresses(0);
    for (int file = 0; file < files(); ++file) {
        std::ifstream in(item(file), std::ios::binary);
        const std::string found{std::istreambuf_iterator<char>(in), {}};
        StampedBuffer data(StampedPattern(Payload::seed_of("data", 0) + 1, 0), bytes);
        const auto right = data.at(contents.place(file), bytes);
        ASSERT_EQ(found.size(), static_cast<std::size_t>(bytes));
        EXPECT_FALSE(compare(right, std::as_bytes(std::span(found)), 0)) << file;
    }
    ASSERT_EQ(notes.flows.size(), 1U);
    const double seconds = notes.results[0].counted_seconds + notes.results[1].counted_seconds;
    EXPECT_DOUBLE_EQ(*notes.flows[0].value(), 2.0 * files() / seconds);
}

TEST_P(StudyItems, whatever_is_wrong_in_an_item_is_found) {
    Notes notes;
    ASSERT_EQ(run(items({write_pass()}), notes).status, ExitCode::done);
    at_.comm.barrier();
    const int last = files() - 1;
    const auto try_with = [&](const char* what, ExitCode expected, auto&& hurt) {
        if (at_.comm.is_root()) hurt();
        at_.comm.barrier();
        Notes seen;
        EXPECT_EQ(run(items({read_pass()}), seen).status, expected) << what;
        at_.comm.barrier();
        return seen.results;
    };
    const auto flipped = try_with("a flipped bit", ExitCode::data_errors, [&] {
        std::fstream file(item(last), std::ios::binary | std::ios::in | std::ios::out);
        file.seekg(4321);
        const char right = static_cast<char>(file.get());
        file.seekp(4321);
        file.put(static_cast<char>(right ^ 1));
    });
    if (at_.comm.is_root()) {
        ASSERT_FALSE(flipped[0].errors.empty());
        EXPECT_EQ(flipped[0].errors[0].offset, 4321);
        EXPECT_EQ(flipped[0].errors[0].path, item(last));
        EXPECT_EQ(flipped[0].error_count, 1);
    }
    try_with("two files that changed places", ExitCode::data_errors, [&] {
        std::filesystem::rename(item(0), item(last) + ".x");
        std::filesystem::rename(item(last), item(0));
        std::filesystem::rename(item(last) + ".x", item(last));
    });
    try_with("a file that is too short", ExitCode::io_error,
             [&] { std::filesystem::resize_file(item(last), 100); });
}

TEST_P(StudyItems, files_of_a_pool_stay_until_its_last_cell) {
    Definition study = items({write_pass(), write_pass()});
    study.cells[0].file = "first";
    std::get<Items>(study.cells[0].data).set = 1;
    study.cells.push_back(items({read_pass()}).cells.front());
    study.cells.back().file = "first";
    std::get<Items>(study.cells.back().data).set = 1;
    for (auto& cell : study.cells) cell.pool = "both";
    Notes notes;
    const Ending ending = run(study, notes, false);
    EXPECT_EQ(ending.status, ExitCode::done) << ending.reason;
    at_.comm.barrier();
    if (!at_.comm.is_root()) return;
    ASSERT_EQ(notes.results.size(), 3U);
    EXPECT_EQ(notes.results[2].verified_bytes, files() * bytes);
    EXPECT_FALSE(std::ifstream(item(0)).good());
}

INSTANTIATE_TEST_SUITE_P(
    Items, StudyItems,
    testing::Values(Case{"posix", "posix", Through::offsets, false, Content::stamped, {}, {}},
                    Case{"mpiio", "mpiio", Through::offsets, false, Content::stamped, {}, {}}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace effio::study
