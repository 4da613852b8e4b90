// SPDX-License-Identifier: BSD-3-Clause
// How much of an operation hides behind a computation (docs/definitions/overlap.md).
#pragma once

#include <memory>

#include "frame/benchmark.hpp"

namespace effio::overlap {

std::unique_ptr<Benchmark> make_benchmark();

}  // namespace effio::overlap
