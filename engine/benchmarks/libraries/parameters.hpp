// SPDX-License-Identifier: BSD-3-Clause
// The options of the library comparison, and the study that follows from them.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/libraries/definition.hpp"
#include "frame/benchmark.hpp"
#include "frame/study/options.hpp"

namespace effio::libraries {

/// As many cells for each process, or in all.
enum class Scaling : char { weak, strong };
inline const char* name(Scaling scaling) {
    return scaling == Scaling::weak ? "weak" : "strong";
}

struct Parameters : study::Options {
    std::vector<std::int64_t> edges{96};
    Scaling scaling = Scaling::weak;
    std::vector<std::int64_t> processes;
    std::int64_t variables = default_variables;
    std::vector<std::string> libraries;
    std::vector<std::string> hint_sets{"none", "largeblock"};
    std::vector<std::string> own_sets;
    bool read = true;
    std::string prefix = "libraries_";
    std::string backend_settings;  ///< of sim or null

    /// The rates of the definition exclude the flush.
    Parameters() : Options("", Serves::arrays) { fsync = study::Sync::separate; }
    void declare(OptionTable& table);
    Status check();

    /// The sets to compare, "none" first; filled by check().
    std::vector<HintSet> sets;
    std::vector<std::int64_t> processes_in_force(int ranks) const;
    Volume volume(std::int64_t edge, std::int64_t count, int ranks) const;
    bool virtual_time() const { return libraries == std::vector<std::string>{"sim"}; }
    /// The library with its settings, or why they cannot be.
    Result<BackendChoice> backend(const std::string& library, const HintSet& set) const;

    /// Every library of this program that writes real files.
    static std::vector<std::string> all_libraries();
    /// Why libraries that would be compared by default are not: this program lacks them.
    std::vector<std::string> absent;
};

/// A library with a set of hints.
struct LibrarySetup {
    std::string library;
    const HintSet* set;
    BackendChoice backend;
    std::string version = {};  ///< of the library that runs, if it is there
    Json settings = Json::object();
};

/// All that are compared, and why some pairs of the options are not.
struct Selection {
    std::vector<LibrarySetup> methods;
    std::vector<std::string> left_out;
};
/// Those whose settings can be. With a job, libraries are looked at: what a set does not reach is
/// left out.
Selection select(const Parameters& parameters, Job* job);

Result<study::Definition> define(const Parameters& parameters, const Selection& selection,
                                 int ranks);

}  // namespace effio::libraries
