// SPDX-License-Identifier: BSD-3-Clause
// The options of IOR in our style.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/ior/definition.hpp"
#include "core/options.hpp"
#include "frame/data_options.hpp"
#include "frame/memory_options.hpp"
#include "frame/storage_options.hpp"
#include "frame/until_ci.hpp"
#include "parallel/topology.hpp"
#include "storage/striping.hpp"

namespace effio::ior {

/// When what is written is flushed to storage.
enum class SyncWhen : char { never, end, each };

struct Parameters {
    // What is done.
    std::vector<std::string> phases{"write", "read"};
    std::vector<Bytes> transfers{Bytes{MiB}};
    Bytes block{16 * MiB};
    std::int64_t segments = 1;
    bool segments_given = false;
    std::optional<double> times_memory;  ///< --segments follows from it
    Files files = Files::shared;
    Order order = Order::sequential;
    std::int64_t order_seed = 1;
    std::int64_t repetitions = 1;
    UntilCiOptions until_ci;
    bool file_each_repetition = false;
    std::string stem = "ior";
    std::vector<std::string> more_dirs;
    bool rank_dirs = false;
    std::optional<std::int64_t> ranks;
    std::int64_t threads = 1;
    std::optional<double> mix_read;  ///< per cent
    // How.
    bool collective = false;
    std::int64_t queue_depth = 1;
    bool trial = false;                ///< of collective calls that are queued
    std::optional<std::string> tried;  ///< the library that such a trial found to work
    Placement placement = Placement::offset;
    MemoryOptions memory;
    bool preallocate = false;
    Striping striping;
    SyncWhen sync = SyncWhen::end;
    bool barriers = false;
    Partner read_from = Partner::shifted;
    std::int64_t distance = 1;
    std::optional<std::int64_t> ranks_per_node;  ///< pretended, for partners of reads
    std::int64_t partner_seed = 0;
    Seconds delay{0};
    Seconds think_time{0};
    std::optional<BytesPerSecond> rate_limit;
    std::optional<Bytes> hold_memory;
    std::vector<std::string> hints;
    // Until when.
    Seconds stonewall{0};
    bool wear_out = false;
    Seconds wear_out_limit{0};
    Seconds min_time{0};
    std::int64_t max_transfers = 0;
    bool steady = false;
    std::int64_t steady_window = 10;
    double steady_tolerance = 0.1;
    Seconds steady_slice{1};
    std::optional<std::string> count_file;
    Seconds time_limit{0};
    // What is in the files.
    DataKind data = DataKind::stamped;
    std::optional<std::int64_t> seed;
    DataOptions shape;
    std::vector<std::string> verify;
    bool use_existing = false;
    bool keep_on_errors = false;
    bool stop_on_errors = false;
    // What else is reported.
    bool slowest = false;
    bool rank_details = false;
    std::optional<std::string> save_rank_details;
    std::optional<std::string> save_calls;
    StorageOptions storage{"posix", Serves::blocks};

    void declare(OptionTable& table);
    Status check();

    /// As many segments that the workers move `times_memory` times what the nodes have; bytes.
    Status fill_memory(double memory_bytes, std::int64_t workers);
    bool does(Access access) const { return has_phase(name(access)); }
    bool writes() const { return does(Access::write); }
    bool reads() const { return does(Access::read); }
    bool mixes() const { return does(Access::mixed); }
    /// Which transfers of the mixed phase read; see core for the seed of an order.
    Mix mix() const;
    /// How long each worker's call lasts at least, so that all keep within --rate-limit; 0 = as
    /// long as it takes.
    double seconds_of_call(std::int64_t bytes, std::int64_t workers) const {
        return rate_limit
                   ? static_cast<double>(bytes) * static_cast<double>(workers) / rate_limit->count
                   : 0;
    }
    /// Whether data are verified in a separate pass after the phase, not timed.
    bool verifies_after(Access access) const { return verifies(name(access)); }
    /// While reading, inside the timed interval but as a separate part.
    bool verifies_inside() const { return verifies("inside"); }

  private:
    bool has_phase(std::string_view phase) const;
    bool verifies(std::string_view when) const;
    Status check_sizes() const;
    Status check_phases();
    Status check_mix() const;
    Status check_modes() const;
    Status check_striping() const;
    Status check_queue() const;
    Status check_memory() const;
    void cut_to_trial();
    Status check_limits();
    Status check_hints() const;
};

}  // namespace effio::ior
