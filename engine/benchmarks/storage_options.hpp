// SPDX-License-Identifier: BSD-3-Clause
// The options that all benchmarks of storage share.
#pragma once

#include <optional>
#include <string>

#include "core/options.hpp"
#include "storage/backends.hpp"
#include "storage/target.hpp"

namespace effio {

struct StorageOptions {
    Serves needs;
    std::string directory = ".";
    BackendChoice backend;
    std::optional<std::string> hints_file;
    std::optional<Bytes> max_bytes;
    bool keep = false;
    bool overwrite = false;
    std::string call_times = "on";

    explicit StorageOptions(std::string default_backend, Serves what = Serves::bytes)
        : needs(what) {
        backend.name = std::move(default_backend);
    }
    void declare(OptionTable& table);
    /// Reads the backend's settings; call from Benchmark::check.
    Status check();
    bool virtual_time() const { return backend.name == "sim"; }
    bool times_calls() const { return call_times == "on"; }
};

/// Refuses a backend that lacks what the benchmark needs; `needs` are pairs of (present, what for).
Status require(const Storage& storage, std::initializer_list<std::pair<bool, const char*>> needs);

}  // namespace effio
