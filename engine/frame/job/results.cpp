// SPDX-License-Identifier: BSD-3-Clause
#include "frame/job/results.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace effio {
namespace {

/// Where the next runs of a job go that names one file for all of them: NAME-2, NAME-3, … next to
/// it, before the extension. Several, because another job may take the first free one.
void add_siblings(const std::string& file, std::vector<std::string>& places) {
    namespace fs = std::filesystem;
    constexpr int most = 4;
    const fs::path whole = file;
    std::error_code failed;
    if (file.ends_with('/') || !fs::is_regular_file(whole, failed)) return;
    for (int number = 2, found = 0; found < most; ++number) {
        fs::path sibling = whole;
        sibling.replace_filename(
            fmt::format("{}-{}{}", whole.stem().string(), number, whole.extension().string()));
        if (fs::exists(sibling, failed)) continue;
        places.push_back(sibling.string());
        ++found;
    }
}

}  // namespace

Result<std::unique_ptr<Results>> open_results(const Comm& comm, const Benchmark& benchmark,
                                              const JobOptions& options,
                                              const Invocation& invocation) {
    const std::string name(benchmark.name());
    if (invocation.classic.empty() || !options.result.empty()) {
        return Results::open(comm, options.result, name);
    }
    std::vector<std::string> places;
    const char* given = std::getenv("EFFIO_RESULT");
    if (given != nullptr && *given != '\0') {
        places.emplace_back(given);
        if (comm.is_root()) add_siblings(places.front(), places);
    }
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
