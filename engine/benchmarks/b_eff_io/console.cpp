// SPDX-License-Identifier: BSD-3-Clause
// b_eff_io's events for people.
#include <fmt/format.h>

#include "benchmarks/b_eff_io/views.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "frame/cold.hpp"
#include "frame/round_figures.hpp"

namespace effio::b_eff_io {
namespace {

constexpr const char* live_format = "  {:<8} {:<10} {:>14} {:>8} {:>10} {:>9} {:>12}  {}\n";

std::string rate_cell(const std::optional<RowResult>& row) {
    if (!row) return "-";
    if (!row->valid) return "INVALID";
    return fmt::format("{:.1f}{}{}", row->rate() / MB_per_s,
                       row->stopped == StopReason::cap ? "c" : "", row->errors > 0 ? "!" : "");
}

/// Half the width of the interval of a type's rate over the rounds.
std::string half_of(const TypeResult& type) {
    const auto& interval = type.estimate.interval;
    return interval ? fmt::format("{:.1f}", interval->half_width / MB_per_s) : "-";
}

class ConsoleView : public Observer {
  public:
    ConsoleView(Console& console, std::string result_path)
        : console_(console), result_path_(std::move(result_path)) {}

    void start(const Setup& s) override {
        setup_ = s;
        std::string sizes;
        for (const auto n : s.partitions)
            sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", n);
        if (s.parameters.quick_look) {
            console_.print(fmt::format(
                "A quick check of a minute, because no --time is given{}. It is NOT VALID\n"
                "officially: that takes 30 minutes for each partition (--time) and leaves caches "
                "alone.\n",
                s.parameters.storage.cache.drop
                    ? ": files are dropped from the page\ncache between accesses"
                    : ""));
        }
        console_.print(fmt::format(
            "b_eff_io: partitions of {} {}, {} scheduled for each{}, largest chunk {}\n"
            "data in {} (at most {}: {})\n"
            "shared file pointer: {}{}\n"
            "results in {}\n\n",
            sizes, s.partitions.back() == 1 ? "rank" : "ranks",
            format_duration(s.scheduled_seconds()),
            s.parameters.rounds > 1 ? " in " + count_of(s.parameters.rounds, "round") : "",
            shown_size(Bytes{s.lmax}), s.parameters.storage.directory,
            format_size(static_cast<double>(s.cap_bytes)), s.cap_reason,
            s.shared_pointer ? "" : "NOT USED, ", s.shared_pointer_note, result_path_));
        console_.print(fmt::format(live_format, "access", "pattern", "chunk", "ranks", "calls",
                                   "time", "rate", ""));
    }

    void row(const RowResult& r) override {
        std::string remark;
        if (!r.valid) {
            remark = "INVALID: " + (r.error_list.empty() ? "" : r.error_list.front().text());
        } else {
            if (r.errors > 0) remark += fmt::format("{} ERRORS ", r.errors);
            if (r.stopped == StopReason::cap) remark += "cut short by --max-bytes ";
            remark +=
                r.read_ahead()
                    ? (r.cache->verdict == Whereabouts::cache ? "read ahead" : "partly read ahead")
                    : cache_remark(r.cache, r.access == Access::read);
            if (r.span.by_common_clock) {
                remark += fmt::format("{}by the common clock (rank 0's: {})",
                                      remark.empty() ? "" : "; ", format_duration(r.times.total));
            }
            const std::string sure = batch_means_text(r.batches);
            if (!sure.empty()) remark += (remark.empty() ? "" : "; ") + sure;
        }
        console_.print(fmt::format(live_format, name(r.access), name(r.row.type),
                                   shown_size(Bytes{r.row.chunk}), r.ranks, r.repetitions,
                                   format_duration(r.span.seconds),
                                   r.valid ? format_rate(r.rate()) : "-", remark));
    }

    void end(const RunResult& run) override {
        for (std::size_t i = 0; i < run.partitions.size(); ++i) print_partition(run, i);
        const auto best = run.best();
        if (!best) {
            console_.print("\nb_eff_io: no value, because no partition was measured completely\n");
        } else {
            const auto& p = run.partitions[*best];
            const double value = p.effective_bandwidth();
            const double memory = static_cast<double>(setup_.total_memory_mib * MiB);
            console_.print(fmt::format(
                "\nb_eff_io = {} on {}{}: {}\n"
                "total memory / b_eff_io = {} / {} = {} (balanced: at most 10 min)\n",
                format_rate(value), count_of(p.ranks, "rank"),
                p.errors > 0 ? " with " + count_of(p.errors, "ERROR") : "",
                run.valid(*best) ? "VALID for comparison of systems"
                : p.rows_by_common_clock() > 0
                    ? "NOT VALID for comparison: ranks ran at different times"
                    : "NOT VALID for comparison of systems",
                format_size(memory), format_rate(value), format_duration(memory / value)));
            if (!run.setup.parameters.storage.virtual_time()) {
                console_.print(fmt::format("  writes: {}; reads: {}\n", bytes_of(p, false),
                                           bytes_of(p, true)));
            }
            if (const auto found = run.estimated(best_partition); found && found->interval) {
                console_.print(fmt::format(
                    "  95 % interval: ± {} ({}, by leaving each out); {} of the official time\n",
                    format_share(found->interval->half_width / value),
                    count_of(found->interval->count, "round"),
                    format_share(run.official_time_share())));
            }
        }
        console_.print(fmt::format("results: {}\n", result_path_));
    }

  private:
    /// Where the bytes were that a partition read or wrote.
    static std::string bytes_of(const PartitionResult& p, bool reading) {
        StorageShare share;
        for (const Access access : all_accesses) {
            if ((access == Access::read) != reading) continue;
            for (const auto& row : p.rows[index(access)]) {
                if (row) share.add(row->cache, row->bytes);
            }
        }
        return share.words(reading);
    }

    void print_partition(const RunResult& run, std::size_t i) {
        const auto& p = run.partitions[i];
        std::vector<Table::Column> columns{{"chunk", Table::Align::right},
                                           {"access", Table::Align::left}};
        for (const Type t : all_types) {
            columns.push_back({fmt::format("{} MB/s", name(t)), Table::Align::right});
        }
        Table table(columns);
        const auto rows = row_table(run.setup.lmax);
        bool any = false;
        for (const Access access : all_accesses) {
            for (int position = 1; position <= 7; ++position) {
                std::vector<std::string> cells;
                for (const Type t : all_types) {
                    for (const Row& row : rows) {
                        if (row.type != t || row.position != position) continue;
                        if (cells.empty()) {
                            cells = {shown_size(Bytes{row.chunk}), std::string(name(access))};
                        }
                        const auto& cell =
                            p.rows[index(access)][static_cast<std::size_t>(row.number)];
                        any = any || cell.has_value();
                        cells.push_back(rate_cell(cell));
                    }
                }
                table.row(cells);
            }
            std::vector<std::string> halves{"± 95 %", std::string(name(access))};
            std::vector<std::string> totals{"total", std::string(name(access))};
            for (const Type t : all_types) {
                const auto& total = p.types[index(access)][index(t)];
                totals.push_back(total ? fmt::format("{:.1f}", total->rate() / MB_per_s) : "-");
                halves.push_back(total ? half_of(*total) : "-");
            }
            table.row(totals);
            if (run.setup.parameters.rounds > 1) table.row(halves);
            table.rule();
        }
        if (!any) return;
        console_.print(fmt::format("\n{}:\n{}", count_of(p.ranks, "rank"), table.text(2)));
        if (!p.complete()) return;
        if (p.errors > 0) console_.print("  ! = failed calls or wrong data\n");
        if (p.rows_cut_short() > 0) console_.print("  c = cut short by the cap on bytes\n");
        console_.print(
            fmt::format("  open, transfer, sync, close of rank 0 in seconds by access:\n{}",
                        parts_table(p).text(4)));
        std::string verdict =
            fmt::format("  b_eff_io of {} = {}: {}\n", count_of(p.ranks, "rank"),
                        p.all_rows_valid() ? format_rate(p.effective_bandwidth()) : "INVALID",
                        run.valid(i) ? "VALID" : "NOT VALID");
        for (const auto& c : run.criteria(i)) {
            verdict +=
                fmt::format("    {} {}\n", c.reached ? "reached:    " : "NOT reached:", c.text);
        }
        console_.print(verdict);
    }

    static Table parts_table(const PartitionResult& p) {
        Table table({{"access", Table::Align::left},
                     {"data", Table::Align::right},
                     {"average", Table::Align::right},
                     {"open s", Table::Align::right},
                     {"calls s", Table::Align::right},
                     {"barrier s", Table::Align::right},
                     {"vote s", Table::Align::right},
                     {"sync s", Table::Align::right},
                     {"close s", Table::Align::right}});
        for (const Access access : all_accesses) {
            const auto& a = p.accesses[index(access)];
            if (!a) continue;
            double open = 0;
            double close = 0;
            RowTimes sum;
            for (const auto& t : p.types[index(access)]) {
                open += t ? t->open : 0;
                close += t ? t->close : 0;
            }
            for (const auto& r : p.rows[index(access)]) {
                if (!r) continue;
                sum.total += r->times.total;
                sum.barrier += r->times.barrier;
                sum.broadcast += r->times.broadcast;
                sum.sync += r->times.sync;
            }
            const auto s = [](double v) { return fmt::format("{:.3f}", v); };
            table.row({std::string(name(access)), format_size(static_cast<double>(a->bytes)),
                       format_rate(a->average), s(open), s(sum.calls()), s(sum.barrier),
                       s(sum.broadcast), s(sum.sync), s(close)});
        }
        return table;
    }

    Console& console_;
    std::string result_path_;
    Setup setup_;
};

}  // namespace

std::unique_ptr<Observer> make_console_view(Console& console, const std::string& result_path) {
    return std::make_unique<ConsoleView>(console, result_path);
}

}  // namespace effio::b_eff_io
