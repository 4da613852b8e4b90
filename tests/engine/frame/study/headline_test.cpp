// SPDX-License-Identifier: BSD-3-Clause
// The headline of a study: which rates it is chosen from, and their share of the peak.
#include <gtest/gtest.h>

#include "frame/study/result.hpp"

namespace effio::study {
namespace {

/// Cells with one pass each, each on its own file.
Definition cells_of(const std::vector<Pass>& passes) {
    Definition study;
    study.name = "made";
    for (const auto& pass : passes) {
        Cell cell;
        cell.pattern = "p" + std::to_string(study.cells.size());
        cell.passes = {pass};
        study.cells.push_back(cell);
    }
    return study;
}

struct Seen {
    double rate = 0;  ///< B/s
    std::optional<double> on_storage = {};
    std::optional<double> holes = {};
    std::int64_t wrong = 0;
    bool valid = true;
    std::size_t pass = 0;
};

void add(Means& means, const Definition& study, std::size_t number, const Seen& seen,
         std::int64_t repetition = 0) {
    PassResult r;
    r.cell = &study.cells[number];
    r.pass = r.cell->passes[seen.pass];
    r.error_count = seen.wrong;
    r.valid = seen.valid;
    r.repetition = repetition;
    r.bytes = 1'000'000;
    r.counted_seconds = 1e6 / seen.rate;
    r.cache.emplace();
    r.cache->storage_fraction = seen.on_storage;
    r.cache->holes = seen.holes;
    means.add(r);
}

std::vector<std::string> patterns(const std::vector<const Mean*>& means) {
    std::vector<std::string> names;
    for (const auto* mean : means) names.push_back(mean->cell->pattern + " " + mean->pass.name);
    return names;
}

TEST(StudyHeadline, is_chosen_among_cells_whose_bytes_were_on_storage) {
    const auto study = cells_of({write_pass(), write_pass(), write_pass(), read_pass()});
    Means means(study);
    add(means, study, 0, {978e6, 0.0});  // into memory
    add(means, study, 1, {20e6, 1.0});
    add(means, study, 2, {30e6, 0.5});
    add(means, study, 3, {763e6, 0.98});
    const auto all = means.list();
    EXPECT_EQ(patterns(Means::best(all)), (std::vector<std::string>{"p1 write", "p3 read"}));
    EXPECT_EQ(all[1].evidence_text(), "on storage");
    EXPECT_EQ(all[2].evidence_text(), "50 % on storage");
    EXPECT_EQ(all[0].evidence_text(), "into memory");
}

TEST(StudyHeadline, takes_what_there_is_where_nothing_was_on_storage) {
    const auto study = cells_of({write_pass(), write_pass()});
    Means means(study);
    add(means, study, 0, {978e6, 0.0});
    add(means, study, 1, {20e6});
    // Unknown places may be storage; memory is not.
    EXPECT_EQ(patterns(Means::best(means.list())), (std::vector<std::string>{"p1 write"}));
}

TEST(StudyHeadline, is_not_a_read_of_holes) {
    const auto study = cells_of({read_pass(), read_pass()});
    Means means(study);
    add(means, study, 0, {2800e6, 1.0, 0.79});
    add(means, study, 1, {20e6, 0.0});
    const auto all = means.list();
    EXPECT_EQ(patterns(Means::best(all)), (std::vector<std::string>{"p1 read"}));
    EXPECT_EQ(all[0].evidence_text(), "from storage, 79 % of it holes, never written");
}

TEST(StudyHeadline, the_weakest_is_of_the_same_access_and_evidence) {
    const auto study = cells_of({write_pass(), write_pass(), write_pass(), read_pass()});
    Means means(study);
    add(means, study, 0, {100e6, 1.0});
    add(means, study, 1, {10e6, 1.0});
    add(means, study, 2, {1e6, 0.0});
    add(means, study, 3, {2e6, 1.0});
    const auto all = means.list();
    EXPECT_EQ(Means::weakest(all, all[0])->cell->pattern, "p1");
}

TEST(StudyHeadline, evidence_is_of_all_repetitions) {
    const auto study = cells_of({write_pass()});
    Means means(study);
    add(means, study, 0, {10e6, 1.0}, 0);
    add(means, study, 0, {10e6, 0.0}, 1);
    EXPECT_EQ(means.list()[0].evidence_text(), "50 % on storage");
    add(means, study, 0, {10e6}, 2);
    EXPECT_EQ(means.list()[0].whereabouts(), Whereabouts::unknown);
}

TEST(StudyHeadline, a_claim_has_what_was_wrong_with_its_own_cell) {
    auto study = cells_of({write_pass(), write_pass(), read_pass()});
    study.cells[0].passes.push_back(read_pass());
    study.cells[2].is_peak = true;
    Means means(study);
    for (const std::int64_t repetition : {0, 1, 2}) {
        add(means, study, 0, {90e6, 1.0}, repetition);
        // What was written wrong is found by the read of the same cell.
        const std::int64_t wrong = repetition == 1 ? 3 : 0;
        add(means, study, 0, {.rate = 90e6, .on_storage = 1.0, .wrong = wrong, .pass = 1},
            repetition);
        add(means, study, 1, {.rate = 20e6, .on_storage = 1.0, .valid = repetition > 0},
            repetition);
        add(means, study, 2, {.rate = 99e6, .on_storage = 1.0, .wrong = 1}, repetition);
    }
    const auto all = means.list();
    EXPECT_EQ(all[0].fault_text(), "3 pieces WRONG");
    EXPECT_EQ(all[1].fault_text(), "3 pieces WRONG");
    EXPECT_EQ(all[2].fault_text(), "1 of 3 repetitions INVALID");
    ASSERT_TRUE(all[1].peak);
    EXPECT_EQ(all[1].peak->fault_text, "3 pieces WRONG");
    EXPECT_EQ(faults_of({all[2]}),
              "\nWrong data or failed repetitions:\n  p1 write, : 1 of 3 repetitions INVALID\n");
    EXPECT_EQ(faults_of({}), "");
}

TEST(StudyPeak, is_the_best_over_all_numbers_of_streams) {
    auto study = cells_of({write_pass(), write_pass(), write_pass(), read_pass()});
    study.cells[0].is_peak = study.cells[1].is_peak = true;
    study.cells[1].ranks = 2;
    Means means(study);
    for (const std::int64_t repetition : {0, 1}) {
        add(means, study, 0, {50e6, 1.0}, repetition);
        add(means, study, 1, {repetition == 0 ? 90e6 : 110e6, 1.0}, repetition);
        add(means, study, 2, {repetition == 0 ? 49e6 : 51e6, 1.0}, repetition);
    }
    const auto all = means.list();
    ASSERT_TRUE(all[2].peak);
    // Not the 50 MB/s of one stream, although that has the same number of ranks as the cell.
    EXPECT_DOUBLE_EQ(all[2].peak->rate, 100e6);
    EXPECT_DOUBLE_EQ(*all[2].share(), 0.5);
    EXPECT_EQ(all[2].peak->values, (std::vector<double>{90e6, 110e6}));
    EXPECT_FALSE(all[0].peak);
}

TEST(StudyPeak, a_cache_is_blamed_only_with_the_cells_own_evidence) {
    auto study = cells_of({write_pass(), write_pass(), write_pass()});
    study.peak = BytesPerSecond{10e6};
    Means means(study);
    add(means, study, 0, {18e6, 1.0});
    add(means, study, 1, {18e6, 0.0});
    add(means, study, 2, {18e6});
    const auto all = means.list();
    EXPECT_EQ(all[0].above_peak(), "above the given peak: the peak is too low");
    EXPECT_EQ(all[1].above_peak(), "above the peak: a cache took part (into memory)");
    EXPECT_EQ(all[2].above_peak(), "above the given peak: the peak is too low");
}

TEST(StudyScaling, an_efficiency_is_never_of_one_repetition_or_of_overlapping_intervals) {
    auto study = cells_of({write_pass(), write_pass(), write_pass()});
    study.scales_over = "tasks";
    for (std::size_t i = 0; i < 3; ++i) {
        auto& cell = study.cells[i];
        cell.pattern = "own file";
        cell.ranks = 1 << i;
        cell.axes = {count_axis("tasks", cell.ranks)};
    }
    const auto list = [&](const std::vector<std::vector<double>>& rounds) {
        Means means(study);
        for (std::size_t round = 0; round < rounds.size(); ++round) {
            for (std::size_t i = 0; i < 3; ++i) {
                add(means, study, i, {rounds[round][i]}, static_cast<std::int64_t>(round));
            }
        }
        return means.list();
    };
    const auto once = list({{100, 286, 400}});
    EXPECT_DOUBLE_EQ(*once[1].speed_up, 2.86);
    EXPECT_FALSE(once[1].efficiency);
    EXPECT_EQ(once[1].no_efficiency, "needs at least two repetitions");
    const auto twice = list({{100, 101, 400}, {101, 100, 400}});
    EXPECT_EQ(twice[1].no_efficiency,
              "with fewer than five repetitions the rates are not clearly apart");
    const std::vector<double> a{100, 101, 400}, b{101, 100, 400};
    const auto five_times = list({a, b, a, b, a});
    EXPECT_EQ(five_times[1].no_efficiency, "the 95 % intervals of the rates overlap");
    EXPECT_DOUBLE_EQ(*twice[2].efficiency, 400 / 100.5 / 4);
    EXPECT_DOUBLE_EQ(*twice[0].efficiency, 1);
}

}  // namespace
}  // namespace effio::study
