// SPDX-License-Identifier: BSD-3-Clause
// The effective communication bandwidth b_eff 3.6 (docs/definitions/b-eff.md).
#pragma once

#include <memory>

#include "benchmarks/b_eff/result.hpp"
#include "frame/benchmark.hpp"

namespace effio::b_eff {

/// `classic_view`, if there is one, sees the events in addition to our own views. `exchanges` takes
/// the place of what the options name; tests put themselves in between here.
struct FrontEnd {
    std::unique_ptr<Observer> classic_view;
    ExchangeMaker exchanges;
};

std::unique_ptr<Benchmark> make_benchmark(FrontEnd front_end = {});

}  // namespace effio::b_eff
