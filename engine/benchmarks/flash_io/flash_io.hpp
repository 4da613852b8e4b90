// SPDX-License-Identifier: BSD-3-Clause
// FLASH I/O: the checkpoint and plot files of a block-structured simulation code
// (docs/definitions/flash-io.md).
#pragma once

#include <memory>

#include "benchmarks/flash_io/result.hpp"
#include "frame/benchmark.hpp"

namespace effio::flash_io {

/// `view` is what a classic front end adds; may be null.
std::unique_ptr<Benchmark> make_benchmark(std::unique_ptr<Observer> view = nullptr);

}  // namespace effio::flash_io
