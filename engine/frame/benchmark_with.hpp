// SPDX-License-Identifier: BSD-3-Clause
// What benchmarks with a struct of options have in common.
#pragma once

#include "frame/benchmark.hpp"

namespace effio {

/// A benchmark whose options are a `Parameters` with declare and check. It is in virtual time as
/// the parameters say, or what they hold of storage or network.
template <class Parameters>
class BenchmarkWith : public Benchmark {
  public:
    void declare(OptionTable& table) override { parameters_.declare(table); }
    Status check() override { return parameters_.check(); }
    bool virtual_time() const override {
        if constexpr (requires { parameters_.virtual_time(); }) {
            return parameters_.virtual_time();
        } else if constexpr (requires { parameters_.storage; }) {
            return parameters_.storage.virtual_time();
        } else {
            return parameters_.network.virtual_time();
        }
    }

  protected:
    Parameters parameters_;
};

}  // namespace effio
