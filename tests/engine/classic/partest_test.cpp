// SPDX-License-Identifier: BSD-3-Clause
// The classic command line of partest, and its text line by line.
#include <fmt/format.h>
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
         {"--methods=sion", "--size=20971520", "--call=10485760", "--block=2097152",
          "--chunk=20971520", "--keep", "--prefix=partest_parfile.sion", "--phases=write,read",
          "--shift=0", "--fsync=off"}) {
        EXPECT_TRUE(has(all, word)) << word;
    }
    // Chunks do not follow the size of a task.
    EXPECT_TRUE(has(own({"-s", "32K"}), "--chunk=20971520"));
    all = own({"-T3", "-s",   "3M", "-b1M", "-CvX1", "-W",   "2",  "-R", "0",
               "-F",  "0.25", "-j", "4",    "-f",    "/a/b", "-q", "-1", "-O",
               "100", "-Z",   "2",  "-r",   "2MB",   "-g",   "1G"});
    for (const char* word :
         {"--methods=task-local", "--size=3145728", "--call=1048576", "--unlink", "--verify=off",
          "--double-write", "--phases=write", "--random-size=0.25", "--at-a-time=4", "--dir=/a",
          "--prefix=b", "--first-access=100", "--shift=2", "--chunk=2000000",
          "--total=1073741824"}) {
        EXPECT_TRUE(has(all, word)) << word;
    }
    EXPECT_FALSE(has(all, "--keep"));
    EXPECT_FALSE(std::any_of(all.begin(), all.end(),
                             [](const auto& word) { return word.starts_with("--block"); }));
    EXPECT_TRUE(has(own({"-T", "1"}), "--container-open=each"));
    all = own({"-T", "2", "-wx", "-f", "d/x"});
    for (const char* word : {"--hint=IBM_largeblock_io=true", "--prefix=x.000000", "--dir=d"}) {
        EXPECT_TRUE(has(all, word)) << word;
    }
    // What another program wrote is not ours to compare.
    EXPECT_TRUE(has(own({"-W", "0"}), "--verify=off"));
    EXPECT_TRUE(has(own({"-X", "0"}), "--keep"));
    for (const char* all_tasks : {"-1", "-2"}) {
        for (const auto& word : own({"-j", all_tasks})) {
            EXPECT_FALSE(word.starts_with("--at-a-time")) << word;
        }
    }
    all = own({"-n", "4", "-Mm"});
    for (const char* word : {"--container-files=4", "--collective=write", "--collective=read"}) {
        EXPECT_TRUE(has(all, word)) << word;
    }
    // With a file per task these letters have no effect.
    all = own({"-T", "3", "-n", "4", "-M"});
    EXPECT_FALSE(has(all, "--container-files=4"));
    EXPECT_FALSE(has(all, "--collective=write"));
    EXPECT_TRUE(has(own({"-T", "2", "-Q", "64"}), "--hint=IBM_io_buffer_size=64K"));
}

TEST(PartestOptions, have_long_names_that_all_take_a_value) {
    const auto shorts =
        own({"-f", "a",  "-n", "2",  "-r", "1M",  "-q", "64K", "-T", "1",  "-b", "2M",
             "-s", "3M", "-g", "4M", "-F", "0.5", "-W", "2",   "-C", "-L", "-M", "-Z",
             "1",  "-O", "7",  "-X", "1",  "-w",  "-Q", "64",  "-x", "-v", "-d", "-D"});
    const auto longs = own({"--filename",
                            "a",
                            "--numfiles=2",
                            "--chunksize",
                            "1M",
                            "--fsblksize",
                            "64K",
                            "--testtype",
                            "1",
                            "--bufsize=2M",
                            "--localsize",
                            "3M",
                            "--totalsize",
                            "4M",
                            "--factor=0.5",
                            "--write",
                            "2",
                            "--nochecksum",
                            "1",
                            "--posix",
                            "1",
                            "--collwrite=1",
                            "--taskoffset",
                            "1",
                            "--byteoffset",
                            "7",
                            "--unlinkfiles",
                            "1",
                            "--hintlargeblock",
                            "1",
                            "--hintiobufsize=64",
                            "--hintsparseacess",
                            "1",
                            "--verbose",
                            "1",
                            "--debugtask=1",
                            "--Debugtask",
                            "1"});
    EXPECT_EQ(longs, shorts);
    // A start of one name is enough; 0 is off.
    EXPECT_EQ(own({"--loc", "3M", "--serial=1"}), own({"-s", "3M", "-j", "1"}));
    EXPECT_EQ(own({"--verbose", "0", "--collmsa", "0", "--bgionode=0"}), own({}));
}

TEST(PartestOptions, that_cannot_be_are_refused_with_the_reason) {
    const std::vector<std::pair<std::vector<std::string>, const char*>> lines{
        {{"-P"}, "Blue Gene"},
        {{"-p"}, "Blue Gene"},
        {{"-Y"}, "Blue Gene"},
        {{"-c"}, "modular supercomputers"},
        {{"--collmsa", "1"}, "modular supercomputers"},
        {{"--coll", "1"}, "--coll is the start of --collwrite and --collread"},
        {{"--numfiles"}, "--numfiles needs a value"},
        {{"--nothing", "1"}, "unknown option --nothing"},
        {{"-T", "2", "-n", "2"}, "-n 2: -T 2 has one shared file"},
        {{"-X"}, "-X needs a value"},
        {{"-X", "2"}, "-X: '2'"},
        {{"-F", "much"}, "-F: 'much'"},
        {{"-M", "-j", "2"}, "-j"},
        {{"-m", "-T", "1"}, "-T 0"},
        {{"-n", "0"}, "give the number of files"},
        {{"-n", "two"}, "-n: 'two'"},
        {{"-j", "-3"}, "-j: '-3'"},
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

std::string rule() {
    return fmt::format("{:-<90}\n", "");
}

TEST(PartestHead, begins_with_the_originals_head) {
    PartestRequest r;
    r.file = "t0.sion";
    r.files = 2;
    r.call = 262144;
    r.size = 1048576;
    r.chunk = 524288;
    r.block = 65536;
    r.each_task = true;
    r.unchecked = true;
    std::string expected;
    for (const char* task : {"000", "001", "002"}) {
        expected += fmt::format(
            "LINUX[{}] diff_comm:    {} of    3  same_comm:   -2 of   -2 file_comm:   -2 of   -2 "
            "vm\n",
            task, task[2]);
    }
    expected += rule() +
                "SION parallel file I/O benchmark 'partest': start at Fri Nov 27 03:52:35 2026\n"
                "partest Number of tasks that will use the file tasks:       running on 3 tasks\n" +
                rule();
    for (const char* line :
         {"(-f)    datafile                 = t0.sion",
          "(-n)    number of files          = 2",
          "(-F)    random factor            =        0.0000",
          "(-X)    remove files after test  = 0",
          "(-b/-B) local buffer size / task =          262144 bytes      0.250 MB",
          "(-g/-G) global total data size   =         3145728 bytes      0.003 GB",
          "(-s/-S) total data size / task   =         1048576 bytes      1.000 MB",
          "(-r/-R) sion chunk size          =          524288 bytes      0.500 MB",
          "(-Q)    fs block size            =           65536 bytes      0.062 MB",
          "(-T)    test type                = 0 (sion, collective read)",
          "(-j)    serialize_blocknum       = -1",
          "(-Z)    read task offset         = 0",
          "(-o)    start offset bytes       = 0",
          "(-v)    verbose                  = 1",
          "(-d)    debug                    = 0",
          "(-D)    Debug                    = 0",
          "(-M)    collective write         = 0",
          "(-m)    collective read          = 0",
          "(-c)    MSA-aware collective I/O = 0",
          "(-w)    MPI-IO, IBM, Large Block IO = -1",
          "(-W)    MPI-IO, IBM, IO bufsize     = -1 KB",
          "(-x)    MPI-IO, IBM, sparse access  = -1",
          "(-C)    suppress_checksum           = 1",
          "(-O)    do_write                    = 1",
          "(-I)    do_read                     = 1",
          "(-L)    use_posix                   = 0",
          "(-P)    Blue Gene, I/O nodes        = 0",
          "(-p)    Blue Gene: task/IO-nodes    = 0",
          "(-Y)    Blue Gene: task sort        = 0",
          "(  )    commwork_size64             = 3",
          "(  )    comm(all)                   = 0 of 3",
          "(  )    comm(work)                  = 0 of 3",
          "(  )    comm(local)                 = 0 of 1"}) {
        expected += fmt::format("partest parameter:   {}\n", line);
    }
    expected += rule() +
                "partest parameter:   (  )    new totalsize               = 1048576\n"
                "partest filespec:    (  )    using_hints           = 0\n"
                "partest filespec:    (  )    fsblksize             = 65536\n";
    EXPECT_EQ(classic_partest_head(r, 3, "Fri Nov 27 03:52:35 2026", 65536, 1048576), expected);
    EXPECT_EQ(classic_partest_end("Fri Nov 27 03:52:37 2026"),
              "SION parallel file I/O benchmark 'partest': end at Fri Nov 27 03:52:37 2026\n");
    r.files = 1;
    for (const auto& [type, words] : std::vector<std::pair<int, std::string>>{
             {1, "1 (sion, independent read)"}, {2, "2 (mpi-io)"}, {3, "3 (single files)"}}) {
        r.type = type;
        const std::string head = classic_partest_head(r, 3, "now", 65536, 1048576);
        EXPECT_TRUE(head.starts_with("SION parallel file I/O benchmark"));
        EXPECT_NE(head.find("test type                = " + words + "\n"), std::string::npos);
    }
}

/// Of three tasks of 1 MiB in four calls each; every number of a task differs from the others'.
class PartestText : public testing::Test {
  protected:
    PartestText() {
        cell.ranks = 3;
        r.cell = &cell;
        r.pass = study::write_pass();
        r.bytes = 3 * MiB;
        r.calls = 12;
        r.counted_seconds = 0.5;
        const auto at = [](double seconds) { return Spread{0, seconds / 2, seconds}; };
        r.seconds = {{"total", at(0.5)},  {"create", at(0.01)},   {"create_close", at(0.02)},
                     {"open", at(0.03)},  {"transfer", at(0.25)}, {"turn", at(0.04)},
                     {"close", at(0.05)}, {"unlink", at(0.08)}};
        r.file_waits = {{"create", at(0.001)},
                        {"open", at(0.002)},
                        {"transfer", at(0.003)},
                        {"close", at(0.004)}};
        r.global_waits = {{"create", at(0.005)},
                          {"create_close", at(0.006)},
                          {"open", at(0.007)},
                          {"transfer", at(0.008)},
                          {"close", at(0.009)}};
        for (int task = 0; task < 3; ++task) {
            const double x = 0.001 * task;
            study::RankLine line{"a", 1.0 * MiB, 0.25 + x, 0.125 + x, task, 4, {}, {}, {}};
            line.seconds = {{"open", 0.01 + x}, {"transfer", 0.125 + x}, {"close", 0.02 + x}};
            line.file_waits = {{"open", x}, {"transfer", 2 * x}, {"close", 3 * x}};
            line.global_waits = {{"open", 4 * x}, {"transfer", 5 * x}, {"close", 6 * x}};
            r.each.push_back(line);
        }
    }
    study::Cell cell;
    study::PassResult r;
    PartestRequest request;
};

std::string total_of_a_write(int files) {
    return rule() +
           "timings[000000] T_STAT           TOTAL WRITE  b=      3.00 MiB t=  0.500000s "
           "#chunks=12 "
           "bw=    6.2915 MB/s (    6.0000 MiB/s) ion=0 nf=" +
           std::to_string(files) +
           "\n"
           "timings[000000] T_PHASE          TOTAL WRITE  create=0.01000s, create_cls=0.02000s, "
           "open=0.03000s, write=0.25000s, close=0.05000s, tlog=0.0400s\n"
           "timings[000000] T_FILE_BARRIER   TOTAL WRITE  open=0.0020s, write=0.0030s, "
           "close=0.0040s\n"
           "timings[000000] T_GLOBAL_BARRIER TOTAL WRITE  create=0.0050s, create_cls=0.0060s, "
           "open=0.0070s, write=0.0080s, close=0.0090s\n" +
           rule();
}

TEST_F(PartestText, has_the_originals_lines_for_all_tasks) {
    EXPECT_EQ(classic_partest_report(request, r), total_of_a_write(1));
    // Reading, the task that has task 0's data reports the total.
    r.pass = study::read_pass();
    request.shift = 1;
    EXPECT_EQ(classic_partest_report(request, r),
              rule() +
                  "timings[000002] T_STAT           TOTAL READ  b=      3.00 MiB t=  0.500000s "
                  "#chunks=12 bw=    6.2915 MB/s (    6.0000 MiB/s) ion=0 nf=1\n"
                  "timings[000002] T_PHASE          TOTAL READ  open=0.03000s, read=0.25000s, "
                  "close=0.05000s, tlog=0.0400s\n"
                  "timings[000002] T_FILE_BARRIER   TOTAL READ  open=0.0020s, read=0.0030s, "
                  "close=0.0040s\n"
                  "timings[000002] T_GLOBAL_BARRIER TOTAL READ  open=0.0070s, read=0.0080s, "
                  "close=0.0090s\n" +
                  rule());
}

TEST_F(PartestText, has_lines_of_single_tasks_by_kind) {
    const std::string tasks_0_and_2 =
        "timings[000000] T_STAT           TASK WRITE  b=      1.00 MiB t=  0.250000s #chunks=4 bw= "
        "   4.1943 MB/s (    4.0000 MiB/s) ion=0 nf=1\n"
        "timings[000002] T_STAT           TASK WRITE  b=      1.00 MiB t=  0.252000s #chunks=4 bw= "
        "   4.1610 MB/s (    3.9683 MiB/s) ion=0 nf=1\n"
        "timings[000000] T_PHASE          TASK WRITE  create=0.00000s, create_cls=0.00000s, "
        "open=0.01000s, write=0.12500s, close=0.02000s, tlog=0.0000s\n"
        "timings[000002] T_PHASE          TASK WRITE  create=0.00000s, create_cls=0.00000s, "
        "open=0.01200s, write=0.12700s, close=0.02200s, tlog=0.0000s\n"
        "timings[000000] T_FILE_BARRIER   TASK WRITE  open=0.0000s, write=0.0000s, close=0.0000s\n"
        "timings[000002] T_FILE_BARRIER   TASK WRITE  open=0.0020s, write=0.0040s, close=0.0060s\n"
        "timings[000000] T_GLOBAL_BARRIER TASK WRITE  create=0.0000s, create_cls=0.0000s, "
        "open=0.0000s, write=0.0000s, close=0.0000s\n"
        "timings[000002] T_GLOBAL_BARRIER TASK WRITE  create=0.0000s, create_cls=0.0000s, "
        "open=0.0080s, write=0.0100s, close=0.0120s\n";
    request.first_task = request.last_task = true;
    EXPECT_EQ(classic_partest_report(request, r), tasks_0_and_2 + total_of_a_write(1));
    request.each_task = true;
    const std::string all = classic_partest_report(request, r);
    EXPECT_NE(all.find("timings[000001] T_STAT           TASK WRITE"), std::string::npos);
}

TEST_F(PartestText, has_a_group_for_each_file_of_a_container) {
    // Task 0 is in the first file, tasks 1 and 2 in the second.
    request.files = 2;
    cell.parts_of_file = 2;
    EXPECT_EQ(
        classic_partest_report(request, r),
        "timings[000000] T_STAT           FILE WRITE  b=      1.00 MiB t=  0.250000s #chunks=4 bw= "
        "   4.1943 MB/s (    4.0000 MiB/s) ion=0 nf=2\n"
        "timings[000000] T_PHASE          FILE WRITE  create=0.00000s, create_cls=0.00000s, "
        "open=0.01000s, write=0.12500s, close=0.02000s, tlog=0.0000s\n"
        "timings[000000] T_FILE_BARRIER   FILE WRITE  open=0.0000s, write=0.0000s, close=0.0000s\n"
        "timings[000000] T_GLOBAL_BARRIER FILE WRITE  create=0.0000s, create_cls=0.0000s, "
        "open=0.0000s, write=0.0000s, close=0.0000s\n"
        "timings[000001] T_STAT           FILE WRITE  b=      2.00 MiB t=  0.252000s #chunks=8 bw= "
        "   8.3220 MB/s (    7.9365 MiB/s) ion=0 nf=2\n"
        "timings[000001] T_PHASE          FILE WRITE  create=0.00000s, create_cls=0.00000s, "
        "open=0.01200s, write=0.12700s, close=0.02200s, tlog=0.0000s\n"
        "timings[000001] T_FILE_BARRIER   FILE WRITE  open=0.0020s, write=0.0040s, close=0.0060s\n"
        "timings[000001] T_GLOBAL_BARRIER FILE WRITE  create=0.0000s, create_cls=0.0000s, "
        "open=0.0080s, write=0.0100s, close=0.0120s\n" +
            total_of_a_write(2));
    // With a shift by one, tasks 0 and 1 read the second file, task 2 the first.
    r.pass = study::read_pass();
    request.shift = 1;
    const std::string text = classic_partest_report(request, r);
    EXPECT_TRUE(text.starts_with("timings[000002] T_STAT           FILE READ  b=      1.00 MiB"));
    EXPECT_NE(text.find("timings[000000] T_STAT           FILE READ  b=      2.00 MiB"),
              std::string::npos);
}

TEST_F(PartestText, of_a_shared_file_is_of_the_older_form_in_millions_of_bytes) {
    request.type = 2;
    request.file = "dir/t1.sion";
    // The slowest task: 0.127 s of calls, 0.004 s and 0.010 s of waiting; 3145728 bytes.
    EXPECT_EQ(classic_partest_report(request, r),
              "partest result: wrote     3.1457 MB to dir/t1.sion.000000\n" + rule() +
                  "TOTAL result: open=  0.030000s close=  0.050000s wrote     3.1457 MB "
                  "write+barrier=  0.141000s bw=   22.3101 MB/s to 1 files\n" +
                  rule());
    r.pass = study::read_pass();
    EXPECT_TRUE(classic_partest_report(request, r)
                    .starts_with("partest result: read      3.1457 MB from dir/t1.sion.000000\n"));
}

TEST_F(PartestText, names_each_file_that_was_removed_as_on_the_command_line) {
    request.file = "t2.sion";
    request.unlink = true;
    r.removed = {{"/tmp/x/t2.sion", 0.000418, 0}, {"/tmp/x/t2.sion.000001", 0.5, 0}};
    EXPECT_EQ(classic_partest_report(request, r),
              total_of_a_write(1) +
                  "partest result:  ultime=  0.000418s unlink t2.sion\n"
                  "partest result:  ultime=  0.500000s unlink t2.sion.000001\n");
}

}  // namespace
}  // namespace effio
