// SPDX-License-Identifier: BSD-3-Clause
// A study for people: a line a pass as it comes, then one table.
#include <fmt/format.h>

#include <algorithm>

#include "core/table.hpp"
#include "frame/round_figures.hpp"
#include "frame/study/enough.hpp"
#include "frame/study/views.hpp"

namespace effio::study {
namespace {

/// The rate of the calls alone is shown if it is higher by this factor.
constexpr double notably = 1.05;

/// " ± 3 MB/s", the range of few values, or why there is neither; empty if the values are equal
/// (virtual time).
std::string half_text(std::span<const double> values) {
    constexpr double digits = 1e-6;
    if (values.size() < 2) return " (one repetition says nothing about the next)";
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (*high - *low < digits * arithmetic_mean(values)) return {};
    return precision_text(values, format_rate);
}

/// More columns of rates than this are reported in rows.
constexpr std::size_t most_columns = 8;

class ConsoleView : public Observer {
  public:
    ConsoleView(Console& console, const Definition& definition, const std::string& result_path)
        : console_(console), definition_(definition) {
        for (const auto& cell : definition.cells) {
            pattern_width_ = std::max(pattern_width_, cell.pattern.size());
            for (const auto& pass : cell.passes) {
                access_width_ = std::max(access_width_, pass.name.size());
            }
        }
        console_.print(fmt::format("{}\nresults in {}\n\n", definition.title, result_path));
    }

    void start(const Session& session) override { virtual_time_ = session.clock.is_virtual(); }

    void pass(const PassResult& r) override {
        std::string where;
        for (const auto& axis : r.cell->axes) where += fmt::format(" {:>11}", axis.text);
        std::string remark = r.remark();
        if (const std::string sure = batch_means_text(r.batches); r.valid && !sure.empty()) {
            remark += (remark.empty() ? "" : "; ") + sure;
        }
        // The rate includes the flush, or open and close: show the calls alone, too.
        if (r.valid && r.writing && r.longest("sync") > 0 &&
            r.transfer_rate() > notably * r.rate()) {
            remark += fmt::format("{}the calls alone {}", remark.empty() ? "" : "; ",
                                  format_rate(r.transfer_rate()));
        }
        console_.print(fmt::format(
            "  {:<{}} {:<{}}{} {:>10} {:>10} {:>12}  {}\n", r.cell->pattern, pattern_width_,
            r.pass.name, access_width_, where, format_size(static_cast<double>(r.bytes)),
            format_duration(r.counted_seconds), r.valid ? format_rate(r.rate()) : "-",
            (r.of_arrays && r.flushed() ? format_rate(r.synced_rate()) + " on storage, " : "") +
                remark));
    }

    /// Rows are the coordinates, columns pattern and access.
    void end(const std::vector<Mean>& means, const std::vector<Flow>& flows) override {
        if (means.empty() || definition_.reports_means) return;
        for (const bool peak : {true, false}) {
            std::vector<const Mean*> some;
            for (const auto& mean : means) {
                if (mean.cell->is_peak == peak) some.push_back(&mean);
            }
            if (!some.empty()) table(some, peak);
        }
        console_.print(faults_of(means));
        doubts(means);
        files(means);
        for (const auto& flow : flows) throughput(flow);
        scaling(means);
        headline(means);
        peak(means);
    }

  private:
    /// The rates that answer the study's question; throughputs and numbers of ranks are printed
    /// elsewhere.
    void headline(const std::vector<Mean>& means) {
        if (definition_.headline == Headline::throughputs ||
            definition_.headline == Headline::enough) {
            return;
        }
        std::string text;
        for (const Mean* best : Means::best(means)) {
            if (definition_.headline == Headline::by_access) {
                text += claim("Highest", *best);
                continue;
            }
            text += claim("Strongest", *best) + claim("Weakest", *Means::weakest(means, *best));
        }
        if (!text.empty()) console_.print("\n" + text);
    }

    /// A rate with its interval, its cell, the place of its bytes (storage or memory), and what was
    /// wrong with this very cell.
    std::string claim(const char* which, const Mean& mean) const {
        return fmt::format("{} {}: {}{}, {}{}{}\n", which, mean.pass.name,
                           format_rate(mean.rates.mean()), half_text(mean.values()),
                           mean.where_text(),
                           virtual_time_ ? "" : fmt::format(" ({})", mean.evidence_text()),
                           but(mean.fault_text()));
    }
    static std::string but(const std::string& fault) { return fault.empty() ? "" : "; " + fault; }

    void peak(const std::vector<Mean>& means) {
        std::string text;
        for (const Access access : {Access::write, Access::read}) {
            const auto with = std::find_if(means.begin(), means.end(), [&](const Mean& mean) {
                return mean.peak && !mean.peak->given && mean.pass.access == access;
            });
            if (with == means.end()) continue;
            const Peak& peak = *with->peak;
            text +=
                fmt::format("Peak of {}s: {}{}, {}{}\n", with->pass.name, format_rate(peak.rate),
                            half_text(peak.values), peak.where_text, but(peak.fault_text));
        }
        for (const auto& mean : means) {
            if (!mean.is_above_peak()) continue;
            text += fmt::format("{}: {:.0f} % of the peak; {}\n", mean.where_text(),
                                100 * *mean.share(), mean.above_peak());
        }
        if (!text.empty()) console_.print("\n" + text);
    }

    void doubts(const std::vector<Mean>& means) {
        std::vector<NamedValues> values;
        for (const auto& mean : means) values.push_back({mean.where_text(), mean.values()});
        console_.print(doubts_text(values));
    }

    void files(const std::vector<Mean>& means) {
        if (means.front().file_rates.empty()) return;
        std::vector<Table::Column> columns;
        for (const auto& axis : means.front().cell->axes) columns.push_back({axis.title});
        columns.push_back({"pattern", Table::Align::left});
        columns.push_back({"access", Table::Align::left});
        columns.push_back({"files/s"});
        Table table(columns);
        for (const auto& mean : means) {
            std::vector<std::string> row;
            for (const auto& axis : mean.cell->axes) row.push_back(axis.text);
            row.push_back(mean.cell->pattern);
            row.push_back(mean.pass.name);
            row.push_back(fmt::format("{:.1f}", arithmetic_mean(mean.file_rates)));
            table.row(std::move(row));
        }
        console_.print("\nFiles per second\n" + table.text(2));
    }

    void throughput(const Flow& flow) {
        const auto value = flow.value();
        if (!value) return;
        const auto text = [&](double number) {
            return flow.what->unit == Unit::bytes_per_second ? format_rate(number)
                                                             : fmt::format("{:.2f}", number);
        };
        console_.print(fmt::format("{}: {}{} ({}){}\n", flow.what->title, text(*value),
                                   precision_text(flow.values, text), flow.where_text,
                                   but(flow.fault_text)));
    }

    void scaling(const std::vector<Mean>& means) {
        Table table({{"pattern", Table::Align::left},
                     {"access", Table::Align::left},
                     {"at"},
                     {"MB/s"},
                     {"speed-up"},
                     {"efficiency"}});
        bool any = false;
        std::string why;
        for (const auto& mean : means) {
            if (!mean.speed_up || mean.cell->is_peak) continue;
            any = true;
            std::string at;
            for (const auto& axis : mean.cell->axes) {
                at += fmt::format("{}{} {}", at.empty() ? "" : ", ", axis.title, axis.text);
            }
            table.row(
                {mean.cell->pattern, mean.pass.name, at,
                 fmt::format("{:.1f}", mean.rates.mean() / MB_per_s),
                 fmt::format("{:.2f}", *mean.speed_up),
                 mean.efficiency ? fmt::format("{:.0f} %", 100 * *mean.efficiency) : "not known"});
            if (!mean.efficiency && why.find(mean.no_efficiency) == std::string::npos) {
                why += fmt::format("  not known: {}\n", mean.no_efficiency);
            }
        }
        if (any) console_.print("\nScaling, against the fewest ranks\n" + table.text(2) + why);
        const auto curves = enough_of(definition_, means);
        if (curves.empty()) return;
        console_.print("\nHow many are enough\n");
        for (const auto& curve : curves) console_.print("  " + curve.sentence() + "\n");
    }

    void table(const std::vector<const Mean*>& means, bool peak) {
        const bool shares = std::any_of(means.begin(), means.end(),
                                        [](const auto* mean) { return mean->peak.has_value(); });
        std::vector<std::string> heads;
        for (const auto* mean : means) add(heads, column_of(*mean, true));
        const bool wide = heads.size() <= most_columns;
        if (!wide) {
            heads.clear();
            for (const auto* mean : means) add(heads, column_of(*mean, false));
        }
        std::vector<Table::Column> columns;
        for (const auto& axis : means.front()->cell->axes) columns.push_back({axis.title});
        if (!wide) columns.push_back({"pattern", Table::Align::left});
        for (const auto& head : heads) columns.push_back({head});
        Table table(columns);
        std::vector<std::string> keys;
        for (const auto* mean : means) add(keys, row_of(*mean, wide));
        for (const auto& key : keys) table.row(row(means, key, heads, wide));
        std::int64_t most = 0;
        for (const auto* mean : means) most = std::max(most, mean->rates.count());
        const char* const precision = most >= RoundsInterval::least
                                          ? " ± half their 95 % intervals"
                                          : (most > 1 ? " (lowest to highest)" : "");
        console_.print(fmt::format("\n{} in MB/s{}{}\n{}", peak ? "Peak" : "Mean rates", precision,
                                   shares ? " (per cent of the peak)" : "", table.text(2)));
    }

    static void add(std::vector<std::string>& list, const std::string& word) {
        if (std::find(list.begin(), list.end(), word) == list.end()) list.push_back(word);
    }
    static std::string column_of(const Mean& mean, bool wide) {
        return wide ? fmt::format("{} {}", mean.cell->pattern, mean.pass.name) : mean.pass.name;
    }
    static std::string row_of(const Mean& mean, bool wide) {
        std::string key = wide ? "" : mean.cell->pattern;
        for (const auto& axis : mean.cell->axes) key += "\n" + axis.text;
        return key;
    }

    static std::vector<std::string> row(const std::vector<const Mean*>& means,
                                        const std::string& key,
                                        const std::vector<std::string>& heads, bool wide) {
        std::vector<std::string> cells;
        std::vector<std::string> rates(heads.size(), "-");
        for (const auto* mean : means) {
            if (row_of(*mean, wide) != key) continue;
            if (cells.empty()) {
                for (const auto& axis : mean->cell->axes) cells.push_back(axis.text);
                if (!wide) cells.push_back(mean->cell->pattern);
            }
            const auto at = static_cast<std::size_t>(
                std::find(heads.begin(), heads.end(), column_of(*mean, wide)) - heads.begin());
            if (mean->rates.count() == 0) continue;
            const auto mb = [](double rate) { return fmt::format("{:.1f}", rate / MB_per_s); };
            rates[at] = mb(mean->rates.mean()) + precision_text(mean->values(), mb);
            if (const auto share = mean->share()) {
                rates[at] +=
                    fmt::format(" ({:.0f}{} %)", 100 * *share, mean->is_above_peak() ? "*" : "");
            }
        }
        cells.insert(cells.end(), rates.begin(), rates.end());
        return cells;
    }

    Console& console_;
    const Definition& definition_;
    // Of the lines of passes.
    std::size_t pattern_width_ = 12;
    std::size_t access_width_ = 8;
    bool virtual_time_ = false;
};

}  // namespace

std::unique_ptr<Observer> make_console_view(Console& console, const Definition& definition,
                                            const std::string& result_path) {
    return std::make_unique<ConsoleView>(console, definition, result_path);
}

}  // namespace effio::study
