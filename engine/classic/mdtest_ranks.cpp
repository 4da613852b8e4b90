// SPDX-License-Identifier: BSD-3-Clause
// The file of mdtest's --saveRankPerformanceDetails.
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "classic/mdtest.hpp"
#include "frame/rank_csv.hpp"

namespace effio {
namespace {

using mdtest::ItemKind;
using mdtest::PhaseResult;
using mdtest::RankDetail;
using mdtest::RunResult;

std::string pair_of(double operations, double seconds) {
    return fmt::format(",{:.10e},{:.10e}", rate_of(operations, seconds), seconds);
}

class ClassicRankTable : public mdtest::RankTable {
  public:
    std::string header() const override {
        std::string line = "rank,items";
        for (const MdtestPhaseTitle& pair : mdtest_phase_titles) {
            line += fmt::format(",rate-{0},time-{0}", pair.title);
        }
        return line;
    }
    /// A line has all phases of an iteration, so none is ready before the end.
    std::string phase(const PhaseResult& r) override {
        if (iterations_.empty() || iterations_.back().ranks != r.ranks ||
            iterations_.back().number != r.iteration) {
            iterations_.push_back({r.ranks, r.iteration, {}});
        }
        for (std::size_t i = 0; i < mdtest_phase_titles.size(); ++i) {
            if (!r.has_rate() || mdtest_phase_titles.at(i).thing != r.phase->thing ||
                mdtest_phase_titles.at(i).action != r.phase->action) {
                continue;
            }
            iterations_.back().cells.at(i) =
                PhaseDone{static_cast<double>(r.operations), r.total_seconds(), r.rank_details};
        }
        return {};
    }
    std::string end(const RunResult& run) override {
        std::string lines;
        for (const Done& one : iterations_) {
            if (one.number == 0) lines += of_all(one, run.setup.files);
            for (std::size_t rank = 0; rank < static_cast<std::size_t>(one.ranks); ++rank) {
                lines += of_rank(one, rank);
            }
        }
        return lines;
    }

  private:
    /// A phase that was done and has a rate.
    struct PhaseDone {
        double operations = 0;
        double seconds = 0;
        std::vector<RankDetail> ranks;
    };
    struct Done {
        int ranks = 1;
        std::int64_t number = 0;
        std::array<std::optional<PhaseDone>, mdtest_phase_titles.size()> cells;
    };

    static std::string of_all(const Done& one, std::int64_t items) {
        std::string line = fmt::format("all,{}", items);
        for (const auto& cell : one.cells) {
            line += cell ? pair_of(cell->operations, cell->seconds) : ",,";
        }
        return line + "\n";
    }
    /// Trees are not a task's own, so its line ends before their columns.
    static std::string of_rank(const Done& one, std::size_t rank) {
        std::string line = fmt::format("{},", rank);
        for (std::size_t i = 0; i < mdtest_phase_titles.size(); ++i) {
            if (mdtest_phase_titles.at(i).thing == ItemKind::tree) continue;
            const auto& cell = one.cells.at(i);
            if (!cell || rank >= cell->ranks.size()) {
                line += ",,";
                continue;
            }
            const RankDetail& mine = cell->ranks.at(rank);
            line += pair_of(static_cast<double>(mine.operations), mine.work);
        }
        return line + "\n";
    }

    std::vector<Done> iterations_;
};

}  // namespace

std::unique_ptr<mdtest::RankTable> make_classic_mdtest_rank_table() {
    return std::make_unique<ClassicRankTable>();
}

}  // namespace effio
