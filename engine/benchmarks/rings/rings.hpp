// SPDX-License-Identifier: BSD-3-Clause
// Ping-pong, natural-ring and random-ring latency and bandwidth as in the HPC Challenge
// (docs/definitions/rings.md).
#pragma once

#include <memory>

#include "frame/benchmark.hpp"

namespace effio::rings {

std::unique_ptr<Benchmark> make_benchmark();

}  // namespace effio::rings
