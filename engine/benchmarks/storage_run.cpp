// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/storage_run.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <utility>

namespace effio {

void announce(Job& job, const Target& target, Json extra) {
    extra["file_system"] = target.file_system() ? target.file_system()->to_json() : Json(nullptr);
    if (!extra.contains("manifest")) extra["manifest"] = target.manifest();
    job.announce(std::move(extra));
}

CleanUp::CleanUp(Session& session, const Target& target) : session_(session) {
    session_.clean_up = [&target] { target.remove_all_quietly(); };
}

CleanUp::~CleanUp() {
    session_.clean_up = [] {};
}

Status check_cap(const Target& target, const std::string& directory, double bytes,
                 const std::string& what, const std::string& advice) {
    const ByteCap& cap = target.cap();
    if (bytes <= static_cast<double>(cap.bytes)) return {};
    return io_error("plan the run", directory,
                    fmt::format("{} {}, but the cap is {} ({}); {}", what, format_size(bytes),
                                format_size(static_cast<double>(cap.bytes)), cap.why, advice));
}

void add(Ending& ending, const Status& more) {
    if (more) return;
    ending.errors.push_back(more.error());
    ending.status = graver(ending.status, more.error().exit_code);
    if (ending.reason.empty()) ending.reason = more.error().text();
}

HintVocabulary vocabulary_of_mpi() {
    HintVocabulary words;
    // The constants count the closing null of C; Open MPI aborts the job on a longer key.
    words.max_key_length = MPI_MAX_INFO_KEY - 1;
    words.max_value_length = MPI_MAX_INFO_VAL - 1;
    return words;
}

Status require(std::string_view backend,
               std::initializer_list<std::pair<bool, const char*>> needs) {
    for (const auto& [present, what] : needs) {
        if (present) continue;
        return usage_error(fmt::format("backend {} lacks what this run needs: {}", backend, what));
    }
    return {};
}

}  // namespace effio
