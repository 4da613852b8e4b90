// SPDX-License-Identifier: BSD-3-Clause
#include "core/nearest.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace effio {
namespace {

TEST(Nearest, slips_of_the_finger_and_nothing_further) {
    const std::vector<std::string> known{"b-eff", "rings", "b-eff-io", "ior", "mdtest"};
    EXPECT_EQ(nearest("iro", known), "ior");            // two letters changed places
    EXPECT_EQ(nearest("b_eff_io", known), "b-eff-io");  // two other letters
    EXPECT_EQ(nearest("mdtets", known), "mdtest");
    EXPECT_EQ(nearest("rinsg", known), "rings");
    EXPECT_EQ(nearest("xyz", known), "");  // three wrong of three
    EXPECT_EQ(nearest("foo", known), "");  // two of three
    EXPECT_EQ(nearest("every", std::vector<std::string>{"verify"}), "");
    EXPECT_EQ(nearest("", known), "");
}

}  // namespace
}  // namespace effio
