// SPDX-License-Identifier: BSD-3-Clause
#include "core/certainty.hpp"

#include <gtest/gtest.h>

#include <array>

#include "core/evidence.hpp"

namespace effio {
namespace {

using Values = std::array<double, 2>;

TEST(Certainty, one_value_is_never_known) {
    const std::array<double, 1> once{3};
    EXPECT_FALSE(range95(once));
    EXPECT_FALSE(is_known_within(once, 1e9));
    EXPECT_FALSE(are_apart(once, Values{100, 100}));
    EXPECT_FALSE(are_apart(Values{100, 100}, once));
}

TEST(Certainty, few_values_are_judged_by_students_interval) {
    // 9 and 11: mean 10, deviation sqrt(2), half width 12.706 sqrt(2)/sqrt(2).
    const auto range = range95(Values{9, 11});
    ASSERT_TRUE(range);
    EXPECT_NEAR(range->low, 10 - 12.706, 0.01);
    EXPECT_NEAR(range->high, 10 + 12.706, 0.01);
    EXPECT_TRUE(is_known_within(Values{9, 11}, 12.8));
    EXPECT_FALSE(is_known_within(Values{9, 11}, 12.6));
    EXPECT_TRUE(are_apart(Values{9, 11}, Values{22.8, 22.8}));
    EXPECT_TRUE(are_apart(Values{22.8, 22.8}, Values{9, 11}));
    EXPECT_FALSE(are_apart(Values{9, 11}, Values{22.6, 22.6}));
    EXPECT_FALSE(are_apart(Values{5, 5}, Values{5, 5}));
}

TEST(Certainty, a_share_is_between_nothing_and_all) {
    EXPECT_TRUE(can_be_share({0, 1}));
    EXPECT_TRUE(can_be_share({-14, 0.2}));
    EXPECT_TRUE(can_be_share({-0.05, -0.05}));
    EXPECT_FALSE(can_be_share({-14, -0.06}));
    EXPECT_TRUE(can_be_share({1.04, 1.2}));
    EXPECT_FALSE(can_be_share({1.06, 1.2}));
}

TEST(Whereabouts, words_name_the_share_of_what_is_mixed) {
    EXPECT_EQ(whereabouts_of(0.95), Whereabouts::device);
    EXPECT_EQ(whereabouts_of(0.949), Whereabouts::mixed);
    EXPECT_EQ(whereabouts_of(0.05), Whereabouts::cache);
    EXPECT_EQ(words(Whereabouts::mixed, 0.43, false), "43 % on storage");
    EXPECT_EQ(words(Whereabouts::mixed, 0.43, true), "43 % from storage");
    EXPECT_EQ(words(Whereabouts::mixed, 0.999, true), "99 % from storage");
    EXPECT_EQ(words(Whereabouts::mixed, {}, true), "partly from storage");
    EXPECT_EQ(words(Whereabouts::device, 1.0, false), "on storage");
    EXPECT_EQ(words(Whereabouts::cache, 0.0, false), "into memory");
    EXPECT_EQ(words(Whereabouts::unknown, {}, true), "memory or storage: not known");
}

}  // namespace
}  // namespace effio
