// SPDX-License-Identifier: BSD-3-Clause
#include "core/json.hpp"

#include <gtest/gtest.h>

namespace effio {
namespace {

TEST(Json, objects_keep_the_order_in_which_members_came) {
    Json j;
    j["z"] = 1;
    j["a"] = 2;
    j["m"] = 3;
    EXPECT_EQ(j.dump(), R"({"z":1,"a":2,"m":3})");
}

TEST(Json, numbers_keep_full_precision) {
    const double third = 1.0 / 3;
    EXPECT_EQ(Json::parse(Json(third).dump()).get<double>(), third);
    const std::int64_t large = 9'007'199'254'740'993;  // no double holds it
    EXPECT_EQ(Json::parse(Json(large).dump()).get<std::int64_t>(), large);
}

}  // namespace
}  // namespace effio
