// SPDX-License-Identifier: BSD-3-Clause
// The classic .sum and .prot against published ones: a record that holds their numbers gives their
// text, line by line.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../own_directory.hpp"
#include "classic/b_eff_io.hpp"

namespace effio {
namespace {

using b_eff_io::Access;
using b_eff_io::all_accesses;
using b_eff_io::all_types;
using b_eff_io::index;
using b_eff_io::PartitionResult;
using b_eff_io::Row;
using b_eff_io::RowResult;
using b_eff_io::RunResult;
using b_eff_io::Type;

std::string read_file(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_TRUE(file) << path;
    return text.str();
}
std::string published(const std::string& name) {
    return read_file(EFFIO_CLASSIC_TEXTS "/" + name);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

void expect_same_lines(const std::string& found, const std::string& expected) {
    const auto f = lines_of(found);
    const auto e = lines_of(expected);
    for (std::size_t i = 0; i < std::min(f.size(), e.size()); ++i) {
        EXPECT_EQ(f[i], e[i]) << "line " << i + 1;
    }
    EXPECT_EQ(f.size(), e.size());
}

/// Of one access in MB/s: positions 1…7, then the totals, by type. 0 = not measured.
using Block = std::array<std::array<double, 5>, 8>;

std::int64_t bytes_of(double mb) {
    return std::llround(mb * 1e6);
}

/// A partition whose rows and files took a second each, so that bytes are rates.
PartitionResult partition_of(std::int64_t ranks, const std::array<Block, 3>& blocks,
                             const std::array<double, 3>& pattern_2, double amount_mib) {
    PartitionResult p;
    p.ranks = ranks;
    for (const Access access : all_accesses) {
        const Block& block = blocks[index(access)];
        for (const Row& row : b_eff_io::row_table(b_eff_io::lmax_bytes(256))) {
            RowResult r;
            r.row = row;
            r.times.total = 1;
            r.span.seconds = 1;
            if (row.position >= 1 && row.position <= 7) {
                const auto position = static_cast<std::size_t>(row.position - 1);
                r.bytes = bytes_of(block[position][index(row.type)]);
            } else if (row.position == 8) {
                r.bytes = bytes_of(pattern_2[index(access)]);
            }
            if (r.bytes > 0) p.rows[index(access)][static_cast<std::size_t>(row.number)] = r;
        }
        for (const Type type : all_types) {
            b_eff_io::TypeResult t;
            t.seconds = 1;
            t.bytes = bytes_of(block[7][index(type)]);
            if (t.bytes > 0) p.types[index(access)][index(type)] = t;
        }
        b_eff_io::AccessResult a;
        a.bytes = std::llround(amount_mib * 1048576);
        const auto rates = p.rates(access);
        const bool only_scatter = rates[1] == 0;
        a.average = only_scatter ? rates[0] : b_eff_io::access_average(rates);
        p.accesses[index(access)] = a;
    }
    return p;
}

/// The published run of docs/definitions/b-eff-io.md (HLRS cluster, 32 processes, -noshared
/// -rewrite).
RunResult hlrs_cluster() {
    const Block write{{{50.373, 0.621, 1.462, 2.136, 0.814},
                       {60.067, 0.662, 1.909, 1.582, 0.695},
                       {58.940, 11.607, 32.038, 19.695, 17.600},
                       {61.503, 16.008, 34.560, 21.868, 13.998},
                       {82.490, 89.902, 113.474, 92.407, 83.098},
                       {82.964, 84.907, 105.175, 80.906, 82.537},
                       {109.741, 111.965, 113.723, 109.800, 109.211},
                       {86.998, 88.472, 95.186, 83.414, 71.959}}};
    const Block rewrite{{{71.952, 0.532, 4.815, 1.552, 1.129},
                         {30.374, 0.571, 2.961, 1.132, 0.610},
                         {78.283, 6.473, 18.009, 7.372, 7.933},
                         {81.708, 9.767, 10.925, 11.109, 8.962},
                         {51.444, 27.174, 110.536, 44.736, 48.128},
                         {42.578, 52.136, 60.421, 57.537, 60.699},
                         {76.624, 63.918, 107.528, 78.295, 85.087},
                         {64.469, 49.024, 70.673, 50.648, 53.845}}};
    const Block read{{{38.914, 3.526, 3.072, 2.419, 0.818},
                      {37.997, 1.154, 4.093, 2.984, 0.953},
                      {31.802, 23.553, 11.717, 2.973, 2.758},
                      {39.174, 28.625, 14.161, 11.857, 9.168},
                      {70.816, 49.608, 40.960, 31.331, 31.057},
                      {77.031, 77.107, 77.181, 25.288, 27.258},
                      {50.218, 41.240, 84.615, 71.739, 78.096},
                      {47.801, 40.171, 46.944, 40.404, 40.009}}};
    RunResult run;
    auto& s = run.setup;
    s.memory_mib = 2048;
    s.total_memory_mib = 81920;
    s.lmax = b_eff_io::lmax_bytes(2048);
    s.partitions = {32};
    s.budget = b_eff_io::time_budget(60, 1, true);
    s.shared_pointer = false;
    s.uname = {"Linux", "cluster", "3.13.0-76-generic",
               "#120-Ubuntu SMP Mon Jan 18 15:59:10 UTC 2016", "x86_64"};
    s.date = "Sat Mar 26 17:42:34 2016";
    run.partitions.push_back(
        partition_of(32, {write, rewrite, read}, {59.459, 76.267, 37.815}, 3516.8));
    return run;
}

ClassicHeader hlrs_header() {
    ClassicHeader header;
    header.prefix = "MYSYS_32pe_0060sec_noshared";
    header.path = "/home/gresens/test";
    header.noshared = true;
    header.rewrite = true;
    header.scheduled_seconds = 60;
    return header;
}

/// A run of the original: two processes, shared pointers, no -rewrite.
RunResult two_processes() {
    const Block write{{{337.431, 178.869, 302.830, 284.672, 362.287},
                       {315.907, 145.151, 277.762, 390.767, 210.321},
                       {337.696, 661.211, 559.494, 300.094, 399.488},
                       {354.039, 321.291, 461.155, 1200.044, 442.309},
                       {328.038, 319.398, 609.136, 328.272, 310.906},
                       {358.297, 488.468, 644.121, 351.773, 350.511},
                       {509.059, 412.162, 630.397, 465.372, 584.053},
                       {368.383, 384.774, 539.429, 385.576, 378.531}}};
    const Block rewrite{{{3142.711, 0, 0, 0, 0},
                         {3194.116, 0, 0, 0, 0},
                         {1716.513, 0, 0, 0, 0},
                         {3707.003, 0, 0, 0, 0},
                         {824.917, 0, 0, 0, 0},
                         {1221.635, 0, 0, 0, 0},
                         {932.283, 0, 0, 0, 0},
                         {1044.111, 0, 0, 0, 0}}};
    const Block read{{{7051.425, 241.968, 2427.462, 2150.298, 1567.750},
                      {6694.480, 249.385, 3162.919, 1574.779, 1375.580},
                      {12007.308, 1191.769, 10065.169, 19708.823, 17075.135},
                      {11719.665, 1788.399, 5578.337, 13544.247, 9730.602},
                      {5164.183, 2729.490, 8217.260, 10713.119, 25118.603},
                      {36441.077, 8102.499, 11126.734, 27211.794, 26153.899},
                      {5185.238, 4538.498, 8582.402, 9308.399, 11609.074},
                      {3233.701, 1271.823, 3458.197, 2831.636, 3171.512}}};
    RunResult run;
    auto& s = run.setup;
    s.memory_mib = 1024;
    s.total_memory_mib = 2048;
    s.lmax = b_eff_io::lmax_bytes(1024);
    s.partitions = {2};
    s.budget = b_eff_io::time_budget(60, 1, false);
    s.uname = {"Linux", "node01", "6.1.0", "#1 SMP", "x86_64"};
    s.date = "Fri Nov 20 21:31:48 2026";
    run.partitions.push_back(
        partition_of(2, {write, rewrite, read}, {327.690, 557.521, 7255.106}, 12297.075));
    return run;
}

ClassicHeader two_processes_header() {
    ClassicHeader header;
    header.prefix = "b_eff_io";
    header.path = ".";
    header.scheduled_seconds = 60;
    return header;
}

TEST(ClassicSum, of_the_HLRS_run_comes_out_line_by_line) {
    expect_same_lines(classic_sum(hlrs_header(), hlrs_cluster()), published("hlrs_cluster.sum"));
}

TEST(ClassicSum, of_the_sample_without_rewriting_comes_out_line_by_line) {
    expect_same_lines(classic_sum(two_processes_header(), two_processes()),
                      published("two_processes.sum"));
}

TEST(ClassicSum, names_all_flags_that_were_used) {
    ClassicHeader header = two_processes_header();
    header.info_file = "hints.txt";
    header.noshared = header.nounique = header.rewrite = header.keep = header.adapt = true;
    EXPECT_NE(classic_sum(header, two_processes())
                  .find("-N  2 T=60, MT=2048 MBytes -i hints.txt, -noshared, -nounique, -rewrite, "
                        "-keep, -adapt (NOT ALLOWED FOR BENCHMARKING)\n"),
              std::string::npos);
}

TEST(ClassicSum, a_run_that_meets_all_criteria_is_valid_and_lists_none) {
    auto run = two_processes();
    run.setup.budget = b_eff_io::time_budget(1800, 1, false);
    const std::string sum = classic_sum(two_processes_header(), run);
    EXPECT_NE(sum.find("scheduled time=30.0 min\n\nVALID for comparison of different systems\n\n"
                       "Maximum over all number of PEs\n"),
              std::string::npos)
        << sum;
    EXPECT_EQ(sum.find("criterion"), std::string::npos);
    EXPECT_EQ(classic_final_line(run),
              "\n b_eff_io = 1217.187 MB/s on 2 processes with 1024 MByte/PE, scheduled "
              "time=30.0 Min, on Linux node01 6.1.0 #1 SMP x86_64\n");
}

TEST(ClassicSum, rows_with_errors_are_minus_999_and_counted_at_every_result) {
    auto run = two_processes();
    run.partitions[0].rows[0][5]->errors = 3;
    run.partitions[0].errors = 3;
    const auto lines = lines_of(classic_sum(two_processes_header(), run));
    EXPECT_EQ(lines[25],
              "   2 PEs 1     1024 write   -999.999  178.869  302.830  284.672  362.287");
    const std::string sum = classic_sum(two_processes_header(), run);
    EXPECT_NE(sum.find("scheduled time=1.0 min, with 3 ERRORS --!--!--!--\n"), std::string::npos);
    EXPECT_NE(sum.find("criterion 3: error count (3) == 0 -- NOT reached\n"), std::string::npos);
    EXPECT_TRUE(
        classic_final_line(run).ends_with(", NOT VALID (see above), with 3 ERRORS --!--!--!--\n"));
}

TEST(ClassicSum, the_final_line_is_of_the_best_partition) {
    // 32 processes at 59.876 MB/s, 2 at 1217.187 MB/s.
    auto run = two_processes();
    run.partitions.insert(run.partitions.begin(), hlrs_cluster().partitions[0]);
    run.setup.partitions = {32, 2};
    run.partitions[0].errors = 5;  // not those of the best
    const std::string sum = classic_sum(two_processes_header(), run);
    EXPECT_NE(sum.find("-N  32,2 T="), std::string::npos);
    EXPECT_NE(sum.find("accumulated on  32 processes"), std::string::npos);
    EXPECT_NE(sum.find("accumulated on   2 processes"), std::string::npos);
    EXPECT_NE(classic_final_line(run).find("1217.187 MB/s on 2 processes"), std::string::npos);
    EXPECT_EQ(classic_final_line(run).find("ERRORS"), std::string::npos);
}

TEST(ClassicSum, a_run_that_was_stopped_says_so_and_has_no_value) {
    auto run = two_processes();
    run.partitions[0].accesses[index(Access::read)].reset();
    for (auto& type : run.partitions[0].types[index(Access::read)]) type.reset();
    const std::string sum = classic_sum(two_processes_header(), run);
    EXPECT_NE(sum.find("b_eff_io of these measurements =    0.000 MB/s"), std::string::npos);
    EXPECT_NE(sum.find("criterion 4: the run was completed -- NOT reached"), std::string::npos);
    EXPECT_NE(sum.find("      total-read    -999.999 -999.999 -999.999 -999.999 -999.999\n"),
              std::string::npos);
}

/// The protocol of events that a view receives.
struct ClassicProt : testing::Test {
    ClassicProt() {
        header_ = two_processes_header();
        // The header shows the prefix: change to the directory instead of naming it.
        std::filesystem::current_path(directory_.path());
    }
    ~ClassicProt() override { std::filesystem::current_path("/"); }

    void begin() {
        view_ = make_classic_b_eff_io_view(header_);
        view_->start(run_.setup);
    }

    /// A row as its line in the protocol shows it.
    RowResult row(int number, Access access, double scheduled, std::int64_t repetitions,
                  double rate_mb, b_eff_io::RowTimes times) const {
        RowResult r;
        r.ranks = 2;
        r.access = access;
        r.row = b_eff_io::row_table(run_.setup.lmax)[static_cast<std::size_t>(number)];
        if (r.row.is_fill_up) r.row.chunk = r.row.memory = 22960;
        r.file = "i00_002_" + std::to_string(index(r.row.type));
        if (r.row.type == Type::separated) r.file += ".000";
        r.scheduled = scheduled;
        r.repetitions = repetitions;
        r.bytes = 2 * r.row.memory * repetitions;
        r.times = times;
        r.times.total = static_cast<double>(r.bytes) / (rate_mb * 1e6);
        r.span.seconds = r.times.total;
        return r;
    }
    static b_eff_io::TypeResult type(Type type, Access access, double mb, double weighted_mb,
                                     double rate_mb, double close, std::int64_t segment_mib) {
        b_eff_io::TypeResult t;
        t.type = type;
        t.access = access;
        t.bytes = bytes_of(mb);
        t.seconds = mb / rate_mb;
        t.close = close;
        t.weighted_rate = weighted_mb * 1e6;
        t.segment = segment_mib << 20;
        return t;
    }
    static b_eff_io::AccessResult access(Access access, std::int64_t bytes, double rate_mb,
                                         double weighted_mb, double average_mb) {
        b_eff_io::AccessResult a;
        a.access = access;
        a.bytes = bytes;
        a.seconds = static_cast<double>(bytes) / (rate_mb * 1e6);
        a.weighted_rate = weighted_mb * 1e6;
        a.average = average_mb * 1e6;
        return a;
    }
    /// The protocol behind its header.
    std::string protocol() const {
        const std::string text = read_file(header_.prefix + ".prot");
        return text.substr(text.find("\n\n\n") + 3);
    }

    OwnDirectory directory_;
    ClassicHeader header_;
    RunResult run_ = two_processes();
    std::unique_ptr<b_eff_io::Observer> view_;
};

TEST_F(ClassicProt, of_the_sample_comes_out_line_by_line) {
    begin();
    b_eff_io::Observer& v = *view_;
    // barrier, broadcast, sync, last call, last vote
    v.access_begins(Access::write);
    v.row(row(0, Access::write, 0, 1, 967.293, {0, 0, 0, 0.001, 0, 0}));
    v.row(row(1, Access::write, 1.6, 57, 509.059, {0, 0.216, 0, 0.266, 0.044, 0}));
    v.row(row(2, Access::write, 1.6, 138, 327.690, {0, 0.001, 0, 0.177, 0.011, 0}));
    v.row(row(5, Access::write, 0.8, 143, 337.431, {0, 0.003, 0, 0.089, 0.006, 0}));
    v.row(row(8, Access::write, 0.8, 153, 358.297, {0, 0.2214, 0, 0.1, 0.005, 0}));
    v.type(type(Type::scatter, Access::write, 3626.104, 366.631, 368.383, 0, 0));
    v.row(row(17, Access::write, 0, 1, 534.645, {0, 0, 0, 0.001, 0.003, 0}));
    v.row(row(18, Access::write, 0.8, 36, 630.397, {0, 0, 0, 0.16, 0.022, 0}));
    v.row(row(21, Access::write, 0.4, 69309, 302.830, {0, 0.266, 0.010, 0.069, 0, 0}));
    v.row(row(32, Access::write, 0.8, 153, 351.773, {0, 0.054, 0, 0.087, 0.005, 0}));
    v.row(row(33, Access::write, 0, 1, 66.289, {0, 0.0003, 0, 0, 0, 0}));
    v.type(type(Type::segmented, Access::write, 2273.313, 446.641, 385.576, 0, 1084));
    const std::int64_t all = 12894417715;
    v.access(access(Access::write, all, 401.844, 412.142, 404.179));
    v.row(row(42, Access::read, 0, 1, 8972.255, {}));
    v.type(type(Type::seg_coll, Access::read, 2273.313, 15551.222, 3171.512, 0.41, 1084));
    v.access(access(Access::read, all, 2542.255, 9774.675, 2866.762));

    // The partition's own sums: 40.64 s for 29414.939 MB. Its weighted average comes from the rows.
    auto& p = run_.partitions[0];
    const double seconds = 29414.939 / 723.764;
    p.accesses[index(Access::rewrite)]->bytes = 29414939430 - 2 * all;
    for (auto& a : p.accesses) a->seconds = seconds / 3;
    run_.execution_seconds = 40.65;
    testing::internal::CaptureStdout();
    v.end(run_);
    const std::string final_line = classic_final_line(run_);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), final_line);
    expect_same_lines(protocol(), "\n" + published("two_processes.prot"));
    // Both files begin with the same header; the summary is complete.
    const std::string sum = published("two_processes.sum");
    const std::string text = read_file("b_eff_io.prot");
    const auto header = text.find("\n\n\n") + 3;
    EXPECT_EQ(text.substr(0, header), sum.substr(0, header));
    EXPECT_EQ(lines_of(read_file("b_eff_io.sum")).size(), lines_of(sum).size());
}

TEST_F(ClassicProt, hint_lines_of_the_sample_come_out_line_by_line) {
    header_.info_file = "hints";
    begin();
    b_eff_io::OpenedFile opened;
    opened.ranks = 2;
    opened.type = Type::shared;
    opened.has_hints = true;
    opened.asked.set("IBM_largeblock_io", "switchable");
    view_->file_opened(opened);
    RowResult first = row(9, Access::write, 0, 1, 1, {});
    first.sets_view = first.has_hints = true;
    first.asked.set("IBM_largeblock_io", "true");
    first.asked.set("romio_ds_write", "disable");
    first.granted.set("IBM_largeblock_io", "switchable");
    view_->row(first);
    RowResult second = row(10, Access::write, 0, 1, 1, {});
    second.has_hints = true;
    second.asked.set("IBM_largeblock_io", "true");
    view_->row(second);
    std::string hint_lines;
    for (const auto& line : lines_of(protocol())) {
        if (line.starts_with("file_info")) hint_lines += line + "\n";
    }
    expect_same_lines(hint_lines, published("hint_lines.prot"));
}

TEST_F(ClassicProt, without_an_info_file_hints_are_not_reported) {
    begin();
    RowResult r = row(9, Access::write, 0, 1, 1, {});
    r.granted.set("romio_ds_write", "automatic");
    view_->row(r);
    EXPECT_EQ(protocol().find("file_info"), std::string::npos);
}

TEST_F(ClassicProt, errors_follow_their_row_and_precede_the_access) {
    begin();
    RowResult r = row(0, Access::read, 0, 1, 967.293, {});
    r.errors = 4;
    view_->row(r);
    auto a = access(Access::read, 12894417715, 401.844, 412.142, 404.179);
    a.errors = 4;
    view_->access(a);
    const auto lines = lines_of(protocol());
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_TRUE(lines[0].ends_with("bw= 967.293 MB/s 4 ERRORS")) << lines[0];
    EXPECT_TRUE(lines[1].starts_with(" ----- with 4 ERRORS --!--!--!--!-- total access method: S="))
        << lines[1];
}

}  // namespace
}  // namespace effio
