// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff_io/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/b_eff_io/definition.hpp"
#include "benchmarks/b_eff_io/runner.hpp"
#include "benchmarks/cold.hpp"
#include "core/table.hpp"
#include "core/whole.hpp"
#include "parallel/system.hpp"

namespace effio::b_eff_io {

Result<Plan> make_plan(const Parameters& parameters, const PlanInput& input) {
    const std::int64_t ranks = input.ranks;
    const Memory memory = find_memory();
    const std::int64_t memory_mib =
        (parameters.memory_per_rank ? parameters.memory_per_rank->count
                                    : memory.total_bytes / input.ranks_per_node) /
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

    // The cap needs the directory; where it cannot be looked at, the plan has what --max-bytes can
    // be at most.
    constexpr std::int64_t unlimited = 9'000'000'000'000'000'000;
    ByteCap cap{unlimited, "none: the directory is not here"};
    if (const auto fs = find_file_system(parameters.storage.directory); fs) {
        cap = find_cap(*fs, memory.available_bytes, parameters.storage.max_bytes);
    }

    Plan plan;
    Json json_partitions = Json::array();
    std::string tables;
    double total_seconds = 0;
    std::int64_t total_bytes = 0;
    double most_bytes = 0;  // of a partition
    std::int64_t most_ranks = 1;
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        const std::int64_t n = partitions[i];
        auto rows = row_table(lmax);
        const auto shares = cap_shares(rows, n, cap.bytes / count);
        Repetitions r;
        r.fill(1);
        std::array<bool, row_count> cut{};
        for (const Row& row : rows) {
            const auto p = static_cast<std::size_t>(row.number);
            if (row.type > Type::separated) break;
            const double call = static_cast<double>(n * row.memory) / input.rate;
            const double fits = std::floor(budget.unit_seconds * row.units / call);
            r[p] = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(fits, 1e15)));
            if (r[p] > shares.calls[p]) {
                r[p] = shares.calls[p];
                cut[p] = true;
            }
        }
        set_segmented_repetitions(rows, r);
        const Segment segment = segment_of(rows, r);
        std::int64_t bytes = 0;
        std::int64_t scatter = 0;
        Table table({{"row"},
                     {"pattern", Table::Align::left},
                     {"chunk l"},
                     {"memory L"},
                     {"U"},
                     {"time s"},
                     {"calls"},
                     {"bytes"},
                     {"", Table::Align::left}});
        Json json_rows = Json::array();
        for (Row& row : rows) {
            const auto p = static_cast<std::size_t>(row.number);
            if (row.is_fill_up) row.chunk = row.memory = segment.fill();
            const std::int64_t row_bytes = n * row.memory * r[p];
            bytes += row_bytes;
            if (row.type == Type::scatter) scatter += row_bytes;
            table.row({std::to_string(row.number), std::string(name(row.type)),
                       format_exact(Bytes{row.chunk}), format_exact(Bytes{row.memory}),
                       std::to_string(row.units),
                       fmt::format("{:.3f}", budget.unit_seconds * row.units), std::to_string(r[p]),
                       format_size(static_cast<double>(row_bytes)), cut[p] ? "cut by cap" : ""});
            json_rows.push_back(Json{{"row", row.number},
                                     {"pattern", name(row.type)},
                                     {"chunk_bytes", row.chunk},
                                     {"memory_chunk_bytes", row.memory},
                                     {"time_units", row.units},
                                     {"scheduled_seconds", budget.unit_seconds * row.units},
                                     {"calls_per_rank", r[p]},
                                     {"bytes", row_bytes},
                                     {"cut_by_cap", cut[p]}});
        }
        // Written once, rewritten (all or the scatter file only), read once.
        const double moved = static_cast<double>(bytes) * (parameters.rewrite ? 3 : 2) +
                             (parameters.rewrite ? 0 : static_cast<double>(scatter));
        total_seconds += moved / input.rate;
        total_bytes += bytes;
        if (static_cast<double>(bytes) > most_bytes) {
            most_bytes = static_cast<double>(bytes);
            most_ranks = n;
        }
        tables += fmt::format("\nPartition {} of {}: {} scheduled, {} on storage\n{}", i,
                              count_of(n, "rank"), format_duration(budget.partition_seconds),
                              format_size(static_cast<double>(bytes)), table.text(2));
        json_partitions.push_back(Json{{"ranks", n},
                                       {"bytes_on_storage", bytes},
                                       {"cap_least_bytes", shares.least},
                                       {"rows", std::move(json_rows)}});
    }
    const AgainstMemory against(most_bytes, most_ranks, input.ranks_per_node);
    const auto span = parameters.until_ci.foretell(parameters.rounds, "round", total_seconds);
    plan.text = fmt::format(
        "Plan of b_eff_io with {}, {} memory per rank, at an assumed {} in all\n"
        "largest chunk {}; {} partitions of {} each; {} time units of {}\n"
        "on storage at a time: {} (cap: {}, {})\n{}\n{}expected duration: {}\n{}",
        count_of(ranks, "rank"), format_size(static_cast<double>(memory_mib * MiB)),
        format_rate(input.rate), format_exact(Bytes{lmax}), partitions.size(),
        format_duration(budget.partition_seconds), budget.units,
        format_duration(budget.unit_seconds), format_size(static_cast<double>(total_bytes)),
        format_size(static_cast<double>(cap.bytes)), cap.why, against.text(),
        parameters.rounds > 1 ? "what follows is one round; " + span.repetitions + "\n"
                              : std::string(),
        span.duration, tables);
    const double scheduled_seconds = budget.partition_seconds *
                                     static_cast<double>(partitions.size()) *
                                     static_cast<double>(parameters.rounds);
    plan.data = Json{{"benchmark", "b-eff-io"},
                     {"ranks", ranks},
                     {"assumed_rate_bytes_per_second", input.rate},
                     {"lmax_bytes", lmax},
                     {"partition_seconds", budget.partition_seconds},
                     {"time_units", budget.units},
                     {"unit_seconds", budget.unit_seconds},
                     {"bytes_on_storage", total_bytes},
                     {"scheduled_seconds", scheduled_seconds},
                     {"rounds", parameters.rounds},
                     {"expected_seconds", span.most_seconds},
                     {"cap", cap.to_json()},
                     {"against_memory", against.to_json()},
                     {"partitions", std::move(json_partitions)}};
    if (!span.data.is_null()) plan.data["until_ci"] = span.data;
    return plan;
}

}  // namespace effio::b_eff_io
