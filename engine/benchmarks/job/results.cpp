// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/job/results.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace effio {

Result<std::unique_ptr<Results>> open_results(const Comm& comm, const Benchmark& benchmark,
                                              const JobOptions& options,
                                              const Invocation& invocation) {
    const std::string name(benchmark.name());
    if (invocation.classic.empty() || !options.result.empty()) {
        return Results::open(comm, options.result, name);
    }
    std::vector<std::string> places;
    const char* given = std::getenv("EFFIO_RESULT");
    if (given != nullptr && *given != '\0') places.emplace_back(given);
    places.emplace_back();  // the working directory
    const char* temporary = std::getenv("TMPDIR");
    places.push_back((temporary != nullptr && *temporary != '\0' ? temporary : "/tmp") +
                     std::string("/"));
    auto results = Results::open_somewhere(comm, places, name);
    if (comm.is_root() && !results->remark().empty()) {
        fmt::print(stderr, "effio-mpi: {}\n", results->remark());
    }
    return results;
}

}  // namespace effio
