// SPDX-License-Identifier: BSD-3-Clause
// The options of the library comparison.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/cold.hpp"
#include "benchmarks/libraries/definition.hpp"
#include "benchmarks/storage_options.hpp"
#include "core/options.hpp"

namespace effio::libraries {

/// As many cells for each process, or in all.
enum class Scaling : char { weak, strong };
inline const char* name(Scaling scaling) {
    return scaling == Scaling::weak ? "weak" : "strong";
}

struct Parameters {
    std::vector<std::int64_t> edges{96};
    Scaling scaling = Scaling::weak;
    std::vector<std::int64_t> processes;
    std::int64_t variables = default_variables;
    std::vector<std::string> libraries;
    std::vector<std::string> hint_sets{"none", "largeblock"};
    std::vector<std::string> own_sets;
    bool fsync = true;
    bool read = true;
    Readers reader = Readers::same;
    CacheOptions cache;
    std::int64_t repetitions = 1;
    std::string directory = ".";
    std::string prefix = "libraries_";
    std::string backend_settings;  ///< of sim or null
    std::optional<Bytes> max_bytes;
    bool keep = false;
    bool overwrite = false;
    bool call_times = true;

    void declare(OptionTable& table);
    Status check();

    /// The sets to compare, "none" first; filled by check().
    std::vector<HintSet> sets;
    std::vector<std::int64_t> processes_in_force(int ranks) const;
    Volume volume(std::int64_t edge, std::int64_t count, int ranks) const;
    bool virtual_time() const { return libraries == std::vector<std::string>{"sim"}; }
    BackendChoice backend(const std::string& library, const HintSet& set) const;

    /// Every library of this program that writes real files.
    static std::vector<std::string> all_libraries();
    /// Why libraries that would be compared by default are not: this program lacks them.
    std::vector<std::string> absent;
};

}  // namespace effio::libraries
