// SPDX-License-Identifier: BSD-3-Clause
// IO_Bench of the HPCMO suites (docs/definitions/io-bench.md) on the frame for studies.
#pragma once

#include <memory>

#include "frame/benchmark.hpp"
#include "frame/study/study.hpp"

namespace effio::io_bench {

struct Parameters : study::Options {
    Parameters() : Options("posix") {}

    Bytes size{64 * MiB};
    std::vector<Bytes> blocks;
    std::vector<std::int64_t> copies{1};
    std::int64_t seed = 1;
    std::string prefix = "io_bench";

    void declare(OptionTable& table);
    Status check();
    std::vector<Bytes> blocks_in_force() const;
};

/// The six tests of each block size, for each number of copies; before them the peak's streams, if
/// it is to be measured.
Result<study::Definition> define(const Parameters& parameters, int ranks);

std::unique_ptr<Benchmark> make_benchmark();

}  // namespace effio::io_bench
