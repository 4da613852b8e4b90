// SPDX-License-Identifier: BSD-3-Clause
// saturation as cells, and its curves, against docs/definitions/saturation.md.
#include <gtest/gtest.h>

#include "benchmarks/saturation/saturation.hpp"
#include "frame/study/enough.hpp"

namespace effio::saturation {
namespace {

Parameters small() {
    Parameters p;
    p.size = {16 * KiB};
    p.transfers = {{4 * KiB}};
    return p;
}

TEST(SaturationStudy, each_number_of_processes_writes_and_reads_a_stretch_each) {
    const auto study = define(small(), 6);
    ASSERT_TRUE(study) << study.error().text();
    std::vector<int> ranks;
    for (const auto& cell : study->cells) {
        ranks.push_back(cell.ranks);
        EXPECT_EQ(cell.files, cell.ranks);
        EXPECT_EQ(cell.file_bytes, 16 * KiB);
        EXPECT_EQ(cell.layout.placing, study::Placing::spread);
        EXPECT_EQ(cell.sync, study::Sync::inside);
        const Addresses last = cell.addresses(cell.ranks - 1);
        EXPECT_EQ(last.calls(), 4);
        EXPECT_EQ(last.piece(), 4 * KiB);
        EXPECT_EQ(last.place(0), 0);
    }
    EXPECT_EQ(ranks, (std::vector<int>{1, 1, 2, 2, 4, 4, 6, 6}));
    EXPECT_EQ(study->scales_over, "processes");
}

TEST(SaturationStudy, a_shared_file_has_the_stretches_one_after_the_other) {
    Parameters p = small();
    p.files = {FileUse::shared};
    p.placings = {study::Placing::packed};
    p.processes = {3};
    p.phases = {"write"};
    const auto study = define(p, 4);
    ASSERT_TRUE(study) << study.error().text();
    ASSERT_EQ(study->cells.size(), 1U);
    const auto& cell = study->cells.front();
    EXPECT_EQ(cell.files, 1);
    EXPECT_EQ(cell.file_bytes, 48 * KiB);
    EXPECT_EQ(cell.addresses(2).place(0), 32 * KiB);
    EXPECT_EQ(cell.layout.placing, study::Placing::packed);
}

TEST(SaturationStudy, what_cannot_be) {
    Parameters p = small();
    p.processes = {2, 5};
    const auto many = define(p, 4);
    ASSERT_FALSE(many);
    EXPECT_NE(many.error().text().find("5 are more than the 4 ranks"), std::string::npos);
    const auto refused = [](auto&& change) {
        Parameters changed = small();
        change(changed);
        return !changed.check();
    };
    EXPECT_FALSE(refused([](Parameters&) {}));
    EXPECT_TRUE(refused([](Parameters& q) { q.transfers = {{5000}}; }));
    EXPECT_TRUE(refused([](Parameters& q) { q.transfers = {{12 * KiB}}; }));
    EXPECT_TRUE(refused([](Parameters& q) { q.processes = {2, 2}; }));
    EXPECT_TRUE(refused(
        [](Parameters& q) { q.placings = {study::Placing::packed, study::Placing::packed}; }));
    EXPECT_TRUE(refused([](Parameters& q) { q.prefix = "a/b"; }));
    EXPECT_TRUE(refused([](Parameters& q) { q.prefix = ""; }));
}

/// Results of two repetitions, in MB/s by cell, as the frame would give them.
study::Means measured(const study::Definition& study,
                      const std::vector<std::vector<double>>& rounds) {
    study::Means means(study);
    for (std::size_t round = 0; round < rounds.size(); ++round) {
        for (std::size_t i = 0; i < rounds[round].size(); ++i) {
            study::PassResult r;
            r.cell = &study.cells[i];
            r.pass = study.cells[i].passes.front();
            r.repetition = static_cast<std::int64_t>(round);
            r.bytes = 1'000'000;
            r.counted_seconds = 1 / rounds[round][i];
            r.valid = rounds[round][i] > 0;
            means.add(r);
        }
    }
    return means;
}

TEST(SaturationStudy, a_curve_is_summed_up_in_a_sentence) {
    Parameters p = small();
    p.phases = {"write"};
    const auto study = define(p, 8);
    ASSERT_TRUE(study);
    const auto means = measured(*study, {{100, 200, 290, 300}, {100, 200, 290, 300}});
    const auto curves = enough_of(*study, means.list());
    ASSERT_EQ(curves.size(), 1U);
    EXPECT_EQ(curves[0].sentence(),
              "own file write, transfer 4 KiB, placing spread: use 4 of 8 processes for I/O: "
              "290 MB/s of at most 300 MB/s (8 processes); 1 gets 100 MB/s; the rate grows, then "
              "stays level");
    const Figure f = curves[0].figure("saturation");
    EXPECT_EQ(f.name, "enough_ranks");
    EXPECT_EQ(f.metric.value, 4);
    EXPECT_EQ(f.where, (Json{{"transfer_bytes", 4096},
                             {"placing", "spread"},
                             {"pattern", "own file"},
                             {"access", "write"}}));
    EXPECT_EQ(f.detail["of_ranks"], 8);
    EXPECT_EQ(f.detail["fewest_ranks"], 1);
    EXPECT_EQ(f.detail["shape"], "level");
    EXPECT_EQ(f.samples->count, 2);
    EXPECT_EQ(f.samples->low95, 4);
    EXPECT_EQ(f.samples->high95, 4);
}

TEST(SaturationStudy, all_are_never_enough_while_the_rate_still_grows) {
    Parameters p = small();
    p.phases = {"write"};
    const auto study = define(p, 2);
    ASSERT_TRUE(study);
    const auto curves = enough_of(*study, measured(*study, {{100, 190}, {100, 190}}).list());
    ASSERT_EQ(curves.size(), 1U);
    EXPECT_EQ(curves[0].sentence(),
              "own file write, transfer 4 KiB, placing spread: highest rate 190 MB/s with 2 of 2 "
              "processes; 1 gets 100 MB/s; the rate still grows with all 2 processes: more may be "
              "needed");
    const Figure f = curves[0].figure("saturation");
    EXPECT_EQ(f.metric.reason, "the rate still grows with all 2 processes: more may be needed");
    EXPECT_EQ(f.detail["answer"], "growing");
}

TEST(SaturationStudy, only_rounds_that_are_complete_count) {
    Parameters p = small();
    p.phases = {"write"};
    const auto study = define(p, 2);
    ASSERT_TRUE(study);
    // The second round failed with two processes: it would have made one process the best.
    const auto curves = enough_of(*study, measured(*study, {{100, 200}, {900, 0}}).list());
    ASSERT_EQ(curves.size(), 1U);
    EXPECT_EQ(curves[0].rounds, 1);
    EXPECT_EQ(curves[0].of_point(), 2);
    EXPECT_EQ(curves[0].found.shape, Shape::linear);
    EXPECT_FALSE(curves[0].figure("saturation").samples->low95);
    EXPECT_EQ(curves[0].figure("saturation").metric.reason,
              "an answer needs at least two repetitions");
    // Without a complete one nothing is said, and neither of a single number of processes.
    EXPECT_TRUE(enough_of(*study, measured(*study, {{100, 0}, {0, 200}}).list()).empty());
    const auto one = define(p, 1);
    ASSERT_TRUE(one);
    EXPECT_TRUE(enough_of(*one, measured(*one, {{100}}).list()).empty());
}

}  // namespace
}  // namespace effio::saturation
