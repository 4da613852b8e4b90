// SPDX-License-Identifier: BSD-3-Clause
// What results say of means whose noise is known: 1,000 runs of ior and of a study, out of the
// noise that the backend `sim` has.
#include <gtest/gtest.h>

#include <functional>

#include "benchmarks/ior/views.hpp"
#include "core/sim_model.hpp"
#include "frame/study/views.hpp"

namespace effio {
namespace {

constexpr double truth = 100e6;  // B/s

class LastLine : public LineSink {
  public:
    explicit LastLine(std::string& text) : text_(text) {}
    void line(std::string_view text) override { text_ = text; }

  private:
    std::string& text_;
};

/// The first figure that a run reports of these rates.
using FigureOf = std::function<Json(const std::vector<double>& rates)>;

Json figure_of_ior(const std::vector<double>& rates) {
    std::string line;
    Recorder recorder(std::make_unique<LastLine>(line));
    ior::RunResult run;
    run.setup.parameters.phases = {"write"};
    run.setup.parameters.transfers = {Bytes{MiB}};
    for (const double rate : rates) {
        ior::PhaseSummary phase;
        phase.transfer = MiB;
        phase.rate = rate;
        phase.bytes = MiB;
        run.phases.push_back(phase);
    }
    ior::make_record_view(recorder)->end(run);
    return parse_json(line);
}

Json figure_of_study(const std::vector<double>& rates) {
    study::Definition definition;
    definition.name = "test";
    study::Cell cell;
    cell.pattern = "one";
    cell.passes = {study::write_pass()};
    definition.cells = {cell};
    study::Means means(definition);
    std::int64_t repetition = 0;
    for (const double rate : rates) {
        study::PassResult pass;
        pass.cell = definition.cells.data();
        pass.pass = cell.passes.front();
        pass.repetition = repetition++;
        pass.bytes = 1'000'000'000;
        pass.counted_seconds = 1e9 / rate;
        means.add(pass);
    }
    std::string first;
    class FirstLine : public LineSink {
      public:
        explicit FirstLine(std::string& text) : text_(text) {}
        void line(std::string_view text) override {
            if (text_.empty()) text_ = text;
        }

      private:
        std::string& text_;
    };
    Recorder recorder(std::make_unique<FirstLine>(first));
    study::make_record_view(recorder, definition)->end(means.list(), {});
    return parse_json(first);
}

struct Found {
    double holds = 0;   ///< share of the runs whose interval has the true value
    double doubts = 0;  ///< share of those that say that it may be unreliable
};

/// 1,000 runs of `count` repetitions of one transfer each.
Found runs(const FigureOf& figure_of, std::size_t count, double rho, double drift) {
    constexpr int many = 1000;
    SimModel model;
    model.noise = 0.05;
    model.noise_correlation = rho;
    model.noise_drift = drift;
    Found found;
    for (int run = 0; run < many; ++run) {
        model.noise_seed = 1000 + run;
        SimNoise noise(model, 0);
        std::vector<double> rates;
        // The rate is what noise has its known mean: seconds would have it of their inverse.
        while (rates.size() < count) rates.push_back(truth * noise.next(true));
        const Json figure = figure_of(rates);
        const Json& samples = figure["samples"];
        const bool holds = samples["low95"] <= truth && truth <= samples["high95"];
        found.holds += holds ? 1.0 / many : 0;
        const bool doubts = figure["detail"]["interval"]["unreliable"].get<bool>();
        EXPECT_EQ(doubts, !figure["reasons"].empty());
        found.doubts += doubts ? 1.0 / many : 0;
    }
    return found;
}

class KnownNoise : public testing::TestWithParam<FigureOf> {};

TEST_P(KnownNoise, independent_noise_is_held_in_95_of_100_runs) {
    for (const std::size_t count : {5U, 10U, 30U}) {
        const auto found = runs(GetParam(), count, 0, 0);
        EXPECT_GE(found.holds, 0.93) << count;
        EXPECT_LE(found.holds, 0.98) << count;
        EXPECT_LE(found.doubts, 0.04) << count;  // twice one of a hundred
    }
}

TEST_P(KnownNoise, autocorrelated_noise_is_held_too) {
    const auto found = runs(GetParam(), 100, 0.5, 0);
    EXPECT_GE(found.holds, 0.93);
    EXPECT_LE(found.holds, 0.98);
}

TEST_P(KnownNoise, a_drift_makes_it_unreliable_and_is_reported) {
    // From begin to end by five deviations of the noise.
    const auto found = runs(GetParam(), 30, 0, 0.25 / 30);
    EXPECT_GE(found.doubts, 0.95);
}

INSTANTIATE_TEST_SUITE_P(Figures, KnownNoise,
                         testing::Values(FigureOf(figure_of_ior), FigureOf(figure_of_study)),
                         [](const auto& one) {
                             return std::string(one.index == 0 ? "ior" : "study");
                         });

TEST(KnownNoiseOnce, one_repetition_has_no_interval_and_says_why) {
    for (const auto& figure_of : {figure_of_ior, figure_of_study}) {
        const Json interval = figure_of({truth})["detail"]["interval"];
        EXPECT_EQ(interval["method"], nullptr);
        EXPECT_NE(interval["none"].get<std::string>().find("measured once"), std::string::npos);
    }
}

TEST(KnownNoiseOnce, a_warm_up_is_reported) {
    // 50, then five of 99 to 101: their deviation is some 0.7.
    const Json figure = figure_of_ior({50e6, 100e6, 99e6, 101e6, 100e6, 100e6});
    EXPECT_EQ(figure["detail"]["interval"]["warm_up"], true);
    EXPECT_EQ(figure["detail"]["interval"]["drift"], false);
    EXPECT_EQ(figure["detail"]["interval"]["mean_without_first"], 100e6);
    ASSERT_EQ(figure["reasons"].size(), 1U);
    EXPECT_NE(figure["reasons"][0].get<std::string>().find("by 50 % of their mean"),
              std::string::npos);
    // Four have a range only, and no statement about the first.
    EXPECT_EQ(figure_of_ior({50e6, 100e6, 99e6, 101e6})["detail"]["interval"]["warm_up"], nullptr);
}

}  // namespace
}  // namespace effio
