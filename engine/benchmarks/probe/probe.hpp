// SPDX-License-Identifier: BSD-3-Clause
// The limits of a system in a few seconds (docs/definitions/probe.md): streams and small reads on
// the frame for studies; memory, names and messages in addition to them.
#pragma once

#include <memory>

#include "frame/benchmark.hpp"
#include "frame/study/study.hpp"

namespace effio::probe {

struct Parameters : study::Options {
    Parameters() : Options("posix") {
        reader = Readers::shifted;
        repetitions = 2;
    }

    Bytes size{64 * MiB};      ///< of each process' stream
    std::int64_t reads = 512;  ///< of each process, small ones
    std::int64_t names = 500;  ///< of each process, at most
    Bytes memory{32 * MiB};    ///< copied at a time
    Seconds time{0.25};        ///< for each limit of memory, names and pairs
    std::string prefix = "probe";

    void declare(OptionTable& table);
    Status check();
};

/// Bytes of a small read.
inline constexpr std::int64_t small_read = 4096;

/// Streams of one process and of all, written and read, and the small reads of all.
study::Definition define(const Parameters& parameters, int ranks);

std::unique_ptr<Benchmark> make_benchmark();

}  // namespace effio::probe
