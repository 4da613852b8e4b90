// SPDX-License-Identifier: BSD-3-Clause
// How a run on storage begins and ends: it is announced before anything is created, and whatever
// way it ends, what it created is removed.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "benchmarks/benchmark.hpp"
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
    return request;
}

/// Of a measurement: what was asked of the library, what it says, and whether that is an echo.
void set_hints(Measurement& measurement, const Hints& asked, const GrantedHints& granted);

/// The vocabulary of a hints file with the lengths that this MPI can bear, else empty.
HintVocabulary vocabulary_of_mpi();

/// Refuses the backend of this name if it lacks what the benchmark needs: (present, what for).
Status require(std::string_view backend, std::initializer_list<std::pair<bool, const char*>> needs);

/// A backend of any interface as the run line tells it.
template <class Backend>
Json describe_backend(const Backend& backend) {
    return Json{{"name", backend.name()}, {"settings", backend.describe()}};
}

/// Writes the `run` line with `extra`, the file system, and the manifest unless `extra` has one. To
/// be called before anything is created: what a killed run leaves is found through this line.
void announce(Job& job, const Target& target, Json extra);

/// As long as it lives, an end that is not orderly (watchdog, second signal, deadline) removes what
/// the run created. `target` must outlive it.
class CleanUp {
  public:
    CleanUp(Session& session, const Target& target);

  private:
    AtAbruptEnd act_;
};

/// An error if `bytes` do not fit under the cap of the target: "`what` 3 GiB, but the cap is 1 GiB
/// (why); `advice`". On a classic command line a cap that nobody gave only warns, as long as
/// anything is left: the original would go on.
Status check_cap(const Session& session, const Target& target, const std::string& directory,
                 double bytes, const std::string& what, const std::string& advice);

/// What ended a run, the gravest first: an error, a signal, or so many wrong `pieces` ("3 errors")
/// in the data read back. `before`: what is complete before the signal, "passes".
Ending ending_of(const std::optional<Error>& error, bool interrupted, std::string_view before,
                 std::int64_t wrong, const std::string& pieces);

/// The step of a rank that takes no part in what others measure.
void wait_for_others(Session& session, const std::string& them);

/// One more thing that was done at the end; its failure makes the ending as grave as itself.
void add(Ending& ending, const Status& more);

}  // namespace effio
