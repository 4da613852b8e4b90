// SPDX-License-Identifier: BSD-3-Clause
// The text of IOR, in the shape that parsers in the wild key on (docs/definitions/ior.md).
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "classic/ior.hpp"
#include "core/units.hpp"
#include "parallel/local_time.hpp"
#include "parallel/system.hpp"

namespace effio {
namespace {

/// A number as the table of results prints it.
std::string number(double value) {
    if (value < 1) return fmt::format("{:.6f}", value);
    return value < 3600 ? fmt::format("{:.2f}", value) : fmt::format("{:.0f}", value);
}

std::string result_line(std::string_view access, const std::vector<std::string>& cells,
                        std::int64_t repetition) {
    std::string line = fmt::format("{:<10}", access);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        line += fmt::format("{:<{}}", cells[i], i == 2 ? 12 : 11);
    }
    return line + fmt::format("{:<4}\n", repetition);
}

std::string option(std::string_view key, const std::string& value) {
    return fmt::format("{:<20}: {}\n", key, value);
}

constexpr const char* result_head =
    "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   "
    "close(s)   total(s)   iter\n"
    "------    ---------  ----       ----------  ---------- ---------  --------   --------   "
    "--------   --------   ----\n";

constexpr const char* summary_head =
    "Summary of all tests:\n"
    "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     "
    "StdDev    Mean(s) Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff "
    "reordrand seed segcnt   blksiz    xsize aggs(MiB)   API RefNum\n";

class TextReport : public IorReport {
  public:
    TextReport(IorReportRequest request, IorSink out)
        : request_(std::move(request)), out_(std::move(out)) {}

    void begin_test(int test, const ior::Setup& setup) override {
        const IorOptions& o = options(test);
        signed_ = -1;
        std::string text;
        if (test == 0) {
            text += pretended();
            text += fmt::format(
                "IOR-4.1.0+effio-{}: MPI Coordinated Test of Parallel I/O\n"
                "Began               : {}\nCommand line        : {}\nMachine             : {}\n",
                engine_version(), now_as_ctime(), request_.command_line,
                o.verbose > 1 ? ior_kernel() : ior_machine());
        }
        text += option("TestID", std::to_string(test)) + option("StartTime", now_as_ctime()) +
                option("Path", ior_path(o, setup));
        if (setup.file_system) text += file_system(*setup.file_system);
        text += fmt::format("\n{}\nResults: \n", options_text(o, setup));
        if (!setup.existing.empty() && setup.parameters.writes()) {
            text += fmt::format("WARNING: The file \"{}\" exists already and will be {}\n",
                                setup.existing,
                                setup.parameters.use_existing ? "overwritten" : "deleted");
        }
        out_(text);
        // The signature of the first repetition comes before it.
        headed_ = false;
        if (o.verbose <= 1) out_(head());
    }

    void row(const IorRow& row) override {
        const auto& r = row.result;
        const IorOptions& o = options(row.test);
        std::string text;
        if (o.verbose > 1 && r.repetition != signed_) {
            signed_ = r.repetition;
            text += fmt::format("Using Time Stamp {0} ({0:#x}) for Data Signature\n", r.data_seed);
        }
        text += head();
        // The original prints them when the file is open.
        if (o.show_hints != 0 && r.valid && !o.only_checks()) text += hints(r);
        if (r.stonewall && o.wear_out != 0) text += stonewall(*r.stonewall);
        if (!r.valid) {
            text += fmt::format("WARNING: {} of repetition {} is INVALID: {}\n", name(r.access),
                                r.repetition, r.why_invalid());
            out_(text);
            return;
        }
        if (r.error_count > 0) {
            text += fmt::format(
                "WARNING: Incorrect data on {} ({} errors found).\nWARNING: first: {}\n",
                name(o.only_checks() ? ior::Access::write : r.access), r.error_count,
                r.errors[0].text());
        }
        if (!r.remarked.empty()) text += fmt::format("NOTE: {}\n", r.remarked);
        if (o.only_checks()) {
            out_(text);
            return;
        }
        text += sizes(o, r);
        const auto& g = r.geometry;
        const auto kib = [](std::int64_t bytes) {
            return number(static_cast<double>(bytes) / static_cast<double>(KiB));
        };
        text += result_line(
            name(r.access),
            {number(r.rate() / static_cast<double>(MiB)), number(row.iops()), number(row.latency()),
             kib(g.block), kib(g.transfer), number(r.span("open").seconds()), number(row.wr_rd()),
             number(r.span("close").seconds()), number(r.total())},
            r.repetition);
        if (o.verbose > 0 && o.check_write != 0 && r.access == ior::Access::write) {
            text += fmt::format("Verifying contents of the file(s) just written.\n{}\n\n",
                                now_as_ctime());
        }
        out_(text);
    }

    void removed(int test, std::int64_t repetition, double seconds) override {
        if (options(test).verbose < 1) return;
        out_(result_line("remove", {"-", "-", "-", "-", "-", "-", "-", "-", number(seconds)},
                         repetition));
    }

    void end_test(int test, const ior::RunResult& run) override {
        std::string text = head();
        std::string rows;
        for (const auto& s : summaries_of(options(test), run)) {
            const double most = s.mib_per_second.count() > 0 ? s.mib_per_second.max() : 0;
            text += fmt::format("Max {} {:.2f} MiB/sec ({:.2f} MB/sec)\n",
                                s.access == ior::Access::write ? "Write:" : "Read: ", most,
                                most * static_cast<double>(MiB) / MB_per_s);
            rows += summary_line(test, run, s);
        }
        if (run.out_of_time) text += "NOTE: maxTimeDuration left phases out\n";
        if (options(test).summary_always != 0) {
            text += fmt::format("\n{}{}", summary_head, rows);
        } else {
            summary_ += rows;
            summarizes_ = true;
        }
        out_(text);
    }

    void finish() override {
        // What was shown after its test is not shown again.
        if (summarizes_) out_(fmt::format("\n{}{}", summary_head, summary_));
        out_(fmt::format("Finished            : {}\n", now_as_ctime()));
    }

  private:
    const IorOptions& options(int test) const {
        return request_.tests[static_cast<std::size_t>(test)];
    }

    /// The head of the results, at its first use in a test.
    std::string head() {
        if (headed_) return {};
        headed_ = true;
        return fmt::format("\n{}", result_head);
    }

    static std::string pretended() {
        std::string text;
        if (const char* nodes = std::getenv(ior_fake_nodes); nodes != nullptr) {
            text += fmt::format("Fake number of node: using {}\n", nodes);
        }
        if (const char* tasks = std::getenv(ior_fake_tasks); tasks != nullptr) {
            text += fmt::format("Fake tasks per node: using {}\n", tasks);
        }
        return text;
    }

    static std::string file_system(const FileSystem& fs) {
        return option("FS",
                      fmt::format("{:.1f} GiB   Used FS: {}   Inodes: {:.1f} Mi   Used Inodes: {}",
                                  static_cast<double>(fs.total_bytes) / static_cast<double>(GiB),
                                  used_space(fs),
                                  static_cast<double>(fs.total_inodes) / static_cast<double>(MiB),
                                  used_inodes(fs)));
    }

    static std::string options_text(const IorOptions& o, const ior::Setup& s) {
        std::string text = "Options: \n";
        for (const auto& [key, value] : ior_options_shown(o, s)) {
            text += option(key, value.is_string() ? value.get<std::string>() : json_line(value));
        }
        return text;
    }

    /// What differs from the sizes that the options ask for.
    static std::string sizes(const IorOptions& o, const ior::PhaseResult& r) {
        const std::int64_t expected = ior_expected_bytes(o, r.ranks);
        if (r.bytes == expected) return {};
        const char* why =
            o.deadline > 0 ? "WARNING: Maybe caused by deadlineForStonewalling\n" : "";
        return fmt::format(
            "WARNING: Expected aggregate file size       = {}\n"
            "WARNING: Using actual aggregate bytes moved = {}\n{}",
            expected, r.bytes, why);
    }

    static std::string stonewall(const ior::StonewallResult& s) {
        const auto gib = [](double bytes) {
            return fmt::format("{:.1f} GiB", bytes / static_cast<double>(GiB));
        };
        return fmt::format(
            "stonewalling pairs accessed min: {} max: {} -- min data: {} mean data: {} time: "
            "{:.1f}s\n",
            s.wall.min_done, s.wall.max_done, gib(s.min_bytes()), gib(s.mean_bytes()),
            s.wall.last_seconds);
    }

    static std::string hints(const ior::PhaseResult& r) {
        std::string text;
        for (const auto& [what, all] :
             {std::pair<const char*, const Hints*>("passed to MPI_File_open()", &r.asked),
              std::pair<const char*, const Hints*>("returned from opened file", &r.granted)}) {
            text += fmt::format("\nhints {} {{\n", what);
            for (const auto& [key, value] : *all) text += fmt::format("\t{} = {}\n", key, value);
            text += "}\n";
        }
        return text;
    }

    std::string summary_line(int test, const ior::RunResult& run, const IorSummary& s) const {
        const IorOptions& o = options(test);
        const auto cell = [](const Samples& all, double value) {
            return all.count() > 0 ? fmt::format(" {:>10.2f}", value)
                                   : fmt::format(" {:>10}", "NA");
        };
        const auto four = [&](const Samples& all) {
            return cell(all, all.max()) + cell(all, all.min()) + cell(all, all.mean()) +
                   cell(all, all.population_deviation());
        };
        const auto wall = [](const std::optional<double>& value, int width) {
            return value ? fmt::format(" {:>{}.2f}", *value, width)
                         : fmt::format(" {:>{}}", "NA", width);
        };
        std::string line = fmt::format("{:<9}", name(s.access)) + four(s.mib_per_second) +
                           four(s.operations_per_second);
        line += s.seconds.count() > 0 ? fmt::format(" {:>10.5f}", s.seconds.mean())
                                      : fmt::format(" {:>10}", "NA");
        line += wall(s.stonewall_seconds, 10) + wall(s.stonewall_mib, 13);
        line += fmt::format(
            " {:>5} {:>6} {:>3} {:>4} {:>3} {:>5} {:>8} {:>9} {:>4} {:>6} {:>8} {:>8} {:>9.1f} "
            "{} {:>6}\n",
            test, run.setup.ranks, ior_tasks_on_node(run.setup), o.repetitions, o.file_per_proc,
            o.reorder, o.task_offset, o.reorder_random, o.reorder_seed, o.segments, o.block,
            o.transfer, s.moved_mib.mean(), o.api, o.ref_num);
        return line;
    }

    IorReportRequest request_;
    IorSink out_;
    std::string summary_;
    bool summarizes_ = false;   ///< a test has left its part of the summary for the end
    std::int64_t signed_ = -1;  ///< repetition whose signature was shown
    bool headed_ = false;       ///< the head of this test's results was shown
};

}  // namespace

std::unique_ptr<IorReport> make_ior_text(IorReportRequest request, IorSink out) {
    return std::make_unique<TextReport>(std::move(request), std::move(out));
}

}  // namespace effio
