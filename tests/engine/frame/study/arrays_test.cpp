// SPDX-License-Identifier: BSD-3-Clause
// The frame for studies with files of arrays: one of all ranks, or one of each.
#include <filesystem>

#include "core/pattern.hpp"
#include "frame/study/payload.hpp"
#include "frame_suite.hpp"

namespace effio::study {
namespace {

/// Two variables of [ranks + 1][4] doubles: the last rank has two rows, each other one.
class StudyArrays : public StudyFrame {
  protected:
    static constexpr std::int64_t row = 32;
    std::int64_t variable() const { return (ranks_ + 1) * row; }
    bool apart() const { return GetParam().own_files; }

    Cell cell(const std::string& file) const {
        Cell cell;
        cell.pattern = "arrays";
        cell.axes = {word_axis("file", file)};
        cell.ranks = ranks_;
        cell.file = file;
        cell.file_bytes = 2 * variable();
        ArraySchema schema;
        schema.dimensions = {{"r", ranks_ + 1}, {"x", 4}};
        for (const char* name : {"one", "two"}) {
            schema.variables.push_back({name, ArrayType::real64, {0, 1}});
        }
        const auto begin = [ranks = ranks_](int rank) -> std::int64_t {
            return rank < ranks ? rank : ranks + 1;
        };
        schema.shares = {0, ranks_, begin};
        const auto shares = [begin, bytes = variable()](int rank) {
            return Addresses(begin(rank) * row,
                             Strides{(begin(rank + 1) - begin(rank)) * row, {{2, bytes}}});
        };
        cell.data = Arrays{schema, shares, 7};
        cell.content = Content::numbers;
        cell.collective = true;
        cell.backend.emplace().name = GetParam().name;
        return cell;
    }
    Definition arrays(const std::vector<std::string>& phases,
                      const std::vector<std::string>& files = {"data"}) const {
        Definition study;
        study.name = "arrays";
        for (const auto& file : files) study.add(cell(file), phases);
        return study;
    }
    std::string file_of_last() const {
        return directory_ / (apart() ? fmt::format("data.{:03d}", ranks_ - 1) : "data");
    }
    /// Of the last element of the second variable, which the last rank wrote.
    std::int64_t last_word() const { return (apart() ? 4 * row : 2 * variable()) - 8; }
};

TEST_P(StudyArrays, variables_stand_one_after_the_other_as_the_addresses_say) {
    Notes notes;
    const Ending ending = run(arrays({"write", "read"}), notes);
    ASSERT_EQ(ending.status, ExitCode::done) << ending.reason;
    at_.comm.barrier();
    if (!at_.comm.is_root()) return;
    ASSERT_EQ(notes.results.size(), 2U);
    for (const auto& r : notes.results) {
        EXPECT_EQ(r.bytes, 2 * variable());
        EXPECT_EQ(r.data_bytes, 2 * variable());
        EXPECT_EQ(r.calls, 2 * ranks_);
        EXPECT_TRUE(r.of_arrays);
        EXPECT_EQ(r.path, directory_ / "data");
    }
    EXPECT_EQ(notes.results[0].on_disk->files, apart() ? ranks_ : 1);
    EXPECT_EQ(notes.results[0].on_disk->bytes, 2 * variable());
    EXPECT_EQ(notes.results[0].hole_bytes(), 0);
    EXPECT_EQ(notes.results[1].verified_bytes, 2 * variable());
    std::ifstream in(file_of_last(), std::ios::binary);
    double last = 0;
    in.seekg(last_word());
    in.read(reinterpret_cast<char*>(&last), sizeof last);
    const auto index = static_cast<std::uint64_t>(2 * variable() / 8 - 1);
    EXPECT_EQ(last, 1.0 + static_cast<double>(
                              Pattern(Payload::seed_of("data", 0) + 1, 7).word(index) >> 12));
}

TEST_P(StudyArrays, a_wrong_value_is_reported_with_its_variable_and_place) {
    Notes notes;
    ASSERT_EQ(run(arrays({"write"}), notes).status, ExitCode::done);
    at_.comm.barrier();
    if (at_.comm.is_root()) {
        std::fstream file(file_of_last(), std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(last_word());
        file.put('\xff').put('\xff');
    }
    at_.comm.barrier();
    Notes seen;
    EXPECT_EQ(run(arrays({"read"}), seen).status, ExitCode::data_errors);
    at_.comm.barrier();
    if (!at_.comm.is_root()) return;
    ASSERT_FALSE(seen.results[0].errors.empty());
    EXPECT_EQ(seen.results[0].error_count, 1);
    EXPECT_TRUE(seen.results[0].valid);
    EXPECT_EQ(seen.results[0].errors[0].path, file_of_last());
    EXPECT_NE(seen.results[0].errors[0].cause.find(fmt::format("variable two at ({}, 3)", ranks_)),
              std::string::npos)
        << seen.results[0].errors[0].cause;
}

TEST_P(StudyArrays, values_of_another_file_are_wrong) {
    Notes notes;
    ASSERT_EQ(run(arrays({"write"}), notes).status, ExitCode::done);
    Definition study = arrays({"read"});
    std::get<Arrays>(study.cells[0].data).set = 8;
    Notes seen;
    EXPECT_EQ(run(study, seen).status, ExitCode::data_errors);
    at_.comm.barrier();
    // Each variable of each rank.
    if (at_.comm.is_root()) {
        EXPECT_EQ(seen.results[0].error_count, 2 * ranks_);
    }
}

TEST_P(StudyArrays, compared_methods_have_a_balanced_order_at_each_place) {
    Definition study = arrays({"write"}, {"a", "b", "c", "a", "b", "c"});
    for (std::size_t i = 0; i < 6; ++i) {
        study.cells[i].axes.push_back(count_axis("place", i < 3 ? 1 : 2));
        study.cells[i].pool = fmt::format("{}{}", study.cells[i].file, i);
    }
    study.compared = 3;
    study.warm_up = arrays({"write"}, {"a"}).cells;
    Notes notes;
    ASSERT_EQ(run(study, notes, false, 2).status, ExitCode::done);
    at_.comm.barrier();
    EXPECT_FALSE(std::filesystem::exists(file_of_last()));
    if (!at_.comm.is_root()) return;
    // What warms up is not reported; Williams' design of three begins with 0, 1, 2 and its mirror.
    std::string order;
    for (const auto& r : notes.results) order += r.cell->file;
    EXPECT_EQ(order, "abcabccbacba");
}

Case library(const char* name, bool own_files) {
    return {name, "", Through::offsets, true, Content::numbers, {}, {}, own_files};
}

INSTANTIATE_TEST_SUITE_P(Arrays, StudyArrays,
                         testing::Values(library("posix", false), library("mpiio", false),
                                         library("posix-fpp", true)),
                         [](const auto& param) {
                             std::string name = param.param.name;
                             std::erase(name, '-');
                             return name;
                         });

}  // namespace
}  // namespace effio::study
