// SPDX-License-Identifier: BSD-3-Clause
// IOR's command line: reading it, and what becomes of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "classic/ior.hpp"
#include "classic/ior_options.hpp"

namespace effio {
namespace {

IorOptions read(const std::vector<std::string>& words) {
    const auto command = parse_ior(words);
    EXPECT_TRUE(command) << command.error().cause;
    return command ? command->tests.front() : IorOptions{};
}

std::string complaint(const std::vector<std::string>& words) {
    const auto command = parse_ior(words);
    return command ? "" : command.error().cause;
}

/// The value of one of our options, or "absent"; flags are "".
std::string ours(const std::vector<std::string>& words, const std::string& name) {
    const auto translated = translate_ior_test(read(words), 4);
    if (!translated) return "refused: " + translated.error().cause;
    for (const auto& word : translated->arguments) {
        if (word == "--" + name) return "";
        if (word.starts_with("--" + name + "=")) return word.substr(name.size() + 3);
    }
    return "absent";
}

TEST(IorOptions, sizes_are_powers_of_1024_and_strict) {
    EXPECT_EQ(*parse_ior_size("4m"), 4 << 20);
    EXPECT_EQ(*parse_ior_size("47008"), 47008);
    EXPECT_EQ(*parse_ior_size("2G"), std::int64_t{2} << 30);
    EXPECT_EQ(*parse_ior_size("4096g"), std::int64_t{4096} << 30);
    EXPECT_EQ(*parse_ior_size("1kib"), 1024);
    for (const char* bad : {"", "m", "1x", "1.5m", "4mm", "99999999p"}) {
        EXPECT_FALSE(parse_ior_size(bad)) << bad;
    }
}

TEST(IorOptions, a_value_behind_its_letter_sets_nothing_else) {
    // Defect 4: "-b4m" also set -m, "-t64k" also set -k.
    const IorOptions o = read({"-b4m", "-t64k"});
    EXPECT_EQ(o.block, 4 << 20);
    EXPECT_EQ(o.transfer, 64 << 10);
    EXPECT_EQ(o.multi_file, 0);
    EXPECT_EQ(o.keep, 0);
}

TEST(IorOptions, all_spellings) {
    EXPECT_EQ(read({"-b", "4m"}).block, 4 << 20);
    EXPECT_EQ(read({"-b=4m"}).block, 4 << 20);
    EXPECT_EQ(read({"--blockSize=4m"}).block, 4 << 20);
    EXPECT_EQ(read({"-O", "BLOCKSIZE=4m,filePerProc=1"}).file_per_proc, 1);
    EXPECT_EQ(read({"-vv", "-v"}).verbose, 3);
    EXPECT_EQ(read({"-v=2"}).verbose, 2);
    const IorOptions o = read({"-wkb8k", "--collective", "--mpiio.useFileView"});
    EXPECT_EQ(o.write + o.keep + o.collective + o.file_view, 4);
    EXPECT_EQ(o.block, 8192);
}

TEST(IorOptions, what_3x_had_is_understood) {
    const IorOptions o = read({"-B", "-H", "-p", "-q", "-S", "-V", "-U", "hints"});
    EXPECT_EQ(o.direct, 1);
    EXPECT_EQ(o.show_hints, 1);
    EXPECT_EQ(o.preallocate, 1);
    EXPECT_EQ(o.quit_on_error, 1);
    EXPECT_EQ(o.strided_type, 1);
    EXPECT_EQ(o.file_view, 1);
    EXPECT_EQ(o.hints_file, "hints");
    EXPECT_EQ(read({"-O", "useO_DIRECT=1"}).direct, 1);
}

TEST(IorOptions, every_fault_is_told) {
    EXPECT_EQ(complaint({"-b", "1x", "-!", "--nonsense", "word", "-t"}),
              "-b: '1x' is no size; a whole number with k, m, g, t or p behind it is\n"
              "'-!' is no option of ior; ior --help lists them\n"
              "'--nonsense' is no option of ior; ior --help lists them\n"
              "'word' is no option\n"
              "-t needs a value\n");
    EXPECT_EQ(complaint({"-O", "blockSize=2,colour=red"}), "-O: 'colour' is no directive of ior\n");
    EXPECT_EQ(complaint({"-i", "two"}).substr(0, 3), "-i:");
}

class Script {
  public:
    explicit Script(const std::string& text) : path_(testing::TempDir() + "/effio-ior-script") {
        std::ofstream(path_) << text;
    }
    Script(const Script&) = delete;
    Script& operator=(const Script&) = delete;
    ~Script() { std::remove(path_.c_str()); }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

TEST(IorScript, later_tests_inherit_and_options_are_defaults) {
    const Script script(
        "# a comment\nIOR START\n  api=POSIX, blockSize=1m\n RUN\n"
        "--mpiio.useFileView=1\ntransferSize=64k # note\n  run\nIOR STOP\nignored\n");
    const auto command = parse_ior({"-k", "-f", script.path()});
    ASSERT_TRUE(command) << command.error().cause;
    ASSERT_EQ(command->tests.size(), 2U);
    EXPECT_EQ(command->tests[0].block, 1 << 20);
    EXPECT_EQ(command->tests[0].transfer, 256 << 10);
    EXPECT_EQ(command->tests[1].block, 1 << 20);
    EXPECT_EQ(command->tests[1].transfer, 64 << 10);
    EXPECT_EQ(command->tests[1].file_view, 1);
    EXPECT_EQ(command->tests[0].keep + command->tests[1].keep, 2);
}

TEST(IorScript, faults_name_the_line) {
    const Script wrong("IOR START\nblockSize=x\nIOR STOP\n");
    EXPECT_NE(complaint({"-f", wrong.path()}).find("line 2"), std::string::npos);
    const Script open("IOR START\nRUN\n");
    EXPECT_NE(complaint({"-f", open.path()}).find("'IOR STOP' is missing"), std::string::npos);
    EXPECT_NE(complaint({"-f", "/no/such/script"}).find("cannot be read"), std::string::npos);
}

TEST(IorTranslation, the_blue_waters_write) {
    const std::vector<std::string> words{"-a", "POSIX", "-w", "-o", "/d/POSIX", "-D", "180",
                                         "-b", "4096g", "-E", "-C", "-g",       "-k", "-s",
                                         "1",  "-t",    "4m", "-F", "-e"};
    EXPECT_EQ(ours(words, "backend"), "posix");
    EXPECT_EQ(ours(words, "dir"), "/d");
    EXPECT_EQ(ours(words, "name"), "POSIX");
    EXPECT_EQ(ours(words, "stonewall"), "180");
    EXPECT_EQ(ours(words, "block"), "4398046511104");
    EXPECT_EQ(ours(words, "use-existing"), "");
    EXPECT_EQ(ours(words, "overwrite"), "absent");
    EXPECT_EQ(ours(words, "read-from"), "shifted");
    EXPECT_EQ(ours(words, "barriers"), "");
    EXPECT_EQ(ours(words, "keep"), "");
    EXPECT_EQ(ours(words, "files"), "per-process");
    EXPECT_EQ(ours(words, "sync"), "end");
    EXPECT_EQ(ours(words, "phases"), "write");
}

TEST(IorTranslation, phases_and_checks) {
    EXPECT_EQ(ours({}, "phases"), "write,read");
    EXPECT_EQ(ours({"-r"}, "phases"), "read");
    EXPECT_EQ(ours({"-w", "-W"}, "verify"), "write");
    EXPECT_EQ(ours({"-w", "-R"}, "phases"), "write,read");
    EXPECT_EQ(ours({"-w", "-R"}, "verify"), "read");
    EXPECT_NE(ours({"-R"}, "verify").find("needs the signature"), std::string::npos);
    EXPECT_EQ(ours({"-R", "-G", "5"}, "verify"), "read");
}

TEST(IorTranslation, data) {
    // Only who names a signature shares files with the original; all others get the better check.
    EXPECT_EQ(ours({}, "data"), "stamped");
    EXPECT_EQ(ours({"-G", "7"}, "data"), "timestamp");
    EXPECT_EQ(ours({"-G", "7"}, "seed"), "7");
    EXPECT_EQ(ours({"-l", "offset", "-G", "7"}, "data"), "offset");
    EXPECT_EQ(ours({"-l", "random"}, "data"), "stamped");
    EXPECT_EQ(ours({"-l", "i", "-G", "7"}, "data"), "stamped");
    EXPECT_NE(ours({"-l", "zeros"}, "data").find("refused"), std::string::npos);
}

TEST(IorTranslation, what_does_not_fit_is_refused) {
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"-C", "-Z"},
                                               {"-u"},
                                               {"-c"},
                                               {"-a", "HDFS"},
                                               {"-a", "MPIIO", "-c", "-z"},
                                               {"-P"},
                                               {"-y"},
                                               {"-O", "stoneWallingWearOut=1"},
                                               {"-w", "-O", "stoneWallingStatusFile=f"},
                                               {"-b", "10", "-t", "4"},
                                               {"-M", "200%"}}) {
        EXPECT_NE(ours(words, "dir").find("refused"), std::string::npos) << words.front();
    }
}

TEST(IorTranslation, several_paths_and_tasks) {
    EXPECT_EQ(ours({"-F", "-o", "/a/f@/b/f"}, "more-dirs"), "/b");
    EXPECT_NE(ours({"-F", "-o", "/a/f@/b/g"}, "dir").find("refused"), std::string::npos);
    EXPECT_EQ(ours({"-N", "3"}, "ranks"), "3");
    EXPECT_EQ(ours({"-N", "9"}, "ranks"), "absent");
    EXPECT_EQ(translate_ior_test(read({"-N", "9"}), 4)->warnings.size(), 1U);
}

}  // namespace
}  // namespace effio
