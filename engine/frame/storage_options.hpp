// SPDX-License-Identifier: BSD-3-Clause
// The options that all benchmarks of storage share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/options.hpp"
#include "frame/cold.hpp"
#include "parallel/session.hpp"
#include "storage/backends.hpp"
#include "storage/hints.hpp"
#include "storage/target.hpp"

namespace effio {

/// What slow storage may still be doing without being hung: it gets at least this rate (B/s).
inline constexpr double slowest_storage = 10e6;

/// Whose data a rank reads back: its own, or those of a rank on the next node.
enum class Readers : char { same, shifted };

struct StorageOptions {
    Serves needs;
    std::string directory = ".";
    BackendChoice backend;
    std::optional<std::string> hints_file;
    std::optional<Bytes> max_bytes;
    bool keep = false;
    bool overwrite = false;
    bool node_local = false;
    bool call_times = true;
    CacheOptions cache;

    explicit StorageOptions(std::string default_backend, Serves what = Serves::bytes)
        : needs(what) {
        backend.name = std::move(default_backend);
    }
    void declare(OptionTable& table);
    // Parts of it, for benchmarks that choose their backends in another way.
    void declare_place(OptionTable& table);
    void declare_rules(OptionTable& table);
    /// Reads the backend's settings; call from Benchmark::check.
    Status check();
    bool virtual_time() const { return backend.name == "sim"; }
    /// The result of Benchmark::needed_directories.
    std::vector<std::string> needed_directories() const;
    bool times_calls() const { return call_times; }
};

/// Collective: the rules of the hints file, read by the root; none without a file.
Result<HintRules> read_hint_rules(const Session& session, const StorageOptions& options,
                                  const HintVocabulary& vocabulary);

/// Refuses a backend that lacks what the benchmark needs; `needs` are pairs of (present, what for).
Status require(const Storage& storage, std::initializer_list<Need> needs);

}  // namespace effio
