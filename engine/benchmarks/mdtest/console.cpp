// SPDX-License-Identifier: BSD-3-Clause
// mdtest's events for people.
#include <fmt/format.h>

#include "benchmarks/mdtest/result.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "frame/round_figures.hpp"
#include "parallel/session.hpp"

namespace effio::mdtest {
namespace {

constexpr const char* live_format = "  {:<30}{:>4} {:>12} {:>10} {:>14} {:>9} {:>9} {:>9}  {}\n";

std::string time_cell(const std::optional<Histogram>& calls, double q) {
    const bool made = calls && calls->count() > 0;
    return made ? format_duration(calls->quantile_seconds(q)) : "-";
}

/// Where the items of a rank are.
std::string places(const Workload& w) {
    if (w.holders() == 1 && w.loops == 1) return "all in one directory";
    std::string where = "one directory";
    if (w.holders() > 1) where = fmt::format("each of {} directories", w.holders());
    if (w.leaf_only) {
        where = fmt::format("each of the {} lowest of {}", w.holders(),
                            count_of(w.tree.directories(), "directory"));
    }
    if (w.loops > 1) where += fmt::format(" of each of {} trees", w.loops);
    return fmt::format("{} in {}", w.per_directory, where);
}

class ConsoleView : public Observer {
  public:
    ConsoleView(Console& console, std::string result_path)
        : console_(console), result_path_(std::move(result_path)) {}

    void start(const Setup& s) override {
        compares_ = s.parameters.compare_trees;
        const Workload& w = s.workload;
        std::string text = fmt::format(
            "mdtest: {} with {} each, {}; {}\ndata in {}\n", count_of(s.ranks, "rank"),
            count_of(s.files, "item"), places(w),
            w.unique                     ? "a tree for each rank"
            : s.parameters.compare_trees ? "one tree for all ranks, then one for each (own)"
                                         : "one tree for all ranks",
            fmt::join(s.parameters.bases(), ", "));
        for (const auto& note : s.notes) text += fmt::format("note: {}\n", note);
        console_.print(text + fmt::format("results in {}\n\n", result_path_));
        console_.print(fmt::format(live_format, "phase", "it.", "operations", "time", "op/s", "p50",
                                   "p99", "max", ""));
    }

    void phase(const PhaseResult& r) override {
        std::string remark;
        if (!r.valid) {
            remark = "INVALID: " + r.invalid_reason;
        } else if (r.error_count > 0) {
            remark = fmt::format("{} ERRORS, first: {}", r.error_count, r.errors.front().text());
        }
        if (const std::string sure = batch_means_text(r.batches); r.valid && !sure.empty()) {
            remark += (remark.empty() ? "" : "; ") + sure;
        }
        if (r.wall && r.wall->timed_out > 0) {
            if (!remark.empty()) remark += "; ";
            remark += fmt::format("stonewall after {}: {} to {}, then all to {}",
                                  format_duration(r.wall->last_seconds), r.wall->min_done,
                                  count_of(r.wall->max_done, "item"), r.wall->max_done);
        }
        console_.print(fmt::format(live_format, title(*r.phase, r.unique), number_of(r.iteration),
                                   r.operations, format_duration(r.total_seconds()),
                                   r.has_rate() ? fmt::format("{:.1f}", r.rate()) : "-",
                                   time_cell(r.call_times, 0.5), time_cell(r.call_times, 0.99),
                                   time_cell(r.call_times, 1), remark));
    }

    void counted(const DiskCount& c) override {
        if (c.right()) return;
        console_.print(fmt::format("  ERROR: {} {} names on disk, {} were made and not removed\n",
                                   c.found, name(c.thing), c.expected));
    }

    void end(const RunResult& run) override {
        if (run.setup.parameters.iterations < 2 && run.setup.parameters.ranks.size() < 2 &&
            !run.setup.parameters.compare_trees) {
            return;
        }
        Table table({{"phase", Table::Align::left},
                     {"ranks"},
                     {"mean op/s"},
                     {"min op/s"},
                     {"max op/s"},
                     {"std. dev."},
                     {"± 95 %"},
                     {"iterations"}});
        std::vector<NamedValues> means;
        for (const PhaseSummary& s : run.phases) {
            const auto cell = [&](double value) {
                return s.rates.count() > 0 ? fmt::format("{:.1f}", value) : std::string("-");
            };
            const auto half = half_width_of(s.values);
            means.push_back({subject_of(*s.phase, s.ranks, s.unique).text, s.values});
            table.row({title(*s.phase, s.unique), std::to_string(s.ranks), cell(s.rates.mean()),
                       cell(s.rates.min()), cell(s.rates.max()), cell(s.rates.deviation()),
                       half ? cell(*half) : "-",
                       fmt::format("{}{}{}", s.rates.count(),
                                   s.invalid > 0 ? fmt::format(" + {} INVALID", s.invalid) : "",
                                   s.errors > 0 ? ", " + count_of(s.errors, "ERROR") : "")});
        }
        console_.print("\n" + table.text(2) + doubts_text(means, "iteration"));
    }

  private:
    std::string title(const Phase& phase, bool unique) const {
        return std::string(phase.title) + (compares_ && unique ? " (own)" : "");
    }

    Console& console_;
    std::string result_path_;
    bool compares_ = false;
};

}  // namespace

std::unique_ptr<Observer> make_console_view(Console& console, std::string result_path) {
    return std::make_unique<ConsoleView>(console, std::move(result_path));
}

}  // namespace effio::mdtest
