// SPDX-License-Identifier: BSD-3-Clause
// How many processes saturate the storage (docs/definitions/saturation.md), on the frame for
// studies.
#pragma once

#include <memory>

#include "frame/benchmark.hpp"
#include "frame/study/study.hpp"

namespace effio::saturation {

/// A file of each process, or one that all share.
enum class FileUse { own, shared };

struct Parameters : study::Options {
    Parameters() : Options("posix") {
        reader = Readers::shifted;
        repetitions = 3;
    }

    Bytes size{64 * MiB};  ///< of each process
    std::vector<Bytes> transfers{{1 * MiB}};
    std::vector<std::int64_t> processes;
    std::vector<FileUse> files{FileUse::own};
    std::vector<study::Placing> placings{study::Placing::spread};
    std::string prefix = "saturation";

    void declare(OptionTable& table);
    Status check();
};

/// Streams of each number of processes, for each size of a call, kind of file and placing.
Result<study::Definition> define(const Parameters& parameters, int ranks);

std::unique_ptr<Benchmark> make_benchmark();

}  // namespace effio::saturation
