// SPDX-License-Identifier: BSD-3-Clause
// What a run would do, by arithmetic.
#include <fmt/format.h>

#include "benchmarks/mdtest/mdtest.hpp"
#include "core/fields.hpp"
#include "core/table.hpp"
#include "frame/cold.hpp"

namespace effio::mdtest {
namespace {

/// Operations of all ranks in a phase. Doubles: a million ranks with many items each.
double operations_of(const Parameters& p, const Workload& w, const Phase& phase, double ranks) {
    const double directories =
        static_cast<double>(w.loops) * static_cast<double>(w.tree.directories());
    const double trees = directories * (w.unique ? ranks : 1.0);
    const double items = static_cast<double>(w.items) * ranks;
    const double rings = static_cast<double>(w.loops) * static_cast<double>(w.holders()) *
                         static_cast<double>(p.threads) * ranks;
    switch (phase.action) {
        case Action::populate:
        case Action::depopulate:
            return static_cast<double>(p.populate) * (w.unique ? ranks : 1.0);
        case Action::list:
            return directories * ranks;
        case Action::find:
            // What is in the trees: files, and directories but their roots.
            return items + static_cast<double>(p.populate) * (w.unique ? ranks : 1.0) + trees -
                   static_cast<double>(w.loops) * (w.unique ? ranks : 1.0);
        case Action::rename:
            return items + rings;
        case Action::move:
            return 2 * items;
        case Action::remove:
            if (phase.thing == ItemKind::tree) return trees;
            return p.shared_files ? static_cast<double>(w.items) : items;
        default:
            return phase.thing == ItemKind::tree ? trees : items;
    }
}

/// A phase of one iteration, for programs.
struct PlannedPhase {
    const Phase& phase;
    double operations;
    double bytes;
};

const Fields<PlannedPhase>& planned_phase_fields() {
    using P = PlannedPhase;
    static const Fields<P> fields{
        {"phase", Unit::word, "its title", [](const P& p) { return std::string(p.phase.title); }},
        {"access", Unit::word, "operation", [](const P& p) { return std::string(p.phase.access); }},
        {"operations", Unit::count, "of all ranks", &P::operations},
        {"bytes", Unit::bytes, "that they move", &P::bytes}};
    return fields;
}

}  // namespace

Result<Plan> make_plan(const Parameters& p, const PlanInput& input) {
    const Workload w = p.workload();
    const double ranks = input.ranks;
    Plan plan;
    const auto all = all_phases();
    std::vector<PlannedPhase> phases;
    Table table({{"phase", Table::Align::left}, {"operations"}, {"bytes"}});
    double total = 0;
    double most_bytes = 0;
    double written = 0;
    double read = 0;
    double files = 0;
    double creates = 0;
    for (const Phase& phase : all) {
        if (!p.runs(phase)) continue;
        const double operations = operations_of(p, w, phase, ranks);
        double bytes = 0;
        if (phase.thing == ItemKind::file && phase.action == Action::create) {
            bytes = operations * static_cast<double>(p.write_bytes.count);
            most_bytes = bytes / (p.shared_files ? ranks : 1);
            written += bytes;
        }
        if (phase.action == Action::read) {
            bytes = operations * static_cast<double>(p.bytes_to_read());
            read += bytes;
        }
        if (phase.action == Action::populate) files += operations;
        if (phase.action == Action::create && phase.thing != ItemKind::tree) {
            creates += operations;
            if (phase.thing == ItemKind::file) files += operations / (p.shared_files ? ranks : 1);
        }
        total += operations;
        table.row({std::string(phase.title), fmt::format("{:.0f}", operations),
                   bytes > 0 ? format_size(bytes) : "-"});
        phases.push_back({phase, operations, bytes});
    }
    constexpr double assumed = 10'000;
    const AgainstMemory against(most_bytes, input);
    const auto one = [&](const Assumed& at) {
        // A stonewall ends the creation; all that follows has as much less to do.
        const double create_seconds =
            creates / (at.speed * assumed) + written / (at.speed * input.rate);
        const double part = p.stonewall.count > 0 && create_seconds > p.stonewall.count
                                ? p.stonewall.count / create_seconds
                                : 1;
        Load load{part * written, part * read};
        load.seconds = part * total / (at.speed * assumed) +
                       (load.written + load.read) / (at.speed * input.rate);
        load.on_storage = part * most_bytes;
        load.files = part * files;
        return load;
    };
    Estimate estimate({p.iterations, "iteration", &p.until_ci}, one);
    estimate.assume(fmt::format("{:.0f} to {:.0f} operations per second and {} to {} in all",
                                Estimate::slow * assumed, Estimate::fast * assumed,
                                format_rate(Estimate::slow * input.rate),
                                format_rate(Estimate::fast * input.rate)));
    total *= static_cast<double>(p.iterations);
    plan.text = fmt::format(
        "Plan of mdtest with {}: {} for each, {} in each of {} of a tree "
        "of {}, {} {}\n{}; each is\n{}{}\n{}",
        count_of(input.ranks, "rank"), count_of(w.items, "item"), w.per_directory,
        count_of(w.holders(), "directory"), w.tree.directories(), w.loops,
        w.unique || w.loops == 1 ? (w.unique ? "tree for each rank" : "tree for all ranks")
                                 : "trees for all ranks",
        estimate.repetitions(), table.text(2), against.text(), estimate.text());
    plan.facts = {
        {"benchmark", Unit::word, "its name", std::string("mdtest")},
        {"ranks", Unit::count, "of the run", input.ranks},
        {"iterations", Unit::count, "at most", p.iterations},
        {"items_per_rank", Unit::count, "files, directories or both", w.items},
        {"items_per_directory", Unit::count, "of a rank", w.per_directory},
        {"directories_per_tree", Unit::count, "with and without items", w.tree.directories()},
        {"test_directories", Unit::count, "of an iteration", w.loops},
        {"bytes_on_storage", Unit::bytes, "the most at any one time", most_bytes},
        against.fact(),
        {"operations", Unit::count, "of all iterations", total},
        {"assumed_operations_per_second", Unit::operations_per_second, "of all ranks", assumed},
        {"expected_seconds", Unit::seconds, "at the assumed rates", estimate.expected().seconds},
        {"phases", planned_phase_fields(), "of one iteration", phases}};
    plan.estimate = std::move(estimate);
    return plan;
}

}  // namespace effio::mdtest
