// SPDX-License-Identifier: BSD-3-Clause
// mdtest's command lines as they are translated, and its tables from numbers that are known.
#include "classic/mdtest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace effio {
namespace {

using Line = std::vector<std::string>;

Line translated(const Line& words) {
    auto t = translate_mdtest(words);
    EXPECT_TRUE(t) << t.error().cause;
    return t ? t->arguments : Line{};
}

bool has(const Line& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::string complaint(const Line& words) {
    const auto t = translate_mdtest(words);
    return t ? "accepted" : t.error().cause;
}

TEST(ClassicMdtest, options_may_be_bundled_attached_or_apart) {
    for (const Line& words : {Line{"-b", "3", "-z", "3", "-u", "-I", "900"},
                              Line{"-b3", "-z3", "-uI900"}, Line{"-b=3", "-z=3", "-u", "-I=900"}}) {
        const auto out = translated(words);
        EXPECT_TRUE(has(out, "--branching=3"));
        EXPECT_TRUE(has(out, "--depth=3"));
        EXPECT_TRUE(has(out, "--unique"));
        EXPECT_TRUE(has(out, "--items-per-directory=900"));
        EXPECT_TRUE(has(out, "--phases=create,read,remove,rename,stat"));
        EXPECT_TRUE(has(out, "--dir=./out"));
        EXPECT_FALSE(has(out, "--keep"));
    }
}

TEST(ClassicMdtest, single_phases_keep_what_they_do_not_remove) {
    const auto create = translated({"-n", "5", "-FCT"});
    EXPECT_TRUE(has(create, "--phases=create,stat"));
    EXPECT_TRUE(has(create, "--keep"));
    EXPECT_TRUE(has(create, "--things=files"));
    const auto remove = translated({"-n", "5", "-D", "-r"});
    EXPECT_TRUE(has(remove, "--phases=remove"));
    EXPECT_FALSE(has(remove, "--keep"));
    EXPECT_TRUE(has(remove, "--things=directories"));
}

TEST(ClassicMdtest, sizes_directories_shifts_and_the_wall) {
    const auto out =
        translated({"-n10", "-w", "4k", "-e", "100", "-d", "/a@/b", "-u", "-N", "1",  "-W", "30",
                    "-x",   "f",  "-R", "-G", "7",   "-y", "-Y",    "-t", "-X", "-L", "-i2"});
    for (const char* word :
         {"--write-bytes=4096", "--read-bytes=100", "--dir=/a", "--also-dir=/b", "--rank-shift=1",
          "--stonewall=30", "--stonewall-file=f", "--random-order", "--seed=7", "--sync-files",
          "--sync-phases", "--time-entry", "--verify", "--leaf-only", "--iterations=2"}) {
        EXPECT_TRUE(has(out, word)) << word;
    }
}

TEST(ClassicMdtest, no_barriers_with_and_without_a_number) {
    EXPECT_TRUE(has(translated({"-u", "-B", "-n", "5"}), "--no-barriers"));
    EXPECT_TRUE(has(translated({"-u", "-B", "1", "-n", "5"}), "--no-barriers"));
    EXPECT_FALSE(has(translated({"-u", "-B", "0", "-n", "5"}), "--no-barriers"));
    // Where the original continues, no option is refused: the tasks of one tree wait.
    EXPECT_FALSE(has(translated({"-B", "-n", "5"}), "--no-barriers"));
}

TEST(ClassicMdtest, k_is_mknod_unless_the_line_is_read_as_in_2017) {
    EXPECT_TRUE(has(translated({"-n", "5", "-k"}), "--create=mknod"));
    const auto synced = translated({"-n", "5", "-k", "-y"});
    EXPECT_TRUE(has(synced, "--create=mknod"));
    EXPECT_FALSE(has(synced, "--sync-files"));
    EXPECT_TRUE(has(translated({"-n", "5", "-y"}), "--sync-files"));
    const auto shared = translated({"-n", "5", "-k", "-S"});
    EXPECT_FALSE(has(shared, "--create=mknod"));
    EXPECT_TRUE(has(shared, "--shared-files"));
    const auto old = translated({"-n", "5", "-k", "--as-of-2017"});
    EXPECT_FALSE(has(old, "--create=mknod"));
    EXPECT_TRUE(has(old, "--phases=create,read,remove,stat"));
}

TEST(ClassicMdtest, commands_and_rates_of_tasks) {
    const auto out =
        translated({"-n", "5", "--run-cmd-before-phase=echo a=b", "--run-cmd-after-phase",
                    "sync -f .", "--saveRankPerformanceDetails=ranks.csv"});
    EXPECT_TRUE(has(out, "--run-before-phase=echo a=b"));
    EXPECT_TRUE(has(out, "--run-after-phase=sync -f ."));
    EXPECT_TRUE(has(out, "--save-rank-details=ranks.csv"));
}

TEST(ClassicMdtest, delays_of_dummy_are_those_of_what_is_done_with_a_file) {
    const Line delays{"--dummy.delay-create=1000", "--dummy.delay-close", "20",
                      "--dummy.delay-sync=300", "--dummy.delay-xfer=4000"};
    const auto options = [&](Line more) {
        more.insert(more.end(), delays.begin(), delays.end());
        return translated(more);
    };
    EXPECT_TRUE(has(options({"-a", "DUMMY"}), "--backend-options=create=1020us,read=20us"));
    EXPECT_TRUE(has(options({"-a", "dummy", "-w", "8", "-e", "8", "-y"}),
                    "--backend-options=create=5320us,read=4020us"));
    EXPECT_TRUE(has(options({"-a", "DUMMY", "-k", "--dummy.delay-only-rank0"}),
                    "--backend-options=create=1000us,read=20us,only-rank=0"));
    for (const auto& word : options({"-a", "POSIX"}))
        EXPECT_FALSE(word.find("options") != std::string::npos);
    for (const char* bad : {"--dummy.delay-xfer=-1", "--dummy.delay-close=x",
                            "--dummy.delay-sync=99999999999", "--dummy.delay-create="}) {
        EXPECT_NE(complaint({"-a", "DUMMY", bad}).find("is not a number of microseconds"),
                  std::string::npos)
            << bad;
    }
    EXPECT_NE(complaint({"--dummy.delay-open=1"}).find("no such option"), std::string::npos);
}

TEST(ClassicMdtest, faults_are_named) {
    EXPECT_NE(complaint({"-q"}).find("-q"), std::string::npos);
    EXPECT_NE(complaint({"-n"}).find("-n: needs a value"), std::string::npos);
    EXPECT_NE(complaint({"-n", "x"}).find("'x'"), std::string::npos);
    EXPECT_NE(complaint({"-n", "5", "-w", "4q"}).find("'4q' is not a size"), std::string::npos);
    EXPECT_NE(complaint({"-n", "5", "-a", "MPIIO"}).find("mpiio"), std::string::npos);
    EXPECT_NE(complaint({"-n", "5", "stray"}).find("stray"), std::string::npos);
    EXPECT_NE(complaint({"-n", "5", "--run-cmd-after-phase"}).find("run-cmd-after-phase: needs"),
              std::string::npos);
    EXPECT_FALSE(translate_mdtest({"--help"})->message.empty());
}

const mdtest::Phase& phase_of(mdtest::ItemKind thing, mdtest::Action action) {
    const auto all = mdtest::all_phases();
    return *std::find_if(all.begin(), all.end(), [&](const mdtest::Phase& p) {
        return p.thing == thing && p.action == action;
    });
}

mdtest::PhaseResult result_of(mdtest::ItemKind thing, mdtest::Action action, double seconds,
                              std::int64_t operations) {
    mdtest::PhaseResult r;
    r.phase = &phase_of(thing, action);
    r.ranks = 2;
    r.operations = operations;
    r.seconds = {{"total", {seconds, seconds, seconds}}};
    return r;
}

TEST(ClassicMdtest, the_last_number_of_items_counts) {
    EXPECT_TRUE(has(translated({"-n", "5", "-n", "7"}), "--items=7"));
    EXPECT_FALSE(has(translated({"-n", "5", "-n", "7"}), "--items=5"));
    EXPECT_TRUE(has(translated({"-n", "5", "-n", "0"}), "--items=0"));
    const auto both = translated({"-n", "6", "-I", "3"});
    EXPECT_TRUE(has(both, "--items=6") && has(both, "--items-per-directory=3"));
}

TEST(ClassicMdtest, tables_hold_what_their_headings_say) {
    mdtest::RunResult run;
    run.setup.parameters.things = mdtest::ItemSelection::files;
    run.setup.parameters.iterations = 2;
    using enum mdtest::ItemKind;
    using enum mdtest::Action;
    // 100 operations of 2 tasks in 0.5 s, then in 1 s: 200 and 100 a second, mean 150, deviation
    // 70.711 with n - 1; each task did 50, in 10 and in 20 ms each.
    run.add(result_of(file, create, 0.5, 100));
    run.add(result_of(file, create, 1.0, 100));
    run.add(result_of(tree, create, 0.25, 1));
    auto failed = result_of(file, stat, 1.0, 99);
    failed.valid = false;
    run.add(failed);
    ClassicMdtest settings;
    settings.times = true;
    EXPECT_EQ(
        classic_mdtest_summary(settings, run, 2),
        "\n"
        "SUMMARY rate (in ops/sec): (of 2 iterations)\n"
        "   Operation                     Max            Min           Mean        Std Dev\n"
        "   ---------                     ---            ---           ----        -------\n"
        "   File creation                 200.000        100.000        150.000         70.711\n"
        "   File stat                       0.000          0.000          0.000          0.000   "
        "INVALID\n"
        "   File read                       0.000          0.000          0.000          0.000\n"
        "   File removal                    0.000          0.000          0.000          0.000\n"
        "   Tree creation                   4.000          4.000          4.000          0.000\n"
        "   Tree removal                    0.000          0.000          0.000          0.000\n"
        "\n"
        "SUMMARY time (in ms/op): (of 2 iterations)\n"
        "   Operation                     Max            Min           Mean        Std Dev\n"
        "   ---------                     ---            ---           ----        -------\n"
        "   File creation                  20.000         10.000         15.000          7.071\n"
        "   File stat                       0.000          0.000          0.000          0.000   "
        "INVALID\n"
        "   File read                       0.000          0.000          0.000          0.000\n"
        "   File removal                    0.000          0.000          0.000          0.000\n"
        "   Tree creation                 500.000        500.000        500.000          0.000\n"
        "   Tree removal                    0.000          0.000          0.000          0.000\n");
}

TEST(ClassicMdtest, tables_with_the_ranks_own_columns) {
    EXPECT_TRUE(has(translated({"-n", "5", "--showRankStatistics"}), "--rank-details"));
    EXPECT_TRUE(has(translated({"-n", "5", "--print-all-procs"}), "--rank-details"));
    mdtest::RunResult run;
    run.setup.parameters.things = mdtest::ItemSelection::files;
    run.setup.parameters.phases = {"create"};
    run.add(result_of(mdtest::ItemKind::file, mdtest::Action::create, 0.5, 100));
    ClassicMdtest settings;
    settings.rank_statistics = true;
    MdtestRankSamples ranks{&phase_of(mdtest::ItemKind::file, mdtest::Action::create), 2, {}, {}};
    ranks.rates.add(100);
    ranks.rates.add(400);
    const std::array samples{ranks};
    const auto text = classic_mdtest_summary(settings, run, 2, {samples, {}});
    // The columns are those of mdtest 4.1, whose rows of trees are wider than those of files.
    EXPECT_TRUE(text.starts_with(
        "\n"
        "SUMMARY rate (in ops/sec): (of 1 iterations)\n"
        "   Operation     per Rank: Max            Min           Mean      per Iteration: Max      "
        "      Min           Mean        Std Dev\n"
        "   ---------               ---            ---           ----                      ---     "
        " "
        "      ---           ----        -------\n"
        "   File creation             400.000        100.000        250.000                200.000 "
        "       200.000        200.000          0.000\n"))
        << text;
    EXPECT_NE(text.find("   Tree removal                    0.000          0.000          0.000    "
                        "          0.000          0.000          0.000          0.000\n"),
              std::string::npos)
        << text;
}

TEST(ClassicMdtest, the_file_of_the_ranks_has_the_columns_of_the_original) {
    const auto table = make_classic_mdtest_rank_table();
    // As mdtest 4.1 prints it.
    EXPECT_EQ(table->header(),
              "rank,items,rate-Directory creation,time-Directory creation,rate-Directory stat,"
              "time-Directory stat,rate-Directory read,time-Directory read,rate-Directory rename,"
              "time-Directory rename,rate-Directory removal,time-Directory removal,"
              "rate-File creation,time-File creation,rate-File stat,time-File stat,rate-File read,"
              "time-File read,rate-File removal,time-File removal,rate-Tree creation,"
              "time-Tree creation,rate-Tree removal,time-Tree removal");
    using enum mdtest::ItemKind;
    using enum mdtest::Action;
    mdtest::RunResult run;
    run.setup.files = 50;
    const auto add = [&](mdtest::PhaseResult result, std::int64_t iteration) {
        result.iteration = iteration;
        // Each rank waits for the other after its last call.
        result.rank_details = {{result.operations / 2, 0, result.total_seconds() / 4, 0},
                               {result.operations / 2, 0, result.total_seconds() / 2, 0}};
        EXPECT_EQ(table->phase(result), "");
    };
    add(result_of(tree, create, 0.25, 1), 0);
    add(result_of(file, create, 0.5, 100), 0);
    auto failed = result_of(file, stat, 1.0, 99);
    failed.valid = false;
    add(failed, 0);
    add(result_of(file, read, 0.5, 0), 0);  // of no items
    add(result_of(tree, create, 0.5, 1), 1);
    add(result_of(file, create, 1.0, 100), 1);
    const std::string none(10, ',');
    EXPECT_EQ(table->end(run), "all,50" + none +
                                   ",2.0000000000e+02,5.0000000000e-01,,,,,,"
                                   ",4.0000000000e+00,2.5000000000e-01,,\n"
                                   "0," +
                                   none +
                                   ",4.0000000000e+02,1.2500000000e-01,,,,,,\n"
                                   "1," +
                                   none +
                                   ",2.0000000000e+02,2.5000000000e-01,,,,,,\n"
                                   "0," +
                                   none +
                                   ",2.0000000000e+02,2.5000000000e-01,,,,,,\n"
                                   "1," +
                                   none + ",1.0000000000e+02,5.0000000000e-01,,,,,,\n");
}

TEST(ClassicMdtest, each_rank_has_its_figures_before_the_tables) {
    mdtest::RunResult run;
    run.setup.parameters.things = mdtest::ItemSelection::files;
    run.setup.parameters.iterations = 2;
    ClassicMdtest settings;
    settings.times = settings.all_ranks = true;
    // In the second iteration rank 1 has nothing to do.
    const mdtest::Phase& stat = phase_of(mdtest::ItemKind::file, mdtest::Action::stat);
    const std::array phases{MdtestRankPhase{&stat, 2, 0, {{400, 0.25}, {100, 1.5}}},
                            MdtestRankPhase{&stat, 2, 1, {{500, 0.125}, {}}}};
    const auto text = classic_mdtest_summary(settings, run, 2, {{}, phases});
    EXPECT_TRUE(
        text.starts_with("\nPer process result (rate):\n"
                         "iteration: 0\n"
                         "Test File creation 0.000000e+00,0.000000e+00\n"
                         "Test File stat 4.000000e+02,1.000000e+02\n"
                         "Test File read 0.000000e+00,0.000000e+00\n"
                         "Test File removal 0.000000e+00,0.000000e+00\n"
                         "Test Tree creation 0.000000e+00,0.000000e+00\n"
                         "Test Tree removal 0.000000e+00,0.000000e+00\n"
                         "iteration: 1\n"
                         "Test File creation 0.000000e+00,0.000000e+00\n"
                         "Test File stat 5.000000e+02,0.000000e+00\n"))
        << text;
    EXPECT_NE(text.find("\n\nPer process result (time):\niteration: 0\n"), std::string::npos)
        << text;
    EXPECT_NE(text.find("Test File stat 2.500000e-01,1.500000e+00\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace effio
