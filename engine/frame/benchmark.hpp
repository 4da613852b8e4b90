// SPDX-License-Identifier: BSD-3-Clause
// A benchmark as the engine sees it: a table of options, a plan, and a run. It knows nothing of
// argv, result files or the launcher.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/fields.hpp"
#include "core/json.hpp"
#include "core/options.hpp"
#include "core/record.hpp"
#include "frame/observers.hpp"
#include "frame/plan.hpp"
#include "parallel/session.hpp"
#include "parallel/topology.hpp"
#include "storage/run_marks.hpp"
#include "storage/sim.hpp"

namespace effio {

/// How a run ended; becomes the `end` line and the exit code.
struct Ending {
    ExitCode status = ExitCode::done;
    std::string reason;
    std::vector<Error> errors;
    Json detail = Json::object();

    static Ending from(const Error& error) { return {error.exit_code, error.text(), {error}, {}}; }
};

/// What a running benchmark can use.
struct Job {
    Session& session;
    const Topology& topology;
    const SimRoom* room;  ///< null unless time is virtual
    /// Writes the `run` line; `extra` holds what only the benchmark knows (file system, manifest,
    /// backend). To be called once, before anything is created.
    std::function<void(Json extra)> announce;
    RunMarks* marks = nullptr;  ///< made when the run is announced; null: none are made
};

class Benchmark : public Interface {
  public:
    virtual std::string_view name() const = 0;     ///< as on the command line: "b-eff-io"
    virtual std::string_view purpose() const = 0;  ///< one sentence
    virtual std::string examples() const { return {}; }
    virtual void declare(OptionTable& table) = 0;
    /// Rules between options; before MPI is started.
    virtual Status check() { return {}; }
    /// True if the run is in virtual time (`sim`).
    virtual bool virtual_time() const { return false; }
    /// Rules that need only the number of ranks and arithmetic, such as a --max-bytes that is too
    /// small. Called before any file is created, including the result file.
    virtual Status fits(int /*ranks*/) const { return {}; }
    virtual Result<Plan> plan(const PlanInput& input) const = 0;
    /// What its result file holds.
    virtual ResultInfo results() const = 0;
    /// Directories that have to be there on every node before the run; part of the plan, so that a
    /// wrong path costs no launch.
    virtual std::vector<std::string> needed_directories() const { return {}; }
    /// Collective over the session's ranks.
    virtual Ending run(Job& job) = 0;
};

}  // namespace effio
