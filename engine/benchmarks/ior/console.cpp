// SPDX-License-Identifier: BSD-3-Clause
// IOR's events for people.
#include <fmt/format.h>

#include "benchmarks/ior/views.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "frame/cold.hpp"
#include "frame/round_figures.hpp"

namespace effio::ior {
namespace {

constexpr const char* live_format =
    "  {:<6} {:>3} {:>9} {:>12} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9}  {}\n";

class ConsoleView : public Observer {
  public:
    ConsoleView(Console& console, std::string result_path)
        : console_(console), result_path_(std::move(result_path)) {}

    void start(const Setup& s) override {
        const auto& p = s.parameters;
        const std::int64_t workers = s.ranks * p.threads;
        console_.print(fmt::format(
            "ior: {} on {}{}, {}, {}, {} of {} for each {}\n"
            "{} in all in {} through {} (at most {}: {})\n"
            "results in {}\n\n",
            count_of(s.ranks, "rank"), count_of(s.nodes, "node"),
            p.threads > 1 ? fmt::format(" with {} threads each", p.threads) : "",
            p.files == Files::shared ? "one shared file" : "a file for each process", name(p.order),
            count_of(p.segments, "segment"), shown_size(p.block), p.threads > 1 ? "thread" : "rank",
            format_size(static_cast<double>(workers * p.segments) *
                        static_cast<double>(p.block.count)),
            s.path, s.backend, format_size(static_cast<double>(s.cap_bytes)), s.cap_reason,
            result_path_));
        console_.print(fmt::format(live_format, "access", "rep", "transfer", "rate", "calls/s",
                                   "p99 call", "open", "calls", "sync", "close", ""));
    }

    void phase(const PhaseResult& r) override {
        std::string remark;
        if (!r.valid) {
            remark = "INVALID: " + r.why_invalid();
        } else {
            if (r.error_count > 0) remark += fmt::format("{} ERRORS; ", r.error_count);
            if (r.stonewall && r.stopped == StopReason::time) {
                remark += fmt::format("stonewall: tail {}; ",
                                      format_duration(r.stonewall->tail_seconds()));
            }
            if (r.steady) remark += r.steady->steady ? "steady; " : "NOT steady; ";
            const std::string cached = cache_remark(r.cache, r.access != Access::write);
            if (!cached.empty()) remark += cached + "; ";
            if (!r.remarked.empty()) remark += r.remarked + "; ";
            const std::string sure = batch_means_text(r.batches);
            if (!sure.empty()) remark += sure + "; ";
            if (r.verified_bytes > 0) {
                remark += fmt::format("{} verified; ",
                                      format_size(static_cast<double>(r.verified_bytes)));
            }
            if (remark.ends_with("; ")) remark.resize(remark.size() - 2);
        }
        const auto part = [&r](std::string_view name) {
            return format_duration(r.span(name).seconds());
        };
        console_.print(fmt::format(
            live_format, name(r.access), r.repetition + 1, shown_size(Bytes{r.geometry.transfer}),
            r.valid ? format_rate(r.rate()) : "-", fmt::format("{:.0f}", r.operation_rate()),
            r.call_times ? format_duration(r.call_times->quantile_seconds(0.99)) : "-",
            part("open"), part("transfer"), part("sync"), part("close"), remark));
    }

    void end(const RunResult& run) override {
        const auto& p = run.setup.parameters;
        Table table({{"access", Table::Align::left},
                     {"transfer"},
                     {"mean MB/s"},
                     {"max MB/s"},
                     {"min MB/s"},
                     {"± 95 % MB/s"},
                     {"repetitions"}});
        std::vector<NamedValues> means;
        for (const Access access : phases_in_order) {
            if (!p.does(access)) continue;
            for (const Bytes transfer : p.transfers) {
                const auto values = rates_of(run, access, transfer.count);
                const Samples rates = samples_of(values);
                const auto half = half_width_of(values);
                means.push_back({bandwidth_of(access, transfer.count).text, values});
                if (rates.count() == 0) {
                    table.row({std::string(name(access)), shown_size(transfer), "-", "-", "-", "-",
                               counted(run, access, transfer.count)});
                    continue;
                }
                const auto mb = [](double rate) { return fmt::format("{:.1f}", rate / MB_per_s); };
                table.row({std::string(name(access)), shown_size(transfer), mb(rates.mean()),
                           mb(rates.max()), mb(rates.min()), half ? mb(*half) : "-",
                           counted(run, access, transfer.count)});
            }
        }
        console_.print("\n" + table.text() + doubts_text(means));
        if (run.out_of_time) console_.print("--time-limit left phases out\n");
        if (run.errors > 0) {
            console_.print(
                fmt::format("{}: the results say where and why\n", count_of(run.errors, "ERROR")));
        }
        console_.print(fmt::format("results: {}\n", result_path_));
    }

  private:
    /// "3 + 1 INVALID, 2 WRONG": repetitions with a rate and without, and pieces of wrong data.
    static std::string counted(const RunResult& run, Access access, std::int64_t transfer) {
        std::int64_t valid = 0;
        std::int64_t invalid = 0;
        std::int64_t wrong = 0;
        for (const auto& phase : run.phases) {
            if (phase.access != access || phase.transfer != transfer) continue;
            ++(phase.valid ? valid : invalid);
            if (phase.valid) wrong += phase.errors;
        }
        return counted_text(valid, invalid, wrong);
    }

    Console& console_;
    std::string result_path_;
};

}  // namespace

std::unique_ptr<Observer> make_console_view(Console& console, const std::string& result_path) {
    return std::make_unique<ConsoleView>(console, result_path);
}

}  // namespace effio::ior
