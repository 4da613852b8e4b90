// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ior/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/cold.hpp"
#include "benchmarks/ior/files.hpp"
#include "core/table.hpp"
#include "parallel/system.hpp"

namespace effio::ior {

Result<Plan> make_plan(const Parameters& parameters, const PlanInput& input) {
    Parameters p = parameters;
    const std::int64_t ranks = std::min<std::int64_t>(p.ranks.value_or(input.ranks), input.ranks);
    const std::int64_t workers = ranks * p.threads;
    if (p.times_memory) {
        const std::int64_t nodes = (ranks + input.ranks_per_node - 1) / input.ranks_per_node;
        const auto of_node = static_cast<double>(find_memory().total_bytes);
        auto fits = p.fill_memory(of_node * static_cast<double>(nodes), workers);
        if (!fits) return std::move(fits.error());
    }
    const double all = static_cast<double>(workers) * static_cast<double>(p.segments) *
                       static_cast<double>(p.block.count);
    const double rate = p.rate_limit ? std::min(input.rate, p.rate_limit->count) : input.rate;
    Table table({{"phase", Table::Align::left}, {"transfer"}, {"calls"}, {"bytes"}, {"time"}});
    Json phases = Json::array();
    double total = 0;
    for (const Bytes transfer : p.transfers) {
        for (const Access access : phases_in_order) {
            if (!p.does(access)) continue;
            const double each =
                p.placement == Placement::strided && p.segments > 0
                    ? static_cast<double>(p.segments) * static_cast<double>(p.block.count)
                    : static_cast<double>(transfer.count);
            double calls = all / each;
            if (p.max_transfers > 0) {
                calls = std::min(
                    calls, static_cast<double>(workers) * static_cast<double>(p.max_transfers));
            }
            double seconds = calls * each / rate;
            if (p.stonewall.count > 0 && seconds > p.stonewall.count) {
                seconds = p.stonewall.count;
                calls = std::max(static_cast<double>(workers), seconds * rate / each);
            }
            seconds = std::max(seconds, p.min_time.count);
            total += seconds;
            table.row({std::string(name(access)), format_exact(transfer),
                       fmt::format("{:.0f}", calls), format_size(calls * each),
                       format_duration(seconds)});
            phases.push_back(Json{{"access", name(access)},
                                  {"transfer_bytes", transfer.count},
                                  {"calls", calls},
                                  {"bytes", calls * each},
                                  {"expected_seconds", seconds}});
        }
    }
    const FileNames names(p, workers);
    std::int64_t files = 0;
    for (const auto& set : names.sets()) files += set.count;
    const auto span = p.until_ci.foretell(p.repetitions, "repetition", total);
    const AgainstMemory memory(all, ranks, input.ranks_per_node);
    Plan plan;
    plan.text = fmt::format(
        "Plan of ior with {}{}, at an assumed {} in all\n"
        "{} with {}; {}\n{}\nexpected duration: {}\n{}",
        count_of(ranks, "rank"), p.threads > 1 ? fmt::format(" of {} threads", p.threads) : "",
        format_rate(rate), count_of(files, "file"), format_size(all), span.repetitions,
        memory.text(), span.duration, table.text(2));
    plan.data = Json{{"benchmark", "ior"},
                     {"ranks", ranks},
                     {"workers", workers},
                     {"files", files},
                     {"bytes", all},
                     {"repetitions", p.repetitions},
                     {"assumed_rate_bytes_per_second", rate},
                     {"expected_seconds", span.most_seconds},
                     {"against_memory", memory.to_json()},
                     {"phases", std::move(phases)}};
    if (p.until_ci.on()) plan.data["until_ci"] = span.data;
    return plan;
}

}  // namespace effio::ior
