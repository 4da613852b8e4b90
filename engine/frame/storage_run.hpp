// SPDX-License-Identifier: BSD-3-Clause
// How a run on storage begins and ends: it is announced before anything is created, and whatever
// way it ends, what it created is removed.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/fields.hpp"
#include "frame/cold.hpp"
#include "frame/ending.hpp"
#include "parallel/held_memory.hpp"
#include "storage/backends.hpp"
#include "storage/hints.hpp"
#include "storage/target.hpp"

namespace effio {

/// A request without files, from options of a place: directory, overwrite, keep, max_bytes.
template <class Options>
Target::Request request_of(const Options& options) {
    Target::Request request;
    request.directory = options.directory;
    request.overwrite = options.overwrite;
    request.keep = options.keep;
    request.max_bytes = options.max_bytes;
    request.node_local = options.node_local;
    return request;
}

/// Sets the hints of a measurement: those requested, those that the library returned, and whether
/// that is an echo.
void set_hints(Measurement& measurement, const Hints& asked, const GrantedHints& granted);

/// Refuses the backend of this name if it lacks what the benchmark needs.
Status require(std::string_view backend, std::initializer_list<Need> needs);

/// A backend of any interface as the run line has it.
struct BackendOfRun {
    std::string name;
    Json settings;
};
const Fields<BackendOfRun>& backend_fields();
template <class Backend>
Json describe_backend(const Backend& backend) {
    return backend_fields().json({std::string(backend.name()), backend.describe()});
}

/// What a run takes.
struct StorageNeeds {
    double bytes = 0;         ///< at the same time; 0: unknown
    std::string what = {};    ///< "the files need"
    std::string advice = {};  ///< if the cap is too small: "use a smaller --block"
    /// Memory of each node to keep from the page cache, in addition to what the cache options say.
    std::optional<Bytes> hold = {};
};

/// Returns an error if --max-bytes is less than the run needs at least. Models store nothing.
Status check_given_cap(const std::optional<Bytes>& given, bool real, const StorageNeeds& needs);

/// The steps of a run on storage; each is collective.
class StorageRun {
  public:
    /// The place, its cap, and the memory that is held. Nothing is created but directories of
    /// Request::make_directories. On a classic command line a cap that was not given only warns, as
    /// long as anything is left: the original would continue.
    static Result<StorageRun> begin(Job& job, Target::Request request, bool real_files,
                                    const CacheOptions& cache, const StorageNeeds& needs);
    const Target& target() const { return *target_; }
    /// Writes the `run` line with `extra`, the file system, and the manifest unless `extra` has
    /// one, before anything is created: what a killed run leaves is found through this line.
    /// Nothing is reported without `extra`: an earlier part of the run reported it all.
    void announce(Job& job, std::optional<Json> extra);
    /// Removes what was created, unless it is to be kept.
    Ending end(Session& session, Storage& storage, Ending ending) const;
    /// The same of trees, which no Storage knows.
    Ending end(Session& session, Ending ending) const;

  private:
    StorageRun(Target target, HeldMemory held)
        : target_(std::make_unique<const Target>(std::move(target))), held_(std::move(held)) {}

    std::unique_ptr<const Target> target_;
    HeldMemory held_;
    RunMarks* marks_ = nullptr;
    /// An end that is not orderly (watchdog, second signal, deadline) removes what was created.
    std::unique_ptr<const AtAbruptEnd> clean_up_;
};

/// The step of a rank that takes no part in what others measure.
void wait_for_others(Session& session, const std::string& them);

}  // namespace effio
