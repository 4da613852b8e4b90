// SPDX-License-Identifier: BSD-3-Clause
// The classic command line and lines of partest.
#include <gtest/gtest.h>

#include <algorithm>

#include "classic/partest.hpp"

namespace effio {
namespace {

TEST(PartestSizes, count_in_1024_but_for_two_letters_that_end_in_a_b) {
    const std::vector<std::pair<const char*, std::int64_t>> sizes{
        {"0", 0},        {"17", 17},       {"3k", 3072},       {"3K", 3072},
        {"2m", 2097152}, {"2Mi", 2097152}, {"2MiB", 2097152},  {"2MB", 2000000},
        {"1kB", 1000},   {"1kb", 1000},    {"1g", 1073741824}, {"1t", 1099511627776},
        {"1.5K", 1536}};
    for (const auto& [text, bytes] : sizes) {
        const auto found = parse_partest_size(text);
        ASSERT_TRUE(found) << text;
        EXPECT_EQ(*found, bytes) << text;
    }
    for (const char* bad : {"", "k", "1x", "1kk", "-1", "1.5", "1Mx", "9999999t"}) {
        EXPECT_FALSE(parse_partest_size(bad)) << bad;
    }
}

std::vector<std::string> own(const std::vector<std::string>& words) {
    const auto translated = translate_partest(words, {});
    EXPECT_TRUE(translated) << translated.error().text();
    return translated ? translated->arguments : std::vector<std::string>{};
}

TEST(PartestOptions, are_ours) {
    const auto has = [](const std::vector<std::string>& all, const std::string& word) {
        return std::find(all.begin(), all.end(), word) != all.end();
    };
    auto all = own({});
    for (const char* word :
         {"--ways=sion", "--size=20971520", "--call=10485760", "--block=2097152", "--keep",
          "--prefix=partest_parfile.sion", "--phases=write,read", "--shift=0", "--fsync=off"}) {
        EXPECT_TRUE(has(all, word)) << word;
    }
    all =
        own({"-T3", "-s",   "3M", "-b1M", "-XCv", "-W",  "2",  "-R", "0",  "-F",  "0.25", "-j", "4",
             "-f",  "/a/b", "-q", "-1",   "-O",   "100", "-Z", "2",  "-r", "2MB", "-g",   "1G"});
    for (const char* word :
         {"--ways=task-local", "--size=3145728", "--call=1048576", "--unlink", "--verify=off",
          "--double-write", "--phases=write", "--random-size=0.25", "--at-a-time=4", "--dir=/a",
          "--prefix=b", "--first-access=100", "--shift=2", "--chunk=2000000",
          "--total=1073741824"}) {
        EXPECT_TRUE(has(all, word)) << word;
    }
    EXPECT_FALSE(has(all, "--keep"));
    EXPECT_FALSE(std::any_of(all.begin(), all.end(),
                             [](const auto& word) { return word.starts_with("--block"); }));
    EXPECT_TRUE(has(own({"-T", "1"}), "--container-open=each"));
    EXPECT_TRUE(has(own({"-T", "2", "-wx"}), "--hint=IBM_largeblock_io=true"));
    all = own({"-n", "4", "-Mm"});
    for (const char* word : {"--container-files=4", "--collective=write", "--collective=read"}) {
        EXPECT_TRUE(has(all, word)) << word;
    }
    // Without a container nobody looks at them.
    all = own({"-T", "3", "-n", "4", "-M"});
    EXPECT_FALSE(has(all, "--container-files=4"));
    EXPECT_FALSE(has(all, "--collective=write"));
    EXPECT_TRUE(has(own({"-T", "2", "-Q", "64"}), "--hint=IBM_io_buffer_size=64K"));
}

TEST(PartestOptions, that_cannot_be_are_refused_with_the_reason) {
    const std::vector<std::pair<std::vector<std::string>, const char*>> lines{
        {{"-P"}, "Blue Gene"},
        {{"-p"}, "Blue Gene"},
        {{"-Y"}, "Blue Gene"},
        {{"-c"}, "belong to one machine"},
        {{"-M", "-j", "2"}, "-j"},
        {{"-m", "-T", "1"}, "-T 0"},
        {{"-n", "0"}, "give their number"},
        {{"-n", "two"}, "-n: 'two'"},
        {{"-j", "-2"}, "-j 1"},
        {{"-j", "0"}, "no task"},
        {{"-T", "4"}, "-T: '4'"},
        {{"-W", "0", "-R", "0"}, "nothing to do"},
        {{"-s", "3x"}, "-s: '3x'"},
        {{"-s"}, "needs a value"},
        {{"-y"}, "unknown option"},
        {{"file"}, "unknown word"}};
    for (const auto& [words, said] : lines) {
        const auto translated = translate_partest(words, {});
        ASSERT_FALSE(translated) << words.front();
        EXPECT_NE(translated.error().cause.find(said), std::string::npos)
            << translated.error().cause;
    }
}

TEST(PartestReport, has_the_lines_of_the_page) {
    study::Cell cell;
    cell.files = 4;
    study::PassResult r;
    r.cell = &cell;
    r.pass = study::write_pass();
    r.nodes = 2;
    r.bytes = 12 * MiB;
    r.calls = 12;
    r.counted_seconds = 0.5;
    const auto at = [](double seconds) { return Spread{0, seconds / 2, seconds}; };
    r.seconds = {{"total", at(0.5)},  {"create", at(0.01)},       {"create_close", at(0.02)},
                 {"open", at(0.03)},  {"transfer", at(0.25)},     {"turn", at(0.04)},
                 {"close", at(0.05)}, {"file_barrier", at(0.06)}, {"global_barrier", at(0.07)},
                 {"unlink", at(0.08)}};
    r.each = {{"a", 3.0 * MiB, 0.4, 0.2}, {"a", 3.0 * MiB, 0.5, 0.25}};
    const std::string total =
        "T_STAT TOTAL write b=12.0000 MiB t=0.500000 s bw=25.1658 MB/s (24.0000 MiB/s) "
        "#chunks=12 ion=2 nf=4\n"
        "T_PHASE TOTAL create=0.010000 create_cls=0.020000 open=0.030000 write=0.250000 "
        "close=0.050000 tlog=0.040000\n"
        "T_FILE_BARRIER TOTAL t=0.060000\n"
        "T_GLOBAL_BARRIER TOTAL t=0.070000\n"
        "T_PHASE TOTAL unlink=0.080000\n";
    EXPECT_EQ(classic_partest_report({}, r), total);
    EXPECT_EQ(classic_partest_report({false, true, false}, r),
              "T_STAT TASK 000000 write b=3.0000 MiB t=0.400000 s bw=7.8643 MB/s (7.5000 MiB/s)\n"
              "T_PHASE TASK 000000 write=0.200000\n" +
                  total);
    // Of a container of two files: tasks 0 and 1, and task 2, 3 and 4.
    cell.files = 1;
    cell.parts_of_file = 2;
    r.each = {{"a", 1.0 * MiB, 0.1, 0.01},
              {"a", 1.0 * MiB, 0.3, 0.02},
              {"a", 2.0 * MiB, 0.5, 0.05},
              {"a", 2.0 * MiB, 0.4, 0.06},
              {"a", 2.0 * MiB, 0.2, 0.03}};
    const std::string both = classic_partest_report({false, false, false, true}, r);
    EXPECT_EQ(both.substr(0, both.find("T_STAT TOTAL")),
              "T_STAT FILE 000000 write b=2.0000 MiB t=0.300000 s bw=6.9905 MB/s (6.6667 MiB/s)\n"
              "T_PHASE FILE 000000 write=0.020000\n"
              "T_STAT FILE 000001 write b=6.0000 MiB t=0.500000 s bw=12.5829 MB/s (12.0000 "
              "MiB/s)\n"
              "T_PHASE FILE 000001 write=0.060000\n");
    EXPECT_NE(both.find(" nf=2\n"), std::string::npos);
}

}  // namespace
}  // namespace effio
