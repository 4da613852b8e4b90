// SPDX-License-Identifier: BSD-3-Clause
// The options of b_eff_io.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/b_eff_io/buffers.hpp"
#include "core/options.hpp"
#include "frame/data_options.hpp"
#include "frame/memory_options.hpp"
#include "frame/storage_options.hpp"
#include "frame/until_ci.hpp"

namespace effio::b_eff_io {

struct Parameters {
    /// With --until-ci: rounds that the time is cut into unless specified otherwise; of an official
    /// half hour, one a minute.
    static constexpr std::int64_t rounds_of_until_ci = 30;

    std::optional<Bytes> memory_per_rank;
    std::optional<Bytes> total_memory;
    /// Without it the run is a quick check: a minute, from an empty cache, not valid officially.
    std::optional<Seconds> scheduled;
    Seconds time{1800};
    bool quick_look = false;
    std::vector<std::int64_t> partitions;
    bool rewrite = false;
    bool no_shared_pointer = false;
    bool no_unique_open = false;
    bool adapt = false;
    std::int64_t max_messages = 1;
    Buffers::Fill fill = Buffers::Fill::definition;
    DataOptions data;         ///< of random data
    MemoryOptions memory;     ///< unofficial
    bool verify_all = false;  ///< every byte of the timed reads, and of what is rewritten
    std::int64_t rounds = 1;  ///< that the time is cut into
    UntilCiOptions until_ci;
    StorageOptions storage{"mpiio"};

    Parameters() { storage.cache.drop = false; }

    void declare(OptionTable& table);
    Status check();
};

}  // namespace effio::b_eff_io
