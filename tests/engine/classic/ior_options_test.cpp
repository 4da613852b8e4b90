// SPDX-License-Identifier: BSD-3-Clause
// IOR's command line: reading it, and what becomes of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "classic/classic.hpp"
#include "classic/ior.hpp"
#include "classic/ior_options.hpp"
#include "frame/job/options.hpp"

namespace effio {
namespace {

IorOptions read(const std::vector<std::string>& words) {
    const auto command = parse_ior(words);
    EXPECT_TRUE(command) << command.error().cause;
    return command ? command->tests.front() : IorOptions{};
}

std::string refusal(const std::vector<std::string>& words) {
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

TEST(IorOptions, every_fault_is_reported) {
    EXPECT_EQ(
        refusal({"-b", "1x", "-!", "--nonsense", "word", "-t"}),
        "-b: '1x' is not a size: expected an integer with an optional suffix k, m, g, t or p\n"
        "'-!' is not an option of ior; ior --help lists them\n"
        "'--nonsense' is not an option of ior; ior --help lists them\n"
        "'word' is not an option\n"
        "-t needs a value\n");
    EXPECT_EQ(refusal({"-O", "blockSize=2,colour=red"}),
              "-O: 'colour' is not a directive of ior\n");
    EXPECT_EQ(refusal({"-i", "two"}).substr(0, 3), "-i:");
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

TEST(IorScript, the_end_of_the_file_ends_a_script_and_runs_what_is_pending) {
    const Script open("IOR START\nblockSize=4m\nRUN\nstoreFileOffset=1\n");
    const auto command = parse_ior({"-f", open.path()});
    ASSERT_TRUE(command) << command.error().cause;
    ASSERT_EQ(command->tests.size(), 2U);
    EXPECT_EQ(command->tests[0].block, 4 << 20);
    EXPECT_EQ(command->tests[0].data_type, "");
    EXPECT_EQ(command->tests[1].data_type, "offset");
}

TEST(IorScript, faults_name_the_line) {
    const Script wrong("IOR START\nblockSize=x\nIOR STOP\n");
    EXPECT_NE(refusal({"-f", wrong.path()}).find("line 2"), std::string::npos);
    EXPECT_NE(refusal({"-f", "/no/such/script"}).find("cannot be read"), std::string::npos);
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
    // The original's, so that both write from as little memory and read each other's files.
    EXPECT_EQ(ours({}, "data"), "timestamp");
    EXPECT_EQ(ours({"-G", "7"}, "data"), "timestamp");
    EXPECT_EQ(ours({"-G", "7"}, "seed"), "7");
    EXPECT_EQ(ours({"-l", "offset", "-G", "7"}, "data"), "offset");
    for (const char* kind : {"random", "r", "incompressible", "i"}) {
        EXPECT_EQ(ours({"-l", kind, "-G", "7"}, "data"), "stamped");
        EXPECT_EQ(ours({"-l", kind, "-G", "7"}, "seed"), "7");
    }
    EXPECT_NE(ours({"-l", "zeros"}, "data").find("refused"), std::string::npos);
    // At random places, too: the words of a place are those of the task whose block it is.
    EXPECT_EQ(ours({"-R", "-z", "-z", "-G", "77"}, "data"), "timestamp");
    EXPECT_EQ(ours({"-R", "-z", "-z", "-G", "77", "-l", "o"}, "data"), "offset");
}

TEST(IorTranslation, strides_with_random_order_are_single_calls) {
    EXPECT_EQ(ours({"-a", "MPIIO", "-S", "-z"}, "placement"), "absent");
    EXPECT_EQ(ours({"-a", "MPIIO", "--mpiio.useStridedDatatype", "-z"}, "order"), "shuffled");
    EXPECT_EQ(ours({"-a", "MPIIO", "-S"}, "placement"), "strided");
    EXPECT_NE(ours({"-a", "MPIIO", "-V", "-z"}, "order").find("refused"), std::string::npos);
}

TEST(IorTranslation, aio_and_mmap_are_backends_of_ours) {
    EXPECT_EQ(ours({"-a", "mmap"}, "backend"), "mmap");
    const bool uring = ours({"-a", "AIO"}, "backend") == "uring";
    if (!uring) {
        EXPECT_EQ(ours({"-a", "AIO"}, "backend"), "posix");
        return;
    }
    // 128 transfers of 256 KiB take 32 MiB of each task; of 16 MiB no more than 64 MiB.
    EXPECT_EQ(ours({"-a", "AIO"}, "queue-depth"), "128");
    EXPECT_EQ(ours({"-a", "AIO", "--aio.max-pending=7"}, "queue-depth"), "7");
    EXPECT_EQ(ours({"-a", "AIO", "-t", "16m", "-b", "16m"}, "queue-depth"), "4");
    EXPECT_EQ(ours({"-a", "AIO", "-Y"}, "queue-depth"), "absent");
    EXPECT_EQ(ours({"-a", "AIO", "--posix.odirect"}, "backend-options"), "direct=yes");
    // Some devices have blocks of 512 bytes: the kernel knows, so it is asked.
    for (const auto& [transfer, options] :
         {std::pair("8k", "absent"), std::pair("512", "align=512"), std::pair("3k", "align=1024"),
          std::pair("8", "align=512")}) {
        EXPECT_EQ(ours({"-t", transfer, "-b", transfer, "--posix.odirect"}, "backend-options"),
                  options);
    }
}

TEST(IorTranslation, options_of_file_systems) {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"-O", "lustreStripeCount=4,lustreStripeSize=1m,lustreStartOST=2"},
             {"--posix.lustre.stripecount=4", "--posix.lustre.stripesize", "1m",
              "--posix.lustre.startost=2"}}) {
        EXPECT_EQ(ours(words, "stripe-count"), "4");
        EXPECT_EQ(ours(words, "stripe-size"), "1048576");
        EXPECT_EQ(ours(words, "stripe-start"), "2");
    }
    EXPECT_EQ(ours({"--posix.lustre.pool=fast"}, "stripe-pool"), "fast");
    for (const char* one : {"lustreIgnoreLocks=1", "gpfsHintAccess=1", "beegfsNumTargets=4",
                            "posix.gpfs.finegrainwritesharing=1", "posix.beegfs.ChunkSize=1m"}) {
        EXPECT_EQ(translate_ior_test(read({"-O", one}), 4)->notes.size(), 1U) << one;
    }
}

class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() { unsetenv(name_); }

  private:
    const char* name_;
};

TEST(IorTranslation, nodes_that_the_environment_pretends) {
    EXPECT_EQ(ours({}, "ranks-per-node"), "absent");
    const Variable nodes("IOR_FAKE_NODES", "3");
    EXPECT_EQ(ours({}, "ranks-per-node"), "2");  // 4 tasks on 3 nodes
    {
        const Variable each("IOR_FAKE_TASK_PER_NODES", "1");
        EXPECT_EQ(ours({}, "ranks-per-node"), "1");
    }
    const Variable wrong("IOR_FAKE_TASK_PER_NODES", "none");
    EXPECT_NE(ours({}, "dir").find("IOR_FAKE_TASK_PER_NODES"), std::string::npos);
    ior::Setup setup;
    setup.ranks = 5;
    setup.nodes = 1;
    setup.max_ranks_on_node = 5;
    EXPECT_EQ(ior_nodes(setup), 1);
    setup.parameters.ranks_per_node = 2;
    EXPECT_EQ(ior_nodes(setup), 3);
    EXPECT_EQ(ior_tasks_on_node(setup), 2);
    // Where both are given, each is shown as it was given.
    setup.parameters.ranks_per_node = 1;
    EXPECT_EQ(ior_nodes(setup), 3);
    EXPECT_EQ(ior_tasks_on_node(setup), 1);
}

/// Whatever a message may name, it names as this command line does.
TEST(IorWording, has_each_option_that_a_line_becomes) {
    const auto& wording = find_classic("ior")->wording;
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"-F", "-u", "-m", "-k", "-K", "-E", "-w", "-r", "-W", "-R", "-G", "5", "-N", "2"},
             {"-C", "-Q", "2", "-z", "--random-offset-seed=3", "-Y", "-g", "-d", "1", "-M", "1m"},
             {"-a", "MPIIO", "-c", "-S", "-p", "-T", "1", "-j", "1", "-q", "-Z", "-X", "3"},
             {"-D", "2", "-k", "-w", "-O",
              "stoneWallingWearOut=1,stoneWallingStatusFile=f,stoneWallingWearOutIterations=2"},
             {"-O", "minTimeDuration=1,interIODelay=2,savePerOpDataCSV=p"},
             {"-O", "saveRankPerformanceDetailsCSV=f,lustreStripeCount=1,lustreStripeSize=1"},
             {"--posix.lustre.startost=1", "--posix.lustre.pool=p", "-a", "AIO"},
             {"-a", "DUMMY", "-F", "-o", "/a/f@/b/f"}}) {
        const auto translated = translate_ior_test(read(words), 4);
        ASSERT_TRUE(translated) << translated.error().cause;
        for (const auto& argument : translated->arguments) {
            const std::string name = argument.substr(0, argument.find('='));
            if (name == "--quiet" || name == "--progress" || name == "--drop-cache" ||
                name == "--overwrite") {
                continue;  // always the same, and no fault of the line
            }
            const auto row = std::find_if(wording.begin(), wording.end(),
                                          [&name](const auto& one) { return one.ours == name; });
            EXPECT_NE(row, wording.end()) << name;
        }
    }
    const Invocation invocation{{}, {}, wording};
    EXPECT_EQ(
        invocation.worded("--queue-depth: not with --sync each, --think-time or --save-calls"),
        "--aio.max-pending: not with -Y, interIODelay or -O savePerOpDataCSV");
    EXPECT_EQ(invocation.worded("--order: random orders need --placement offset"),
              "-z: random orders need calls without -V and -S");
}

TEST(IorTranslation, what_does_not_fit_is_refused) {
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"-C", "-Z"},
                                               {"-F", "-u", "-o", "/a/f@/b/f"},
                                               {"-a", "HDFS"},
                                               {"-a", "MMAP", "-B"},
                                               {"-a", "MPIIO", "-O", "lustreStripeCount=4"},
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

TEST(IorOptions, numbers_at_the_end_of_64_bits) {
    const std::string most = "9223372036854775807";
    EXPECT_FALSE(parse_ior({"-O", "multiFile=" + most + ",multiFile"}));
    EXPECT_FALSE(parse_ior({"-z=" + most, "-z"}));
    EXPECT_TRUE(parse_ior({"-z=" + most}));
    EXPECT_EQ(ours({"-Z", "-X", "-9223372036854775807"}, "partner-seed"), most);
    EXPECT_NE(ours({"-Z", "-X", "-9223372036854775808"}, "dir").find("refused"), std::string::npos);
    EXPECT_NE(ours({"--memoryPerTask=" + most}, "dir").find("refused"), std::string::npos);
}

TEST(IorTranslation, several_paths_and_tasks) {
    EXPECT_EQ(ours({"-F", "-o", "/a/f@/b/f"}, "more-dirs"), "/b");
    EXPECT_NE(ours({"-F", "-o", "/a/f@/b/g"}, "dir").find("refused"), std::string::npos);
    EXPECT_EQ(ours({"-N", "3"}, "ranks"), "3");
    EXPECT_EQ(ours({"-N", "9"}, "ranks"), "absent");
    EXPECT_EQ(translate_ior_test(read({"-N", "9"}), 4)->warnings.size(), 1U);
}

TEST(IorTranslation, what_the_original_takes_in_vain_is_taken) {
    EXPECT_EQ(ours({"-c"}, "collective"), "absent");
    EXPECT_EQ(ours({"-a", "DUMMY", "-c"}, "backend"), "null");
    EXPECT_EQ(ours({"-O", "useFileView=1"}, "placement"), "absent");
    EXPECT_EQ(ours({"-p"}, "preallocate"), "absent");
    // No warning of the original's, or --warningAsErrors would refuse what it takes.
    const auto translated = *translate_ior_test(read({"-c", "-V", "-p"}), 4);
    EXPECT_EQ(translated.warnings.size(), 0U);
    EXPECT_EQ(translated.notes.size(), 2U);
    EXPECT_EQ(ours({"-u"}, "rank-dirs"), "absent");
    EXPECT_EQ(translate_ior_test(read({"-u"}), 4)->notes,
              std::vector<std::string>{"-u has no effect without -F"});
    EXPECT_EQ(ours({"-u", "-F"}, "rank-dirs"), "");
    EXPECT_EQ(ours({"-s", "0"}, "segments"), "0");
    // Below 0 as above: the lower 31 bits.
    EXPECT_EQ(ours({"-G", "-1"}, "seed"), "2147483647");
    EXPECT_EQ(ours({"-O", "setTimeStampSignature=-2147483647"}, "seed"), "1");
    EXPECT_EQ(ours({"-C", "-Q", "0"}, "read-from"), "same");
    EXPECT_EQ(ours({"-C", "-Q", "2"}, "distance"), "2");
    EXPECT_EQ(ours({"-d", "0.1"}, "delay"), "0.1s");
    EXPECT_EQ(ours({"-w", "-C", "-Z", "-Z"}, "read-from"), "shuffled");
    EXPECT_TRUE(read({"-W"}).only_checks());
    EXPECT_FALSE(read({"-w", "-W"}).only_checks());
}

TEST(IorShown, the_path_has_no_repetition_in_it) {
    ior::Setup setup;
    setup.path = "./f.0";
    EXPECT_EQ(ior_path(read({"-m", "-o", "f"}), setup), "f");
    EXPECT_EQ(ior_path(read({"-o", "f.0"}), setup), "f.0");
    setup.path = "/d/f.00000000.0";
    EXPECT_EQ(ior_path(read({"-F", "-m", "-o", "/d/f"}), setup), "/d/f.00000000");
}

TEST(ClassicSpace, used_is_total_without_free) {
    FileSystem fs;
    fs.total_bytes = 1000;
    fs.free_bytes = 100;  // for this user
    fs.used_bytes = 850;
    fs.total_inodes = 64;
    fs.free_inodes = 8;
    fs.used_inodes = 40;
    EXPECT_EQ(used_space(fs), "85.0%");
    EXPECT_EQ(used_inodes(fs), "62.5%");
    EXPECT_EQ(used_space({}), "0.0%");  // a file system without counts
}

}  // namespace
}  // namespace effio
