// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/storage_run.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <utility>

namespace effio {

void announce(Job& job, const Target& target, Json extra) {
    extra["file_system"] = target.file_system() ? target.file_system()->to_json() : Json(nullptr);
    if (!extra.contains("manifest")) extra["manifest"] = target.manifest();
    if (target.file_system()) job.session.results.rescue_to(target.file_system()->path);
    job.announce(std::move(extra));
}

CleanUp::CleanUp(Session& session, const Target& target)
    : act_(session, [&target] { target.remove_all_quietly(); }) {}

Status check_cap(const Session& session, const Target& target, const std::string& directory,
                 double bytes, const std::string& what, const std::string& advice) {
    const ByteCap& cap = target.cap();
    if (bytes <= static_cast<double>(cap.bytes)) return {};
    Error error =
        io_error("plan the run", directory,
                 fmt::format("{} {}, but the cap is {} ({}); {}", what, format_size(bytes),
                             format_size(static_cast<double>(cap.bytes)), cap.why, advice));
    if (!session.classic || target.cap_given() || cap.bytes <= 0) return error;
    if (session.comm.is_root()) {
        fmt::print(stderr, "WARNING: {} {}, and there are {} ({})\n", what, format_size(bytes),
                   format_size(static_cast<double>(cap.bytes)), cap.why);
    }
    return {};
}

Result<StorageRun> StorageRun::begin(Job& job, Target::Request request, bool real_files,
                                     const CacheOptions& cache, const StorageNeeds& needs) {
    const std::string directory = request.directory;
    auto target = Target::prepare(job.session, real_files, std::move(request));
    if (!target) return target.error();
    if (needs.bytes > 0) {
        auto fits =
            check_cap(job.session, *target, directory, needs.bytes, needs.what, needs.advice);
        if (!fits) return fits.error();
    }
    auto held = needs.hold ? hold_of_node(job.session, job.topology, needs.hold->count)
                           : hold_memory(job.session, job.topology, cache);
    if (!held) return held.error();
    return StorageRun(std::move(*target), std::move(*held));
}

void StorageRun::announce(Job& job, std::optional<Json> extra) {
    if (extra) effio::announce(job, *target_, std::move(*extra));
    clean_up_ = std::make_unique<const CleanUp>(job.session, *target_);
}

Ending StorageRun::end(Session& session, Storage& storage, Ending ending) const {
    add(ending, target_->remove_files(session, storage));
    return ending;
}

Ending ending_of(const std::optional<Error>& error, bool interrupted, std::string_view before,
                 std::int64_t wrong, const std::string& pieces) {
    if (error) return Ending::from(*error);
    Ending ending;
    if (interrupted) {
        ending.status = ExitCode::interrupted;
        ending.reason = fmt::format("stopped by a signal; the {} before it are complete", before);
    } else if (wrong > 0) {
        ending.status = ExitCode::data_errors;
        ending.reason = pieces + " in the data read back";
    }
    return ending;
}

void wait_for_others(Session& session, const std::string& them) {
    constexpr double as_long_as_it_takes = 1e9;
    Progress::Step step;
    step.title = "waiting for " + them;
    step.allowance_seconds = as_long_as_it_takes;
    session.progress.begin(step);
}

void add(Ending& ending, const Status& more) {
    if (more) return;
    ending.errors.push_back(more.error());
    ending.status = graver(ending.status, more.error().exit_code);
    if (ending.reason.empty()) ending.reason = more.error().text();
}

void set_hints(Measurement& measurement, const Hints& asked, const GrantedHints& granted) {
    measurement.hints_asked = asked.to_json();
    measurement.hints_granted = granted.to_json();
    // Without hints there is no canary either.
    if (!asked.empty()) measurement.hints_echoed = granted.echoes;
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
