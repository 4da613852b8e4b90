// SPDX-License-Identifier: BSD-3-Clause
// How much benchmarks slow each other down (docs/definitions/interference.md).
#pragma once

#include <memory>

#include "frame/benchmark.hpp"

namespace effio::interference {

std::unique_ptr<Benchmark> make_benchmark();

}  // namespace effio::interference
