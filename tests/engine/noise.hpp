// SPDX-License-Identifier: BSD-3-Clause
// Known noise for what has to hold a true value: the same numbers in every run and with every
// library.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace effio {

/// Independent Gaussian numbers of mean 0 and deviation 1. Box and Muller's formula, because
/// libraries differ in what their distributions make of the same generator.
class Gaussian {
  public:
    explicit Gaussian(std::uint64_t seed) : random_(seed) {}
    double next() {
        const double radius = std::sqrt(-2 * std::log(uniform()));
        return radius * std::cos(2 * std::acos(-1.0) * uniform());
    }

  private:
    double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }
    std::mt19937_64 random_;
};

/// The same with correlation `rho` of neighbours: what is left of the last one, and something new.
inline std::vector<double> correlated(Gaussian& noise, std::size_t count, double rho) {
    std::vector<double> values{noise.next()};
    while (values.size() < count) {
        values.push_back(rho * values.back() + std::sqrt(1 - rho * rho) * noise.next());
    }
    return values;
}

}  // namespace effio
