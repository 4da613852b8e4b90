// SPDX-License-Identifier: BSD-3-Clause
// The comparison of I/O libraries with one file per process (docs/definitions/libraries.md).
#pragma once

#include <memory>

#include "frame/benchmark.hpp"

namespace effio::libraries {

std::unique_ptr<Benchmark> make_benchmark();

}  // namespace effio::libraries
