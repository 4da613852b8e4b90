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

using mdtest::ItemKind;
using mdtest::Observer;
using mdtest::PhaseResult;
using mdtest::PhaseSummary;
using mdtest::RunResult;
using mdtest::Setup;

const char* kinds_of(mdtest::ItemSelection things) {
    if (things == mdtest::ItemSelection::both) return "files/directories";
    return things == mdtest::ItemSelection::files ? "files" : "directories";
}

bool has_row(const mdtest::Parameters& p, const MdtestPhaseTitle& row) {
    if (row.thing == ItemKind::tree || p.things == mdtest::ItemSelection::both) return true;
    return p.things == (row.thing == ItemKind::file ? mdtest::ItemSelection::files
                                                    : mdtest::ItemSelection::directories);
}

/// Which columns a table has.
struct Column {
    const char* heading;
    const char* quantity;
    Samples PhaseSummary::* iterations;
    Samples MdtestRankSamples::* ranks;
    double MdtestRankFigures::* figure;  ///< of one rank in one phase
};
constexpr Column rate_columns{"SUMMARY rate (in ops/sec):", "rate", &PhaseSummary::rates,
                              &MdtestRankSamples::rates, &MdtestRankFigures::rate};
constexpr Column time_columns{"SUMMARY time (in ms/op):", "time", &PhaseSummary::milliseconds,
                              &MdtestRankSamples::milliseconds, &MdtestRankFigures::seconds};

constexpr const char* plain_head =
    "   Operation                     Max            Min           Mean        Std Dev\n"
    "   ---------                     ---            ---           ----        -------\n";
constexpr const char* rank_head =
    "   Operation     per Rank: Max            Min           Mean      per Iteration: Max"
    "            Min           Mean        Std Dev\n"
    "   ---------               ---            ---           ----                      ---"
    "            ---           ----        -------\n";
constexpr const char* phase_head =
    "\n   Operation               Duration              Rate\n"
    "   ---------               --------              ----\n";

/// 0 where nothing was measured, as in the original.
Samples or_zero(const Samples* found) {
    return found != nullptr && found->count() > 0 ? *found : samples_of(std::array{0.0});
}

std::string table(const RunResult& run, int ranks, const Column& column, bool with_ranks,
                  std::span<const MdtestRankSamples> of_ranks) {
    std::string text =
        fmt::format("{} (of {} iterations)\n{}", column.heading, run.setup.parameters.iterations,
                    with_ranks ? rank_head : plain_head);
    for (const MdtestPhaseTitle& row : mdtest_phase_titles) {
        if (!row.in_summary || !has_row(run.setup.parameters, row)) continue;
        const auto is_row = [&](const auto& one) {
            return one.ranks == ranks && one.phase->thing == row.thing &&
                   one.phase->action == row.action;
        };
        const auto it = std::find_if(run.phases.begin(), run.phases.end(), is_row);
        const bool known = it != run.phases.end();
        const Samples found = or_zero(known ? &((*it).*column.iterations) : nullptr);
        // Next to the ranks' columns, the rows of files and directories are set narrower.
        const bool narrow = with_ranks && row.thing != ItemKind::tree;
        text += fmt::format("   {:<{}}", row.title, narrow ? 18 : 22);
        if (with_ranks) {
            const auto own = std::find_if(of_ranks.begin(), of_ranks.end(), is_row);
            const Samples each = or_zero(own != of_ranks.end() ? &((*own).*column.ranks) : nullptr);
            text += fmt::format(" {:14.3f} {:14.3f} {:14.3f}{:{}}", each.max(), each.min(),
                                each.mean(), "", narrow ? 8 : 4);
        }
        text += fmt::format(" {:14.3f} {:14.3f} {:14.3f} {:14.3f}{}\n", found.max(), found.min(),
                            found.mean(), found.deviation(),
                            known && it->invalid > 0 ? "   INVALID" : "");
    }
    return text;
}

/// What each rank did in each iteration; 0 in phases that were not run.
std::string of_each_rank(const RunResult& run, int ranks, const Column& column,
                         std::span<const MdtestRankPhase> phases) {
    std::string text = fmt::format("\nPer process result ({}):\n", column.quantity);
    const auto line = [&](const MdtestPhaseTitle& row, std::int64_t iteration) {
        const auto it = std::find_if(phases.begin(), phases.end(), [&](const auto& one) {
            return one.iteration == iteration && one.ranks == ranks &&
                   one.phase->thing == row.thing && one.phase->action == row.action;
        });
        std::vector<double> figures(static_cast<std::size_t>(ranks));
        for (std::size_t rank = 0; it != phases.end() && rank < it->figures.size(); ++rank) {
            figures.at(rank) = it->figures.at(rank).*column.figure;
        }
        text += fmt::format("Test {} {:e}\n", row.title, fmt::join(figures, ","));
    };
    for (std::int64_t i = 0; i < run.setup.parameters.iterations; ++i) {
        text += fmt::format("iteration: {}\n", i);
        for (const MdtestPhaseTitle& row : mdtest_phase_titles) {
            if (has_row(run.setup.parameters, row)) line(row, i);
        }
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
        const auto& p = s.parameters;
        if (std::ranges::count(p.phases, "read") > 0 && p.bytes_to_read() == 0) {
            print("WARNING: Read bytes is 0, thus, a read test will actually just open/close\n");
        }
        print(node_map(s));
        print(fmt::format("Path                : {}\n", fmt::join(p.bases(), "@")));
        if (s.file_system) print(space(*s.file_system));
        if (p.random_order) print(fmt::format("random seed: {}\n", p.seed));
        if (const auto all = sizes(s); all.size() == 1) print(work_of(s, all.front()));
        for (const auto& note : s.notes) print("note: " + note + "\n");
        if (settings_.each_phase) print(phase_head);
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
        if (r.valid) add_ranks(r);
    }

    void end(const RunResult& run) override {
        const auto all = sizes(run.setup);
        for (const std::int64_t n : all) {
            if (all.size() > 1) print(work_of(run.setup, n));
            print(classic_mdtest_summary(settings_, run, static_cast<int>(n),
                                         {of_ranks_, rank_phases_}));
        }
        print(fmt::format("-- finished at {} --\n\n", now_text()));
    }

  private:
    /// The original counts the items of each task, also where all share the same files.
    static std::string work_of(const Setup& s, std::int64_t tasks) {
        return fmt::format("{} tasks, {} {}\n", tasks, s.files * tasks,
                           kinds_of(s.parameters.things));
    }
    /// What each rank did by itself, without the wait for the others.
    void add_ranks(const PhaseResult& r) {
        if (r.rank_details.empty()) return;
        auto it = std::find_if(of_ranks_.begin(), of_ranks_.end(), [&r](const auto& one) {
            return one.phase == r.phase && one.ranks == r.ranks;
        });
        if (it == of_ranks_.end()) it = of_ranks_.insert(it, {r.phase, r.ranks, {}, {}});
        MdtestRankPhase phase{r.phase, r.ranks, r.iteration, {}};
        for (const auto& one : r.rank_details) {
            auto& figures = phase.figures.emplace_back();
            if (one.operations <= 0 || one.work <= 0) continue;
            const auto operations = static_cast<double>(one.operations);
            figures = {operations / one.work, one.work};
            it->rates.add(figures.rate);
            it->milliseconds.add(1000 * one.work / operations);
        }
        rank_phases_.push_back(std::move(phase));
    }

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
        return fmt::format("Nodemap: {}\n", digits);
    }
    static std::string space(const FileSystem& fs) {
        constexpr double mebi = 1024.0 * 1024.0;
        return fmt::format(
            "FS                  : {}   Used FS: {}   Inodes: {:.1f} Mi   Used Inodes: {}\n",
            capacity(static_cast<double>(fs.total_bytes)), used_space(fs),
            static_cast<double>(fs.total_inodes) / mebi, used_inodes(fs));
    }

    ClassicMdtest settings_;
    std::vector<MdtestRankSamples> of_ranks_;
    std::vector<MdtestRankPhase> rank_phases_;
};

}  // namespace

std::string classic_mdtest_summary(const ClassicMdtest& settings, const RunResult& run, int ranks,
                                   const MdtestRanks& of_ranks) {
    std::string text;
    const auto add = [&](const Column& column) {
        if (settings.all_ranks) text += of_each_rank(run, ranks, column, of_ranks.phases);
        text += "\n" + table(run, ranks, column, settings.rank_statistics, of_ranks.samples);
    };
    if (settings.rates) add(rate_columns);
    if (settings.times) add(time_columns);
    return text;
}

std::unique_ptr<Observer> make_classic_mdtest_view(ClassicMdtest settings) {
    return std::make_unique<TextView>(std::move(settings));
}

}  // namespace effio
