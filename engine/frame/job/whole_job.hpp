// SPDX-License-Identifier: BSD-3-Clause
// A benchmark that has the whole job: it starts MPI itself, forms groups of the ranks and runs
// other benchmarks in them.
#pragma once

#include "frame/benchmark.hpp"
#include "frame/job/options.hpp"

namespace effio {

class WholeJob : public Benchmark {
  public:
    /// Runs from before MPI is started until after it. Returns the exit code that all ranks agreed
    /// on.
    virtual ExitCode run_whole(const JobOptions& options, const OptionTable& table,
                               const Invocation& invocation) = 0;
    /// Never called: such a benchmark is refused as a group of another one.
    Ending run(Job&) final {
        return Ending::from(usage_error("this benchmark needs the whole job"));
    }
};

}  // namespace effio
