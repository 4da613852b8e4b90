// SPDX-License-Identifier: BSD-3-Clause
// The classic texts of b_eff: the published sample of the result table (docs/definitions/b-eff.md)
// to the letter, and values worked manually elsewhere.
#include <gtest/gtest.h>

#include "classic/b_eff.hpp"

namespace effio {
namespace {

using b_eff::Experiment;
using b_eff::Family;
using b_eff::RunResult;

constexpr double MB = 1e6;

/// The system and results of the sample. The rates at 1 B and at Lmax follow from its latencies and
/// bandwidths; those between are what its b_eff leaves for them.
RunResult sample() {
    b_eff::Setup s;
    s.ranks = 2;
    s.memory_mib = 128;
    s.lmax = b_eff::lmax_bytes(128);
    s.lengths = b_eff::MessageLengths(s.lmax);
    s.patterns = b_eff::pattern_table(2, b_eff::official_random_patterns, true);
    s.grid_2d = b_eff::grid_extents(2, 2);
    s.grid_3d = b_eff::grid_extents(2, 3);
    s.uname = {"Linux", "node01", "6.1.0", "#1 SMP", "x86_64"};
    s.date = "Fri Nov 20 21:13:15 2026";
    RunResult run(s);
    for (int r = 0; r < run.repetitions(); ++r) {
        for (int length = 0; length < b_eff::length_count; ++length) {
            for (std::size_t p = 0; p < run.pattern_count(); ++p) {
                for (int m = 0; m < b_eff::method_count; ++m) {
                    const Family family = s.patterns[p].family;
                    const bool ring = family == Family::ring;
                    double rate = 6949.837845526856 * MB;
                    if (length == 0) rate = (ring ? 2 / 0.145 : 13.985339506172838) * MB;
                    if (length == 20) rate = (ring ? 22470 : 22924.273075211393) * MB;
                    if (family == Family::ping_pong) {
                        rate = length == 0 ? MB / 0.105 : 14822 * MB;
                    }
                    Experiment& experiment = run.experiment(r, length, p, m);
                    if (experiment.state == Experiment::State::no_method) continue;
                    experiment.state = Experiment::State::measured;
                    experiment.loops = 10;
                    experiment.rate = rate;
                    const double each = rate / s.patterns[p].messages_per_step();
                    experiment.process_rate = {each, each * 2, each * 3};
                }
            }
        }
    }
    run.loop_seconds = 71;
    run.complete = true;
    return run;
}

void expect_line(const std::string& text, const std::string& line) {
    EXPECT_NE(("\n" + text).find("\n" + line + "\n"), std::string::npos)
        << "missing: " << line << "\nin\n"
        << text.substr(0, 6000);
}

TEST(ClassicBeffText, the_sample_table_to_the_letter) {
    const std::string text = classic_sum(sample());
    for (const char* line : {
             "system parameters  : 2 nodes, 128 MB/node",
             "       system name : Linux",
             "       hostname    : node01",
             "       OS release  : 6.1.0",
             "       OS version  : #1 SMP",
             "       machine     : x86_64",
             "Date of measurement: Fri Nov 20 21:13:15 2026",
             "Total execution wall clock time =    71 seconds",
             "            | number  |   b_eff   |  Lmax  |   b_eff   |   b_eff   | Latency | "
             "Latency | Latency | ping-pong  ",
             "            | of pro  |           |        |  at Lmax  |  at Lmax  | rings & |  "
             "rings  |  ping-  | bandwith   ",
             "            | cessors |           |        |  rings &  |   rings   | random  |  "
             "only   |  pong   |            ",
             "            |         |           |        |  random   |   only    | micro-  | "
             "micro-  | micro-  |            ",
             "            |         |  MByte/s  |        |  MByte/s  |  MByte/s  |  sec    |  "
             "sec    |  sec    |  MByte/s   ",
             "accumulated |      2         7369     1 MB      22696        22470     0.144     "
             "0.145     0.105        14822                    ",
             "per process |                3685               11348        11235                "
             "                                      ",
             "SECTION-BEFF-END",
             "b_eff =   7369.418 MB/s = 3684.709 *   2 PEs with 128 MB/PE on Linux node01 6.1.0 "
             "#1 SMP x86_64",
         }) {
        expect_line(text, line);
    }
}

TEST(ClassicBeffText, the_short_file_has_all_sections_and_the_true_numbers) {
    const std::string text = classic_short(sample());
    for (const std::string name : {"HEAD", "ELAPSED", "PATTERN", "BY-METHODS", "BY-REPETITIONS",
                                   "BY-MTHD-MSGLNG", "BY-MSGLNG", "BY-PATTERN-MSGLNG", "BEFF"}) {
        expect_line(text, "SECTION-" + name + "-BEGIN");
        expect_line(text, "SECTION-" + name + "-END");
    }
    // 46 patterns with 2 processes: 36 count, 36…45 are only reported.
    expect_line(text, "36-45 are only reported");
    expect_line(text,
                " p00 ring-1*2fix           1             2       1.00       1.00       0  ( "
                "-1 -1 -1 )");
    // One PingPong Pair: only Sendrecv; 14822 at 20 lengths and 9.524 at one: 14116.644 in all.
    expect_line(text,
                " p39 one PingPong Pair :"
                " 7058.322   0.000   0.000 -> 7058.322 ->  14116.644 "
                "MByte/s");
    expect_line(text, "Latency:    0.144 microsec");
    // With the factor P, as in the table; the original forgets it here.
    expect_line(text, "Latency ring pattern:              0.145 microsec");
    expect_line(text, "Ping-pong latency:               0.105 microsec");
    expect_line(text, "Ping-pong bandwidth at Lmax:  14822.000 MByte/s at Lmax=    1.0 MB");
    // At 1 B: 13.889 in all, 6.944 per process.
    expect_line(text,
                "         1      13.889    6.944    6.897    6.993    6.944    6.944    6.944");
}

TEST(ClassicBeffText, the_protocol_shows_what_each_process_had) {
    RunResult run = sample();
    run.experiment(1, 0, 0, 0).state = Experiment::State::copied;
    b_eff::LoopRow& row = run.loops(2, 20, 0);
    row = {true, 3, 0.25, 0.001, 0.02, b_eff::LoopRow::Cut::best_method};
    const std::string text = classic_prot(run);
    for (const std::string name : {"HEAD", "LOOP", "LOOPLNGS", "VALUES"}) {
        expect_line(text, "SECTION-" + name + "-BEGIN");
        expect_line(text, "SECTION-" + name + "-END");
    }
    expect_line(text, "measurment loop:  71.000 sec");
    expect_line(text, "2-dim-patterns: size = 2 * 1");
    expect_line(text, "3-dim-patterns: size = 2 * 1 * 1");
    EXPECT_NE(text.find("    3 2.5e-01 1.0e-03 2.0e-02 M"), std::string::npos);
    // 13.793 MB/s in all are 6.897 for each; twice and three times that on faster processes. 11
    // loops of 1 B in two of the repetitions: 2 * 11 / 6.897e6 s.
    expect_line(text, "          1 mthd0 p00 min=   6.897  ------   6.897 ->   6.897 (0.000 s)");
    expect_line(text, "                      avg=  13.793    ----  13.793");
    expect_line(text, "                      max=  20.690      --  20.690");
}

TEST(ClassicBeff, options_of_the_original) {
    const auto translate = [](const std::vector<std::string>& words) {
        return translate_b_eff(words);
    };
    ASSERT_TRUE(translate({}));
    EXPECT_TRUE(translate({})->benchmark);
    const auto sized = translate({"-f", "x", "-MB", "64", "-yrange", "0.1:10"});
    ASSERT_TRUE(sized);
    EXPECT_EQ(sized->arguments.back(), "--memory-per-rank=64MiB");
    const auto help = translate({"-help"});
    ASSERT_TRUE(help);
    EXPECT_FALSE(help->benchmark);
    EXPECT_NE(help->message.find("-yrange"), std::string::npos);
    for (const auto& bad : std::vector<std::vector<std::string>>{
             {"-x"}, {"-f"}, {"-yrange"}, {"-MB"}, {"-MB", "0"}, {"-MB", "1x"}, {"word"}}) {
        const auto refused = translate(bad);
        ASSERT_FALSE(refused) << bad.front();
        EXPECT_EQ(refused.error().cause, "Invalid Option! Use 'b_eff -help' to get help.\n");
    }
    EXPECT_FALSE(translate({"-f", "/no/such/folder/x"}));
}

}  // namespace
}  // namespace effio
