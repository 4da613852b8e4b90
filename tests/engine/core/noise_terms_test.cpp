// SPDX-License-Identifier: BSD-3-Clause
#include "core/noise_terms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/rounds.hpp"
#include "core/stats.hpp"

namespace effio {
namespace {

std::vector<double> factors(const std::string& text, int count, std::uint64_t seed = 1,
                            int rank = 0) {
    const auto terms = NoiseTerms::parse(text);
    EXPECT_TRUE(terms) << text;
    NoiseFactors source(*terms, seed, rank);
    std::vector<double> all;
    for (int i = 0; i < count; ++i) all.push_back(source.next());
    return all;
}

std::string fault(const std::string& text) {
    const auto terms = NoiseTerms::parse(text);
    return terms ? "no fault" : terms.error().cause;
}

TEST(NoiseTerms, without_chance_each_factor_is_known) {
    EXPECT_EQ(factors("drift:0.5", 4), (std::vector{1.0, 1.5, 2.0, 2.5}));
    EXPECT_EQ(factors("regime:2:3", 6), (std::vector{1.0, 1.0, 3.0, 3.0, 1.0, 1.0}));
    const auto wave = factors("sine:4:0.25", 5);
    for (const auto& [i, factor] : {std::pair{0U, 1.0}, {1U, 1.25}, {2U, 1.0}, {3U, 0.75}}) {
        EXPECT_NEAR(wave[i], factor, 1e-12) << i;
    }
    // Summands are added first, then multiplied by the factors; the result is at least a tenth.
    EXPECT_EQ(factors("drift:1+regime:1:3+bimodal:1:2", 2), (std::vector{2.0, 12.0}));
    EXPECT_EQ(factors("regime:1:0.1+bimodal:1:0.5", 2), (std::vector{0.5, 0.1}));
    EXPECT_EQ(factors("bimodal:0:9", 2), (std::vector{1.0, 1.0}));
}

TEST(NoiseTerms, random_ones_have_the_share_deviation_and_correlation_that_they_say) {
    constexpr int many = 20000;
    const auto of = [](const std::vector<double>& all, double value) {
        return static_cast<double>(std::ranges::count(all, value)) /
               static_cast<double>(all.size());
    };
    EXPECT_NEAR(of(factors("bimodal:0.2:2", many), 2), 0.2, 0.01);
    EXPECT_NEAR(of(factors("rare:0.01:50", many), 50), 0.01, 0.003);
    EXPECT_NEAR(samples_of(factors("0.05", many)).deviation(), 0.05, 0.001);
    EXPECT_EQ(factors("0.05", 3), factors("gauss:0.05", 3));
    const auto chain = factors("ar:0.05:0.7", many);
    EXPECT_NEAR(samples_of(chain).deviation(), 0.05, 0.003);
    EXPECT_NEAR(correlation_of_neighbors(chain), 0.7, 0.03);
}

TEST(NoiseTerms, a_night_is_one_factor_of_all_ranks) {
    const auto night = factors("night:0.1", 3, 7, 0);
    EXPECT_NE(night[0], 1);
    EXPECT_EQ(night[0], night[2]);
    EXPECT_EQ(night, factors("night:0.1", 3, 7, 5));
    EXPECT_NE(night, factors("night:0.1", 3, 8, 0));
    EXPECT_NE(factors("0.1", 3, 7, 0), factors("0.1", 3, 7, 5));
}

TEST(NoiseTerms, faults_name_the_term_and_what_it_takes) {
    EXPECT_EQ(fault("0.05"), "no fault");
    EXPECT_EQ(fault("0.6"), "'0.6' in '0.6' is not a deviation from 0 to 0.5");
    EXPECT_EQ(fault("0.1+bimodal:2:2"), "'2' in 'bimodal:2:2' is not a share from 0 to 1");
    EXPECT_EQ(fault("bimodal:0.2"), "'bimodal:0.2': bimodal takes a share and a factor");
    EXPECT_EQ(fault("drift"), "'drift': drift takes a share");
    EXPECT_EQ(fault("sine:0:0.1"),
              "'0' in 'sine:0:0.1' is not a number of operations from 1 to 1e+12");
    EXPECT_EQ(fault("pink:0.1"),
              "'pink' is not a kind of noise: gauss, ar, bimodal, rare, regime, sine, drift or "
              "night");
    for (const char* wrong : {"", "+", "0.1+", "ar:0.1:1", "nan", "gauss:", "rare:0.1:2:3"}) {
        EXPECT_NE(fault(wrong), "no fault") << wrong;
    }
    EXPECT_FALSE(NoiseTerms(0.0).any());
    EXPECT_TRUE(NoiseTerms::parse("0+drift:0.1")->any());
}

}  // namespace
}  // namespace effio
