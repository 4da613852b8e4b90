// SPDX-License-Identifier: BSD-3-Clause
// Known noise: the same numbers in every run and with every library.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

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

/// Independent uniform numbers between 0 and 1.
class UniformNoise {
  public:
    explicit UniformNoise(std::uint64_t seed) : random_(seed) {}
    double next() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }

  private:
    std::mt19937_64 random_;
};

/// Gaussian numbers of mean 0 and deviation 1 with correlation `rho` of neighbors, -1 < rho < 1:
/// what is left of the last one, and something new.
class CorrelatedNoise {
  public:
    CorrelatedNoise(std::uint64_t seed, double rho) : gaussian_(seed), rho_(rho) {}
    double next() {
        const double fresh = gaussian_.next();
        last_ = begun_ ? rho_ * last_ + std::sqrt(1 - rho_ * rho_) * fresh : fresh;
        begun_ = true;
        return last_;
    }

  private:
    Gaussian gaussian_;
    double rho_;
    double last_ = 0;
    bool begun_ = false;
};

}  // namespace effio
