// SPDX-License-Identifier: BSD-3-Clause
#include "frame/storage_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "storage/run_marks.hpp"

namespace effio {
namespace {

/// An error if `needs` do not fit under the cap: "the files need 3 GiB, but the cap is 1 GiB (why);
/// advice".
Status check_cap(const Session& session, const Target& target, const std::string& directory,
                 const StorageNeeds& needs) {
    const ByteCap& cap = target.cap();
    if (needs.bytes <= static_cast<double>(cap.bytes)) return {};
    if (target.cap_given()) return check_given_cap(Bytes{cap.bytes}, true, needs);
    const std::string bytes = format_size(needs.bytes);
    const std::string room = format_size(static_cast<double>(cap.bytes));
    Error error = io_error("cannot plan the run in", directory,
                           fmt::format("{} {}, but the cap is {} ({}); {}, or another directory",
                                       needs.what, bytes, room, cap.why, needs.advice));
    if (!session.classic || cap.bytes <= 0) return error;
    if (session.comm.is_root()) {
        fmt::print(stderr, "WARNING: {} {}, and there are {} ({})\n", needs.what, bytes, room,
                   cap.why);
    }
    return {};
}

}  // namespace

const Fields<BackendOfRun>& backend_fields() {
    static const Fields<BackendOfRun> fields{
        {"name", Unit::word, "as in --backend", &BackendOfRun::name},
        {"settings", Unit::object, "options of the backend, with their values",
         &BackendOfRun::settings}};
    return fields;
}

Status check_given_cap(const std::optional<Bytes>& given, bool real, const StorageNeeds& needs) {
    if (!given || !real || needs.bytes <= static_cast<double>(given->count)) return {};
    return usage_error(fmt::format("--max-bytes: {} is too small: {} {}; raise it, or {}",
                                   format_exact(*given), needs.what, format_size(needs.bytes),
                                   needs.advice));
}

Result<StorageRun> StorageRun::begin(Job& job, Target::Request request, bool real_files,
                                     const CacheOptions& cache, const StorageNeeds& needs) {
    const std::string directory = request.directory;
    auto target = Target::prepare(job.session, real_files, std::move(request));
    if (!target) return target.error();
    const auto refuse = [&](Error why) {
        // Directories of Request::make_directories are there already.
        (void)target->remove_trees(job.session);
        target->remove_made_directories();
        return why;
    };
    if (needs.bytes > 0) {
        auto fits = check_cap(job.session, *target, directory, needs);
        if (!fits) return refuse(fits.error());
    }
    auto held = needs.hold ? hold_of_node(job.session, job.topology, needs.hold->count)
                           : hold_memory(job.session, job.topology, cache);
    if (!held) return refuse(held.error());
    return StorageRun(std::move(*target), std::move(*held));
}

void StorageRun::announce(Job& job, std::optional<Json> extra) {
    if (extra) {
        const auto& file_system = target_->file_system();
        (*extra)["file_system"] = file_system ? file_system->to_json() : Json(nullptr);
        if (!extra->contains("manifest")) (*extra)["manifest"] = target_->manifest();
        if (file_system) job.session.results.rescue_to(file_system->path);
        job.announce(std::move(*extra));
    }
    marks_ = job.marks;
    clean_up_ =
        std::make_unique<const AtAbruptEnd>(job.session, [target = target_.get(), marks = marks_] {
            const bool gone = target->remove_all_quietly();
            if (marks != nullptr && !gone) marks->keep();
            if (marks != nullptr) marks->remove();
            target->remove_made_directories();
        });
}

Ending StorageRun::end(Session& session, Storage& storage, Ending ending) const {
    const auto removed = target_->remove_files(session, storage);
    if (!removed && marks_ != nullptr) marks_->keep();
    add(ending, removed);
    return ending;
}

Ending StorageRun::end(Session& session, Ending ending) const {
    const auto removed = target_->remove_trees(session);
    if (!removed && marks_ != nullptr) marks_->keep();
    if (session.comm.is_root() && marks_ != nullptr) marks_->remove();
    target_->remove_made_directories();
    add(ending, removed);
    return ending;
}

void wait_for_others(Session& session, const std::string& them) {
    constexpr double as_long_as_it_takes = 1e9;
    Progress::Step step;
    step.title = "waiting for " + them;
    step.allowance_seconds = as_long_as_it_takes;
    session.progress.begin(step);
}

void set_hints(Measurement& measurement, const Hints& asked, const GrantedHints& granted) {
    measurement.hints_asked = asked.to_json();
    measurement.hints_granted = granted.to_json();
    // Without hints there is no canary either.
    if (!asked.empty()) measurement.hints_echoed = granted.echoes;
}

Status require(std::string_view backend, std::initializer_list<Need> needs) {
    for (const auto& [present, what] : needs) {
        if (present) continue;
        return usage_error(
            fmt::format("backend {} cannot do what this run needs: {}", backend, what));
    }
    return {};
}

}  // namespace effio
