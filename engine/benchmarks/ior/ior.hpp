// SPDX-License-Identifier: BSD-3-Clause
// IOR: bulk data in blocks and segments, to one file or many (docs/definitions/ior.md).
#pragma once

#include <memory>
#include <vector>

#include "benchmarks/ior/result.hpp"
#include "frame/benchmark.hpp"

namespace effio::ior {

/// One test of a classic script: its options and its view of the events (which may be none).
struct Test {
    Parameters parameters;
    std::unique_ptr<Observer> view;
};

/// Without tests the run is one test by the options of the command line; else the tests are run
/// one after the other, and the options hold what they have in common.
std::unique_ptr<Benchmark> make_benchmark(std::vector<Test> tests = {});

}  // namespace effio::ior
