// SPDX-License-Identifier: BSD-3-Clause
#include "core/units.hpp"

#include <gtest/gtest.h>

namespace effio {
namespace {

TEST(Units, sizes_take_binary_and_decimal_prefixes_and_sums) {
    EXPECT_EQ(parse_size("1024")->count, 1024);
    EXPECT_EQ(parse_size("1KiB")->count, 1024);
    EXPECT_EQ(parse_size("1kB")->count, 1000);
    EXPECT_EQ(parse_size("1.5 GiB")->count, 1610612736);
    EXPECT_EQ(parse_size("1MiB+8B")->count, 1048584);
    EXPECT_EQ(parse_size("0")->count, 0);
}

TEST(Units, sizes_that_could_be_misread_are_refused) {
    for (const char* text : {"", "4m", "4K", "1x", "MiB", "-1KiB", "1.5", "0.3KiB", "1MiB+", "nan",
                             "1e3", "9EiB", "9000000000000000000000", "1 MiB x", "0x10"}) {
        EXPECT_FALSE(parse_size(text)) << text;
    }
    EXPECT_EQ(parse_size("1x").error().exit_code, ExitCode::usage);
}

TEST(Units, a_unit_that_is_only_begun_gets_a_suggestion) {
    const auto fault = [](const char* text) { return parse_size(text).error().cause; };
    EXPECT_EQ(fault("1G"), "'1G' has the unknown unit 'G'; did you mean 1GiB or 1GB?");
    EXPECT_EQ(fault("256m"), "'256m' has the unknown unit 'm'; did you mean 256MiB or 256MB?");
    EXPECT_EQ(fault("4kb"), "'4kb' has the unknown unit 'kb'; did you mean 4kB?");
    EXPECT_EQ(parse_rate("2g/s").error().cause,
              "'2g' has the unknown unit 'g'; did you mean 2GiB or 2GB?");
    EXPECT_EQ(parse_duration("5m").error().cause,
              "'5m' has the unknown unit 'm'; did you mean 5ms or 5min?");
    EXPECT_NE(fault("1x").find("(known: B KiB MiB"), std::string::npos);
}

TEST(Units, durations_and_rates) {
    EXPECT_DOUBLE_EQ(parse_duration("250ms")->count, 0.25);
    EXPECT_DOUBLE_EQ(parse_duration("1.5min")->count, 90);
    EXPECT_DOUBLE_EQ(parse_duration("30")->count, 30);
    EXPECT_FALSE(parse_duration("30 seconds"));
    EXPECT_DOUBLE_EQ(parse_rate("1GB/s")->count, 1e9);
    EXPECT_DOUBLE_EQ(parse_rate("100MiB/s")->count, 104857600);
    EXPECT_FALSE(parse_rate("1GB/min"));
}

TEST(Units, shares_are_above_0_and_below_100_per_cent) {
    EXPECT_DOUBLE_EQ(parse_share("5%")->count, 0.05);
    EXPECT_DOUBLE_EQ(parse_share("0.05")->count, 0.05);
    EXPECT_DOUBLE_EQ(parse_share("0.5 %")->count, 0.005);
    EXPECT_DOUBLE_EQ(parse_share("99.9%")->count, 0.999);
    for (const char* text : {"", "0", "0%", "100%", "1", "500%", "-5%", "5%%", "%5", "%",
                             "5 percent", "5p", "1e-2", "nan", "inf", "0x1"}) {
        EXPECT_FALSE(parse_share(text)) << text;
    }
    EXPECT_EQ(parse_share("5").error().cause, "'5' is 500 %; did you mean 5%?");
    EXPECT_EQ(parse_share("0%").error().cause,
              "'0%' is not above 0 and below 100 %; write for example 5% or 0.05");
}

TEST(Units, exact_sizes_are_read_back_as_they_were) {
    for (const std::int64_t size :
         {0LL, 1LL, 1032LL, 1048584LL, 33562624LL, 999999999LL, 1536000LL, 1572864LL, 5369196544LL,
          1073741824LL + 1048576 + 1, 3298534883328LL + 512}) {
        EXPECT_EQ(parse_size(format_exact(Bytes{size}))->count, size);
    }
    EXPECT_EQ(format_exact(Bytes{1048584}), "1MiB+8B");
    EXPECT_EQ(format_exact(Bytes{2097152}), "2MiB");
    // As people type them: decimal sizes, and plain bytes if no unit divides the size.
    EXPECT_EQ(format_exact(Bytes{1'000'000}), "1MB");
    EXPECT_EQ(format_exact(Bytes{47'008}), "47008B");
    EXPECT_EQ(format_exact(Bytes{999'999}), "999999B");
    EXPECT_EQ(format_exact(Bytes{5000}), "5kB");
    EXPECT_EQ(format_exact(Bytes{1024'000}), "1000KiB");
    EXPECT_EQ(format_exact(Bytes{1032}), "1KiB+8B");
}

TEST(Units, sizes_for_people_have_a_space_before_the_unit) {
    EXPECT_EQ(shown_size(Bytes{65536}), "64 KiB");
    EXPECT_EQ(shown_size(Bytes{1048584}), "1 MiB+8 B");
    EXPECT_EQ(shown_size(Bytes{5000}), "5 kB");
    EXPECT_EQ(shown_size(Bytes{47'008}), "47008 B");
    EXPECT_EQ(shown_size(Bytes{1073741824LL + 1048576 + 1}), "1074790401 B");
    EXPECT_EQ(shown_size(Bytes{0}), "0 B");
    // 1500 KiB are 1 MiB and 476 KiB; 5 GiB and 476 KiB have too many digits in KiB alone.
    EXPECT_EQ(shown_size(Bytes{1536000}), "1500 KiB");
    EXPECT_EQ(shown_size(Bytes{5368709120LL + 487424}), "5 GiB+476 KiB");
    EXPECT_EQ(shown_size(Bytes{1572864}), "1.5 MiB");
    EXPECT_EQ(shown_size(Bytes{1073741824LL + 268435456}), "1.25 GiB");
    EXPECT_EQ(shown_size(Bytes{1073741824LL + 33554432}), "1 GiB+32 MiB");
    EXPECT_EQ(shown_size(Bytes{1536}), "1536 B");
}

TEST(Units, printed_for_people) {
    EXPECT_EQ(format_size(3.5 * 1073741824), "3.5 GiB");
    EXPECT_EQ(format_rate(59.876e6), "59.88 MB/s");
    EXPECT_EQ(format_duration(0.0125), "12.5 ms");
    EXPECT_EQ(format_duration(999.7e-6), "1 ms");
    EXPECT_EQ(format_duration(999.4e-9), "999 ns");
    EXPECT_EQ(format_share(0.248414), "24.8 %");
    EXPECT_EQ(format_share(-12.345), "-1234 %");
    EXPECT_EQ(format_share(9.996), "1000 %");
    EXPECT_EQ(format_share(7e-16), "0 %");
    EXPECT_EQ(format_duration(754), "12 min 34 s");
    EXPECT_EQ(format_duration(3900 * 3), "3 h 15 min");
    EXPECT_EQ(format_duration(3.6e20), "1e+17 h");
    EXPECT_EQ(format_duration(1e308), "2.78e+304 h");
}

TEST(Units, sizes_of_messages_are_exact) {
    EXPECT_EQ(exact_size(0), "0 B");
    EXPECT_EQ(exact_size(1023), "1023 B");
    EXPECT_EQ(exact_size(-1), "-1 B");
    EXPECT_EQ(exact_size(4096), "4 KiB");
    EXPECT_EQ(exact_size(100000), "97.66 KiB (100000 B)");
    EXPECT_EQ(exact_size(1048577), "1 MiB (1048577 B)");
}

TEST(Units, one_is_not_a_plural) {
    EXPECT_EQ(count_of(1, "rank"), "1 rank");
    EXPECT_EQ(count_of(0, "rank"), "0 ranks");
    EXPECT_EQ(count_of(2, "node"), "2 nodes");
    EXPECT_EQ(count_of(2, "directory"), "2 directories");
    EXPECT_EQ(count_of(3, "process"), "3 processes");
    EXPECT_EQ(count_of(2, "array"), "2 arrays");
    EXPECT_EQ(count_of(0, "batch"), "0 batches");
}

}  // namespace
}  // namespace effio
