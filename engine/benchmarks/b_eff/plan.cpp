// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/b_eff/definition.hpp"
#include "benchmarks/b_eff/messages.hpp"
#include "core/fields.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "parallel/system.hpp"

namespace effio::b_eff {
namespace {

constexpr std::int64_t buffers = 2;
constexpr std::int64_t messages_in_buffer = 6;

/// Seconds of one repetition, one method and one length: the loop time, or one loop and one before
/// it over all patterns where that takes longer. The ranks of a pattern send at the same time.
double expected_seconds(const Parameters& p, const std::vector<Pattern>& patterns,
                        std::int64_t bytes, double rate) {
    double loop = 0;
    for (const Pattern& pattern : patterns) {
        loop += static_cast<double>(bytes) * static_cast<double>(pattern.messages()) /
                (rate * std::max(pattern.participants(), 1));
    }
    return std::max(p.loop_seconds(), 2 * loop);
}

/// Bytes of a rank that hold messages.
struct Memory {
    std::int64_t buffers = 0;
    std::int64_t verification = 0;
    std::int64_t pairs = 0;  ///< on top: the pairs of ranks come last

    std::int64_t all() const { return buffers + verification + pairs; }

    std::string text() const {
        const auto size = [](std::int64_t bytes) {
            return format_size(static_cast<double>(bytes));
        };
        std::string text = size(buffers) + " of message buffers";
        if (verification > 0) {
            text +=
                fmt::format(", {} to keep messages until they are verified", size(verification));
        }
        if (pairs > 0) text += fmt::format(", {} for the pairs of ranks", size(pairs));
        return text;
    }
};

Memory memory_of(const Parameters& p, std::int64_t lmax) {
    Memory memory;
    memory.buffers = buffers * messages_in_buffer * lmax;
    memory.verification =
        static_cast<std::int64_t>(Messages::verification_bytes(lmax, p.network.verify));
    if (p.pairs != Pairs::none) {
        const auto bytes = static_cast<std::size_t>(p.pairs_bytes.count);
        const std::size_t kept = p.network.verifies_all() ? KeptMessages::bytes_for(bytes) : 0;
        memory.pairs = static_cast<std::int64_t>(buffers * bytes + kept);
    }
    return memory;
}

/// A pattern, for programs.
struct PlannedPattern {
    const Pattern& pattern;
    int idle;
};

const Fields<PlannedPattern>& planned_pattern_fields() {
    using P = PlannedPattern;
    static const Fields<P> fields{
        {"number", Unit::count, "in the order of the run",
         [](const P& p) { return p.pattern.number; }},
        {"name", Unit::word, "of the definition", [](const P& p) { return p.pattern.name; }},
        {"family", Unit::word, "rings, random or additional",
         [](const P& p) { return std::string(name(p.pattern.family)); }},
        {"steps", Unit::count, "of a loop", [](const P& p) { return p.pattern.step_count(); }},
        {"messages", Unit::count, "of all ranks in a loop",
         [](const P& p) { return p.pattern.messages(); }},
        {"participants", Unit::count, "ranks that send",
         [](const P& p) { return p.pattern.participants(); }},
        {"idle", Unit::count, "ranks that do not", &P::idle},
        {"counts", Unit::flag, "part of the value b_eff",
         [](const P& p) { return p.pattern.counts(); }}};
    return fields;
}

}  // namespace

Result<Plan> make_plan(const Parameters& parameters, const PlanInput& input) {
    if (input.ranks < 2) return usage_error("b_eff needs at least 2 ranks: --plan-ranks");
    const std::int64_t memory_mib =
        (parameters.memory_per_rank
             ? parameters.memory_per_rank->count
             : static_cast<std::int64_t>(input.node_memory()) / input.ranks_per_node) /
        MiB;
    const MessageLengths lengths(lmax_bytes(memory_mib));
    const auto patterns =
        pattern_table(input.ranks, parameters.random_patterns(), parameters.additional);

    std::int64_t experiments = 0;
    std::int64_t communicators = 0;
    Table table({{"number"},
                 {"pattern", Table::Align::left},
                 {"k"},
                 {"messages of a loop"},
                 {"ranks"},
                 {"idle"},
                 {"in b_eff", Table::Align::left}});
    std::vector<PlannedPattern> rows;
    for (const Pattern& p : patterns) {
        std::int64_t methods = 0;
        for (int m = 0; m < method_count; ++m) {
            if (p.has_method(m) && parameters.uses(static_cast<Method>(m))) ++methods;
        }
        experiments += methods * parameters.repetitions() * length_count;
        communicators += std::int64_t{parameters.repetitions()} * (length_count + 1);
        const int idle = input.ranks - p.participants();
        table.row({std::to_string(p.number), p.name, std::to_string(p.step_count()),
                   std::to_string(p.messages()), std::to_string(p.participants()),
                   std::to_string(idle), p.counts() ? "yes" : "no"});
        rows.push_back({p, idle});
    }
    Estimate estimate(
        {parameters.rounds, "round", &parameters.until_ci}, [&](const Assumed& assumed) {
            Load load;
            for (const std::int64_t bytes : lengths.bytes) {
                load.seconds +=
                    expected_seconds(parameters, patterns, bytes, assumed.speed * input.rate) *
                    parameters.repetitions() * static_cast<double>(parameters.methods.size());
            }
            return load;
        });
    estimate.assume_network(input.rate);
    const Memory memory = memory_of(parameters, lengths[length_count - 1]);

    Plan plan;
    plan.text = fmt::format(
        "Plan of b_eff with {}, {} memory per rank, at an assumed {} for each rank\n"
        "messages of 1 B to {} ({} lengths), {}, {}, {}: {}\n"
        "memory per rank: {}, and about {} for the order and the counts of a pattern\n"
        "{}{}{}\n{}",
        count_of(input.ranks, "rank"), format_size(static_cast<double>(memory_mib * MiB)),
        format_rate(input.rate), shown_size(Bytes{lengths[length_count - 1]}), length_count,
        count_of(std::ssize(patterns), "pattern"),
        count_of(std::ssize(parameters.methods), "method"),
        count_of(parameters.repetitions(), "repetition"), count_of(experiments, "experiment"),
        memory.text(), format_size(64.0 * input.ranks),
        parameters.rounds > 1 ? estimate.repetitions() + "\n" : std::string(), estimate.text(),
        parameters.shorten_after.count > 0 ? "less if the longest sizes are shortened\n" : "",
        table.text(2));
    std::vector<std::string> methods;
    for (const Method m : parameters.methods) methods.emplace_back(option_name(m));
    plan.facts = {
        {"benchmark", Unit::word, "its name", std::string("b-eff")},
        {"ranks", Unit::count, "of the run", input.ranks},
        {"assumed_rate_bytes_per_second", Unit::bytes_per_second, "of each rank", input.rate},
        {"lmax_bytes", Unit::bytes, "the longest message", lengths[length_count - 1]},
        {"lengths_bytes", Unit::bytes, "of all lengths",
         std::vector(lengths.bytes.begin(), lengths.bytes.end())},
        {"repetitions", Unit::count, "of each experiment", parameters.repetitions()},
        {"methods", Unit::word, "of communication", methods},
        {"experiments", Unit::count, "in all", experiments},
        {"communicators", Unit::count, "that are made", communicators},
        {"memory_per_rank_bytes", Unit::bytes, "of messages", memory.all()},
        {"rounds", Unit::count, "at most", parameters.rounds},
        {"expected_seconds", Unit::seconds, "at the assumed rate", estimate.expected().seconds},
        {"patterns", planned_pattern_fields(), "in the order of the run", rows}};
    plan.estimate = std::move(estimate);
    return plan;
}

}  // namespace effio::b_eff
