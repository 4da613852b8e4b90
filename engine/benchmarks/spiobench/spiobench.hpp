// SPDX-License-Identifier: BSD-3-Clause
// SPIOBENCH of the NSF 06-05 tests (docs/definitions/spiobench.md) on the frame for studies.
#pragma once

#include <memory>

#include "frame/benchmark.hpp"
#include "frame/study/study.hpp"

namespace effio::spiobench {

struct Parameters : study::Options {
    Parameters() : Options("posix") { reader = Readers::shifted; }

    Bytes size{128 * MiB};           ///< of all files together
    std::optional<Bytes> task_size;  ///< of each file, instead
    std::vector<Bytes> blocks{{1 * MiB}};
    std::vector<std::int64_t> tasks;
    std::string prefix = "spiobench";

    void declare(OptionTable& table);
    Status check();
    /// Whole blocks: as many as go into the share of one `among` this many tasks, one at least.
    std::int64_t file_bytes(std::int64_t among, std::int64_t block) const;
};

/// For each number of tasks and block size a stream to a file of each task and one from it.
Result<study::Definition> define(const Parameters& parameters, int ranks);

std::unique_ptr<Benchmark> make_benchmark();

}  // namespace effio::spiobench
