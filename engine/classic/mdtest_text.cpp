// SPDX-License-Identifier: BSD-3-Clause
// The classic output of mdtest.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "classic/mdtest.hpp"
#include "core/units.hpp"
#include "parallel/local_time.hpp"
#include "parallel/system.hpp"

namespace effio {
namespace {

using mdtest::Action;
using mdtest::Observer;
using mdtest::PhaseResult;
using mdtest::PhaseSummary;
using mdtest::RunResult;
using mdtest::Setup;
using mdtest::Thing;

/// A row of the table, in the original's order.
struct SummaryRow {
    Thing thing;
    Action action;
    const char* title;
};
constexpr std::array summary_rows{
    SummaryRow{Thing::directory, Action::create, "Directory creation"},
    SummaryRow{Thing::directory, Action::stat, "Directory stat"},
    SummaryRow{Thing::directory, Action::rename, "Directory rename"},
    SummaryRow{Thing::directory, Action::remove, "Directory removal"},
    SummaryRow{Thing::file, Action::create, "File creation"},
    SummaryRow{Thing::file, Action::stat, "File stat"},
    SummaryRow{Thing::file, Action::read, "File read"},
    SummaryRow{Thing::file, Action::remove, "File removal"},
    SummaryRow{Thing::tree, Action::create, "Tree creation"},
    SummaryRow{Thing::tree, Action::remove, "Tree removal"}};

const char* kinds_of(mdtest::Things things) {
    if (things == mdtest::Things::both) return "files/directories";
    return things == mdtest::Things::files ? "files" : "directories";
}

bool has_row(const mdtest::Parameters& p, const SummaryRow& row) {
    if (row.thing == Thing::tree || p.things == mdtest::Things::both) return true;
    return p.things ==
           (row.thing == Thing::file ? mdtest::Things::files : mdtest::Things::directories);
}

std::string table(const RunResult& run, int ranks, const char* heading,
                  const Samples PhaseSummary::* samples) {
    std::string text =
        fmt::format("{} (of {} iterations)\n", heading, run.setup.parameters.iterations);
    text +=
        "   Operation                     Max            Min           Mean        Std Dev\n"
        "   ---------                     ---            ---           ----        -------\n";
    for (const SummaryRow& row : summary_rows) {
        if (!has_row(run.setup.parameters, row)) continue;
        const auto it =
            std::find_if(run.phases.begin(), run.phases.end(), [&](const PhaseSummary& s) {
                return s.ranks == ranks && s.phase->thing == row.thing &&
                       s.phase->action == row.action;
            });
        const bool known = it != run.phases.end() && ((*it).*samples).count() > 0;
        const Samples found = known ? (*it).*samples : samples_of(std::array{0.0});
        text += fmt::format("   {:<22} {:14.3f} {:14.3f} {:14.3f} {:14.3f}{}\n", row.title,
                            found.max(), found.min(), found.mean(), found.deviation(),
                            it != run.phases.end() && it->invalid > 0 ? "   INVALID" : "");
    }
    return text;
}

std::string now_text() {
    return local_now("%m/%d/%Y %H:%M:%S");
}

class TextView : public Observer {
  public:
    explicit TextView(ClassicMdtest settings) : settings_(std::move(settings)) {}

    void start(const Setup& s) override {
        for (const auto& note : settings_.notes) {
            std::fputs(("mdtest: note: " + note + "\n").c_str(), stderr);
        }
        std::string command = "mdtest";
        for (const auto& word : settings_.words) command += fmt::format(" '{}'", word);
        print(
            fmt::format("-- started at {} --\n\n"
                        "mdtest-4.1.0+effio-{} was launched with {} total task(s) on {} node(s)\n"
                        "Command line used: {}\n",
                        now_text(), engine_version(), s.ranks, s.nodes, command));
        print(fmt::format("Path                : {}\n", fmt::join(s.parameters.bases(), "@")));
        if (s.file_system) print(space(*s.file_system));
        print(node_map(s));
        for (const std::int64_t n : sizes(s)) {
            const std::int64_t all = s.files * (s.parameters.shared_files ? 1 : n);
            print(fmt::format("{} tasks, {} {}\n", n, all, kinds_of(s.parameters.things)));
        }
        for (const auto& note : s.notes) print("note: " + note + "\n");
        print("\n");
    }

    void phase(const PhaseResult& r) override {
        if (r.wall && r.wall->timed_out > 0) {
            print(fmt::format("Continue stonewall hit min: {} max: {} avg: {:.1f}\n",
                              r.wall->min_done, r.wall->max_done, r.wall->mean_done));
        }
        if (settings_.each_phase && r.valid) {
            print(fmt::format("   {:<22}: {:14.3f} sec, {:14.3f} ops/sec\n", r.phase->title,
                              r.total_seconds(), r.total_seconds() > 0 ? r.rate() : 0.0));
        }
        if (!r.valid) {
            print(fmt::format("   {:<22}: INVALID: {}\n", r.phase->title, r.invalid_reason));
        }
        const Spread* work = spread_of(r.seconds, "work");
        if (!settings_.rank_statistics || work == nullptr) return;
        std::string slowest;
        for (const auto& one : r.slowest) {
            slowest += fmt::format(" {} ({}, {:.6f})", one.rank, one.host, one.value);
        }
        print(
            fmt::format("   {:<22}: seconds of a rank min {:.6f} mean {:.6f} max {:.6f}; slowest "
                        "ranks:{}\n",
                        r.phase->title, work->min, work->mean, work->max, slowest));
    }

    void end(const RunResult& run) override {
        for (const std::int64_t n : sizes(run.setup)) {
            print(classic_mdtest_summary(settings_, run, static_cast<int>(n)));
        }
        print(fmt::format("-- finished at {} --\n", now_text()));
    }

  private:
    static void print(const std::string& text) {
        std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
    }
    static std::vector<std::int64_t> sizes(const Setup& s) {
        if (s.parameters.ranks.empty()) return {s.ranks};
        return s.parameters.ranks;
    }
    /// "252.0 GiB", "1.5 TiB": one decimal, from MiB on.
    static std::string capacity(double bytes) {
        constexpr std::array units{"MiB", "GiB", "TiB", "PiB"};
        double value = bytes / static_cast<double>(MiB);
        std::size_t unit = 0;
        while (value >= 1024 && unit + 1 < units.size()) {
            value /= 1024;
            ++unit;
        }
        return fmt::format("{:.1f} {}", value, units.at(unit));
    }
    /// A digit for each task: 1 if it is on the node of task 0.
    static std::string node_map(const Setup& s) {
        std::string digits;
        for (const int node : s.node_of_rank) digits += node == 0 ? '1' : '0';
        return fmt::format("\nNodemap: {}\n", digits);
    }
    static std::string space(const FileSystem& fs) {
        constexpr double mebi = 1024.0 * 1024.0;
        return fmt::format(
            "FS                  : {}   Used FS: {}   Inodes: {:.1f} Mi   Used Inodes: {}\n",
            capacity(static_cast<double>(fs.total_bytes)), used_space(fs),
            static_cast<double>(fs.total_inodes) / mebi, used_inodes(fs));
    }

    ClassicMdtest settings_;
};

}  // namespace

std::string classic_mdtest_summary(const ClassicMdtest& settings, const RunResult& run, int ranks) {
    std::string text;
    if (run.setup.parameters.ranks.size() > 1) text += fmt::format("{} tasks\n", ranks);
    if (settings.rates) {
        text += table(run, ranks, "SUMMARY rate (in ops/sec):", &PhaseSummary::rates) + "\n";
    }
    if (settings.times) {
        text += table(run, ranks, "SUMMARY time (in ms/op):", &PhaseSummary::milliseconds) + "\n";
    }
    return text;
}

std::unique_ptr<Observer> make_classic_mdtest_view(ClassicMdtest settings) {
    return std::make_unique<TextView>(std::move(settings));
}

}  // namespace effio
