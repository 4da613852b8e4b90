// SPDX-License-Identifier: BSD-3-Clause
// The comparison for people.
#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/libraries/views.hpp"
#include "core/table.hpp"
#include "core/units.hpp"

namespace effio::libraries {
namespace {

std::string percent(const std::optional<Composed>& share) {
    return share ? fmt::format("{:+.0f} %", 100 * share->value) : "-";
}

/// With its interval, without which it would be a number and no gain.
std::string percent(const std::optional<Gain>& gain) {
    if (!gain) return "-";
    return fmt::format("{:+.1f} % ({:+.1f} to {:+.1f}){}", 100 * gain->mean, 100 * gain->low95,
                       100 * gain->high95, gain->found() ? "" : ", may be none");
}

class Tables {
  public:
    Tables(Console& console, const Parameters& parameters)
        : console_(console), parameters_(parameters) {}

    void report(const Comparison& all) {
        for (const auto edge : parameters_.edges) {
            for (const bool write : {true, false}) table(all, edge, write);
            layers(all, edge);
        }
        std::vector<study::Mean> means;
        for (const auto& s : all.series()) means.push_back(*s.mean);
        console_.print(study::faults_of(means));
    }

  private:
    /// Rates by number of processes; overhead at the largest, from the rates of that column.
    void table(const Comparison& all, std::int64_t edge, bool write) {
        std::vector<std::int64_t> counts;
        std::vector<Point> rows;
        for (const auto& s : all.series()) {
            if (s.write != write || s.point.edge != edge) continue;
            if (std::find(counts.begin(), counts.end(), s.point.processes) == counts.end()) {
                counts.push_back(s.point.processes);
            }
            Point row = s.point;
            row.processes = 0;
            if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
        }
        if (rows.empty()) return;
        std::vector<Table::Column> columns{{"library", Table::Align::left},
                                           {"hints", Table::Align::left}};
        for (const auto count : counts) columns.push_back({fmt::format("{} MB/s", count)});
        columns.push_back(
            {all.base().empty() ? "over file per process" : fmt::format("over {}", all.base())});
        columns.push_back({"gain by hints (95 %)"});
        Table table(columns);
        for (Point row : rows) {
            std::vector<std::string> cells{row.library, row.hints};
            const PointMean* last = nullptr;
            for (const auto count : counts) {
                row.processes = count;
                const PointMean* s = all.find(row, write);
                cells.push_back(
                    s != nullptr ? fmt::format("{:.1f}", s->mean->rates.mean() / MB_per_s) : "-");
                if (s != nullptr) last = s;
            }
            cells.push_back(last != nullptr ? percent(all.overhead(*last)) : "-");
            cells.push_back(percent(all.mean_hint_gain(row, write)));
            table.row(std::move(cells));
        }
        console_.print(fmt::format("\n{}, {}^3 cells, mean MB/s by number of processes\n{}",
                                   write ? "Write" : "Read", edge, table.text(2)));
    }

    void layers(const Comparison& all, std::int64_t edge) {
        Table table({{"library", Table::Align::left},
                     {"access", Table::Align::left},
                     {"processes"},
                     {"time s"},
                     {"own s"},
                     {"rest in", Table::Align::left}});
        bool any = false;
        for (const auto& s : all.series()) {
            if (s.point.edge != edge) continue;
            const auto layer = all.layer(s);
            if (!layer) continue;
            any = true;
            table.row({layer->library, s.write ? "write" : "read",
                       std::to_string(s.point.processes), fmt::format("{:.4f}", layer->seconds),
                       fmt::format("{:.4f}", layer->own.value),
                       layer->below.empty() ? "(system)" : layer->below});
        }
        if (any)
            console_.print(
                "\nCost by layer, the same bytes at each (below zero: the layer below did worse "
                "alone)\n" +
                table.text(2));
    }

    Console& console_;
    const Parameters& parameters_;
};

}  // namespace

void print(Console& console, const Comparison& all, const Parameters& parameters) {
    Tables(console, parameters).report(all);
}

}  // namespace effio::libraries
