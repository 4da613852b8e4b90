// SPDX-License-Identifier: BSD-3-Clause
// The options of mdtest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/mdtest/phases.hpp"
#include "benchmarks/mdtest/workload.hpp"
#include "core/options.hpp"
#include "frame/data_options.hpp"
#include "frame/storage_options.hpp"
#include "frame/until_ci.hpp"

namespace effio::mdtest {

/// What is created, looked at and removed.
enum class ItemSelection : char { both, files, directories };
/// The call that creates a file.
enum class CreateWith : char { open, mknod };

struct Parameters {
    std::int64_t branching = 1;
    std::int64_t depth = 0;
    bool leaf_only = false;
    bool unique = false;
    bool compare_trees = false;
    std::optional<std::int64_t> items;
    std::optional<std::int64_t> per_directory;
    ItemSelection things = ItemSelection::both;
    std::int64_t name_length = 0;
    std::vector<std::string> phases{phase_words()};
    std::vector<std::string> also;
    std::int64_t iterations = 1;
    UntilCiOptions until_ci;
    std::vector<std::int64_t> ranks;
    std::int64_t threads = 1;
    std::int64_t rank_shift = 0;
    bool random_order = false;
    std::int64_t seed = 1;
    DataOptions data;
    std::string find_name = "*01*";
    std::optional<Bytes> find_bytes;
    Bytes write_bytes{0};
    std::optional<Bytes> read_bytes;
    bool verify = false;
    Bytes verify_memory{64 * MiB};
    bool sync_files = false;
    bool sync_phases = false;
    CreateWith create_with = CreateWith::open;
    bool shared_files = false;
    bool by_root = false;
    bool no_barriers = false;
    bool time_entry = false;
    Seconds stonewall{0};
    std::optional<std::string> stonewall_file;
    std::int64_t populate = 0;
    Seconds delay{0};
    bool count = true;
    std::vector<std::string> more_directories;
    bool make_directories = false;
    std::optional<std::string> before_phase;
    std::optional<std::string> after_phase;
    bool rank_details = false;
    std::optional<std::string> save_rank_details;
    std::optional<std::string> save_calls;
    StorageOptions storage{"posix", Serves::names};

    void declare(OptionTable& table);
    Status check();

    Workload workload() const;  ///< after check() found nothing
    bool runs(const Phase& phase) const;
    bool has(std::string_view word) const;
    /// The trees are those of an earlier run.
    bool adopts() const { return !has("create"); }
    bool runs_commands() const { return before_phase || after_phase; }
    bool wants_rank_details() const { return rank_details || save_rank_details; }
    bool removes() const { return has("remove"); }
    /// Memory of each thread for the data of timed reads.
    std::int64_t kept_by_thread() const { return verify ? verify_memory.count / threads : 0; }
    std::int64_t bytes_to_read() const { return read_bytes.value_or(write_bytes).count; }
    std::vector<std::string> bases() const;

  private:
    Status check_combinations() const;
    Workload::Request wish() const;
};

}  // namespace effio::mdtest
