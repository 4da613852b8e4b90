// SPDX-License-Identifier: BSD-3-Clause
// Known noise for what has to hold a true value.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/noise.hpp"

namespace effio {

/// `count` numbers with correlation `rho` of neighbors out of one stream of noise.
inline std::vector<double> correlated(Gaussian& noise, std::size_t count, double rho) {
    std::vector<double> values{noise.next()};
    while (values.size() < count) {
        values.push_back(rho * values.back() + std::sqrt(1 - rho * rho) * noise.next());
    }
    return values;
}

}  // namespace effio
