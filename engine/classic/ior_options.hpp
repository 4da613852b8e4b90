// SPDX-License-Identifier: BSD-3-Clause
// IOR's own options as they are on command lines, in -O directives and in scripts
// (docs/definitions/ior.md). Nothing here is translated yet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace effio {

struct IorOptions {
    std::string api = "POSIX";
    std::string test_file = "testFile";
    std::int64_t block = 1 << 20;
    std::int64_t transfer = 256 << 10;
    std::int64_t segments = 1;
    std::int64_t repetitions = 1;
    std::int64_t ref_num = 0;
    std::int64_t num_tasks = 0;
    std::int64_t write = 0;
    std::int64_t read = 0;
    std::int64_t check_write = 0;
    std::int64_t check_read = 0;
    std::int64_t file_per_proc = 0;
    std::int64_t multi_file = 0;
    std::int64_t unique_dir = 0;
    std::int64_t collective = 0;
    std::int64_t use_existing = 0;
    std::int64_t keep = 0;
    std::int64_t keep_with_error = 0;
    std::int64_t quit_on_error = 0;
    std::int64_t fsync = 0;
    std::int64_t fsync_per_write = 0;
    std::int64_t barriers = 0;
    double delay = 0;                 ///< seconds
    std::int64_t deadline = 0;        ///< seconds
    std::int64_t max_duration = 0;    ///< minutes
    std::int64_t min_duration = 0;    ///< seconds
    std::int64_t inter_io_delay = 0;  ///< microseconds
    std::int64_t wear_out = 0;
    std::int64_t wear_out_iterations = 0;
    std::string status_file;
    std::int64_t reorder = 0;
    std::int64_t reorder_random = 0;
    std::int64_t reorder_seed = 0;
    std::int64_t task_offset = 1;
    std::int64_t random_offset = 0;
    std::int64_t random_offset_seed = -1;
    std::int64_t random_prefill = 0;
    std::int64_t signature = 0;
    std::string data_type;  ///< empty: not given
    std::string memory_per_node;
    std::int64_t memory_per_task = 0;
    std::int64_t outlier_threshold = 0;
    std::int64_t single_attempt = 0;
    std::int64_t dual_mount = 0;
    std::int64_t dry_run = 0;
    std::int64_t warning_as_errors = 0;
    std::int64_t verbose = 0;
    std::int64_t gpu_direct = 0;
    std::int64_t gpu_buffer = 0;
    std::int64_t gpu_id = 0;
    std::int64_t num_nodes = -1;
    std::int64_t tasks_on_node0 = -1;
    std::int64_t summary_always = 0;
    std::string summary_file;
    std::string summary_format = "default";
    std::string rank_csv;
    std::string calls_csv;
    std::string debug;
    std::string platform;
    // What modules know.
    std::int64_t aio_pending = 128;
    std::int64_t aio_granularity = 16;
    std::int64_t madvise = 0;
    std::int64_t stripe_count = 0;  ///< of Lustre: 0 is the directory's, -1 all targets
    std::int64_t stripe_size = 0;   ///< bytes
    std::int64_t stripe_start = -1;
    std::string stripe_pool;
    std::int64_t ignore_locks = 0;
    std::int64_t gpfs = 0;
    std::int64_t beegfs_targets = 0;
    std::int64_t beegfs_chunk = 0;  ///< bytes
    std::int64_t direct = 0;
    std::int64_t show_hints = 0;
    std::string hints_file;
    std::int64_t preallocate = 0;
    std::int64_t strided_type = 0;
    std::int64_t file_view = 0;
    std::int64_t shared_pointer = 0;
    std::int64_t range_locks = 0;
    std::int64_t collective_metadata = 0;
    std::int64_t individual_datasets = 0;
    std::int64_t alignment = 1;  ///< bytes
    std::int64_t no_fill = 0;
    std::int64_t chunk_size = 0;    ///< elements of a dataset, 8 bytes each
    std::int64_t dummy_create = 0;  ///< microseconds, as the others of DUMMY
    std::int64_t dummy_close = 0;
    std::int64_t dummy_sync = 0;
    std::int64_t dummy_transfer = 0;
    std::int64_t dummy_rank0 = 0;

    /// Neither written nor read: files that are there are compared (-W alone).
    bool only_checks() const {
        return check_write != 0 && write == 0 && read == 0 && check_read == 0;
    }
};

/// The tests that a command line asks for, in order, each complete.
struct IorCommand {
    std::vector<IorOptions> tests;
    bool help = false;
};

/// Reads the command line and the scripts that it names. Every fault is reported, one per line of
/// the error's cause.
Result<IorCommand> parse_ior(const std::vector<std::string>& words);

/// A number with k, m, g, t or p (powers of 1024, in any case, an "iB" or "b" may follow); nothing
/// else may follow it.
Result<std::int64_t> parse_ior_size(std::string_view text);

std::string ior_help();

}  // namespace effio
