// SPDX-License-Identifier: BSD-3-Clause
// The options of overlap.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/overlap/definition.hpp"
#include "core/options.hpp"
#include "frame/cold.hpp"
#include "frame/data_options.hpp"
#include "frame/until_ci.hpp"
#include "storage/backends.hpp"

namespace effio::overlap {

struct Parameters {
    std::vector<Method> methods;
    std::vector<Bytes> transfers{Bytes{64 * KiB}, Bytes{MiB}, Bytes{16 * MiB}};
    std::vector<WorkKind> works{WorkKind::compute};
    std::optional<Seconds> work_time;
    Bytes work_memory{64 * MiB};
    std::int64_t polls = 0;
    std::vector<std::string> phases{"write", "read"};
    bool direct = false;
    CacheOptions cache;
    bool verify = true;
    DataOptions data;
    std::int64_t repetitions = 10;
    UntilCiOptions until_ci;
    std::string directory = ".";
    BackendChoice backend;
    std::optional<Bytes> max_bytes;
    bool keep = false;
    bool overwrite = false;
    bool node_local = false;

    Parameters() { backend.name = "mpiio"; }
    void declare(OptionTable& table);
    Status check();

    bool virtual_time() const { return backend.name == "sim"; }
    bool writes() const;
    bool reads() const;
    std::int64_t largest() const;
    std::vector<bool> accesses() const;  ///< true: write
    /// The backend that a method uses.
    BackendChoice backend_of(Method method) const;

    // Filled by check().
    bool methods_given = false;
    std::vector<Method> effective_methods;  ///< but for what only the run can say
    std::vector<std::string> left_out;      ///< why others are not
};

}  // namespace effio::overlap
