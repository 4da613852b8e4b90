// SPDX-License-Identifier: BSD-3-Clause
// A study for people: a line a pass as it comes, then one table.
#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/round_figures.hpp"
#include "benchmarks/study/enough.hpp"
#include "benchmarks/study/views.hpp"
#include "core/table.hpp"

namespace effio::study {
namespace {

/// More columns of rates than this are told in rows.
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

    void pass(const PassResult& r) override {
        std::string where;
        for (const auto& axis : r.cell->axes) where += fmt::format(" {:>11}", axis.text);
        std::string remark = r.remark();
        if (const std::string sure = batch_means_text(r.batches); r.valid && !sure.empty()) {
            remark += (remark.empty() ? "" : "; ") + sure;
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
        if (means.empty() || definition_.tells_means) return;
        for (const bool peak : {true, false}) {
            std::vector<const Mean*> some;
            for (const auto& mean : means) {
                if (mean.cell->is_peak == peak) some.push_back(&mean);
            }
            if (!some.empty()) table(some, peak);
        }
        doubts(means);
        files(means);
        for (const auto& flow : flows) throughput(flow);
        scaling(means);
        std::string above;
        for (const auto& mean : means) {
            if (mean.share && *mean.share > 1) {
                above += fmt::format("  {}: {:.0f} % of the peak\n", mean.where_text(),
                                     100 * *mean.share);
            }
        }
        if (!above.empty()) {
            console_.print("\nAbove the peak, so a cache took part (* in the table):\n" + above);
        }
    }

  private:
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
        if (!flow.value) return;
        const bool bytes = flow.what->unit == "B/s";
        console_.print(
            fmt::format("{}: {} ({})\n", flow.what->title,
                        bytes ? format_rate(*flow.value) : fmt::format("{:.2f}", *flow.value),
                        flow.where_text));
    }

    void scaling(const std::vector<Mean>& means) {
        Table table({{"pattern", Table::Align::left},
                     {"access", Table::Align::left},
                     {"at"},
                     {"MB/s"},
                     {"speed-up"},
                     {"efficiency"}});
        bool any = false;
        for (const auto& mean : means) {
            if (!mean.speed_up || mean.cell->is_peak) continue;
            any = true;
            std::string at;
            for (const auto& axis : mean.cell->axes) {
                at += fmt::format("{}{} {}", at.empty() ? "" : ", ", axis.title, axis.text);
            }
            table.row({mean.cell->pattern, mean.pass.name, at,
                       fmt::format("{:.1f}", mean.rates.mean() / MB_per_s),
                       fmt::format("{:.2f}", *mean.speed_up),
                       fmt::format("{:.0f} %", 100 * mean.efficiency())});
        }
        if (any) console_.print("\nScaling, against the fewest ranks\n" + table.text(2));
        const auto curves = enough_of(definition_, means);
        if (curves.empty()) return;
        console_.print("\nHow many are enough\n");
        for (const auto& curve : curves) console_.print("  " + curve.sentence() + "\n");
    }

    void table(const std::vector<const Mean*>& means, bool peak) {
        const bool shares = std::any_of(means.begin(), means.end(),
                                        [](const auto* mean) { return mean->share.has_value(); });
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
        const bool repeated = std::any_of(means.begin(), means.end(),
                                          [](const auto* mean) { return mean->rates.count() > 1; });
        console_.print(fmt::format("\n{} in MB/s{}{}\n{}", peak ? "Peak" : "Mean rates",
                                   repeated ? " ± half their 95 % intervals" : "",
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
            rates[at] = fmt::format("{:.1f}", mean->rates.mean() / MB_per_s);
            if (const auto half = half_width_of(mean->values())) {
                rates[at] += fmt::format(" ± {:.1f}", *half / MB_per_s);
            }
            if (mean->share) {
                rates[at] +=
                    fmt::format(" ({:.0f}{} %)", 100 * *mean->share, *mean->share > 1 ? "*" : "");
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
};

}  // namespace

std::unique_ptr<Observer> make_console_view(Console& console, const Definition& definition,
                                            const std::string& result_path) {
    return std::make_unique<ConsoleView>(console, definition, result_path);
}

}  // namespace effio::study
