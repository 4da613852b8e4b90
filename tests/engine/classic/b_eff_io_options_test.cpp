// SPDX-License-Identifier: BSD-3-Clause
// The classic command line of b_eff_io (docs/definitions/b-eff-io.md): what it is translated to,
// and every complaint in the original's words and order.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../own_directory.hpp"
#include "classic/b_eff_io.hpp"

namespace effio {
namespace {

/// As on one process of a job of four.
struct ClassicOptions : testing::Test {
    ClassicOptions() { setenv("OMPI_COMM_WORLD_SIZE", "4", 1); }
    ~ClassicOptions() override { unsetenv("OMPI_COMM_WORLD_SIZE"); }

    static std::vector<std::string> words(const std::string& line) {
        std::istringstream in(line);
        std::vector<std::string> out;
        for (std::string word; in >> word;) out.push_back(word);
        return out;
    }
    /// Our own command line, or what is complained about.
    static std::string translated(const std::string& line) {
        const auto done = translate_b_eff_io(words(line));
        if (!done) return done.error().cause;
        std::string out;
        for (const auto& word : done->arguments) out += (out.empty() ? "" : " ") + word;
        return out;
    }
    /// The lines before the help text.
    static std::string complaints(const std::string& line) {
        const auto done = translate_b_eff_io(words(line));
        if (done) return "none";
        const std::string text = done.error().cause;
        const std::string end = "Aborted due to argument errors.\n\n";
        const auto at = text.find(end);
        EXPECT_NE(at, std::string::npos) << text;
        EXPECT_GT(text.size(), at + end.size() + 500) << "the help text is missing";
        return text.substr(0, at);
    }
    std::string info_file(const std::string& text) const {
        const std::string path = directory_ / "info";
        std::ofstream(path) << text;
        return path;
    }

    OwnDirectory directory_;
};

const char* const always = "--quiet --progress=none --overwrite ";

TEST_F(ClassicOptions, the_mandatory_ones_alone_give_the_defaults) {
    EXPECT_EQ(translated("-MB 1024 -MT 4096"),
              std::string(always) +
                  "--memory-per-rank=1024MiB --total-memory=4096MiB --time=1800s --dir=. "
                  "--messages=1");
}

TEST_F(ClassicOptions, all_of_them_have_a_counterpart) {
    const std::string info = info_file("");
    EXPECT_EQ(
        translated("-MB 2048 -MT 81920 -noshared -nounique -rewrite -keep -adapt -N 4,2 -T 60 "
                   "-p /scratch -i " +
                   info + " -e 5 -f out"),
        std::string(always) +
            "--memory-per-rank=2048MiB --total-memory=81920MiB --time=60s --dir=/scratch "
            "--messages=5 --partitions=4,2 --hints=" +
            info + " --no-shared-pointer --no-unique-open --rewrite --keep --adapt");
}

TEST_F(ClassicOptions, our_own_table_takes_every_translation) {
    auto done =
        translate_b_eff_io(words("-MB 2048 -MT 8192 -noshared -nounique -rewrite -keep "
                                 "-adapt -N 4,2 -T 60 -e 5"));
    ASSERT_TRUE(done);
    OptionTable table("effio-mpi", "");
    done->benchmark->declare(table);
    std::vector<std::string> own;
    for (const auto& word : done->arguments) {
        if (word != "--quiet" && word != "--progress=none") own.push_back(word);  // of the job
    }
    const auto parsed = table.parse(own);
    ASSERT_TRUE(parsed) << parsed.error().cause;
    const Json values = table.values();
    EXPECT_EQ(values["partitions"], (Json{4, 2}));
    EXPECT_EQ(values["memory-per-rank"], 2048LL << 20);
    EXPECT_EQ(values["time"], 60);
    EXPECT_EQ(values["messages"], 5);
    for (const char* flag :
         {"no-shared-pointer", "no-unique-open", "rewrite", "keep", "adapt", "overwrite"}) {
        EXPECT_EQ(values[flag], true) << flag;
    }
}

TEST_F(ClassicOptions, numbers_are_their_leading_digits_and_the_last_one_wins) {
    EXPECT_NE(
        translated("-MB 12abc -MT 7 -MT 9x").find("--memory-per-rank=12MiB --total-memory=9MiB"),
        std::string::npos);
    EXPECT_EQ(complaints("-MB x -MT 5"), "Invalid argument for -MB\n");
}

TEST_F(ClassicOptions, d_takes_an_earlier_keep_back) {
    EXPECT_EQ(translated("-MB 1 -MT 1 -keep -d").find("--keep"), std::string::npos);
    EXPECT_NE(translated("-MB 1 -MT 1 -d -keep").find("--keep"), std::string::npos);
}

TEST_F(ClassicOptions, missing_mandatory_ones_are_named) {
    const std::string no_memory =
        "Missing mandatory argument -MB <memory per process> [in MBytes]\n";
    const std::string no_total = "Missing mandatory argument -MT <total memory> [in MBytes]\n";
    EXPECT_EQ(complaints(""), no_memory + no_total);
    EXPECT_EQ(complaints("-MT 4"), no_memory);
    // After a negative value, but not after 0.
    EXPECT_EQ(complaints("-MB 4 -MT -4"), "Invalid argument for -MT\n" + no_total);
    EXPECT_EQ(complaints("-MB 0 -MT 4"), "Invalid argument for -MB\n");
}

TEST_F(ClassicOptions, everything_is_examined_before_it_stops) {
    EXPECT_EQ(complaints("-MB 4 -x file -T 0 -e -1 -MT"),
              "Invalid option -x\n"
              "Invalid option file\n"
              "Invalid argument for -T\n"
              "Invalid argument for -e\n"
              "Missing argument for -MT\n"
              "Missing mandatory argument -MT <total memory> [in MBytes]\n");
    EXPECT_EQ(complaints("-MB 4 -MT 4 -help"), "Invalid option -help\n");
    for (const char* option : {"-T", "-N", "-p", "-i", "-e", "-f"}) {
        EXPECT_EQ(complaints(std::string("-MB 4 -MT 4 ") + option),
                  std::string("Missing argument for ") + option + "\n");
    }
}

TEST_F(ClassicOptions, the_word_behind_an_option_is_its_value_whatever_it_looks_like) {
    EXPECT_NE(translated("-MB 4 -MT 4 -p -keep").find("--dir=-keep"), std::string::npos);
    EXPECT_EQ(translated("-MB 4 -MT 4 -p -keep").find(" --keep"), std::string::npos);
}

TEST_F(ClassicOptions, partition_lists_append_and_may_repeat_and_end_with_a_comma) {
    const auto sizes = [](const std::string& line) {
        const std::string all = translated("-MB 4 -MT 4 " + line);
        const auto at = all.find("--partitions=");
        return at == std::string::npos ? all : all.substr(at + 13);
    };
    EXPECT_EQ(sizes("-N 4"), "4");
    EXPECT_EQ(sizes("-N 1,2,2,"), "1,2,2");
    EXPECT_EQ(sizes("-N 4 -N 1,3"), "4,1,3");
    EXPECT_EQ(sizes("-N 1,1,1,1,1 -N 2,2,2,2,2"), "1,1,1,1,1,2,2,2,2,2");
}

TEST_F(ClassicOptions, bad_partition_lists_are_refused) {
    for (const char* list : {"0", "5", "x", "-1", "1,5", "2,,4"}) {
        EXPECT_EQ(complaints(std::string("-MB 4 -MT 4 -N ") + list), "Invalid argument for -N\n")
            << list;
    }
    EXPECT_EQ(complaints("-MB 4 -MT 4 -N 1,1,1,1,1,1,1,1,1,1,1"),
              "Too many (>10) arguments with -N\n");
    EXPECT_EQ(complaints("-MB 4 -MT 4 -N 1,1,1,1,1,1,1 -N 1,1,1,1"),
              "Too many (>10) arguments with -N\n");
}

TEST_F(ClassicOptions, the_info_file_is_judged_after_all_options_and_before_the_mandatory_ones) {
    // 2 is a partition only by the -N that follows.
    const std::string info = info_file("2 all all all key value\n");
    EXPECT_EQ(complaints("-MB 4 -MT 4 -i " + info + " -N 2"), "none");
    EXPECT_EQ(complaints("-MB 4 -i " + info + " -N 3 -x"),
              "Invalid option -x\nerror in info-file " + info +
                  ", line 1: line ignored - invalid number of processes\n"
                  "Missing mandatory argument -MT <total memory> [in MBytes]\n");
    // Without -N the default partitions of four processes: 2, 3 and 4.
    EXPECT_EQ(complaints("-MB 4 -MT 4 -i " + info), "none");
    EXPECT_EQ(
        complaints("-MB 4 -MT 4 -i " + info_file("1 all all all key value\n")),
        "error in info-file " + info + ", line 1: line ignored - invalid number of processes\n");
    EXPECT_EQ(complaints("-MB 4 -MT 4 -i /no/such/file"), "b_eff_io: can't open /no/such/file\n");
}

TEST_F(ClassicOptions, a_prefix_that_cannot_be_written_is_refused_before_the_run) {
    EXPECT_EQ(complaints("-MB 4 -MT 4 -f /no/such/directory/out"),
              "The files /no/such/directory/out.* cannot be written: /no/such/directory: "
              "No such file or directory. -f PREFIX names another place.\n");
}

TEST_F(ClassicOptions, without_a_prefix_it_is_the_current_directory_that_cannot_be_written) {
    constexpr uid_t nobody = 65534;
    const auto before = std::filesystem::current_path();
    const bool is_root = geteuid() == 0;  // who may write everywhere
    std::filesystem::current_path("/");
    ASSERT_TRUE(!is_root || setresuid(nobody, nobody, 0) == 0);
    const std::string said = complaints("-MB 4 -MT 4");
    ASSERT_TRUE(!is_root || setresuid(0, 0, 0) == 0);
    std::filesystem::current_path(before);
    EXPECT_EQ(said,
              "The files b_eff_io.* cannot be written: the current directory: "
              "Permission denied. -f PREFIX names another place.\n");
}

}  // namespace
}  // namespace effio
