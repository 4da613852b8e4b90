// SPDX-License-Identifier: BSD-3-Clause
// The classic mdtest: today's command line and SUMMARY tables (docs/definitions/mdtest.md), with
// units that are what the headings say.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/mdtest/result.hpp"
#include "classic/classic.hpp"

namespace effio {

Result<ClassicProgram::Translation> translate_mdtest(const std::vector<std::string>& words,
                                                     const std::vector<std::string>& own = {});

/// What the classic output depends on in addition to the results.
struct ClassicMdtest {
    std::vector<std::string> words;  ///< the command line
    std::vector<std::string> notes;  ///< for stderr: what is meant by options of old
    bool rates = true;
    bool times = false;
    bool each_phase = false;       ///< -v: a line after each phase
    bool rank_statistics = false;  ///< tables have the ranks' own rates, too
    bool all_ranks = false;        ///< each rank's figures before each table
};

/// A kind of phase, as the original lists it: a row of its summary, a line for each rank, two
/// columns of its rank file.
struct MdtestPhaseTitle {
    mdtest::ItemKind thing;
    mdtest::Action action;
    const char* title;
    bool in_summary = true;
};
/// Titles of the phases, in the original's order.
inline constexpr std::array mdtest_phase_titles{
    MdtestPhaseTitle{mdtest::ItemKind::directory, mdtest::Action::create, "Directory creation"},
    MdtestPhaseTitle{mdtest::ItemKind::directory, mdtest::Action::stat, "Directory stat"},
    // The original lists it, but never does it.
    MdtestPhaseTitle{mdtest::ItemKind::directory, mdtest::Action::read, "Directory read", false},
    MdtestPhaseTitle{mdtest::ItemKind::directory, mdtest::Action::rename, "Directory rename"},
    MdtestPhaseTitle{mdtest::ItemKind::directory, mdtest::Action::remove, "Directory removal"},
    MdtestPhaseTitle{mdtest::ItemKind::file, mdtest::Action::create, "File creation"},
    MdtestPhaseTitle{mdtest::ItemKind::file, mdtest::Action::stat, "File stat"},
    MdtestPhaseTitle{mdtest::ItemKind::file, mdtest::Action::read, "File read"},
    MdtestPhaseTitle{mdtest::ItemKind::file, mdtest::Action::remove, "File removal"},
    MdtestPhaseTitle{mdtest::ItemKind::tree, mdtest::Action::create, "Tree creation"},
    MdtestPhaseTitle{mdtest::ItemKind::tree, mdtest::Action::remove, "Tree removal"}};

/// Samples of the ranks in a phase, over all iterations.
struct MdtestRankSamples {
    const mdtest::Phase* phase = nullptr;
    int ranks = 1;
    Samples rates;         ///< op/s, to the end of the rank's own last call
    Samples milliseconds;  ///< of an operation
};

struct MdtestRankFigures {
    double rate = 0;     ///< op/s, to the end of the rank's own last call
    double seconds = 0;  ///< until then
};

/// One phase of one iteration: the figures of each of its ranks.
struct MdtestRankPhase {
    const mdtest::Phase* phase = nullptr;
    int ranks = 1;
    std::int64_t iteration = 0;
    std::vector<MdtestRankFigures> figures;
};

struct MdtestRanks {
    std::span<const MdtestRankSamples> samples;
    std::span<const MdtestRankPhase> phases;
};

/// The tables of one number of tasks, each after an empty line; phases that were not run are 0.000,
/// as in the original. With settings.rank_statistics the first columns are those of the ranks; with
/// settings.all_ranks the figures of each rank come before each table.
std::string classic_mdtest_summary(const ClassicMdtest& settings, const mdtest::RunResult& run,
                                   int ranks, const MdtestRanks& of_ranks = {});

/// --saveRankPerformanceDetails: what all tasks did in the first iteration, and a line for each
/// task of each iteration; rates and seconds by phases.
std::unique_ptr<mdtest::RankTable> make_classic_mdtest_rank_table();

/// Prints on stdout.
std::unique_ptr<mdtest::Observer> make_classic_mdtest_view(ClassicMdtest settings);

}  // namespace effio
