// SPDX-License-Identifier: BSD-3-Clause
// The frame for studies: a benchmark that is a list of cells. Its author derives from
// StudyBenchmark and gives name, purpose, and `define`: the cells for a number of ranks.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "frame/benchmark_with.hpp"
#include "frame/study/cell.hpp"
#include "frame/study/options.hpp"
#include "frame/study/result.hpp"
#include "storage/target.hpp"

namespace effio::study {

/// What all cells would do, by arithmetic, and `further` work.
Plan make_plan(const Definition& definition, const Options& options, const PlanInput& input,
               const Load& further = {});

/// All that is in the results of a study.
ResultInfo result_info(const Definition& definition);

/// Whether the given --max-bytes is large enough.
Status check_cap(const Definition& definition, const Options& options);

/// What is done after the cells and is none. Its files are declared and removed with theirs.
struct FurtherWork {
    std::vector<FileSet> files;
    std::function<void(const Target&)> work;  ///< collective
};

/// Collective. `more` sees the run next to records and console; may be null, and so may `further`.
Ending run(Job& job, const Definition& definition, const Options& options, Observer* more,
           const FurtherWork* further = nullptr);

/// `Parameters` derive from Options.
template <class Parameters>
class StudyBenchmark : public BenchmarkWith<Parameters> {
  public:
    Result<Plan> plan(const PlanInput& input) const override {
        auto definition = define(input.ranks);
        if (!definition) return std::move(definition.error());
        return make_plan(*definition, this->parameters_, input, further_load(input));
    }
    Status fits(int ranks) const override {
        if (!this->parameters_.storage.max_bytes) return {};
        const auto definition = define(ranks);
        return definition ? check_cap(*definition, this->parameters_) : Status(definition.error());
    }
    /// Results of the cells with the options given; a study of one process alone has no other.
    ResultInfo results() const override {
        ResultInfo info;
        for (const int ranks : {8, 4, 2, 1}) {
            const auto definition = define(ranks);
            if (!definition) continue;
            info = result_info(*definition);
            break;
        }
        add_figures(info);
        return info;
    }
    std::vector<std::string> needed_directories() const override {
        return this->parameters_.storage.needed_directories();
    }
    Ending run(Job& job) override {
        auto definition = define(job.session.comm.size());
        if (!definition) return Ending::from(definition.error());
        return study::run(job, *definition, this->parameters_, view_.get());
    }

  protected:
    explicit StudyBenchmark(std::unique_ptr<Observer> view = nullptr) : view_(std::move(view)) {}

    /// Pure; the same on all ranks.
    virtual Result<Definition> define(int ranks) const = 0;
    /// What it records in addition to the frame.
    virtual void add_figures(ResultInfo& /*info*/) const {}
    /// What the run does in addition to its cells.
    virtual Load further_load(const PlanInput& /*input*/) const { return {}; }

  private:
    std::unique_ptr<Observer> view_;  ///< of a classic program
};

}  // namespace effio::study
