// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/cold.hpp"
#include "benchmarks/study/groups.hpp"
#include "benchmarks/study/payload.hpp"
#include "benchmarks/study/study.hpp"
#include "core/table.hpp"

namespace effio::study {

Plan make_plan(const Definition& definition, const Options& options, const PlanInput& input) {
    std::vector<Table::Column> columns{{"pattern", Table::Align::left},
                                       {"access", Table::Align::left}};
    for (const auto& axis : definition.cells.front().axes) columns.push_back({axis.title});
    for (const auto* name : {"ranks", "files", "calls", "bytes", "time"}) columns.push_back({name});
    Table table(columns);
    Json cells = Json::array();
    double seconds = 0;
    std::int64_t memory = 0;
    double moved = 0;  // by the pass that moves most
    for (const auto& cell : definition.cells) {
        // Shares of arrays that are not equal are larger at the end.
        const int largest = cell.arrays ? cell.ranks - 1 : 0;
        memory = std::max(memory, Payload::bytes(cell, cell.addresses(largest), options.kept(),
                                                 cell.bytes_read(largest)));
        const double one_way_calls = cell.calls_in_all();
        const double one_way_bytes = cell.bytes_in_all();
        seconds += cell.settle;
        moved = std::max(moved, one_way_bytes);
        for (const auto& pass : cell.passes) {
            const double calls = pass.ways() * one_way_calls;
            const double bytes = pass.ways() * one_way_bytes;
            seconds += bytes / input.rate;
            std::vector<std::string> row{cell.pattern, pass.name};
            Json where = Json::object();
            for (const auto& axis : cell.axes) {
                row.push_back(axis.text);
                where[axis.name] = axis.value;
            }
            for (const auto& text :
                 {std::to_string(cell.ranks), std::to_string(cell.files_on_disk()),
                  fmt::format("{:.0f}", calls), format_size(bytes),
                  format_duration(bytes / input.rate)}) {
                row.push_back(text);
            }
            table.row(std::move(row));
            cells.push_back(Json{{"pattern", cell.pattern},
                                 {"access", pass.name},
                                 {"where", std::move(where)},
                                 {"ranks", cell.ranks},
                                 {"files", cell.files_on_disk()},
                                 {"file_bytes", cell.file_bytes / cell.parts_of_file},
                                 {"calls", calls},
                                 {"bytes", bytes},
                                 {"expected_seconds", bytes / input.rate}});
        }
    }
    const auto span = options.until_ci.foretell(options.repetitions, "repetition", seconds);
    const AgainstMemory against(moved, input.ranks, input.ranks_per_node);
    const double most = bytes_lying(definition, options.storage.keep);
    Plan plan;
    plan.text = fmt::format(
        "Plan of {} with {}, at an assumed {} in all\n{}\n{}; memory of a rank: {}; on storage "
        "at a time: {}\n{}\nexpected duration: {}\n\n{}",
        definition.name, count_of(input.ranks, "rank"), format_rate(input.rate), definition.title,
        span.repetitions, format_size(static_cast<double>(memory)), format_size(most),
        against.text(), span.duration, table.text(2));
    plan.data = Json{{"benchmark", definition.name},
                     {"ranks", input.ranks},
                     {"assumed_rate_bytes_per_second", input.rate},
                     {"repetitions", options.repetitions},
                     {"bytes_on_storage", most},
                     {"memory_per_rank_bytes", memory},
                     {"against_memory", against.to_json()},
                     {"expected_seconds", span.most_seconds},
                     {"cells", std::move(cells)}};
    if (options.until_ci.on()) plan.data["until_ci"] = span.data;
    return plan;
}

}  // namespace effio::study
