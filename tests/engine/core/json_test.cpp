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
    EXPECT_EQ(json_line(j), R"({"z":1,"a":2,"m":3})");
}

TEST(Json, numbers_keep_full_precision) {
    const double third = 1.0 / 3;
    EXPECT_EQ(parse_json(json_line(third)).get<double>(), third);
    const std::int64_t large = 9'007'199'254'740'993;  // no double holds it
    EXPECT_EQ(parse_json(json_line(large)).get<std::int64_t>(), large);
}

TEST(Json, text_that_is_not_json_is_a_discarded_value) {
    for (const char* text : {"", "{", "[1,]", "{\"a\":1} x", "nan"}) {
        EXPECT_TRUE(parse_json(text).is_discarded()) << text;
    }
}

TEST(Json, bytes_that_are_not_utf8_are_replaced) {
    EXPECT_EQ(json_line("a\xff"
                        "b"),
              "\"a\xEF\xBF\xBD"
              "b\"");
    EXPECT_EQ(json_lines(Json{{"a", "\xff"}}), "{\n  \"a\": \"\xEF\xBF\xBD\"\n}");
}

}  // namespace
}  // namespace effio
