// SPDX-License-Identifier: BSD-3-Clause
// The options of benchmarks that write generated data.
#pragma once

#include "core/options.hpp"
#include "core/pattern.hpp"

namespace effio {

/// How much storage may gain by compression and deduplication.
class DataOptions {
  public:
    void declare(OptionTable& table);
    const DataShape& shape() const { return shape_; }

  private:
    DataShape shape_;
};

}  // namespace effio
