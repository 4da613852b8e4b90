// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "core/fields.hpp"
#include "core/table.hpp"
#include "frame/cold.hpp"
#include "frame/study/groups.hpp"
#include "frame/study/payload.hpp"
#include "frame/study/study.hpp"

namespace effio::study {

namespace {

/// All passes of a cell.
Load load_of(const Cell& cell, double rate) {
    Load load;
    const double one_way = cell.bytes_in_all();
    load.seconds = cell.manner.settle;
    for (const auto& pass : cell.passes) {
        if (pass.access != Access::read) load.written += one_way;
        if (pass.access != Access::write) load.read += one_way;
        load.seconds += pass.directions() * one_way / rate;
    }
    return load;
}

Estimate estimate_of(const Definition& definition, const Options& options, const PlanInput& input,
                     const Load& further) {
    const OnStorage most = on_storage(definition, options.storage);
    const auto one = [&](const Assumed& assumed) {
        Load load;
        for (const auto& cell : definition.cells) {
            // Not every file system has O_DIRECT.
            if (assumed.early && cell.past_cache && !cell.past_cache->or_own_backend) continue;
            load += load_of(cell, assumed.speed * input.rate);
        }
        load.on_storage = most.bytes;
        load.files = most.files;
        return load;
    };
    Load warm_up = further;
    for (const auto& cell : definition.warm_up) warm_up += load_of(cell, input.rate);
    Estimate estimate({options.repetitions, "repetition", &options.until_ci}, one, warm_up);
    estimate.assume_storage(input.rate);
    return estimate;
}

/// A pass of a cell, for programs.
struct PlannedPass {
    const Cell& cell;
    const Pass& pass;
    Json where;
    double calls;
    double bytes;
    double seconds;
};

const Fields<PlannedPass>& planned_pass_fields() {
    using P = PlannedPass;
    static const Fields<P> fields{
        {"pattern", Unit::word, "of the cell", [](const P& p) { return p.cell.pattern; }},
        {"access", Unit::word, "of the pass", [](const P& p) { return p.pass.name; }},
        Field<P>{"where", Unit::object, "value of each axis", &P::where},
        {"ranks", Unit::count, "that take part", [](const P& p) { return p.cell.ranks; }},
        {"files", Unit::count, "of the cell", [](const P& p) { return p.cell.files_on_disk(); }},
        {"file_bytes", Unit::bytes, "of each file",
         [](const P& p) { return p.cell.file_bytes / p.cell.parts_of_file; }},
        {"calls", Unit::count, "of all ranks", &P::calls},
        {"bytes", Unit::bytes, "that these calls move", &P::bytes},
        {"expected_seconds", Unit::seconds, "at the assumed rate", &P::seconds}};
    return fields;
}

}  // namespace

Plan make_plan(const Definition& definition, const Options& options, const PlanInput& input,
               const Load& further) {
    std::vector<Table::Column> columns{{"pattern", Table::Align::left},
                                       {"access", Table::Align::left}};
    for (const auto& axis : definition.cells.front().axes) columns.push_back({axis.title});
    for (const auto* name : {"ranks", "files", "calls", "bytes", "time"}) columns.push_back({name});
    Table table(columns);
    std::vector<PlannedPass> passes;
    std::int64_t memory = 0;
    double moved = 0;  // by the pass that moves most
    for (const auto& cell : definition.cells) {
        // Shares of arrays that are not equal are larger at the end.
        const int largest = cell.holds_arrays() ? cell.ranks - 1 : 0;
        memory = std::max(memory, Payload::bytes(cell, cell.addresses(largest), options.kept(),
                                                 cell.bytes_read(largest)));
        const double one_way_calls = cell.calls_in_all();
        const double one_way_bytes = cell.bytes_in_all();
        moved = std::max(moved, one_way_bytes);
        for (const auto& pass : cell.passes) {
            const double calls = pass.directions() * one_way_calls;
            const double bytes = pass.directions() * one_way_bytes;
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
            passes.push_back({cell, pass, std::move(where), calls, bytes, bytes / input.rate});
        }
    }
    const AgainstMemory against(moved, input);
    Plan plan;
    plan.estimate = estimate_of(definition, options, input, further);
    const Estimate& estimate = plan.estimate;
    plan.text = fmt::format(
        "Plan of {} with {}, at an assumed {} in all\n{}\n{}; memory of a rank: {}\n{}\n{}\n{}",
        definition.name, count_of(input.ranks, "rank"), format_rate(input.rate), definition.title,
        estimate.repetitions(), format_size(static_cast<double>(memory)), against.text(),
        estimate.text(), table.text(2));
    plan.facts = {
        {"benchmark", Unit::word, "its name", definition.name},
        {"ranks", Unit::count, "of the run", input.ranks},
        {"assumed_rate_bytes_per_second", Unit::bytes_per_second, "of the storage", input.rate},
        {"repetitions", Unit::count, "at most", options.repetitions},
        {"bytes_on_storage", Unit::bytes, "the most at any one time", estimate.most().on_storage},
        {"memory_per_rank_bytes", Unit::bytes, "of the rank that needs most", memory},
        against.fact(),
        {"expected_seconds", Unit::seconds, "at the assumed rate", estimate.expected().seconds},
        {"cells", planned_pass_fields(), "passes of cells, in the order of the definition",
         passes}};
    return plan;
}

}  // namespace effio::study
