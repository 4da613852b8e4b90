// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff_io/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "benchmarks/b_eff_io/definition.hpp"
#include "benchmarks/b_eff_io/runner.hpp"
#include "core/fields.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "core/whole.hpp"
#include "frame/cold.hpp"
#include "parallel/system.hpp"

namespace effio::b_eff_io {
namespace {

/// What fits into the scheduled time of a partition, and into its share of the cap.
struct PlannedPartition {
    std::array<Row, row_count> rows;
    Repetitions calls;
    std::array<bool, row_count> cut{};
    std::int64_t ranks = 1;
    std::int64_t bytes = 0;
    std::int64_t scatter_bytes = 0;
    std::int64_t cap_least = 0;

    std::int64_t bytes_of(const Row& row) const {
        return ranks * row.memory * calls[static_cast<std::size_t>(row.number)];
    }
};

PlannedPartition plan_partition(std::int64_t ranks, std::int64_t lmax, const Budget& budget,
                                std::int64_t cap_bytes, double rate) {
    PlannedPartition plan;
    plan.ranks = ranks;
    plan.rows = row_table(lmax);
    const auto shares = cap_shares(plan.rows, ranks, cap_bytes);
    plan.cap_least = shares.least;
    Repetitions& r = plan.calls;
    r.fill(1);
    for (const Row& row : plan.rows) {
        const auto p = static_cast<std::size_t>(row.number);
        if (row.type > Type::separated) break;
        const double call = static_cast<double>(ranks * row.memory) / rate;
        const double fits = std::floor(budget.unit_seconds * row.units / call);
        r[p] = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(fits, 1e15)));
        if (r[p] > shares.calls[p]) {
            r[p] = shares.calls[p];
            plan.cut[p] = true;
        }
    }
    set_segmented_repetitions(plan.rows, r);
    const Segment segment = segment_of(plan.rows, r);
    for (Row& row : plan.rows) {
        if (row.is_fill_up) row.chunk = row.memory = segment.fill();
        plan.bytes += plan.bytes_of(row);
        if (row.type == Type::scatter) plan.scatter_bytes += plan.bytes_of(row);
    }
    return plan;
}

/// The most bytes that a run may have on storage: of --plan-free, or of the directory here.
ByteCap cap_of(const Parameters& parameters, const PlanInput& input) {
    if (input.free_bytes && !parameters.storage.max_bytes) {
        return {static_cast<std::int64_t>(0.8 * *input.free_bytes),
                fmt::format("80 % of the {} of --plan-free", format_size(*input.free_bytes))};
    }
    // Where the directory cannot be looked at, the plan has what --max-bytes can be at most.
    constexpr std::int64_t unlimited = 9'000'000'000'000'000'000;
    const auto fs = find_file_system(parameters.storage.directory);
    if (!fs) return {unlimited, "none: the directory is not here"};
    const std::optional<std::int64_t> available =
        input.memory_bytes ? static_cast<std::int64_t>(*input.memory_bytes)
                           : find_memory().available_bytes;
    return find_cap(*fs, available, parameters.storage.max_bytes);
}

/// A row in a partition, for programs.
struct PlannedRow {
    const Row& row;
    double seconds;
    std::int64_t calls;
    std::int64_t bytes;
    bool cut;
};

const Fields<PlannedRow>& planned_row_fields() {
    using P = PlannedRow;
    static const Fields<P> fields{
        {"row", Unit::count, "its number", [](const P& p) { return p.row.number; }},
        {"pattern", Unit::word, "its type",
         [](const P& p) { return std::string(name(p.row.type)); }},
        {"chunk_bytes", Unit::bytes, "contiguous on storage",
         [](const P& p) { return p.row.chunk; }},
        {"memory_chunk_bytes", Unit::bytes, "contiguous in memory",
         [](const P& p) { return p.row.memory; }},
        {"time_units", Unit::count, "of its schedule", [](const P& p) { return p.row.units; }},
        {"scheduled_seconds", Unit::seconds, "of its schedule", &P::seconds},
        {"calls_per_rank", Unit::count, "at the assumed rate", &P::calls},
        {"bytes", Unit::bytes, "of all ranks", &P::bytes},
        {"cut_by_cap", Unit::flag, "--max-bytes ends it early", &P::cut}};
    return fields;
}

/// A partition, for programs.
struct PlannedPart {
    std::int64_t ranks;
    std::int64_t bytes;
    std::int64_t cap_least;
    std::vector<PlannedRow> rows;
};

const Fields<PlannedPart>& planned_part_fields() {
    using P = PlannedPart;
    static const Fields<P> fields{
        {"ranks", Unit::count, "that take part", &P::ranks},
        {"bytes_on_storage", Unit::bytes, "of its files", &P::bytes},
        {"cap_least_bytes", Unit::bytes, "the smallest cap that it runs with", &P::cap_least},
        {"rows", planned_row_fields(), "of the definition", &P::rows}};
    return fields;
}

}  // namespace

Result<Plan> make_plan(const Parameters& parameters, const PlanInput& input) {
    const std::int64_t ranks = input.ranks;
    const std::int64_t memory_mib =
        (parameters.memory_per_rank
             ? parameters.memory_per_rank->count
             : static_cast<std::int64_t>(input.node_memory()) / input.ranks_per_node) /
        MiB;
    const auto partitions =
        parameters.partitions.empty() ? default_partitions(ranks) : parameters.partitions;
    for (const auto n : partitions) {
        if (n > ranks) {
            return usage_error(fmt::format("--partitions: {} is more than the {} of the run", n,
                                           count_of(ranks, "rank")));
        }
    }
    const Budget budget =
        time_budget(parameters.time.count / static_cast<double>(parameters.rounds),
                    partitions.size(), parameters.rewrite);
    const std::int64_t lmax = lmax_bytes(memory_mib);

    // A row moves the largest chunk at least once; types 3 and 4 fill up.
    constexpr auto most_rows = static_cast<std::int64_t>(4 * row_count);
    const auto count = static_cast<std::int64_t>(partitions.size());
    if (!product_of({ranks, lmax, most_rows, count})) {
        return usage_error(fmt::format("one call of every row on {} would be more than 8 EiB",
                                       count_of(ranks, "rank")));
    }

    const ByteCap cap = cap_of(parameters, input);

    Plan plan;
    // Rows of the table refer to the partitions.
    std::vector<PlannedPartition> all_planned;
    for (const std::int64_t n : partitions) {
        all_planned.push_back(plan_partition(n, lmax, budget, cap.bytes / count, input.rate));
    }
    std::vector<PlannedPart> parts;
    std::string tables;
    double most_bytes = 0;  // of a partition
    std::int64_t most_ranks = 1;
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        const std::int64_t n = partitions[i];
        const PlannedPartition& planned = all_planned[i];
        const std::int64_t bytes = planned.bytes;
        Table table({{"row"},
                     {"pattern", Table::Align::left},
                     {"chunk l"},
                     {"memory L"},
                     {"U"},
                     {"time s"},
                     {"calls"},
                     {"bytes"},
                     {"", Table::Align::left}});
        std::vector<PlannedRow> rows;
        for (const Row& row : planned.rows) {
            const auto p = static_cast<std::size_t>(row.number);
            const std::int64_t row_bytes = planned.bytes_of(row);
            table.row(
                {std::to_string(row.number), std::string(name(row.type)),
                 shown_size(Bytes{row.chunk}), shown_size(Bytes{row.memory}),
                 std::to_string(row.units), fmt::format("{:.3f}", budget.unit_seconds * row.units),
                 std::to_string(planned.calls[p]), format_size(static_cast<double>(row_bytes)),
                 planned.cut[p] ? "cut by cap" : ""});
            rows.push_back({row, budget.unit_seconds * row.units, planned.calls[p], row_bytes,
                            planned.cut[p]});
        }
        if (static_cast<double>(bytes) > most_bytes) {
            most_bytes = static_cast<double>(bytes);
            most_ranks = n;
        }
        tables += fmt::format("\nPartition {} of {}: {} scheduled, {} on storage\n{}", i,
                              count_of(n, "rank"), format_duration(budget.partition_seconds),
                              format_size(static_cast<double>(bytes)), table.text(2));
        parts.push_back({n, bytes, planned.cap_least, std::move(rows)});
    }
    PlanInput those = input;
    those.ranks = static_cast<int>(most_ranks);
    const AgainstMemory against(most_bytes, those);
    const auto one = [&](const Assumed& assumed) {
        Load load;
        const double rate = assumed.speed * input.rate;
        for (std::size_t i = 0; i < partitions.size(); ++i) {
            const std::int64_t n = partitions[i];
            const PlannedPartition p = plan_partition(n, lmax, budget, cap.bytes / count, rate);
            const auto bytes = static_cast<double>(p.bytes);
            // Written once, rewritten (all or the scatter file only), read once.
            load.written +=
                bytes + (parameters.rewrite ? bytes : static_cast<double>(p.scatter_bytes));
            load.read += bytes;
            load.on_storage += bytes;
            for (const auto& files : files_of(i, n)) load.files += files.count;
        }
        load.seconds = (load.written + load.read) / rate;
        return load;
    };
    plan.estimate = effio::Estimate({parameters.rounds, "round", &parameters.until_ci}, one);
    plan.estimate.assume_storage(input.rate);
    plan.text = fmt::format(
        "Plan of b_eff_io with {}, {} memory per rank, at an assumed {} in all\n"
        "largest chunk {}; {} partitions of {} each; {} time units of {}\n"
        "cap: {}, {}\n{}\n{}{}{}",
        count_of(ranks, "rank"), format_size(static_cast<double>(memory_mib * MiB)),
        format_rate(input.rate), shown_size(Bytes{lmax}), partitions.size(),
        format_duration(budget.partition_seconds), budget.units,
        format_duration(budget.unit_seconds), format_size(static_cast<double>(cap.bytes)), cap.why,
        against.text(),
        parameters.rounds > 1 ? "what follows is one round; " + plan.estimate.repetitions() + "\n"
                              : std::string(),
        plan.estimate.text(), tables);
    const double scheduled_seconds = budget.partition_seconds *
                                     static_cast<double>(partitions.size()) *
                                     static_cast<double>(parameters.rounds);
    plan.facts = {
        {"benchmark", Unit::word, "its name", std::string("b-eff-io")},
        {"ranks", Unit::count, "of the run", ranks},
        {"assumed_rate_bytes_per_second", Unit::bytes_per_second, "of the storage", input.rate},
        {"lmax_bytes", Unit::bytes, "the largest chunk", lmax},
        {"partition_seconds", Unit::seconds, "scheduled for each", budget.partition_seconds},
        {"time_units", Unit::count, "of a partition", budget.units},
        {"unit_seconds", Unit::seconds, "of each time unit", budget.unit_seconds},
        {"bytes_on_storage", Unit::bytes, "at the assumed rate",
         plan.estimate.expected().on_storage},
        {"scheduled_seconds", Unit::seconds, "of all partitions and rounds", scheduled_seconds},
        {"rounds", Unit::count, "at most", parameters.rounds},
        {"expected_seconds", Unit::seconds, "at the assumed rate",
         plan.estimate.expected().seconds},
        {"cap", cap_fields(), "limit on the bytes that the run may use", cap},
        against.fact(),
        {"partitions", planned_part_fields(), "in their order", parts}};
    return plan;
}

}  // namespace effio::b_eff_io
