// SPDX-License-Identifier: BSD-3-Clause
// The effective file-I/O bandwidth benchmark b_eff_io 2.1 (docs/definitions/b-eff-io.md).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "benchmarks/b_eff_io/result.hpp"
#include "frame/benchmark.hpp"

namespace effio::b_eff_io {

/// What a classic front end adds: its own view of the events, and where messages about failed calls
/// and wrong data go. Both may be empty.
struct FrontEnd {
    std::unique_ptr<Observer> view;
    std::function<void(const std::string&)> warn;
};

/// What a hints file may name in a run with these partitions.
HintVocabulary hint_vocabulary(const std::vector<std::int64_t>& partitions);

std::unique_ptr<Benchmark> make_benchmark(FrontEnd front_end = {});

}  // namespace effio::b_eff_io
