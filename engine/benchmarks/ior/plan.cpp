// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ior/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/ior/files.hpp"
#include "core/fields.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "frame/cold.hpp"

namespace effio::ior {

namespace {

struct PlannedPhase {
    double calls = 0;
    double each = 0;  ///< bytes of a call
    double seconds = 0;

    double bytes() const { return calls * each; }
};

/// `all`: bytes of a phase without limits; `rate` of all workers.
PlannedPhase phase_of(const Parameters& p, Bytes transfer, double all, double workers, double rate,
                      bool early) {
    PlannedPhase phase;
    phase.each = p.placement == Placement::strided && p.segments > 0
                     ? static_cast<double>(p.segments) * static_cast<double>(p.block.count)
                     : static_cast<double>(transfer.count);
    phase.calls = all / phase.each;
    if (p.max_transfers > 0) {
        phase.calls = std::min(phase.calls, workers * static_cast<double>(p.max_transfers));
    }
    phase.seconds = phase.bytes() / rate;
    double limit = p.stonewall.count > 0 ? p.stonewall.count : phase.seconds;
    if (p.steady && early) {
        limit = std::min(limit, static_cast<double>(p.steady_window) * p.steady_slice.count);
    }
    if (phase.seconds > limit) {
        phase.calls = std::max(workers, limit * rate / phase.each);
        phase.seconds = limit;
    }
    // The data are moved again until the time is over.
    if (phase.seconds < p.min_time.count) {
        phase.calls = std::max(phase.calls, p.min_time.count * rate / phase.each);
        phase.seconds = p.min_time.count;
    }
    return phase;
}

/// A repetition.
Load load_of(const Parameters& p, double all, double workers, const Assumed& assumed,
             const PlanInput& input) {
    const double rate = assumed.speed * input.rate;
    const double held = p.rate_limit ? std::min(rate, p.rate_limit->count) : rate;
    const double read_share = p.mix_read ? *p.mix_read / 100 : 0;
    Load load;
    for (const Bytes transfer : p.transfers) {
        for (const Access access : phases_in_order) {
            if (!p.does(access)) continue;
            const PlannedPhase phase = phase_of(p, transfer, all, workers, held, assumed.early);
            const double reads = access == Access::read    ? 1
                                 : access == Access::mixed ? read_share
                                                           : 0;
            load.read += reads * phase.bytes();
            load.written += (1 - reads) * phase.bytes();
            load.seconds += p.delay.count + phase.seconds;
            if (access != Access::read) {
                load.on_storage = std::max(load.on_storage, std::min(all, phase.bytes()));
            }
        }
    }
    return load;
}

/// A phase at one transfer size, for programs.
struct PhaseRow {
    Access access;
    Bytes transfer;
    PlannedPhase phase;
};

const Fields<PhaseRow>& phase_row_fields() {
    using P = PhaseRow;
    static const Fields<P> fields{
        {"access", Unit::word, "of the phase",
         [](const P& p) { return std::string(name(p.access)); }},
        {"transfer_bytes", Unit::bytes, "of a call", [](const P& p) { return p.transfer.count; }},
        {"calls", Unit::count, "of all workers", [](const P& p) { return p.phase.calls; }},
        {"bytes", Unit::bytes, "that they move", [](const P& p) { return p.phase.bytes(); }},
        {"expected_seconds", Unit::seconds, "at the assumed rate",
         [](const P& p) { return p.phase.seconds; }}};
    return fields;
}

}  // namespace

Result<Plan> make_plan(const Parameters& parameters, const PlanInput& input) {
    Parameters p = parameters;
    const std::int64_t ranks = std::min<std::int64_t>(p.ranks.value_or(input.ranks), input.ranks);
    const std::int64_t workers = ranks * p.threads;
    if (p.times_memory) {
        PlanInput those = input;
        those.ranks = static_cast<int>(ranks);
        auto fits = p.fill_memory(input.node_memory() * those.nodes(), workers);
        if (!fits) return std::move(fits.error());
    }
    const double all = static_cast<double>(workers) * static_cast<double>(p.segments) *
                       static_cast<double>(p.block.count);
    const double rate = p.rate_limit ? std::min(input.rate, p.rate_limit->count) : input.rate;
    Table table({{"phase", Table::Align::left}, {"transfer"}, {"calls"}, {"bytes"}, {"time"}});
    std::vector<PhaseRow> phases;
    for (const Bytes transfer : p.transfers) {
        for (const Access access : phases_in_order) {
            if (!p.does(access)) continue;
            const PlannedPhase phase =
                phase_of(p, transfer, all, static_cast<double>(workers), rate, false);
            table.row({std::string(name(access)), shown_size(transfer),
                       fmt::format("{:.0f}", phase.calls), format_size(phase.bytes()),
                       format_duration(phase.seconds)});
            phases.push_back({access, transfer, phase});
        }
    }
    const FileNames names(p, workers);
    std::int64_t files = 0;
    for (const auto& set : names.sets()) files += set.count;
    const bool writes = p.writes() || p.mixes();
    const double kept =
        p.file_each_repetition && p.storage.keep ? static_cast<double>(p.repetitions) : 1;
    const double files_at_a_time =
        static_cast<double>(files) /
        (p.file_each_repetition && !p.storage.keep ? static_cast<double>(p.repetitions) : 1);
    Estimate estimate({p.repetitions, "repetition", &p.until_ci, p.time_limit.count},
                      [&](const Assumed& assumed) {
                          Load load = load_of(p, all, static_cast<double>(workers), assumed, input);
                          load.on_storage *= kept;
                          load.files = writes ? files_at_a_time : 0;
                          return load;
                      });
    estimate.assume_storage(input.rate);
    PlanInput those = input;
    those.ranks = static_cast<int>(ranks);
    const AgainstMemory memory(all, those);
    Plan plan;
    plan.text = fmt::format(
        "Plan of ior with {}{}, at an assumed {} in all\n"
        "{} with {}; {}\n{}\n{}{}",
        count_of(ranks, "rank"), p.threads > 1 ? fmt::format(" of {} threads", p.threads) : "",
        format_rate(rate), count_of(files, "file"), format_size(all), estimate.repetitions(),
        memory.text(), estimate.text(), table.text(2));
    plan.facts = {
        {"benchmark", Unit::word, "its name", std::string("ior")},
        {"ranks", Unit::count, "that take part", ranks},
        {"workers", Unit::count, "threads of all ranks", workers},
        {"files", Unit::count, "of all repetitions", files},
        {"bytes", Unit::bytes, "of a phase without limits", all},
        {"repetitions", Unit::count, "at most", p.repetitions},
        {"assumed_rate_bytes_per_second", Unit::bytes_per_second, "of the storage", rate},
        {"expected_seconds", Unit::seconds, "at the assumed rate", estimate.expected().seconds},
        memory.fact(),
        {"phases", phase_row_fields(), "of one repetition", phases}};
    plan.estimate = std::move(estimate);
    return plan;
}

}  // namespace effio::ior
